"""The exploration loop of the policies that compare the decision with its strongest rival, compiled.

For 0/1 decisions with a linear reward and a maximiser in compiled code. As in :mod:`.loop` the arrays are an explorer's own,
and the samples are those of the Python loop, in the same order. The best spanning tree depends on the order of the edges alone,
which changes little from round to round: it is kept, and the tree is grown anew only if it has changed. For the best k of every
group :mod:`.contests` is faster.
"""

from __future__ import annotations

import numpy as np

from .assignment import matching_best
from .compile import kernel, lean
from .draws import sample
from .kinds import CLOSE, DECIDED, PAUSED, UNSURE
from .matroids import ahead, grow, kruskal, nth_best
from .record import ESTIMATE
from .sequences import POWER, WIDE, ends, log_term


@kernel
def best_tree(ints, weights, decision):
    m = len(weights)
    kruskal(np.argsort(-weights, kind="mergesort"), ints[2 : 2 + m], ints[2 + m :], ints[0], decision)


@kernel
def best(kind, ints, weights, decision):
    """phi for these weights, which are maximised. False if the kernel cannot tell."""
    if kind == 0:
        k, groups = ints[0], ints[1]
        starts, members = ints[2 : 2 + groups], ints[2 + groups :]
        for g in range(groups - 1):
            edge, a = nth_best(weights, members, starts[g], starts[g + 1], k)
            for p in range(starts[g], starts[g + 1]):
                i = members[p]
                decision[i] = 0 if ahead(edge, a, weights[i], i) else 1
    elif kind == 1:
        best_tree(ints, weights, decision)
    else:
        return matching_best(ints, weights, decision)
    return True


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
def best_again(kind, ints, weights, first, order, parent, decision):
    """``best`` when the decision is that of the last round; ``order`` is how the weights were ordered then, if it is a tree."""
    if kind != 1:
        return best(kind, ints, weights, decision)
    m = len(weights)
    if first:
        order[:] = np.argsort(-weights, kind="mergesort")
    if resort(order, weights) or first:
        grow(order, ints[2 : 2 + m], ints[2 + m :], parent, decision)
    return True


@kernel
def run(
    problem, ints, sign, by_gap, everywhere,
    kind, numbers, units, span, counts, table, variance, buffer, stock, laws, budget, rounds,
):  # fmt: skip
    """Explore until something needs the caller; returns (what, arm).

    It stops when the gap is at most 0 (``by_gap``) or when the rival is the decision itself, and samples where the two differ or
    ``everywhere``.
    """
    m = len(counts)
    lower = np.empty(m)
    upper = np.empty(m)
    corner = np.empty(m)  # times the sign, so that it is maximised
    decision = np.empty(m, np.int64)
    rival = np.empty(m, np.int64)
    weights = np.empty(m)
    by_estimate, by_corner = np.empty(m, np.int64), np.empty(m, np.int64)
    parent = np.empty(ints[0], np.int64)
    t = 0
    for i in range(m):
        t += counts[i]
        weights[i] = span[WIDE, i] * span[WIDE, i] / counts[i]
    drift, arm = numbers[POWER] > 0.0, -1
    for _ in range(rounds):
        c = log_term(numbers, t)
        for i in range(m):
            if drift or arm < 0 or i == arm:
                lower[i], upper[i] = ends(i, c, kind, numbers, units, span, counts, table)
            corner[i] = sign * min(max(table[i, ESTIMATE], lower[i]), upper[i])
        if not best_again(problem, ints, corner, arm < 0, by_estimate, parent, decision):
            return UNSURE, -1
        for i in range(m):
            corner[i] = sign * (lower[i] if (decision[i] > 0) == (sign > 0) else upper[i])
        if not best_again(problem, ints, corner, arm < 0, by_corner, parent, rival):
            return UNSURE, -1
        arm, heaviest, differ, gap, size = -1, -1.0, False, 0.0, 0.0
        for i in range(m):
            if rival[i] != decision[i]:
                differ = True
                gap += corner[i] * (rival[i] - decision[i])
                size += abs(corner[i])
            elif not everywhere:
                continue
            if weights[i] > heaviest:
                arm, heaviest = i, weights[i]
        if not differ:
            return DECIDED, -1
        if by_gap:
            if abs(gap) <= CLOSE * size:
                return UNSURE, -1
            if gap < 0.0:
                return DECIDED, -1
        what = sample(arm, t, budget, counts, table, variance, buffer, stock, laws)
        if what != PAUSED:
            return what, arm
        t += 1
        weights[arm] = span[WIDE, arm] * span[WIDE, arm] / counts[arm]
    return PAUSED, -1
