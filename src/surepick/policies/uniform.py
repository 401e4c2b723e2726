"""Uniform sampling, the baseline of the paper's appendix."""

from __future__ import annotations

import numpy as np

from ..arms import Bools
from .base import View
from .coci import COCI


class Uniform(COCI):
    """COCI without its choice: sample the arm with the largest radius among all arms, and stop by the same test."""

    name = "uniform"

    def candidates(self, view: View) -> Bools:
        return np.ones(self.problem.m, dtype=np.bool_)
