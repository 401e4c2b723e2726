"""Differences of candidates on shared items, drawn without replacement: a test of every two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arms import Floats, Ints

LAST = 0.95  # the largest share of the capital that is ever bet
NOTHING = 1e-9  # in units of the range: what the mean of the items to come may be off by
ROUNDING = 2e-15  # the same of a score, in sums of them
AT_ONCE = 200_000  # pairs times items that are taken in together


def stakes(size: int) -> Floats:
    """The bets, before any item is seen: fixed by how many items there are, as the best one for a difference that is to be found
    among n of them is about 2.4 / sqrt(n) and more."""
    least = 2.4 / math.sqrt(size)
    many = max(3, min(6, math.ceil(math.log(0.7 / least) / math.log(2.4)) + 1)) if least < 0.7 else 3
    return np.geomspace(min(least, 0.1), 0.7, many)


WEIGHTS = np.array([1.0, 1.0, 1.0, 0.5])  # of the bets of ``learnt``
PRIOR = 0.25  # squared differences that a learnt bet starts with


def learnt(past: Any, squares: Any, taken: int, size: int) -> Floats:
    """The bets on one more item, as the items before were: four, the first axis.

    Sum by sum of squares is about the bet that would have done best so far (Kelly), here with some squares more, and smaller
    while few items are known. It stands in three bets, each at least the best one for a difference that takes about all items, a
    quarter or a sixteenth of them to be found; the fourth is large, for candidates that hardly ever disagree. Values that vary
    little have small squares, so that bets on them grow.
    """
    past, squares = np.asarray(past, dtype=np.float64), np.asarray(squares, dtype=np.float64)
    least = min(2.4 / math.sqrt(size), 0.1)
    kelly = past / (np.maximum(squares, 0.0) + PRIOR) * (taken / (taken + math.sqrt(size)))
    return np.stack([*(np.maximum(kelly, times * least) for times in (1.0, 2.0, 4.0)), np.full_like(kelly, 0.7)])


def growth(share: Floats, difference: Any, past: Any, left: int, size: int, slack: float = 0.0) -> Floats:
    """ln of what every bet makes of one more item: that the mean difference of all items is above -``slack``.

    Were it -slack or less, those of the ``left`` items that are still to come would have a mean of at most mu = (-size slack -
    past) / left, ``past`` being the sum of the differences before. So 1 + l (D - mu) has mean at most 1 given the past, for every
    l from 0 to 1 / (1 + mu) that is chosen without D. What a difference of the means puts into every item to come grows as size /
    left, and so do the bets, up to the largest share. A mean below -1 is impossible. The first axis of ``share`` has the bets.
    """
    mu = (-size * slack - np.asarray(past)) / left
    return made(share, np.asarray(difference) - mu, 1.0 + mu, left, size)


def made(share: Floats, gain: Any, room: Any, left: int, size: int) -> Floats:
    """ln of what every bet makes of a gain, which has mean at most 0 given the past and is at least -room; see ``growth``."""
    gain, room = np.asarray(gain), np.asarray(room)
    bets = share.reshape(share.shape + (1,) * (1 + room.ndim - share.ndim))
    with np.errstate(divide="ignore", invalid="ignore"):
        bet = np.minimum(bets * (size / left), LAST / np.maximum(room, 1e-300))
        found = np.log1p(bet * gain)
    sure = room < -NOTHING
    if np.any(sure):
        found = np.where(sure, np.inf, found)
    tight = np.abs(room) <= NOTHING  # all that is to come would have to be as low as can be, or about so
    if np.any(tight):
        found = np.where(tight, np.where(gain + room > 2.0 * NOTHING * left, np.inf, 0.0), found)
    return np.asarray(found)


def begun(shape: tuple[int, ...]) -> Floats:
    """ln of what every bet of ``learnt`` has in the beginning, in so many games; their mean is 1."""
    first = np.log(WEIGHTS / WEIGHTS.mean())
    return np.asarray(np.broadcast_to(first.reshape(-1, *[1] * len(shape)), (len(first), *shape)).copy())


def log_mean(logs: Floats) -> Floats:
    """ln of the mean capital of all bets, which stand in the first direction."""
    top = logs.max(axis=0)
    with np.errstate(invalid="ignore"):
        found = top + np.log(np.exp(logs - top).mean(axis=0))
    return np.asarray(np.where(np.isinf(top), top, found))


def _running(start: Floats, steps: Floats) -> Floats:
    """The sums from start on, after none of the steps, after one, and so on; added one by one."""
    return np.asarray(np.cumsum(np.concatenate((start[..., None], steps), axis=-1), axis=-1))


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
        self.sums: Floats = np.zeros((m, size + 1))  # of the first scores, in units of the range
        self.depth: Ints = np.zeros(m, dtype=np.int64)
        self.squares: Floats = np.zeros((m, m))  # of the differences on items that both have
        self.logs: Floats = begun((m, m))  # [b, h, l] bets that h is above l
        self.most: Floats = np.zeros((m, m))  # ln of the largest capital so far

    def advance(self, scores: Floats, counts: Ints) -> None:
        """Take in the scores up to these counts, item by item."""
        before, self.depth = self.depth, np.maximum(self.depth, counts)
        for i in np.flatnonzero(self.depth > before).tolist():
            first, last = int(before[i]), int(self.depth[i])
            units = (scores[i, first:last] - self.low) / self.range
            self.sums[i, first : last + 1] = np.cumsum(np.concatenate(([self.sums[i, first]], units)))  # as one by one
        new, old = np.flatnonzero(self.depth > before), np.flatnonzero(self.depth == before)
        h = np.concatenate((np.repeat(new, len(before)), np.repeat(old, len(new))))
        low = np.concatenate((np.tile(np.arange(len(before)), len(new)), np.tile(new, len(old))))
        met, both = np.minimum(before[h], before[low]), np.minimum(self.depth[h], self.depth[low])
        while (more := met < both).any():
            h, low, met, both = h[more], low[more], met[more], both[more]
            until = np.minimum(both, met + max(1, AT_ONCE // len(h)))
            self._meet(h, low, met, until)
            met = until

    def _meet(self, h: Ints, low: Ints, first: Ints, last: Ints) -> None:
        """These two, and these, and so on, both have scores on the items from first to last by now. The sums are the same
        to the last bit, however many items come at once."""
        t = first[:, None] + np.arange(int((last - first).max()))
        there, t = t < last[:, None], np.minimum(t, self.size - 1)
        one, other = self.sums[h[:, None], t], self.sums[low[:, None], t]
        behind = one - other
        difference = self.sums[h[:, None], t + 1] - one - (self.sums[low[:, None], t + 1] - other)
        squares = _running(self.squares[h, low], np.where(there, difference**2, 0.0))
        share = learnt(behind + self.slack * t, squares[:, :-1], t, self.size)
        gains = growth(share, difference, behind, self.size - t, self.size, self.slack)
        logs = _running(self.logs[:, h, low], np.where(there, gains, 0.0))
        self.squares[h, low], self.logs[:, h, low] = squares[:, -1], logs[..., -1]
        self.most[h, low] = np.maximum(self.most[h, low], log_mean(logs[..., 1:]).max(axis=-1))

    def least(self, h: Any, low: Any) -> Any:
        """By how much the mean of h is at least above that of l, whatever the scores are that are missing."""
        return (self.sums[h, self.depth[h]] - self.sums[low, self.depth[low]]) / self.size - (1.0 - self.depth[low] / self.size)

    def sure(self, h: Any, low: Any) -> Any:
        """Whether the scores that are known leave no way in which h is worse than l by more than the slack."""
        return self.least(h, low) >= -(self.slack + ROUNDING)
