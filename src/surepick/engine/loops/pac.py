"""The policy ``pac``: what the loops of all classes share. The samples are those of the Python loop.

Three decisions stand to choose from: phi at the estimates, at the middle of the box, and at the middle of the square roots. That
with the smallest gap is the decision, and the arm that matters most between it and its strongest rival is sampled. Gaps are what
costs time. The decision of the last round is weighed first; another need not be if the rival that it had when it was last weighed
already shows a larger gap.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from ..compile import lean, tight
from ..data import Array, state_of
from ..enums import Column, State
from ..kernels.sequences import ends, log_term
from .batch import distinct, plan, plan_evenly, planned


class BoxRow(IntEnum):
    """Rows of ``box``."""

    LOW = 0
    UP = 1


LARGER = 1e-9  # a gap that is larger by this part is larger, however rounding falls


class Aim(NamedTuple):
    """When to stop: at a gap of at most epsilon, in units of the reward or, if relative, as a share of it. ``exact`` gaps are
    attained, as opposed to upper bounds."""

    epsilon: float
    relative: bool
    exact: bool


class Options(NamedTuple):
    """The decisions to choose from, a row each, kept from round to round."""

    theta: Array  # the parameters that they are best for
    decisions: Array
    rivals: Array  # the strongest ones when they were weighed last
    near: Array  # what a search for the gap may begin with
    box: Array
    corners: Array  # the best decisions at the lower and the upper ends
    undecided: Array
    stakes: Array
    costs: Array
    state: Array


def options_of(explorer: Any) -> Options:
    """The options before the first round: decisions that are about right."""
    problem, m = explorer.problem, explorer.problem.m
    corners = np.array([problem.solve_at(end) for end in explorer.box()]).astype(np.int64)
    many = 3 if (problem.low >= 0).all() else 2
    decisions = np.tile(explorer.view.decision.astype(np.int64), (many, 1))
    return Options(
        theta=np.empty((many, m)), decisions=decisions, rivals=decisions.copy(), near=np.zeros((many, 2)), box=np.empty((2, m)),
        corners=corners, undecided=np.empty(m, dtype=np.bool_), stakes=np.empty(m), costs=problem.costs,
        state=state_of(TOTAL=explorer.samples, OBSERVED=-1),
    )  # fmt: skip


def aim_of(explorer: Any, exact: bool) -> Aim:
    return Aim(float(explorer.epsilon), bool(explorer.relative), exact)


@lean
def place(i, c, options, sequence, record):
    """The interval of an arm by now, and its parameter in every option."""
    theta = options.theta
    low, up = ends(i, c, sequence, record)
    options.box[BoxRow.LOW, i], options.box[BoxRow.UP, i] = low, up
    theta[0, i] = min(max(record.table[i, Column.ESTIMATE], low), up)
    theta[1, i] = min(max((low + up) / 2.0, low), up)
    if len(theta) > 2:
        root = (math.sqrt(low) + math.sqrt(up)) / 2.0
        theta[2, i] = min(max(root * root, low), up)


@lean
def look(options, batch, sequence, record):
    """The box by now; arms at rest have the intervals they had, unless these widen."""
    c, many = log_term(options.state[State.TOTAL], sequence), options.state[State.OBSERVED]
    if many >= 0 and sequence.power == 0.0:
        for q in range(many):
            place(batch.arms[q], c, options, sequence, record)
    else:
        for i in range(len(record.counts)):
            place(i, c, options, sequence, record)


@tight
def alike(q, options):
    """The first option with the same decision."""
    decisions = options.decisions
    for p in range(q):
        same = True
        for i in range(decisions.shape[1]):
            same = same and decisions[p, i] == decisions[q, i]
        if same:
            return p
    return q


@tight
def set_stakes(options, record):
    """What the next observation of every arm promises; ``stakes`` are by how much the slopes of decision and rival differ."""
    stakes, box, counts = options.stakes, options.box, record.counts
    found = False
    for i in range(len(stakes)):
        stakes[i] = stakes[i] * (box[BoxRow.UP, i] - box[BoxRow.LOW, i])
        found = found or stakes[i] > 0.0
    if not found:  # a rival that ties with the decision, or an upper bound without one
        for i in range(len(stakes)):
            stakes[i] = box[BoxRow.UP, i] - box[BoxRow.LOW, i] if options.undecided[i] else 0.0
            found = found or stakes[i] > 0.0
    for i in range(len(stakes)):
        stakes[i] = (stakes[i] if found else 1.0) / counts[i] / options.costs[i]


@tight
def plan_next(gap, size, aim, options, batch, sequence, record):
    """Plan the next samples, of the arms that promise most; False if the decision is good enough.

    With one more observation of an arm its width falls as T^-1/2, so what the next one adds falls as T^-3/2.
    """
    stakes, ahead = options.stakes, batch.ahead
    if not options.undecided.any():
        if batch.spend:
            plan_evenly(size, batch, sequence, record)
        return batch.spend
    if 0.0 < aim.epsilon and gap <= aim.epsilon and not batch.spend:
        return False
    set_stakes(options, record)
    while planned(batch) < size:
        arm, most = -1, 0.0
        for i in range(len(stakes)):
            if stakes[i] > most:
                arm, most = i, stakes[i]
        count = record.counts[arm] + ahead[arm]
        stakes[arm] *= (count / (count + 1)) ** 1.5
        plan(arm, batch)
    return True


@tight
def take_in(options, batch):
    """What was planned has been taken."""
    options.state[State.TOTAL] += planned(batch)
    options.state[State.OBSERVED] = distinct(batch)
