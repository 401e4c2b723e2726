"""The exploration loop of the policies that compare the decision with its strongest rival, compiled.

For 0/1 decisions with a linear reward and a maximiser in compiled code. As in :mod:`.loop` the arrays are an explorer's own,
and the samples are those of the Python loop, in the same order.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .assignment import matching_best
from .draws import ready, take
from .kinds import DECIDED, EMPTY, PAUSED, SPENT, UNSURE
from .matroids import ahead, kruskal, nth_best
from .record import ESTIMATE, observe
from .sequences import POWER, WIDE, ends, log_term

CLOSE = 1e-9  # a gap this near 0, by the size of its terms, is left to the arithmetic of the Python loop


@njit(cache=True)
def best(kind, ints, weights, decision):
    """phi for these weights, which are maximised. False if the kernel cannot tell."""
    m = len(weights)
    if kind == 0:
        k, groups = ints[0], ints[1]
        starts, members = ints[2 : 2 + groups], ints[2 + groups :]
        for g in range(groups - 1):
            edge, a = nth_best(weights, members, starts[g], starts[g + 1], k)
            for p in range(starts[g], starts[g + 1]):
                i = members[p]
                decision[i] = 0 if ahead(edge, a, weights[i], i) else 1
    elif kind == 1:
        kruskal(np.argsort(-weights, kind="mergesort"), ints[2 : 2 + m], ints[2 + m :], ints[0], decision)
    else:
        return matching_best(ints, weights, decision)
    return True


@njit(cache=True)
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
            corner[i] = sign * min(max(table[ESTIMATE, i], lower[i]), upper[i])
        if not best(problem, ints, corner, decision):
            return UNSURE, -1
        for i in range(m):
            corner[i] = sign * (lower[i] if (decision[i] > 0) == (sign > 0) else upper[i])
        if not best(problem, ints, corner, rival):
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
        if t >= budget:
            return SPENT, -1
        if not ready(arm, counts, buffer, stock, laws):
            return EMPTY, arm
        observe(counts, table, variance, arm, take(arm, buffer, stock))
        t += 1
        weights[arm] = span[WIDE, arm] * span[WIDE, arm] / counts[arm]
    return PAUSED, -1
