"""The confidence radius of CLUCB and UGapE."""

from __future__ import annotations

import math

import numpy as np

from ..arms import Floats, Ints
from ..engine.data import Sequence
from ..engine.enums import Form
from ..estimators import Moments
from .base import Confidence


class CLUCBRadius(Confidence):
    """rad_i = R_i sqrt( 2 ln(4 m t^3 / delta) / T_i ), Chen et al. (2014), Theorem 1, with R = (high - low) / 2 for bounded arms.

    UGapE (Gabillon et al. 2012) has the same radius. A union over m arms and all t, with Hoeffding's inequality for each
    count.
    """

    name = "clucb"

    def radius(self, counts: Ints) -> Floats:
        t = int(counts.sum())
        c = math.log(4.0) + math.log(self.problem.m) + 3.0 * math.log(t) - math.log(self.delta)
        radii: Floats = self.problem.scales * np.sqrt(c / (2.0 * counts))
        return radii

    def lower(self, record: Moments) -> Sequence:
        return self.sequence(record, Form.RADIUS, (math.log(4.0) + math.log(self.problem.m), 3.0, 0.0, math.log(self.delta)))
