"""What is certain of an order: matrices of which arm certainly comes before which, groups and ranks made of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .arms import Bools, Floats, Ints


class Order(NamedTuple):
    """What is certain of every two arms.

    Attributes
    ----------
    above : array of bool
        [i, j]: arm i is at least as good as arm j.
    close : array of bool
        [i, j]: the two are within epsilon of each other.
    """

    above: Bools
    close: Bools

    @property
    def unclear(self) -> Bools:
        """Pairs of which neither is certainly at least as good as the other."""
        found = ~(self.above | self.above.T)
        np.fill_diagonal(found, False)
        return found

    @property
    def open(self) -> Bools:
        """Pairs that are unclear, and not within epsilon either."""
        return self.unclear & ~self.close


def nothing_known(m: int) -> Order:
    return Order(np.eye(m, dtype=np.bool_), np.eye(m, dtype=np.bool_))


def of_box(low: Floats, high: Floats, epsilon: float) -> Order:
    """By intervals alone, of what is looked for in large amounts."""
    apart = np.subtract.outer(high, low)  # the most that one can be above the other
    close = (apart <= epsilon) & (apart.T <= epsilon) if epsilon > 0 else np.zeros(apart.shape, dtype=np.bool_)
    np.fill_diagonal(close, True)
    above = np.greater_equal.outer(low, high)
    np.fill_diagonal(above, True)
    return Order(above, close)


def closure(above: Bools) -> Bools:
    """With all that follows: what is above something that is above a third is above that (Warshall 1962)."""
    # No product of matrices: threads of the BLAS wait for each other where all cores are busy, as they are beside scorers.
    m = len(above)
    rows = np.packbits(above | np.eye(m, dtype=np.bool_), axis=1)
    for k in range(m):
        rows[(rows[:, k // 8] >> (7 - k % 8)) & 1 == 1] |= rows[k]
    return np.unpackbits(rows, axis=1, count=m).astype(np.bool_)


def cuts(certain: Bools) -> Bools:
    """[i, j]: a cut lies between i and j. There is one where every arm before it is certain to be above every arm behind it."""
    m = len(certain)
    certain = certain | np.eye(m, dtype=np.bool_)
    order = np.argsort(-certain.sum(axis=1), kind="stable")
    inside = certain[np.ix_(order, order)]
    doubtful = np.where(inside.all(axis=1), -1, m - 1 - (~inside[:, ::-1]).argmax(axis=1))  # the last place that is not certain
    group = np.empty(m, dtype=np.int64)
    group[order] = np.concatenate(([0], np.cumsum(np.maximum.accumulate(doubtful)[:-1] < np.arange(1, m))))
    return np.less.outer(group, group)


def consistent(above: Bools, worth: Floats) -> Ints:
    """The ranks, from 1, by how many are certainly above; of as many the larger worth first, and of equal ones the first."""
    rank = np.empty(len(worth), dtype=np.int64)
    rank[np.lexsort((-worth, above.sum(axis=0)))] = np.arange(1, len(worth) + 1)
    return rank


def ranks(above: Bools) -> tuple[Ints, Ints]:
    """The best and the worst rank that each may have; equal ones may change places."""
    before = above & ~above.T
    return 1 + before.sum(axis=0), len(above) - before.sum(axis=1)


def groups(above: Bools, decision: np.ndarray[Any, Any]) -> list[list[int]]:
    """The arms in groups, every arm of a group certainly above every arm of those behind it; equal ones share a group."""
    order = np.argsort(decision, kind="stable")
    before = (above & ~above.T)[np.ix_(order, order)]
    found: list[list[int]] = []
    for place, arm in enumerate(order.tolist()):
        if place == 0 or before[:place, place:].all():
            found.append([])
        found[-1].append(arm)
    return found
