"""Resource plans: greedy for convex costs, dynamic programming over the requirement for others."""

from __future__ import annotations

import numpy as np

from ..compile import inline, kernel, lean, tight


@inline
def richer(x, i, y, j):
    """The order of units of work: larger gain, then higher index."""
    return x > y or (x == y and i > j)


# -- convex cost


@kernel
def best(data, theta, y):
    """Every unit that gains, then the richest of the others until the requirement is met."""
    steps, first, require = data.steps, data.first, data.require
    m = len(theta)
    total = 0
    for i in range(m):
        y[i] = np.searchsorted(steps[first[i] : first[i + 1]], theta[i])  # units whose step is below theta
        total += y[i]
    if total >= require:
        return total
    gains = np.empty(first[m])
    for i in range(m):
        for p in range(first[i], first[i + 1]):
            gains[p] = steps[p] - theta[i]
    edge = -np.partition(gains, require - 1)[require - 1]
    left = require
    for i in range(m):
        own = steps[first[i] : first[i + 1]]
        count = y[i]
        while count < len(own) and theta[i] - own[count] > edge:
            count += 1
        while count > 0 and theta[i] - own[count - 1] <= edge:
            count -= 1
        y[i] = count
        left -= count
    for i in range(m - 1, -1, -1):
        end = first[i + 1] - first[i]
        while left > 0 and y[i] < end and theta[i] - steps[first[i] + y[i]] == edge:
            y[i] += 1
            left -= 1
    return require


@kernel
def undecided(data, lower, upper, out):
    steps, first, require = data.steps, data.first, data.require
    m = len(lower)
    at_lower = np.empty(m, np.int64)
    at_upper = np.empty(m, np.int64)
    sum_lower = best(data, lower, at_lower)
    sum_upper = best(data, upper, at_upper)
    # The two poorest units held at L and the two richest lacking at U, of different arms.
    poor1, poor2, rich1, rich2 = -1, -1, -1, -1
    gain_poor1, gain_poor2, gain_rich1, gain_rich2 = np.inf, np.inf, -np.inf, -np.inf
    for i in range(m):
        if at_lower[i] > 0:
            g = lower[i] - steps[first[i] + at_lower[i] - 1]
            if poor1 < 0 or richer(gain_poor1, poor1, g, i):
                poor2, gain_poor2 = poor1, gain_poor1
                poor1, gain_poor1 = i, g
            elif poor2 < 0 or richer(gain_poor2, poor2, g, i):
                poor2, gain_poor2 = i, g
        if at_upper[i] < first[i + 1] - first[i]:
            g = upper[i] - steps[first[i] + at_upper[i]]
            if rich1 < 0 or richer(g, i, gain_rich1, rich1):
                rich2, gain_rich2 = rich1, gain_rich1
                rich1, gain_rich1 = i, g
            elif rich2 < 0 or richer(g, i, gain_rich2, rich2):
                rich2, gain_rich2 = i, g
    for i in range(m):
        c = at_lower[i]
        if c != at_upper[i]:
            out[i] = True
            continue
        out[i] = False
        if c < first[i + 1] - first[i]:
            g = upper[i] - steps[first[i] + c]
            j, held = (poor1, gain_poor1) if poor1 != i else (poor2, gain_poor2)
            if g > 0 or (sum_lower == require and j >= 0 and richer(g, i, held, j)):
                out[i] = True
                continue
        if c > 0:
            g = lower[i] - steps[first[i] + c - 1]
            if g <= 0:
                j, lacking = (rich1, gain_rich1) if rich1 != i else (rich2, gain_rich2)
                out[i] = sum_upper > require or (j >= 0 and richer(lacking, j, g, i))


# -- any cost


@kernel
def best_from(table, starts, require):
    """best[i, n]: the largest sum of the table over arms i.. that contribute at least n (-inf if they cannot)."""
    m = len(starts) - 1
    best = np.full((m + 1, require + 1), -np.inf)
    best[m, 0] = 0.0
    for i in range(m - 1, -1, -1):
        here, rest = best[i], best[i + 1]
        for level in range(starts[i + 1] - starts[i]):
            worth = table[starts[i] + level]
            for need in range(min(level, require) + 1):
                here[need] = max(here[need], worth + rest[0])
            for need in range(level + 1, require + 1):
                here[need] = max(here[need], worth + rest[need - level])
    return best


@kernel
def plan_program(table, starts, require, y):
    """Levels that maximise the sum of the table with sum y >= require; of equal ones the lowest level, first arm first."""
    m = len(starts) - 1
    best = best_from(table, starts, require)
    need = require
    for i in range(m):
        for level in range(starts[i + 1] - starts[i]):
            rest = need - level if need > level else 0
            if table[starts[i] + level] + best[i + 1, rest] == best[i, need]:
                y[i] = level
                need = rest
                break


@kernel
def plan_open(edges, starts, decision, require, at_least, out):
    """Arms for which a plan with another level is worth ``at_least`` by the table of edges."""
    m = len(starts) - 1
    after = best_from(edges, starts, require)
    before = np.full(require + 1, -np.inf)  # arms ..i-1 contribute exactly n (or at least, at n = require)
    before[0] = 0.0
    for i in range(m):
        out[i] = False
        grown = np.full(require + 1, -np.inf)
        for level in range(starts[i + 1] - starts[i]):
            worth = edges[starts[i] + level]
            for have in range(require + 1):
                if before[have] == -np.inf:
                    continue
                total = min(require, have + level)
                grown[total] = max(grown[total], before[have] + worth)
                if level != decision[i] and before[have] + worth + after[i + 1, require - total] >= at_least:
                    out[i] = True
        before = grown


# -- how far from the best


@tight
def edge(i, level, lower, upper, decision, costs, starts):
    """The most that a level of an arm can be better than the decision's, over the box."""
    more = float(level - decision[i])
    theta = upper[i] if more > 0.0 else lower[i]
    return theta * more - costs[starts[i] + level] + costs[starts[i] + int(decision[i])]


@kernel
def strongest(costs, starts, require, lower, upper, decision, rival):
    """The plan that could beat a decision most on the box; returns by how much at most."""
    edges = np.empty(len(costs))
    for i in range(len(decision)):
        for level in range(starts[i + 1] - starts[i]):
            edges[starts[i] + level] = edge(i, level, lower, upper, decision, costs, starts)
    plan_program(edges, starts, require, rival)
    return lead(costs, starts, lower, upper, decision, rival)


@lean
def lead(costs, starts, lower, upper, decision, rival):
    """By how much a plan can beat a decision on the box at most."""
    total = 0.0
    for i in range(len(decision)):
        total += edge(i, rival[i], lower, upper, decision, costs, starts)
    return total


@lean
def reward(costs, starts, theta, decision):
    """sum_i theta_i y_i - f_i(y_i)."""
    benefit, cost = 0.0, 0.0
    for i in range(len(decision)):
        benefit += theta[i] * decision[i]
        cost += costs[starts[i] + int(decision[i])]
    return benefit - cost
