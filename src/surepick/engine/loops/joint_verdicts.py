"""What blocks a certificate, and so which exchange is to be sampled: by scores and, near the end, by the exact evidence."""

from __future__ import annotations

import numpy as np

from ..compile import apart, tight
from ..enums import State, Verdict
from ..kernels.exchanges import SLACK
from ..kernels.heaps import arrange, pop
from ..kernels.least import least_evidence
from ..kernels.tournament import ORDER, SCORE
from .joint_scores import need, weakest
from .joint_table import LOWER, UPPER


@tight
def near(e, game):
    """The likelihood ratio of the weakest exchange is so near to what it needs that the exact evidence is looked at."""
    table = game.table
    wanted = need(table.pair[UPPER, e], table.pair[LOWER, e], game)
    return table.scores[SCORE, e] * wanted >= wanted - SLACK


@apart
def enough(e, game):
    """The evidence of an exchange is at least the threshold."""
    table, threshold = game.table, game.rule.threshold
    h, j = table.pair[UPPER, e], table.pair[LOWER, e]
    return least_evidence(h, j, table.slopes[UPPER, e], table.slopes[LOWER, e], game.arms, 0.0, threshold) >= threshold


@tight
def short(e, game):
    """The evidence of an exchange is below the threshold."""
    verdicts = game.table.verdicts
    if verdicts[e] == Verdict.UNKNOWN or verdicts[e] == Verdict.SCORED:
        verdicts[e] = Verdict.CERTAIN if enough(e, game) else Verdict.SHORT
    return verdicts[e] == Verdict.SHORT


@apart
def blocking(game):
    """The first exchange, in the order of the class, whose evidence is below the threshold; -1 if there is none."""
    verdicts, scores, count, many = game.table.verdicts, game.table.scores, game.table.state[State.COUNT], 0
    heap = np.empty((2, count), np.int64)
    for e in range(count):
        if verdicts[e] != Verdict.CERTAIN and verdicts[e] != Verdict.ABSENT:
            heap[0, many] = e
            many += 1
    arrange(heap, 0, 0, many, scores, ORDER, 1.0)
    while many > 0:
        e = heap[0, 0]
        if short(e, game):
            return e
        many = pop(heap, 0, 0, many, scores, ORDER, 1.0)
    return -1


@tight
def look(game):
    """The weakest exchange, or the first that is known too little, and whether the decision is certain. A budget that is spent to
    the end goes by scores alone, and is judged when it is spent."""
    spend = game.batch.spend
    if game.table.state[State.COUNT] == 0:
        return -1, not spend
    e = weakest(game)
    if spend or not near(e, game) or short(e, game):
        return e, False
    f = blocking(game)
    return (f, False) if f >= 0 else (e, True)
