"""The k best of every group: the best decision, undecided arms and single exchanges of a :class:`Partition`."""

from __future__ import annotations

import numpy as np

from ..compile import kernel
from ..data import Array, Partition
from .order import ahead


@kernel
def smallest(values, r):
    """The value that is at place r when they are in order, which they are not afterwards: Hoare's selection.

    numba's ``np.partition`` takes five seconds to compile.
    """
    low, high = 0, len(values) - 1
    while low < high:
        middle = values[(low + high) // 2]
        pivot = max(min(values[low], values[high]), min(max(values[low], values[high]), middle))  # the median of three
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if r <= j:
            high = j
        elif r >= i:
            low = i
        else:
            break
    return values[r]


@kernel
def nth_best(values, members, start, end, r):
    """The r-th best (value, arm) of members[start:end] in the order ``ahead``."""
    if r <= 24:
        best = np.empty(r, np.int64)
        filled = 0
        for p in range(start, end):
            i = members[p]
            if filled == r and not ahead(values[i], i, values[best[r - 1]], best[r - 1]):
                continue
            q = filled if filled < r else r - 1
            while q > 0 and ahead(values[i], i, values[best[q - 1]], best[q - 1]):
                best[q] = best[q - 1]
                q -= 1
            best[q] = i
            if filled < r:
                filled += 1
        return values[best[r - 1]], best[r - 1]
    own = np.empty(end - start)
    for p in range(start, end):
        own[p - start] = -values[members[p]]
    edge = -smallest(own, r - 1)
    left = r
    for p in range(start, end):
        if values[members[p]] > edge:
            left -= 1
    for p in range(start, end):
        if values[members[p]] == edge:
            left -= 1
            if left == 0:
                return edge, members[p]
    return edge, -1


@kernel
def best(data, weights, decision):
    """phi for these weights, which are maximised."""
    for g in range(len(data.starts) - 1):
        edge, a = nth_best(weights, data.members, data.starts[g], data.starts[g + 1], data.k)
        for p in range(data.starts[g], data.starts[g + 1]):
            i = data.members[p]
            decision[i] = 0 if ahead(edge, a, weights[i], i) else 1


@kernel
def undecided(data, lower, upper, out):
    """C_t of a box of what is maximised."""
    k, starts, members = data.k, data.starts, data.members
    for g in range(len(starts) - 1):
        start, end = starts[g], starts[g + 1]
        if end - start == k:
            for p in range(start, end):
                out[members[p]] = False
            continue
        # i can be in iff U_i is not behind the k-th L; it can be out iff L_i is not ahead of the (k+1)-th U.
        low, a = nth_best(lower, members, start, end, k)
        high, b = nth_best(upper, members, start, end, k + 1)
        for p in range(start, end):
            i = members[p]
            out[i] = not ahead(low, a, upper[i], i) and not ahead(lower[i], i, high, b)


@kernel
def shortfall(data, lower, upper, decision):
    """The most by which an arm of the decision can be behind the k-th best of its group, that arm, and the strongest other."""
    k, starts, members = data.k, data.starts, data.members
    most, worst, other = 0.0, -1, -1
    for g in range(len(starts) - 1):
        start, end = starts[g], starts[g + 1]
        if end - start == k:
            continue
        kth, a = nth_best(upper, members, start, end, k)
        following = nth_best(upper, members, start, end, k + 1)[0]
        best = -1
        for p in range(start, end):
            i = members[p]
            if decision[i] == 0.0 and (best < 0 or upper[i] > upper[best]):
                best = i
        for p in range(start, end):
            i = members[p]
            if decision[i] == 0.0:
                continue
            by = (kth if ahead(kth, a, upper[i], i) else following) - lower[i]  # the k-th best of the others
            if by > most:
                most, worst, other = by, i, best
    return most, worst, other


@kernel
def exchanges(data, decision, high, low):
    """All single exchanges of a decision, an arm of a group out and another one in; returns how many."""
    c, members = 0, data.members
    for g in range(len(data.starts) - 1):
        for a in range(data.starts[g], data.starts[g + 1]):
            if decision[members[a]]:
                for b in range(data.starts[g], data.starts[g + 1]):
                    if not decision[members[b]]:
                        i, j = members[a], members[b]
                        high[c], low[c] = (i, j) if data.sign > 0.0 else (j, i)
                        c += 1
    return c


def groups_of(data: Partition) -> Array:
    """The group of every arm; -1 if all of its group are taken."""
    group = np.full(len(data.members), -1)
    for g in range(len(data.starts) - 1):
        if data.starts[g + 1] - data.starts[g] > data.k:
            group[data.members[data.starts[g] : data.starts[g + 1]]] = g
    return group
