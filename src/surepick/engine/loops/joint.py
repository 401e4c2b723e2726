"""Joint stopping by single exchanges: what the loops of all classes share. The samples are those of the Python loop.

Between two rounds one arm changes, and with it the scores of its exchanges alone. These get a lower bound that costs a fraction
of the score itself; a tournament finds the least, and what wins by its bound is scored and plays again. So few exchanges are
scored, and those of other arms are not looked at.

An arm has a seat, and every seat a list of its exchanges. How seats are laid, and what changes with the decision, is up to the
class: joint_partition.py, joint_tree.py, joint_allocation.py.
"""

from __future__ import annotations

import math

from ..compile import lean, tight
from ..enums import State, Verdict
from ..kernels.costs import cheaper
from ..kernels.exchanges import behind, exhausted, halved, least_seen
from ..kernels.glr import Fact, by_rates, glr, rates
from ..kernels.tournament import LOOSE, SECOND, play, play_one
from .batch import PlanState, plan, planned
from .joint_scores import bound, hopeless, line_up, look_ahead, number, score, see, touch
from .joint_table import BLOCK, LOWER, UPPER

FEW = 8  # if no more exchanges of a row have changed, each plays on its own


@lean
def begin(game):
    """All arms are seen once; from then on those that are observed."""
    if game.table.state[State.BEGUN] == 0:
        game.table.state[State.BEGUN] = 1
        for i in range(len(game.record.counts)):
            see(i, game)


@tight
def richer(e, game):
    """As ``exchanges.richer``, and the likelihood ratio that the exchange has if one more sample of that arm agrees; 0 for
    bets, and for arms of different costs."""
    table, arms, counts = game.table, game.arms, game.table.counts
    h, j = table.pair[UPPER, e], table.pair[LOWER, e]
    if exhausted(h, counts, arms) or exhausted(j, counts, arms):
        return j if exhausted(h, counts, arms) else h, 0.0
    if arms.costs[h] != arms.costs[j]:
        first = cheaper(h, j, table.slopes[UPPER, e], table.slopes[LOWER, e], arms, counts)
        return h if first else j, 0.0
    gain_h, gain_j, bets = 0.0, 0.0, by_rates(h, j, arms)
    if bets:
        gain_h, gain_j = rates(h, j, table.slopes[UPPER, e], table.slopes[LOWER, e], arms)
    for side in range(0 if bets else 2):
        i = h if side == 0 else j
        arms.n[i] += 1.0
        gain = glr(h, j, table.slopes[UPPER, e], table.slopes[LOWER, e], arms)
        arms.n[i] -= 1.0
        if side == 0:
            gain_h = gain
        else:
            gain_j = gain
    if gain_h != gain_j:
        upper = gain_h > gain_j
    elif counts[h] != counts[j]:
        upper = counts[h] < counts[j]
    else:
        upper = h < j
    if bets:
        return h if upper else j, 0.0
    return (h, gain_h) if upper else (j, gain_j)


@tight
def choose(e, certified, game):
    """The next arm, -1 if there is none: half a pair first, then an arm that is far behind, then one of the exchange; with the
    likelihood ratio that the exchange then has, 0 if that was not worked out."""
    state, counts = game.table.state, game.table.counts
    arm = halved(counts, game.table.paired) if state[State.HALVES] > 0 else -1
    if arm >= 0 or certified:
        return arm, 0.0
    if state[State.FEWEST] < math.sqrt(state[State.TOTAL]) - 0.5 * len(counts):
        if game.arms.finite.shape[1] > 0:
            arm = behind(counts, game.arms.costs, game.arms.finite[0])
            state[State.FEWEST] = least_seen(counts, game.arms.costs, game.arms.finite[0])
        else:
            arm = behind(counts, game.arms.costs)
            state[State.FEWEST] = least_seen(counts, game.arms.costs)
    return (arm, 0.0) if arm >= 0 else richer(e, game)


@tight
def lacking(e, game):
    """There is no exchange, and so but one decision."""
    return e < 0 or game.table.verdicts[e] == Verdict.ABSENT


@tight
def sampling(arm, game):
    """Plan a sample of an arm."""
    table = game.table
    table.state[State.TOTAL] += 1
    table.counts[arm] += 1
    if table.paired[arm]:
        table.state[State.HALVES] += -1 if table.counts[arm] % 2 == 0 else 1
    plan(arm, game.batch)


@tight
def all_unknown(first, last, table):
    """Nothing but a bound is known of any of these exchanges, which lie side by side."""
    verdicts, known = table.verdicts[first:last], 0
    for q in range(len(verdicts)):
        known += verdicts[q] != Verdict.UNKNOWN
    return known == 0


@tight
def foresee(chosen, gain, game):
    """The sample that was planned last weighs as if it agreed with those before: the exchange that it was chosen for then has the
    likelihood ratio ``gain``, if that is above 0."""
    table, known, scores, verdicts = game.table, game.table.known, game.table.scores, game.table.verdicts
    arm = game.batch.arms[planned(game.batch) - 1]
    seat = table.seats[arm]
    if table.paired[arm] and table.counts[arm] % 2 == 1:
        return
    n = math.floor(game.arms.n[arm]) + 1.0
    game.arms.n[arm] = n
    number(arm, n, game)
    renew = known[arm, Fact.HALF] > known[arm, Fact.AHEAD]
    if renew:
        look_ahead(arm, game)
    line_up(arm, table)
    if renew:
        touch(seat, game)
        return
    beside, changed = table.first[seat] + table.rows[seat], 0
    q = table.first[seat]
    while q < table.first[seat + 1]:
        e = table.links[q]
        if q + BLOCK <= beside and (q - table.first[seat]) % BLOCK == 0 and all_unknown(e, e + BLOCK, table):
            q += BLOCK
            continue
        q += 1
        if verdicts[e] == Verdict.ABSENT:
            continue
        verdicts[e] = Verdict.UNKNOWN if scores[LOOSE, e] == 1.0 else Verdict.SCORED
        if scores[LOOSE, e] == 1.0:  # a bound, which still holds
            continue
        if e == chosen and gain > 0.0:
            score(e, gain, game)
        elif not hopeless(e, scores):
            bound(e, game)
        elif q <= beside:
            scores[SECOND, e] += 1.0
        else:  # without evidence, it is the number of observations that counts, and that is made up for if it wins (``weakest``)
            continue
        changed += q <= beside
        if q > beside or changed <= FEW:
            play_one(table.tree, e, scores)
    if changed > FEW:
        play(table.tree, table.links[table.first[seat]], table.links[beside - 1] + 1, scores)


@tight
def take_in(game):
    """The arms of the plan were observed; those that gave evidence come first in ``moved``: half a pair is none yet."""
    table, batch, state = game.table, game.batch, game.table.state
    many, fresh = 0, 0
    for q in range(planned(game.batch)):
        arm = batch.arms[q]
        n = batch.ahead[arm]
        if n == 0:
            continue
        see(arm, game)
        batch.ahead[arm], batch.arms[many] = 0, arm
        many += 1
        if not table.paired[arm] or table.counts[arm] // 2 != (table.counts[arm] - n) // 2:
            table.moved[fresh] = arm
            fresh += 1
    state[State.OBSERVED], state[State.FRESH] = many, fresh
    batch.state[PlanState.PLANNED] = batch.state[PlanState.TAKEN] = 0


@tight
def observed(arm, game):
    """As ``sampling`` and ``take_in``, of one arm that was sampled at once."""
    table, state = game.table, game.table.state
    state[State.TOTAL] += 1
    table.counts[arm] += 1
    game.batch.arms[0], table.moved[0] = arm, arm
    state[State.OBSERVED], state[State.FRESH] = 1, 1
    if table.paired[arm]:
        state[State.FRESH] = table.counts[arm] % 2 == 0
        state[State.HALVES] += -1 if state[State.FRESH] else 1
    see(arm, game)


@tight
def joined(arm, many, table):
    """Put an arm among the first so many of ``moved``, unless it is there; returns how many these are then."""
    for q in range(many):
        if table.moved[q] == arm:
            return many
    table.moved[many] = arm
    return many + 1
