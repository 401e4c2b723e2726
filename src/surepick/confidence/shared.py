"""Differences of candidates on shared items, drawn without replacement: a test of every two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arms import Floats, Ints

LAST = 0.95  # the largest share of the capital that is ever bet
NOTHING = 1e-9  # in units of the range: what the mean of the items to come may be off by
ROUNDING = 2e-15  # the same of a score, in sums of them


def stakes(size: int) -> Floats:
    """The bets, before any item is seen: fixed by how many items there are, as the best one for a difference that is to be found
    among n of them is about 2.4 / sqrt(n) and more."""
    least = 2.4 / math.sqrt(size)
    many = max(3, min(6, math.ceil(math.log(0.7 / least) / math.log(2.4)) + 1)) if least < 0.7 else 3
    return np.geomspace(min(least, 0.1), 0.7, many)


def growth(share: Floats, difference: Any, past: Any, left: int, size: int, slack: float = 0.0) -> Floats:
    """ln of what every bet makes of one more item: that the mean difference of all items is above -``slack``.

    Were it -slack or less, those of the ``left`` items that are still to come would have a mean of at most mu = (-size slack -
    past) / left, ``past`` being the sum of the differences before. So 1 + l (D - mu) has mean at most 1 given the past, for every
    l from 0 to 1 / (1 + mu) that is chosen without D. What a difference of the means puts into every item to come grows as size /
    left, and so do the bets, up to the largest share. A mean below -1 is impossible.
    """
    mu = (-size * slack - np.asarray(past)) / left
    room = 1.0 + mu
    with np.errstate(divide="ignore", invalid="ignore"):
        bet = np.minimum(np.multiply.outer(share * (size / left), np.ones_like(mu)), LAST / np.maximum(room, 1e-300))
        found = np.log1p(bet * (np.asarray(difference) - mu))
    sure = room < -NOTHING
    if np.any(sure):
        found = np.where(sure, np.inf, found)
    tight = np.abs(room) <= NOTHING  # all that is to come would have to be as low as can be, or about so
    if np.any(tight):
        found = np.where(tight, np.where(np.asarray(difference) + 1.0 > 2.0 * NOTHING * left, np.inf, 0.0), found)
    return np.asarray(found)


def log_mean(logs: Floats) -> Floats:
    """ln of the mean capital of all bets, which stand in the first direction."""
    top = logs.max(axis=0)
    with np.errstate(invalid="ignore"):
        found = top + np.log(np.exp(logs - top).mean(axis=0))
    return np.asarray(np.where(np.isinf(top), top, found))


class Shared:
    """For every two candidates the most capital of bets that the first has the larger mean over all items of a pool.

    D = X_h - X_l on the items of one random order are draws without replacement of size differences in [-1, 1], in units of the
    range, whatever the scores are. If their mean is not above -slack, what every bet has is a supermartingale (see ``growth``),
    and so is the average over bets (Waudby-Smith and Ramdas 2020, 2024). By Ville's inequality it ever reaches 1 / alpha with
    probability at most alpha. The sequence D_1, D_2, ... is there from the start, and the bets on it hang on nothing but itself:
    so it does not matter which candidates were judged how far, in which order, and why.

    Parameters
    ----------
    low, high : float
        Bounds of all scores; the other way round if small ones are looked for.
    slack : float
        By how much the second candidate may be the better one.
    """

    def __init__(self, m: int, size: int, low: float, high: float, slack: float = 0.0) -> None:
        self.size: int = size
        self.low: float = low
        self.range: float = high - low
        self.slack: float = slack / abs(high - low)
        self.share: Floats = stakes(size)
        self.sums: Floats = np.zeros((m, size + 1))  # of the first scores, in units of the range
        self.depth: Ints = np.zeros(m, dtype=np.int64)
        self.logs: Floats = np.zeros((len(self.share), m, m))  # [b, h, l] bets that h is above l
        self.most: Floats = np.zeros((m, m))  # ln of the largest capital so far

    def advance(self, scores: Floats, counts: Ints) -> None:
        """Take in the scores up to these counts, candidate by candidate."""
        for i in np.flatnonzero(counts > self.depth).tolist():
            first, last = int(self.depth[i]), int(counts[i])
            units = (scores[i, first:last] - self.low) / self.range
            self.sums[i, first + 1 : last + 1] = self.sums[i, first] + np.cumsum(units)
            for t in range(first, last):
                others = np.flatnonzero(self.depth > t)
                if len(others):
                    self._meet(i, others, t)
            self.depth[i] = last

    def _meet(self, i: int, others: Ints, t: int) -> None:
        """Both have a score on item t by now."""
        past = self.sums[i, t] - self.sums[others, t]
        difference = self.sums[i, t + 1] - self.sums[i, t] - (self.sums[others, t + 1] - self.sums[others, t])
        left = self.size - t
        self.logs[:, i, others] += growth(self.share, difference, past, left, self.size, self.slack)
        self.logs[:, others, i] += growth(self.share, -difference, -past, left, self.size, self.slack)
        self.most[i, others] = np.maximum(self.most[i, others], log_mean(self.logs[:, i, others]))
        self.most[others, i] = np.maximum(self.most[others, i], log_mean(self.logs[:, others, i]))

    def sure(self, h: Any, low: Any) -> Any:
        """Whether the scores that are known leave no way in which h is worse than l by more than the slack."""
        known = self.sums[h, self.depth[h]] - self.sums[low, self.depth[low]] - (self.size - self.depth[low])
        return known >= -(self.slack + ROUNDING) * self.size
