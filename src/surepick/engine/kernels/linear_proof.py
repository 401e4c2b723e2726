"""Whether another decision is certainly worse, by evidence about all arms in which it differs; see policies/joint_linear.py.

For a decision y with change c, of support S, let A be what it is behind by at the means, and e_i(m) the conjugate evidence of
stakes.py. For every slope mu > 0 and every k the evidence against all parameters at which y is as good is at least
mu A + sum over S of e_i(mu |c_i|). So y is excluded if for some mu and k

    A > (ln(1 / delta) + a - ln w_k + sum over S of (b - e_i(mu |c_i|))) / mu,

of which the right side is linear in the entries of a 0/1 decision: one call of a maximiser bounds all of them.

Normal arms: their evidence is nowhere less than at their means, and rises from there. So of all parameters at which y gains g
those count whose distances from the means are towards y and sum to A + g, and those that gain more have more evidence against
them than some that gain g. If the right side, worked out for distances up to a limit, is at most the limit, it is therefore
valid.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile import kernel, lean, tight
from ..enums import Base, Family, Known
from .stakes import NEAR, NO_STAKE, PAYS, SIZES, conjugate, suiting

FIRST_STEP = 1.6  # of slopes, as a factor
HOPE = 0.5  # a better slope by less than a factor 1 + x makes a reach at most this times x less, relatively
NO_BETTER = 1e-9  # relative to a reach: it is no better for so little


@tight
def about(k, i, change, test):
    """The stakes of an arm, where those of the arm with the largest unit and change are about S_k."""
    away = test.away[i] if change == 1.0 else test.away[i] - math.log2(change)
    return min(max(k + math.floor(away + 0.5), 0), NO_STAKE - 1)


@tight
def needed(i, change, k, mu, test, stakes):
    """What an arm that differs adds to what is needed: its part of the union's price, and its conjugate evidence."""
    size = abs(change)
    side = 0 if change * test.sign[0] < 0.0 else 1
    return test.base[Base.EACH] - conjugate(about(k, i, size, test), mu * size, side, test.base[Base.LIMIT] / size, i, stakes)


@lean
def reach(other, k, mu, test, stakes):
    """By how much another decision may be better than it looks."""
    need = test.base[Base.LEVEL] + PAYS[k]
    for i in range(len(other)):
        change = float(other[i] - test.decision[i])
        if change != 0.0:
            need += needed(i, change, k, mu, test, stakes)
    return need / mu


@lean
def behind_by(other, test):
    """A, less what rounding may take from it."""
    ahead = 0.0
    for i in range(len(other)):
        change = float(other[i] - test.decision[i])
        if change != 0.0:
            ahead -= change * test.value[i] + abs(change) * test.rounding[i]
    return ahead


@lean
def slope_about(other, test):
    """About the slope that suits a decision."""
    spread, price = 0.0, test.base[Base.LEVEL] + 2.0
    for i in range(len(other)):
        change = float(other[i] - test.decision[i])
        if change != 0.0:
            spread += change * change * test.spread[i]
            price += test.base[Base.EACH] + 0.3
    return math.sqrt(2.0 * price / spread) if spread > 0.0 else 1.0


@lean
def centre(other, mu, test, stakes):
    """The k whose stakes are about those that suit the arms in which a decision differs."""
    total, many = 0.0, 0
    for i in range(len(other)):
        change = float(other[i] - test.decision[i])
        if change != 0.0:
            total += suiting(mu * abs(change), i, stakes) - (test.away[i] - math.log2(abs(change)))
            many += 1
    return min(max(math.floor(total / many + 0.5), 0), NO_STAKE - 1)


@lean
def steepest(stakes):
    """The largest slope at which all arms have evidence: one without bounds has none beyond its largest stake."""
    most = np.inf
    for i in range(len(stakes.fresh)):
        family = int(stakes.facts[Known.FAMILY, i])
        if family == Family.NORMAL:
            most = min(most, SIZES[0] * stakes.facts[Known.N, i] / stakes.facts[Known.SCALE, i])
    return most


@kernel
def tightest(other, enough, limit, test, stakes):
    """The least reach of a decision that is found, and its k and mu.

    No further once it is below ``enough``, or so far above that a better slope would not help.
    """
    test.base[Base.LIMIT] = limit
    mu = slope_about(other, test)
    k = centre(other, mu, test, stakes)
    least = reach(other, k, mu, test, stakes)
    step = FIRST_STEP
    while step > NEAR and not least < enough:
        around, at, better = mu, k, False
        for turn in range(4):  # other stakes, then other slopes with the best of them
            up = turn % 2 == 0
            c, slope = (at + (1 if up else -1), around) if turn < 2 else (k, around * step if up else around / step)
            if 0 <= c < NO_STAKE:
                found = reach(other, c, slope, test, stakes)
                if found < least * (1.0 - NO_BETTER):
                    mu, k, least, better = slope, c, found, True
        if not better:
            if 0.0 < enough and least > enough * (1.0 + (step - 1.0) * HOPE):
                break
            step = math.sqrt(step)
    return least if least <= limit or limit == np.inf else np.inf, k, mu


@tight
def normal(stakes):
    """The arms are normal, with unknown variance: all are, or none."""
    return int(stakes.facts[Known.FAMILY, 0]) == Family.STUDENT


@lean
def room_for(other, test, stakes):
    """A limit that leaves room for some gain; none where none is needed."""
    if not normal(stakes):
        return np.inf
    return 2.0 * max(behind_by(other, test), 0.0) + 8.0 * test.base[Base.LEVEL] / slope_about(other, test)


@kernel
def blocks(other, test, stakes):
    """Whether a decision may be better; and the k and mu that showed, or were nearest to showing, that it is worse."""
    ahead = behind_by(other, test)
    if not ahead > 0.0:
        return True, 0, 1.0
    least, k, mu = tightest(other, ahead, ahead if normal(stakes) else np.inf, test, stakes)
    return not least < ahead, k, min(mu, steepest(stakes))


@kernel
def gain_of(other, test, stakes):
    """By how much another decision may be better at most."""
    return tightest(other, 0.0, room_for(other, test, stakes), test, stakes)[0] - behind_by(other, test)


# -- one decision of a list --------------------------------------------------------------------------------------------


@kernel
def row_blocking(first, listed, test, stakes):
    """A listed decision that may be better, looking at ``first`` first; -1 if there is none."""
    for y in range(-1, len(listed)):
        row = first if y < 0 else y
        if y != first:
            moved = False
            for i in range(len(test.decision)):
                moved |= listed[row, i] != test.decision[i]
            if moved and blocks(listed[row], test, stakes)[0]:
                return row
    return -1


@kernel
def most_gained(listed, test, stakes):
    """The most by which any listed decision may be better."""
    found = 0.0
    for row in range(len(listed)):
        moved = False
        for i in range(len(test.decision)):
            moved |= listed[row, i] != test.decision[i]
        if moved:
            found = max(found, gain_of(listed[row], test, stakes))
    return found


# -- decisions that a maximiser finds ----------------------------------------------------------------------------------


@kernel
def opening(other, test, stakes):
    """The k and mu to begin with: those of a decision that differs, or of one that differs in all arms."""
    moved = False
    for i in range(len(other)):
        moved |= other[i] != test.decision[i]
    if not moved:
        other = 1 - test.decision
    _, k, mu = tightest(other, 0.0, room_for(other, test, stakes), test, stakes)
    return k, min(mu, steepest(stakes))


@lean
def allow(worst, test, stakes):
    """Let all decisions be bounded at once: none is behind by more than the worst."""
    test.base[Base.WIDEST] = behind_by(worst, test) if normal(stakes) else np.inf


@tight
def base(k, mu, test):
    """What any difference needs, by the linear bound."""
    return (test.base[Base.LEVEL] + PAYS[k]) / mu


@tight
def weight_at(i, k, mu, test, stakes):
    """An arm at the end that is bad for the decision, by the linear bound."""
    change = -1.0 if test.decision[i] > 0 else 1.0
    return test.value[i] + change * (needed(i, change, k, mu, test, stakes) / mu + test.rounding[i])


@lean
def bend(k, mu, test, stakes, weights):
    """All arms at the ends that are bad for the decision; returns the sum of their sizes."""
    size, test.base[Base.LIMIT] = 0.0, test.base[Base.WIDEST]
    for i in range(len(weights)):
        weights[i] = weight_at(i, k, mu, test, stakes)
        size += abs(weights[i])
    return size


@kernel
def next_slope(other, mu, low, high, test, stakes):
    """k and mu to go on with after a decision was the best at a slope, between the slopes below and above which it is of no use
    to go: the linear bound of all is convex in 1 / mu, and falls towards the slope that suits its maximiser."""
    k, new = opening(other, test, stakes)
    if new > mu:
        low = mu
    else:
        high = mu
    if not low < new < high:
        new = math.sqrt(low * high) if low > 0.0 and high < np.inf else new
    return k, new, low, high


@lean
def bend_for(size, k, mu, test, stakes, weights):
    """As ``bend``, with what any difference needs spread over ``size`` arms: decisions that differ in so many are then the best
    if they may be better."""
    bend(k, mu, test, stakes, weights)
    each = base(k, mu, test) / size
    for i in range(len(weights)):
        weights[i] += -each if test.decision[i] > 0 else each


@lean
def bend_with(i, k, mu, test, stakes, weights):
    """As ``bend``, and so that the best decision has another entry for arm i, if any has."""
    force = 4.0 * bend(k, mu, test, stakes, weights)
    if force == 0.0:
        force = 1.0
    weights[i] += -force if test.decision[i] > 0 else force


@lean
def excess(other, k, mu, test, stakes):
    """<weights, other - decision> at this slope."""
    total, test.base[Base.LIMIT] = 0.0, test.base[Base.WIDEST]
    for i in range(len(other)):
        if other[i] != test.decision[i]:
            total += weight_at(i, k, mu, test, stakes) * (other[i] - test.decision[i])
    return total


@lean
def certain(other, k, mu, test, stakes):
    """The maximiser ``other`` at these weights shows that all decisions it was the best of are worse."""
    return excess(other, k, mu, test, stakes) < -base(k, mu, test)
