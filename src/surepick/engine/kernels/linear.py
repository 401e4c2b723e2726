"""The guide of the joint test of 0/1 decisions, or any listed ones, with a linear reward; see policies/joint_linear.py.

As if arms were normal with the variance that is seen: it says which other decision may be better, quickly and about. Whether it
is certainly worse is proved in linear_proof.py. Sums run over the arms in their order: Python's loop and the compiled ones have
the same numbers, to the last bit.
"""

from __future__ import annotations

import math

from ..compile import kernel, lean, tight
from ..enums import FEWEST_MOVED, Base

# -- one decision of a list --------------------------------------------------------------------------------------------


@lean
def margin_of(row, listed, test):
    """A - sqrt(2 B Q) of a listed decision, which may be certainly worse if that is positive; infinite for the decision
    itself."""
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
    return ahead - math.sqrt(2.0 * (test.base[Base.GUIDE] + price) * spread) - rounding if moved else math.inf


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
    """sqrt(2 B Q) - A: by how much another decision may be better, about, if that is positive."""
    ahead, rounding, spread, price = 0.0, 0.0, 0.0, 0.0
    for i in range(len(other)):
        if other[i] != test.decision[i]:
            ahead -= (other[i] - test.decision[i]) * test.value[i]
            rounding += test.rounding[i]
            spread += test.spread[i]
            price += test.price[i]
    return math.sqrt(2.0 * (test.base[Base.GUIDE] + price) * spread) - (ahead - rounding)


@lean
def first_slope(test):
    """The slope at which sqrt(2 B Q) <= l B + Q / (2 l) is exact for so few arms, if they are like all."""
    spread, price = 0.0, 0.0
    for i in range(len(test.spread)):
        spread += test.spread[i]
        price += test.price[i]
    part = min(FEWEST_MOVED / len(test.spread), 1.0)
    return math.sqrt(part * spread / (2.0 * (test.base[Base.GUIDE] + part * price)))


@lean
def slope_of(other, test):
    """The same for the arms in which a decision differs."""
    spread, price = 0.0, 0.0
    for i in range(len(other)):
        if other[i] != test.decision[i]:
            spread += test.spread[i]
            price += test.price[i]
    return math.sqrt(spread / (2.0 * (test.base[Base.GUIDE] + price)))


@tight
def weight_at(i, slope, each, test):
    """An arm at the end that is bad for the decision, by the linear bound, with so much of the base."""
    reach = slope * (test.price[i] + each) + test.spread[i] / (2.0 * slope) + test.rounding[i]
    return test.value[i] - reach if test.decision[i] > 0 else test.value[i] + reach


@lean
def bend(slope, size, test, weights):
    """All arms at the ends that are bad for the decision. The base is spread over ``size`` arms: decisions that differ in so many
    are then the best if they may be better."""
    each = test.base[Base.GUIDE] / size
    for i in range(len(weights)):
        weights[i] = weight_at(i, slope, each, test)
