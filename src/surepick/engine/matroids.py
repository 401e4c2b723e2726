"""Undecided arms of the matroids, all at once: top-k and groups, and spanning trees."""

from __future__ import annotations

import numpy as np

from .compile import inline, kernel


@inline
def ahead(x, i, y, j):
    """The order of a matroid's elements: larger value, then lower index."""
    return x > y or (x == y and i < j)


# -- top-k, best of each group


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


@kernel
def partition_shortfall(lower, upper, members, starts, k, decision):
    """The most by which an arm of the decision can be behind the k-th best of its group, that arm, and the strongest other."""
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


# -- spanning trees


@inline
def find(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel
def kruskal(order, u, v, nodes, decision):
    grow(order, u, v, np.empty(nodes, np.int64), decision)


@kernel
def grow(order, u, v, parent, decision):
    """As ``kruskal``, with room for the parents of the nodes."""
    nodes = len(parent)
    for x in range(nodes):
        parent[x] = x
    decision[:] = 0
    left = nodes - 1
    for e in order:
        a, b = find(parent, u[e]), find(parent, v[e])
        if a != b:
            parent[a] = b
            decision[e] = 1
            left -= 1
            if left == 0:
                break


@kernel
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


@kernel
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
