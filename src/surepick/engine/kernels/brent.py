"""The least of a function on an interval, by Brent's method (Algorithms for Minimization Without Derivatives, chapter 5).

Whoever minimises works out the function: ``begin`` says where first, and every ``step`` takes the value there and says where
next. The steps are those of ``scipy.optimize.minimize_scalar`` with bounds.
"""

from __future__ import annotations

import math

from ..compile import kernel

# Entries of ``state``: the interval; where the function is asked for; the three best points and their values; the last step and
# the one before it; the tolerance; how many values have come.
LEFT, RIGHT, ASKED, BEST, VALUE, SECOND, SECOND_VALUE, THIRD, THIRD_VALUE, LAST, BEFORE, TOLERANCE, MANY = range(13)
ENTRIES = 13
GOLDEN = 0.5 * (3.0 - math.sqrt(5.0))
PRECISION = math.sqrt(2.2e-16)
MOST = 500  # values


@kernel
def begin(state, left, right, tolerance):
    """The first point."""
    state[LEFT], state[RIGHT], state[TOLERANCE] = left, right, tolerance
    state[LAST] = state[BEFORE] = state[MANY] = 0.0
    state[ASKED] = left + GOLDEN * (right - left)
    return state[ASKED]


@kernel
def step(state, value):
    """Take the value at the point that was asked for; False if the best one is good enough, else another is asked for."""
    x = state[ASKED]
    state[MANY] += 1.0
    if state[MANY] == 1.0:
        state[BEST] = state[SECOND] = state[THIRD] = x
        state[VALUE] = state[SECOND_VALUE] = state[THIRD_VALUE] = value
    elif value <= state[VALUE]:
        state[LEFT if x >= state[BEST] else RIGHT] = state[BEST]
        state[THIRD], state[THIRD_VALUE] = state[SECOND], state[SECOND_VALUE]
        state[SECOND], state[SECOND_VALUE] = state[BEST], state[VALUE]
        state[BEST], state[VALUE] = x, value
    else:
        state[LEFT if x < state[BEST] else RIGHT] = x
        if value <= state[SECOND_VALUE] or state[SECOND] == state[BEST]:
            state[THIRD], state[THIRD_VALUE] = state[SECOND], state[SECOND_VALUE]
            state[SECOND], state[SECOND_VALUE] = x, value
        elif value <= state[THIRD_VALUE] or state[THIRD] == state[BEST] or state[THIRD] == state[SECOND]:
            state[THIRD], state[THIRD_VALUE] = x, value
    left, right, best = state[LEFT], state[RIGHT], state[BEST]
    middle = 0.5 * (left + right)
    near = PRECISION * abs(best) + state[TOLERANCE] / 3.0
    if not abs(best - middle) > 2.0 * near - 0.5 * (right - left) or state[MANY] >= MOST:
        return False
    fits = False
    if abs(state[BEFORE]) > near:  # through the three best points goes a parabola
        r = (best - state[SECOND]) * (state[VALUE] - state[THIRD_VALUE])
        q = (best - state[THIRD]) * (state[VALUE] - state[SECOND_VALUE])
        p = (best - state[THIRD]) * q - (best - state[SECOND]) * r
        q = 2.0 * (q - r)
        if q > 0.0:
            p = -p
        q = abs(q)
        r = state[BEFORE]
        state[BEFORE] = state[LAST]
        if abs(p) < abs(0.5 * q * r) and q * (left - best) < p < q * (right - best):
            fits = True
            state[LAST] = p / q
            x = best + state[LAST]
            if x - left < 2.0 * near or right - x < 2.0 * near:
                state[LAST] = near if middle >= best else -near
    if not fits:
        state[BEFORE] = left - best if best >= middle else right - best
        state[LAST] = GOLDEN * state[BEFORE]
    far = max(abs(state[LAST]), near)
    state[ASKED] = best + (far if state[LAST] >= 0.0 else -far)
    return True
