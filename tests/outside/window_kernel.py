"""The mathematics of windows, compiled."""

from __future__ import annotations

from surepick.engine.compile import kernel


@kernel
def best(data, weights, decision):
    """Write the window with the largest sum of weights to ``decision``; of equal ones the first."""
    m, k = len(weights), data.k
    first, most = 0, 0.0
    for start in range(m - k + 1):
        total = 0.0
        for i in range(start, start + k):
            total += weights[i]
        if start == 0 or total > most:
            first, most = start, total
    decision[:] = 0
    decision[first : first + k] = 1
