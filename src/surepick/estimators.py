"""What is estimated for every arm: the mean, the variance, or a parameter of the user's own.

The paper needs only two facts about an estimator (Lemma "event xi", by McDiarmid's inequality): it is unbiased
from ``minimum`` observations on, and changing one of s observations moves it by at most ``scale(arm) / s``.
An :class:`Estimator` states the two; a :class:`Record` does the arithmetic for all arms of one experiment.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np

from .arms import Arm, Floats, Ints
from .checks import short
from .errors import ProblemError


class Record(Protocol):
    """The running estimates of all arms of one experiment."""

    counts: Ints
    estimates: Floats  # NaN while an arm has fewer than ``minimum`` observations

    def update(self, arm: int, values: Floats) -> None:
        """Take in checked observations of one arm."""


class Estimator(ABC):
    """A parameter of an arm's distribution that can be estimated without bias.

    This is the extension point for parameters other than mean and variance: subclass it and pass an instance
    as ``parameter=`` to a problem.
    """

    name: str
    minimum: int = 1  #: observations needed for a first estimate, the paper's tau

    @abstractmethod
    def range(self, arm: Arm) -> tuple[float, float]:
        """Smallest and largest value that the parameter can have for this arm."""

    @abstractmethod
    def scale(self, arm: Arm) -> float:
        """c such that changing one of s observations moves the estimate by at most c / s."""

    @abstractmethod
    def record(self, m: int) -> Record:
        """An empty record for m arms."""


class Moments:
    """Count, mean and centred sum of squares of every arm: Welford's update for one value, Chan's merge for many."""

    def __init__(self, m: int, variance: bool) -> None:
        self.counts = np.zeros(m, dtype=np.int64)
        self.table = np.zeros((6, m))  # in one array, because compiled loops hand it over faster
        self.variance = variance
        self._name_rows()
        self.waiting[:] = self.estimates[:] = np.nan

    def _name_rows(self) -> None:
        self.means: Floats = self.table[0]
        self.squares: Floats = self.table[1]  # sum of (x - mean)^2
        self.estimates: Floats = self.table[2]
        self.surprises: Floats = self.table[3]  # sum of (x - mean of those before)^2, from the second observation on
        self.differences: Floats = self.table[4]  # sum of (x - x')^2 over the pairs: first and second, third and fourth, ...
        self.waiting: Floats = self.table[5]  # the last observation while its partner is missing

    def __getstate__(self) -> tuple[Ints, Floats, bool]:
        return self.counts, self.table, self.variance

    def __setstate__(self, state: tuple[Ints, Floats, bool]) -> None:
        self.counts, self.table, self.variance = state
        self._name_rows()

    @property
    def pairs(self) -> Ints:
        """Whole pairs of every arm."""
        return self.counts // 2

    def update(self, arm: int, values: Floats) -> None:
        n = len(values)
        if n == 0:
            return
        old, mean = int(self.counts[arm]), float(self.means[arm])
        count = old + n
        if n == 1:
            x = float(values[0])
            step = x - mean
            mean += step / count
            self.squares[arm] += step * (x - mean)
            if old:
                self.surprises[arm] += step * step
        else:
            before = (old * mean + np.cumsum(values)[:-1]) / np.arange(old + 1, count)
            steps = values - np.concatenate(([mean if old else values[0]], before))
            self.surprises[arm] += float((steps * steps).sum())
            centre = float(values.mean())
            step = centre - mean
            mean += step * (n / count)
            self.squares[arm] += float(((values - centre) ** 2).sum()) + step * step * (old * (n / count))
        self.counts[arm] = count
        self.means[arm] = mean
        self._pair(arm, values)
        self.refresh(arm)

    def _pair(self, arm: int, values: Floats) -> None:
        queue = values if np.isnan(self.waiting[arm]) else np.concatenate(([self.waiting[arm]], values))
        even = len(queue) // 2 * 2
        gaps = queue[0:even:2] - queue[1:even:2]
        self.differences[arm] += float((gaps * gaps).sum())
        self.waiting[arm] = queue[-1] if len(queue) > even else np.nan

    def refresh(self, arm: int | slice = slice(None)) -> None:
        """Recompute the estimates from the moments."""
        if isinstance(arm, int):
            n = int(self.counts[arm])
            if self.variance:
                self.estimates[arm] = self.squares[arm] / (n - 1) if n >= 2 else np.nan
            else:
                self.estimates[arm] = self.means[arm] if n >= 1 else np.nan
            return
        if not self.variance:
            self.estimates[arm] = np.where(self.counts[arm] >= 1, self.means[arm], np.nan)
            return
        degrees = np.maximum(self.counts[arm] - 1, 1)
        self.estimates[arm] = np.where(self.counts[arm] >= 2, self.squares[arm] / degrees, np.nan)


class Mean(Estimator):
    """The mean, from one observation on. Bounded arms: scale = high - low (Hoeffding). Sub-Gaussian arms: scale = 2R."""

    name = "mean"
    minimum = 1

    def range(self, arm: Arm) -> tuple[float, float]:
        return arm.low, arm.high

    def scale(self, arm: Arm) -> float:
        return 2.0 * arm.scale if arm.scale is not None else arm.high - arm.low

    def record(self, m: int) -> Moments:
        return Moments(m, variance=False)


class Variance(Estimator):
    """The unbiased variance, from two observations on; on [low, high] it never exceeds (high - low)^2 / 4."""

    name = "variance"
    minimum = 2

    def range(self, arm: Arm) -> tuple[float, float]:
        return 0.0, self.scale(arm) / 4.0

    def scale(self, arm: Arm) -> float:
        if not math.isfinite(arm.high - arm.low):
            raise ProblemError(
                f"The variance of arm {arm.name!r} cannot be bounded because the arm is unbounded; declare low and high for it."
            )
        return (arm.high - arm.low) ** 2

    def record(self, m: int) -> Moments:
        return Moments(m, variance=True)


ESTIMATORS: dict[str, type[Estimator]] = {"mean": Mean, "variance": Variance}


def make_estimator(parameter: str | Estimator) -> Estimator:
    if isinstance(parameter, Estimator):
        return parameter
    if isinstance(parameter, str) and parameter in ESTIMATORS:
        return ESTIMATORS[parameter]()
    raise ProblemError(f"parameter={short(parameter)} is unknown; use 'mean', 'variance' or an Estimator of your own.")
