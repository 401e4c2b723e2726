"""Samples between two looks: which arms they are of is settled first, then they are taken.

With one sample between two looks a plan has one arm. A plan outlasts a call: if an arm's stock is empty in the middle of it, the
next call goes on where it was left. What is left is a round like any other, since a look may be due when the batch is complete.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from ..compile import lean, tight
from ..data import Array
from ..enums import Stop
from ..kernels.draws import draw
from ..kernels.sequences import weight_at


class PlanState(IntEnum):
    """Entries of ``state``: samples that are planned, and how many of them have been taken."""

    PLANNED = 0
    TAKEN = 1


class Batch(NamedTuple):
    """A plan of samples; ``spend``: also when nothing is in question any more."""

    size: int
    spend: bool
    arms: Array  # in the order in which they were planned
    ahead: Array  # planned samples of every arm
    state: Array


def batch_of(explorer: Any, source: Any) -> Batch:
    """The plan before the first look. The source can see it, to carry it out where an arm ends in the middle."""
    m, whole = explorer.problem.m, np.int64
    source.plan = np.empty(source.batch, whole), np.zeros(2, whole)
    arms, state = source.plan
    return Batch(source.batch, explorer.spend, arms, np.zeros(m, whole), state)


@tight
def plan(arm, batch):
    """One sample of an arm more."""
    batch.arms[batch.state[PlanState.PLANNED]] = arm
    batch.state[PlanState.PLANNED] += 1
    batch.ahead[arm] += 1


@tight
def planned(batch):
    """How many samples the plan has."""
    return batch.state[PlanState.PLANNED]


@tight
def room(t, batch, limit):
    """How many samples a plan after t samples may have."""
    return min(batch.size, limit - t)


@tight
def plan_by(arm, row, weights, batch, sequence, record):
    """Plan a sample of an arm, and set down in a row of ``weights`` how little will be known of it then."""
    plan(arm, batch)
    weights[row, arm] = weight_at(arm, record.counts[arm] + batch.ahead[arm], sequence)


@tight
def heaviest(row, weights):
    """The arm that is known least; of equals the first."""
    arm = 0
    for i in range(1, weights.shape[1]):
        if weights[row, i] > weights[row, arm]:
            arm = i
    return arm


@lean
def plan_evenly(size, batch, sequence, record):
    """Plan samples of all arms, the least known first: nothing is in question."""
    while planned(batch) < size:
        arm, most = 0, -1.0
        for i in range(len(record.counts)):
            weight = weight_at(i, record.counts[i] + batch.ahead[i], sequence)
            if weight > most:
                arm, most = i, weight
        plan(arm, batch)


@tight
def take(batch, record, stock):
    """Take what is planned: (PAUSED, -1) if that is done, else why it is not, and of which arm."""
    state = batch.state
    while state[PlanState.TAKEN] < state[PlanState.PLANNED]:
        arm = batch.arms[state[PlanState.TAKEN]]
        what = draw(arm, record, stock)
        if what != Stop.PAUSED:
            return what, arm
        state[PlanState.TAKEN] += 1
    return Stop.PAUSED.value, np.int64(-1)


@tight
def finish(rounds, batch, record, stock):
    """Take what is left of the last plan, which is the first of so many rounds: ``take``, and how many rounds are left."""
    if planned(batch) == 0:
        return Stop.PAUSED.value, np.int64(-1), rounds
    what, arm = take(batch, record, stock)
    if what == Stop.PAUSED:
        distinct(batch)
    return what, arm, rounds - 1


@tight
def distinct(batch):
    """The plan has been carried out: its arms come first in ``arms`` from now on, each once; returns how many there are."""
    many = 0
    for q in range(batch.state[PlanState.PLANNED]):
        arm = batch.arms[q]
        if batch.ahead[arm] > 0:
            batch.ahead[arm] = 0
            batch.arms[many] = arm
            many += 1
    batch.state[PlanState.PLANNED] = batch.state[PlanState.TAKEN] = 0
    return many
