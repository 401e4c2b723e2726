"""The units of an allocation or a convex plan at the corners of a box while one arm changes a round, and what they tell of arms.

phi hands out units one by one, always the richest step that is left. An arm is decided on a box iff it has the same units at all
lower bounds as at all upper bounds, its next step at U is no richer than the poorest that another arm holds at L, and its last
step at L no poorer than the richest that another arm lacks at U. Two heaps for each of these corners, of the steps held and of
the steps lacking, keep the units right while one arm changes.

There are two boxes, fences around cores (see loops/units.py). Arms that are decided on the fences are parked, by their steps, and
looked at again when the edges come near.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from ..compile import lean, tight
from ..enums import State, Status
from .heaps import arrange, before, moved, push, remove

CORE_LOW, CORE_UP, FENCE_LOW, FENCE_UP = 0, 1, 2, 3  # corners: rows of ``theta`` and ``units``
# Heaps, and rows of ``gains``, by corner: the steps that arms hold last, the poorest first; the steps that they lack next, the
# richest first. Then the parked arms, by what they lack at the upper and hold at the lower fences. Of equal steps that of the
# higher index is the richer one, the other way round than heaps have it, so arms are in them as m - 1 - i.
HELD, LACKING, PARKED_UP, PARKED_DOWN = 0, 4, 8, 9
FREE, PARKED = 0, 1


class ArmNote(IntEnum):
    """Rows of ``notes``: arms that are out of the queue for now; PARKED; the horizon is 2^level away."""

    LIMBO = 0
    WHERE = 1
    LEVEL = 2


SAME = 1e-13  # steps of allocations nearer than this, relatively, are left to exact fractions

Array = np.ndarray[Any, Any]


class Hand(NamedTuple):
    """What is handed out: the units of an allocation, or those of a convex plan."""

    convex: bool
    total: int  # units in all, or at least
    numbers: Array  # the sizes of strata; the steps of all arms
    first: Array  # where in the steps those of an arm begin
    least: Array
    most: Array


class Piles(NamedTuple):
    """What every arm has been handed out at every corner, and the steps before and after."""

    units: Array
    held: Array  # units of all arms together, by corner
    gains: Array
    heaps: Array


class Corners(NamedTuple):
    """Two boxes, and what is handed out at their corners; kept from round to round."""

    theta: Array
    piles: Piles  # apart, for a call copies what it is given, and it is these that most calls need
    queue: Array
    timer: Array  # a heap: the arms, by their horizons
    weights: Array
    notes: Array
    state: Array
    reach: Array
    warm: Array  # units at the two corners of the last box that was tested


# -- units ------------------------------------------------------------------------------------------------------------


@tight
def step(i, u, theta, hand):
    """What unit u + 1 of an arm gains."""
    if hand.convex:
        return theta - hand.numbers[hand.first[i] + u]
    return hand.numbers[i] * hand.numbers[i] * theta / (u * (u + 1.0))


@tight
def price(q, i, hand, corners):
    """The steps of an arm at a corner."""
    m = corners.piles.units.shape[1]
    least, most = hand.least[i], hand.most[i]
    u = corners.piles.units[q, i]
    corners.piles.gains[HELD + q, m - 1 - i] = step(i, u - 1, corners.theta[q, i], hand) if u > least else np.inf
    corners.piles.gains[LACKING + q, m - 1 - i] = step(i, u, corners.theta[q, i], hand) if u < most else -np.inf


@tight
def resettle(q, i, hand, corners):
    """The steps of an arm at a corner, and its places in the heaps, after its parameter or its units have changed."""
    m = corners.piles.units.shape[1]
    price(q, i, hand, corners)
    moved(corners.piles.heaps, HELD + q, 0, m, m - 1 - i, corners.piles.gains, HELD + q, 1.0)
    moved(corners.piles.heaps, LACKING + q, 0, m, m - 1 - i, corners.piles.gains, LACKING + q, -1.0)


@lean
def give(q, i, change, hand, corners):
    """One unit more or less for an arm at a corner."""
    corners.piles.units[q, i] += change
    corners.piles.held[q] += change
    resettle(q, i, hand, corners)
    if q >= FENCE_LOW and corners.notes[ArmNote.WHERE, i] == PARKED:
        unpark(i, corners)


@tight
def units_at(edge, i, theta, hand):
    """Units of an arm of an allocation whose steps gain at least ``edge``: u (u - 1) <= size^2 theta / edge."""
    return min(
        max(math.floor(0.5 + math.sqrt(0.25 + hand.numbers[i] * hand.numbers[i] * theta / edge)), hand.least[i]), hand.most[i]
    )


@lean
def leap(q, hand, corners):
    """About the right units of an allocation at a corner, at once: by halving for what the poorest unit gains."""
    m = corners.piles.units.shape[1]
    high = 0.0
    for i in range(m):
        high = max(high, hand.numbers[i] * hand.numbers[i] * corners.theta[q, i])
    high = max(high, 1e-250)  # with no spread at all, any will do
    low = high * 1e-40
    for _ in range(100):
        edge = math.sqrt(low) * math.sqrt(high)
        total = 0
        for i in range(m):
            total += units_at(edge, i, corners.theta[q, i], hand)
        if total > hand.total:
            low = edge
        else:
            high = edge
    corners.piles.held[q] = 0
    for i in range(m):
        if q >= FENCE_LOW and corners.notes[ArmNote.WHERE, i] == PARKED:
            unpark(i, corners)
        corners.piles.units[q, i] = units_at(high, i, corners.theta[q, i], hand)
        corners.piles.held[q] += corners.piles.units[q, i]
    for i in range(m - 1, -1, -1):  # what is left when all others are full is for arms without spread, the last first
        if corners.theta[q, i] == 0.0 and corners.piles.held[q] < hand.total - m:
            more = min(hand.total - corners.piles.held[q], hand.most[i] - corners.piles.units[q, i])
            corners.piles.units[q, i] += more
            corners.piles.held[q] += more
    for i in range(m):
        price(q, i, hand, corners)
    arrange(corners.piles.heaps, HELD + q, 0, m, corners.piles.gains, HELD + q, 1.0)
    arrange(corners.piles.heaps, LACKING + q, 0, m, corners.piles.gains, LACKING + q, -1.0)


@tight
def next_moves(q, hand, corners):
    """Whether the richest step that is lacking at a corner is to be taken, and the poorest that is held to be given up."""
    m = corners.piles.units.shape[1]
    r, s = corners.piles.heaps[2 * (HELD + q), 0], corners.piles.heaps[2 * (LACKING + q), 0]
    poorest, richest = corners.piles.gains[HELD + q, r], corners.piles.gains[LACKING + q, s]
    more = less = False
    if corners.piles.held[q] < hand.total or (hand.convex and richest > 0.0):
        more = richest > -np.inf
    elif corners.piles.held[q] > hand.total:
        less = not hand.convex or poorest <= 0.0
    else:
        more = less = richest > poorest or (richest == poorest and s < r)
    return more, m - 1 - s, less, m - 1 - r


@lean
def hand_out(q, hand, corners):
    """Make the units at a corner right again: those of the richest steps."""
    m, moves = corners.piles.units.shape[1], 0
    while True:
        moves += 1
        if moves == 64 + 4 * m and not hand.convex:
            leap(q, hand, corners)
        more, b, less, a = next_moves(q, hand, corners)
        if not (more or less):
            return
        if more:
            give(q, b, 1, hand, corners)
        if less:
            give(q, a, -1, hand, corners)


@tight
def balance(q, hand, corners):
    """As ``hand_out``, which is called only if there is something to hand out: mostly there is not."""
    more, _, less, _ = next_moves(q, hand, corners)
    if more or less:
        hand_out(q, hand, corners)


# -- what is known of an arm ------------------------------------------------------------------------------------------


@tight
def richer(x, i, y, j, hand):
    """1 if a step x of arm i is richer than a step y of arm j, -1 if it is not, 0 if rounding might decide."""
    if not hand.convex and x != np.inf and y != np.inf and (x != 0.0 or y != 0.0) and abs(x - y) <= SAME * max(x, y):
        return 0
    if x != y:
        return 1 if x > y else -1
    return 1 if i > j else -1


@tight
def other(h, i, sign, piles):
    """The head of a heap, but for arm i."""
    m = piles.gains.shape[1]
    r = piles.heaps[2 * h, 0]
    if r != m - 1 - i or m == 1:
        return m - 1 - r
    r = piles.heaps[2 * h, 1]
    if m > 2 and before(piles.gains, h, sign, piles.heaps[2 * h, 2], r):
        r = piles.heaps[2 * h, 2]
    return m - 1 - r


@tight
def more_units(low, up, i, hand, piles):
    """1 if an arm has more units at its upper bound when the others are at their lower ones, 0 if rounding might decide."""
    m = piles.gains.shape[1]
    x = piles.gains[LACKING + up, m - 1 - i]
    if x == -np.inf or (hand.convex and x <= 0.0 and piles.held[low] > hand.total):
        return -1
    if hand.convex and x > 0.0:
        return 1
    j = other(HELD + low, i, 1.0, piles)
    y = piles.gains[HELD + low, m - 1 - j] if j != i else np.inf
    return -1 if y == np.inf else richer(x, i, y, j, hand)


@tight
def fewer_units(low, up, i, hand, piles):
    """1 if an arm has fewer units at its lower bound when the others are at their upper ones, 0 if rounding might decide."""
    m = piles.gains.shape[1]
    x = piles.gains[HELD + low, m - 1 - i]
    if x == np.inf or (hand.convex and x > 0.0):
        return -1
    if hand.convex and piles.held[up] > hand.total:
        return 1
    j = other(LACKING + up, i, -1.0, piles)
    y = piles.gains[LACKING + up, m - 1 - j] if j != i else -np.inf
    return -1 if y == -np.inf else richer(y, j, x, i, hand)


@tight
def clear(q, i, hand, piles):
    """The units of an arm at a corner are so whatever rounding does; it may move one unit."""
    if hand.convex:
        return True
    m = piles.gains.shape[1]
    j = other(LACKING + q, i, -1.0, piles)
    x, y = piles.gains[HELD + q, m - 1 - i], piles.gains[LACKING + q, m - 1 - j]
    if j != i and x != np.inf and y != -np.inf and richer(y, j, x, i, hand) == 0:
        return False
    j = other(HELD + q, i, 1.0, piles)
    x, y = piles.gains[LACKING + q, m - 1 - i], piles.gains[HELD + q, m - 1 - j]
    return not (j != i and x != -np.inf and y != np.inf and richer(x, i, y, j, hand) == 0)


@tight
def status(i, hand, piles):
    """What an arm is for as long as no fence changes."""
    if (
        piles.units[FENCE_LOW, i] == piles.units[FENCE_UP, i]
        and more_units(FENCE_LOW, FENCE_UP, i, hand, piles) < 0
        and fewer_units(FENCE_LOW, FENCE_UP, i, hand, piles) < 0
    ):
        return Status.CLOSED
    apart = abs(piles.units[CORE_LOW, i] - piles.units[CORE_UP, i])
    if apart >= 3:
        return Status.OPEN
    if not (clear(CORE_LOW, i, hand, piles) and clear(CORE_UP, i, hand, piles)):
        return Status.MAYBE
    if apart > 0 or more_units(CORE_LOW, CORE_UP, i, hand, piles) > 0 or fewer_units(CORE_LOW, CORE_UP, i, hand, piles) > 0:
        return Status.OPEN
    return Status.MAYBE


# -- parked arms ------------------------------------------------------------------------------------------------------


@lean
def park(i, corners):
    """Put a decided arm aside; False if it is at an edge itself, whose own steps do not count against it."""
    r = corners.piles.gains.shape[1] - 1 - i
    if corners.piles.heaps[2 * (HELD + FENCE_LOW), 0] == r or corners.piles.heaps[2 * (LACKING + FENCE_UP), 0] == r:
        return False
    push(corners.piles.heaps, PARKED_UP, 0, corners.state[State.PARKED], r, corners.piles.gains, LACKING + FENCE_UP, -1.0)
    corners.state[State.PARKED] = push(
        corners.piles.heaps, PARKED_DOWN, 0, corners.state[State.PARKED], r, corners.piles.gains, HELD + FENCE_LOW, 1.0
    )
    corners.notes[ArmNote.WHERE, i] = PARKED
    return True


@lean
def unpark(i, corners):
    """Back into the queue with a parked arm."""
    r = corners.piles.gains.shape[1] - 1 - i
    remove(corners.piles.heaps, PARKED_UP, 0, corners.state[State.PARKED], r, corners.piles.gains, LACKING + FENCE_UP, -1.0)
    corners.state[State.PARKED] = remove(
        corners.piles.heaps, PARKED_DOWN, 0, corners.state[State.PARKED], r, corners.piles.gains, HELD + FENCE_LOW, 1.0
    )
    corners.notes[ArmNote.WHERE, i] = FREE
    corners.state[State.WAITING] = push(corners.queue, 0, 0, corners.state[State.WAITING], i, corners.weights, 0, -1.0)


@lean
def look_again(hand, corners):
    """Parked arms that are at an edge, or that may have become undecided, go back into the queue."""
    m = corners.piles.gains.shape[1]
    while corners.state[State.PARKED] > 0:
        for side in range(4):
            if side == 0:
                i = m - 1 - corners.piles.heaps[2 * (HELD + FENCE_LOW), 0]
            elif side == 1:
                i = m - 1 - corners.piles.heaps[2 * (LACKING + FENCE_UP), 0]
            elif side == 2:
                i = m - 1 - corners.piles.heaps[2 * PARKED_UP, 0]
                if more_units(FENCE_LOW, FENCE_UP, i, hand, corners.piles) < 0:
                    continue
            else:
                i = m - 1 - corners.piles.heaps[2 * PARKED_DOWN, 0]
                if fewer_units(FENCE_LOW, FENCE_UP, i, hand, corners.piles) < 0:
                    continue
            if corners.notes[ArmNote.WHERE, i] == PARKED:
                unpark(i, corners)
                break
        else:
            return
