"""COCI and uniform sampling for allocations and convex plans, compiled: a round looks at few arms, samples are the plain loop's.

phi hands out units one by one, always the richest step that is left. An arm is decided on a box iff it has the same units at all
lower bounds as at all upper bounds, its next step at U is no richer than the poorest that another arm holds at L, and its last
step at L no poorer than the richest that another arm lacks at U. Two heaps for each of these corners, of the steps held and of
the steps lacking, keep the units right while one arm changes.

An arm that is decided on a box is decided on every box inside it, and one that is undecided there is so on every box around it.
So every interval gets a fence, around all that it will be up to a horizon if the arm rests, and a core inside of it; a little
more room spares changes while an arm is sampled. An arm gets new ones when it leaves its fence, uncovers its core, or reaches its
horizon, which doubles each time. Arms that are decided on the fences are parked, by their steps, and looked at again when the
edges come near. Where that does not tell, the arms in question get nearer horizons, at last fences for this round only; and where
these do not tell either, the box itself is tested.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .allocation import allocation_undecided
from .compile import lean, tight
from .draws import sample
from .heaps import arrange, before, fall, moved, pop, push, remove
from .kinds import CLOSED, HAIR, MAYBE, OPEN, PAUSED, TEST, UNSURE
from .plans import plan_undecided
from .sequences import HIGH, LOW, POWER, WIDE, ends, log_term

ALLOCATION, PLAN = 2, 3  # kinds of problems
CORE_LOW, CORE_UP, FENCE_LOW, FENCE_UP = 0, 1, 2, 3  # corners: rows of ``theta`` and ``units``
# Heaps, and rows of ``gains``, by corner: the steps that arms hold last, the poorest first; the steps that they lack next, the
# richest first. Then the parked arms, by what they lack at the upper and hold at the lower fences. Of equal steps that of the
# higher index is the richer one, the other way round than heaps have it, so arms are in them as m - 1 - i.
HELD, LACKING, PARKED_UP, PARKED_DOWN = 0, 4, 8, 9
FREE, PARKED = 0, 1
LIMBO, WHERE, LEVEL = 0, 1, 2  # rows of ``notes``: arms that are out of the queue for now; PARKED; the horizon is 2^level away
FIRST, LAST, UNTIL = 0, 1, 2  # rows of ``reach``, of an arm's fence: the logarithm at its beginning, at its horizon; the horizon
TOTAL, WAITING, WITNESS, SIZE, BEGUN = 0, 1, 2, 3, 4  # entries of ``state``; SIZE is how many arms are parked
ROOM = 1.0 / 32.0  # fences and cores are this share of an interval away from it
SAME = 1e-13  # steps of allocations nearer than this, relatively, are left to exact fractions


class Kept(NamedTuple):
    """What is kept between two calls."""

    theta: np.ndarray[Any, Any]
    units: np.ndarray[Any, Any]
    held: np.ndarray[Any, Any]  # units of all arms together, by corner
    gains: np.ndarray[Any, Any]
    heaps: np.ndarray[Any, Any]
    queue: np.ndarray[Any, Any]
    timer: np.ndarray[Any, Any]  # a heap: the arms, by their horizons
    weights: np.ndarray[Any, Any]
    notes: np.ndarray[Any, Any]
    state: np.ndarray[Any, Any]
    reach: np.ndarray[Any, Any]
    warm: np.ndarray[Any, Any]  # units at the two corners of the last box that was tested


def kept(near: np.ndarray[Any, Any], counts: np.ndarray[Any, Any], scales: np.ndarray[Any, Any]) -> Kept:
    """What is kept before the first round; ``near`` are units that are about right at the lower and the upper ends."""
    m = len(counts)
    units = np.concatenate((near, near)).astype(np.int64)
    heaps = np.zeros((20, m), dtype=np.int64)
    return Kept(
        np.full((4, m), np.nan), units, units.sum(axis=1), np.zeros((8, m)), heaps, np.zeros((2, m), np.int64),
        np.zeros((2, m), np.int64), (scales * scales / counts)[None, :], np.zeros((3, m), np.int64),
        np.array([counts.sum(), 0, 0, 0, 0]), np.zeros((3, m)), units[:2].copy(),
    )  # fmt: skip


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


# -- fences and cores -------------------------------------------------------------------------------------------------


@lean
def within_fence(i, theta, reach, kind, numbers, units, span, counts, table):
    """The interval of an arm stays within its fence and around its core up to the horizon."""
    low, up = ends(i, reach[LAST, i], kind, numbers, units, span, counts, table)
    if low < theta[FENCE_LOW, i] or up > theta[FENCE_UP, i]:
        return False
    if reach[FIRST, i] != reach[LAST, i]:
        low, up = ends(i, reach[FIRST, i], kind, numbers, units, span, counts, table)
    return low <= theta[CORE_LOW, i] and up >= theta[CORE_UP, i]


@tight
def highest(t, m):
    """The level of the furthest horizons; fences up to these have some room."""
    far, level = max(64 * m, t // 16), 0
    while far > 1:
        far //= 2
        level += 1
    return level


@lean
def fence_in(i, t, level, reach, notes, kind, numbers, units, span, counts, table):
    """A new fence and core for an arm: its parameters at the four corners."""
    notes[LEVEL, i] = level
    if numbers[POWER] > 0.0:
        now = log_term(numbers, t)
        reach[UNTIL, i] = t + (1 << level) - 1
        reach[FIRST, i] = now * (1.0 - HAIR) if level > 0 else now
        reach[LAST, i] = log_term(numbers, reach[UNTIL, i]) * (1.0 + HAIR) if level > 0 else now
    else:
        reach[UNTIL, i] = np.inf
        reach[FIRST, i] = reach[LAST, i] = log_term(numbers, t)
    low, up = ends(i, reach[LAST, i], kind, numbers, units, span, counts, table)
    pad = ROOM * (up - low) if level == highest(t, len(counts)) else 0.0
    fence_low, fence_up = max(low - pad, span[LOW, i]), min(up + pad, span[HIGH, i])
    if reach[FIRST, i] != reach[LAST, i]:
        low, up = ends(i, reach[FIRST, i], kind, numbers, units, span, counts, table)
    if low + pad <= up - pad:
        return low + pad, up - pad, fence_low, fence_up
    return 0.5 * (low + up), 0.5 * (low + up), fence_low, fence_up


@lean
def refence(
    i, t, level, problem, ints, floats, theta, units, held, gains, heaps, queue, timer, weights, notes, state, reach,
    kind, numbers, about, span, counts, table,
):  # fmt: skip
    """A new fence and core for an arm, and the units at all corners."""
    if notes[WHERE, i] == PARKED:
        unpark(i, gains, heaps, queue, weights, notes, state)
    corners = fence_in(i, t, level, reach, notes, kind, numbers, about, span, counts, table)
    moved(timer, 0, 0, len(counts), i, reach, UNTIL, 1.0)
    for q in range(4):
        if theta[q, i] != corners[q]:
            theta[q, i] = corners[q]
            resettle(q, i, problem, ints, floats, theta, units, gains, heaps)
            hand_out(q, problem, ints, floats, theta, units, held, gains, heaps, queue, weights, notes, state)


@lean
def look_closer(
    i, t, problem, ints, floats, theta, units, held, gains, heaps, queue, timer, weights, notes, state, reach,
    kind, numbers, about, span, counts, table,
):  # fmt: skip
    """A nearer horizon for an arm or one of those at the edges, whichever is furthest; False if all are for this round only."""
    m, j = len(counts), i
    for h in (HELD + CORE_LOW, LACKING + CORE_UP, HELD + FENCE_LOW, LACKING + FENCE_UP):
        a = m - 1 - heaps[2 * h, 0]
        if notes[LEVEL, a] > notes[LEVEL, j]:
            j = a
    if notes[LEVEL, j] == 0:
        return False
    level = max(notes[LEVEL, j] - 3, 0) if numbers[POWER] > 0.0 else 0
    refence(
        j, t, level, problem, ints, floats, theta, units, held, gains, heaps, queue, timer, weights, notes, state, reach,
        kind, numbers, about, span, counts, table,
    )  # fmt: skip
    return True


@lean
def begin(
    t, everywhere, problem, ints, floats, theta, units, held, gains, heaps, queue, timer, weights, notes, state, reach,
    kind, numbers, about, span, counts, table,
):  # fmt: skip
    """All fences, units and heaps."""
    m = len(counts)
    for i in range(m):
        corners = fence_in(i, t, highest(t, m), reach, notes, kind, numbers, about, span, counts, table)
        for q in range(4):
            theta[q, i] = corners[q]
            price(q, i, problem, ints, floats, theta, units, gains)
            heaps[2 * (HELD + q), i] = heaps[2 * (LACKING + q), i] = i
        timer[0, i] = i
    arrange(timer, 0, 0, m, reach, UNTIL, 1.0)
    for q in range(4):
        arrange(heaps, HELD + q, 0, m, gains, HELD + q, 1.0)
        arrange(heaps, LACKING + q, 0, m, gains, LACKING + q, -1.0)
        hand_out(q, problem, ints, floats, theta, units, held, gains, heaps, queue, weights, notes, state)
    for i in range(m):
        if (
            everywhere
            or status(i, problem, ints[0], units, held, gains, heaps) != CLOSED
            or not park(i, gains, heaps, notes, state)
        ):
            queue[0, state[WAITING]] = i
            state[WAITING] += 1
    arrange(queue, 0, 0, state[WAITING], weights, 0, -1.0)


@lean
def witness(problem, require, units, held, gains, heaps, state):
    """OPEN if some arm is undecided, whatever the intervals are in between; else MAYBE if it may be."""
    if status(state[WITNESS], problem, require, units, held, gains, heaps) == OPEN:
        return OPEN
    best = CLOSED
    for i in range(units.shape[1]):
        found = status(i, problem, require, units, held, gains, heaps)
        if found == OPEN or (found == MAYBE and best == CLOSED):
            best, state[WITNESS] = found, i
        if found == OPEN:
            break
    return best


# -- the loop ---------------------------------------------------------------------------------------------------------


@lean
def rounds_of(
    everywhere, problem, ints, floats, theta, units, held, gains, heaps, queue, timer, weights, notes, state, reach,
    kind, numbers, about, span, counts, table, variance, buffer, stock, laws, tested, out, budget, rounds,
):  # fmt: skip
    """Rounds until something needs the caller. ``out`` are the undecided arms of the first round, if it has been ``tested``."""
    m, t = len(counts), state[TOTAL]
    for _ in range(rounds):
        changed = False
        while reach[UNTIL, timer[0, 0]] < t:
            i = timer[0, 0]
            level = min(notes[LEVEL, i] + 1, highest(t, m))
            refence(
                i, t, level, problem, ints, floats, theta, units, held, gains, heaps, queue, timer, weights, notes, state, reach,
                kind, numbers, about, span, counts, table,
            )  # fmt: skip
            changed = True
        if changed and not everywhere:
            look_again(problem, ints[0], held, gains, heaps, queue, weights, notes, state)
        arm, resting, unsure = -1, 0, -1
        if everywhere:
            found = witness(problem, ints[0], units, held, gains, heaps, state)
            if found == OPEN or (found == MAYBE and tested and out.any()):
                arm = queue[0, 0]
            elif found == MAYBE and not tested:
                unsure = state[WITNESS]
        else:
            while state[WAITING] > 0:
                i = queue[0, 0]
                found = status(i, problem, ints[0], units, held, gains, heaps)
                if found == OPEN or (found == MAYBE and tested and out[i]):
                    arm = i
                    break
                if found == MAYBE and not tested:
                    unsure = i
                    break
                state[WAITING] = pop(queue, 0, 0, state[WAITING], weights, 0, -1.0)
                if found == MAYBE or not park(i, gains, heaps, notes, state):  # decided, but too close to be parked
                    notes[LIMBO, resting] = i
                    resting += 1
            for p in range(resting):
                state[WAITING] = push(queue, 0, 0, state[WAITING], notes[LIMBO, p], weights, 0, -1.0)
        if unsure >= 0:
            if not look_closer(
                unsure, t, problem, ints, floats, theta, units, held, gains, heaps, queue, timer, weights, notes, state, reach,
                kind, numbers, about, span, counts, table,
            ):  # fmt: skip
                return TEST, -1
            if not everywhere:
                look_again(problem, ints[0], held, gains, heaps, queue, weights, notes, state)
            continue
        what = sample(arm, t, budget, counts, table, variance, buffer, stock, laws)
        if what != PAUSED:
            return what, arm
        t += 1
        state[TOTAL], tested = t, False
        weights[0, arm] = span[WIDE, arm] * span[WIDE, arm] / counts[arm]
        fall(queue, 0, 0, state[WAITING], queue[1, arm], weights, 0, -1.0)
        if not within_fence(arm, theta, reach, kind, numbers, about, span, counts, table):
            refence(
                arm, t, notes[LEVEL, arm], problem, ints, floats, theta, units, held, gains, heaps, queue, timer, weights, notes,
                state, reach, kind, numbers, about, span, counts, table,
            )  # fmt: skip
            if not everywhere:
                look_again(problem, ints[0], held, gains, heaps, queue, weights, notes, state)
    return PAUSED, -1


@njit(cache=True)
def run(
    problem, ints, floats, everywhere, theta, units, held, gains, heaps, queue, timer, weights, notes, state, reach, warm,
    kind, numbers, about, span, counts, table, variance, buffer, stock, laws, budget, rounds,
):  # fmt: skip
    """Explore until something needs the caller; returns (what, arm)."""
    m = len(counts)
    if state[BEGUN] == 0:
        state[BEGUN] = 1
        begin(
            state[TOTAL], everywhere, problem, ints, floats, theta, units, held, gains, heaps, queue, timer, weights, notes,
            state, reach, kind, numbers, about, span, counts, table,
        )  # fmt: skip
    out, lower, upper, tested = np.empty(m, np.bool_), np.empty(m), np.empty(m), False
    last = state[TOTAL] + rounds
    while True:
        what, arm = rounds_of(
            everywhere, problem, ints, floats, theta, units, held, gains, heaps, queue, timer, weights, notes, state, reach,
            kind, numbers, about, span, counts, table, variance, buffer, stock, laws, tested, out, budget, last - state[TOTAL],
        )  # fmt: skip
        if what != TEST or state[TOTAL] >= last:
            return (PAUSED if what == TEST else what), arm
        c, tested = log_term(numbers, state[TOTAL]), True
        for i in range(m):
            lower[i], upper[i] = ends(i, c, kind, numbers, about, span, counts, table)
        if problem == PLAN:
            plan_undecided(lower, upper, floats, ints[1:], ints[0], out)
        elif not allocation_undecided(lower, upper, floats, ints[1 : 1 + m], ints[1 + m :], warm[0], warm[1], out):
            return UNSURE, -1
