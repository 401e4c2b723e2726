"""Longest ways in graphs without cycles."""

from __future__ import annotations

import numpy as np

from ..compile import kernel


@kernel
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


@kernel
def best(data, weights, decision):
    """phi for these weights, which are maximised: the longest way."""
    last = longest(weights, data.u, data.v, data.order, data.source, data.nodes)[1]
    decision[:] = 0
    node = data.target
    while node != data.source:
        e = last[node]
        decision[e] = 1
        node = data.u[e]
    return True


@kernel
def losses(data, weights, decision, loss):
    """``best``, and by how much the best decision with another entry for an arm is worse; infinite if there is none.

    The longest way through an edge comes from two searches. A way without the edge e takes, where the nodes in their order are
    cut behind the start of e, one of the other edges that cross, and then it cannot take e as well.
    """
    best(data, weights, decision)
    u, v, order = data.u, data.v, data.order
    ahead = longest(weights, u, v, order, data.source, data.nodes)[0]
    back, place = np.full(data.nodes, -np.inf), np.full(data.nodes, len(order))  # place: of a node's first edge in the order
    back[data.target] = 0.0
    for p in range(len(order) - 1, -1, -1):
        e = order[p]
        back[u[e]] = max(back[u[e]], weights[e] + back[v[e]])
        place[u[e]] = p
    less = np.empty(len(order))
    loss[:] = np.inf
    for p in range(len(order)):
        e = order[p]
        less[p] = max(ahead[data.target] - (ahead[u[e]] + weights[e] + back[v[e]]), 0.0)
        if decision[e] == 0:
            loss[e] = less[p]
    for p in range(len(order)):
        e = order[p]
        if decision[e] > 0:
            for q in range(len(order)):
                if q != p and place[u[order[q]]] <= place[u[e]] < place[v[order[q]]]:
                    loss[e] = min(loss[e], less[q])
    return True
