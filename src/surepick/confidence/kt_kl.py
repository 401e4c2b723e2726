"""The KT-KL mixture, for means of bounded arms."""

from __future__ import annotations

import math

import numpy as np

from ..arms import Floats, Ints
from ..engine import compiled
from ..engine.data import Sequence
from ..engine.enums import Form
from ..errors import SettingError
from ..estimators import Moments, Record
from ..problems.base import Problem
from .base import Confidence
from .mixture import mean_only


class KTKL(Confidence):
    """{mu : N kl(mean, mu) <= ln(m / delta) + ln pi - ln B(S + 1/2, N - S + 1/2) - N H(mean)}, H the entropy in nats.

    N values in [0, 1] (other bounds are scaled to it) have sum S. For every q the product of (q/mu)^x ((1-q)/(1-mu))^(1-x) is a
    supermartingale if mu is the mean (see :class:`~surepick.confidence.beta.Beta`), and so is its mixture over
    q ~ Beta(1/2, 1/2), the prior of Krichevsky and Trofimov (1981). By Ville's inequality it ever exceeds m / delta with
    probability at most delta / m: the intervals hold for all arms and all times together.

    Nothing is tuned: the prior is fixed, the same for all mu, and spread over [0, 1], so the intervals lose
    about ln(N) / 2 to the best q, at any N. Where N is known to be in the thousands 'beta' is tighter.
    """

    name = "kt-kl"

    def bind(self, problem: Problem, delta: float) -> None:
        mean_only(self.name, problem)
        bounded_only(self.name, problem)
        super().bind(problem, delta)
        m = problem.m
        self.level: float = math.log(m) - math.log(delta)
        self._seen = np.full(m, -1.0), np.full(m, np.nan)  # what the intervals below were worked out for
        self._ends = np.zeros(m), np.ones(m)

    def box(self, record: Record) -> tuple[Floats, Floats]:
        n = np.maximum(record.counts, 1).astype(np.float64)
        compiled("intervals").kt_bounds(n, self.positions(record), self.level, *self._seen, *self._ends)
        return self.placed(*self._ends, self.problem.low, self.problem.scales, record)

    def radius(self, counts: Ints) -> Floats:
        """The half-width at mean 1/2 by Pinsker's bound; it orders arms by their counts."""
        # The regret is at most ln(2 sqrt(N)) (Willems, Shtarkov and Tjalkens 1995).
        radii: Floats = self.problem.scales * np.sqrt((self.level + np.log(2.0 * np.sqrt(counts))) / (2.0 * counts))
        return radii

    def lower(self, record: Moments) -> Sequence:
        return self.sequence(record, Form.KT, level=self.level)


def bounded_only(name: str, problem: Problem) -> None:
    for arm in problem.arms:
        if arm.kind == "subgaussian":
            raise SettingError(
                f"confidence={name!r} is for bounded arms, and {arm.name!r} is sub-Gaussian: use 'auto' or 'normal'.",
                key="confidence",
            )
