"""Joint stopping for linear rewards: what the loops of all classes share. The samples are those of the Python loop.

Between two rounds one arm changes: its value, the square of its error and its price. The rest of a round is the search for a
decision that is not yet certainly worse: in a list (linear_list.py), or, here, by a maximiser. There most rounds end after two
calls of it, one for the decision and one for a decision that blocks. Where none is found that way, Python asks for every arm what
decisions with another entry for it could gain. Here all arms are bounded at once (``losses``), and only those are asked for
whose bound leaves it open.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, lean, tight
from ..data import Array, JointTest, Record, Sequence, Stock
from ..enums import CLOSE, TRIES, Column, Span, Stop
from ..kernels.draws import sample
from ..kernels.exchanges import behind
from ..kernels.linear import bend, bend_with, certain, differ, excess, first_slope, lead, regret_of, slope_of, spread_of
from ..kernels.oracles import best, losses
from ..kernels.sequences import weight_of
from .declare import Stretch, lowered

NEAR = 1e-9  # by which a bound from all arms at once must be clear, relative to its terms
# Entries of ``state``: samples so far; the fewest of an arm, some time ago; whether all arms have been seen.
TOTAL, FEWEST, BEGUN = 0, 1, 2


class Rule(NamedTuple):
    """When the policy stops, see policies/joint_linear.py."""

    level: float
    b: float
    rho: float
    whole: bool


class Game(NamedTuple):
    """All that a round needs besides the decision class."""

    rule: Rule
    test: JointTest
    half: Array
    regret: Array
    rival: Array  # a decision that is not yet certainly worse
    state: Array
    sequence: Sequence
    record: Record
    stock: Stock


def game_of(explorer: Any, source: Any, sort: type) -> Game:
    """An explorer with the policy ``joint-linear`` as these loops see it; decisions are numbers of one sort."""
    policy, m = explorer.policy, explorer.problem.m
    _, sequence, record, stock = lowered(explorer, source)
    rule = Rule(policy.level(explorer.delta), policy.b, policy.rho(explorer.delta), policy.whole)
    rounding = explorer.record.rounding
    test = JointTest(np.empty(m, sort), np.empty(m), np.empty(m), np.zeros(m), rounding, np.array([rule.level]))
    state = np.array([record.counts.sum(), 0, 0])
    return Game(rule, test, policy.half, np.empty(m), np.empty(m, sort), state, sequence, record, stock)


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


@lean
def settle(game):
    """Before a round: all arms are seen once, from then on those that are observed; the price of any difference."""
    if game.state[BEGUN] == 0:
        game.state[BEGUN] = 1
        for i in range(len(game.half)):
            see(i, game)
    if game.rule.whole:
        total = 0.0
        for i in range(len(game.regret)):
            total += game.regret[i]
        game.test.base[0] = game.rule.level + total


@tight
def choose(game):
    """An arm that is far behind, else the least known one in which decision and rival differ."""
    state, counts = game.state, game.record.counts
    if state[FEWEST] < math.sqrt(state[TOTAL]) - 0.5 * len(counts):
        arm, fewest = behind(counts), counts[0]
        for i in range(1, len(counts)):
            fewest = min(fewest, counts[i])
        state[FEWEST] = fewest
        if arm >= 0:
            return arm
    found, heaviest = -1, -1.0
    for i in range(len(counts)):
        if game.rival[i] != game.test.decision[i]:
            weight = weight_of(i, game.sequence, game.record)
            if weight > heaviest:
                found, heaviest = i, weight
    return found


@tight
def observe(arm, game, limit):
    """Sample an arm, or none (-1), and see what is known of it then; PAUSED if that is done, else why it is not."""
    what = sample(arm, game.state[TOTAL], game.record, game.stock, limit)
    if what == Stop.PAUSED:
        game.state[TOTAL] += 1
        see(arm, game)
    return what


# -- with a maximiser ---------------------------------------------------------------------------------------------------


class Room(NamedTuple):
    """For the search."""

    weights: Array
    loss: Array


@kernel
def flip(i, slope, data, game, room):
    """A decision with another entry for arm i may be better, and is the rival then, as in ``JointLinear._arm``: 1; 0 if there is
    none; -1 if rounding cannot tell."""
    test, rival = game.test, game.rival
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
def search(data, game, room):
    """Some decision may be better, and is the rival then, as in ``JointLinear._search``: 1; 0 if there is none; -1 if rounding
    cannot tell."""
    test, rival, weights, loss = game.test, game.rival, room.weights, room.loss
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
            found = flip(i, slope, data, game, room)
            if found != 0:
                return found
    return 0


@kernel
def run(data, game, room, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    for _ in range(rounds):
        settle(game)
        if not best(data, game.test.value, game.test.decision):
            return Stop.UNSURE, -1
        found = search(data, game, room)
        if found < 0:
            return Stop.UNSURE, -1
        arm = choose(game) if found > 0 else -1
        what = observe(arm, game, limit)
        if what != Stop.PAUSED:
            return what, arm
    return Stop.PAUSED, -1


def prepare(explorer: Any, source: Any) -> Stretch:
    m = explorer.problem.m
    return Stretch(run, (explorer.problem.lower(), game_of(explorer, source, np.int64), Room(np.empty(m), np.empty(m))))
