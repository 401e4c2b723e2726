"""COCI and uniform sampling for allocations and convex plans, compiled: a round looks at few arms, samples are the plain loop's.

An arm that is decided on a box is decided on every box inside it, and one that is undecided there is so on every box around it.
So every interval gets a fence, around all that it will be up to a horizon if the arm rests, and a core inside of it; a little
more room spares changes while an arm is sampled. An arm gets new ones when it leaves its fence, uncovers its core, or reaches its
horizon, which doubles each time. What the corners of these boxes tell of an arm is in :mod:`.corners`. Where it does not tell
enough, the arms in question get nearer horizons, at last fences for this round only; and where these do not tell either, the box
itself is tested.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .allocation import allocation_undecided
from .compile import kernel, lean, tight
from .corners import (
    BEGUN,
    CORE_LOW,
    CORE_UP,
    FENCE_LOW,
    FENCE_UP,
    HELD,
    LACKING,
    LEVEL,
    LIMBO,
    PARKED,
    PLAN,
    TOTAL,
    WAITING,
    WHERE,
    WITNESS,
    hand_out,
    look_again,
    park,
    price,
    resettle,
    status,
    unpark,
)
from .draws import sample
from .heaps import arrange, fall, moved, pop, push
from .kinds import CLOSED, HAIR, MAYBE, OPEN, PAUSED, TEST, UNSURE
from .plans import plan_undecided
from .sequences import HIGH, LOW, POWER, WIDE, ends, log_term

FIRST, LAST, UNTIL = 0, 1, 2  # rows of ``reach``, of an arm's fence: the logarithm at its beginning, at its horizon; the horizon
ROOM = 1.0 / 32.0  # fences and cores are this share of an interval away from it
PATIENCE = 8  # samples of an arm after which its horizon may be further away again, if it had to be brought nearer


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
            level = min(notes[LEVEL, arm] + (counts[arm] % PATIENCE == 0), highest(t, m))
            refence(
                arm, t, level, problem, ints, floats, theta, units, held, gains, heaps, queue, timer, weights, notes, state,
                reach, kind, numbers, about, span, counts, table,
            )  # fmt: skip
            if not everywhere:
                look_again(problem, ints[0], held, gains, heaps, queue, weights, notes, state)
    return PAUSED, -1


@kernel
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
