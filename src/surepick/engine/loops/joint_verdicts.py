"""Which exchanges are certain: those whose exact evidence is enough. It is worked out for few of them.

The quick estimate of an exchange differs from its exact evidence by what changes slowly. So once the exact evidence is known to
be enough with something to spare, it is so for a while: as long as the estimate falls little, and the arms are not observed much
more often. Far above the threshold the estimate alone will do. Both are what brute force says, and only spare work: that a
decision is certain is for the policy to say.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile import apart, tight
from ..enums import State, Verdict
from ..kernels.exchanges import ONE_SIDED, SLACK, plenty
from ..kernels.glr import glr
from ..kernels.heaps import arrange, pop
from ..kernels.least import about_least, least_evidence
from ..kernels.tournament import ORDER, SCORE
from .joint_scores import need, weakest
from .joint_table import LOWER, UPPER, Lasting

WORTH = 0.75  # what there may be to spare by the estimate from which on it is asked whether there is
SURE, SOME = 0.1, 1.5  # so much above the threshold, and so much in all, about the least evidence is enough
FALL = 0.4  # of what there is to spare, by which the estimate may fall
MORE, MOST_MORE = 0.02, 0.1  # by how much more the arms may be observed: so much for each nat to spare, and at most


@tight
def near(e, game):
    """The likelihood ratio of the weakest exchange is so near to what it needs that the exact evidence is looked at."""
    table = game.table
    wanted = need(table.pair[UPPER, e], table.pair[LOWER, e], game)
    return table.scores[SCORE, e] * wanted >= wanted - SLACK


@tight
def all_ample(e, game):
    """There is plenty of evidence for all exchanges, of which e has the least for what it needs."""
    state, threshold = game.table.state, game.rule.threshold
    if state[State.UNSEEN] > 0:
        return False
    least = max(threshold + math.log1p(state[State.FEWEST] // 2 / game.arms.rho) - ONE_SIDED, 0.25)  # that any of them needs
    return plenty(game.table.scores[SCORE, e] * least, least, threshold)


@tight
def estimate_lasts(e, estimate, game):
    """The exact evidence of an exchange was enough with something to spare, and little has changed since."""
    table, lasting = game.table, game.table.lasting
    h, j = table.pair[UPPER, e], table.pair[LOWER, e]
    return (
        estimate >= lasting[Lasting.ESTIMATE, e]
        and game.arms.n[h] <= lasting[Lasting.UNTIL_HIGH, e]
        and game.arms.n[j] <= lasting[Lasting.UNTIL_LOW, e]
        and lasting[Lasting.PAIR, e] == h * len(table.seats) + j
        and lasting[Lasting.RATIO, e] == table.slopes[UPPER, e] / table.slopes[LOWER, e]
    )


@tight
def clearly(e, game):
    """The evidence of an exchange is at least the threshold, as its score alone says."""
    table = game.table
    h, j = table.pair[UPPER, e], table.pair[LOWER, e]
    wanted = need(h, j, game)
    found = table.scores[SCORE, e] * wanted
    if not (table.clear[h] and table.clear[j]):
        return False
    return plenty(found, wanted, game.rule.threshold) or estimate_lasts(e, found - wanted, game)


@apart
def enough(e, game):
    """The evidence of an exchange is at least the threshold."""
    table, arms, threshold = game.table, game.arms, game.rule.threshold
    h, j = table.pair[UPPER, e], table.pair[LOWER, e]
    slope_h, slope_j, clear = table.slopes[UPPER, e], table.slopes[LOWER, e], table.clear[h] and table.clear[j]
    estimate = glr(h, j, slope_h, slope_j, arms) - need(h, j, game)  # so far above the threshold
    if clear and estimate_lasts(e, estimate, game):
        return True
    spare = 0.75 * estimate
    if not clear or spare < WORTH or least_evidence(h, j, slope_h, slope_j, arms, 0.0, threshold + spare) < threshold + spare:
        spare = (about_least(h, j, slope_h, slope_j, arms, threshold) if clear else np.nan) - threshold
        if spare < 0.0:
            return False
    if spare > SURE and threshold + spare > SOME:
        more, lasting = 1.0 + min(MORE * spare, MOST_MORE), table.lasting
        lasting[Lasting.ESTIMATE, e] = estimate - FALL * spare
        lasting[Lasting.UNTIL_HIGH, e], lasting[Lasting.UNTIL_LOW, e] = more * arms.n[h], more * arms.n[j]
        lasting[Lasting.PAIR, e], lasting[Lasting.RATIO, e] = h * len(table.seats) + j, slope_h / slope_j
        return True
    return least_evidence(h, j, slope_h, slope_j, arms, 0.0, threshold) >= threshold


@tight
def short(e, game):
    """The evidence of an exchange is below the threshold."""
    verdicts = game.table.verdicts
    if verdicts[e] == Verdict.UNKNOWN:
        verdicts[e] = Verdict.CERTAIN if clearly(e, game) or enough(e, game) else Verdict.SHORT
    return verdicts[e] == Verdict.SHORT


@apart
def blocking(game):
    """The first exchange, in the order of the class, whose evidence is below the threshold; -1 if there is none."""
    verdicts, scores, count, many = game.table.verdicts, game.table.scores, game.table.state[State.COUNT], 0
    heap = np.empty((2, count), np.int64)
    for e in range(count):
        if verdicts[e] == Verdict.UNKNOWN or verdicts[e] == Verdict.SHORT:
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
    """The weakest exchange, or the first that is known too little, and whether the decision is certain."""
    if game.table.state[State.COUNT] == 0:
        return -1, True
    e = weakest(game)
    if not near(e, game):
        return e, False
    if all_ample(e, game):
        return e, True
    if short(e, game):
        return e, False
    f = blocking(game)
    return (f, False) if f >= 0 else (e, True)
