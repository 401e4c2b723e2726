"""COCI and uniform sampling for spanning trees, compiled: a round looks at few edges, the samples are the plain loop's.

What is known of an edge is noted with its proof (kernels/tree_proofs.py), and found out anew only when a bound that the proof
rests on has moved too far. Bounds count as they are at the beginning of a stretch (inner) or at its horizon (outer), whichever is
worse.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile import kernel, lean, tight
from ..data import Tree, state_of
from ..enums import State, Status, Stop
from ..kernels.draws import sample
from ..kernels.heaps import arrange, fall, holds, moved, pop, push
from ..kernels.sequences import log_term, weight_of, worth
from ..kernels.tree_proofs import INNER_LOW, INNER_UP, NOW_LOW, NOW_UP, WEIGHT, Work, check, find_out, proofs_of, undecided
from .batch import batch_of, distinct, heaviest, plan_by, planned, room, take
from .declare import Loop, Stretch, lowered
from .stretches import ENDED, renew, shorten

MOST_EDGES = 4096  # edges; the notes take twice the square of it in bytes


@tight
def bound(i, proofs, sequence, record):
    """Both intervals of an edge."""
    for side in range(2):
        low, up = worth(i, proofs.logs[side], sequence, record)
        proofs.values[INNER_LOW + 2 * side, i], proofs.values[INNER_UP + 2 * side, i] = low, up


@lean
def bound_now(t, proofs, sequence, record):
    """The intervals of all edges at this very round."""
    c = log_term(t, sequence)
    for i in range(len(record.counts)):
        proofs.values[NOW_LOW, i], proofs.values[NOW_UP, i] = worth(i, c, sequence, record)


@lean
def begin(t, everywhere, proofs, sequence, record):
    """A new stretch: all intervals anew; what is known is kept if its comparisons still hold."""
    m = len(record.counts)
    if proofs.state[State.WAITING] == 0:  # the first
        for i in range(m):
            proofs.queue[0, i] = i
        arrange(proofs.queue, 0, 0, m, proofs.values, WEIGHT, -1.0)
        proofs.state[State.WAITING] = m
    renew(t, proofs.state, proofs.logs, sequence)
    for i in range(m):
        bound(i, proofs, sequence, record)
        proofs.work[Work.AGAIN, i] = 0
    for i in range(m):
        check(i, everywhere, proofs)


@lean
def witness(t, data, proofs):
    """Some edge is undecided, whatever the bounds are in between."""
    if proofs.work[Work.KNOWN, proofs.state[State.WITNESS]] == Status.OPEN:
        return True
    for i in range(len(data.u)):
        if proofs.work[Work.KNOWN, i] == Status.MAYBE:
            find_out(i, t, data, proofs)
        if proofs.work[Work.KNOWN, i] == Status.OPEN:
            proofs.state[State.WITNESS] = i
            return True
    return False


@tight
def next_edge(t, everywhere, now, data, proofs, batch, sequence, record):
    """The next edge to be sampled, -1 if there is none or if the stretch has ended; and whether the intervals of this very round
    are known by ``now``."""
    arm, resting = np.int64(-1), 0
    if everywhere:
        if planned(batch) > 0 or batch.spend or witness(t, data, proofs):
            return proofs.queue[0, 0], now
        if shorten(proofs.state, proofs.logs):
            return arm, now
        bound_now(t, proofs, sequence, record)
        for i in range(len(record.counts)):
            if proofs.work[Work.KNOWN, i] == Status.MAYBE and undecided(i, data, proofs):
                return proofs.queue[0, 0], True
        return arm, True
    while proofs.state[State.WAITING] > 0:
        i = proofs.queue[0, 0]
        if proofs.work[Work.KNOWN, i] == Status.MAYBE:
            find_out(i, t, data, proofs)
        if proofs.work[Work.KNOWN, i] == Status.MAYBE and not now:
            if shorten(proofs.state, proofs.logs):
                break
            bound_now(t, proofs, sequence, record)
            now = True
        if proofs.work[Work.KNOWN, i] == Status.OPEN or (
            proofs.work[Work.KNOWN, i] == Status.MAYBE and undecided(i, data, proofs)
        ):
            arm = i
            break
        proofs.state[State.WAITING] = pop(proofs.queue, 0, 0, proofs.state[State.WAITING], proofs.values, WEIGHT, -1.0)
        if proofs.work[Work.KNOWN, i] == Status.MAYBE:  # decided in this round, but too close to be left alone
            proofs.work[Work.LIMBO, resting] = i
            resting += 1
    for p in range(resting):
        proofs.state[State.WAITING] = push(
            proofs.queue, 0, 0, proofs.state[State.WAITING], proofs.work[Work.LIMBO, p], proofs.values, WEIGHT, -1.0
        )
    return arm, now


@lean
def one_by_one(everywhere, data, proofs, batch, sequence, record, stock, limit, rounds):
    """As ``run_in_batches`` for one sample between two looks, without a plan: here nanoseconds count."""
    t = proofs.state[State.TOTAL]
    for _ in range(rounds):
        if t > proofs.state[State.HORIZON]:
            begin(t, everywhere, proofs, sequence, record)
        arm, _ = next_edge(t, everywhere, False, data, proofs, batch, sequence, record)
        if proofs.state[State.HORIZON] == ENDED:
            continue
        queued = arm >= 0
        if not queued and batch.spend:  # nothing is in question
            arm = heaviest(WEIGHT, proofs.values)
            queued = holds(proofs.queue, 0, 0, proofs.state[State.WAITING], arm)
        what = sample(arm, t, record, stock, limit)
        if what != Stop.PAUSED:
            return what, arm
        t += 1
        proofs.state[State.TOTAL] = t
        proofs.values[WEIGHT, arm] = weight_of(arm, sequence, record)
        if queued:
            fall(proofs.queue, 0, 0, proofs.state[State.WAITING], proofs.queue[1, arm], proofs.values, WEIGHT, -1.0)
        bound(arm, proofs, sequence, record)
        check(arm, everywhere, proofs)
    return Stop.PAUSED.value, np.int64(-1)


@kernel
def run(everywhere, data, proofs, batch, sequence, record, stock, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    return one_by_one(everywhere, data, proofs, batch, sequence, record, stock, limit, rounds)


@kernel
def run_in_batches(everywhere, data, proofs, batch, sequence, record, stock, limit, rounds):
    """As ``run``, with several samples between two looks."""
    t = proofs.state[State.TOTAL]
    for _ in range(rounds):
        if t > proofs.state[State.HORIZON]:
            begin(t, everywhere, proofs, sequence, record)
        size, now = room(t, batch, limit), False
        if size <= 0:
            return Stop.SPENT.value, np.int64(-1)
        while planned(batch) < size:
            arm, now = next_edge(t, everywhere, now, data, proofs, batch, sequence, record)
            if proofs.state[State.HORIZON] == ENDED:
                break
            if arm >= 0:
                plan_by(arm, WEIGHT, proofs.values, batch, sequence, record)
                fall(proofs.queue, 0, 0, proofs.state[State.WAITING], proofs.queue[1, arm], proofs.values, WEIGHT, -1.0)
                continue
            if not batch.spend:
                return Stop.DECIDED.value, arm
            while planned(batch) < size:  # nothing is in question
                arm = heaviest(WEIGHT, proofs.values)
                plan_by(arm, WEIGHT, proofs.values, batch, sequence, record)
                if holds(proofs.queue, 0, 0, proofs.state[State.WAITING], arm):
                    moved(proofs.queue, 0, 0, proofs.state[State.WAITING], arm, proofs.values, WEIGHT, -1.0)
        if proofs.state[State.HORIZON] == ENDED:
            continue
        what, arm = take(batch, record, stock)
        if what != Stop.PAUSED:
            return what, arm
        t += planned(batch)
        proofs.state[State.TOTAL] = t
        for q in range(distinct(batch)):
            bound(batch.arms[q], proofs, sequence, record)
            check(batch.arms[q], everywhere, proofs)
    return Stop.PAUSED.value, np.int64(-1)


def fits(explorer: Any) -> bool:
    return bool(explorer.problem.m <= MOST_EDGES)


def prepare(explorer: Any, source: Any) -> Stretch:
    data, sequence, record, stock = lowered(explorer, source)
    m = len(record.counts)
    state = state_of(TOTAL=record.counts.sum(), HORIZON=ENDED, LENGTH=64 * m, SHORTEST=max(m // 4, 16), LONGEST=64 * m)
    proofs, batch = proofs_of(data, record.counts, explorer.problem.priority, state), batch_of(explorer, source)
    return Stretch(
        run if source.batch == 1 else run_in_batches,
        (explorer.policy.name == "uniform", data, proofs, batch, sequence, record, stock),
    )


LOOP = Loop(("coci", "uniform"), Tree, prepare, fits, batches=True)
