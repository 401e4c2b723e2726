"""COCI and uniform sampling for the best k of every group, compiled: a round costs O(log m), the samples are the plain loop's.

An arm is undecided iff its upper bound is not behind b, the k-th largest lower bound of its group, and its lower bound is not
ahead of a, the (k+1)-th largest upper bound. A round changes one arm; the bounds of the others are known for a stretch of rounds
(see stretches.py). Heaps keep the ranks of the outer ones up to date; a and b are no further from these than the most by which
any bound of the group widens. An arm that is undecided, or decided, whatever the bounds are in between, needs no further look:

- undecided arms wait in a queue, the least known first; its head is sampled;
- decided arms are parked in heaps by their bounds, and looked at again when a or b comes near.

Only if the heads of the queue are too close to call, all arms are tested at the very round.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, lean, tight
from ..data import Array, Partition, state_of
from ..enums import State, Status, Stop
from ..kernels.draws import sample
from ..kernels.heaps import arrange, fall, holds, moved, pop, push, rank, ranked, remove
from ..kernels.partitions import groups_of, undecided
from ..kernels.sequences import log_term, weight_of, worth
from .batch import batch_of, distinct, heaviest, plan_by, planned, room, take
from .declare import Loop, Stretch, lowered
from .stretches import ENDED, renew, shorten

WEIGHT, INNER_LOW, INNER_UP, OUTER_LOW, OUTER_UP = 0, 1, 2, 3, 4  # rows of ``values``
# Heaps: the ranks of OUTER_UP and of OUTER_LOW; arms that wait for their turn; arms parked because they are in, the smallest
# lower bound first; arms parked because they are out, the largest upper bound first.
UP, DOWN, QUEUE, PARKED_IN, PARKED_OUT = 0, 1, 2, 3, 4


class Edge(IntEnum):
    """Rows of ``edge``: what a and b are at most and at least."""

    MOST_UP = 0
    LEAST_UP = 1
    LEAST_LOW = 2
    MOST_LOW = 3
    WIDENS = 4


EDGE_ERROR = 1e-14


class Ranks(NamedTuple):
    """Bounds and ranks, kept from round to round."""

    group: Array  # of every arm; -1 if all of its group are taken
    values: Array
    heaps: Array
    edge: Array  # for every group
    parked: Array  # how many arms of each group are in PARKED_IN and in PARKED_OUT
    state: Array  # see stretches.py
    logs: Array  # the logarithm at the beginning and at the horizon


def ranks_of(data: Partition, counts: Array, priority: Array) -> Ranks:
    """The ranks before the first stretch begins."""
    m, groups = len(counts), len(data.starts) - 1
    values, heaps = np.zeros((5, m)), np.zeros((10, m), dtype=np.int64)
    values[WEIGHT] = priority / counts
    heaps[[2 * UP, 2 * DOWN]] = data.members
    longest = max(2 * m, 256)
    state = state_of(TOTAL=counts.sum(), HORIZON=ENDED, LENGTH=longest, SHORTEST=max(m // 8, 16), LONGEST=longest)
    edge, parked = np.zeros((5, groups)), np.zeros((2, groups), dtype=np.int64)
    return Ranks(groups_of(data), values, heaps, edge, parked, state, np.zeros(2))


@tight
def bound(i, g, ranks, sequence, record):
    """Both intervals of an arm of group g."""
    low, up = worth(i, ranks.logs[1], sequence, record)
    ranks.values[OUTER_LOW, i], ranks.values[OUTER_UP, i] = low, up
    if ranks.logs[0] != ranks.logs[1]:
        inner_low, inner_up = worth(i, ranks.logs[0], sequence, record)
        if g >= 0:
            ranks.edge[Edge.WIDENS, g] = max(ranks.edge[Edge.WIDENS, g], inner_low - low, up - inner_up)
        low, up = inner_low, inner_up
    ranks.values[INNER_LOW, i], ranks.values[INNER_UP, i] = low, up


@tight
def set_edges(g, most_up, least_low, ranks):
    """What a and b are at most and at least."""
    ranks.edge[Edge.MOST_UP, g], ranks.edge[Edge.LEAST_LOW, g] = most_up, least_low
    slack = ranks.edge[Edge.WIDENS, g]
    if slack > 0.0:
        ranks.edge[Edge.LEAST_UP, g] = most_up - slack - EDGE_ERROR * (abs(most_up) + slack)
        ranks.edge[Edge.MOST_LOW, g] = least_low + slack + EDGE_ERROR * (abs(least_low) + slack)
    else:
        ranks.edge[Edge.LEAST_UP, g], ranks.edge[Edge.MOST_LOW, g] = most_up, least_low


@tight
def status(i, ranks):
    g = ranks.group[i]
    if (
        g < 0
        or ranks.values[OUTER_LOW, i] > ranks.edge[Edge.MOST_UP, g]
        or ranks.values[OUTER_UP, i] < ranks.edge[Edge.LEAST_LOW, g]
    ):
        return Status.CLOSED
    if ranks.values[INNER_LOW, i] < ranks.edge[Edge.LEAST_UP, g] and ranks.values[INNER_UP, i] > ranks.edge[Edge.MOST_LOW, g]:
        return Status.OPEN
    return Status.MAYBE


@lean
def park(i, data, ranks):
    g = ranks.group[i]
    if g < 0:
        return
    if ranks.values[OUTER_LOW, i] > ranks.edge[Edge.MOST_UP, g]:
        ranks.parked[0, g] = push(ranks.heaps, PARKED_IN, data.starts[g], ranks.parked[0, g], i, ranks.values, OUTER_LOW, 1.0)
    else:
        ranks.parked[1, g] = push(ranks.heaps, PARKED_OUT, data.starts[g], ranks.parked[1, g], i, ranks.values, OUTER_UP, -1.0)


@lean
def begin(t, everywhere, data, ranks, sequence, record):
    """A new stretch: all intervals, ranks and heaps anew."""
    m = len(ranks.group)
    renew(t, ranks.state, ranks.logs, sequence)
    ranks.edge[Edge.WIDENS] = 0.0
    for i in range(m):
        bound(i, ranks.group[i], ranks, sequence, record)
    for g in range(len(data.starts) - 1):
        first, end = data.starts[g], data.starts[g + 1]
        if end - first > data.k:
            up = rank(ranks.heaps, UP, first, data.k + 1, end, ranks.values, OUTER_UP)
            set_edges(g, up, rank(ranks.heaps, DOWN, first, data.k, end, ranks.values, OUTER_LOW), ranks)
    ranks.parked[:] = 0
    waiting = 0
    for i in range(m):
        if everywhere or status(i, ranks) != Status.CLOSED:
            ranks.heaps[2 * QUEUE, waiting] = i
            waiting += 1
        else:
            park(i, data, ranks)
    arrange(ranks.heaps, QUEUE, 0, waiting, ranks.values, WEIGHT, -1.0)
    ranks.state[State.WAITING] = waiting


@lean
def unpark(g, waiting, first, ranks):
    """Arms that may have become undecided go back into the queue; returns its size."""
    while ranks.parked[0, g] > 0 and ranks.values[OUTER_LOW, ranks.heaps[2 * PARKED_IN, first]] <= ranks.edge[Edge.MOST_UP, g]:
        i = ranks.heaps[2 * PARKED_IN, first]
        ranks.parked[0, g] = pop(ranks.heaps, PARKED_IN, first, ranks.parked[0, g], ranks.values, OUTER_LOW, 1.0)
        waiting = push(ranks.heaps, QUEUE, 0, waiting, i, ranks.values, WEIGHT, -1.0)
    while ranks.parked[1, g] > 0 and ranks.values[OUTER_UP, ranks.heaps[2 * PARKED_OUT, first]] >= ranks.edge[Edge.LEAST_LOW, g]:
        i = ranks.heaps[2 * PARKED_OUT, first]
        ranks.parked[1, g] = pop(ranks.heaps, PARKED_OUT, first, ranks.parked[1, g], ranks.values, OUTER_UP, -1.0)
        waiting = push(ranks.heaps, QUEUE, 0, waiting, i, ranks.values, WEIGHT, -1.0)
    return waiting


@lean
def witness(ranks):
    """Some arm is undecided, whatever the bounds are in between."""
    if status(ranks.state[State.WITNESS], ranks) == Status.OPEN:
        return True
    for i in range(len(ranks.group)):
        if status(i, ranks) == Status.OPEN:
            ranks.state[State.WITNESS] = i
            return True
    return False


@lean
def bring(i, data, ranks):
    """Into the queue with an arm, from wherever it is, or to its place there after its weight has changed."""
    g = ranks.group[i]
    if holds(ranks.heaps, QUEUE, 0, ranks.state[State.WAITING], i):
        moved(ranks.heaps, QUEUE, 0, ranks.state[State.WAITING], i, ranks.values, WEIGHT, -1.0)
        return
    if g >= 0 and holds(ranks.heaps, PARKED_IN, data.starts[g], ranks.parked[0, g], i):
        ranks.parked[0, g] = remove(ranks.heaps, PARKED_IN, data.starts[g], ranks.parked[0, g], i, ranks.values, OUTER_LOW, 1.0)
    elif g >= 0:
        ranks.parked[1, g] = remove(ranks.heaps, PARKED_OUT, data.starts[g], ranks.parked[1, g], i, ranks.values, OUTER_UP, -1.0)
    ranks.state[State.WAITING] = push(ranks.heaps, QUEUE, 0, ranks.state[State.WAITING], i, ranks.values, WEIGHT, -1.0)


@tight
def renewed(arm, everywhere, data, ranks, sequence, record):
    """An arm has been sampled."""
    g = ranks.group[arm]
    bound(arm, g, ranks, sequence, record)
    if g >= 0:
        up = ranked(ranks.heaps, UP, data.starts[g], data.k + 1, data.starts[g + 1], ranks.values, OUTER_UP, arm)
        low = ranked(ranks.heaps, DOWN, data.starts[g], data.k, data.starts[g + 1], ranks.values, OUTER_LOW, arm)
        set_edges(g, up, low, ranks)
        if not everywhere:
            ranks.state[State.WAITING] = unpark(g, ranks.state[State.WAITING], data.starts[g], ranks)


@tight
def next_arm(everywhere, tested, out, limbo, data, ranks, batch):
    """(PAUSED, the next arm to be sampled, -1 if there is none), or (TEST, -1) if all arms must be tested at this very round; the
    stretch has ended if that might be spared."""
    arm, resting = np.int64(-1), 0
    if everywhere:
        if planned(batch) == 0 and not batch.spend and not witness(ranks):
            if shorten(ranks.state, ranks.logs):
                return Stop.PAUSED.value, arm
            if not tested:
                return Stop.TEST.value, arm
            if not out.any():
                return Stop.PAUSED.value, arm
        return Stop.PAUSED.value, ranks.heaps[2 * QUEUE, 0]
    while ranks.state[State.WAITING] > 0:
        i = ranks.heaps[2 * QUEUE, 0]
        found = status(i, ranks)
        if found == Status.OPEN or (found == Status.MAYBE and tested and out[i]):
            arm = i
            break
        if found == Status.MAYBE and not tested:
            if shorten(ranks.state, ranks.logs):
                break
            return Stop.TEST.value, arm
        ranks.state[State.WAITING] = pop(ranks.heaps, QUEUE, 0, ranks.state[State.WAITING], ranks.values, WEIGHT, -1.0)
        if found == Status.CLOSED:
            park(i, data, ranks)
        else:  # decided in this round, but too close to be parked
            limbo[resting] = i
            resting += 1
    for p in range(resting):
        ranks.state[State.WAITING] = push(ranks.heaps, QUEUE, 0, ranks.state[State.WAITING], limbo[p], ranks.values, WEIGHT, -1.0)
    return Stop.PAUSED.value, arm


@lean
def one_by_one(everywhere, tested, out, limbo, data, ranks, batch, sequence, record, stock, limit, rounds):
    """As ``rounds_of`` for one sample between two looks, without a plan: here nanoseconds count."""
    t = ranks.state[State.TOTAL]
    for _ in range(rounds):
        if t > ranks.state[State.HORIZON]:
            begin(t, everywhere, data, ranks, sequence, record)
        what, arm = next_arm(everywhere, tested, out, limbo, data, ranks, batch)
        if what == Stop.TEST:
            return what, arm
        if ranks.state[State.HORIZON] == ENDED:
            continue
        queued = arm >= 0
        if not queued and batch.spend:  # nothing is in question
            arm = heaviest(WEIGHT, ranks.values)
        what = sample(arm, t, record, stock, limit)
        if what != Stop.PAUSED:
            return what, arm
        t += 1
        ranks.state[State.TOTAL], tested = t, False
        ranks.values[WEIGHT, arm] = weight_of(arm, sequence, record)
        if queued:
            fall(
                ranks.heaps,
                QUEUE,
                0,
                ranks.state[State.WAITING],
                ranks.heaps[2 * QUEUE + 1, arm],
                ranks.values,
                WEIGHT,
                -1.0,
            )
        else:
            bring(arm, data, ranks)
        renewed(arm, everywhere, data, ranks, sequence, record)
    return Stop.PAUSED.value, -1


@lean
def rounds_of(everywhere, tested, out, limbo, data, ranks, batch, sequence, record, stock, limit, rounds):
    """Rounds until something needs the caller. ``out`` are the undecided arms of the first round, if it has been ``tested``."""
    t = ranks.state[State.TOTAL]
    for _ in range(rounds):
        if t > ranks.state[State.HORIZON]:
            begin(t, everywhere, data, ranks, sequence, record)
        size = room(t, batch, limit)
        if size <= 0:
            return Stop.SPENT.value, -1
        while planned(batch) < size:
            what, arm = next_arm(everywhere, tested, out, limbo, data, ranks, batch)
            if what == Stop.TEST:
                return what, arm
            if ranks.state[State.HORIZON] == ENDED:
                break
            if arm >= 0:
                plan_by(arm, WEIGHT, ranks.values, batch, sequence, record)
                fall(
                    ranks.heaps,
                    QUEUE,
                    0,
                    ranks.state[State.WAITING],
                    ranks.heaps[2 * QUEUE + 1, arm],
                    ranks.values,
                    WEIGHT,
                    -1.0,
                )
                continue
            if not batch.spend:
                return Stop.DECIDED.value, arm
            while planned(batch) < size:  # nothing is in question
                arm = heaviest(WEIGHT, ranks.values)
                plan_by(arm, WEIGHT, ranks.values, batch, sequence, record)
                bring(arm, data, ranks)
        if ranks.state[State.HORIZON] == ENDED:
            continue
        what, arm = take(batch, record, stock)
        if what != Stop.PAUSED:
            return what, arm
        t += planned(batch)
        ranks.state[State.TOTAL], tested = t, False
        for q in range(distinct(batch)):
            renewed(batch.arms[q], everywhere, data, ranks, sequence, record)
    return Stop.PAUSED.value, -1


@kernel
def run(everywhere, data, ranks, batch, sequence, record, stock, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    m = len(record.counts)
    out, limbo = np.empty(m, np.bool_), np.empty(m, np.int64)
    lower, upper = np.empty(m), np.empty(m)
    tested, last = False, ranks.state[State.TOTAL] + rounds * batch.size
    while True:
        left = (last - ranks.state[State.TOTAL]) // batch.size
        if batch.size == 1:
            what, arm = one_by_one(everywhere, tested, out, limbo, data, ranks, batch, sequence, record, stock, limit, left)
        else:
            what, arm = rounds_of(everywhere, tested, out, limbo, data, ranks, batch, sequence, record, stock, limit, left)
        if what != Stop.TEST:
            return what, arm
        c, tested = log_term(ranks.state[State.TOTAL], sequence), True
        for i in range(m):
            lower[i], upper[i] = worth(i, c, sequence, record)
        undecided(data, lower, upper, out)


def prepare(explorer: Any, source: Any) -> Stretch:
    data, sequence, record, stock = lowered(explorer, source)
    ranks, batch = ranks_of(data, record.counts, explorer.problem.priority), batch_of(explorer, source)
    return Stretch(run, (explorer.policy.name == "uniform", data, ranks, batch, sequence, record, stock))


LOOP = Loop(("coci", "uniform"), Partition, prepare, batches=True)
