"""The confidence radius of successive elimination."""

from __future__ import annotations

import math

import numpy as np

from ..arms import Floats, Ints
from .base import Confidence


class EliminationRadius(Confidence):
    """(high_i - low_i) sqrt( ln(4 m T_i^2 / delta) / (2 T_i) ), after Even-Dar et al. (2006).

    It depends on the arm's own count alone. By Hoeffding's inequality an arm misses at count T with probability at most
    delta / (2 m T^2); the sum over T and m is below delta.
    """

    name = "elimination"

    def radius(self, counts: Ints) -> Floats:
        c = math.log(4.0) + math.log(self.problem.m) + 2.0 * np.log(counts) - math.log(self.delta)
        radii: Floats = self.problem.scales * np.sqrt(c / (2.0 * counts))
        return radii
