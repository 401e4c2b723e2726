"""Joint stopping for sample allocations, compiled: the same samples as the Python loop.

The exchanges are a table with a row and a column for every stratum, some of which are none at present.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile import kernel, lean, tight
from ..data import Allocation
from ..enums import Stop, Verdict
from ..kernels.allocation import improve
from ..kernels.draws import sample
from ..kernels.tournament import ORDER
from .batch import planned, room, take
from .declare import Loop, Stretch
from .joint import (
    COUNT,
    FRESH,
    LOWER,
    OBSERVED,
    TOTAL,
    UPPER,
    begin,
    choose,
    foresee,
    game_of,
    joined,
    lacking,
    observed,
    rescore,
    sampling,
    take_in,
)
from .joint_tree import look


@lean
def lay(table):
    """Seats for an allocation's arms, each with its row and its column."""
    m, first, links = len(table.seats), table.first, table.links
    for i in range(m):
        table.seats[i], first[i], table.rows[i] = i, i * (2 * m - 1), m
        for j in range(m):
            links[first[i] + j] = i * m + j
            if j != i:
                links[first[i] + m + j - (j > i)] = j * m + i
            table.pair[UPPER, i * m + j], table.pair[LOWER, i * m + j] = i, j
            table.scores[ORDER, i * m + j] = i * m + j
    first[m] = m * (2 * m - 1)
    table.state[COUNT] = m * m


@lean
def refit(i, data, table):
    """The slopes of an arm whose units have changed, and which of its exchanges there are."""
    decision, sizes = table.decision, data.sizes
    m, units = len(decision), decision[i]
    for j in range(m):
        for side in range(2):
            a, b = (i, j) if side == UPPER else (j, i)
            e = a * m + b
            there = a != b and decision[a] > data.least[a] and decision[b] < data.most[b]
            table.verdicts[e] = Verdict.UNKNOWN if there else Verdict.ABSENT
            if side == UPPER and units > 1:
                table.slopes[UPPER, e] = sizes[i] * sizes[i] / (units * (units - 1.0))
            elif side == LOWER:
                table.slopes[LOWER, e] = sizes[i] * sizes[i] / (units * (units + 1.0))


@tight
def seat(data, before, game):
    """The allocation after observations, and the exchanges that have changed with it and with them; False if rounding cannot tell
    which it is."""
    table = game.table
    anew, many = table.state[OBSERVED] < 0, table.state[FRESH]
    if not improve(data, table.weights, table.decision):
        return False
    if anew:
        lay(table)
    for i in range(len(before)):
        if anew or table.decision[i] != before[i]:
            refit(i, data, table)
            before[i] = table.decision[i]
            many = joined(i, many, table)
    rescore(anew, many, game)
    return True


@kernel
def run(data, before, game, limit, rounds):
    """Explore until something needs the caller; returns (what, arm). ``before`` is room for the units of the last round."""
    state = game.table.state
    begin(game)
    for _ in range(rounds):
        if not seat(data, before, game):
            return Stop.UNSURE.value, -1
        e, certified = look(game)
        if game.batch.spend and lacking(e, game):
            return Stop.UNSURE.value, -1
        arm = choose(e, certified and not game.batch.spend, game)
        what = sample(arm, state[TOTAL], game.record, game.stock, limit)
        if what != Stop.PAUSED:
            return what, arm
        observed(arm, game)
    return Stop.PAUSED.value, -1


@kernel
def run_in_batches(data, before, game, limit, rounds):
    """As ``run``, with several samples between two looks."""
    batch, state = game.batch, game.table.state
    begin(game)
    for _ in range(rounds):
        if planned(batch) == 0:
            if not seat(data, before, game):
                return Stop.UNSURE.value, -1
            size = room(state[TOTAL], batch, limit)
            if size <= 0:
                return Stop.SPENT.value, -1
            while planned(batch) < size:
                e, certified = look(game)
                if lacking(e, game):
                    return Stop.UNSURE.value, -1
                arm = choose(e, certified and planned(batch) == 0 and not batch.spend, game)
                if arm < 0:
                    return Stop.DECIDED.value, -1
                sampling(arm, game)
                if planned(batch) < size:
                    foresee(game)
        what, arm = take(batch, game.record, game.stock)
        if what != Stop.PAUSED:
            return what, arm
        take_in(game)
    return Stop.PAUSED.value, -1


def prepare(explorer: Any, source: Any) -> Stretch:
    data, m = explorer.problem.lower(), explorer.problem.m
    game = game_of(explorer, source, m * m, False)
    return Stretch(run if source.batch == 1 else run_in_batches, (data, np.empty(m, dtype=np.int64), game))


LOOP = Loop(("joint",), Allocation, prepare, batches=True, parameters=("box_share",))
