"""Policies that compare the decision with its strongest rival, CLUCB and the unified rule: the samples of the Python loop.

For 0/1 decisions with a linear reward and a maximiser in compiled code, which ``run`` calls twice a round. COCI and uniform
sampling stop as the unified rule does where undecided arms are hard to find. Trees (rival_tree.py) have a maximiser that goes on
from the last round, and for the best k of every group rival_partition.py is faster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, lean, tight
from ..data import Array
from ..enums import Column, Stop
from ..kernels.oracles import best
from ..kernels.sequences import ends, log_term, weight_of
from .batch import batch_of, distinct, finish, plan_by, planned, room, take
from .declare import Stretch, lowered

GAP_UNSURE = 1e-9  # a gap this near 0, by the size of its terms, is left to the arithmetic of the Python loop


class Corner(NamedTuple):
    """The box, and the corner at which a decision is looked for; ``sign`` is -1 if the smallest sum is looked for."""

    sign: float
    lower: Array
    upper: Array
    weights: Array  # what is maximised there
    priority: Array  # in its one row, how little is known of every arm
    decision: Array
    rival: Array


def corner_of(sign: float, m: int) -> Corner:
    whole = np.int64
    return Corner(sign, np.empty(m), np.empty(m), np.empty(m), np.empty((1, m)), np.empty(m, whole), np.empty(m, whole))


@lean
def at_estimates(t, many, corner, batch, sequence, record):
    """The box after t samples, the last ones of the first so many arms of the batch (-1: of any), and the corner nearest to the
    estimates."""
    c, m = log_term(t, sequence), len(record.counts)
    every = many < 0 or sequence.power > 0.0
    for q in range(m if every else many):
        i = q if every else batch.arms[q]
        corner.lower[i], corner.upper[i] = ends(i, c, sequence, record)
    for i in range(m):
        if many < 0:
            corner.priority[0, i] = weight_of(i, sequence, record)
        corner.weights[i] = corner.sign * min(max(record.table[i, Column.ESTIMATE], corner.lower[i]), corner.upper[i])


@lean
def at_worst(corner):
    """The corner that is worst for the decision."""
    for i in range(len(corner.decision)):
        inwards = (corner.decision[i] > 0) == (corner.sign > 0)
        corner.weights[i] = corner.sign * (corner.lower[i] if inwards else corner.upper[i])


@tight
def contested(by_gap, corner):
    """PAUSED if the rival may be better than the decision; else why the loop returns.

    It stops when the gap is at most 0 (``by_gap``) or when the rival is the decision itself.
    """
    differ, gap, size = False, 0.0, 0.0
    for i in range(len(corner.decision)):
        if corner.rival[i] != corner.decision[i]:
            differ = True
            gap += corner.weights[i] * (corner.rival[i] - corner.decision[i])
            size += abs(corner.weights[i])
    if not differ:
        return Stop.DECIDED.value
    if by_gap:
        if abs(gap) <= GAP_UNSURE * size:
            return Stop.UNSURE.value
        if gap < 0.0:
            return Stop.DECIDED.value
    return Stop.PAUSED.value


@tight
def plan_rivals(by_gap, everywhere, size, corner, batch, sequence, record):
    """Plan the next samples, each time of the least known arm in which decision and rival differ, or of all arms; PAUSED, or why
    the loop returns."""
    what = contested(by_gap, corner)
    everything = everywhere
    if what == Stop.DECIDED and batch.spend:  # nothing is in question
        what, everything = Stop.PAUSED.value, True
    while what == Stop.PAUSED and planned(batch) < size:
        arm, heaviest = -1, -1.0
        for i in range(len(corner.decision)):
            if (everything or corner.rival[i] != corner.decision[i]) and corner.priority[0, i] > heaviest:
                arm, heaviest = i, corner.priority[0, i]
        plan_by(arm, 0, corner.priority, batch, sequence, record)
    return what


@kernel
def run(by_gap, everywhere, data, corner, batch, sequence, record, stock, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    what, arm, rounds = finish(rounds, batch, record, stock)
    if what != Stop.PAUSED:
        return what, arm
    t, many = record.counts.sum(), -1
    for _ in range(rounds):
        size = room(t, batch, limit)
        if size <= 0:
            return Stop.SPENT.value, -1
        at_estimates(t, many, corner, batch, sequence, record)
        if not best(data, corner.weights, corner.decision):
            return Stop.UNSURE.value, -1
        at_worst(corner)
        if not best(data, corner.weights, corner.rival):
            return Stop.UNSURE.value, -1
        what = plan_rivals(by_gap, everywhere, size, corner, batch, sequence, record)
        if what != Stop.PAUSED:
            return what, -1
        what, arm = take(batch, record, stock)
        if what != Stop.PAUSED:
            return what, arm
        t += planned(batch)
        many = distinct(batch)
    return Stop.PAUSED.value, -1


def prepare(explorer: Any, source: Any) -> Stretch:
    data, sequence, record, stock = lowered(explorer, source)
    corner, batch, name = corner_of(data.sign, len(record.counts)), batch_of(explorer, source), explorer.policy.name
    return Stretch(run, (name == "clucb", name == "uniform", data, corner, batch, sequence, record, stock))
