"""Intervals of the differences of candidates on shared items, without replacement, by the test of every two turned round."""

from __future__ import annotations

import math

import numpy as np

from ..arms import Floats, Ints
from .shared import LAST

STEPS = 22  # halvings of what is possible: to less than a millionth of the range
CELLS = 50_000  # differences that are worked on at once: they stay in the processor's cache
ENOUGH = 1e300  # a capital that is counted as no more


def stakes(size: int) -> Floats:
    """The bets, fixed by how many items there are. That no bet hangs on u but by its cap is what makes ends of what is rejected.

    The best one for an interval at t items is about the root of 2 level / (t times the mean squared difference): the smallest is
    for all items, the largest for few, or for candidates that hardly ever disagree.
    """
    return np.geomspace(min(max(4.0 / math.sqrt(size), 0.05), 0.3), 0.9, 4)


def paired_intervals(
    scores: Floats, counts: Ints, sums: Floats, who: Ints, with_: Ints, unit: float, level: float
) -> tuple[Floats, Floats, Floats]:
    """Of every pair (h, l) the mean difference on the items that both have a score on, and both ends of an interval of
    theta_h - theta_l, the difference of the means over all items of the pool. All in the units of the scores.

    The test of ``shared.growth`` that theta_h - theta_l <= u has mu_t = (N u - sum of earlier D) / (N - t + 1). What a bet makes
    of an item falls in u, bets being capped or not: where D > mu it is the smaller, else the larger one of 1 + c (D - mu) and
    1 - a + a (1 + D) / (1 + mu), which both fall. So what is rejected is all up to some u, the lower end, and halving finds it.
    The upper end is the mirror image. Each end is false with probability at most exp(-level), at all times together.

    What is certain counts, too: the items that a candidate was not judged on have scores within the bounds. An interval that the
    tests leave empty, as may happen where one of its ends is false, is what is certain.

    Parameters
    ----------
    scores : array
        A row a candidate, in the pool's order.
    counts : array
        How many of them are known, the first ones.
    sums : array
        Of those, counted from the lower bound.
    who, with_ : array
        The pairs.
    unit : float
        The range of the scores, high - low.
    level : float
        ln of the capital that rejects.
    """
    size, shared = scores.shape[1], np.minimum(counts[who], counts[with_])
    missing = size - counts
    least = (sums[who] - sums[with_] - unit * missing[with_]) / size
    most = (sums[who] - sums[with_] + unit * missing[who]) / size
    mean, lower, upper = np.full(len(who), np.nan), least.copy(), most.copy()
    both = (missing[who] == 0) & (missing[with_] == 0)
    mean[both] = least[both]  # to the last digit the same
    order = np.flatnonzero((shared > 0) & ~both)
    order = order[np.argsort(shared[order], kind="stable")]
    while len(order):
        last = max(1, int(np.searchsorted(np.arange(1, len(order) + 1) * shared[order], CELLS, side="right")))
        rows, order = order[:last], order[last:]
        depth = shared[rows]
        differences = scores[who[rows], : depth[-1]] - scores[with_[rows], : depth[-1]]
        differences[np.arange(depth[-1]) >= depth[:, None]] = 0.0
        mean[rows] = differences.sum(axis=1) / depth
        differences, ends = differences / unit, (least[rows] / unit, most[rows] / unit)
        lower[rows] = unit * _lower_ends(differences, depth, size, level, *ends)
        upper[rows] = 0.0 - unit * _lower_ends(-differences, depth, size, level, -ends[1], -ends[0])
    empty = lower > upper
    lower[empty], upper[empty] = least[empty], most[empty]
    return mean, lower, upper


def _lower_ends(differences: Floats, depth: Ints, size: int, level: float, least: Floats, most: Floats) -> Floats:
    """Of every row the largest u that is rejected, from below; the least possible one if none is."""
    low, high = least.copy(), most.copy()
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        out = log_capitals(differences, depth, size, middle) >= level
        low, high = np.where(out, middle, low), np.where(out, high, middle)
    return low


def log_capitals(differences: Floats, depth: Ints, size: int, u: Floats) -> Floats:
    """ln of the largest capital so far of the bets that the mean difference of all items is above u, row by row.

    As ``shared.growth`` with slack -u and the bets above, where u is not impossible. Products as they are, and not their
    logarithms, are quick: what falls to 0 is lost for good, and what rises beyond 1e300 counts as that, which is less than it is.
    """
    t = np.arange(differences.shape[1])
    left = (size - t).astype(np.float64)
    past = np.cumsum(differences, axis=1) - differences
    mu = (size * u[:, None] - past) / left
    gain = np.where(t < depth[:, None], differences - mu, 0.0)
    most = LAST / np.maximum(1.0 + mu, 1e-300)
    capital, share = np.zeros_like(mu), stakes(size)
    with np.errstate(over="ignore", under="ignore"):
        for one in share:
            capital += np.cumprod(1.0 + np.minimum(one * size / left, most) * gain, axis=1)
    peak = np.minimum(capital.max(axis=1) / len(share), ENOUGH)
    return np.asarray(np.log(np.maximum(peak, 1.0)))  # before the first item it is 1
