"""Candidates that are judged on all items before the others, where that is cheaper than what it saves on dear ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arms import Bools, Floats, Ints
from .shared import NOTHING, ROUNDING

if TYPE_CHECKING:
    from .sets import Sets

FEWEST = 30  # items after which it is known well enough how candidates vary together
DEARER = 2.0  # times its own price: those on which sending a candidate ahead is to save
VARIANCE, SHARED = 2.0, 0.6  # what sums of squares and of products of deviations start with


class Ahead:
    """What is known of candidates that were sent ahead, and who is sent next.

    The mean of a candidate over all items is a constant, whoever knows it. So once candidate c is judged on all of them, a bet on
    c against d may use it: were d at least as good as c, the scores of d to come had a mean of at least m_d = (N theta_c - C_d) /
    left, and those of c have exactly m_c = (N theta_c - C_c) / left, C being sums so far. So b (X_c - m_c) - (X_d - m_d) has mean
    at most 0 given the past for every b >= 0, and with b by regression it varies less than X_c - X_d does: b is chosen by the
    items before. The scores of c on later items serve for nothing but its mean.

    The last candidate inside the choice that leads is sent ahead as soon as this costs less than what it saves on the dearer
    candidates outside of it: the share of their items that are spared, where as many are still to come as there were, or as there
    are. Who is sent hangs on prices and on items that were taken.
    """

    def __init__(self, sets: Sets, prices: Floats) -> None:
        m = len(prices)
        self.sets = sets
        self.prices = prices
        self.priced: bool = bool((prices != prices[0]).any())
        self.sent: Bools = np.zeros(m, dtype=np.bool_)
        self.totals: Floats = np.full(m, np.nan)  # of those who were, once all their scores are there

    @property
    def waiting(self) -> Bools:
        """Sent ahead, and not judged on all items yet."""
        return np.asarray(self.sent & np.isnan(self.totals))

    def arrive(self, units: Floats) -> None:
        """All scores of those who were sent are there."""
        self.totals[self.sent] = units[self.sent].sum(axis=1)

    def contradicted(self, left: Bools) -> Bools:
        """Choices with a candidate outside that is known to be better than one inside."""
        outside = np.where(~left & self.sent, self.totals, -np.inf).max(axis=1)
        inside = np.where(left & self.sent, self.totals, np.inf).min(axis=1)
        return np.asarray(outside > inside + ROUNDING * self.sets.size**2)

    def send(self, leading: Bools) -> None:
        """Whether the last one inside the choice that leads is sent ahead; ``leading`` says how many undecided ones it has."""
        sets, t = self.sets, self.sets.items
        if not self.priced or not FEWEST <= t < sets.size or not leading.any():
            return
        open_ = np.flatnonzero(sets.undecided)
        order = open_[np.argsort(-sets.sums[open_], kind="stable")]
        inside, outside = np.split(order, [int(leading.sum())])
        c = int(inside[-1])
        dearer = outside[(self.prices[outside] >= DEARER * self.prices[c]) & ~self.sent[outside]]
        if self.sent[c] or not len(dearer):
            return
        own, theirs, common = self._deviations(np.full(len(dearer), c), dearer)
        spared = np.maximum(0.0, 1.0 - (theirs - common**2 / own) / (own + theirs - 2.0 * common))
        left = sets.size - t
        if self.prices[c] * left <= min(t, left) * float((self.prices[dearer] * spared).sum()):
            self.sent[c] = True

    def _deviations(self, c: Ints, d: Ints) -> tuple[Floats, Floats, Floats]:
        """Sums of squares of c and of d, and of their products, about their means on the items taken."""
        sets, t = self.sets, max(self.sets.items, 1)
        own = sets.products[c, c] - sets.sums[c] ** 2 / t + VARIANCE
        theirs = sets.products[d, d] - sets.sums[d] ** 2 / t + VARIANCE
        return own, theirs, sets.products[c, d] - sets.sums[c] * sets.sums[d] / t + SHARED

    def stake(self, units: Floats, h: Ints, low: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """What is bet on, that h is better than l, one of them being known: the gain, what it may lose at most, and of the items
        so far about the sum and the squares of such gains."""
        sets, t = self.sets, self.sets.items
        left = sets.size - t
        upper = self.sent[h]  # the one outside is known, or both are
        c, d = np.where(upper, h, low), np.where(upper, low, h)
        own, theirs, common = self._deviations(c, d)
        b = np.clip(common / own, 0.0, 1.0)
        m_c, m_d = (self.totals[c] - sets.sums[c]) / left, (self.totals[c] - sets.sums[d]) / left
        gain = b * (units[c] - m_c) - (units[d] - m_d)
        room = np.where(upper, b * m_c + 1.0 - m_d, m_d + b * (1.0 - m_c))
        impossible = np.where(upper, m_d > 1.0 + NOTHING, m_d < -NOTHING)
        fair = self.totals[c] * t / sets.size
        past = fair - sets.sums[d] + b * (sets.sums[c] - fair)
        sign = np.where(upper, 1.0, -1.0)
        return sign * gain, np.where(impossible, -1.0, room), sign * past, theirs - 2.0 * b * common + b**2 * own
