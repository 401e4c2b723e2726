"""Spanning trees: the best one, undecided edges and single exchanges of a :class:`Tree`."""

from __future__ import annotations

import numpy as np

from ..compile import apart, inline, kernel
from .order import ahead


@inline
def find(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel
def grow(order, u, v, parent, decision):
    """Kruskal's algorithm: edges in their order, unless they close a cycle. ``parent`` is room for a number a node."""
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


@apart
def best(data, weights, decision):
    """phi for these weights, which are maximised."""
    grow(np.argsort(-weights, kind="mergesort"), data.u, data.v, np.empty(data.nodes, np.int64), decision)


@kernel
def undecided(data, lower, upper, by_lower, by_upper, out):
    """C_t of a box of what is maximised; the edges are also given in the order of their lower and of their upper bounds."""
    u, v, nodes, m = data.u, data.v, data.nodes, len(data.u)
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
    grow(by_upper, u, v, np.empty(nodes, np.int64), tree)
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


@kernel
def exchanges(data, decision, high, low):
    """All single exchanges of a tree, an edge of the cycle that another one closes for that one; returns how many."""
    c = 0
    above, edge_above, depth = root_tree(decision, data.u, data.v, data.nodes)
    for f in range(len(decision)):
        if decision[f]:
            continue
        x, y = data.u[f], data.v[f]
        while x != y:  # the tree's edges on the cycle that f closes
            if depth[x] < depth[y]:
                x, y = y, x
            e = edge_above[x]
            x = above[x]
            high[c], low[c] = (e, f) if data.sign > 0.0 else (f, e)
            c += 1
    return c
