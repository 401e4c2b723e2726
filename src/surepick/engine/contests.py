"""CLUCB and the unified rule for the best k of every group, compiled: a round costs O(log m), the samples are the plain loop's.

The decision takes the k best arms of a group by their estimates. The rival takes the k best by their corners: the lower bounds of
the arms in the decision, the upper bounds of the others. Each is kept by two heaps: of the arms that it takes the worst first, of
the others the best first. Estimates change for the sampled arm only. Corners all change, as intervals widen while arms rest, but
in a known direction. So an arm that the rival takes is kept by a value that its corner is not behind, any other by a value that
its corner is not ahead of. The rival is right as long as the worst of the former is ahead of the best of the latter.

- If decision and rival differ in an arm, its corner moves away from that border, and its value of some earlier round will do.
- If not, its corner moves towards it, and it is kept by the value at a horizon, the last round before a multiple of a power of
  two. When that has passed, it gets a further one.
- When the two heads meet they get nearer horizons, at last their values of this very round. If these say so, they change places.

The arms in which the two differ wait in a queue, the least known first; its head is sampled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .compile import kernel, lean, tight
from .draws import sample
from .heaps import before, exchange, fall, moved, push, rank, remove
from .kinds import CLOSE, DECIDED, DIVERGENCE, HAIR, PAUSED, UNSURE
from .partitions import groups_of, worth
from .record import ESTIMATE
from .sequences import HIGH, LOW, POWER, SIGN, WIDE, log_term, within

WEIGHT, CLIPPED, CORNER = 0, 1, 2  # rows of ``values``; the estimate lies within the interval, also if the interval is elsewhere
DECISION, RIVAL, QUEUE = 0, 1, 2  # heaps
# Rows of ``notes``: the power of two of an arm's horizon; the list of arms with this horizon that it is in, and its neighbours
# there; the round whose corner it is kept by.
POWER_OF, LIST, NEXT, LAST, ROUND = 0, 1, 2, 3, 4
HEAD, UNTIL = 0, 1  # rows of ``lists``, by power of two: the first arm of the list; the horizon that ``logs`` is for
GROUPS, MARKED = 0, 1  # rows of ``touched``: groups to be looked at; whether a group is among them
TOTAL, WAITING, WITNESS, MOST, BEGUN = 0, 1, 2, 3, 4  # entries of ``state``
NONE = -1
PAD = 1e-10  # bounds found by bisection widen with time up to an error far below this
LATEST = 2**62


class Kept(NamedTuple):
    """What is kept between two calls."""

    group: np.ndarray[Any, Any]  # of every arm; -1 if all of its group are taken
    values: np.ndarray[Any, Any]
    heaps: np.ndarray[Any, Any]
    notes: np.ndarray[Any, Any]
    lists: np.ndarray[Any, Any]
    touched: np.ndarray[Any, Any]
    state: np.ndarray[Any, Any]
    logs: np.ndarray[Any, Any]  # the logarithm at the horizons
    size: np.ndarray[Any, Any]  # no corner is further from 0 than this


def kept(kernel: np.ndarray[Any, Any], counts: np.ndarray[Any, Any], scales: np.ndarray[Any, Any]) -> Kept:
    """What is kept before the first round."""
    m, groups = len(counts), int(kernel[1]) - 1
    most = (16 * m + 256).bit_length()
    values, heaps = np.zeros((3, m)), np.full((6, m), NONE)
    values[WEIGHT] = scales * scales / counts
    heaps[[2 * DECISION, 2 * RIVAL]] = kernel[3 + groups :]
    notes, lists = np.full((5, m), NONE), np.full((2, most + 1), NONE)
    notes[POWER_OF] = most // 2
    state = np.array([counts.sum(), 0, 0, most, 0])
    touched = np.zeros((2, groups), dtype=np.int64)
    return Kept(groups_of(kernel), values, heaps, notes, lists, touched, state, np.zeros(most + 1), np.zeros(1))


@tight
def log_until(j, t, numbers, lists, logs):
    """The logarithm at the horizon, the last round before a multiple of 2^j; in this very round if j is 0."""
    last = t | ((1 << j) - 1)
    if lists[UNTIL, j] != last:
        lists[UNTIL, j] = last
        logs[j] = log_term(numbers, last) if j == 0 else log_term(numbers, last) * (1.0 + HAIR)
    return logs[j]


@tight
def enlist(i, j, notes, lists):
    """Move an arm to the list of this power of two, or to none."""
    old, after, ahead = notes[LIST, i], notes[NEXT, i], notes[LAST, i]
    if old == j:
        return
    if old != NONE:
        if ahead == NONE:
            lists[HEAD, old] = after
        else:
            notes[NEXT, ahead] = after
        if after != NONE:
            notes[LAST, after] = ahead
    notes[LIST, i] = j
    if j != NONE:
        head = lists[HEAD, j]
        notes[NEXT, i], notes[LAST, i], lists[HEAD, j] = head, NONE, i
        if head != NONE:
            notes[LAST, head] = i


@lean
def keep(i, j, t, edge, end, start, values, heaps, notes, lists, logs, kind, numbers, units, span, counts, table):
    """Keep an arm by its corner at the horizon of j, or by the one of this round if that will do or j is 0."""
    taken, above = heaps[2 * DECISION + 1, i] < edge, heaps[2 * RIVAL + 1, i] < edge
    if numbers[POWER] > 0.0:
        if taken == above:
            horizon, where = j, j
        else:
            horizon, where = 0, 0 if kind == DIVERGENCE and j == 0 else NONE
        low, up = worth(i, log_until(horizon, t, numbers, lists, logs), kind, numbers, units, span, counts, table)
        corner = low if taken else up
        if kind == DIVERGENCE and j > 0:
            corner += -PAD * span[WIDE, i] if above else PAD * span[WIDE, i]
            horizon = j
        notes[ROUND, i] = t if horizon == 0 else NONE
        enlist(i, where, notes, lists)
    else:
        low, up = worth(i, logs[0], kind, numbers, units, span, counts, table)
        corner = low if taken else up
    values[CORNER, i] = corner
    if above:
        moved(heaps, RIVAL, start, edge - start, i, values, CORNER, 1.0)
    else:
        moved(heaps, RIVAL, edge, end - edge, i, values, CORNER, -1.0)


@lean
def furthest(i, corner, room, most, t, values, numbers, span, logs):
    """The power of two of the furthest horizon until which the corner will move half the room at most; a guess."""
    if span[SIGN, i] * corner == span[LOW, i] or span[SIGN, i] * corner == span[HIGH, i]:
        return most
    move = abs(corner - values[CLIPPED, i]) * numbers[POWER] / (t * logs[0])  # radii are about as the root of the logarithm
    j = 0
    while j < most and 2.0 * move <= room:
        j += 1
        move *= 2.0
    return j


@lean
def nearer(i, other, t, edge, end, start, values, heaps, notes, lists, logs, kind, numbers, units, span, counts, table):
    """Keep an arm by a nearer value, one that is on the right side of the other arm's if possible."""
    taken, above = heaps[2 * DECISION + 1, i] < edge, heaps[2 * RIVAL + 1, i] < edge
    low, up = worth(i, log_until(0, t, numbers, lists, logs), kind, numbers, units, span, counts, table)
    corner = low if taken else up
    room = corner - values[CORNER, other] if above else values[CORNER, other] - corner
    j = 0
    if taken == above:
        if room > 0.0:
            j = furthest(i, corner, room, notes[POWER_OF, i] - 1, t, values, numbers, span, logs)
        notes[POWER_OF, i] = j
    elif room > PAD * span[WIDE, i]:
        j = 1
    keep(i, j, t, edge, end, start, values, heaps, notes, lists, logs, kind, numbers, units, span, counts, table)


@lean
def tend(i, edge, values, heaps, state):
    """Into the queue with an arm in which decision and rival differ, and out with any other."""
    differs = (heaps[2 * DECISION + 1, i] < edge) != (heaps[2 * RIVAL + 1, i] < edge)
    waits = heaps[2 * QUEUE + 1, i] != NONE
    if differs and not waits:
        state[WAITING] = push(heaps, QUEUE, 0, state[WAITING], i, values, WEIGHT, -1.0)
    elif waits and not differs:
        state[WAITING] = remove(heaps, QUEUE, 0, state[WAITING], i, values, WEIGHT, -1.0)
        heaps[2 * QUEUE + 1, i] = NONE


@lean
def settle(t, edge, end, start, values, heaps, notes, lists, state, logs, kind, numbers, units, span, counts, table):
    """Make the rival of one group right."""
    drift = numbers[POWER] > 0.0
    while True:
        a, b = heaps[2 * RIVAL, start], heaps[2 * RIVAL, edge]
        if before(values, CORNER, -1.0, a, b):
            return
        old_a, old_b = drift and notes[ROUND, a] != t, drift and notes[ROUND, b] != t
        if old_a and (heaps[2 * DECISION + 1, a] >= edge or not old_b):  # one that differs goes first: it can only make room
            nearer(a, b, t, edge, end, start, values, heaps, notes, lists, logs, kind, numbers, units, span, counts, table)
        elif old_b:
            nearer(b, a, t, edge, end, start, values, heaps, notes, lists, logs, kind, numbers, units, span, counts, table)
        else:
            heaps[2 * RIVAL, start], heaps[2 * RIVAL + 1, b] = b, start
            heaps[2 * RIVAL, edge], heaps[2 * RIVAL + 1, a] = a, edge
            for i in (a, b):
                j = notes[POWER_OF, i]
                keep(i, j, t, edge, end, start, values, heaps, notes, lists, logs, kind, numbers, units, span, counts, table)
                tend(i, edge, values, heaps, state)


@lean
def extend(t, group, values, heaps, notes, lists, touched, state, logs, k, starts, kind, numbers, units, span, counts, table):
    """Further horizons for the arms whose horizon is reached; returns the number of groups that are touched."""
    top, groups = 0, 0
    while top < state[MOST] and (t >> top) & 1 == 0:
        top += 1
    for j in range(top, -1, -1):
        i = lists[HEAD, j]
        lists[HEAD, j] = NONE
        while i != NONE:
            following, g = notes[NEXT, i], group[i]
            notes[LIST, i], further = NONE, 1
            edge = starts[g] + k
            taken, above = heaps[2 * DECISION + 1, i] < edge, heaps[2 * RIVAL + 1, i] < edge
            if taken == above:
                room = abs(values[CORNER, heaps[2 * RIVAL, edge if above else starts[g]]] - values[CORNER, i])
                notes[POWER_OF, i] = further = furthest(i, values[CORNER, i], room, state[MOST], t, values, numbers, span, logs)
            keep(
                i, further, t, edge, starts[g + 1], starts[g], values, heaps, notes, lists, logs,
                kind, numbers, units, span, counts, table,
            )  # fmt: skip
            if touched[MARKED, g] == 0:
                touched[MARKED, g], touched[GROUPS, groups] = 1, g
                groups += 1
            i = following
    return groups


@lean
def reach(i, last, kind, numbers, units, span, counts, table):
    """No corner of the arm is ever further from 0, until it is sampled."""
    most = max(abs(span[LOW, i]), abs(span[HIGH, i]))
    if most == np.inf:
        low, up = worth(i, last, kind, numbers, units, span, counts, table)
        most = max(abs(low), abs(up))
    return most


@lean
def begin(group, values, heaps, notes, lists, state, logs, size, k, starts, kind, numbers, units, span, counts, table):
    """Everything anew."""
    m, t = len(group), state[TOTAL]
    logs[0] = log_term(numbers, t)
    lists[UNTIL, 0] = t
    last = log_term(numbers, LATEST)
    size[0] = 0.0
    for i in range(m):
        low, up = worth(i, logs[0], kind, numbers, units, span, counts, table)
        values[CLIPPED, i] = within(span[SIGN, i] * table[i, ESTIMATE], low, up)
        size[0] = max(size[0], reach(i, last, kind, numbers, units, span, counts, table))
    for g in range(len(starts) - 1):
        start, edge, end = starts[g], starts[g] + k, starts[g + 1]
        if edge == end:
            continue
        rank(heaps, DECISION, start, k, end, values, CLIPPED)
        for p in range(start, end):
            i = heaps[2 * DECISION, p]
            low, up = worth(i, logs[0], kind, numbers, units, span, counts, table)
            values[CORNER, i] = low if p < edge else up
        rank(heaps, RIVAL, start, k, end, values, CORNER)
        for p in range(start, end):
            i = heaps[2 * DECISION, p]
            j = notes[POWER_OF, i]
            keep(i, j, t, edge, end, start, values, heaps, notes, lists, logs, kind, numbers, units, span, counts, table)
        settle(t, edge, end, start, values, heaps, notes, lists, state, logs, kind, numbers, units, span, counts, table)
    state[WAITING] = 0
    for i in range(m):
        heaps[2 * QUEUE + 1, i] = NONE
    for i in range(m):
        if group[i] >= 0:
            tend(i, starts[group[i]] + k, values, heaps, state)


@tight
def ahead_by(i, group, values, heaps, k, starts):
    """The gap is at least this, if decision and rival differ in this arm; 0 if they do not."""
    g = group[i]
    if g < 0:
        return 0.0
    start, edge = starts[g], starts[g] + k
    taken, above = heaps[2 * DECISION + 1, i] < edge, heaps[2 * RIVAL + 1, i] < edge
    if taken == above:
        return 0.0
    if above:  # the rival has this arm instead of one that is behind all its own
        return values[CORNER, i] - values[CORNER, heaps[2 * RIVAL, edge]]
    return values[CORNER, heaps[2 * RIVAL, start]] - values[CORNER, i]


@lean
def weigh(t, group, values, heaps, lists, state, logs, k, starts, kind, numbers, units, span, counts, table):
    """DECIDED if the gap is not above 0, UNSURE if rounding cannot tell, PAUSED if it is above."""
    c = log_until(0, t, numbers, lists, logs)
    gap, size, most = 0.0, 0.0, -1.0
    for p in range(state[WAITING]):
        i = heaps[2 * QUEUE, p]
        low, up = worth(i, c, kind, numbers, units, span, counts, table)
        taken = heaps[2 * DECISION + 1, i] < starts[group[i]] + k
        gap += -low if taken else up
        size += abs(low) if taken else abs(up)
        by = ahead_by(i, group, values, heaps, k, starts)
        if by > most:
            most, state[WITNESS] = by, i
    if abs(gap) <= CLOSE * size:
        return UNSURE
    return DECIDED if gap < 0.0 else PAUSED


@lean
def rounds_of(
    by_gap, group, values, heaps, notes, lists, touched, state, logs, size, k, starts,
    kind, numbers, units, span, counts, table, variance, buffer, stock, laws, budget, rounds,
):  # fmt: skip
    t = state[TOTAL]
    drift, last = numbers[POWER] > 0.0, log_term(numbers, LATEST)
    for _ in range(rounds):
        if state[WAITING] == 0:
            return DECIDED, -1
        arm = heaps[2 * QUEUE, 0]
        if by_gap:
            least = 4.0 * CLOSE * state[WAITING] * size[0]
            if (
                ahead_by(arm, group, values, heaps, k, starts) <= least
                and ahead_by(state[WITNESS], group, values, heaps, k, starts) <= least
            ):
                what = weigh(t, group, values, heaps, lists, state, logs, k, starts, kind, numbers, units, span, counts, table)
                if what != PAUSED:
                    return what, -1
        what = sample(arm, t, budget, counts, table, variance, buffer, stock, laws)
        if what != PAUSED:
            return what, arm
        t += 1
        state[TOTAL] = t
        values[WEIGHT, arm] = span[WIDE, arm] * span[WIDE, arm] / counts[arm]
        fall(heaps, QUEUE, 0, state[WAITING], 0, values, WEIGHT, -1.0)
        size[0] = max(size[0], reach(arm, last, kind, numbers, units, span, counts, table))
        groups = 0
        if drift:
            groups = extend(
                t, group, values, heaps, notes, lists, touched, state, logs, k, starts,
                kind, numbers, units, span, counts, table,
            )  # fmt: skip
        g = group[arm]
        start, edge, end = starts[g], starts[g] + k, starts[g + 1]
        low, up = worth(arm, log_until(0, t, numbers, lists, logs), kind, numbers, units, span, counts, table)
        values[CLIPPED, arm] = within(span[SIGN, arm] * table[arm, ESTIMATE], low, up)
        if heaps[2 * DECISION + 1, arm] < edge:
            moved(heaps, DECISION, start, k, arm, values, CLIPPED, 1.0)
        else:
            moved(heaps, DECISION, edge, end - edge, arm, values, CLIPPED, -1.0)
        a, b = heaps[2 * DECISION, start], heaps[2 * DECISION, edge]
        swapped = exchange(heaps, DECISION, start, k, end, values, CLIPPED)
        j = notes[POWER_OF, arm]
        keep(arm, j, t, edge, end, start, values, heaps, notes, lists, logs, kind, numbers, units, span, counts, table)
        if swapped:
            other = a if b == arm else b
            j = notes[POWER_OF, other]
            keep(other, j, t, edge, end, start, values, heaps, notes, lists, logs, kind, numbers, units, span, counts, table)
            tend(arm, edge, values, heaps, state)
            tend(other, edge, values, heaps, state)
        settle(t, edge, end, start, values, heaps, notes, lists, state, logs, kind, numbers, units, span, counts, table)
        for p in range(groups):
            g = touched[GROUPS, p]
            touched[MARKED, g] = 0
            settle(
                t, starts[g] + k, starts[g + 1], starts[g], values, heaps, notes, lists, state, logs,
                kind, numbers, units, span, counts, table,
            )  # fmt: skip
    return PAUSED, -1


@kernel
def run(
    by_gap, group, values, heaps, notes, lists, touched, state, logs, size, ints,
    kind, numbers, units, span, counts, table, variance, buffer, stock, laws, budget, rounds,
):  # fmt: skip
    """Explore until something needs the caller; returns (what, arm)."""
    k, starts = ints[0], ints[2 : 2 + ints[1]]
    if state[BEGUN] == 0:
        begin(group, values, heaps, notes, lists, state, logs, size, k, starts, kind, numbers, units, span, counts, table)
        state[BEGUN] = 1
    return rounds_of(
        by_gap, group, values, heaps, notes, lists, touched, state, logs, size, k, starts,
        kind, numbers, units, span, counts, table, variance, buffer, stock, laws, budget, rounds,
    )  # fmt: skip
