"""The empirical Bernstein sequence, for means of bounded arms that vary little."""

from __future__ import annotations

import copy
import math
from typing import Self

import numpy as np

from ..arms import Floats, Ints
from ..checks import number
from ..engine import compiled
from ..engine.data import Sequence
from ..engine.enums import Form
from ..estimators import Moments, Record
from ..problems.base import Problem
from .base import Confidence
from .kt_kl import bounded_only
from .mixture import mean_only

TUNED = (
    25.0  # summed squared prediction errors at which it is about tightest: 1000 observations with a standard deviation of 0.16
)


class Bernstein(Confidence):
    """|sum of X - N mu| <= u(V), V = 1/4 + sum over s >= 2 of (X_s - mean of X_1 .. X_s-1)^2, for values in [0, 1].

    Howard, Ramdas, McAuliffe and Sekhon (2021), Theorem 4: for any prediction h of X made from the past,
    exp(l (X - mu) - (X - h)^2 (-ln(1 - l) - l)) has mean at most 1 for 0 <= l < 1, and the same for 1 - X. Products over
    observations are supermartingales, so is their mixture over 1 - l ~ Gamma(rho, rho) truncated to [0, 1] (their Proposition 9),

        rho^rho / (Gamma(rho) P(rho, rho)) Gamma(V + rho) P(V + rho, s + V + rho) / (s + V + rho)^(V + rho) exp(s + V),

    P the regularised incomplete gamma function. u(V) is the s at which it is 2 m / delta; by Ville's inequality and a union over
    two sides and m arms, all intervals hold at all times with probability at least 1 - delta. Other bounds are scaled to [0, 1].

    Here h is the mean of the observations before; for the first it is 1/2, with (X - h)^2 <= 1/4. Fixed before any data is
    rho = V0 / (2 ln(1/alpha) + ln(1 + 2 ln(1/alpha))), alpha = delta / (2 m), V0 = 25 unless you say otherwise. The
    width follows the arm's own standard deviation s, about s sqrt(2 ln(1/alpha) / N): far tighter than 'beta' if s is small
    although the mean is not near an end of the range, a little wider if not.

    Parameters
    ----------
    tuned : float
        V0, from 0.01 to 1,000,000: the sum of squared prediction errors, of values in [0, 1], at which an arm's interval is
        about tightest.
    """

    name = "bernstein"

    def __init__(self, *, tuned: float = TUNED) -> None:
        self.tuned: float = number(tuned, "tuned", "a number from 0.01 to 1,000,000", lambda x: 0.01 <= x <= 1e6)

    def bind(self, problem: Problem, delta: float) -> None:
        mean_only(self.name, problem)
        bounded_only(self.name, problem)
        super().bind(problem, delta)
        from scipy.special import gammainc  # not at the top: it takes a tenth of a second

        self.level: float = math.log(2.0 * problem.m) - math.log(delta)
        self.rho: float = self.tuned / (2.0 * self.level + math.log1p(2.0 * self.level))
        self.norm: float = self.rho * math.log(self.rho) - math.lgamma(self.rho) - math.log(gammainc(self.rho, self.rho))
        self._forget()

    def at(self, delta: float) -> Self:
        other = copy.copy(self)
        other.delta, other.level = delta, math.log(2.0 * self.problem.m) - math.log(delta)
        other._forget()
        return other

    def _forget(self) -> None:
        self._seen = np.full(self.problem.m, np.nan)  # the V that the reaches below were worked out for
        self._reach = np.empty(self.problem.m)

    def box(self, record: Record) -> tuple[Floats, Floats]:
        assert isinstance(record, Moments)
        problem, n = self.problem, np.maximum(record.counts, 1)
        v = 0.25 + record.prediction_errors / problem.scales**2
        compiled("intervals").bernstein_reaches(v, self.rho, self.norm, self.level, self._seen, self._reach)
        half = problem.scales * self._reach / n
        return self.placed(record.offsets - half, record.offsets + half, record.origins, 1.0, record)

    def radius(self, counts: Ints) -> Floats:
        """About the half-width of the arms that vary most; it orders arms by their counts."""
        v = 0.25 * counts + self.rho
        half = np.sqrt(v * (np.log(v / self.rho) + 2.0 * self.level)) + self.level
        radii: Floats = self.problem.scales * half / counts
        return radii

    def lower(self, record: Moments) -> Sequence:
        return self.sequence(record, Form.BERNSTEIN, level=self.level, rho=self.rho, norm=self.norm)
