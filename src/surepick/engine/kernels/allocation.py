"""Sample allocation: undecided strata from the allocations of a nearby box, single exchanges of an :class:`Allocation`, and how
far one may be from the best."""

from __future__ import annotations

import math

import numpy as np

from ..compile import inline, kernel


@inline
def compare_steps(sizes, i, t, u, j, s, v):
    """1 if step u of arm i at variance t is richer than step v of arm j at variance s, -1 if poorer, 0 if too close to tell."""
    x = sizes[i] * sizes[i] * t / (u * (u + 1.0))
    y = sizes[j] * sizes[j] * s / (v * (v + 1.0))
    if abs(x - y) > 1e-14 * max(x, y):
        return 1 if x > y else -1
    if (sizes[i] == sizes[j] and t == s and u == v) or (t == 0.0 and s == 0.0):
        return 1 if i > j else -1
    return 0


@kernel
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


@kernel
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


@kernel
def improve(data, theta, y):
    """Move single units from the poorest held to the richest lacking until none helps.

    False if rounding cannot tell, or if the start is so far off that the closed form is faster.
    """
    sizes, least, most = data.sizes, data.least, data.most
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


@kernel
def undecided(data, lower, upper, at_lower, at_upper, out):
    """Undecided strata, starting from the allocations of an earlier, similar box. False if rounding cannot tell.

    See ``SampleAllocation`` for the test; a False is settled there, with exact fractions.
    """
    sizes, least, most = data.sizes, data.least, data.most
    if not (improve(data, lower, at_lower) and improve(data, upper, at_upper)):
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


# -- how many times the best variance an allocation may have ------------------------------------------------------------


@inline
def excess(share2, low, high, mine, units, g):
    """Most of theta share2 (1 / mine - (1 + g) / units) over low <= theta <= high."""
    c = share2 * (1.0 / mine - (1.0 + g) / units)
    return c * (high if c > 0.0 else low)


@kernel
def ratio_exact(share2, lower, upper, decision, least, most, k, rival):
    """max V(decision) / V(y) - 1 over the box and all y: Dinkelbach's iteration, each step a dynamic program over the budget."""
    m = len(share2)
    best = np.empty((m + 1, k + 1))
    chosen = np.zeros((m, k + 1), np.int64)
    best[0, :] = 0.0
    g = 0.0
    for _ in range(60):
        for i in range(m):
            for b in range(k + 1):
                top, units = -np.inf, 0
                for u in range(least[i], min(b, most[i]) + 1):
                    value = best[i, b - u]
                    if value > -np.inf:
                        value += excess(share2[i], lower[i], upper[i], decision[i], u, g)
                        if value > top:
                            top, units = value, u
                best[i + 1, b], chosen[i, b] = top, units
        b = k
        mine, its = 0.0, 0.0
        for i in range(m - 1, -1, -1):
            u = chosen[i, b]
            rival[i] = u
            b -= u
            c = 1.0 / decision[i] - (1.0 + g) / u
            theta = upper[i] if c > 0.0 else lower[i]
            mine += share2[i] * theta / decision[i]
            its += share2[i] * theta / u
        if its <= 0.0:
            return np.inf if mine > 0.0 else g
        if mine / its - 1.0 <= g * (1.0 + 1e-12) + 1e-15:
            return g
        g = mine / its - 1.0
    return g


@kernel
def priced(share2, lower, upper, decision, least, most, k, g, price, rival):
    """An upper bound on the excess at share g, for any price of an interview."""
    total = price * k
    for i in range(len(share2)):
        edge = (1.0 + g) * decision[i]
        top, units = -np.inf, least[i]
        for side in range(2):  # more than the edge at U, fewer at L
            theta = upper[i] if side == 0 else lower[i]
            first = max(least[i], math.ceil(edge)) if side == 0 else least[i]
            last = most[i] if side == 0 else min(most[i], math.floor(edge))
            if first > last:
                continue
            u = last
            if price > 0.0:
                u = min(max(math.floor(math.sqrt(share2[i] * theta * (1.0 + g) / price + 0.25) + 0.5), first), last)
            elif theta == 0.0:
                u = first
            value = excess(share2[i], lower[i], upper[i], decision[i], u, g) - price * u
            if value > top:
                top, units = value, u
        total += top
        rival[i] = units
    return total


@kernel
def within(share2, lower, upper, decision, least, most, k, g, rival):
    """Some price shows that V(decision) <= (1 + g) V(y) for all y on the box; the bound is convex in the price."""
    dearest = 0.0
    for i in range(len(share2)):
        dearest = max(dearest, share2[i] * upper[i] / (least[i] * (least[i] + 1.0)))
    if priced(share2, lower, upper, decision, least, most, k, g, 0.0, rival) <= 0.0:
        return True
    a, b = 0.0, math.sqrt(dearest * (1.0 + g))  # prices matter by their order of magnitude
    for _ in range(50):
        x1, x2 = a + 0.382 * (b - a), a + 0.618 * (b - a)
        f1 = priced(share2, lower, upper, decision, least, most, k, g, x1 * x1, rival)
        f2 = priced(share2, lower, upper, decision, least, most, k, g, x2 * x2, rival)
        if f1 <= 0.0 or f2 <= 0.0:
            return True
        if f1 < f2:
            b = x2
        else:
            a = x1
    return False


@kernel
def ratio_bound(share2, lower, upper, decision, least, most, k, rival):
    """An upper bound on what ``ratio_exact`` returns, at a cost that does not grow with the budget."""
    low, high = 0.0, 1e-3
    while not within(share2, lower, upper, decision, least, most, k, high, rival):
        low, high = high, 4.0 * high
        if high > 1e9:
            return np.inf
    while high - low > 1e-6 * high:
        middle = 0.5 * (low + high)
        if within(share2, lower, upper, decision, least, most, k, middle, rival):
            high = middle
        else:
            low = middle
    within(share2, lower, upper, decision, least, most, k, low, rival)  # the rival that the last refusal had
    total = 0
    for i in range(len(rival)):
        total += rival[i]
    for i in range(len(rival)):  # a price may sell more than there is
        spare = min(max(total - k, 0), rival[i] - least[i])
        rival[i] -= spare
        total -= spare
    return high
