"""Joint stopping for linear rewards: what the loops of all classes share. The samples are those of the Python loop.

Between two rounds one arm changes: its value, and what its values show. The rest of a round is the search for a decision that
is not yet certainly worse: in a list (linear_list.py), or, here, by a maximiser. There most rounds end after two calls of it, one
for the decision and one for a decision that blocks by the guide. Where none is found that way, its evidence is worked out, and
Python asks for every arm what decisions with another entry for it could gain. Here all arms are bounded at once (``losses``), and
only those are asked for whose bound leaves it open.

With an epsilon, what the rival itself could gain bounds the gap from below, and the gap is worked out where that is no longer too
much. In the same way two points of an interval stand for its ends as long as that is enough: it takes one look at the evidence
against a point to see that the interval still has it, and some forty to find an end.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, lean, tight
from ..data import Array, JointTest, Record, Sequence, Stakes, Stock, state_of
from ..enums import FEWEST_MOVED, TRIES, Column, Family, Form, Span, State, Stop, Unit
from ..kernels import linear as guide
from ..kernels.exchanges import behind, least_seen
from ..kernels.linear import differ, first_slope, lead
from ..kernels.linear_proof import (
    allow,
    base,
    bend,
    bend_for,
    bend_with,
    blocks,
    certain,
    excess,
    gain_of,
    next_slope,
    normal,
    opening,
)
from ..kernels.mixtures import unit_evidence
from ..kernels.oracles import best, losses
from ..kernels.sequences import ends, log_term, placed, seen_in, unit_of, weight_at
from ..kernels.sides import BOTH
from ..kernels.stakes import note, spread_of, stakes_of
from .batch import Batch, batch_of, distinct, plan, planned, room, take
from .declare import Stretch, lowered

CLEAR_BY = 1e-9  # by which a bound from all arms at once must be clear, relative to its terms
EVIDENCE_ERROR = 1e-9  # more than arithmetic may err in evidence
ROUNDED = 1e-12  # the same of a gap that is compared with epsilon


class Goal(NamedTuple):
    """How near the best is near enough, and what is kept to tell: the box, or a part of it."""

    epsilon: float
    relative: bool
    parts: int
    largest: float  # entry of a decision
    lower: Array
    upper: Array
    ends: Array  # whether these are the ends of an arm's interval
    points: Array  # of every interval, in units of the arm
    share: Array  # one number: how far out points are put, 1 being at the ends
    challenger: Array  # the decision that could gain most on the box, some time ago


class Game(NamedTuple):
    """All that a round needs besides the decision class."""

    goal: Goal
    test: JointTest
    stakes: Stakes
    units: Array  # how arms are weighed as evidence, see :class:`surepick.engine.enums.Unit`
    rival: Array  # a decision that is not yet certainly worse
    counts: Array  # planned samples included
    state: Array
    batch: Batch
    sequence: Sequence
    record: Record
    stock: Stock


def game_of(explorer: Any, source: Any, decision: Array, largest: float) -> Game:
    """An explorer with the policy ``joint-linear`` as these loops see it; any decision, and the largest entry that one has."""
    policy, m = explorer.policy, explorer.problem.m
    _, sequence, record, stock = lowered(explorer, source)
    weighing = policy.weighing(explorer.confidence)
    rounding, sign, away = explorer.record.rounding, np.array([policy.sign]), policy.away(weighing)
    known = policy.price, rounding, policy.base(explorer.delta), sign, away
    test = JointTest(np.empty_like(decision), np.empty(m), np.empty(m), np.empty(m), *known)
    state = state_of(TOTAL=record.counts.sum(), OBSERVED=-1)
    lower, upper, points = np.empty(m), np.empty(m), np.full((2, m), np.nan)
    held = lower, upper, np.zeros(m, np.bool_), points, np.array([0.5])
    goal = Goal(explorer.epsilon, explorer.relative, policy.parts, largest, *held, decision)
    counts, batch = record.counts.copy(), batch_of(explorer, source)
    units = weighing.table(explorer.record)
    return Game(goal, test, stakes_of(m), units, np.empty_like(decision), counts, state, batch, sequence, record, stock)


@tight
def see(i, game):
    """What is known of an arm by now."""
    span, units, record, test = game.sequence.span, game.units, game.record, game.test
    theta = min(max(record.table[i, Column.ESTIMATE], span[Span.LOW, i]), span[Span.HIGH, i])
    test.estimate[i] = span[Span.SIGN, i] * theta
    seen, scale = seen_in(i, units, record), units[Unit.SCALE, i]
    test.value[i] = span[Span.SIGN, i] * (units[Unit.SHIFT, i] + scale * seen.p)
    note(i, seen, scale, game.stakes)
    test.spread[i] = spread_of(seen, scale)


@tight
def settle(game):
    """Before the first round all arms are seen once, from then on those that are observed."""
    if game.state[State.OBSERVED] < 0:
        for i in range(len(game.counts)):
            see(i, game)


@tight
def choose(everywhere, game):
    """An arm that is far behind, else the least known one in which decision and rival differ; or simply of all arms."""
    state, counts = game.state, game.counts
    if not everywhere and state[State.FEWEST] < math.sqrt(state[State.TOTAL]) - 0.5 * len(counts):
        costs = game.sequence.span[Span.COST]
        arm, state[State.FEWEST] = behind(counts, costs), least_seen(counts, costs)
        if arm >= 0:
            return arm
    found, heaviest = -1, -1.0
    for i in range(len(counts)):
        if everywhere or game.rival[i] != game.test.decision[i]:
            weight = weight_at(i, counts[i], game.sequence)
            if weight > heaviest:
                found, heaviest = i, weight
    return found


@tight
def planning(blocked, limit, game):
    """Plan the next samples; PAUSED if that is done, else why it is not. If nothing blocks, there are some only to be spent."""
    state, batch = game.state, game.batch
    if not (blocked or batch.spend):
        return Stop.DECIDED.value
    size = room(state[State.TOTAL], batch, limit)
    if size <= 0:
        return Stop.SPENT.value
    for _ in range(size):
        arm = choose(not blocked, game)
        game.counts[arm] += 1
        state[State.TOTAL] += 1
        plan(arm, batch)
    return Stop.PAUSED.value


# -- near enough --------------------------------------------------------------------------------------------------------


@lean
def contained(i, n, p, game):
    """The points of an arm are in its interval for certain."""
    sequence, points = game.sequence, game.goal.points
    level = sequence.level - EVIDENCE_ERROR
    below = unit_evidence(n, p, points[0, i], sequence.rho, BOTH) <= level  # False if it is not a number
    return below and unit_evidence(n, p, points[1, i], sequence.rho, BOTH) <= level


@lean
def enclose(i, c, wholly, game):
    """The interval of an arm, ``wholly`` or between points of it."""
    goal, sequence, record = game.goal, game.sequence, game.record
    span, units, points = sequence.span, sequence.units, goal.points
    slow = sequence.form == Form.MIXTURE and int(units[Unit.FAMILY, i]) == Family.UNIT
    n, p = unit_of(i, units, record) if slow else (0.0, 0.0)
    goal.ends[i] = wholly or not (slow and contained(i, n, p, game))
    if not goal.ends[i]:
        shift, scale = units[Unit.SHIFT, i], units[Unit.SCALE, i]
        goal.lower[i], goal.upper[i] = placed(points[0, i], points[1, i], i, shift, scale, span)
        return
    goal.lower[i], goal.upper[i] = ends(i, c, sequence, record)
    if slow:
        for end in range(2):
            u = ((goal.lower[i] if end == 0 else goal.upper[i]) - units[Unit.SHIFT, i]) / units[Unit.SCALE, i]
            points[end, i] = p + goal.share[0] * (u - p)


@lean
def narrow(game):
    """A part of the box after the last samples."""
    goal, sequence, changed = game.goal, game.sequence, game.state[State.OBSERVED]
    c, every = log_term(game.state[State.TOTAL], sequence), changed < 0 or sequence.power > 0.0
    for q in range(len(goal.lower) if every else changed):
        enclose(q if every else game.batch.arms[q], c, False, game)


@lean
def widen(game):
    """The whole box."""
    c = log_term(game.state[State.TOTAL], game.sequence)
    for i in range(len(game.goal.ends)):
        if not game.goal.ends[i]:
            enclose(i, c, True, game)


@tight
def edge(change, i, goal):
    """The most that a change of an arm's entry gains on the box."""
    return change * (goal.upper[i] if change > 0.0 else goal.lower[i])


@lean
def advantage(other, game):
    """The most by which another decision can be better on the box."""
    total, sign = 0.0, game.sequence.span[Span.SIGN]
    for i in range(len(other)):
        if other[i] != game.test.decision[i]:
            total += edge(sign[i] * (other[i] - game.test.decision[i]), i, game.goal)
    return total


@lean
def allowed(game):
    """The gap that is within epsilon, and what rounding may change in a gap. If relative, see ``Problem.share_on``."""
    goal, test, sign = game.goal, game.test, game.sequence.span[Span.SIGN]
    least, most, size = 0.0, 0.0, 0.0
    for i in range(len(test.decision)):
        held = sign[i] * test.decision[i]
        most += edge(held, i, goal)
        least -= edge(-held, i, goal)
        size += abs(test.value[i]) + abs(goal.lower[i]) + abs(goal.upper[i])
    gap = goal.epsilon
    if goal.relative and least > 0.0:
        gap = goal.epsilon * least / (1.0 - goal.epsilon) if goal.epsilon < 1.0 else np.inf
    elif goal.relative:
        gap = max(goal.epsilon * -most / (1.0 + goal.epsilon), 0.0)
    return gap, ROUNDED * (goal.largest * size + gap)


@lean
def challenge(game):
    """The most by which the rival or the challenger can be better on the box; that one is the challenger from now on."""
    rival, challenger = game.rival, game.goal.challenger
    gap, before = advantage(rival, game), advantage(challenger, game)
    if gap <= before:
        return before
    for i in range(len(rival)):
        challenger[i] = rival[i]
    return gap


@lean
def learn(gap, most, game):
    """How far out points must be put to tell that this gap, of the challenger, is too large; and half of the rest."""
    seen = 0.0
    for i in range(len(game.counts)):
        seen += (game.goal.challenger[i] - game.test.decision[i]) * game.test.value[i]
    needed = (most - seen) / (gap - seen) if gap > seen else 1.0
    game.goal.share[0] = min(max(0.5 * (1.0 + needed), 0.5), 0.999)


@tight
def verdict(gap, most, rounding):
    """A gap is within what is allowed: 1; 0 if it is not; -1 if rounding cannot tell."""
    return 1 if gap < most - rounding else (0 if gap > most + rounding else -1)


# -- with a maximiser ---------------------------------------------------------------------------------------------------


class Desk(NamedTuple):
    """For the search."""

    weights: Array
    loss: Array
    other: Array


@kernel
def flip(i, k, mu, data, game, desk):
    """A decision with another entry for arm i may be better, and is the rival then, as in ``JointLinear._arm``: 1; 2 if no slope
    was found that tells; 0 if there is none; -1 if rounding cannot tell."""
    test, stakes, rival = game.test, game.stakes, game.rival
    low, high = 0.0, np.inf
    for _ in range(TRIES):
        bend_with(i, k, mu, test, stakes, desk.weights)
        if not best(data, desk.weights, rival):
            return -1
        if rival[i] == test.decision[i] or certain(rival, k, mu, test, stakes):
            return 0
        if blocks(rival, test, stakes)[0]:
            return 1
        k, mu, low, high = next_slope(rival, mu, low, high, test, stakes)
    return 2


@kernel
def search(data, game, desk):
    """Some decision may be better, and is the rival then, as in ``JointLinear._search``: 1; 0 if there is none; -1 if rounding
    cannot tell."""
    test, stakes, rival, weights, loss = game.test, game.stakes, game.rival, desk.weights, desk.loss
    slope, size, k, mu = first_slope(test), FEWEST_MOVED, -1, 0.0
    for _ in range(2):
        guide.bend(slope, size, test, weights)
        if not best(data, weights, rival):
            return -1
        size = differ(rival, test)
        if size == 0:
            break
        if lead(rival, test) >= 0.0:
            return 1
        blocking, k, mu = blocks(rival, test, stakes)
        if blocking:
            return 1
        slope = guide.slope_of(rival, test)
    if k < 0:
        k, mu = opening(rival, test, stakes)
    if normal(stakes):
        for i in range(len(weights)):
            weights[i] = -test.value[i]
        if not best(data, weights, desk.other):
            return -1
        allow(desk.other, test, stakes)
    bend_for(max(size, FEWEST_MOVED), k, mu, test, stakes, weights)
    if not best(data, weights, rival):
        return -1
    if differ(rival, test) > 0 and blocks(rival, test, stakes)[0]:
        return 1
    most = bend(k, mu, test, stakes, weights)
    if not (best(data, weights, rival) and losses(data, weights, rival, loss)):
        return -1
    # Decisions with another entry for arm i than the maximiser has: all that it gains, but for their loss.
    gain, needed = excess(rival, k, mu, test, stakes), base(k, mu, test)
    for i in range(len(rival)):
        if rival[i] != test.decision[i]:
            loss[i] = 0.0
    unclear = 0
    for i in range(len(rival)):
        if gain - loss[i] >= -needed - CLEAR_BY * (most + needed):
            found = flip(i, k, mu, data, game, desk)
            if abs(found) == 1:
                return found
            if found == 2 and unclear == 0:
                unclear = 1
                for q in range(len(rival)):
                    desk.other[q] = rival[q]
    if unclear == 1:
        for q in range(len(rival)):
            rival[q] = desk.other[q]
    return unclear


@kernel
def gap_of(data, parts, game, desk):
    """What another decision could gain, as in ``JointLinear._gain``; not a number if rounding cannot tell."""
    test, stakes, other = game.test, game.stakes, desk.other
    found = np.inf
    if normal(stakes):
        return found
    k, mu = opening(game.rival, test, stakes)
    for _ in range(TRIES):
        bend(k, mu, test, stakes, desk.weights)
        if not best(data, desk.weights, other):
            return np.nan
        found = min(found, excess(other, k, mu, test, stakes) + base(k, mu, test) * parts)
        if differ(other, test) == 0:
            break
        k, mu = opening(other, test, stakes)
    return found


@kernel
def box_gap(data, game, desk):
    """What another decision could gain on the box; not a number if rounding cannot tell."""
    goal, sign = game.goal, game.sequence.span[Span.SIGN]
    for i in range(len(desk.weights)):
        desk.weights[i] = -edge(-sign[i], i, goal) if game.test.decision[i] > 0 else edge(sign[i], i, goal)
    return advantage(goal.challenger, game) if best(data, desk.weights, goal.challenger) else np.nan


@kernel
def near(data, game, desk):
    """The decision, which has a rival, is within epsilon of the best: 1; 0 if it is not; -1 if rounding cannot tell."""
    narrow(game)
    most, rounding = allowed(game)
    gain = gain_of(game.rival, game.test, game.stakes)
    if gain <= most + rounding:
        gain = gap_of(data, game.goal.parts, game, desk)
    if min(gain, challenge(game)) > most + rounding:  # with the whole box more is gained, and no more is allowed
        return 0
    widen(game)
    most, rounding = allowed(game)
    gap = challenge(game)
    if gap <= most + rounding:
        gap = box_gap(data, game, desk)
    learn(gap, most, game)
    return verdict(min(gain, gap), most, rounding)


@kernel
def run(data, game, desk, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    batch, state = game.batch, game.state
    for _ in range(rounds):
        if planned(batch) == 0:
            settle(game)
            if not best(data, game.test.estimate, game.test.decision):
                return Stop.UNSURE.value, -1
            found = search(data, game, desk)
            if found > 0 and game.goal.epsilon > 0.0 and not batch.spend:
                within = near(data, game, desk)
                found = -1 if within < 0 else 1 - within
            if found < 0:
                return Stop.UNSURE.value, -1
            what = planning(found > 0, limit, game)
            if what != Stop.PAUSED:
                return what, -1
        what, arm = take(batch, game.record, game.stock)
        if what != Stop.PAUSED:
            return what, arm
        state[State.OBSERVED] = distinct(batch)
        for q in range(state[State.OBSERVED]):
            see(batch.arms[q], game)
    return Stop.PAUSED.value, -1


def prepare(explorer: Any, source: Any) -> Stretch:
    m = explorer.problem.m
    desk = Desk(np.empty(m), np.empty(m), np.empty(m, np.int64))
    game = game_of(explorer, source, explorer.policy.decision(explorer.view), 1.0)
    return Stretch(run, (explorer.problem.lower(), game, desk))
