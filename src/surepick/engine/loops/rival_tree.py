"""CLUCB and the unified rule for spanning trees, compiled: the same samples as the Python loop.

The best spanning tree depends on the order of the edges alone, which changes little from round to round: it is kept, and the tree
is grown anew only if it has changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile import kernel, lean
from ..data import Tree
from ..enums import Stop
from ..kernels.order import ahead
from ..kernels.trees import grow
from .batch import batch_of, distinct, finish, planned, room, take
from .declare import Loop, Stretch, lowered
from .rivals import at_estimates, at_worst, corner_of, plan_rivals


@lean
def resort(order, weights):
    """Bring arms that nearly are so in the order ``ahead``; False if they are in order already."""
    changed = False
    for p in range(1, len(order)):
        i, q = order[p], p
        while q > 0 and ahead(weights[i], i, weights[order[q - 1]], order[q - 1]):
            order[q] = order[q - 1]
            q -= 1
        if q < p:
            order[q], changed = i, True
    return changed


@kernel
def best_again(data, weights, first, order, parent, decision):
    """phi for these weights, when ``decision`` is that of the last round and ``order`` how the weights were ordered then."""
    if first:
        order[:] = np.argsort(-weights, kind="mergesort")
    if resort(order, weights) or first:
        grow(order, data.u, data.v, parent, decision)


@kernel
def run(by_gap, data, corner, batch, sequence, record, stock, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    what, arm, rounds = finish(rounds, batch, record, stock)
    if what != Stop.PAUSED:
        return what, arm
    m = len(record.counts)
    by_estimate, by_corner, parent = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(data.nodes, np.int64)
    t, many = record.counts.sum(), -1
    for _ in range(rounds):
        size = room(t, batch, limit)
        if size <= 0:
            return Stop.SPENT.value, -1
        at_estimates(t, many, corner, batch, sequence, record)
        best_again(data, corner.weights, many < 0, by_estimate, parent, corner.decision)
        at_worst(corner)
        best_again(data, corner.weights, many < 0, by_corner, parent, corner.rival)
        what = plan_rivals(by_gap, False, size, corner, batch, sequence, record)
        if what != Stop.PAUSED:
            return what, -1
        what, arm = take(batch, record, stock)
        if what != Stop.PAUSED:
            return what, arm
        t += planned(batch)
        many = distinct(batch)
    return Stop.PAUSED.value, -1


def prepare(explorer: Any, source: Any) -> Stretch:
    data, sequence, record, stock = lowered(explorer, source)
    corner, batch = corner_of(data.sign, len(record.counts)), batch_of(explorer, source)
    return Stretch(run, (explorer.policy.name == "clucb", data, corner, batch, sequence, record, stock))


LOOP = Loop(("clucb", "unified"), Tree, prepare, batches=True)
