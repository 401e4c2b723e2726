"""The mathematics of windows, compiled."""

from __future__ import annotations

import numpy as np

from surepick.engine.compile import kernel


@kernel
def total(weights, start, k):
    """The sum of a window."""
    found = 0.0
    for i in range(start, start + k):
        found += weights[i]
    return found


@kernel
def best(data, weights, decision):
    """Write the window with the largest sum of weights to ``decision``; of equal ones the first."""
    k, first = data.k, 0
    for start in range(1, len(weights) - k + 1):
        if total(weights, start, k) > total(weights, first, k):
            first = start
    decision[:] = 0
    decision[first : first + k] = 1
    return True


@kernel
def losses(data, weights, decision, loss):
    """``best``, and for every arm by how much the best window with another entry there is worse; infinite if there is none."""
    m, k = len(weights), data.k
    best(data, weights, decision)
    most = total(weights, np.argmax(decision), k)
    loss[:] = np.inf
    for start in range(m - k + 1):
        less = most - total(weights, start, k)
        for i in range(m):
            if (start <= i < start + k) != (decision[i] > 0):
                loss[i] = min(loss[i], less)
    return True
