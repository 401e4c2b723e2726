"""Rounds of COCI and uniform sampling where units are handed out one by one; a round looks at few arms.

An arm that is decided on a box is decided on every box inside it, and one that is undecided there is so on every box around it.
So every interval gets a fence, around all that it will be up to a horizon if the arm rests, and a core inside of it; a little
more room spares changes while an arm is sampled. An arm gets new ones when it leaves its fence, uncovers its core, or reaches its
horizon, which doubles each time. What the corners of these boxes tell of an arm is in :mod:`surepick.engine.kernels.corners`.
Where it does not tell enough, the arms in question get nearer horizons, at last fences for this round only; and where these do
not tell either, the box itself is tested, by the loop of the class.
"""

from __future__ import annotations

import numpy as np

from ..compile import lean, tight
from ..data import state_of
from ..enums import Span, State, Status, Stop
from ..kernels.corners import (
    CORE_LOW,
    CORE_UP,
    FENCE_LOW,
    FENCE_UP,
    HELD,
    LACKING,
    PARKED,
    ArmNote,
    Array,
    Corners,
    Piles,
    balance,
    hand_out,
    look_again,
    park,
    price,
    resettle,
    status,
    unpark,
)
from ..kernels.draws import sample
from ..kernels.heaps import arrange, fall, moved, pop, push
from ..kernels.sequences import ends, log_term, weight_of
from .batch import distinct, heaviest, plan_by, planned, room, take
from .stretches import LOG_OFF

BEGIN, END, UNTIL = 0, 1, 2  # rows of ``reach``, of an arm's fence: the logarithm at its beginning, at its horizon; the horizon
PADDING = 1.0 / 32.0  # fences and cores are this share of an interval away from it
PATIENCE = 8  # samples of an arm after which its horizon may be further away again, if it had to be brought nearer


def corners_of(near: Array, counts: Array, priority: Array) -> Corners:
    """The corners before the first round; ``near`` are units that are about right at the lower and the upper ends."""
    m = len(counts)
    units = np.concatenate((near, near)).astype(np.int64)
    return Corners(
        theta=np.full((4, m), np.nan),
        piles=Piles(units, units.sum(axis=1), gains=np.zeros((8, m)), heaps=np.zeros((20, m), dtype=np.int64)),
        queue=np.zeros((2, m), dtype=np.int64),
        timer=np.zeros((2, m), dtype=np.int64),
        weights=(priority / counts)[None, :],
        notes=np.zeros((3, m), dtype=np.int64),
        state=state_of(TOTAL=counts.sum()),
        reach=np.zeros((3, m)),
        warm=units[:2].copy(),
    )


# -- fences and cores -------------------------------------------------------------------------------------------------


@tight
def within_fence(i, corners, sequence, record):
    """The interval of an arm stays within its fence and around its core up to the horizon."""
    low, up = ends(i, corners.reach[END, i], sequence, record)
    if low < corners.theta[FENCE_LOW, i] or up > corners.theta[FENCE_UP, i]:
        return False
    if corners.reach[BEGIN, i] != corners.reach[END, i]:
        low, up = ends(i, corners.reach[BEGIN, i], sequence, record)
    return low <= corners.theta[CORE_LOW, i] and up >= corners.theta[CORE_UP, i]


@tight
def highest(t, m):
    """The level of the furthest horizons; fences up to these have some room."""
    far, level = max(64 * m, t // 16), 0
    while far > 1:
        far //= 2
        level += 1
    return level


@lean
def fence_in(i, t, level, corners, sequence, record):
    """A new fence and core for an arm: its parameters at the four corners."""
    corners.notes[ArmNote.LEVEL, i] = level
    if sequence.power > 0.0:
        now = log_term(t, sequence)
        corners.reach[UNTIL, i] = t + (1 << level) - 1
        corners.reach[BEGIN, i] = now * (1.0 - LOG_OFF) if level > 0 else now
        corners.reach[END, i] = log_term(corners.reach[UNTIL, i], sequence) * (1.0 + LOG_OFF) if level > 0 else now
    else:
        corners.reach[UNTIL, i] = np.inf
        corners.reach[BEGIN, i] = corners.reach[END, i] = log_term(t, sequence)
    low, up = ends(i, corners.reach[END, i], sequence, record)
    pad = PADDING * (up - low) if level == highest(t, len(record.counts)) else 0.0
    fence_low, fence_up = max(low - pad, sequence.span[Span.LOW, i]), min(up + pad, sequence.span[Span.HIGH, i])
    if corners.reach[BEGIN, i] != corners.reach[END, i]:
        low, up = ends(i, corners.reach[BEGIN, i], sequence, record)
    if low + pad <= up - pad:
        return low + pad, up - pad, fence_low, fence_up
    return 0.5 * (low + up), 0.5 * (low + up), fence_low, fence_up


@lean
def refence(i, t, level, hand, corners, sequence, record):
    """A new fence and core for an arm, and the units at all corners."""
    if corners.notes[ArmNote.WHERE, i] == PARKED:
        unpark(i, corners)
    at = fence_in(i, t, level, corners, sequence, record)
    moved(corners.timer, 0, 0, len(record.counts), i, corners.reach, UNTIL, 1.0)
    for q in range(4):
        if corners.theta[q, i] != at[q]:
            corners.theta[q, i] = at[q]
            resettle(q, i, hand, corners)
            balance(q, hand, corners)


@lean
def look_closer(i, t, hand, corners, sequence, record):
    """A nearer horizon for an arm or one of those at the edges, whichever is furthest; False if all are for this round only."""
    m, j = len(record.counts), i
    for h in (HELD + CORE_LOW, LACKING + CORE_UP, HELD + FENCE_LOW, LACKING + FENCE_UP):
        a = m - 1 - corners.piles.heaps[2 * h, 0]
        if corners.notes[ArmNote.LEVEL, a] > corners.notes[ArmNote.LEVEL, j]:
            j = a
    if corners.notes[ArmNote.LEVEL, j] == 0:
        return False
    level = max(corners.notes[ArmNote.LEVEL, j] - 3, 0) if sequence.power > 0.0 else 0
    refence(j, t, level, hand, corners, sequence, record)
    return True


@lean
def begin(everywhere, hand, corners, sequence, record):
    """All fences, units and heaps, unless they are there."""
    m, t = len(record.counts), corners.state[State.TOTAL]
    if corners.state[State.BEGUN]:
        return
    corners.state[State.BEGUN] = 1
    for i in range(m):
        at = fence_in(i, t, highest(t, m), corners, sequence, record)
        for q in range(4):
            corners.theta[q, i] = at[q]
            price(q, i, hand, corners)
            corners.piles.heaps[2 * (HELD + q), i] = corners.piles.heaps[2 * (LACKING + q), i] = i
        corners.timer[0, i] = i
    arrange(corners.timer, 0, 0, m, corners.reach, UNTIL, 1.0)
    for q in range(4):
        arrange(corners.piles.heaps, HELD + q, 0, m, corners.piles.gains, HELD + q, 1.0)
        arrange(corners.piles.heaps, LACKING + q, 0, m, corners.piles.gains, LACKING + q, -1.0)
        hand_out(q, hand, corners)
    for i in range(m):
        if everywhere or status(i, hand, corners.piles) != Status.CLOSED or not park(i, corners):
            corners.queue[0, corners.state[State.WAITING]] = i
            corners.state[State.WAITING] += 1
    arrange(corners.queue, 0, 0, corners.state[State.WAITING], corners.weights, 0, -1.0)


@lean
def witness(hand, corners):
    """OPEN if some arm is undecided, whatever the intervals are in between; else MAYBE if it may be."""
    if status(corners.state[State.WITNESS], hand, corners.piles) == Status.OPEN:
        return Status.OPEN
    best = Status.CLOSED
    for i in range(corners.piles.units.shape[1]):
        found = status(i, hand, corners.piles)
        if found == Status.OPEN or (found == Status.MAYBE and best == Status.CLOSED):
            best, corners.state[State.WITNESS] = found, i
        if found == Status.OPEN:
            break
    return best


# -- the loop ---------------------------------------------------------------------------------------------------------


@tight
def next_arm(t, everywhere, tested, out, hand, corners, batch, sequence, record):
    """(PAUSED, the next arm to be sampled, -1 if there is none), or (TEST, -1) if the very box must be tested."""
    while True:
        arm, resting, unsure = np.int64(-1), 0, -1
        if everywhere and (planned(batch) > 0 or batch.spend):
            arm = corners.queue[0, 0]
        elif everywhere:
            found = witness(hand, corners)
            if found == Status.OPEN or (found == Status.MAYBE and tested and out.any()):
                arm = corners.queue[0, 0]
            elif found == Status.MAYBE and not tested:
                unsure = corners.state[State.WITNESS]
        else:
            while corners.state[State.WAITING] > 0:
                i = corners.queue[0, 0]
                found = status(i, hand, corners.piles)
                if found == Status.OPEN or (found == Status.MAYBE and tested and out[i]):
                    arm = i
                    break
                if found == Status.MAYBE and not tested:
                    unsure = i
                    break
                corners.state[State.WAITING] = pop(corners.queue, 0, 0, corners.state[State.WAITING], corners.weights, 0, -1.0)
                if found == Status.MAYBE or not park(i, corners):  # decided, but too close to be parked
                    corners.notes[ArmNote.LIMBO, resting] = i
                    resting += 1
            for p in range(resting):
                corners.state[State.WAITING] = push(
                    corners.queue,
                    0,
                    0,
                    corners.state[State.WAITING],
                    corners.notes[ArmNote.LIMBO, p],
                    corners.weights,
                    0,
                    -1.0,
                )
        if unsure < 0:
            return Stop.PAUSED.value, arm
        if not look_closer(unsure, t, hand, corners, sequence, record):
            return Stop.TEST.value, arm
        if not everywhere:
            look_again(hand, corners)


@tight
def renew_fences(t, everywhere, hand, corners, sequence, record):
    """Further horizons for the arms whose horizon has passed."""
    m, changed = len(record.counts), False
    while corners.reach[UNTIL, corners.timer[0, 0]] < t:
        i = corners.timer[0, 0]
        level = min(corners.notes[ArmNote.LEVEL, i] + 1, highest(t, m))
        refence(i, t, level, hand, corners, sequence, record)
        changed = True
    if changed and not everywhere:
        look_again(hand, corners)


@tight
def sampled(arm, t, hand, corners, sequence, record):
    """An arm has been sampled; whether it got a new fence."""
    if within_fence(arm, corners, sequence, record):
        return False
    level = min(corners.notes[ArmNote.LEVEL, arm] + (record.counts[arm] % PATIENCE == 0), highest(t, len(record.counts)))
    refence(arm, t, level, hand, corners, sequence, record)
    return True


@lean
def bring(arm, corners):
    """Into the queue with an arm, or to its place there after its weight has changed."""
    if corners.notes[ArmNote.WHERE, arm] == PARKED:
        unpark(arm, corners)
    else:
        moved(corners.queue, 0, 0, corners.state[State.WAITING], arm, corners.weights, 0, -1.0)


@lean
def one_by_one(everywhere, tested, out, hand, corners, batch, sequence, record, stock, limit, rounds):
    """As ``rounds_of`` for one sample between two looks, without a plan: here nanoseconds count."""
    t = corners.state[State.TOTAL]
    for _ in range(rounds):
        renew_fences(t, everywhere, hand, corners, sequence, record)
        what, arm = next_arm(t, everywhere, tested, out, hand, corners, batch, sequence, record)
        if what == Stop.TEST:
            return what, arm
        queued = arm >= 0
        if not queued and batch.spend:  # nothing is in question
            arm = heaviest(0, corners.weights)
        what = sample(arm, t, record, stock, limit)
        if what != Stop.PAUSED:
            return what, arm
        t += 1
        corners.state[State.TOTAL], tested = t, False
        corners.weights[0, arm] = weight_of(arm, sequence, record)
        if queued:
            fall(corners.queue, 0, 0, corners.state[State.WAITING], corners.queue[1, arm], corners.weights, 0, -1.0)
        else:
            bring(arm, corners)
        if sampled(arm, t, hand, corners, sequence, record) and not everywhere:
            look_again(hand, corners)
    return Stop.PAUSED.value, np.int64(-1)


@lean
def rounds_of(everywhere, tested, out, hand, corners, batch, sequence, record, stock, limit, rounds):
    """Rounds until something needs the caller. ``out`` are the undecided arms of the first round, if it has been ``tested``."""
    if batch.size == 1:
        return one_by_one(everywhere, tested, out, hand, corners, batch, sequence, record, stock, limit, rounds)
    t = corners.state[State.TOTAL]
    for _ in range(rounds):
        renew_fences(t, everywhere, hand, corners, sequence, record)
        size = room(t, batch, limit)
        if size <= 0:
            return Stop.SPENT.value, np.int64(-1)
        while planned(batch) < size:
            what, arm = next_arm(t, everywhere, tested, out, hand, corners, batch, sequence, record)
            if what == Stop.TEST:
                return what, arm
            if arm >= 0:
                plan_by(arm, 0, corners.weights, batch, sequence, record)
                fall(corners.queue, 0, 0, corners.state[State.WAITING], corners.queue[1, arm], corners.weights, 0, -1.0)
                continue
            if not batch.spend:
                return Stop.DECIDED.value, arm
            while planned(batch) < size:  # nothing is in question
                arm = heaviest(0, corners.weights)
                plan_by(arm, 0, corners.weights, batch, sequence, record)
                bring(arm, corners)
        what, arm = take(batch, record, stock)
        if what != Stop.PAUSED:
            return what, arm
        t += planned(batch)
        corners.state[State.TOTAL], tested, changed = t, False, False
        for q in range(distinct(batch)):
            changed = sampled(batch.arms[q], t, hand, corners, sequence, record) or changed
        if changed and not everywhere:
            look_again(hand, corners)
    return Stop.PAUSED.value, np.int64(-1)


@lean
def bounds(t, lower, upper, sequence, record):
    """The intervals of all arms at this very round."""
    c = log_term(t, sequence)
    for i in range(len(lower)):
        lower[i], upper[i] = ends(i, c, sequence, record)
