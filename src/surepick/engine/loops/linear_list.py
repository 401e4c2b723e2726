"""Joint stopping for explicit lists of decisions, compiled: the same samples as the Python loop.

The reward of every decision, and the terms of its test, are kept up to date: a sample adds to those that its arm touches. These
sums differ from Python's in the last digits, so they only tell which few decisions can be the best, or block most. Of those the
test itself is worked out, as Python does it; rewards that are as good as equal are compared exactly.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel, lean, tight
from ..data import Array, Listed
from ..enums import Base, Span, State, Stop
from ..kernels.linear import margin_of
from ..kernels.linear_proof import gain_of, most_gained, row_blocking
from ..kernels.lists import better
from .batch import distinct, planned, take
from .declare import Loop, Stretch
from .linear import allowed, challenge, edge, game_of, learn, narrow, planning, see, settle, verdict, widen

AGE = 1024  # changes of an arm after which all sums are worked out anew
SUM_ERROR = 4e-12  # what rounding may change in a sum, relative to its terms


class ListState(IntEnum):
    """Entries of ``state``: the row of the decision, -1 at first; changes until all sums are worked out anew."""

    ROW = 0
    LEFT = 1


class Sums(NamedTuple):
    """Of every listed decision, kept from round to round."""

    columns: Array  # the list, a row an arm
    widest: Array  # the largest entries, by arm
    reward: Array  # by the estimates, which tell the decision
    value: Array  # the same by the values that are weighed
    spread: Array
    price: Array
    rounding: Array
    fresh: Array  # the spread when it was last worked out
    reach: Array  # how much better than it looks the decision may be, compared with the best one
    size: Array  # two numbers: of the terms of a reward, and of a value
    state: Array


def sums_of(listed: Array) -> Sums:
    columns = np.ascontiguousarray(listed.T)
    reward, value, spread, price, rounding, fresh, reach = np.zeros((7, len(listed)))
    widest, state = np.abs(columns).max(axis=1), np.array([-1, 0])
    return Sums(columns, widest, reward, value, spread, price, rounding, fresh, reach, np.zeros(2), state)


@tight
def stretch_out(y, base, sums):
    """The reach of one decision."""
    sums.reach[y] = math.sqrt(2.0 * (base + sums.price[y]) * max(sums.spread[y], 0.0)) + sums.rounding[y]


@lean
def compare(y, data, test, sums):
    """The terms of the test of one decision, anew."""
    spread, price, rounding = 0.0, 0.0, 0.0
    for i in range(len(test.decision)):
        change = data.decisions[y, i] - test.decision[i]
        if change != 0.0:
            spread += change * change * test.spread[i]
            price += test.price[i]
            rounding += abs(change) * test.rounding[i]
    sums.spread[y], sums.price[y], sums.rounding[y], sums.fresh[y] = spread, price, rounding, spread
    stretch_out(y, test.base[Base.GUIDE], sums)


@lean
def add_up(data, test, sums):
    """All rewards and values anew."""
    sums.size[:] = 0.0
    for y in range(len(sums.reward)):
        reward, value, size, weighed = 0.0, 0.0, 0.0, 0.0
        for i in range(len(test.value)):
            reward += data.decisions[y, i] * test.estimate[i]
            value += data.decisions[y, i] * test.value[i]
            size += abs(data.decisions[y, i] * test.estimate[i])
            weighed += abs(data.decisions[y, i] * test.value[i])
        sums.reward[y], sums.value[y] = reward, value
        sums.size[0], sums.size[1] = max(sums.size[0], size), max(sums.size[1], weighed)


@kernel
def leading(data, test, sums):
    """The first of the best decisions; -1 if rounding cannot tell."""
    floor, found = sums.reward.max() - SUM_ERROR * sums.size[0], -1
    for y in range(len(sums.reward)):
        if sums.reward[y] >= floor:
            ahead = 1 if found < 0 else better(y, found, data.decisions, test.estimate)
            if ahead == 2:
                return -1
            if ahead == 1:
                found = y
    return found


@tight
def copy(row, data, decision):
    for i in range(len(decision)):
        decision[i] = data.decisions[row, i]


@lean
def decide(row, data, test, sums):
    """The decision is this row, and all others are compared with it."""
    sums.state[ListState.ROW] = row
    copy(row, data, test.decision)
    for y in range(len(sums.reward)):
        compare(y, data, test, sums)


@lean
def blocking(data, test, sums):
    """The decision that blocks most, and its margin."""
    row, most = sums.state[ListState.ROW], -np.inf
    for y in range(len(sums.reward)):
        if y != row:
            most = max(most, sums.value[y] + sums.reach[y])
    floor = most - 4.0 * SUM_ERROR * (sums.size[1] + abs(most))
    found, least = row, np.inf
    for y in range(len(sums.reward)):
        if y != row and sums.value[y] + sums.reach[y] >= floor:
            margin = margin_of(y, data.decisions, test)
            if margin < least:
                found, least = y, margin
    return found, least


@lean
def shift(i, estimate, value, spread, price, data, test, sums):
    """Arm i has changed; these were its terms before."""
    column = sums.columns[i]
    higher, more = test.estimate[i] - estimate, test.value[i] - value
    wider, dearer = test.spread[i] - spread, test.price[i] - price
    sums.size[0] += sums.widest[i] * abs(higher)
    sums.size[1] += sums.widest[i] * abs(more)
    held, base = column[sums.state[ListState.ROW]], test.base[Base.GUIDE]
    for y in range(len(column)):
        sums.reward[y] += column[y] * higher
        sums.value[y] += column[y] * more
        change = column[y] - held
        if change != 0.0:
            sums.spread[y] += change * change * wider
            sums.price[y] += dearer
            if sums.spread[y] < 0.25 * sums.fresh[y]:  # digits are lost where large numbers leave small ones
                compare(y, data, test, sums)
            else:
                stretch_out(y, base, sums)


@lean
def box_gap(data, game):
    """What another decision could gain on the box."""
    found, gap, sign = 0, -np.inf, game.sequence.span[Span.SIGN]
    for y in range(len(data.decisions)):
        gain = 0.0
        for i in range(len(sign)):
            gain += edge(sign[i] * (data.decisions[y, i] - game.test.decision[i]), i, game.goal)
        if gain > gap:
            found, gap = y, gain
    copy(found, data, game.goal.challenger)
    return gap


@kernel
def near(y, data, game):
    """The decision, which the row y blocks, is within epsilon of the best: 1; 0 if it is not; -1 if rounding cannot tell."""
    narrow(game)
    most, rounding = allowed(game)
    gain = gain_of(data.decisions[y], game.test, game.stakes)
    if gain <= most + rounding:
        gain = most_gained(data.decisions, game.test, game.stakes)
    if min(gain, challenge(game)) > most + rounding:  # with the whole box more is gained, and no more is allowed
        return 0
    widen(game)
    most, rounding = allowed(game)
    gap = challenge(game)
    if gap <= most + rounding:
        gap = box_gap(data, game)
    learn(gap, most, game)
    return verdict(min(gain, gap), most, rounding)


@kernel
def run(data, game, sums, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    test, state, batch = game.test, sums.state, game.batch
    for _ in range(rounds):
        if planned(batch) == 0:
            settle(game)
            old = state[ListState.LEFT] <= 0
            if old:
                add_up(data, test, sums)
                state[ListState.LEFT] = AGE
            row = leading(data, test, sums)
            if row < 0:
                return Stop.UNSURE.value, -1
            if old or row != state[ListState.ROW]:
                decide(row, data, test, sums)
            y, margin = blocking(data, test, sums)
            if margin > 0.0:
                y = row_blocking(y, data.decisions, test, game.stakes)
            blocked = y >= 0
            if blocked:
                copy(y, data, game.rival)
            if blocked and game.goal.epsilon > 0.0 and not batch.spend:
                within = near(y, data, game)
                if within < 0:
                    return Stop.UNSURE.value, -1
                blocked = within == 0
            what = planning(blocked, limit, game)
            if what != Stop.PAUSED:
                return what, -1
        what, arm = take(batch, game.record, game.stock)
        if what != Stop.PAUSED:
            return what, arm
        game.state[State.OBSERVED] = distinct(batch)
        for q in range(game.state[State.OBSERVED]):
            i = batch.arms[q]
            before = test.estimate[i], test.value[i], test.spread[i], test.price[i]
            see(i, game)
            shift(i, *before, data, test, sums)
            state[ListState.LEFT] -= 1
    return Stop.PAUSED.value, -1


def prepare(explorer: Any, source: Any) -> Stretch:
    data = explorer.problem.lower()
    listed = data.decisions
    game = game_of(explorer, source, listed[0].copy(), float(np.abs(listed).max()))
    return Stretch(run, (data, game, sums_of(listed)))


LOOP = Loop(("joint-linear",), Listed, prepare, near=True, batches=True, parameters=("box_share",))
