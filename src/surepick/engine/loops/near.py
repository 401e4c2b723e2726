"""Joint stopping with an epsilon: what the loops of all classes share. The samples are those of the Python loop.

In every round the policy asks whether the decision is within epsilon of the best, by the box or by what the exchanges could gain
together. As long as it is not, that is known from little: from points that are within the box still, and from witnesses that the
exchanges could gain more (kernels/witnesses.py). After an observation only those of its arm are looked at. They are laid halfway
to what they are to show, so that they last, and anew when they no longer show it. When no witness does, all is worked out as
the policy does it, and where that too leaves it open, the policy itself is asked.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, lean, tight
from ..data import Array, Exchanges
from ..enums import Column, Family, State
from ..kernels.exchanges import SLACK, unsure
from ..kernels.finite import spread
from ..kernels.gains import blur, gain, reach
from ..kernels.glr import Fact, seen_of
from ..kernels.leads import within, within_together
from ..kernels.mixtures import interval, of_values
from ..kernels.sequences import placed
from ..kernels.sides import BOTH
from ..kernels.tournament import ORDER, SCORE
from ..kernels.witnesses import Point, against, against_both, divide, put, sharpen, weigh, weigh_well
from .joint_scores import need
from .joint_table import LOWER, UPPER, Game

LEFT_TO_PYTHON = 1e-9  # what differs by no more, as a share, is left to the arithmetic of the Python loop
GATE = 1.5  # quick estimates above so many epsilons are believed
INWARDS = 0.25  # how far inside the box its witnesses are at most, as a share of the way to what is seen
NOT_ZERO = 1e-300
WEIGHED = 500  # as in policies/joint.py


class Near(NamedTuple):
    """What is kept to know that the decision is not within epsilon yet."""

    epsilon: float
    relative: bool
    each: bool  # epsilon is for every arm of the decision
    sign: float
    gains: Array  # about what every exchange could gain
    blurs: Array  # see kernels/gains.py
    reaches: Array  # above and below, see there
    most: Array  # the largest gain of an arm's exchanges
    widest: Array  # the exchange that has it
    box: Array  # a row an arm, in its units (for variances of 0/1 values, of the mean)
    stale: Array  # the arm has been observed since
    inner: Array  # what is maximised reaches from below the first row to above the second one
    ends: Array  # points to show it: 2 i and 2 i + 1
    pair: Array  # witnesses, one an arm: its exchange
    points: Array  # its points: 2 i and 2 i + 1; the last two are for trials
    leads: Array  # what the exchange could gain at least
    tilts: Array
    sought: Array  # the exchange of an arm that ``seek`` has found, and its two arms
    corner: Array
    rival: Array
    plan: Array  # gains, as if samples that are planned had been taken
    decision: Array  # of the witnesses
    holds: Array  # whether the witnesses show that the decision is not within epsilon


def near_of(explorer: Any, game: Game, sign: float) -> Near:
    m, spots = len(game.record.counts), len(game.table.levels)
    return Near(
        float(explorer.epsilon), bool(explorer.relative), bool(explorer.per_arm), float(sign),
        gains=np.zeros(spots), blurs=np.zeros(m), reaches=np.zeros((2, m)), most=np.zeros(m), widest=np.zeros(m, np.int64),
        box=np.zeros((m, 2)), stale=np.ones(m, np.bool_), inner=np.zeros((2, m)), ends=np.zeros((2 * m, len(Point))),
        pair=np.zeros((2, m), np.int64), points=np.zeros((2 * m + 2, len(Point))), leads=np.zeros(m), tilts=np.ones(m),
        sought=np.full((3, m), -1), corner=np.zeros(m), rival=np.zeros(m, np.int64), plan=np.zeros(spots),
        decision=np.zeros(m, np.int64), holds=np.zeros(1, np.bool_),
    )  # fmt: skip


# -- quick estimates --------------------------------------------------------------------------------------------------


@tight
def regain(e, game, near):
    table = game.table
    known, h, j = table.known, table.pair[UPPER, e], table.pair[LOWER, e]
    half_h, half_j, at_h, at_j = known[h, Fact.HALF], known[j, Fact.HALF], known[h, Fact.SEEN], known[j, Fact.SEEN]
    blurred, reached = near.blurs[h] + near.blurs[j], max(near.reaches[0, h], near.reaches[1, j])
    near.gains[e] = gain(half_h, half_j, blurred, reached, at_h, at_j, game.rule.threshold)


@tight
def renewed(i, game, near):
    """What is known of an arm by now."""
    found = blur(i, game.arms)
    near.stale[i] = near.stale[i] or found != near.blurs[i]
    near.blurs[i] = found
    near.reaches[0, i], near.reaches[1, i] = reach(i, True, game.arms), reach(i, False, game.arms)


@tight
def follow(anew, many, game, near):
    """Take in what has changed: all, or the first so many arms of ``moved``."""
    table = game.table
    if anew:
        for i in range(len(near.blurs)):
            renewed(i, game, near)
        for e in range(table.state[State.COUNT]):
            regain(e, game, near)
    for q in range(many):
        renewed(table.moved[q], game, near)
    for q in range(many):
        seat = table.seats[table.moved[q]]
        for link in range(table.first[seat], table.first[seat + 1]):
            regain(table.links[link], game, near)
    if near.holds[0]:
        near.holds[0] = not anew
        for i in range(len(near.decision)):
            near.holds[0] = near.holds[0] and near.decision[i] == table.decision[i]
        for q in range(many):
            near.holds[0] = near.holds[0] and stands(table.moved[q], game, near)


@lean
def largest(values, game):
    """The exchange with the largest value, the first of equal ones."""
    table, top = game.table, 0
    for e in range(1, table.state[State.COUNT]):
        if values[e] > values[top] or (values[e] == values[top] and table.scores[ORDER, e] < table.scores[ORDER, top]):
            top = e
    return top


@tight
def gainable(game, near):
    """About what could be gained, by all exchanges together or by any one. As ``most_of``."""
    table, most, single = game.table, near.most, 0.0
    for i in range(len(most)):
        most[i] = 0.0
    for e in range(table.state[State.COUNT]):
        h, j = table.pair[UPPER, e], table.pair[LOWER, e]
        found = min(near.gains[e], game.arms.high[j] - game.arms.low[h])
        single = max(single, found)
        if found > most[h]:
            most[h], near.widest[h] = found, e
        if found > most[j]:
            most[j], near.widest[j] = found, e
    return single if near.each else least_sum(most, game, near)


@tight
def least_sum(values, game, near):
    """Over the arms that are to have the larger parameters, or over the others, whichever is less."""
    above, below = 0.0, 0.0
    for i in range(len(values)):
        if (game.table.decision[i] > 0) == (near.sign > 0.0):
            above += values[i]
        else:
            below += values[i]
    return min(above, below)


# -- how much is epsilon ------------------------------------------------------------------------------------------------


@tight
def seen(i, game, near):
    """Where an arm is seen, of what is maximised."""
    return near.sign * min(max(game.table.known[i, Fact.SEEN], game.arms.low[i]), game.arms.high[i])


@tight
def bar(epsilon, least, most, near):
    """What must be gained to be above epsilon, for a reward of the decision from ``least`` to ``most``. As ``problem.share``."""
    if not near.relative:
        return epsilon
    if least > 0.0:
        return epsilon * least / (1.0 - epsilon) if epsilon < 1.0 else np.inf
    return max(-most, 0.0) * epsilon / (1.0 + epsilon)


@tight
def inner_bar(game, near):
    """No less than what the box says, since what is within it says it."""
    least, most = 0.0, 0.0
    for i in range(len(near.most)):
        if game.table.decision[i] > 0:
            least += near.inner[0, i]
            most += near.inner[1, i]
    return bar(near.epsilon, least, most, near)


@tight
def far(most, game, near):
    """By a quick estimate much more than epsilon could be gained."""
    size = 0.0
    if near.relative:
        for i in range(len(near.most)):
            if game.table.decision[i] > 0:
                size += seen(i, game, near)
    return most > bar(GATE * near.epsilon, size, size, near) * (1.0 + LEFT_TO_PYTHON)


# -- witnesses ----------------------------------------------------------------------------------------------------------


@tight
def short(a, game, near):
    """The evidence against a witness is below the threshold."""
    return against_both(near.points, 2 * a) < game.rule.threshold


@lean
def stands(i, game, near):
    """The witnesses of an arm are so still, after it was observed."""
    arms, level = game.arms, game.sequence.level
    seen = seen_of(i, arms)
    for k in range(2 * i, 2 * i + 2):
        weigh(near.ends, k, of_values(seen), game.sequence.rho)
        if not against(near.ends, k) < level:
            return False
    for a in range(len(near.leads)):
        if near.leads[a] <= 0.0:
            continue
        for side in range(2):
            if near.pair[side, a] == i:
                weigh(near.points, 2 * a + side, seen, arms.rho[i])
                if not short(a, game, near):
                    weigh_well(near.points, 2 * a + side, seen, arms.rho[i])
                    weigh_well(
                        near.points, 2 * a + 1 - side, seen_of(near.pair[1 - side, a], arms), arms.rho[near.pair[1 - side, a]]
                    )
                    if not short(a, game, near):
                        return False
    return True


@lean
def open_box(inwards, game, near):
    """Points of the box, this share of the way inside, and witnesses that they are."""
    arms, sequence, near.holds[0] = game.arms, game.sequence, inwards > 0.0
    for i in range(len(near.stale)):
        seen, p = of_values(seen_of(i, arms)), arms.p[i]
        if near.stale[i]:
            near.box[i, 0], near.box[i, 1] = interval(seen, sequence.rho, sequence.level)
            near.stale[i] = False
        low, high = near.box[i, 0] + inwards * (p - near.box[i, 0]), near.box[i, 1] + inwards * (p - near.box[i, 1])
        if inwards > 0.0:
            for side in range(2):
                put(near.ends, 2 * i + side, seen.family, low if side == 0 else high, sequence.rho, BOTH)
                weigh(near.ends, 2 * i + side, seen, sequence.rho)
                near.holds[0] = near.holds[0] and against(near.ends, 2 * i + side) < sequence.level
        if arms.families[i] == Family.SPREAD:
            low, high = spread(low, high)
        low, high = placed(low, high, i, arms.shift[i], arms.scale[i], sequence.span)
        near.inner[0, i], near.inner[1, i] = (low, high) if near.sign > 0.0 else (-high, -low)


@lean
def worst(game, near):
    """The corner that is worst for the decision."""
    for i in range(len(near.corner)):
        near.corner[i] = near.inner[0, i] if game.table.decision[i] > 0 else near.inner[1, i]


@lean
def behind(game, near):
    """By how much the decision is behind ``rival`` at the corner; how far the arms that differ are from where they are seen."""
    gap, way = 0.0, 0.0
    for i in range(len(near.corner)):
        if near.rival[i] != game.table.decision[i]:
            gap += near.corner[i] * (near.rival[i] - game.table.decision[i])
            way += abs(near.corner[i] - seen(i, game, near))
    return gap, way


@lean
def copy_points(a, b, near):
    """Those of witness a are those of b, too."""
    for k in range(2):
        for q in range(near.points.shape[1]):
            near.points[2 * b + k, q] = near.points[2 * a + k, q]


@lean
def lay_trial(e, target, game, near):
    """A witness for an exchange, with evidence of ``target``: the last two points; returns (what it shows could be gained, by
    how much evidence rises for every unit more)."""
    h, j, trial = game.table.pair[UPPER, e], game.table.pair[LOWER, e], len(near.leads)
    x, tilt = divide(near.points, 2 * trial, h, j, target, near.blurs, game.arms)
    return x if short(trial, game, near) else 0.0, tilt


@lean
def keep_trial(i, e, x, tilt, game, near):
    """The last trial is the witness of an arm from now on."""
    near.leads[i], near.tilts[i], near.widest[i] = x, tilt, e
    near.pair[UPPER, i], near.pair[LOWER, i] = game.table.pair[UPPER, e], game.table.pair[LOWER, e]
    copy_points(len(near.leads), i, near)


@lean
def lay_witness(i, e, target, game, near):
    """A witness for an exchange, with evidence of ``target``, if it shows more than that of the arm does."""
    x, tilt = lay_trial(e, target, game, near)
    if x > near.leads[i]:
        keep_trial(i, e, x, tilt, game, near)


@lean
def lay_kept(game, near):
    """Witnesses for the exchanges that were found last."""
    pair, sought = game.table.pair, near.sought
    for i in range(len(near.leads)):
        e = sought[0, i]
        if 0 <= e < game.table.state[State.COUNT] and pair[UPPER, e] == sought[1, i] and pair[LOWER, e] == sought[2, i]:
            lay_witness(i, e, game.rule.threshold, game, near)


@lean
def seek(game, near):
    """Witnesses for all exchanges that are not settled: about which of them could gain most quick estimates may err, where little
    was observed."""
    table = game.table
    for e in range(table.state[State.COUNT]):
        h, j = table.pair[UPPER, e], table.pair[LOWER, e]
        wanted = need(h, j, game)
        if table.scores[SCORE, e] * wanted > wanted + SLACK:
            continue
        x, tilt = lay_trial(e, game.rule.threshold, game, near)
        for i in (h, j):
            if x > near.leads[i]:
                keep_trial(i, e, x, tilt, game, near)
    for i in range(len(near.leads)):
        near.sought[0, i], near.sought[1, i], near.sought[2, i] = near.widest[i], near.pair[UPPER, i], near.pair[LOWER, i]


@lean
def sharpen_all(target, game, near):
    """The same witnesses by the exact evidence, with evidence of ``target``; they show a little more."""
    for i in range(len(near.leads)):
        if near.leads[i] > 0.0:
            h, j, e = near.pair[UPPER, i], near.pair[LOWER, i], near.widest[i]
            copy_points(i, len(near.leads), near)
            x = sharpen(near.points, 2 * len(near.leads), h, j, near.leads[i], near.tilts[i], target, near.blurs, game.arms)
            if x > near.leads[i]:
                keep_trial(i, e, x, near.tilts[i], game, near)


@lean
def lend(game, near):
    """An exchange that shows more for one of its arms than this arm's own does so for the arm, too."""
    for a in range(len(near.leads)):
        for side in range(2):
            i = near.pair[side, a]
            if near.leads[a] > near.leads[i]:
                near.leads[i], near.tilts[i], near.widest[i] = near.leads[a], near.tilts[a], near.widest[a]
                near.pair[UPPER, i], near.pair[LOWER, i] = near.pair[UPPER, a], near.pair[LOWER, a]
                copy_points(a, i, near)


@lean
def gained(game, near):
    """What the witnesses show could be gained: by all exchanges together, or by any one that the box does not settle."""
    if not near.each:
        return least_sum(near.leads, game, near)
    largest = 0.0
    for i in range(len(near.leads)):
        if near.leads[i] > 0.0:
            h, j = near.pair[UPPER, i], near.pair[LOWER, i]
            a, b = (j, h) if near.sign > 0.0 else (h, j)  # a for b
            largest = max(largest, min(near.leads[i], near.inner[1, a] - near.inner[0, b]))
    return largest


@lean
def slack(spare, game, near):
    """By how much less evidence witnesses show so much less, all together."""
    above, below, least = 0.0, 0.0, np.inf
    for i in range(len(near.leads)):
        if near.leads[i] > 0.0:
            least = min(least, near.tilts[i])
            if (game.table.decision[i] > 0) == (near.sign > 0.0):
                above += 1.0 / near.tilts[i]
            else:
                below += 1.0 / near.tilts[i]
    return spare * least if near.each else spare / max(above, below)


@kernel
def consider(gap, way, game, near):
    """How far inside the box its witnesses may be laid: not at all if those of the exchanges do not show that the decision is not
    within epsilon, and -1 if it may be. ``gap`` is how far it is from the best at most, by the box itself, and ``way`` how far
    the arms that matter are from where they are seen."""
    goal = inner_bar(game, near) * (1.0 + LEFT_TO_PYTHON)
    near.holds[0] = False
    if not gap > goal:
        return -1.0
    for i in range(len(near.leads)):
        near.leads[i] = 0.0
        if near.most[i] > 0.0:
            lay_witness(i, near.widest[i], game.rule.threshold, game, near)
    lend(game, near)
    if not gained(game, near) > goal:
        lay_kept(game, near)
        lend(game, near)
    if not gained(game, near) > goal:
        seek(game, near)
    if not gained(game, near) > goal:
        sharpen_all(game.rule.threshold, game, near)
    lead = gained(game, near)
    if not lead > goal:
        return -1.0 if game.table.state[State.HALVES] == 0 and reached(goal, game, near) else 0.0
    if near.relative:  # from inside the box epsilon looks larger
        for i in range(len(near.most)):
            if game.table.decision[i] > 0:
                way += near.epsilon / max(abs(1.0 - near.epsilon), NOT_ZERO) * abs(near.corner[i] - seen(i, game, near))
    spare = (min(gap, lead) if near.relative else gap) - goal
    return min(INWARDS, 0.5 * spare / way)


@kernel
def settle(gap, game, near):
    """Lay the witnesses of the exchanges halfway to what they are to show; ``gap`` is that of the box's witnesses."""
    goal = inner_bar(game, near) * (1.0 + LEFT_TO_PYTHON)
    less = slack(0.5 * (gained(game, near) - goal), game, near)
    target = game.rule.threshold - min(less, 0.5 * game.rule.threshold)
    for i in range(len(near.leads)):
        if near.leads[i] > 0.0:
            near.leads[i] = 0.0
            lay_witness(i, near.widest[i], target, game, near)
    if not gained(game, near) > goal:
        sharpen_all(target, game, near)
    near.holds[0] = near.holds[0] and gap > goal and gained(game, near) > goal
    near.decision[:] = game.table.decision


@kernel
def reached(goal, game, near):
    """As the policy has it: the exchanges, or each of them, can gain no more than this."""
    table, arms, threshold = game.table, game.arms, game.rule.threshold
    count = table.state[State.COUNT]
    swaps = Exchanges(
        table.pair[UPPER, :count], table.pair[LOWER, :count], table.slopes[UPPER, :count], table.slopes[LOWER, :count]
    )
    order = np.argsort(table.scores[ORDER, :count], kind="mergesort")
    order = order[np.argsort(-near.gains[order], kind="mergesort")]
    if near.each:
        lower, upper = (near.inner[0], near.inner[1]) if near.sign > 0.0 else (-near.inner[1], -near.inner[0])
        return within(order, near.epsilon, lower, upper, swaps, arms, threshold)
    if near.relative and count > WEIGHED and unsure(swaps, arms, threshold).sum() > WEIGHED:
        return False
    return within_together(order, goal, swaps, arms, threshold)


# -- a round ------------------------------------------------------------------------------------------------------------


@tight
def tied(e, game, near):
    """An exchange is too near to a tie to be settled; then what could be gained most, if it is anything, is narrowed first."""
    estimates, pair = game.record.table[:, Column.ESTIMATE], game.table.pair
    if estimates[pair[UPPER, e]] - estimates[pair[LOWER, e]] > near.epsilon:
        return False
    return near.gains[largest(near.gains, game)] > 0.0


@lean
def narrow(game, near):
    """The exchange that could gain most; a sample of it that is planned narrows it."""
    e = largest(near.plan, game)
    fewest = min(game.table.counts[game.table.pair[UPPER, e]], game.table.counts[game.table.pair[LOWER, e]])
    near.plan[e] *= 1.0 - 0.25 / fewest
    return e
