"""Joint stopping for linear rewards: what the loops of all classes share. The samples are those of the Python loop.

Between two rounds one arm changes: its value, the square of its error and its price. The rest of a round is the search for a
decision that is not yet certainly worse: in a list (linear_list.py), or, here, by a maximiser. There most rounds end after two
calls of it, one for the decision and one for a decision that blocks. Where none is found that way, Python asks for every arm what
decisions with another entry for it could gain. Here all arms are bounded at once (``losses``), and only those are asked for
whose bound leaves it open.

With an epsilon, what the rival itself could gain bounds the gap from below. It is worked out where that is no longer too much.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, lean, tight
from ..data import Array, JointTest, Record, Sequence, Stock
from ..enums import CLOSE, TRIES, Column, Span, Stop
from ..kernels.exchanges import behind
from ..kernels.linear import bend, bend_with, certain, differ, excess, first_slope, lead, regret_of, slope_of, spread_of
from ..kernels.oracles import best, losses
from ..kernels.sequences import ends, log_term
from .batch import PLANNED, Batch, batch_of, distinct, plan, take
from .declare import Stretch, lowered

NEAR = 1e-9  # by which a bound from all arms at once must be clear, relative to its terms
ROUNDED = 1e-12  # the same of a gap that is compared with epsilon
# Entries of ``state``: samples so far, planned ones included; the fewest of an arm, some time ago; how many arms were observed
# since the last look, which come first in the plan, -1 at first.
TOTAL, FEWEST, OBSERVED = 0, 1, 2


class Rule(NamedTuple):
    """When the policy stops, see policies/joint_linear.py."""

    level: float
    b: float
    rho: float
    whole: bool


class Goal(NamedTuple):
    """How near the best is near enough, and the box, which is kept if that is asked for."""

    epsilon: float
    relative: bool
    parts: int
    largest: float  # entry of a decision
    lower: Array
    upper: Array
    challenger: Array  # the decision that could gain most on the box, some time ago


class Game(NamedTuple):
    """All that a round needs besides the decision class."""

    rule: Rule
    goal: Goal
    test: JointTest
    half: Array
    regret: Array
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
    rule = Rule(policy.level(explorer.delta), policy.b, policy.rho(explorer.delta), policy.whole)
    rounding = explorer.record.rounding
    test = JointTest(np.empty_like(decision), np.empty(m), np.empty(m), np.zeros(m), rounding, np.array([rule.level]))
    state = np.array([record.counts.sum(), 0, -1])
    goal = Goal(explorer.epsilon, explorer.relative, policy.parts, largest, np.empty(m), np.empty(m), decision)
    counts, batch = record.counts.copy(), batch_of(explorer, source)
    return Game(
        rule, goal, test, policy.half, np.empty(m), np.empty_like(decision), counts, state, batch, sequence, record, stock
    )


@tight
def see(i, game):
    """What is known of an arm by now."""
    span, record, rule, test = game.sequence.span, game.record, game.rule, game.test
    theta = min(max(record.table[i, Column.ESTIMATE], span[Span.LOW, i]), span[Span.HIGH, i])
    test.value[i] = span[Span.SIGN, i] * theta
    n = float(record.counts[i])
    test.spread[i] = spread_of(n, game.half[i], rule.rho)
    game.regret[i] = regret_of(n, rule.rho)
    if not rule.whole:
        test.price[i] = rule.b + game.regret[i]


@tight
def settle(game):
    """Before a round: all arms are seen once, from then on those that are observed; the price of any difference."""
    if game.state[OBSERVED] < 0:
        for i in range(len(game.half)):
            see(i, game)
    if game.rule.whole:
        total = 0.0
        for i in range(len(game.regret)):
            total += game.regret[i]
        game.test.base[0] = game.rule.level + total


@tight
def choose(everywhere, game):
    """An arm that is far behind, else the least known one in which decision and rival differ; or simply of all arms."""
    state, counts, wide = game.state, game.counts, game.sequence.span[Span.WIDE]
    if not everywhere and state[FEWEST] < math.sqrt(state[TOTAL]) - 0.5 * len(counts):
        arm, fewest = behind(counts), counts[0]
        for i in range(1, len(counts)):
            fewest = min(fewest, counts[i])
        state[FEWEST] = fewest
        if arm >= 0:
            return arm
    found, heaviest = -1, -1.0
    for i in range(len(counts)):
        if everywhere or game.rival[i] != game.test.decision[i]:
            weight = wide[i] * wide[i] / counts[i]
            if weight > heaviest:
                found, heaviest = i, weight
    return found


@tight
def planning(blocked, limit, game):
    """Plan the next samples; PAUSED if that is done, else why it is not. If nothing blocks, there are some only to be spent."""
    state, batch = game.state, game.batch
    if not (blocked or batch.spend):
        return Stop.DECIDED.value
    size = min(batch.size, limit - state[TOTAL])
    if size <= 0:
        return Stop.SPENT.value
    for _ in range(size):
        arm = choose(not blocked, game)
        game.counts[arm] += 1
        state[TOTAL] += 1
        plan(arm, batch)
    return Stop.PAUSED.value


# -- near enough --------------------------------------------------------------------------------------------------------


@lean
def enclose(game):
    """The box after the last samples."""
    goal, sequence, changed = game.goal, game.sequence, game.state[OBSERVED]
    c, every = log_term(game.state[TOTAL], sequence), changed < 0 or sequence.power > 0.0
    for q in range(len(goal.lower) if every else changed):
        i = q if every else game.batch.arms[q]
        goal.lower[i], goal.upper[i] = ends(i, c, sequence, game.record)


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


@tight
def verdict(gap, most, rounding):
    """A gap is within what is allowed: 1; 0 if it is not; -1 if rounding cannot tell."""
    return 1 if gap < most - rounding else (0 if gap > most + rounding else -1)


# -- with a maximiser ---------------------------------------------------------------------------------------------------


class Room(NamedTuple):
    """For the search."""

    weights: Array
    loss: Array
    other: Array


@kernel
def flip(i, slope, data, test, rival, room):
    """A decision with another entry for arm i may be better, and is the rival then, as in ``JointLinear._arm``: 1; 0 if there is
    none; -1 if rounding cannot tell."""
    for _ in range(TRIES):
        bend_with(i, slope, test, room.weights)
        if not best(data, room.weights, rival):
            return -1
        if rival[i] == test.decision[i] or certain(rival, slope, test):
            return 0
        if lead(rival, test) >= 0.0:
            return 1
        new = slope_of(rival, test)
        if abs(new - slope) <= CLOSE * slope:
            break
        slope = new
    return 1


@kernel
def search(data, test, rival, room):
    """Some decision may be better, and is the rival then, as in ``JointLinear._search``: 1; 0 if there is none; -1 if rounding
    cannot tell."""
    weights, loss = room.weights, room.loss
    slope = first_slope(test)
    size = bend(slope, test, weights)
    if not best(data, weights, rival):
        return -1
    if differ(rival, test) > 0 and lead(rival, test) >= 0.0:
        return 1
    if not losses(data, weights, rival, loss):
        return -1
    # Decisions with another entry for arm i than the maximiser has: all that it gains, but for their loss.
    gain, base = excess(rival, slope, test), slope * test.base[0]
    for i in range(len(rival)):
        if rival[i] != test.decision[i]:
            loss[i] = 0.0
    for i in range(len(rival)):
        if gain - loss[i] >= -base - NEAR * (size + base):
            found = flip(i, slope, data, test, rival, room)
            if found != 0:
                return found
    return 0


@kernel
def gain_of(data, parts, test, room):
    """What another decision could gain, as in ``JointLinear._gain``; not a number if rounding cannot tell."""
    other = room.other
    slope, found = first_slope(test), np.inf
    for _ in range(TRIES):
        bend(slope, test, room.weights)
        if not best(data, room.weights, other):
            return np.nan
        found = min(found, excess(other, slope, test) + slope * test.base[0] * parts)
        if differ(other, test) == 0:
            break
        slope = slope_of(other, test)
    return found


@kernel
def box_gap(data, game, room):
    """What another decision could gain on the box; not a number if rounding cannot tell."""
    goal, sign = game.goal, game.sequence.span[Span.SIGN]
    for i in range(len(room.weights)):
        room.weights[i] = -edge(-sign[i], i, goal) if game.test.decision[i] > 0 else edge(sign[i], i, goal)
    return advantage(goal.challenger, game) if best(data, room.weights, goal.challenger) else np.nan


@kernel
def near(data, game, room):
    """The decision, which has a rival, is within epsilon of the best: 1; 0 if it is not; -1 if rounding cannot tell."""
    enclose(game)
    most, rounding = allowed(game)
    gain = lead(game.rival, game.test)
    if gain <= most + rounding:
        gain = gain_of(data, game.goal.parts, game.test, room)
    gap = max(advantage(game.rival, game), advantage(game.goal.challenger, game))
    if gap <= most + rounding:
        gap = box_gap(data, game, room)
    return verdict(min(gain, gap), most, rounding)


@kernel
def run(data, game, room, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    batch, state = game.batch, game.state
    for _ in range(rounds):
        if batch.state[PLANNED] == 0:
            settle(game)
            if not best(data, game.test.value, game.test.decision):
                return Stop.UNSURE.value, -1
            found = search(data, game.test, game.rival, room)
            if found > 0 and game.goal.epsilon > 0.0 and not batch.spend:
                within = near(data, game, room)
                found = -1 if within < 0 else 1 - within
            if found < 0:
                return Stop.UNSURE.value, -1
            what = planning(found > 0, limit, game)
            if what != Stop.PAUSED:
                return what, -1
        what, arm = take(batch, game.record, game.stock)
        if what != Stop.PAUSED:
            return what, arm
        state[OBSERVED] = distinct(batch)
        for q in range(state[OBSERVED]):
            see(batch.arms[q], game)
    return Stop.PAUSED.value, -1


def prepare(explorer: Any, source: Any) -> Stretch:
    m = explorer.problem.m
    room = Room(np.empty(m), np.empty(m), np.empty(m, np.int64))
    game = game_of(explorer, source, explorer.policy.decision(explorer.view), 1.0)
    return Stretch(run, (explorer.problem.lower(), game, room))
