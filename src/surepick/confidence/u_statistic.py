"""The paper's radius for variances, with Hoeffding's inequality for U-statistics."""

from __future__ import annotations

import numpy as np

from ..arms import Floats, Ints
from ..engine.data import Sequence
from ..engine.enums import Form
from ..estimators import Moments
from ..problems.base import Problem
from .mixture import variance_only
from .paper import Paper


class UStatistic(Paper):
    """rad_i = (high_i - low_i)^2 sqrt( ln(4 t^3 / (tau delta)) / (8 floor(T_i / 2)) ), tau = 2, around the unbiased variance.

    The unbiased variance is the mean of (X - X')^2 / 2 over all pairs of observations, values in [0, 1/2] for arms in [0, 1].
    Hoeffding (1963, section 5): it misses by r with probability at most 2 exp(-8 floor(T/2) r^2), as if there were floor(T/2)
    independent pairs. The union over all arms and times is the paper's (see :class:`~surepick.confidence.paper.Paper`), and the
    radius 1/sqrt(2) of the paper's. Nothing is tuned.
    """

    name = "u-statistic"

    def bind(self, problem: Problem, delta: float) -> None:
        variance_only(self.name, problem)
        super().bind(problem, delta)

    def radius(self, counts: Ints) -> Floats:
        c = self.log_term(int(counts.sum()))
        radii: Floats = self.problem.scales * np.sqrt(c / (8.0 * np.maximum(counts // 2, 1)))
        return radii

    def lower(self, record: Moments) -> Sequence:
        return super().lower(record)._replace(form=int(Form.U_STATISTIC))
