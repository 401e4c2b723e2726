"""The intervals of KL-LUCB."""

from __future__ import annotations

import math

import numpy as np

from ..arms import Floats, Ints
from ..checks import number
from ..engine import compiled
from ..engine.data import Sequence
from ..engine.enums import Form
from ..errors import SettingError
from ..estimators import Moments, Record
from ..problems.base import Problem
from .base import Confidence

ALPHA, K1 = 1.1, 405.5  # the paper's choice in its experiments


class KLLUCBInterval(Confidence):
    """{mu : T_i kl(mean_i, mu) <= ln(k1 m t^alpha / delta)}, Kaufmann and Kalyanakrishnan (2013), Theorem 1.

    kl is the divergence of Bernoulli laws, which bounds the tails of any arm in [0, 1]; other bounds are scaled to it.
    Only for means of bounded arms.

    Parameters
    ----------
    alpha, k1 : float
        Theorem 1 holds for alpha > 1 and k1 > 1 + 1 / (alpha - 1), and others are refused.
    """

    name = "kl-lucb"

    def __init__(self, *, alpha: float = ALPHA, k1: float = K1) -> None:
        self.alpha: float = number(alpha, "alpha", "a number above 1, up to 100", lambda x: 1 < x <= 100)
        least = 1.0 + 1.0 / (self.alpha - 1.0)
        wanted = f"a number above 1 + 1 / (alpha - 1) = {least:g}, without which the intervals do not hold"
        self.k1: float = number(k1, "k1", wanted, lambda x: least < x <= 1e12)

    def bind(self, problem: Problem, delta: float) -> None:
        super().bind(problem, delta)
        if problem.parameter.name != "mean" or not np.isfinite(problem.scales + problem.low).all():
            raise SettingError(
                "confidence='kl-lucb' is for means of bounded arms; use 'auto', 'paper', 'lucb' or 'clucb' here.",
                key="confidence",
            )

    def level(self, t: int) -> float:
        return math.log(self.k1) + math.log(self.problem.m) + self.alpha * math.log(t) - math.log(self.delta)

    def box(self, record: Record) -> tuple[Floats, Floats]:
        counts = np.maximum(record.counts, 1)
        below, above = compiled("intervals").kl_bounds(self.positions(record), self.level(int(counts.sum())) / counts)
        return self.placed(below, above, self.problem.low, self.problem.scales, record)

    def radius(self, counts: Ints) -> Floats:
        """Pinsker's bound on the half-width; it orders arms by their counts as the paper's rule does."""
        radii: Floats = self.problem.scales * np.sqrt(self.level(int(counts.sum())) / (2.0 * counts))
        return radii

    def lower(self, record: Moments) -> Sequence:
        return self.sequence(
            record, Form.DIVERGENCE, (math.log(self.k1) + math.log(self.problem.m), self.alpha, 0.0, math.log(self.delta))
        )
