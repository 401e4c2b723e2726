"""Long paths of observations, and what is on record on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from ..arms import Floats, Ints
from ..estimators import Moments, Record
from ..problems.base import Problem
from .worlds import ends

LONGEST = 20_000  # observations of an arm
BLOCK = 1.6  # counts are looked at in blocks: the last one of a block is about so many times the first


def drawn(problem: Problem, shares: Floats, n: int, run: int) -> Floats:
    """n values of every arm, a row each: its upper end with such a probability, and else its lower end."""
    low, high = np.array([ends(arm) for arm in problem.arms]).T
    upper = np.random.default_rng([run, 1]).random((problem.m, n)) < shares[:, None]
    return np.asarray(np.where(upper, high[:, None], low[:, None]))


def path(problem: Problem, shares: Floats, truth: Floats, run: int) -> Iterator[Record]:
    """Observations of all arms, the last arm ever fewer than the others; the record whenever an estimate is far from the truth
    for its count, and now and then."""
    values = drawn(problem, shares, LONGEST, run)
    fewer = np.where(np.arange(problem.m) < problem.m - 1, 1, 3)
    counts = np.maximum(np.arange(2, LONGEST + 1)[:, None] // fewer, 2)  # a row for every count of the other arms
    edges = np.unique(np.geomspace(1, len(counts), int(np.log(len(counts)) / np.log(BLOCK))).astype(int)) - 1
    if type(problem.record()) is not Moments:
        return _updated(problem, values, counts[edges])
    sums = Cumulated(problem, values)
    far = np.abs(sums.estimates[np.arange(problem.m), counts - 1] - truth) * np.sqrt(counts)
    looks = {int(first + at) for first, last in pairwise(edges) for at in far[first:last].argmax(axis=0)}
    return (sums.record(counts[look]) for look in sorted({*looks, len(counts) - 1}))


def _updated(problem: Problem, values: Floats, looks: Sequence[Ints] | Ints) -> Iterator[Record]:
    record = problem.record()
    for counts in looks:
        for arm in range(problem.m):
            record.update(arm, values[arm, int(record.counts[arm]) : int(counts[arm])])
        yield record


class Cumulated:
    """The moments of all arms after any number of their values, which are a row an arm: all sums are worked out at once."""

    problem: Problem

    def __init__(self, problem: Problem, values: Floats) -> None:
        self.problem = problem
        origins = self._empty().origins
        self.origins: Floats = np.where(np.isnan(origins), values[:, 0], origins)
        self.values: Floats = values - self.origins[:, None]
        x = self.values
        n = np.arange(1, x.shape[1] + 1)
        self.sums: Floats = np.cumsum(x, axis=1)
        sums = self.sums
        self.squares: Floats = np.maximum(np.cumsum(x * x, axis=1) - sums * sums / n, 0.0)
        self.errors: Floats = np.zeros_like(x)
        self.errors[:, 1:] = np.cumsum((x[:, 1:] - sums[:, :-1] / n[:-1]) ** 2, axis=1)
        self.differences: Floats = np.zeros_like(x)
        self.differences[:, 1::2] = (x[:, : len(n) // 2 * 2 : 2] - x[:, 1::2]) ** 2
        self.differences = np.cumsum(self.differences, axis=1)
        self._bend(x)
        means = self.origins[:, None] + sums / n
        self.estimates: Floats = self.squares / np.maximum(n - 1, 1) if self._empty().variance else means

    def _bend(self, x: Floats) -> None:
        """The first values of all arms, in units of their ranges, and what bets know of those after them."""
        ranges, y = self._empty().ranges[:, None], np.zeros_like(x)
        if self._empty().variance:
            y[:, 1::2] = ((x[:, : x.shape[1] // 2 * 2 : 2] - x[:, 1::2]) / ranges) ** 2
        else:
            y[:] = x / ranges
        y, self.begun = np.minimum(y, 1.0), 2 if self._empty().variance else 1
        self.firsts: Floats = y[:, self.begun - 1].copy()
        y[:, self.begun - 1] = 0.0
        self.upward: Floats = np.cumsum(y * y * (1.0 - y), axis=1)
        self.downward: Floats = np.cumsum(y * (1.0 - y) * (1.0 - y), axis=1)

    def _empty(self) -> Moments:
        record = self.problem.record()
        assert isinstance(record, Moments)
        return record

    def record(self, counts: Ints) -> Moments:
        """The record after so many values of every arm."""
        record, at = self._empty(), (np.arange(self.problem.m), counts - 1)
        record.counts[:], record.origins[:], record.sums[:] = counts, self.origins, self.sums[at]
        record.squares[:], record.prediction_errors[:] = self.squares[at], self.errors[at]
        record.differences[:] = self.differences[at]
        record.firsts[:] = np.where(counts >= self.begun, self.firsts, np.nan)
        record.upward[:], record.downward[:] = self.upward[at], self.downward[at]
        record.waiting[:] = np.where(counts % 2 == 1, self.values[at], np.nan)
        record.refresh()
        return record
