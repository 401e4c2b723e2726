"""COCI and uniform sampling for the best k of every group, compiled: a round costs O(log m), the samples are the plain loop's.

An arm is undecided iff its upper bound is not behind b, the k-th largest lower bound of its group, and its lower bound is not
ahead of a, the (k+1)-th largest upper bound. A round changes one arm; the intervals of the others widen, all by the same known
factor. So for a stretch of rounds, up to a horizon, every bound has two values: at the beginning, when the interval is
narrowest (inner), and at the horizon, when it is widest (outer). Heaps keep the ranks of the outer ones up to date; a and b are
no further from these than the most by which any bound of the group widens. An arm that is undecided, or decided, whatever the
bounds are in between, needs no further look:

- undecided arms wait in a queue, the least known first; its head is sampled;
- decided arms are parked in heaps by their bounds, and looked at again when a or b comes near.

Only if the heads of the queue are too close to call, all arms are tested at the very round.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .compile import kernel, lean, tight
from .draws import sample
from .heaps import arrange, fall, pop, push, rank, ranked
from .kinds import CLOSED, HAIR, MAYBE, OPEN, PAUSED, TEST
from .matroids import partition_undecided
from .sequences import POWER, SIGN, WIDE, ends, log_term

WEIGHT, INNER_LOW, INNER_UP, OUTER_LOW, OUTER_UP = 0, 1, 2, 3, 4  # rows of ``values``
# Heaps: the ranks of OUTER_UP and of OUTER_LOW; arms that wait for their turn; arms parked because they are in, the smallest
# lower bound first; arms parked because they are out, the largest upper bound first.
UP, DOWN, QUEUE, TAKEN, LEFT = 0, 1, 2, 3, 4
MOST_UP, LEAST_UP, LEAST_LOW, MOST_LOW, SLACK = 0, 1, 2, 3, 4  # rows of ``edge``: what a and b are at most and at least
TOTAL, WAITING, HORIZON, STRETCH, WITNESS = 0, 1, 2, 3, 4  # entries of ``state``
ROUNDING = 1e-14
NONE = -1  # the horizon before a stretch begins


class Kept(NamedTuple):
    """What is kept between two calls."""

    group: np.ndarray[Any, Any]  # of every arm; -1 if all of its group are taken
    values: np.ndarray[Any, Any]
    heaps: np.ndarray[Any, Any]
    edge: np.ndarray[Any, Any]  # for every group
    parked: np.ndarray[Any, Any]  # how many arms of each group are in TAKEN and in LEFT
    state: np.ndarray[Any, Any]
    logs: np.ndarray[Any, Any]  # the logarithm at the beginning and at the horizon


def groups_of(kernel: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The group of every arm; -1 if all of its group are taken."""
    k, starts, members = int(kernel[0]), kernel[2 : 2 + kernel[1]], kernel[2 + kernel[1] :]
    group = np.full(len(members), -1)
    for g in range(len(starts) - 1):
        if starts[g + 1] - starts[g] > k:
            group[members[starts[g] : starts[g + 1]]] = g
    return group


def kept(kernel: np.ndarray[Any, Any], counts: np.ndarray[Any, Any], scales: np.ndarray[Any, Any]) -> Kept:
    """What is kept before the first stretch begins."""
    m, groups = len(counts), int(kernel[1]) - 1
    values, heaps = np.zeros((5, m)), np.zeros((10, m), dtype=np.int64)
    values[WEIGHT] = scales * scales / counts
    heaps[[2 * UP, 2 * DOWN]] = kernel[3 + groups :]
    state = np.array([counts.sum(), 0, NONE, max(2 * m, 256), 0])
    edge, parked = np.zeros((5, groups)), np.zeros((2, groups), dtype=np.int64)
    return Kept(groups_of(kernel), values, heaps, edge, parked, state, np.zeros(2))


@tight
def worth(i, c, kind, numbers, units, span, counts, table):
    """The bounds of an arm's parameter, or of its opposite if the smallest are looked for: the largest are best from here on."""
    low, up = ends(i, c, kind, numbers, units, span, counts, table)
    if span[SIGN, i] > 0.0:
        return low, up
    return -up, -low


@tight
def bound(i, g, values, edge, logs, kind, numbers, units, span, counts, table):
    """Both intervals of an arm of group g."""
    low, up = worth(i, logs[1], kind, numbers, units, span, counts, table)
    values[OUTER_LOW, i], values[OUTER_UP, i] = low, up
    if logs[0] != logs[1]:
        inner_low, inner_up = worth(i, logs[0], kind, numbers, units, span, counts, table)
        if g >= 0:
            edge[SLACK, g] = max(edge[SLACK, g], inner_low - low, up - inner_up)
        low, up = inner_low, inner_up
    values[INNER_LOW, i], values[INNER_UP, i] = low, up


@tight
def set_edges(g, most_up, least_low, edge):
    """What a and b are at most and at least."""
    edge[MOST_UP, g], edge[LEAST_LOW, g] = most_up, least_low
    slack = edge[SLACK, g]
    if slack > 0.0:
        edge[LEAST_UP, g] = most_up - slack - ROUNDING * (abs(most_up) + slack)
        edge[MOST_LOW, g] = least_low + slack + ROUNDING * (abs(least_low) + slack)
    else:
        edge[LEAST_UP, g], edge[MOST_LOW, g] = most_up, least_low


@tight
def status(i, group, values, edge):
    g = group[i]
    if g < 0 or values[OUTER_LOW, i] > edge[MOST_UP, g] or values[OUTER_UP, i] < edge[LEAST_LOW, g]:
        return CLOSED
    if values[INNER_LOW, i] < edge[LEAST_UP, g] and values[INNER_UP, i] > edge[MOST_LOW, g]:
        return OPEN
    return MAYBE


@lean
def park(i, group, values, heaps, edge, parked, starts):
    g = group[i]
    if g < 0:
        return
    if values[OUTER_LOW, i] > edge[MOST_UP, g]:
        parked[0, g] = push(heaps, TAKEN, starts[g], parked[0, g], i, values, OUTER_LOW, 1.0)
    else:
        parked[1, g] = push(heaps, LEFT, starts[g], parked[1, g], i, values, OUTER_UP, -1.0)


@lean
def begin(t, everywhere, group, values, heaps, edge, parked, state, logs, k, starts, kind, numbers, units, span, counts, table):
    """A new stretch: all intervals, ranks and heaps anew."""
    m = len(group)
    if numbers[POWER] > 0.0:
        if state[HORIZON] != NONE:  # the last stretch was not too long
            state[STRETCH] = min(2 * state[STRETCH], max(2 * m, 256))
        state[HORIZON] = t + state[STRETCH]
        logs[0] = log_term(numbers, t) * (1.0 - HAIR)
        logs[1] = log_term(numbers, state[HORIZON]) * (1.0 + HAIR)
    else:
        state[HORIZON] = np.iinfo(np.int64).max
        logs[0] = logs[1] = log_term(numbers, t)
    edge[SLACK] = 0.0
    for i in range(m):
        bound(i, group[i], values, edge, logs, kind, numbers, units, span, counts, table)
    for g in range(len(starts) - 1):
        first, end = starts[g], starts[g + 1]
        if end - first > k:
            up = rank(heaps, UP, first, k + 1, end, values, OUTER_UP)
            set_edges(g, up, rank(heaps, DOWN, first, k, end, values, OUTER_LOW), edge)
    parked[:] = 0
    waiting = 0
    for i in range(m):
        if everywhere or status(i, group, values, edge) != CLOSED:
            heaps[2 * QUEUE, waiting] = i
            waiting += 1
        else:
            park(i, group, values, heaps, edge, parked, starts)
    arrange(heaps, QUEUE, 0, waiting, values, WEIGHT, -1.0)
    state[WAITING] = waiting


@lean
def unpark(g, values, heaps, edge, parked, waiting, first):
    """Arms that may have become undecided go back into the queue; returns its size."""
    while parked[0, g] > 0 and values[OUTER_LOW, heaps[2 * TAKEN, first]] <= edge[MOST_UP, g]:
        i = heaps[2 * TAKEN, first]
        parked[0, g] = pop(heaps, TAKEN, first, parked[0, g], values, OUTER_LOW, 1.0)
        waiting = push(heaps, QUEUE, 0, waiting, i, values, WEIGHT, -1.0)
    while parked[1, g] > 0 and values[OUTER_UP, heaps[2 * LEFT, first]] >= edge[LEAST_LOW, g]:
        i = heaps[2 * LEFT, first]
        parked[1, g] = pop(heaps, LEFT, first, parked[1, g], values, OUTER_UP, -1.0)
        waiting = push(heaps, QUEUE, 0, waiting, i, values, WEIGHT, -1.0)
    return waiting


@lean
def shorten(state, logs, m):
    """Too close to call: a shorter stretch says more. False if it is short already."""
    shortest = max(m // 8, 16)
    if logs[0] == logs[1] or state[STRETCH] <= shortest:
        return False
    state[STRETCH], state[HORIZON] = max(state[STRETCH] // 8, shortest), NONE
    return True


@lean
def witness(group, values, edge, state):
    """Some arm is undecided, whatever the bounds are in between."""
    if status(state[WITNESS], group, values, edge) == OPEN:
        return True
    for i in range(len(group)):
        if status(i, group, values, edge) == OPEN:
            state[WITNESS] = i
            return True
    return False


@lean
def rounds_of(
    everywhere, group, values, heaps, edge, parked, state, logs, k, starts,
    kind, numbers, units, span, counts, table, variance, buffer, stock, laws, tested, out, limbo, budget, rounds,
):  # fmt: skip
    """Rounds until something needs the caller. ``out`` are the undecided arms of the first round, if it has been ``tested``."""
    m, t = len(counts), state[TOTAL]
    for _ in range(rounds):
        if t > state[HORIZON]:
            begin(
                t, everywhere, group, values, heaps, edge, parked, state, logs, k, starts,
                kind, numbers, units, span, counts, table,
            )  # fmt: skip
        arm, resting = -1, 0
        if everywhere:
            arm = heaps[2 * QUEUE, 0]
            if not witness(group, values, edge, state):
                if shorten(state, logs, m):
                    continue
                if not tested:
                    return TEST, -1
                if not out.any():
                    arm = -1
        else:
            while state[WAITING] > 0:
                i = heaps[2 * QUEUE, 0]
                found = status(i, group, values, edge)
                if found == OPEN or (found == MAYBE and tested and out[i]):
                    arm = i
                    break
                if found == MAYBE and not tested:
                    if shorten(state, logs, m):
                        break
                    return TEST, -1
                state[WAITING] = pop(heaps, QUEUE, 0, state[WAITING], values, WEIGHT, -1.0)
                if found == CLOSED:
                    park(i, group, values, heaps, edge, parked, starts)
                else:  # decided in this round, but too close to be parked
                    limbo[resting] = i
                    resting += 1
            if state[HORIZON] == NONE:
                continue
            for p in range(resting):
                state[WAITING] = push(heaps, QUEUE, 0, state[WAITING], limbo[p], values, WEIGHT, -1.0)
        what = sample(arm, t, budget, counts, table, variance, buffer, stock, laws)
        if what != PAUSED:
            return what, arm
        t += 1
        state[TOTAL], tested = t, False
        values[WEIGHT, arm] = span[WIDE, arm] * span[WIDE, arm] / counts[arm]
        fall(heaps, QUEUE, 0, state[WAITING], heaps[2 * QUEUE + 1, arm], values, WEIGHT, -1.0)
        g = group[arm]
        bound(arm, g, values, edge, logs, kind, numbers, units, span, counts, table)
        if g >= 0:
            up = ranked(heaps, UP, starts[g], k + 1, starts[g + 1], values, OUTER_UP, arm)
            set_edges(g, up, ranked(heaps, DOWN, starts[g], k, starts[g + 1], values, OUTER_LOW, arm), edge)
            if not everywhere:
                state[WAITING] = unpark(g, values, heaps, edge, parked, state[WAITING], starts[g])
    return PAUSED, -1


@kernel
def run(
    everywhere, group, values, heaps, edge, parked, state, logs, ints,
    kind, numbers, units, span, counts, table, variance, buffer, stock, laws, budget, rounds,
):  # fmt: skip
    """Explore until something needs the caller; returns (what, arm)."""
    m = len(counts)
    k, groups = ints[0], ints[1] - 1
    starts, members = ints[2 : 3 + groups], ints[3 + groups :]
    out, limbo = np.empty(m, np.bool_), np.empty(m, np.int64)
    lower, upper = np.empty(m), np.empty(m)
    what, arm, tested = TEST, -1, False
    last = state[TOTAL] + rounds
    while True:
        what, arm = rounds_of(
            everywhere, group, values, heaps, edge, parked, state, logs, k, starts,
            kind, numbers, units, span, counts, table, variance, buffer, stock, laws, tested, out, limbo, budget,
            last - state[TOTAL],
        )  # fmt: skip
        if what != TEST or state[TOTAL] >= last:
            return (PAUSED if what == TEST else what), arm
        c, tested = log_term(numbers, state[TOTAL]), True
        for i in range(m):
            lower[i], upper[i] = worth(i, c, kind, numbers, units, span, counts, table)
        partition_undecided(lower, upper, members, starts, k, out)
