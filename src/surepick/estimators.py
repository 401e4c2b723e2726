"""What is estimated for every arm: the mean, the variance, or a parameter of the user's own.

The paper needs only two facts about an estimator (Lemma "event xi", by McDiarmid's inequality): it is unbiased
from ``minimum`` observations on, and changing one of s observations moves it by at most ``scale(arm) / s``.
An :class:`Estimator` states the two; a :class:`Record` does the arithmetic for all arms of one experiment.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol, Self

import numpy as np

from .arms import Arm, Floats, Ints
from .checks import short
from .errors import ProblemError
from .redraws import Redraws

HELD_LEAST = 3  # first values of a normal arm that are held back, at least; see engine/kernels/student.py
ULP = 2.0**-51  # two units in the last place of 1


def last_sum(start: float, terms: Floats) -> float:
    """start + terms[0] + terms[1] + ..., added in this order, which ``numpy.sum`` does not promise."""
    return float(np.cumsum(np.concatenate(([start], terms)))[-1]) if len(terms) > 1 else start + float(terms.sum())


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

    def first(self, arm: Arm) -> int:
        """Observations of an arm before a policy is asked what to sample."""
        return self.minimum

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
    """Count, sum, centred sum of squares and pairs of every arm.

    Values count from an origin of their arm: its lower bound, or its first value if it has none. Far from 0 a running mean in
    the user's units would be rounded at the size of the offset in every step, and drift; the sum of x - origin is as exact as the
    values are. It is compensated (Neumaier 1974), and a mean is worked out from it only when it is needed.
    """

    counts: Ints
    table: Floats
    variance: bool

    def __init__(self, m: int, variance: bool) -> None:
        self.counts = np.zeros(m, dtype=np.int64)
        self.table = np.zeros((m, 24))  # all of an arm side by side, three lines of a processor's cache; see engine/enums.py
        self.variance = variance
        self.rows: object = None  # differences of arms that were observed together, if they are kept
        self.redraws: Redraws | None = None  # draws with replacement of arms that have a population, if there are any
        self._name_columns()
        self.origins[:] = self.waiting[:] = self.estimates[:] = np.nan
        self.ranges[:] = np.inf
        self.held[:] = -1.0
        self.firsts[:] = np.nan
        self.populations[:] = np.inf

    def _name_columns(self) -> None:
        self.sums: Floats = self.table[:, 0]  # of x - origin
        self.carries: Floats = self.table[:, 1]  # what rounding took from the sums
        self.origins: Floats = self.table[:, 2]  # NaN until the first value of an arm without a lower bound
        self.estimates: Floats = self.table[:, 3]  # in the user's units
        self.squares: Floats = self.table[:, 4]  # sum of (x - mean)^2
        self.prediction_errors: Floats = self.table[:, 5]  # sum of (x - mean of those before)^2, from the second observation on
        self.differences: Floats = self.table[:, 6]  # sum of (x - x')^2 over the pairs: first and second, third and fourth, ...
        self.waiting: Floats = self.table[:, 7]  # the last x - origin while its partner is missing
        self.ranges: Floats = self.table[:, 8]  # high - low, infinite for arms without bounds
        # y is a value in units of the range, from 0 to 1, or for variances the square of a pair's difference
        self.upward: Floats = self.table[:, 9]  # sum of y^2 (1 - y) from the second y on
        self.downward: Floats = self.table[:, 10]  # sum of y (1 - y)^2 from the second y on
        # normal arms hold their first values back, see engine/kernels/student.py
        self.held: Floats = self.table[:, 11]  # how many; 0 until two of them differ, -1 for other arms
        self.held_sums: Floats = self.table[:, 12]
        self.held_squares: Floats = self.table[:, 13]
        self.later_squares: Floats = self.table[:, 14]  # of the values after these, about their mean
        self.firsts: Floats = self.table[:, 15]  # the first y, NaN before
        self.populations: Floats = self.table[:, 16]  # how many values an arm has, infinite if they never run out

    def __getstate__(self) -> tuple[Ints, Floats, bool, object, Redraws | None]:
        return self.counts, self.table, self.variance, self.rows, self.redraws

    def __setstate__(self, state: tuple[Ints, Floats, bool, object, Redraws | None]) -> None:
        self.counts, self.table, self.variance, self.rows, self.redraws = state
        self._name_columns()

    def place(self, arms: Sequence[Arm]) -> Self:
        """Count the values of bounded arms from their lower bounds; before any value."""
        for i, arm in enumerate(arms):
            if math.isfinite(arm.low):
                self.origins[i] = arm.low
            if math.isfinite(arm.high - arm.low):
                self.ranges[i] = arm.high - arm.low
            if arm.kind == "normal":
                self.held[i] = 0.0
            self.populations[i] = arm.size
        self.redraws = Redraws.of(self._like(arms), arms)
        return self

    def _like(self, arms: Sequence[Arm]) -> Moments:
        """An empty record of the same arms, for draws with replacement."""
        other = Moments(len(arms), self.variance)
        other.origins[:], other.ranges[:] = self.origins, self.ranges
        return other

    @property
    def told(self) -> Ints:
        """Observations of every arm, those included that do not count yet."""
        return self.counts

    @property
    def pairs(self) -> Ints:
        """Whole pairs of every arm."""
        return self.counts // 2

    @property
    def offsets(self) -> Floats:
        """Means, counted from the origins."""
        return (self.sums + self.carries) / np.maximum(self.counts, 1)

    @property
    def means(self) -> Floats:
        """Means in the user's units, rounded as such numbers are; NaN for an unbounded arm without a value."""
        return self.origins + self.offsets

    @property
    def rounding(self) -> Floats:
        """More than an estimate in the user's units, and a bound next to it, may be off because of the origin's size."""
        if self.variance:
            return np.zeros(len(self.counts))
        return ULP * np.abs(np.nan_to_num(self.origins, nan=0.0))

    def about(self, reference: float) -> Floats:
        """The estimates, counted from a reference: exact where those in the user's units are rounded at the origin's size."""
        return self.estimates if self.variance else (self.origins - reference) + self.offsets

    def update(self, arm: int, values: Floats) -> None:
        """Take in values one after the other: however many come at once, the record is the same to the last bit."""
        if len(values) == 0:
            return
        if math.isnan(self.origins[arm]):
            self.origins[arm] = values[0]
        if self.redraws is not None:
            self.redraws.take(arm, self.counts, values)
        if len(values) == 1:
            self._add(arm, float(values[0]) - float(self.origins[arm]))
        else:
            self._add_all(arm, values - self.origins[arm])
        self.refresh(arm)

    def _hold(self, arm: int, x: float, old: int, before: float, total: float) -> None:
        """A value of a normal arm after ``old`` others; the sums before and with it."""
        held, first = float(self.held[arm]), float(self.held_sums[arm])
        if held > 0.0:
            n = old + 1.0 - held
            mean = (before - first) / (n - 1.0) if n > 1.0 else x
            self.later_squares[arm] += (x - mean) * (x - (total - first) / n)
        elif old + 1 >= HELD_LEAST and self.squares[arm] > 0.0:
            self.held[arm], self.held_sums[arm], self.held_squares[arm] = old + 1.0, total, self.squares[arm]

    def _add(self, arm: int, x: float) -> None:
        old, total, carry = int(self.counts[arm]), float(self.sums[arm]), float(self.carries[arm])
        before = total + carry
        mean = before / old if old else 0.0
        whole = total + x
        carry += (total - whole) + x if abs(total) >= abs(x) else (x - whole) + total
        self.counts[arm], self.sums[arm], self.carries[arm] = old + 1, whole, carry
        step = x - mean
        self.squares[arm] += step * (x - (whole + carry) / (old + 1))
        if self.held[arm] >= 0.0:
            self._hold(arm, x, old, before, whole + carry)
        if old:
            self.prediction_errors[arm] += step * step
        gap = float(self.waiting[arm]) - x
        if math.isnan(gap):  # none is waiting
            self.waiting[arm] = x
        else:
            self.differences[arm] += gap * gap
            self.waiting[arm] = np.nan
        if not self.variance:
            self._bend(arm, x / self.ranges[arm])
        elif not math.isnan(gap):
            self._bend(arm, (gap / self.ranges[arm]) * (gap / self.ranges[arm]))

    def _bend(self, arm: int, y: float) -> None:
        y = min(y, 1.0)
        if math.isnan(self.firsts[arm]):
            self.firsts[arm] = y
            return
        self.upward[arm] += y * y * (1.0 - y)
        self.downward[arm] += y * (1.0 - y) * (1.0 - y)

    def _add_all(self, arm: int, values: Floats) -> None:
        """As ``_add``, value by value: cumulated sums add in this order."""
        while self.held[arm] == 0.0 and len(values):  # a few, as a rule
            self._add(arm, float(values[0]))
            values = values[1:]
        if len(values) == 0:
            return
        old, n = int(self.counts[arm]), len(values)
        sums = np.cumsum(np.concatenate(([self.sums[arm]], values)))
        before, after = sums[:-1], sums[1:]
        lost = np.where(np.abs(before) >= np.abs(values), (before - after) + values, (values - after) + before)
        carries = np.cumsum(np.concatenate(([self.carries[arm]], lost)))
        means = (sums + carries) / np.maximum(np.arange(old, old + n + 1), 1)
        steps = values - means[:-1]
        errors = steps if old else steps[1:]  # there is nothing to predict the first value from
        self.counts[arm], self.sums[arm], self.carries[arm] = old + n, sums[-1], carries[-1]
        self.squares[arm] = last_sum(self.squares[arm], steps * (values - means[1:]))
        self.prediction_errors[arm] = last_sum(self.prediction_errors[arm], errors * errors)
        if self.held[arm] > 0.0:
            later, count = (sums + carries) - self.held_sums[arm], np.arange(old + 1, old + n + 1) - self.held[arm]
            means = np.where(count > 1.0, later[:-1] / np.maximum(count - 1.0, 1.0), values)
            self.later_squares[arm] = last_sum(self.later_squares[arm], (values - means) * (values - later[1:] / count))
        queue = values if np.isnan(self.waiting[arm]) else np.concatenate(([self.waiting[arm]], values))
        even = len(queue) // 2 * 2
        gaps = queue[0:even:2] - queue[1:even:2]
        self.differences[arm] = last_sum(self.differences[arm], gaps * gaps)
        self.waiting[arm] = queue[-1] if len(queue) > even else np.nan
        scaled = (gaps / self.ranges[arm]) * (gaps / self.ranges[arm]) if self.variance else values / self.ranges[arm]
        y = np.minimum(scaled, 1.0)
        if len(y) and math.isnan(self.firsts[arm]):
            self.firsts[arm], y = y[0], y[1:]
        self.upward[arm] = last_sum(self.upward[arm], y * y * (1.0 - y))
        self.downward[arm] = last_sum(self.downward[arm], y * (1.0 - y) * (1.0 - y))

    def refresh(self, arm: int | slice = slice(None)) -> None:
        """Recompute the estimates from the moments."""
        if isinstance(arm, int):
            n = int(self.counts[arm])
            if self.variance:
                self.estimates[arm] = self.squares[arm] / (n - 1) if n >= 2 else np.nan
            else:
                self.estimates[arm] = self.origins[arm] + (self.sums[arm] + self.carries[arm]) / n if n >= 1 else np.nan
            return
        if not self.variance:
            self.estimates[arm] = np.where(self.counts[arm] >= 1, self.means[arm], np.nan)
            return
        degrees = np.maximum(self.counts[arm] - 1, 1)
        self.estimates[arm] = np.where(self.counts[arm] >= 2, self.squares[arm] / degrees, np.nan)


class Mean(Estimator):
    """The mean, from one observation on. Bounded arms: scale = high - low (Hoeffding). Sub-Gaussian arms: scale = 2R. Normal arms
    of unknown variance have none, and only sequences that need none are valid for them."""

    name = "mean"
    minimum = 1

    def first(self, arm: Arm) -> int:
        return HELD_LEAST + 2 if arm.kind == "normal" else self.minimum

    def range(self, arm: Arm) -> tuple[float, float]:
        return arm.low, arm.high

    def scale(self, arm: Arm) -> float:
        if arm.kind == "normal":  # nothing is known: arms are alike
            return 1.0
        return 2.0 * arm.scale if arm.scale is not None else arm.high - arm.low

    def record(self, m: int) -> Moments:
        return Moments(m, variance=False)


class Variance(Estimator):
    """The unbiased variance, from two observations on; on [low, high] it never exceeds (high - low)^2 / 4.

    That of an arm with a population of N has the divisor N - 1, as surveys have it: after N values the two are the same.
    """

    name = "variance"
    minimum = 2

    def range(self, arm: Arm) -> tuple[float, float]:
        most = self.scale(arm) / 4.0
        if arm.population is None:
            return 0.0, most
        if arm.population < 2:
            raise ProblemError(
                f"Arm {arm.name!r} has a population of 1, and the variance of one value is not defined: leave the arm out.",
                key="population",
            )
        return 0.0, most * (arm.size / (arm.size - 1.0))

    def scale(self, arm: Arm) -> float:
        if arm.kind == "normal":
            raise ProblemError(
                f"The variance of arm {arm.name!r} cannot be explored because the arm is normal, without bounds: evidence about "
                "a variance needs a limit on how rare and large deviations can be; declare it bounded, with low and high.",
                key="parameter",
            )
        if not math.isfinite(arm.high - arm.low):
            raise ProblemError(
                f"The variance of arm {arm.name!r} cannot be bounded because the arm is unbounded; declare low and high for it.",
                key="parameter",
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
    raise ProblemError(
        f"parameter={short(parameter)} is unknown; use 'mean', 'variance' or an Estimator of your own.", key="parameter"
    )
