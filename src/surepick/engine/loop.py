"""The exploration loop with the paper's radius, compiled: the same samples in the same order as the Python loop.

The loop works on the arrays of an explorer's record in place and takes values from buffers that the caller fills, so any
environment will do. It returns to the caller when it stops, when a buffer is empty, when a tie needs exact fractions,
and every ``rounds`` rounds so that a progress bar and Ctrl-C work.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .allocation import allocation_undecided
from .matroids import partition_undecided, tree_undecided
from .plans import plan_undecided
from .record import observe

DECIDED, SPENT, EMPTY, UNSURE, PAUSED = 0, 1, 2, 3, 4


@njit(cache=True)
def undecided(kind, ints, floats, lower, upper, warm_lower, warm_upper, out):
    m = len(lower)
    if kind == 0:
        groups = ints[1]
        partition_undecided(lower, upper, ints[2 + groups :], ints[2 : 2 + groups], ints[0], out)
    elif kind == 1:
        low, high = lower, upper
        if ints[1] < 0:
            low, high = -upper, -lower
        by_lower = np.argsort(-low, kind="mergesort")
        by_upper = np.argsort(-high, kind="mergesort")
        tree_undecided(low, high, by_lower, by_upper, ints[2 : 2 + m], ints[2 + m :], ints[0], out)
    elif kind == 2:
        return allocation_undecided(lower, upper, floats, ints[1 : 1 + m], ints[1 + m :], warm_lower, warm_upper, out)
    else:
        plan_undecided(lower, upper, floats, ints[1:], ints[0], out)
    return True


@njit(cache=True)
def run(
    kind, ints, floats, everywhere, tau, delta, low, high, scales,
    moments, buffer, used, filled, warm_lower, warm_upper, budget, rounds,
):  # fmt: skip
    """Explore until something needs the caller; returns (what, arm)."""
    counts, estimates = moments[0], moments[3]
    m = len(counts)
    lower = np.empty(m)
    upper = np.empty(m)
    out = np.ones(m, np.bool_)
    weights = np.empty(m)
    t = 0
    for i in range(m):
        t += counts[i]
        weights[i] = scales[i] * scales[i] / counts[i]
    for _ in range(rounds):
        c = math.log(4.0) + 3.0 * math.log(t) - math.log(tau) - math.log(delta)
        for i in range(m):
            radius = scales[i] * math.sqrt(c / (2.0 * counts[i]))
            lower[i] = min(max(estimates[i] - radius, low[i]), high[i])
            upper[i] = max(min(estimates[i] + radius, high[i]), low[i])
        if not undecided(kind, ints, floats, lower, upper, warm_lower, warm_upper, out):
            return UNSURE, -1
        arm, heaviest, any_open = -1, -1.0, False
        for i in range(m):
            any_open |= out[i]
            if (everywhere or out[i]) and weights[i] > heaviest:
                arm, heaviest = i, weights[i]
        if not any_open:
            return DECIDED, -1
        if t >= budget:
            return SPENT, -1
        if used[arm] >= filled[arm]:
            return EMPTY, arm
        x = buffer[arm, used[arm]]
        used[arm] += 1
        t += 1
        observe(moments, arm, x)
        weights[arm] = scales[arm] * scales[arm] / counts[arm]
    return PAUSED, -1
