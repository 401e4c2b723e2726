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
from ..kernels.draws import sample
from ..kernels.order import ahead
from ..kernels.trees import grow
from .declare import Loop, Stretch, lowered
from .rivals import at_estimates, at_worst, contested, corner_of


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
def run(by_gap, data, corner, sequence, record, stock, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    m = len(record.counts)
    by_estimate, by_corner, parent = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(data.nodes, np.int64)
    t, arm = record.counts.sum(), np.int64(-1)
    for _ in range(rounds):
        first = arm < 0
        at_estimates(t, arm, corner, sequence, record)
        best_again(data, corner.weights, first, by_estimate, parent, corner.decision)
        at_worst(corner)
        best_again(data, corner.weights, first, by_corner, parent, corner.rival)
        what, arm = contested(by_gap, False, corner)
        if what == Stop.PAUSED:
            what = sample(arm, t, record, stock, limit)
        if what != Stop.PAUSED:
            return what, arm
        t += 1
    return Stop.PAUSED, -1


def prepare(explorer: Any, source: Any) -> Stretch:
    data, sequence, record, stock = lowered(explorer, source)
    corner = corner_of(data.sign, len(record.counts))
    return Stretch(run, (explorer.policy.name == "clucb", data, corner, sequence, record, stock))


LOOP = Loop(("clucb", "unified"), Tree, prepare)
