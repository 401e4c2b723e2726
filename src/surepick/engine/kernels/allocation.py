"""Sample allocation: undecided strata from the allocations of a nearby box, and single exchanges of an :class:`Allocation`."""

from __future__ import annotations

from ..compile import apart, inline, kernel
from .exact import compare_gains


@inline
def richer(sizes, i, t, u, j, s, v):
    """Step u of arm i at variance t is richer than step v of arm j at variance s; of equal steps that of the higher index is."""
    x = sizes[i] * sizes[i] * t * (v * (v + 1.0))  # both times u (u + 1) v (v + 1), for divisions take long
    y = sizes[j] * sizes[j] * s * (u * (u + 1.0))
    if abs(x - y) > 1e-14 * max(x, y):
        return x > y
    if (sizes[i] == sizes[j] and t == s and u == v) or (t == 0.0 and s == 0.0):
        return i > j
    found = compare_gains(sizes[i], t, u, sizes[j], s, v)
    return found > 0 or (found == 0 and i > j)


@kernel
def poorest_held(sizes, theta, least, y, but):
    """The arm whose last unit is the poorest, other than ``but``; -1 if there is none."""
    poor = -1
    for i in range(len(y)):
        if y[i] == least[i] or i == but:
            continue
        if poor < 0 or not richer(sizes, i, theta[i], y[i] - 1, poor, theta[poor], y[poor] - 1):
            poor = i
    return poor


@kernel
def richest_lacking(sizes, theta, most, y, but):
    """The arm whose next unit is the richest, other than ``but``; -1 if all are full."""
    rich = -1
    for i in range(len(y)):
        if y[i] == most[i] or i == but:
            continue
        if rich < 0 or richer(sizes, i, theta[i], y[i], rich, theta[rich], y[rich]):
            rich = i
    return rich


@apart
def improve(data, theta, y):
    """Move single units from the poorest held to the richest lacking until none helps.

    False if the start is so far off that the closed form is faster.
    """
    sizes, least, most = data.sizes, data.least, data.most
    for _ in range(64 + 4 * len(y)):
        rich = richest_lacking(sizes, theta, most, y, -1)
        poor = poorest_held(sizes, theta, least, y, -1)
        if rich == -1 or poor == -1 or rich == poor:
            return True
        if not richer(sizes, rich, theta[rich], y[rich], poor, theta[poor], y[poor] - 1):
            return True
        y[rich] += 1
        y[poor] -= 1
    return False


@kernel
def undecided(data, lower, upper, at_lower, at_upper, out):
    """Undecided strata, starting from the allocations of an earlier, similar box. False if these are too far off.

    See ``SampleAllocation`` for the test.
    """
    sizes, least, most = data.sizes, data.least, data.most
    if not (improve(data, lower, at_lower) and improve(data, upper, at_upper)):
        return False
    poor1 = poorest_held(sizes, lower, least, at_lower, -1)
    rich1 = richest_lacking(sizes, upper, most, at_upper, -1)
    poor2 = poorest_held(sizes, lower, least, at_lower, poor1)
    rich2 = richest_lacking(sizes, upper, most, at_upper, rich1)
    for i in range(len(sizes)):
        n = at_lower[i]
        out[i] = n != at_upper[i]
        if out[i]:
            continue
        j = poor1 if poor1 != i else poor2
        if j >= 0 and n < most[i]:
            out[i] = richer(sizes, i, upper[i], n, j, lower[j], at_lower[j] - 1)
        j = rich1 if rich1 != i else rich2
        if not out[i] and j >= 0 and n > least[i]:
            out[i] = richer(sizes, j, upper[j], at_upper[j], i, lower[i], n - 1)
    return True


@kernel
def exchanges(data, decision, high, low, slope_high, slope_low):
    """All single exchanges of an allocation, a unit of a stratum for one of another, with their slopes; returns how many."""
    m, c = len(decision), 0
    for i in range(m):
        if decision[i] > data.least[i]:
            for j in range(m):
                if j != i and decision[j] < data.most[j]:
                    high[c], low[c] = i, j
                    slope_high[c] = data.sizes[i] * data.sizes[i] / (decision[i] * (decision[i] - 1.0))
                    slope_low[c] = data.sizes[j] * data.sizes[j] / (decision[j] * (decision[j] + 1.0))
                    c += 1
    return c
