"""Confidence sequences from mixture martingales: what all of them share."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from typing import NamedTuple, Self

import numpy as np

from ..arms import Arm, Bools, Floats, Ints
from ..checks import MANY, whole
from ..engine import compiled
from ..engine.data import Sequence, record_of
from ..engine.enums import Family, Form
from ..engine.kernels.unit import NONE
from ..errors import SettingError
from ..estimators import Mean, Moments, Record, Variance
from ..problems.base import Problem
from .base import Confidence

TUNED = 1000  # observations of an arm at which the mixtures are about tightest; fixed before any data


class Unit(NamedTuple):
    """How evidence about an arm is weighed: theta = shift + scale * u, from the arm's values or from its pairs."""

    family: Family
    shift: float
    scale: float
    pairs: bool = False


class Mixture(Confidence):
    """Intervals {theta : evidence against it <= ln(m / delta)}, for all arms and times together.

    The evidence against the truth is the logarithm of a non-negative supermartingale that starts at 1, so by Ville's inequality
    it ever exceeds ln(m / delta) with probability at most delta / m; the union is over the m arms only, none over time.
    Mixing widths are set by rho = N0 / (2 ln(1/alpha) + ln(1 + 2 ln(1/alpha))), alpha = delta / m, N0 = 1000 observations of an
    arm unless you say otherwise, fixed before the data. It moves where the intervals are tightest, not whether they hold.

    An interval depends on its own arm's observations alone.

    Parameters
    ----------
    tuned : int
        N0, from 1 to 10,000,000: the observations of an arm at which its interval is about tightest.
    """

    def __init__(self, *, tuned: int = TUNED) -> None:
        self.tuned: int = whole(tuned, "tuned", 1, MANY)

    def bind(self, problem: Problem, delta: float) -> None:
        super().bind(problem, delta)
        if not weighable(problem):
            raise SettingError(
                f"confidence={self.name!r} is for means and variances; an estimator of your own has the intervals of 'paper'.",
                key="confidence",
            )
        units = [self.unit(arm) for arm in problem.arms]
        self.families: Ints = np.array([u.family for u in units])
        self.shift: Floats = np.array([u.shift for u in units])
        self.scale: Floats = np.array([u.scale for u in units])
        self.paired: Bools = np.array([u.pairs for u in units])
        self.level: float = math.log(problem.m) - math.log(delta)
        self.rho: float = width(self.level, self.tuned)
        self._forget()

    def _forget(self) -> None:
        m = self.problem.m
        self._before = np.full((7, m), np.nan)  # what the intervals below were worked out for
        self._ends = np.empty(m), np.empty(m)

    def at(self, delta: float) -> Self:
        other = copy.copy(self)
        other.delta, other.level = delta, math.log(self.problem.m) - math.log(delta)
        other._forget()
        return other

    @abstractmethod
    def unit(self, arm: Arm) -> Unit:
        """How this sequence weighs an arm; raises :class:`SettingError` for one that it is not valid for."""

    def seen(self, record: Record) -> tuple[Ints, Floats]:
        """By which family every arm is weighed; and a row each: how many observations, their mean in units of the arm, for bets
        the inner atom and its weight; then how many values the arm has, how many draws with replacement there are, and their
        mean."""
        assert isinstance(record, Moments)
        redraws = record.redraws
        if redraws is None:
            return self._plainly(record, np.zeros(self.problem.m, dtype=np.bool_))
        # Of finitely many values those drawn are all weighed; it is the draws anew that a first one is held back of.
        families, seen = self._plainly(record, redraws.has)
        again, drawn = self._plainly(redraws.tally, ~redraws.has)
        has, pairs = redraws.has, redraws.has & self.paired
        families = np.where(has, again, families)
        seen[2:4, has], seen[5:7, has] = drawn[2:4, has], drawn[0:2, has]
        seen[0:2, pairs], seen[4:7, pairs] = drawn[0:2, pairs], [[np.inf], [0.0], [0.0]]
        return families, seen

    def _plainly(self, record: Moments, plain: Bools) -> tuple[Ints, Floats]:
        """As ``seen``, of values that are drawn once; for bets those of ``plain`` arms are all weighed."""
        n = np.where(self.paired, record.pairs, record.counts).astype(np.float64)
        mean = np.where(
            self.paired, record.differences / np.maximum(n, 1.0) / 2.0, (record.origins - self.places(record)) + record.offsets
        )
        p = mean / np.where(self.families == Family.SPREAD, 1.0, self.scale)  # of 0/1 values, whatever their variance counts in
        p = np.where(self.families == Family.NORMAL, p, np.clip(p, 0.0, 1.0))
        none = np.zeros(self.problem.m)
        seen = np.array([n, p, np.full(self.problem.m, 0.5), none, record.populations, none, none])
        self._students(record, seen=seen)
        families = self.families
        if (families == Family.BETS).any():
            families = np.where(plain, Family.UNIT, families)
            compiled("bets").fill_bets(self.paired, record.counts, record.table, families, seen)
        return families, seen

    def places(self, record: Record) -> Floats:
        """Where u = 0 is. For unbounded arms, whose evidence is about differences only, that is the origin of their record."""
        assert isinstance(record, Moments)
        shift = np.where((self.families == Family.NORMAL) & ~np.isnan(record.origins), record.origins, self.shift)
        return self._students(record, shift=shift)[0]

    def scales(self, record: Record) -> Floats:
        """How large u = 1 is: as declared, or the standard deviation of the values that were held back."""
        return self._students(record)[1]

    def _students(self, record: Record, shift: Floats | None = None, seen: Floats | None = None) -> tuple[Floats, Floats]:
        """Fill in what is known of normal arms of unknown variance: where u = 0 is, how large u = 1 is, what is seen."""
        assert isinstance(record, Moments)
        shift, scale = self.shift if shift is None else shift, self.scale
        if (self.families == Family.STUDENT).any():
            shift, scale, seen = shift.copy(), scale.copy(), np.zeros((7, self.problem.m)) if seen is None else seen
            compiled("student").fill_student(self.families, record.counts, record.table, shift, scale, seen)
        return shift, scale

    def missing(self, record: Record) -> Ints:
        """Of normal arms of unknown variance, the values that set the unit and two more, for these are weighed."""
        missing = super().missing(record)
        if (self.families == Family.STUDENT).any():
            assert isinstance(record, Moments)
            weighed = np.where(record.held > 0.0, record.counts - record.held, 0.0).astype(np.int64)
            missing = np.where(self.families == Family.STUDENT, np.maximum(missing, 2 - weighed), missing)
        return missing

    def halves(self, record: Record, counts: Ints) -> Bools:
        """The arms with half a pair after so many observations."""
        halves: Bools = self.paired & (counts % 2 == 1)
        redraws = record.redraws if isinstance(record, Moments) else None
        if redraws is not None:
            for i in np.flatnonzero(self.paired & redraws.has).tolist():
                halves[i] = redraws.opened(i, record.counts, int(counts[i] - record.counts[i]))
        return halves

    def weighed(self, record: Record, counts: Ints) -> Floats:
        """How many observations are weighed of so many."""
        assert isinstance(record, Moments)
        n = np.where(self.paired, counts // 2, counts)
        first = self.families == Family.BETS  # which is not weighed
        if record.redraws is not None:  # each new value is a draw more, and so about half a pair
            has, drawn = record.redraws.has, record.redraws.tally.counts + (counts - record.counts)
            n, first = np.where(self.paired & has, drawn // 2, n), first & (self.paired | ~has)
        n = np.where(first, np.maximum(n - 1, NONE), n)
        return np.where(self.families == Family.STUDENT, np.maximum(n - record.held, NONE), n).astype(np.float64)

    def box(self, record: Record) -> tuple[Floats, Floats]:
        lower, upper = self._ends
        families, seen = self.seen(record)
        compiled("mixtures").intervals(families, seen, self.rho, self.level, self._before, lower, upper)
        below, above = self.placed(lower, upper, self.places(record), self.scales(record), record)
        if not self.problem.finite:
            return below, above
        least, most = self.certain(record, seen)
        return np.clip(below, least, most), np.clip(above, least, most)

    def certain(self, record: Record, seen: Floats) -> tuple[Floats, Floats]:
        """What is certain of every arm's parameter: its range or, of an arm that has finitely many values, what those drawn
        leave of it; ``seen`` is that of the record."""
        problem = self.problem
        if not problem.finite:
            return problem.low, problem.high
        assert isinstance(record, Moments)
        lower, upper, given = np.empty(problem.m), np.empty(problem.m), record_of(record)
        compiled("finite").all_certain(problem.low, problem.high, seen, self.table(record), given, lower, upper)
        return lower, upper

    def radius(self, counts: Ints) -> Floats:
        """The half-width of the normal mixture, which holds for all kinds of arms and orders them by their counts."""
        n = np.maximum(np.where(self.paired, counts // 2, counts), 1)
        half: Floats = np.sqrt((n + self.rho) * (np.log1p(n / self.rho) + 2.0 * self.level)) / n
        return np.where(self.families == Family.NORMAL, self.scale, self.scale / 2.0) * half

    def lower(self, record: Moments) -> Sequence:
        return self.sequence(record, Form.MIXTURE, level=self.level, rho=self.rho, units=self.table(record))

    def table(self, record: Record) -> Floats:
        """How arms are weighed, for compiled loops: a column each with kind, where u = 0 is, scale, from pairs or not."""
        return np.array([self.families, self.places(record), self.scales(record), self.paired], dtype=np.float64)


def variance_scale(arm: Arm) -> float:
    """By how much the variance of all values of an arm, with the divisor of its estimate, exceeds their mean square."""
    return 1.0 if arm.population is None else arm.size / (arm.size - 1.0)


def width(level: float, tuned: float = TUNED) -> float:
    """rho, from level = ln(1 / alpha)."""
    return tuned / (2.0 * level + math.log1p(2.0 * level))


def weighable(problem: Problem) -> bool:
    """The parameter is the plain mean or variance, of which martingales are known."""
    return type(problem.parameter) in (Mean, Variance)


def mean_only(name: str, problem: Problem) -> None:
    if type(problem.parameter) is not Mean:
        raise SettingError(f"confidence={name!r} is for means; use 'auto' or 'pairs' for variances.", key="confidence")


def variance_only(name: str, problem: Problem) -> None:
    if type(problem.parameter) is not Variance:
        raise SettingError(f"confidence={name!r} is for variances; use 'auto' for means.", key="confidence")
