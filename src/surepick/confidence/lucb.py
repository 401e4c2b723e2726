"""The confidence radius of LUCB1."""

from __future__ import annotations

import math

import numpy as np

from ..arms import Floats, Ints
from ..engine.data import Sequence
from ..engine.enums import Form
from ..estimators import Moments
from .base import Confidence


class LUCBRadius(Confidence):
    """beta_i = (high_i - low_i) sqrt( ln(5 m t^4 / (4 delta)) / (2 T_i) ), Kalyanakrishnan et al. (2012), equation (1).

    t is the number of samples of all arms so far, which is at least the number of rounds that their proof unites over.
    """

    name = "lucb"

    def radius(self, counts: Ints) -> Floats:
        t = int(counts.sum())
        c = math.log(1.25) + math.log(self.problem.m) + 4.0 * math.log(t) - math.log(self.delta)
        radii: Floats = self.problem.scales * np.sqrt(c / (2.0 * counts))
        return radii

    def lower(self, record: Moments) -> Sequence:
        return self.sequence(record, Form.RADIUS, (math.log(1.25) + math.log(self.problem.m), 4.0, 0.0, math.log(self.delta)))
