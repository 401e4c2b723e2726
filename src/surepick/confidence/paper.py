"""The confidence radius of the paper, to the letter."""

from __future__ import annotations

import math

import numpy as np

from ..arms import Floats, Ints
from ..engine.data import Sequence
from ..engine.enums import Form
from ..estimators import Moments
from .base import Confidence


class Paper(Confidence):
    """rad_i = scale_i * sqrt( ln(4 t^3 / (tau delta)) / (2 T_i) ), t being the samples of all arms (Algorithm 1).

    By McDiarmid's inequality an estimate from s observations misses by the radius with probability at most
    tau delta / (2 t^3); the sum over s <= t, over the m arms and over all t >= tau m is at most delta.

    ``scale_i`` is the estimator's bounded-differences constant: high - low for a mean, (high - low)^2 for a variance, 2R for
    the mean of an R-sub-Gaussian arm, for which the radius is R * sqrt(2 ln(4 t^3 / (tau delta)) / T_i).
    """

    name = "paper"

    def log_term(self, t: int) -> float:
        """ln(4 t^3 / (tau delta)), as a sum of logarithms: t^3 overflows 64 bits from t = 2.1 million on."""
        return math.log(4.0) + 3.0 * math.log(t) - math.log(self.problem.parameter.minimum) - math.log(self.delta)

    def radius(self, counts: Ints) -> Floats:
        c = self.log_term(int(counts.sum()))
        radii: Floats = self.problem.scales * np.sqrt(c / (2.0 * counts))
        return radii

    def lower(self, record: Moments) -> Sequence:
        return self.sequence(
            record, Form.RADIUS, (math.log(4.0), 3.0, math.log(self.problem.parameter.minimum), math.log(self.delta))
        )
