"""The decision and its rival for the best k of every group, kept while intervals widen: what rival_partition.py rests on.

The decision takes the k best arms of a group by their estimates. The rival takes the k best by their corners: the lower bounds of
the arms in the decision, the upper bounds of the others. Each is kept by two heaps: of the arms that it takes the worst first, of
the others the best first. Estimates change for the sampled arm only. Corners all change, as intervals widen while arms rest, but
in a known direction. So an arm that the rival takes is kept by a value that its corner is not behind, any other by a value that
its corner is not ahead of. The rival is right as long as the worst of the former is ahead of the best of the latter.

- If decision and rival differ in an arm, its corner moves away from that border, and its value of some earlier round will do.
- If not, its corner moves towards it, and it is kept by the value at a horizon, the last round before a multiple of a power of
  two. When that has passed, it gets a further one.
- When the two heads meet they get nearer horizons, at last their values of this very round. If these say so, they change places.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ..compile import lean, tight
from ..data import Array, Partition, state_of
from ..enums import Form, Span, State
from ..kernels.heaps import before, moved, push, remove
from ..kernels.partitions import groups_of
from ..kernels.sequences import log_term, worth
from .stretches import LOG_OFF

WEIGHT, CLIPPED, CORNER = 0, 1, 2  # rows of ``values``; the estimate lies within the interval, also if the interval is elsewhere
DECISION, RIVAL, QUEUE = 0, 1, 2  # heaps


class Note(IntEnum):
    """Rows of ``notes``: the power of two of an arm's horizon; the list of arms with this horizon that it is in, and its
    neighbours there; the round whose corner it is kept by."""

    POWER_OF = 0
    LIST = 1
    NEXT = 2
    LAST = 3
    ROUND = 4


class Horizons(IntEnum):
    """Rows of ``lists``, by power of two: the first arm of the list; the horizon that ``logs`` is for."""

    HEAD = 0
    UNTIL = 1


class Touched(IntEnum):
    """Rows of ``touched``: groups to be looked at; whether a group is among them."""

    GROUPS = 0
    MARKED = 1


NOWHERE = -1  # in no list, no queue, of no round
PAD = 1e-10  # bounds found by bisection widen with time up to an error far below this
LATEST = 2**62


class Contest(NamedTuple):
    """The decision and its rival, kept from round to round."""

    group: Array  # of every arm; -1 if all of its group are taken
    values: Array
    heaps: Array
    notes: Array
    lists: Array
    touched: Array
    state: Array
    logs: Array  # the logarithm at the horizons
    size: Array  # no corner is further from 0 than this


def contest_of(data: Partition, counts: Array, priority: Array) -> Contest:
    """The contest before the first round."""
    m, groups = len(counts), len(data.starts) - 1
    most = (16 * m + 256).bit_length()
    values, heaps = np.zeros((3, m)), np.full((6, m), NOWHERE)
    values[WEIGHT] = priority / counts
    heaps[[2 * DECISION, 2 * RIVAL]] = data.members
    notes, lists = np.full((5, m), NOWHERE), np.full((2, most + 1), NOWHERE)
    notes[Note.POWER_OF] = most // 2
    state = state_of(TOTAL=counts.sum(), MOST=most)
    touched = np.zeros((2, groups), dtype=np.int64)
    return Contest(groups_of(data), values, heaps, notes, lists, touched, state, np.zeros(most + 1), np.zeros(1))


@tight
def log_until(j, t, contest, sequence):
    """The logarithm at the horizon, the last round before a multiple of 2^j; in this very round if j is 0."""
    last = t | ((1 << j) - 1)
    if contest.lists[Horizons.UNTIL, j] != last:
        contest.lists[Horizons.UNTIL, j] = last
        contest.logs[j] = log_term(last, sequence) if j == 0 else log_term(last, sequence) * (1.0 + LOG_OFF)
    return contest.logs[j]


@tight
def enlist(i, j, contest):
    """Move an arm to the list of this power of two, or to none."""
    old, after, ahead = contest.notes[Note.LIST, i], contest.notes[Note.NEXT, i], contest.notes[Note.LAST, i]
    if old == j:
        return
    if old != NOWHERE:
        if ahead == NOWHERE:
            contest.lists[Horizons.HEAD, old] = after
        else:
            contest.notes[Note.NEXT, ahead] = after
        if after != NOWHERE:
            contest.notes[Note.LAST, after] = ahead
    contest.notes[Note.LIST, i] = j
    if j != NOWHERE:
        head = contest.lists[Horizons.HEAD, j]
        contest.notes[Note.NEXT, i], contest.notes[Note.LAST, i], contest.lists[Horizons.HEAD, j] = head, NOWHERE, i
        if head != NOWHERE:
            contest.notes[Note.LAST, head] = i


@tight
def keep(i, j, t, edge, end, start, contest, sequence, record):
    """Keep an arm by its corner at the horizon of j, or by the one of this round if that will do or j is 0."""
    taken, above = contest.heaps[2 * DECISION + 1, i] < edge, contest.heaps[2 * RIVAL + 1, i] < edge
    if sequence.power > 0.0:
        if taken == above:
            horizon, where = j, j
        else:
            horizon, where = 0, 0 if sequence.form == Form.DIVERGENCE and j == 0 else NOWHERE
        low, up = worth(i, log_until(horizon, t, contest, sequence), sequence, record)
        corner = low if taken else up
        if sequence.form == Form.DIVERGENCE and j > 0:
            corner += -PAD * sequence.span[Span.WIDE, i] if above else PAD * sequence.span[Span.WIDE, i]
            horizon = j
        contest.notes[Note.ROUND, i] = t if horizon == 0 else NOWHERE
        enlist(i, where, contest)
    else:
        low, up = worth(i, contest.logs[0], sequence, record)
        corner = low if taken else up
    contest.values[CORNER, i] = corner
    if above:
        moved(contest.heaps, RIVAL, start, edge - start, i, contest.values, CORNER, 1.0)
    else:
        moved(contest.heaps, RIVAL, edge, end - edge, i, contest.values, CORNER, -1.0)


@lean
def furthest(i, corner, leeway, most, t, contest, sequence):
    """The power of two of the furthest horizon until which the corner will move half the leeway at most; a guess."""
    theta = sequence.span[Span.SIGN, i] * corner
    if theta == sequence.span[Span.LOW, i] or theta == sequence.span[Span.HIGH, i]:
        return most
    # radii are about as the root of the logarithm
    move = abs(corner - contest.values[CLIPPED, i]) * sequence.power / (t * contest.logs[0])
    j = 0
    while j < most and 2.0 * move <= leeway:
        j += 1
        move *= 2.0
    return j


@lean
def nearer(i, other, t, edge, end, start, contest, sequence, record):
    """Keep an arm by a nearer value, one that is on the right side of the other arm's if possible."""
    taken, above = contest.heaps[2 * DECISION + 1, i] < edge, contest.heaps[2 * RIVAL + 1, i] < edge
    low, up = worth(i, log_until(0, t, contest, sequence), sequence, record)
    corner = low if taken else up
    distance = corner - contest.values[CORNER, other] if above else contest.values[CORNER, other] - corner
    j = 0
    if taken == above:
        if distance > 0.0:
            j = furthest(i, corner, distance, contest.notes[Note.POWER_OF, i] - 1, t, contest, sequence)
        contest.notes[Note.POWER_OF, i] = j
    elif distance > PAD * sequence.span[Span.WIDE, i]:
        j = 1
    keep(i, j, t, edge, end, start, contest, sequence, record)


@lean
def tend(i, edge, contest):
    """Into the queue with an arm in which decision and rival differ, and out with any other."""
    differs = (contest.heaps[2 * DECISION + 1, i] < edge) != (contest.heaps[2 * RIVAL + 1, i] < edge)
    waits = contest.heaps[2 * QUEUE + 1, i] != NOWHERE
    if differs and not waits:
        contest.state[State.WAITING] = push(
            contest.heaps, QUEUE, 0, contest.state[State.WAITING], i, contest.values, WEIGHT, -1.0
        )
    elif waits and not differs:
        contest.state[State.WAITING] = remove(
            contest.heaps, QUEUE, 0, contest.state[State.WAITING], i, contest.values, WEIGHT, -1.0
        )
        contest.heaps[2 * QUEUE + 1, i] = NOWHERE


@lean
def settle(t, edge, end, start, contest, sequence, record):
    """Make the rival of one group right."""
    drift = sequence.power > 0.0
    while True:
        a, b = contest.heaps[2 * RIVAL, start], contest.heaps[2 * RIVAL, edge]
        if before(contest.values, CORNER, -1.0, a, b):
            return
        old_a, old_b = drift and contest.notes[Note.ROUND, a] != t, drift and contest.notes[Note.ROUND, b] != t
        # one that differs goes first: it can only make room
        if old_a and (contest.heaps[2 * DECISION + 1, a] >= edge or not old_b):
            nearer(a, b, t, edge, end, start, contest, sequence, record)
        elif old_b:
            nearer(b, a, t, edge, end, start, contest, sequence, record)
        else:
            contest.heaps[2 * RIVAL, start], contest.heaps[2 * RIVAL + 1, b] = b, start
            contest.heaps[2 * RIVAL, edge], contest.heaps[2 * RIVAL + 1, a] = a, edge
            for i in (a, b):
                j = contest.notes[Note.POWER_OF, i]
                keep(i, j, t, edge, end, start, contest, sequence, record)
                tend(i, edge, contest)


@lean
def extend(since, t, data, contest, sequence, record):
    """Further horizons for the arms whose horizon was reached since; returns the number of groups that are touched."""
    top, groups = 0, 0
    while top < contest.state[State.MOST] and since >> (top + 1) != t >> (top + 1):
        top += 1
    for j in range(top, -1, -1):
        i = contest.lists[Horizons.HEAD, j]
        contest.lists[Horizons.HEAD, j] = NOWHERE
        while i != NOWHERE:
            following, g = contest.notes[Note.NEXT, i], contest.group[i]
            contest.notes[Note.LIST, i], further = NOWHERE, 1
            edge = data.starts[g] + data.k
            taken, above = contest.heaps[2 * DECISION + 1, i] < edge, contest.heaps[2 * RIVAL + 1, i] < edge
            if taken == above:
                corner, border = contest.values[CORNER, i], contest.heaps[2 * RIVAL, edge if above else data.starts[g]]
                distance = abs(contest.values[CORNER, border] - corner)
                further = furthest(i, corner, distance, contest.state[State.MOST], t, contest, sequence)
                contest.notes[Note.POWER_OF, i] = further
            keep(i, further, t, edge, data.starts[g + 1], data.starts[g], contest, sequence, record)
            if contest.touched[Touched.MARKED, g] == 0:
                contest.touched[Touched.MARKED, g], contest.touched[Touched.GROUPS, groups] = 1, g
                groups += 1
            i = following
    return groups


@tight
def passed(since, t, contest):
    """Some arm's horizon was reached since: mostly there is none, and a call copies what it is given."""
    j = 0
    while contest.lists[Horizons.HEAD, j] == NOWHERE:
        if j == contest.state[State.MOST] or since >> (j + 1) == t >> (j + 1):
            return False
        j += 1
    return True


@tight
def renewed(groups, t, data, contest, sequence, record):
    """Make the rivals of touched groups right."""
    for p in range(groups):
        g = contest.touched[Touched.GROUPS, p]
        contest.touched[Touched.MARKED, g] = 0
        settle(t, data.starts[g] + data.k, data.starts[g + 1], data.starts[g], contest, sequence, record)


@tight
def reach(i, last, sequence, record):
    """No corner of the arm is ever further from 0, until it is sampled."""
    most = max(abs(sequence.span[Span.LOW, i]), abs(sequence.span[Span.HIGH, i]))
    if most == np.inf:
        low, up = worth(i, last, sequence, record)
        most = max(abs(low), abs(up))
    return most
