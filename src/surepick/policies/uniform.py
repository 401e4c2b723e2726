"""Uniform sampling, the baseline of the paper's appendix."""

from __future__ import annotations

import numpy as np

from ..arms import Bools
from .base import Policy


class Uniform(Policy):
    """COCI without its choice: sample the arm with the largest radius among all arms, and stop by the same test."""

    name = "uniform"

    def candidates(self, undecided: Bools) -> Bools:
        return np.ones_like(undecided)
