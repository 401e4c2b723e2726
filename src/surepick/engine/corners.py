"""The units of an allocation or a convex plan at the corners of a box while one arm changes a round, and what they tell of arms.

phi hands out units one by one, always the richest step that is left. An arm is decided on a box iff it has the same units at all
lower bounds as at all upper bounds, its next step at U is no richer than the poorest that another arm holds at L, and its last
step at L no poorer than the richest that another arm lacks at U. Two heaps for each of these corners, of the steps held and of
the steps lacking, keep the units right while one arm changes.

There are two boxes, fences around cores (see :mod:`.units`). Arms that are decided on the fences are parked, by their steps, and
looked at again when the edges come near.
"""

from __future__ import annotations

import math

import numpy as np

from .compile import lean, tight
from .heaps import arrange, before, moved, push, remove
from .kinds import CLOSED, MAYBE, OPEN

ALLOCATION, PLAN = 2, 3  # kinds of problems
CORE_LOW, CORE_UP, FENCE_LOW, FENCE_UP = 0, 1, 2, 3  # corners: rows of ``theta`` and ``units``
# Heaps, and rows of ``gains``, by corner: the steps that arms hold last, the poorest first; the steps that they lack next, the
# richest first. Then the parked arms, by what they lack at the upper and hold at the lower fences. Of equal steps that of the
# higher index is the richer one, the other way round than heaps have it, so arms are in them as m - 1 - i.
HELD, LACKING, PARKED_UP, PARKED_DOWN = 0, 4, 8, 9
FREE, PARKED = 0, 1
LIMBO, WHERE, LEVEL = 0, 1, 2  # rows of ``notes``: arms that are out of the queue for now; PARKED; the horizon is 2^level away
TOTAL, WAITING, WITNESS, SIZE, BEGUN = 0, 1, 2, 3, 4  # entries of ``state``; SIZE is how many arms are parked
SAME = 1e-13  # steps of allocations nearer than this, relatively, are left to exact fractions


# -- units ------------------------------------------------------------------------------------------------------------


@tight
def step(problem, ints, floats, i, u, theta):
    """What unit u + 1 of an arm gains."""
    if problem == ALLOCATION:
        return floats[i] * floats[i] * theta / (u * (u + 1.0))
    return theta - floats[ints[1 + i] + u]


@tight
def limits(problem, ints, i, m):
    """The least and the most units of an arm."""
    if problem == ALLOCATION:
        return ints[1 + i], ints[1 + m + i]
    return 0, ints[2 + i] - ints[1 + i]


@lean
def price(q, i, problem, ints, floats, theta, units, gains):
    """The steps of an arm at a corner."""
    m = units.shape[1]
    least, most = limits(problem, ints, i, m)
    u = units[q, i]
    gains[HELD + q, m - 1 - i] = step(problem, ints, floats, i, u - 1, theta[q, i]) if u > least else np.inf
    gains[LACKING + q, m - 1 - i] = step(problem, ints, floats, i, u, theta[q, i]) if u < most else -np.inf


@lean
def resettle(q, i, problem, ints, floats, theta, units, gains, heaps):
    """The steps of an arm at a corner, and its places in the heaps, after its parameter or its units have changed."""
    m = units.shape[1]
    price(q, i, problem, ints, floats, theta, units, gains)
    moved(heaps, HELD + q, 0, m, m - 1 - i, gains, HELD + q, 1.0)
    moved(heaps, LACKING + q, 0, m, m - 1 - i, gains, LACKING + q, -1.0)


@lean
def give(q, i, change, problem, ints, floats, theta, units, held, gains, heaps, queue, weights, notes, state):
    """One unit more or less for an arm at a corner."""
    units[q, i] += change
    held[q] += change
    resettle(q, i, problem, ints, floats, theta, units, gains, heaps)
    if q >= FENCE_LOW and notes[WHERE, i] == PARKED:
        unpark(i, gains, heaps, queue, weights, notes, state)


@tight
def units_at(edge, i, ints, floats, theta, m):
    """Units of an arm of an allocation whose steps gain at least ``edge``: u (u - 1) <= size^2 theta / edge."""
    least, most = limits(ALLOCATION, ints, i, m)
    return min(max(math.floor(0.5 + math.sqrt(0.25 + floats[i] * floats[i] * theta / edge)), least), most)


@lean
def leap(q, ints, floats, theta, units, held, gains, heaps, queue, weights, notes, state):
    """About the right units of an allocation at a corner, at once: by halving for what the poorest unit gains."""
    m = units.shape[1]
    high = 0.0
    for i in range(m):
        high = max(high, floats[i] * floats[i] * theta[q, i])
    high = max(high, 1e-250)  # with no spread at all, any will do
    low = high * 1e-40
    for _ in range(100):
        edge = math.sqrt(low) * math.sqrt(high)
        total = 0
        for i in range(m):
            total += units_at(edge, i, ints, floats, theta[q, i], m)
        if total > ints[0]:
            low = edge
        else:
            high = edge
    held[q] = 0
    for i in range(m):
        if q >= FENCE_LOW and notes[WHERE, i] == PARKED:
            unpark(i, gains, heaps, queue, weights, notes, state)
        units[q, i] = units_at(high, i, ints, floats, theta[q, i], m)
        held[q] += units[q, i]
    for i in range(m - 1, -1, -1):  # what is left when all others are full is for arms without spread, the last first
        if theta[q, i] == 0.0 and held[q] < ints[0] - m:
            more = min(ints[0] - held[q], limits(ALLOCATION, ints, i, m)[1] - units[q, i])
            units[q, i] += more
            held[q] += more
    for i in range(m):
        price(q, i, ALLOCATION, ints, floats, theta, units, gains)
    arrange(heaps, HELD + q, 0, m, gains, HELD + q, 1.0)
    arrange(heaps, LACKING + q, 0, m, gains, LACKING + q, -1.0)


@lean
def hand_out(q, problem, ints, floats, theta, units, held, gains, heaps, queue, weights, notes, state):
    """Make the units at a corner right again: those of the richest steps."""
    m, moves = units.shape[1], 0
    while True:
        moves += 1
        if moves == 64 + 4 * m and problem == ALLOCATION:
            leap(q, ints, floats, theta, units, held, gains, heaps, queue, weights, notes, state)
        a, b = m - 1 - heaps[2 * (HELD + q), 0], m - 1 - heaps[2 * (LACKING + q), 0]
        poorest, richest = gains[HELD + q, m - 1 - a], gains[LACKING + q, m - 1 - b]
        more = less = False
        if held[q] < ints[0] or (problem == PLAN and richest > 0.0):
            more = richest > -np.inf
        elif held[q] > ints[0]:
            less = problem == ALLOCATION or poorest <= 0.0
        else:
            more = less = richest > poorest or (richest == poorest and b > a)
        if not (more or less):
            return
        if more:
            give(q, b, 1, problem, ints, floats, theta, units, held, gains, heaps, queue, weights, notes, state)
        if less:
            give(q, a, -1, problem, ints, floats, theta, units, held, gains, heaps, queue, weights, notes, state)


# -- what is known of an arm ------------------------------------------------------------------------------------------


@tight
def richer(problem, x, i, y, j):
    """1 if a step x of arm i is richer than a step y of arm j, -1 if it is not, 0 if rounding might decide."""
    if problem == ALLOCATION and x != np.inf and y != np.inf and (x != 0.0 or y != 0.0) and abs(x - y) <= SAME * max(x, y):
        return 0
    if x != y:
        return 1 if x > y else -1
    return 1 if i > j else -1


@tight
def other(h, i, gains, heaps, sign):
    """The head of a heap, but for arm i."""
    m = gains.shape[1]
    r = heaps[2 * h, 0]
    if r != m - 1 - i or m == 1:
        return m - 1 - r
    r = heaps[2 * h, 1]
    if m > 2 and before(gains, h, sign, heaps[2 * h, 2], r):
        r = heaps[2 * h, 2]
    return m - 1 - r


@lean
def more_units(low, up, i, problem, require, held, gains, heaps):
    """1 if an arm has more units at its upper bound when the others are at their lower ones, 0 if rounding might decide."""
    m = gains.shape[1]
    x = gains[LACKING + up, m - 1 - i]
    if x == -np.inf or (problem == PLAN and x <= 0.0 and held[low] > require):
        return -1
    if problem == PLAN and x > 0.0:
        return 1
    j = other(HELD + low, i, gains, heaps, 1.0)
    y = gains[HELD + low, m - 1 - j] if j != i else np.inf
    return -1 if y == np.inf else richer(problem, x, i, y, j)


@lean
def fewer_units(low, up, i, problem, require, held, gains, heaps):
    """1 if an arm has fewer units at its lower bound when the others are at their upper ones, 0 if rounding might decide."""
    m = gains.shape[1]
    x = gains[HELD + low, m - 1 - i]
    if x == np.inf or (problem == PLAN and x > 0.0):
        return -1
    if problem == PLAN and held[up] > require:
        return 1
    j = other(LACKING + up, i, gains, heaps, -1.0)
    y = gains[LACKING + up, m - 1 - j] if j != i else -np.inf
    return -1 if y == -np.inf else richer(problem, y, j, x, i)


@lean
def clear(q, i, problem, gains, heaps):
    """The units of an arm at a corner are so whatever rounding does; it may move one unit."""
    if problem == PLAN:
        return True
    m = gains.shape[1]
    j = other(LACKING + q, i, gains, heaps, -1.0)
    x, y = gains[HELD + q, m - 1 - i], gains[LACKING + q, m - 1 - j]
    if j != i and x != np.inf and y != -np.inf and richer(problem, y, j, x, i) == 0:
        return False
    j = other(HELD + q, i, gains, heaps, 1.0)
    x, y = gains[LACKING + q, m - 1 - i], gains[HELD + q, m - 1 - j]
    return not (j != i and x != -np.inf and y != np.inf and richer(problem, x, i, y, j) == 0)


@lean
def status(i, problem, require, units, held, gains, heaps):
    """What an arm is for as long as no fence changes."""
    if (
        units[FENCE_LOW, i] == units[FENCE_UP, i]
        and more_units(FENCE_LOW, FENCE_UP, i, problem, require, held, gains, heaps) < 0
        and fewer_units(FENCE_LOW, FENCE_UP, i, problem, require, held, gains, heaps) < 0
    ):
        return CLOSED
    apart = abs(units[CORE_LOW, i] - units[CORE_UP, i])
    if apart >= 3:
        return OPEN
    if not (clear(CORE_LOW, i, problem, gains, heaps) and clear(CORE_UP, i, problem, gains, heaps)):
        return MAYBE
    if (
        apart > 0
        or more_units(CORE_LOW, CORE_UP, i, problem, require, held, gains, heaps) > 0
        or fewer_units(CORE_LOW, CORE_UP, i, problem, require, held, gains, heaps) > 0
    ):
        return OPEN
    return MAYBE


# -- parked arms ------------------------------------------------------------------------------------------------------


@lean
def park(i, gains, heaps, notes, state):
    """Put a decided arm aside; False if it is at an edge itself, whose own steps do not count against it."""
    r = gains.shape[1] - 1 - i
    if heaps[2 * (HELD + FENCE_LOW), 0] == r or heaps[2 * (LACKING + FENCE_UP), 0] == r:
        return False
    push(heaps, PARKED_UP, 0, state[SIZE], r, gains, LACKING + FENCE_UP, -1.0)
    state[SIZE] = push(heaps, PARKED_DOWN, 0, state[SIZE], r, gains, HELD + FENCE_LOW, 1.0)
    notes[WHERE, i] = PARKED
    return True


@lean
def unpark(i, gains, heaps, queue, weights, notes, state):
    """Back into the queue with a parked arm."""
    r = gains.shape[1] - 1 - i
    remove(heaps, PARKED_UP, 0, state[SIZE], r, gains, LACKING + FENCE_UP, -1.0)
    state[SIZE] = remove(heaps, PARKED_DOWN, 0, state[SIZE], r, gains, HELD + FENCE_LOW, 1.0)
    notes[WHERE, i] = FREE
    state[WAITING] = push(queue, 0, 0, state[WAITING], i, weights, 0, -1.0)


@lean
def look_again(problem, require, held, gains, heaps, queue, weights, notes, state):
    """Parked arms that are at an edge, or that may have become undecided, go back into the queue."""
    m = gains.shape[1]
    while state[SIZE] > 0:
        for side in range(4):
            if side == 0:
                i = m - 1 - heaps[2 * (HELD + FENCE_LOW), 0]
            elif side == 1:
                i = m - 1 - heaps[2 * (LACKING + FENCE_UP), 0]
            elif side == 2:
                i = m - 1 - heaps[2 * PARKED_UP, 0]
                if more_units(FENCE_LOW, FENCE_UP, i, problem, require, held, gains, heaps) < 0:
                    continue
            else:
                i = m - 1 - heaps[2 * PARKED_DOWN, 0]
                if fewer_units(FENCE_LOW, FENCE_UP, i, problem, require, held, gains, heaps) < 0:
                    continue
            if notes[WHERE, i] == PARKED:
                unpark(i, gains, heaps, queue, weights, notes, state)
                break
        else:
            return
