"""Which two candidates are told apart next, where evaluations have prices."""

from __future__ import annotations

import numpy as np

from ..arms import Floats, Ints
from ..confidence.shared import PRIOR, Shared

FEWEST = 30  # items on which all are judged first: then it is known how candidates differ, and how much that varies


def cheapest(bets: Shared, h: Ints, low: Ints, level: float, prices: Floats, planned: Ints, most: Floats, n: int) -> list[int]:
    """The next n evaluations, of pairs (h, low) that are to be told apart: those that bring the most evidence for what they cost.

    What a pair lacks is ln of the odds at which its bets are won, less what they have won; what an item brings of it is about
    mean^2 / (2 variance) of the differences so far, and the more the fewer items are left. So it can be said on how many items
    more the two are to be judged, and what that costs; where a candidate was judged on these items anyhow, only the other one has
    to be paid. Pairs come in the order of that cost, so that any budget tells as many apart as it may.

    Parameters
    ----------
    level : float
        ln of the odds.
    planned, most : array
        How many evaluations every candidate has, with those on their way, and may have.
    """
    size = bets.size
    there = np.minimum(bets.depth[h], bets.depth[low])
    past = bets.sums[h, there] - bets.sums[low, there]
    won = np.where(past >= 0, bets.most[h, low], bets.most[low, h])
    items = np.maximum(there, 1)
    brings = np.maximum((past / items) ** 2 / (2.0 * (bets.squares[h, low] + PRIOR) / items), 1e-300)
    whole = level / brings  # items, were there no end to them
    lacks = whole / (1.0 + whole / size) * np.clip(1.0 - won / level, 0.0, 1.0)
    goal = np.clip(np.ceil(there + lacks), there + 1, size)
    cost = sum(prices[one] * np.maximum(np.minimum(goal, most[one]) - planned[one], 0.0) for one in (h, low))
    have, chosen = planned.copy(), list[int]()
    for e in np.argsort(cost, kind="stable").tolist():
        one, other = int(h[e]), int(low[e])
        until = [min(goal[e], most[one]), min(goal[e], most[other])]
        while len(chosen) < n and (have[one] < until[0] or have[other] < until[1]):
            first = have[other] >= until[1] or (have[one] < until[0] and have[one] <= have[other])
            chosen.append(one if first else other)
            have[chosen[-1]] += 1
        if len(chosen) == n:
            break
    return chosen
