"""The joint test of 0/1 decisions, or any listed ones, with a linear reward; see policies/joint_linear.py for the mathematics.

Sums run over the arms in their order: Python's loop and the compiled ones have the same numbers, to the last bit.
"""

from __future__ import annotations

import math

from ..compile import kernel, lean, tight


@tight
def spread_of(n, half, rho):
    """R^2 (N + rho) / N^2."""
    return half * half * (n + rho) / (n * n)


@tight
def regret_of(n, rho):
    """ln(1 + N / rho) / 2."""
    return 0.5 * math.log1p(n / rho)


@kernel
def weigh(counts, half, rho, spread, regret):
    """Spread and regret of every arm; returns the sum of the regrets."""
    total = 0.0
    for i in range(len(counts)):
        n = float(counts[i])
        spread[i], regret[i] = spread_of(n, half[i], rho), regret_of(n, rho)
        total += regret[i]
    return total


# -- one decision of a list --------------------------------------------------------------------------------------------


@lean
def margin_of(row, listed, test):
    """A - sqrt(2 B Q) of a listed decision, which is certainly worse if that is positive; infinite for the decision itself."""
    ahead, spread, price, moved = 0.0, 0.0, 0.0, False
    rounding = 0.0
    for i in range(len(test.decision)):
        change = listed[row, i] - test.decision[i]
        if change != 0.0:
            moved = True
            ahead -= change * test.value[i]
            spread += change * change * test.spread[i]
            price += test.price[i]
            rounding += abs(change) * test.rounding[i]
    return ahead - math.sqrt(2.0 * (test.base[0] + price) * spread) - rounding if moved else math.inf


@kernel
def closest(listed, test):
    """The listed decision that blocks most, and its margin."""
    row, least = 0, math.inf
    for y in range(len(listed)):
        margin = margin_of(y, listed, test)
        if margin < least:
            row, least = y, margin
    return row, least


# -- decisions that a maximiser finds ----------------------------------------------------------------------------------


@lean
def differ(other, test):
    """The number of arms in which a decision differs."""
    moved = 0
    for i in range(len(other)):
        moved += other[i] != test.decision[i]
    return moved


@lean
def lead(other, test):
    """sqrt(2 B Q) - A: by how much another decision may be better, if that is positive."""
    ahead, rounding, spread, price = 0.0, 0.0, 0.0, 0.0
    for i in range(len(other)):
        if other[i] != test.decision[i]:
            ahead -= (other[i] - test.decision[i]) * test.value[i]
            rounding += test.rounding[i]
            spread += test.spread[i]
            price += test.price[i]
    return math.sqrt(2.0 * (test.base[0] + price) * spread) - (ahead - rounding)


@lean
def slope_of(other, test):
    """The slope at which the linear bound is exact for the arms in which a decision differs."""
    spread, price = 0.0, 0.0
    for i in range(len(other)):
        if other[i] != test.decision[i]:
            spread += test.spread[i]
            price += test.price[i]
    return math.sqrt(spread / (2.0 * (test.base[0] + price)))


@lean
def first_slope(test):
    """The same for all arms."""
    spread, price = 0.0, 0.0
    for i in range(len(test.spread)):
        spread += test.spread[i]
        price += test.price[i]
    return math.sqrt(spread / (2.0 * (test.base[0] + price)))


@tight
def weight_at(i, slope, test):
    """An arm at the end that is bad for the decision, by the linear bound."""
    reach = slope * test.price[i] + test.spread[i] / (2.0 * slope) + test.rounding[i]
    return test.value[i] - reach if test.decision[i] > 0 else test.value[i] + reach


@lean
def bend(slope, test, weights):
    """All arms at the ends that are bad for the decision; returns the sum of their sizes."""
    size = 0.0
    for i in range(len(weights)):
        weights[i] = weight_at(i, slope, test)
        size += abs(weights[i])
    return size


@lean
def bend_with(i, slope, test, weights):
    """As ``bend``, and so that the best decision has another entry for arm i, if any has."""
    force = 4.0 * bend(slope, test, weights)
    if force == 0.0:
        force = 1.0
    weights[i] += -force if test.decision[i] > 0 else force


@lean
def excess(other, slope, test):
    """<weights, other - decision> at this slope."""
    total = 0.0
    for i in range(len(other)):
        if other[i] != test.decision[i]:
            total += weight_at(i, slope, test) * (other[i] - test.decision[i])
    return total


@lean
def certain(other, slope, test):
    """The maximiser ``other`` at these weights shows that all decisions it was the best of are worse."""
    return excess(other, slope, test) < -slope * test.base[0]
