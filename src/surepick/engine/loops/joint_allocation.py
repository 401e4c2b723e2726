"""Joint stopping for sample allocations, compiled: the same samples as the Python loop.

The exchanges are a table with a row and a column for every stratum, some of which are none at present.
"""

from __future__ import annotations

from typing import Any

from ..compile import lean, tight
from ..data import Allocation
from ..enums import Family, State, Verdict
from ..kernels.allocation import improve
from ..kernels.glr import Fact
from ..kernels.tournament import ORDER
from .declare import Loop, Stretch
from .joint import joined
from .joint_rounds import seated, stretch_of
from .joint_scores import line_up, rescore
from .joint_table import LOWER, UPPER


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
    table.state[State.COUNT], table.state[State.SQUARE] = m * m, 1
    for i in range(m):
        line_up(i, table)
        family = int(table.known[i, Fact.FAMILY])
        if family != Family.UNIT and family != Family.COINS and not table.state[State.GROWTH]:
            table.state[State.SQUARE] = 0


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
def seat(data, game):
    """See joint_rounds.py."""
    table, before = game.table, game.table.before
    anew, many = table.state[State.OBSERVED] < 0, table.state[State.FRESH]
    if not improve(data, table.weights, table.decision):
        return False, anew, many
    if anew:
        lay(table)
    for i in range(len(before)):
        if anew or table.decision[i] != before[i]:
            refit(i, data, table)
            before[i] = table.decision[i]
            many = joined(i, many, table)
    rescore(anew, many, game)
    return True, anew, many


def prepare(explorer: Any, source: Any) -> Stretch:
    return stretch_of(explorer, source, explorer.problem.m**2, False)


LOOP = Loop(("joint",), seated(Allocation, seat), prepare, batches=True, parameters=("box_share",))
