"""CLUCB and the unified rule for the best k of every group, compiled: a round costs O(log m), the samples are the plain loop's.

The decision takes the k best arms of a group by their estimates, the rival the k best by their corners; contests.py keeps both.
The arms in which the two differ wait in a queue, the least known first; its head is sampled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile import kernel, lean, tight
from ..data import Partition
from ..enums import Column, Span, State, Stop
from ..kernels.draws import sample
from ..kernels.heaps import before, exchange, fall, holds, moved, rank
from ..kernels.sequences import log_term, weight_of, within, worth
from .batch import batch_of, distinct, heaviest, plan_by, planned, room, take
from .contests import (
    CLIPPED,
    CORNER,
    DECISION,
    LATEST,
    NOWHERE,
    QUEUE,
    RIVAL,
    WEIGHT,
    Horizons,
    Note,
    contest_of,
    extend,
    keep,
    log_until,
    passed,
    reach,
    renewed,
    settle,
    tend,
)
from .declare import Loop, Stretch, lowered
from .rivals import GAP_UNSURE


@lean
def begin(data, contest, sequence, record):
    """All that is kept, unless it is there."""
    m, t = len(contest.group), contest.state[State.TOTAL]
    if contest.state[State.BEGUN]:
        return
    contest.state[State.BEGUN] = 1
    contest.logs[0] = log_term(t, sequence)
    contest.lists[Horizons.UNTIL, 0] = t
    last = log_term(LATEST, sequence)
    contest.size[0] = 0.0
    for i in range(m):
        low, up = worth(i, contest.logs[0], sequence, record)
        contest.values[CLIPPED, i] = within(sequence.span[Span.SIGN, i] * record.table[i, Column.ESTIMATE], low, up)
        contest.size[0] = max(contest.size[0], reach(i, last, sequence, record))
    for g in range(len(data.starts) - 1):
        start, edge, end = data.starts[g], data.starts[g] + data.k, data.starts[g + 1]
        if edge == end:
            continue
        rank(contest.heaps, DECISION, start, data.k, end, contest.values, CLIPPED)
        for p in range(start, end):
            i = contest.heaps[2 * DECISION, p]
            low, up = worth(i, contest.logs[0], sequence, record)
            contest.values[CORNER, i] = low if p < edge else up
        rank(contest.heaps, RIVAL, start, data.k, end, contest.values, CORNER)
        for p in range(start, end):
            i = contest.heaps[2 * DECISION, p]
            j = contest.notes[Note.POWER_OF, i]
            keep(i, j, t, edge, end, start, contest, sequence, record)
        settle(t, edge, end, start, contest, sequence, record)
    contest.state[State.WAITING] = 0
    for i in range(m):
        contest.heaps[2 * QUEUE + 1, i] = NOWHERE
    for i in range(m):
        if contest.group[i] >= 0:
            tend(i, data.starts[contest.group[i]] + data.k, contest)


@tight
def ahead_by(i, data, contest):
    """The gap is at least this, if decision and rival differ in this arm; 0 if they do not."""
    g = contest.group[i]
    if g < 0:
        return 0.0
    start, edge = data.starts[g], data.starts[g] + data.k
    taken, above = contest.heaps[2 * DECISION + 1, i] < edge, contest.heaps[2 * RIVAL + 1, i] < edge
    if taken == above:
        return 0.0
    if above:  # the rival has this arm instead of one that is behind all its own
        return contest.values[CORNER, i] - contest.values[CORNER, contest.heaps[2 * RIVAL, edge]]
    return contest.values[CORNER, contest.heaps[2 * RIVAL, start]] - contest.values[CORNER, i]


@lean
def weigh(t, data, contest, sequence, record):
    """DECIDED if the gap is not above 0, UNSURE if rounding cannot tell, PAUSED if it is above."""
    c = log_until(0, t, contest, sequence)
    gap, size, most = 0.0, 0.0, -1.0
    for p in range(contest.state[State.WAITING]):
        i = contest.heaps[2 * QUEUE, p]
        low, up = worth(i, c, sequence, record)
        taken = contest.heaps[2 * DECISION + 1, i] < data.starts[contest.group[i]] + data.k
        gap += -low if taken else up
        size += abs(low) if taken else abs(up)
        by = ahead_by(i, data, contest)
        if by > most:
            most, contest.state[State.WITNESS] = by, i
    if abs(gap) <= GAP_UNSURE * size:
        return Stop.UNSURE.value
    return Stop.DECIDED.value if gap < 0.0 else Stop.PAUSED.value


@tight
def standing(t, by_gap, data, contest, sequence, record):
    """DECIDED if the rival is no better than the decision, UNSURE if rounding cannot tell, PAUSED if it may be better."""
    if contest.state[State.WAITING] == 0:
        return Stop.DECIDED.value
    if by_gap:
        least = 4.0 * GAP_UNSURE * contest.state[State.WAITING] * contest.size[0]
        head = contest.heaps[2 * QUEUE, 0]
        if ahead_by(head, data, contest) <= least and ahead_by(contest.state[State.WITNESS], data, contest) <= least:
            return weigh(t, data, contest, sequence, record)
    return Stop.PAUSED.value


@tight
def sampled(arm, t, data, contest, sequence, record):
    """An arm has been sampled."""
    g = contest.group[arm]
    if g < 0:
        return
    start, edge, end = data.starts[g], data.starts[g] + data.k, data.starts[g + 1]
    low, up = worth(arm, log_until(0, t, contest, sequence), sequence, record)
    contest.values[CLIPPED, arm] = within(sequence.span[Span.SIGN, arm] * record.table[arm, Column.ESTIMATE], low, up)
    if contest.heaps[2 * DECISION + 1, arm] < edge:
        moved(contest.heaps, DECISION, start, data.k, arm, contest.values, CLIPPED, 1.0)
    else:
        moved(contest.heaps, DECISION, edge, end - edge, arm, contest.values, CLIPPED, -1.0)
    a, b = contest.heaps[2 * DECISION, start], contest.heaps[2 * DECISION, edge]
    swapped = exchange(contest.heaps, DECISION, start, data.k, end, contest.values, CLIPPED)
    keep(arm, contest.notes[Note.POWER_OF, arm], t, edge, end, start, contest, sequence, record)
    if swapped:
        other = a if b == arm else b
        keep(other, contest.notes[Note.POWER_OF, other], t, edge, end, start, contest, sequence, record)
        tend(arm, edge, contest)
        tend(other, edge, contest)
    if not before(contest.values, CORNER, -1.0, contest.heaps[2 * RIVAL, start], contest.heaps[2 * RIVAL, edge]):
        settle(t, edge, end, start, contest, sequence, record)


@lean
def one_by_one(by_gap, data, contest, batch, sequence, record, stock, limit, rounds):
    """As ``in_batches`` for one sample between two looks, without a plan: here nanoseconds count."""
    t = contest.state[State.TOTAL]
    drift, last = sequence.power > 0.0, log_term(LATEST, sequence)
    for _ in range(rounds):
        what = standing(t, by_gap, data, contest, sequence, record)
        if what == Stop.UNSURE:
            return what, np.int64(-1)
        queued, arm = what == Stop.PAUSED, np.int64(-1)
        if queued:
            arm = contest.heaps[2 * QUEUE, 0]
        elif batch.spend:  # nothing is in question
            arm = heaviest(WEIGHT, contest.values)
            queued = holds(contest.heaps, QUEUE, 0, contest.state[State.WAITING], arm)
        what = sample(arm, t, record, stock, limit)
        if what != Stop.PAUSED:
            return what, arm
        contest.values[WEIGHT, arm] = weight_of(arm, sequence, record)
        if queued:
            fall(
                contest.heaps,
                QUEUE,
                0,
                contest.state[State.WAITING],
                contest.heaps[2 * QUEUE + 1, arm],
                contest.values,
                WEIGHT,
                -1.0,
            )
        contest.size[0] = max(contest.size[0], reach(arm, last, sequence, record))
        groups = extend(t, t + 1, data, contest, sequence, record) if drift and passed(t, t + 1, contest) else 0
        t += 1
        contest.state[State.TOTAL] = t
        sampled(arm, t, data, contest, sequence, record)
        renewed(groups, t, data, contest, sequence, record)
    return Stop.PAUSED.value, np.int64(-1)


@lean
def in_batches(by_gap, data, contest, batch, sequence, record, stock, limit, rounds):
    """Rounds until something needs the caller."""
    t = contest.state[State.TOTAL]
    drift, last = sequence.power > 0.0, log_term(LATEST, sequence)
    for _ in range(rounds):
        size = room(t, batch, limit)
        if size <= 0:
            return Stop.SPENT.value, np.int64(-1)
        if planned(batch) == 0:
            what = standing(t, by_gap, data, contest, sequence, record)
            if what == Stop.UNSURE or (what == Stop.DECIDED and not batch.spend):
                return what, np.int64(-1)
            while planned(batch) < size and what != Stop.DECIDED:
                plan_by(contest.heaps[2 * QUEUE, 0], WEIGHT, contest.values, batch, sequence, record)
                fall(contest.heaps, QUEUE, 0, contest.state[State.WAITING], 0, contest.values, WEIGHT, -1.0)
            while planned(batch) < size:  # nothing is in question
                arm = heaviest(WEIGHT, contest.values)
                plan_by(arm, WEIGHT, contest.values, batch, sequence, record)
                if holds(contest.heaps, QUEUE, 0, contest.state[State.WAITING], arm):
                    moved(contest.heaps, QUEUE, 0, contest.state[State.WAITING], arm, contest.values, WEIGHT, -1.0)
        what, arm = take(batch, record, stock)
        if what != Stop.PAUSED:
            return what, arm
        since, groups = t, 0
        t += planned(batch)
        contest.state[State.TOTAL] = t
        many = distinct(batch)
        for q in range(many):
            contest.size[0] = max(contest.size[0], reach(batch.arms[q], last, sequence, record))
        if drift:
            groups = extend(since, t, data, contest, sequence, record)
        for q in range(many):
            sampled(batch.arms[q], t, data, contest, sequence, record)
        renewed(groups, t, data, contest, sequence, record)
    return Stop.PAUSED.value, np.int64(-1)


@kernel
def run(by_gap, data, contest, batch, sequence, record, stock, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    begin(data, contest, sequence, record)
    return one_by_one(by_gap, data, contest, batch, sequence, record, stock, limit, rounds)


@kernel
def run_in_batches(by_gap, data, contest, batch, sequence, record, stock, limit, rounds):
    """As ``run``, with several samples between two looks."""
    begin(data, contest, sequence, record)
    return in_batches(by_gap, data, contest, batch, sequence, record, stock, limit, rounds)


def prepare(explorer: Any, source: Any) -> Stretch:
    data, sequence, record, stock = lowered(explorer, source)
    contest, batch = contest_of(data, record.counts, explorer.problem.priority), batch_of(explorer, source)
    return Stretch(
        run if source.batch == 1 else run_in_batches,
        (explorer.policy.name == "clucb", data, contest, batch, sequence, record, stock),
    )


LOOP = Loop(("clucb", "unified"), Partition, prepare, batches=True)
