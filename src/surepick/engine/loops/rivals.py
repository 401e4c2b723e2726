"""Policies that compare the decision with its strongest rival, CLUCB and the unified rule: the samples of the Python loop.

For 0/1 decisions with a linear reward and a maximiser in compiled code, which ``run`` calls twice a round. COCI and uniform
sampling stop as the unified rule does where undecided arms are hard to find. Trees (rival_tree.py) have a maximiser that goes on
from the last round, and for the best k of every group rival_partition.py is faster.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, lean
from ..data import Array
from ..enums import Column, Stop
from ..kernels.draws import sample
from ..kernels.oracles import best
from ..kernels.sequences import ends, log_term, weight_of
from .declare import Stretch, lowered

CLOSE = 1e-9  # a gap this near 0, by the size of its terms, is left to the arithmetic of the Python loop


class Corner(NamedTuple):
    """The box, and the corner at which a decision is looked for; ``sign`` is -1 if the smallest sum is looked for."""

    sign: float
    lower: Array
    upper: Array
    weights: Array  # what is maximised there
    priority: Array  # how little is known of every arm
    decision: Array
    rival: Array


def corner_of(sign: float, m: int) -> Corner:
    whole = np.int64
    return Corner(sign, np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(m, whole), np.empty(m, whole))


@lean
def at_estimates(t, last, corner, sequence, record):
    """The box after t samples, the last one of arm ``last`` (-1: none), and the corner nearest to the estimates."""
    c, drift = log_term(t, sequence), sequence.power > 0.0
    for i in range(len(record.counts)):
        if drift or last < 0 or i == last:
            corner.lower[i], corner.upper[i] = ends(i, c, sequence, record)
        if last < 0 or i == last:
            corner.priority[i] = weight_of(i, sequence, record)
        corner.weights[i] = corner.sign * min(max(record.table[i, Column.ESTIMATE], corner.lower[i]), corner.upper[i])


@lean
def at_worst(corner):
    """The corner that is worst for the decision."""
    for i in range(len(corner.decision)):
        inwards = (corner.decision[i] > 0) == (corner.sign > 0)
        corner.weights[i] = corner.sign * (corner.lower[i] if inwards else corner.upper[i])


@lean
def contested(by_gap, everywhere, corner):
    """(PAUSED, the least known arm in which decision and rival differ, or of all arms), or why the loop returns.

    It stops when the gap is at most 0 (``by_gap``) or when the rival is the decision itself.
    """
    arm, heaviest, differ, gap, size = -1, -1.0, False, 0.0, 0.0
    for i in range(len(corner.decision)):
        if corner.rival[i] != corner.decision[i]:
            differ = True
            gap += corner.weights[i] * (corner.rival[i] - corner.decision[i])
            size += abs(corner.weights[i])
        elif not everywhere:
            continue
        if corner.priority[i] > heaviest:
            arm, heaviest = i, corner.priority[i]
    if not differ:
        return Stop.DECIDED, -1
    if by_gap:
        if abs(gap) <= CLOSE * size:
            return Stop.UNSURE, -1
        if gap < 0.0:
            return Stop.DECIDED, -1
    return Stop.PAUSED, arm


@kernel
def run(by_gap, everywhere, data, corner, sequence, record, stock, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    t, arm = record.counts.sum(), np.int64(-1)
    for _ in range(rounds):
        at_estimates(t, arm, corner, sequence, record)
        if not best(data, corner.weights, corner.decision):
            return Stop.UNSURE, -1
        at_worst(corner)
        if not best(data, corner.weights, corner.rival):
            return Stop.UNSURE, -1
        what, arm = contested(by_gap, everywhere, corner)
        if what == Stop.PAUSED:
            what = sample(arm, t, record, stock, limit)
        if what != Stop.PAUSED:
            return what, arm
        t += 1
    return Stop.PAUSED, -1


def prepare(explorer: Any, source: Any) -> Stretch:
    data, sequence, record, stock = lowered(explorer, source)
    corner = corner_of(data.sign, len(record.counts))
    name = explorer.policy.name
    return Stretch(run, (name == "clucb", name == "uniform", data, corner, sequence, record, stock))
