"""Joint stopping for spanning trees, compiled: the same samples as the Python loop. Exchanges are laid anew with the tree."""

from __future__ import annotations

from typing import Any

from ..compile import apart, tight
from ..data import Tree
from ..enums import State
from ..kernels.order import ahead
from ..kernels.tournament import ORDER
from ..kernels.trees import best, exchanges
from .declare import Loop, Stretch
from .joint_rounds import seated, stretch_of
from .joint_scores import rescore
from .joint_table import LOWER, UPPER


@apart
def lay(data, table):
    """Seats for a tree's edges."""
    m, first, pair, links = len(table.seats), table.first, table.pair, table.links
    count = exchanges(data, table.decision, pair[UPPER], pair[LOWER])
    first[:] = 0
    table.rows[:] = 0
    for e in range(count):
        table.scores[ORDER, e] = e
        first[pair[UPPER, e] + 1] += 1
        first[pair[LOWER, e] + 1] += 1
    for i in range(m):
        table.seats[i] = i
        first[i + 1] += first[i]
    for e in range(count):
        for side in range(2):
            i = pair[side, e]
            links[first[i]] = e
            first[i] += 1
    for i in range(m, 0, -1):  # back to where every list begins
        first[i] = first[i - 1]
    first[0] = 0
    table.state[State.COUNT] = count


@tight
def overtaken(i, table):
    """Some exchange of an edge improves the tree, after the weight of i has changed."""
    weights = table.weights
    for q in range(table.first[i], table.first[i + 1]):
        a, b = table.pair[UPPER, table.links[q]], table.pair[LOWER, table.links[q]]
        if table.decision[a] == 0:
            a, b = b, a
        if ahead(weights[b], b, weights[a], a):
            return True
    return False


@tight
def seat(data, game):
    """See joint_rounds.py."""
    table = game.table
    anew = table.state[State.OBSERVED] < 0
    for q in range(table.state[State.OBSERVED]):
        anew = anew or overtaken(game.batch.arms[q], table)
    if anew:
        best(data, table.weights, table.decision)
        lay(data, table)
    rescore(anew, table.state[State.FRESH], game)
    return True, anew, table.state[State.FRESH]


def prepare(explorer: Any, source: Any) -> Stretch:
    return stretch_of(explorer, source, explorer.policy.pairs, True)


LOOP = Loop(("joint",), seated(Tree, seat), prepare, batches=True, finite=True, parameters=("box_share",))
