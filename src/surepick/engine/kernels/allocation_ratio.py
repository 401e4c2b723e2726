"""How many times the best variance an allocation may have: the largest V(decision) / V(y) - 1 over the box and all allocations y.

With f_i(n) = 1/n - 1/N_i (1/n where people may be asked again), it exceeds g if and only if the excess, the sum of
theta_i s_i (f_i(decision_i) - (1 + g) f_i(y_i)), is above 0 somewhere on the box for some y. The most that this sum can be is
separable: found by dynamic programming, or from above by a price on interviews.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile import inline, kernel, lean

ROUNDS = 50  # of a golden section
PRICE_WITHIN = 1e-6  # to which the bound by a price is worked out
SIDE_UNSURE = 1e-7  # nearer than this to the bound a golden section tells on which side of it a share is
SHARE_OFF, SHARE_OFF_LEAST = (
    1e-10,
    1e-14,
)  # a share is put off by so much, as a part and in itself, so that rounding does not matter


@inline
def excess(share2, low, high, mine, units, rest, g):
    """Most of theta share2 ((1 / mine - rest) - (1 + g) (1 / units - rest)) over low <= theta <= high."""
    c = share2 * ((1.0 / mine - rest) - (1.0 + g) * (1.0 / units - rest))
    return c * (high if c > 0.0 else low)


@lean
def excess_of(data, lower, upper, decision, rival, g):
    """The most that the variance of the decision exceeds 1 + g times that of a rival."""
    total = 0.0
    for i in range(len(decision)):
        total += excess(data.squares[i], lower[i], upper[i], decision[i], rival[i], data.rest[i], g)
    return total


# -- by dynamic programming over the budget --------------------------------------------------------------------------------


@kernel
def ratio_exact(data, lower, upper, decision, rival):
    """By Dinkelbach's iteration, each step a dynamic program."""
    m, k = len(decision), data.budget
    best = np.empty((m + 1, k + 1))  # best[i, b]: the largest excess of the first i arms with at most b interviews
    worth = np.empty((m, k + 1))
    best[0, :] = 0.0
    g = 0.0
    for _ in range(60):
        for i in range(m):
            before, after = best[i], best[i + 1]
            after[:] = -np.inf
            for u in range(data.least[i], data.most[i] + 1):
                value = excess(data.squares[i], lower[i], upper[i], decision[i], u, data.rest[i], g)
                worth[i, u] = value
                for b in range(u if i < m - 1 else k, k + 1):
                    after[b] = max(after[b], before[b - u] + value)
        b = k
        mine, its = 0.0, 0.0
        for i in range(m - 1, -1, -1):
            u = data.least[i]  # of equally good numbers the smallest
            while u < data.most[i] and best[i, b - u] + worth[i, u] != best[i + 1, b]:
                u += 1
            rival[i] = u
            b -= u
            now, then = 1.0 / decision[i] - data.rest[i], 1.0 / u - data.rest[i]
            theta = upper[i] if now > (1.0 + g) * then else lower[i]
            mine += data.squares[i] * theta * now
            its += data.squares[i] * theta * then
        if its <= 0.0:
            return np.inf if mine > 0.0 else g
        if mine / its - 1.0 <= g * (1.0 + 1e-12) + 1e-15:
            return g
        g = mine / its - 1.0
    return g


# -- from above, by a price -------------------------------------------------------------------------------------------------


@kernel
def priced(data, lower, upper, decision, g, price, rival):
    """An upper bound on the excess at share g for any price of an interview; the interviews sold, and their variance.

    The bound is convex in g and price, and k minus the interviews and minus the variance are its slopes.
    """
    total, sold, variance = price * data.budget, 0, 0.0
    for i in range(len(decision)):
        square, least, most, rest = data.squares[i], data.least[i], data.most[i], data.rest[i]
        edge = (1.0 + g) * decision[i] / (1.0 + g * rest * decision[i])  # where the excess changes its sign
        top, units = -np.inf, least
        for side in range(2):  # more than the edge at U, fewer at L
            theta = upper[i] if side == 0 else lower[i]
            first = max(least, math.ceil(edge)) if side == 0 else least
            last = most if side == 0 else min(most, math.floor(edge))
            if first > last:
                continue
            u = last
            if price > 0.0:
                u = min(max(math.floor(math.sqrt(square * theta * (1.0 + g) / price + 0.25) + 0.5), first), last)
            elif theta == 0.0:
                u = first
            value = excess(square, lower[i], upper[i], decision[i], u, rest, g) - price * u
            if value > top:
                top, units = value, u
        total += top
        rival[i] = units
        sold += units
        variance += square * (upper[i] if units > edge else lower[i]) * (1.0 / units - rest)
    return total, sold, variance


@kernel
def within(data, lower, upper, decision, g, rival):
    """Some price shows that V(decision) <= (1 + g) V(y) for all y on the box; by a golden section, which slopes spare steps."""
    k, dearest = data.budget, 0.0
    for i in range(len(decision)):
        dearest = max(dearest, data.squares[i] * upper[i] / (data.least[i] * (data.least[i] + 1.0)))
    if priced(data, lower, upper, decision, g, 0.0, rival)[0] <= 0.0:
        return True
    a, b = 0.0, math.sqrt(dearest * (1.0 + g))  # prices matter by their order of magnitude
    left, right, x2 = 0.0, np.inf, 0.0  # the bound is known to fall up to here, and to rise from there
    for _ in range(ROUNDS):
        x1, x2 = a + 0.382 * (b - a), a + 0.618 * (b - a)
        if x2 <= left:
            a = x1
        elif x1 >= right:
            b = x2
        else:
            f1, sold1, _ = priced(data, lower, upper, decision, g, x1 * x1, rival)
            f2, sold2, _ = priced(data, lower, upper, decision, g, x2 * x2, rival)
            if f1 <= 0.0 or f2 <= 0.0:
                return True
            left = x2 if sold2 > k else max(left, x1) if sold1 > k else left
            right = x1 if sold1 < k else min(right, x2) if sold2 < k else right
            if f1 < f2:
                b = x2
            else:
                a = x1
    priced(data, lower, upper, decision, g, x2 * x2, rival)
    return False


@kernel
def cornered(data, lower, upper, decision, near, rival):
    """Two shares between which the least one lies that some price shows; ``near`` is a share and a price that are about right.

    By cutting planes: the bound is convex, so every point tells a plane below it. The smallest share at which two such planes,
    one falling and one rising with the price, are 0 is too small or right; there the next plane is found.
    """
    g, price = near[0], near[1]
    if price == 0.0:
        for i in range(len(decision)):
            price += math.sqrt(data.squares[i] * upper[i])
        price = (1.0 + g) * (price / data.budget) ** 2
    low, rises = 0.0, False
    falling, rising = (0.0, 0.0, -1.0), (0.0, 0.0, 0.0)  # a + b g + c price; no price is below 0
    for _ in range(60):
        value, sold, variance = priced(data, lower, upper, decision, g, price, rival)
        if value <= 0.0 and g <= low * (1.0 + SHARE_OFF) + SHARE_OFF_LEAST:
            near[0], near[1] = low, price
            return low, g
        c = float(data.budget - sold)
        plane = (value + variance * g - c * price, -variance, c)
        if c <= 0.0:
            falling = plane
        if c >= 0.0:
            rising, rises = plane, True
        if not rises:
            price *= 4.0
            continue
        steep = rising[2] * falling[1] - falling[2] * rising[1] if c != 0.0 else plane[1]
        zero = falling[2] * rising[0] - rising[2] * falling[0] if c != 0.0 else -plane[0]
        if not steep < 0.0:
            break
        low = max(low, zero / steep)
        g = low * (1.0 + SHARE_OFF) + SHARE_OFF_LEAST
        if rising[2] > falling[2]:
            price = max((falling[0] - rising[0] + (falling[1] - rising[1]) * g) / (rising[2] - falling[2]), 0.0)
    return low, np.inf


@lean
def shown(data, lower, upper, decision, g, corner, rival):
    """As ``within``, told by what ``cornered`` has found where that is enough."""
    if g < corner[0] * (1.0 - SIDE_UNSURE) - SHARE_OFF_LEAST:
        return False
    return g > corner[1] * (1.0 + SIDE_UNSURE) or within(data, lower, upper, decision, g, rival)


@kernel
def ratio_bound(data, lower, upper, decision, near, rival):
    """An upper bound on what ``ratio_exact`` returns, at a cost that does not grow with the budget; ``near`` only saves time."""
    corner = cornered(data, lower, upper, decision, near, rival)
    low, high = 0.0, 1e-3
    while not shown(data, lower, upper, decision, high, corner, rival):
        low, high = high, 4.0 * high
        if high > 1e9:
            return np.inf
    while high - low > max(PRICE_WITHIN * high, SHARE_OFF_LEAST):
        middle = 0.5 * (low + high)
        if shown(data, lower, upper, decision, middle, corner, rival):
            high = middle
        else:
            low = middle
    within(data, lower, upper, decision, low, rival)  # the rival that the last refusal had
    total = 0
    for i in range(len(rival)):
        total += rival[i]
    for i in range(len(rival)):  # a price may sell more than there is
        spare = min(max(total - data.budget, 0), rival[i] - data.least[i])
        rival[i] -= spare
        total -= spare
    return high if low > 0.0 else 0.0
