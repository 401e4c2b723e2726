"""The least of a function on an interval, by Brent's method (Algorithms for Minimization Without Derivatives, chapter 5).

Whoever minimises works out the function: ``begin`` says where first, and every ``step`` takes the value there and says where
next. The steps are those of ``scipy.optimize.minimize_scalar`` with bounds.
"""

from __future__ import annotations

import math
from enum import IntEnum

from ..compile import kernel


class Entry(IntEnum):
    """Entries of ``state``: the interval; where the function is asked for; the three best points and their values; the last
    step and the one before it; the tolerance; how many values have come."""

    LEFT = 0
    RIGHT = 1
    ASKED = 2
    BEST = 3
    VALUE = 4
    SECOND = 5
    SECOND_VALUE = 6
    THIRD = 7
    THIRD_VALUE = 8
    LAST = 9
    BEFORE = 10
    TOLERANCE = 11
    MANY = 12


ENTRIES = len(Entry)
SMALLER_PART = 0.5 * (3.0 - math.sqrt(5.0))
ROOT_OF_ROUNDING = math.sqrt(2.2e-16)
MOST_VALUES = 500


@kernel
def begin(state, left, right, tolerance):
    """The first point."""
    state[Entry.LEFT], state[Entry.RIGHT], state[Entry.TOLERANCE] = left, right, tolerance
    state[Entry.LAST] = state[Entry.BEFORE] = state[Entry.MANY] = 0.0
    state[Entry.ASKED] = left + SMALLER_PART * (right - left)
    return state[Entry.ASKED]


@kernel
def step(state, value):
    """Take the value at the point that was asked for; False if the best one is good enough, else another is asked for."""
    x = state[Entry.ASKED]
    state[Entry.MANY] += 1.0
    if state[Entry.MANY] == 1.0:
        state[Entry.BEST] = state[Entry.SECOND] = state[Entry.THIRD] = x
        state[Entry.VALUE] = state[Entry.SECOND_VALUE] = state[Entry.THIRD_VALUE] = value
    elif value <= state[Entry.VALUE]:
        state[Entry.LEFT if x >= state[Entry.BEST] else Entry.RIGHT] = state[Entry.BEST]
        state[Entry.THIRD], state[Entry.THIRD_VALUE] = state[Entry.SECOND], state[Entry.SECOND_VALUE]
        state[Entry.SECOND], state[Entry.SECOND_VALUE] = state[Entry.BEST], state[Entry.VALUE]
        state[Entry.BEST], state[Entry.VALUE] = x, value
    else:
        state[Entry.LEFT if x < state[Entry.BEST] else Entry.RIGHT] = x
        if value <= state[Entry.SECOND_VALUE] or state[Entry.SECOND] == state[Entry.BEST]:
            state[Entry.THIRD], state[Entry.THIRD_VALUE] = state[Entry.SECOND], state[Entry.SECOND_VALUE]
            state[Entry.SECOND], state[Entry.SECOND_VALUE] = x, value
        elif (
            value <= state[Entry.THIRD_VALUE]
            or state[Entry.THIRD] == state[Entry.BEST]
            or state[Entry.THIRD] == state[Entry.SECOND]
        ):
            state[Entry.THIRD], state[Entry.THIRD_VALUE] = x, value
    left, right, best = state[Entry.LEFT], state[Entry.RIGHT], state[Entry.BEST]
    middle = 0.5 * (left + right)
    near = ROOT_OF_ROUNDING * abs(best) + state[Entry.TOLERANCE] / 3.0
    if not abs(best - middle) > 2.0 * near - 0.5 * (right - left) or state[Entry.MANY] >= MOST_VALUES:
        return False
    fits = False
    if abs(state[Entry.BEFORE]) > near:  # through the three best points goes a parabola
        r = (best - state[Entry.SECOND]) * (state[Entry.VALUE] - state[Entry.THIRD_VALUE])
        q = (best - state[Entry.THIRD]) * (state[Entry.VALUE] - state[Entry.SECOND_VALUE])
        p = (best - state[Entry.THIRD]) * q - (best - state[Entry.SECOND]) * r
        q = 2.0 * (q - r)
        if q > 0.0:
            p = -p
        q = abs(q)
        r = state[Entry.BEFORE]
        state[Entry.BEFORE] = state[Entry.LAST]
        if abs(p) < abs(0.5 * q * r) and q * (left - best) < p < q * (right - best):
            fits = True
            state[Entry.LAST] = p / q
            x = best + state[Entry.LAST]
            if x - left < 2.0 * near or right - x < 2.0 * near:
                state[Entry.LAST] = near if middle >= best else -near
    if not fits:
        state[Entry.BEFORE] = left - best if best >= middle else right - best
        state[Entry.LAST] = SMALLER_PART * state[Entry.BEFORE]
    far = max(abs(state[Entry.LAST]), near)
    state[Entry.ASKED] = best + (far if state[Entry.LAST] >= 0.0 else -far)
    return True
