"""Which evaluations come next, on shared items."""

from __future__ import annotations

import numpy as np

from ..arms import Floats, Ints
from ..confidence.shared import PRIOR, Shared

TINY = 1e-300
FEWEST = 30  # items on which all are judged first: then it is known how candidates differ, and how much that varies


def level(arms: Ints, counts: Ints, sizes: Floats, n: int) -> list[int]:
    """The next n of these arms, always the one with the fewest observations, ties to the lowest index; none beyond its size."""
    chosen: list[int] = []
    have = counts.copy()
    while len(chosen) < n and (open_ := have < sizes).any():
        few = np.flatnonzero(open_ & (have == have[open_].min()))[: n - len(chosen)]
        chosen += arms[few].tolist()
        have[few] += 1
    return chosen


def cheapest(bets: Shared, h: Ints, low: Ints, odds: float, prices: Floats, planned: Ints, most: Floats, n: int) -> list[int]:
    """The next n evaluations, of pairs (h, low) that are to be told apart: those that bring the most evidence for what they cost.

    What a pair lacks is ln of the odds at which its bets are won, less what they have won; what an item brings of it is about
    mean^2 / (2 variance) of the differences so far, and the more the fewer items are left. So it can be said on how many items
    more the two are to be judged, and what that costs; where a candidate was judged on these items anyhow, only the other one has
    to be paid. Pairs come in the order of that cost, so that any budget tells as many apart as it may.

    Parameters
    ----------
    odds : float
        ln of the odds.
    planned, most : array
        How many evaluations every candidate has, with those on their way, and may have.
    """
    wanted = np.flatnonzero(planned < most)
    if not len(wanted) or planned[wanted].min() < FEWEST:
        return level(wanted, planned[wanted], most[wanted], n)
    size, within = bets.size, np.maximum(planned, most)  # up to which item a candidate may be judged
    there = np.minimum(bets.depth[h], bets.depth[low])
    past = bets.sums[h, there] - bets.sums[low, there]
    won = np.where(past >= 0, bets.most[h, low], bets.most[low, h])
    mean, variance = past / np.maximum(there, 1), (bets.squares[h, low] + PRIOR) / np.maximum(there, 1)
    endless = odds / np.maximum(mean**2 / (2.0 * variance), TINY)  # items, were there no end to them
    lacks = endless / (1.0 + endless / size) * np.clip(1.0 - won / odds, 0.0, 1.0)
    goal = np.minimum(np.maximum(np.ceil(there + lacks), there + 1), np.minimum(within[h], within[low]))
    cost = sum(prices[one] * np.maximum(goal - planned[one], 0.0) for one in (h, low))
    have, chosen = planned.copy(), list[int]()
    for e in np.argsort(cost, kind="stable").tolist():
        one, other, until = int(h[e]), int(low[e]), int(goal[e])
        while len(chosen) < n and min(have[one], have[other]) < until:
            chosen.append(one if have[one] <= have[other] else other)
            have[chosen[-1]] += 1
        if len(chosen) == n:
            return chosen
    rest = np.flatnonzero(have < most)
    return chosen + level(rest, have[rest], most[rest], n - len(chosen))
