"""COCI and uniform sampling for spanning trees, compiled: a round looks at few edges, the samples are the plain loop's.

What is known of an edge i rests on comparisons with some of the others. It is out if the edges on a path between its ends all
have lower bounds above its upper bound. It is in if the edges across a cut between its ends all have upper bounds below its lower
bound. It is undecided if the edges across some cut have lower bounds below its upper bound, and those on some path upper bounds
above its lower bound. The path or the cut is noted, and as long as the comparisons with its edges hold, nothing need be looked
for. A round changes one arm; only comparisons with that arm are made again.

As in partitions.py, bounds count as they are at the beginning of a stretch (inner) or at its horizon (outer), whichever is worse.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .compile import lean
from .draws import ready, take
from .heaps import arrange, fall, pop, push
from .kinds import CLOSED, DECIDED, EMPTY, HAIR, MAYBE, OPEN, PAUSED, SPENT, TEST
from .matroids import tree_undecided
from .record import observe
from .sequences import POWER, WIDE, ends, log_term

WEIGHT, INNER_LOW, INNER_UP, OUTER_LOW, OUTER_UP = 0, 1, 2, 3, 4  # rows of ``values``
MAY_BE_IN, MAY_BE_OUT, IS_OUT, IS_IN = 1, 2, 4, 8  # what a comparison of i with an edge is for
KNOWN, LIMBO, EDGE_TO, NODES = 0, 1, 2, 3  # rows of ``work``: by arm, by arm, by node, by node
TOTAL, WAITING, HORIZON, STRETCH, WITNESS, SHORTEST, LONGEST = 0, 1, 2, 3, 4, 5, 6  # entries of ``state``
NONE = -1  # the horizon before a stretch begins
LARGEST = 4096  # edges; the notes take the square of it in bytes


class Kept(NamedTuple):
    """What is kept between two calls."""

    values: np.ndarray[Any, Any]
    queue: np.ndarray[Any, Any]
    notes: np.ndarray[Any, Any]  # notes[e, i]: what the comparison of i with e is for
    links: np.ndarray[Any, Any]  # the edges at a node: first[node] .. first[node + 1]
    first: np.ndarray[Any, Any]
    work: np.ndarray[Any, Any]
    state: np.ndarray[Any, Any]
    logs: np.ndarray[Any, Any]  # the logarithm at the beginning and at the horizon


def kept(kernel: np.ndarray[Any, Any], counts: np.ndarray[Any, Any], scales: np.ndarray[Any, Any]) -> Kept:
    """What is kept before the first stretch begins."""
    m, nodes = len(counts), int(kernel[0])
    ends_of = np.concatenate((kernel[2 : 2 + m], kernel[2 + m :]))
    order = np.argsort(ends_of, kind="stable")
    first = np.searchsorted(ends_of[order], np.arange(nodes + 1))
    values, work = np.zeros((5, m)), np.zeros((4, max(m, nodes)), dtype=np.int64)
    values[WEIGHT] = scales * scales / counts
    work[KNOWN] = MAYBE
    state = np.array([counts.sum(), 0, NONE, 64 * m, 0, max(m // 4, 16), 64 * m])
    return Kept(values, np.zeros((2, m), np.int64), np.zeros((m, m), np.uint8), order % m, first, work, state, np.zeros(2))


@lean
def holds(why, i, e, values):
    """The comparison of i with e is as noted."""
    if why & MAY_BE_IN and not values[INNER_LOW, e] < values[INNER_UP, i]:
        return False
    if why & MAY_BE_OUT and not values[INNER_UP, e] > values[INNER_LOW, i]:
        return False
    if why & IS_OUT and not values[OUTER_LOW, e] > values[OUTER_UP, i]:
        return False
    return not (why & IS_IN and not values[OUTER_UP, e] < values[OUTER_LOW, i])


@lean
def passable(why, i, e, values):
    """The edges among which a path between the ends of i is looked for; across a cut between them no edge is passable."""
    if why == MAY_BE_IN:
        return values[INNER_LOW, e] >= values[INNER_UP, i]
    if why == MAY_BE_OUT:
        return values[INNER_UP, e] > values[INNER_LOW, i]
    if why == IS_OUT:
        return values[OUTER_LOW, e] > values[OUTER_UP, i]
    return values[OUTER_UP, e] >= values[OUTER_LOW, i]


@lean
def connected(why, i, u, v, values, links, first, work):
    """A path between the ends of i over passable edges, in breadth; work[EDGE_TO] has the edge to every node that was reached."""
    if u[i] == v[i]:  # a loop
        return True
    for x in range(len(first) - 1):
        work[EDGE_TO, x] = -1
    work[EDGE_TO, u[i]] = i
    work[NODES, 0] = u[i]
    done, found = 0, 1
    while done < found:
        x = work[NODES, done]
        done += 1
        for p in range(first[x], first[x + 1]):
            e = links[p]
            y = u[e] + v[e] - x
            if work[EDGE_TO, y] < 0 and e != i and passable(why, i, e, values):
                work[EDGE_TO, y] = e
                if y == v[i]:
                    return True
                work[NODES, found] = y
                found += 1
    return False


@lean
def note_path(why, i, u, v, notes, work):
    x = v[i]
    while x != u[i]:
        e = work[EDGE_TO, x]
        notes[e, i] |= why
        x = u[e] + v[e] - x


@lean
def note_cut(why, i, u, v, notes, work):
    for e in range(len(u)):
        if (work[EDGE_TO, u[e]] < 0) != (work[EDGE_TO, v[e]] < 0) and e != i:
            notes[e, i] |= why


@lean
def find_out(i, u, v, values, notes, links, first, work):
    """What is known of an edge, with a note of why."""
    for e in range(len(u)):
        notes[e, i] = 0
    spanned = connected(MAY_BE_IN, i, u, v, values, links, first, work)
    if not spanned:
        note_cut(MAY_BE_IN, i, u, v, notes, work)
    replaced = connected(MAY_BE_OUT, i, u, v, values, links, first, work)
    if replaced:
        note_path(MAY_BE_OUT, i, u, v, notes, work)
    if replaced and not spanned:
        return OPEN
    for e in range(len(u)):
        notes[e, i] = 0
    if spanned and connected(IS_OUT, i, u, v, values, links, first, work):
        note_path(IS_OUT, i, u, v, notes, work)
        return CLOSED
    if not replaced and not connected(IS_IN, i, u, v, values, links, first, work):
        note_cut(IS_IN, i, u, v, notes, work)
        return CLOSED
    return MAYBE


@lean
def bound(i, sign, values, logs, kind, numbers, units, span, counts, table):
    """Both intervals of an edge, turned round if the smallest tree is looked for."""
    for side in range(2):
        low, up = ends(i, logs[side], kind, numbers, units, span, counts, table)
        if sign < 0:
            low, up = -up, -low
        values[INNER_LOW + 2 * side, i], values[INNER_UP + 2 * side, i] = low, up


@lean
def doubt(i, everywhere, values, queue, work, state):
    """What was known of an edge no longer is; a decided one goes back into the queue."""
    if work[KNOWN, i] == CLOSED and not everywhere:
        state[WAITING] = push(queue, 0, 0, state[WAITING], i, values, WEIGHT, -1.0)
    work[KNOWN, i] = MAYBE


@lean
def begin(t, sign, everywhere, values, queue, notes, work, state, logs, kind, numbers, units, span, counts, table):
    """A new stretch: all intervals anew; what is known is kept if its comparisons still hold."""
    m = len(counts)
    if state[WAITING] == 0:  # the first
        for i in range(m):
            queue[0, i] = i
        arrange(queue, 0, 0, m, values, WEIGHT, -1.0)
        state[WAITING] = m
    if numbers[POWER] > 0.0:
        if state[HORIZON] != NONE:  # the last stretch was not too long
            state[STRETCH] = min(2 * state[STRETCH], state[LONGEST])
        state[HORIZON] = t + state[STRETCH]
        logs[0] = log_term(numbers, t) * (1.0 - HAIR)
        logs[1] = log_term(numbers, state[HORIZON]) * (1.0 + HAIR)
    else:
        state[HORIZON] = np.iinfo(np.int64).max
        logs[0] = logs[1] = log_term(numbers, t)
    for i in range(m):
        bound(i, sign, values, logs, kind, numbers, units, span, counts, table)
    for e in range(m):
        for i in range(m):
            if notes[e, i] and work[KNOWN, i] != MAYBE and not holds(notes[e, i], i, e, values):
                doubt(i, everywhere, values, queue, work, state)


@lean
def shorten(state, logs):
    """Too close to call: a shorter stretch says more. False if it is short already."""
    if logs[0] == logs[1] or state[STRETCH] <= state[SHORTEST]:
        return False
    state[STRETCH], state[HORIZON] = max(state[STRETCH] // 8, state[SHORTEST]), NONE
    return True


@lean
def witness(u, v, values, notes, links, first, work, state):
    """Some edge is undecided, whatever the bounds are in between."""
    if work[KNOWN, state[WITNESS]] == OPEN:
        return True
    for i in range(len(u)):
        if work[KNOWN, i] == MAYBE:
            work[KNOWN, i] = find_out(i, u, v, values, notes, links, first, work)
        if work[KNOWN, i] == OPEN:
            state[WITNESS] = i
            return True
    return False


@lean
def rounds_of(
    everywhere, values, queue, notes, links, first, work, state, logs, sign, u, v,
    kind, numbers, units, span, counts, table, variance, buffer, stock, laws, tested, out, budget, rounds,
):  # fmt: skip
    """Rounds until something needs the caller. ``out`` are the undecided arms of the first round, if it has been ``tested``."""
    m, t = len(counts), state[TOTAL]
    for _ in range(rounds):
        if t > state[HORIZON]:
            begin(t, sign, everywhere, values, queue, notes, work, state, logs, kind, numbers, units, span, counts, table)
        arm, resting = -1, 0
        if everywhere:
            arm = queue[0, 0]
            if not witness(u, v, values, notes, links, first, work, state):
                if shorten(state, logs):
                    continue
                if not tested:
                    return TEST, -1
                if not out.any():
                    arm = -1
        else:
            while state[WAITING] > 0:
                i = queue[0, 0]
                if work[KNOWN, i] == MAYBE:
                    work[KNOWN, i] = find_out(i, u, v, values, notes, links, first, work)
                if work[KNOWN, i] == OPEN or (work[KNOWN, i] == MAYBE and tested and out[i]):
                    arm = i
                    break
                if work[KNOWN, i] == MAYBE and not tested:
                    if shorten(state, logs):
                        break
                    return TEST, -1
                state[WAITING] = pop(queue, 0, 0, state[WAITING], values, WEIGHT, -1.0)
                if work[KNOWN, i] == MAYBE:  # decided in this round, but too close to be left alone
                    work[LIMBO, resting] = i
                    resting += 1
            for p in range(resting):
                state[WAITING] = push(queue, 0, 0, state[WAITING], work[LIMBO, p], values, WEIGHT, -1.0)
            if state[HORIZON] == NONE:
                continue
        if arm < 0:
            return DECIDED, -1
        if t >= budget:
            return SPENT, -1
        if not ready(arm, counts, buffer, stock, laws):
            return EMPTY, arm
        observe(counts, table, variance, arm, take(arm, buffer, stock))
        t += 1
        state[TOTAL], tested = t, False
        values[WEIGHT, arm] = span[WIDE, arm] * span[WIDE, arm] / counts[arm]
        fall(queue, 0, 0, state[WAITING], queue[1, arm], values, WEIGHT, -1.0)
        bound(arm, sign, values, logs, kind, numbers, units, span, counts, table)
        for i in range(m):
            if notes[arm, i] and work[KNOWN, i] != MAYBE and not holds(notes[arm, i], i, arm, values):
                doubt(i, everywhere, values, queue, work, state)
            if notes[i, arm] and work[KNOWN, arm] != MAYBE and not holds(notes[i, arm], arm, i, values):
                doubt(arm, everywhere, values, queue, work, state)
    return PAUSED, -1


@njit(cache=True)
def run(
    everywhere, values, queue, notes, links, first, work, state, logs, ints,
    kind, numbers, units, span, counts, table, variance, buffer, stock, laws, budget, rounds,
):  # fmt: skip
    """Explore until something needs the caller; returns (what, arm)."""
    m = len(counts)
    nodes, sign, u, v = ints[0], ints[1], ints[2 : 2 + m], ints[2 + m :]
    lower, upper, out, tested = np.empty(m), np.empty(m), np.empty(m, np.bool_), False
    last = state[TOTAL] + rounds
    while True:
        what, arm = rounds_of(
            everywhere, values, queue, notes, links, first, work, state, logs, sign, u, v,
            kind, numbers, units, span, counts, table, variance, buffer, stock, laws, tested, out, budget, last - state[TOTAL],
        )  # fmt: skip
        if what != TEST or state[TOTAL] >= last:
            return (PAUSED if what == TEST else what), arm
        c, tested = log_term(numbers, state[TOTAL]), True
        for i in range(m):
            low, up = ends(i, c, kind, numbers, units, span, counts, table)
            lower[i], upper[i] = (low, up) if sign > 0 else (-up, -low)
        by_lower = np.argsort(-lower, kind="mergesort")
        by_upper = np.argsort(-upper, kind="mergesort")
        tree_undecided(lower, upper, by_lower, by_upper, u, v, nodes, out)
