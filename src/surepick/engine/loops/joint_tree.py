"""Joint stopping for spanning trees, compiled: the same samples as the Python loop. Exchanges are laid anew with the tree."""

from __future__ import annotations

from typing import Any

from ..compile import apart, kernel, tight
from ..data import Tree
from ..enums import State, Stop
from ..kernels.draws import sample
from ..kernels.order import ahead
from ..kernels.tournament import ORDER
from ..kernels.trees import best, exchanges
from .declare import Loop, Stretch
from .joint import begin, choose, lacking, observed
from .joint_rounds import run_in_batches, seated
from .joint_scores import rescore
from .joint_table import LOWER, UPPER, game_of
from .joint_verdicts import look


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


@kernel
def run(data, game, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    state = game.table.state
    begin(game)
    for _ in range(rounds):
        seat(data, game)
        e, certified = look(game)
        if game.batch.spend and lacking(e, game):
            return Stop.UNSURE.value, -1
        arm = choose(e, certified, game)
        what = sample(arm, state[State.TOTAL], game.record, game.stock, limit)
        if what != Stop.PAUSED:
            return what, arm
        observed(arm, game)
    return Stop.PAUSED.value, -1


def prepare(explorer: Any, source: Any) -> Stretch:
    game = game_of(explorer, source, explorer.policy.pairs, True)
    return Stretch(run if source.batch == 1 else run_in_batches, (explorer.problem.lower(), game))


LOOP = Loop(("joint",), seated(Tree, seat), prepare, batches=True, parameters=("box_share",))
