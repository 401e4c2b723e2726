"""Which of all choices of k candidates may be the best one: a test of every choice, on shared items."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from ..arms import Bools, Floats, Ints
from .ahead import Ahead
from .shared import ROUNDING, begun, growth, learnt, log_mean, made


def choices(m: int, k: int) -> int:
    return math.comb(m, k)


class Sets:
    """For every choice of k of m candidates the capital of bets against it, on the items of a pool.

    If a choice S is the best one, no candidate outside of it is better than one inside. So before every item one outside, h, and
    one inside, l, may be chosen by what earlier items showed, and it may be bet that h is the better one: 1 + b (D - mu) of
    ``shared.growth`` has mean at most 1 given the past if S is the best, whichever pair that was. Here h is the one outside that
    leads by the items so far, and l the one inside that is last. Products over items are supermartingales from 1, and so are
    averages over bets; by Ville's inequality the best choice is ever excluded, its capital reaching 1 / alpha, with probability
    at most alpha. There is but one best choice (of tied ones any), so there is no union: not over candidates, and not over pairs.

    Items are taken one after another, each when all candidates that are still undecided have a score on it. What is bet, and on
    whom, hangs on these scores alone; so it does not matter in which order they came, and why. Candidates that are in all choices
    left, or in none, are judged no further.

    With prices a candidate may be sent ahead (:class:`~surepick.confidence.ahead.Ahead`): it is judged on all items before the
    others go on, so that its mean is known to the bets from then on.

    Attributes
    ----------
    left : array of bool
        The choices that are not excluded, a row each.
    most : array
        ln of the largest capital against each of them so far.
    fallen : float
        The least ln of the capital at which one was excluded.
    """

    def __init__(self, m: int, k: int, size: int, low: float, high: float, level: float, prices: Floats | None = None) -> None:
        self.size: int = size
        self.low: float = low
        self.range: float = high - low
        self.level: float = level
        self.left: Bools = np.zeros((choices(m, k), m), dtype=np.bool_)
        for row, chosen in enumerate(combinations(range(m), k)):
            self.left[row, list(chosen)] = True
        self.logs: Floats = begun((len(self.left),))
        self.most: Floats = np.zeros(len(self.left))
        self.fallen: float = math.inf
        self.sums: Floats = np.zeros(m)  # in units of the range, of the items taken
        self.products: Floats = np.zeros((m, m))  # sums of products of two candidates' scores, on the same items
        self.ahead: Ahead = Ahead(self, np.ones(m) if prices is None else prices)
        self.items: int = 0
        self.undecided: Bools = self._undecided()

    def _undecided(self) -> Bools:
        return np.asarray(self.left.any(axis=0) & ~self.left.all(axis=0))

    def advance(self, scores: Floats, members: Ints, counts: Ints) -> bool:
        """Take in the items on which all undecided candidates have scores, and those who were sent ahead; whether there was
        anything new. ``members`` are the rows of the candidates."""
        anew, counts = False, counts[members]
        while self.undecided.any() and self.items < self.size:
            if (counts[self.ahead.waiting] < self.size).any():
                break
            if self.ahead.waiting.any():
                self.ahead.arrive((scores[members] - self.low) / self.range)
                self._keep(~self.ahead.contradicted(self.left))
            elif (counts[self.undecided] > self.items).all():
                self._take((scores[members, self.items] - self.low) / self.range)
                self.ahead.send(self.left[0] & self.undecided)
            else:
                break
            anew = True
        return anew

    def _take(self, units: Floats) -> None:
        open_ = np.flatnonzero(self.undecided)
        order = open_[np.argsort(-self.sums[open_], kind="stable")]  # those who lead come first
        inside = self.left[:, order]
        h = order[(~inside).argmax(axis=1)]
        low = order[inside.shape[1] - 1 - inside[:, ::-1].argmax(axis=1)]
        self.logs += self._growth(units, h, low)
        self.sums[open_] += units[open_]
        self.products[np.ix_(open_, open_)] += np.multiply.outer(units[open_], units[open_])
        self.items += 1
        found = log_mean(self.logs)
        self.most = np.maximum(self.most, found)
        out = found >= self.level
        if out.any() and not out.all():
            self.fallen = min(self.fallen, float(self.most[out].min()))
            self._keep(~out)

    def _growth(self, units: Floats, h: Ints, low: Ints) -> Floats:
        """ln of what every bet makes of the next item, that h is better than l."""
        left = self.size - self.items
        difference, past = units[h] - units[low], self.sums[h] - self.sums[low]
        squares = self.products[h, h] + self.products[low, low] - 2.0 * self.products[h, low]
        found = growth(learnt(past, squares, self.items, self.size), difference, past, left, self.size)
        known = np.flatnonzero(self.ahead.sent[h] | self.ahead.sent[low])
        if len(known):
            gain, room, past, squares = self.ahead.stake(units, h[known], low[known])
            found[:, known] = made(learnt(past, squares, self.items, self.size), gain, room, left, self.size)
        return found

    def _keep(self, rows: Bools) -> None:
        """These choices are left."""
        if rows.any() and not rows.all():
            self.left, self.logs, self.most = self.left[rows], self.logs[:, rows], self.most[rows]
            self.undecided = self._undecided()

    def best(self, known: Floats, counts: Ints) -> int:
        """The choice that leads, of those left, by the items taken or, if more is known of all that are undecided, by that; the
        first of tied ones. ``known`` are the sums of all scores that there are, in units of the range."""
        sums = known if (counts[self.undecided] == self.size).all() else self.sums
        totals = self.left @ np.where(self.undecided, sums, 0.0)
        return int(np.flatnonzero(totals >= totals.max() - ROUNDING * self.size)[0])

    def no_better(self, best: int, known: Floats, counts: Ints) -> Bools:
        """Which of the choices left are certainly no better than this one: as all that is missing could not change it, or all is
        known and they tie."""
        mine = self.left[best]
        last = np.where(mine & ~self.left, known, np.inf).min(axis=1)
        first = np.where(self.left & ~mine, known + (self.size - counts), -np.inf).max(axis=1)
        return np.asarray(last - first >= -ROUNDING * self.size)
