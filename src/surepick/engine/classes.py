"""Compiled kernels of the decision classes: undecided arms all at once, and the oracles that NumPy does not have.

Orders are total, so that no result depends on luck at ties. ``ahead`` is the order of the matroids (larger value, then
lower index); ``richer`` that of units of work (larger gain, then higher index).
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, inline="always")
def ahead(x, i, y, j):
    return x > y or (x == y and i < j)


@njit(cache=True, inline="always")
def richer(x, i, y, j):
    return x > y or (x == y and i > j)


# -- partition matroids: top-k, best of each group -------------------------------------------------------------------


@njit(cache=True)
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
    edge = -np.partition(own, r - 1)[r - 1]
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


@njit(cache=True)
def partition_undecided(lower, upper, members, starts, k, out):
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


# -- graphic matroid: spanning trees ----------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def find(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@njit(cache=True)
def kruskal(order, u, v, nodes, decision):
    parent = np.arange(nodes)
    decision[:] = 0
    for e in order:
        a, b = find(parent, u[e]), find(parent, v[e])
        if a != b:
            parent[a] = b
            decision[e] = 1


@njit(cache=True)
def tree_undecided(lower, upper, by_lower, by_upper, u, v, nodes, out):
    m = len(u)
    # Can be in: not spanned by the edges whose L is ahead of U_i.
    parent = np.arange(nodes)
    p = 0
    for i in by_upper:
        while p < m and ahead(lower[by_lower[p]], by_lower[p], upper[i], i):
            a, b = find(parent, u[by_lower[p]]), find(parent, v[by_lower[p]])
            if a != b:
                parent[a] = b
            p += 1
        out[i] = find(parent, u[i]) != find(parent, v[i])
    # Can be out: outside the best tree at U, or with a replacement whose U is ahead of L_i.
    tree = np.empty(m, np.int64)
    kruskal(by_upper, u, v, nodes, tree)
    above, edge_above, depth = root_tree(tree, u, v, nodes)
    replacement = np.full(m, -1)
    top = np.arange(nodes)  # the highest node reachable over edges that have a replacement already
    for f in by_upper:
        if tree[f]:
            continue
        a, b = find(top, u[f]), find(top, v[f])
        while a != b:
            if depth[a] < depth[b]:
                a, b = b, a
            replacement[edge_above[a]] = f
            top[a] = above[a]
            a = find(top, a)
    for i in range(m):
        if out[i] and tree[i]:
            f = replacement[i]
            out[i] = f >= 0 and ahead(upper[f], f, lower[i], i)


@njit(cache=True)
def root_tree(tree, u, v, nodes):
    """Parents, edges to them and depths of a spanning tree rooted at node 0."""
    head = np.full(nodes, -1)
    link = np.full(2 * len(u), -1)
    for e in range(len(u)):
        if tree[e]:
            link[2 * e] = head[u[e]]
            head[u[e]] = 2 * e
            link[2 * e + 1] = head[v[e]]
            head[v[e]] = 2 * e + 1
    above = np.full(nodes, -1)
    edge_above = np.full(nodes, -1)
    depth = np.zeros(nodes, np.int64)
    queue = np.zeros(nodes, np.int64)
    size = 1
    for q in range(nodes):
        x = queue[q]
        half = head[x]
        while half >= 0:
            e = half // 2
            y = v[e] if half % 2 == 0 else u[e]
            if e != edge_above[x]:
                above[y], edge_above[y], depth[y] = x, e, depth[x] + 1
                queue[size] = y
                size += 1
            half = link[half]
    return above, edge_above, depth


# -- resource plans with convex cost -----------------------------------------------------------------------------------


@njit(cache=True)
def plan_solve(theta, steps, first, require, y):
    """Every unit that gains, then the richest of the others until the requirement is met."""
    m = len(theta)
    total = 0
    for i in range(m):
        y[i] = np.searchsorted(steps[first[i] : first[i + 1]], theta[i])  # units whose step is below theta
        total += y[i]
    if total >= require:
        return total
    gains = np.empty(first[m])
    for i in range(m):
        for p in range(first[i], first[i + 1]):
            gains[p] = steps[p] - theta[i]
    edge = -np.partition(gains, require - 1)[require - 1]
    left = require
    for i in range(m):
        own = steps[first[i] : first[i + 1]]
        count = y[i]
        while count < len(own) and theta[i] - own[count] > edge:
            count += 1
        while count > 0 and theta[i] - own[count - 1] <= edge:
            count -= 1
        y[i] = count
        left -= count
    for i in range(m - 1, -1, -1):
        end = first[i + 1] - first[i]
        while left > 0 and y[i] < end and theta[i] - steps[first[i] + y[i]] == edge:
            y[i] += 1
            left -= 1
    return require


@njit(cache=True)
def plan_undecided(lower, upper, steps, first, require, out):
    m = len(lower)
    at_lower = np.empty(m, np.int64)
    at_upper = np.empty(m, np.int64)
    sum_lower = plan_solve(lower, steps, first, require, at_lower)
    sum_upper = plan_solve(upper, steps, first, require, at_upper)
    # The two poorest units held at L and the two richest lacking at U, of different arms.
    poor1, poor2, rich1, rich2 = -1, -1, -1, -1
    gain_poor1, gain_poor2, gain_rich1, gain_rich2 = np.inf, np.inf, -np.inf, -np.inf
    for i in range(m):
        if at_lower[i] > 0:
            g = lower[i] - steps[first[i] + at_lower[i] - 1]
            if poor1 < 0 or richer(gain_poor1, poor1, g, i):
                poor2, gain_poor2 = poor1, gain_poor1
                poor1, gain_poor1 = i, g
            elif poor2 < 0 or richer(gain_poor2, poor2, g, i):
                poor2, gain_poor2 = i, g
        if at_upper[i] < first[i + 1] - first[i]:
            g = upper[i] - steps[first[i] + at_upper[i]]
            if rich1 < 0 or richer(g, i, gain_rich1, rich1):
                rich2, gain_rich2 = rich1, gain_rich1
                rich1, gain_rich1 = i, g
            elif rich2 < 0 or richer(g, i, gain_rich2, rich2):
                rich2, gain_rich2 = i, g
    for i in range(m):
        c = at_lower[i]
        if c != at_upper[i]:
            out[i] = True
            continue
        out[i] = False
        if c < first[i + 1] - first[i]:
            g = upper[i] - steps[first[i] + c]
            j, held = (poor1, gain_poor1) if poor1 != i else (poor2, gain_poor2)
            if g > 0 or (sum_lower == require and j >= 0 and richer(g, i, held, j)):
                out[i] = True
                continue
        if c > 0:
            g = lower[i] - steps[first[i] + c - 1]
            if g <= 0:
                j, lacking = (rich1, gain_rich1) if rich1 != i else (rich2, gain_rich2)
                out[i] = sum_upper > require or (j >= 0 and richer(lacking, j, g, i))


# -- resource plans with any cost: dynamic programming over the requirement ---------------------------------------------


@njit(cache=True)
def plan_program(table, starts, require, y):
    """Levels that maximise the sum of the table with sum y >= require; of equal ones the lowest level, first arm first."""
    m = len(starts) - 1
    best = np.full((m + 1, require + 1), -np.inf)  # best[i, n]: arms i.. contribute at least n
    best[m, 0] = 0.0
    for i in range(m - 1, -1, -1):
        for need in range(require + 1):
            top = -np.inf
            for level in range(starts[i + 1] - starts[i]):
                rest = need - level if need > level else 0
                worth = table[starts[i] + level] + best[i + 1, rest]
                if worth > top:
                    top = worth
            best[i, need] = top
    need = require
    for i in range(m):
        for level in range(starts[i + 1] - starts[i]):
            rest = need - level if need > level else 0
            if table[starts[i] + level] + best[i + 1, rest] == best[i, need]:
                y[i] = level
                need = rest
                break


@njit(cache=True)
def plan_open(edges, starts, decision, require, at_least, out):
    """Arms for which a plan with another level is worth ``at_least`` by the table of edges."""
    m = len(starts) - 1
    after = np.full((m + 1, require + 1), -np.inf)
    after[m, 0] = 0.0
    for i in range(m - 1, -1, -1):
        for need in range(require + 1):
            top = -np.inf
            for level in range(starts[i + 1] - starts[i]):
                rest = need - level if need > level else 0
                top = max(top, edges[starts[i] + level] + after[i + 1, rest])
            after[i, need] = top
    before = np.full(require + 1, -np.inf)  # arms ..i-1 contribute exactly n (or at least, at n = require)
    before[0] = 0.0
    for i in range(m):
        out[i] = False
        grown = np.full(require + 1, -np.inf)
        for level in range(starts[i + 1] - starts[i]):
            worth = edges[starts[i] + level]
            for have in range(require + 1):
                if before[have] == -np.inf:
                    continue
                total = min(require, have + level)
                grown[total] = max(grown[total], before[have] + worth)
                if level != decision[i] and before[have] + worth + after[i + 1, require - total] >= at_least:
                    out[i] = True
        before = grown


# -- sample allocation ----------------------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def compare_steps(sizes, i, t, u, j, s, v):
    """1 if step u of arm i at variance t is richer than step v of arm j at variance s, -1 if poorer, 0 if too close to tell."""
    x = sizes[i] * sizes[i] * t / (u * (u + 1.0))
    y = sizes[j] * sizes[j] * s / (v * (v + 1.0))
    if abs(x - y) > 1e-14 * max(x, y):
        return 1 if x > y else -1
    if (sizes[i] == sizes[j] and t == s and u == v) or (t == 0.0 and s == 0.0):
        return 1 if i > j else -1
    return 0


@njit(cache=True)
def poorest_held(sizes, theta, least, y, but):
    """The arm whose last unit is the poorest, other than ``but``; -1 if there is none, -2 if rounding cannot tell."""
    poor = -1
    for i in range(len(y)):
        if y[i] > least[i] and i != but:
            if poor >= 0:
                c = compare_steps(sizes, i, theta[i], y[i] - 1, poor, theta[poor], y[poor] - 1)
                if c == 0:
                    return -2
                if c > 0:
                    continue
            poor = i
    return poor


@njit(cache=True)
def richest_lacking(sizes, theta, most, y, but):
    """The arm whose next unit is the richest, other than ``but``; -1 if all are full, -2 if rounding cannot tell."""
    rich = -1
    for i in range(len(y)):
        if y[i] < most[i] and i != but:
            if rich >= 0:
                c = compare_steps(sizes, i, theta[i], y[i], rich, theta[rich], y[rich])
                if c == 0:
                    return -2
                if c < 0:
                    continue
            rich = i
    return rich


@njit(cache=True)
def improve(sizes, theta, least, most, y):
    """Move single units from the poorest held to the richest lacking until none helps.

    False if rounding cannot tell, or if the start is so far off that the closed form is faster.
    """
    for _ in range(64 + 4 * len(y)):
        rich = richest_lacking(sizes, theta, most, y, -1)
        poor = poorest_held(sizes, theta, least, y, -1)
        if rich == -2 or poor == -2:
            return False
        if rich == -1 or poor == -1 or rich == poor:
            return True
        c = compare_steps(sizes, rich, theta[rich], y[rich], poor, theta[poor], y[poor] - 1)
        if c == 0:
            return False
        if c < 0:
            return True
        y[rich] += 1
        y[poor] -= 1
    return False


@njit(cache=True)
def allocation_undecided(lower, upper, sizes, least, most, at_lower, at_upper, out):
    """Undecided strata, starting from the allocations of an earlier, similar box. False if rounding cannot tell.

    See ``SampleAllocation`` for the test; a False is settled there, with exact fractions.
    """
    if not (improve(sizes, lower, least, most, at_lower) and improve(sizes, upper, least, most, at_upper)):
        return False
    poor1 = poorest_held(sizes, lower, least, at_lower, -1)
    rich1 = richest_lacking(sizes, upper, most, at_upper, -1)
    poor2 = poorest_held(sizes, lower, least, at_lower, poor1)
    rich2 = richest_lacking(sizes, upper, most, at_upper, rich1)
    if poor2 == -2 or rich2 == -2:
        return False
    for i in range(len(sizes)):
        n = at_lower[i]
        out[i] = n != at_upper[i]
        if out[i]:
            continue
        j = poor1 if poor1 != i else poor2
        if j >= 0 and n < most[i]:
            c = compare_steps(sizes, i, upper[i], n, j, lower[j], at_lower[j] - 1)
            if c == 0:
                return False
            out[i] = c > 0
        j = rich1 if rich1 != i else rich2
        if not out[i] and j >= 0 and n > least[i]:
            c = compare_steps(sizes, j, upper[j], at_upper[j], i, lower[i], n - 1)
            if c == 0:
                return False
            out[i] = c > 0
    return True


# -- paths ----------------------------------------------------------------------------------------------------------------


@njit(cache=True)
def longest(weights, u, v, edges, start, nodes):
    """Longest ways from a node when ``edges`` lead forward: values, and the last edge of each (the lower one at ties)."""
    value = np.full(nodes, -np.inf)
    last = np.full(nodes, -1)
    value[start] = 0.0
    for e in edges:
        if value[u[e]] == -np.inf:
            continue
        there = value[u[e]] + weights[e]
        if there > value[v[e]] or (there == value[v[e]] and e < last[v[e]]):
            value[v[e]] = there
            last[v[e]] = e
    return value, last
