"""Longest ways in graphs without cycles."""

from __future__ import annotations

import numpy as np

from .compile import kernel


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
