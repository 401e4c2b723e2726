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
