"""Evidence by betting, for values in [0, 1], from four numbers an arm.

Who bets the share c of a capital of 1 that values lie above u has Prod(1 + c (x - u) / u) afterwards: a supermartingale if their
mean is at most u (Waudby-Smith and Ramdas 2024). The logarithm f(x) of a factor has negative fourth derivative. So the cubic that
meets f at 0 and at 1, and touches it at any y in between, lies nowhere above it: f minus the cubic is f''''(z) / 24 times
x (x - y)^2 (x - 1), for some z. The sum of a cubic over all values needs no more than their first three moments, and is the same
for the three atoms 0, y and 1 that have these moments. Hence, for every bet and whatever the values are,

    ln capital >= n (w_0 ln(1 - c) + w_y ln(1 + c (y - u) / u) + w_1 ln(1 + c (1 - u) / u)),

with equality for 0/1 values and for constant ones. The atoms depend on neither u nor c. That values lie below u is that 1 - x lie
above 1 - u.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..compile import kernel, lean, small, tight
from ..data import Seen
from ..enums import Column, Family
from .unit import LEAST, NONE

# As plain numbers: compiled code cannot choose between members.
BETS, COINS, LUMPS, SQUARES = int(Family.BETS), int(Family.COINS), int(Family.LUMPS), int(Family.SQUARES)


class Bets(NamedTuple):
    """Bets, fixed before any data, and what each has of the capital; and the logarithms of what a bet leaves of a value at the
    wrong end, and of what it has."""

    shares: tuple[float, float, float, float]
    parts: tuple[float, float, float, float]
    log_rest: tuple[float, float, float, float]
    log_parts: tuple[float, float, float, float]


def fixed(shares: tuple[float, ...], parts: tuple[float, ...]) -> Bets:
    return Bets(shares, parts, tuple(math.log1p(-c) for c in shares), tuple(map(math.log, parts)))  # type: ignore[arg-type]


VALUES = fixed((0.12, 0.3, 0.6, 0.95), (0.15, 0.27, 0.33, 0.25))
# Squared differences are mostly small, with a few large ones. That their mean is below u is best bet on boldly, since hardly
# anything can be lost; that it is above u with care. The bold ones have more to show, and so more of the capital.
SQUARES_ABOVE = fixed((0.02, 0.06, 0.2, 0.5), (0.20, 0.25, 0.35, 0.20))
SQUARES_BELOW = fixed((0.3, 0.6, 0.9, 0.99), (0.06, 0.14, 0.20, 0.60))
ABOVE_PART = 0.35  # of the capital of squares, if both sides are in question
LARGEST = VALUES.shares[-1]
ROUNDING = 2e-15  # more than u, the mean and the atom may be off, which near 0 is a part of u that every value multiplies
LOG_ABOVE_PART, LOG_BELOW_PART, LOG_HALF = math.log(ABOVE_PART), math.log(1.0 - ABOVE_PART), math.log(0.5)


@lean
def atoms_of(n, upward, downward):
    """The inner atom of n values in [0, 1] and its weight, from the sums of x^2 (1 - x) and of x (1 - x)^2.

    Where rounding leaves nothing of one of them, the atoms 0 and 1 do alone: that is the chord of f, which lies below it too.
    """
    both = upward + downward
    if not (upward > 0.0 and downward > 0.0):
        return 0.5, 0.0
    share = (both / upward) * (both / downward) * (both / n)
    if not share > 0.0:  # also if it is not a number
        return 0.5, 0.0
    return upward / both, min(share, 1.0)


@lean
def bets_seen(i, paired, counts, table):
    """One arm as bets see it. The first value (of pairs the first square) is not weighed: it says which sort of values these
    are, and that only by whether it is an end of the range."""
    first = table[i, Column.FIRST]
    if math.isnan(first):
        return Seen(BETS, NONE, 0.5, 0.5, 0.0, np.inf, 0.0, 0.0)
    between = 0.0 < first < 1.0
    n = float(counts[i] // 2 if paired else counts[i]) - 1.0
    if n < 1.0:
        sort = COINS if not between else SQUARES if paired else BETS
        return Seen(sort, NONE, first, 0.5, 0.0, np.inf, 0.0, 0.0)
    if paired:
        total = table[i, Column.DIFFERENCES] / table[i, Column.RANGE] / table[i, Column.RANGE]
    else:
        total = (table[i, Column.SUM] + table[i, Column.CARRY]) / table[i, Column.RANGE]
    inner, share = atoms_of(n, table[i, Column.UPWARD], table[i, Column.DOWNWARD])
    if between:
        family = SQUARES if paired else BETS
    else:
        family = LUMPS if share > 0.0 else COINS
    return Seen(family, n, min(max((total - first) / n, 0.0), 1.0), inner, share, np.inf, 0.0, 0.0)


@kernel
def fill_bets(paired, counts, table, families, seen):
    """What ``bets_seen`` says of all arms that are weighed by bets, in the rows of ``seen``."""
    for i in range(len(families)):
        if families[i] == Family.BETS:
            arm = bets_seen(i, paired[i], counts, table)
            families[i], seen[0, i], seen[1, i], seen[2, i], seen[3, i] = arm.family, arm.n, arm.p, arm.inner, arm.share


@tight
def by_growth(family):
    """An arm's evidence is guided by the growth of its best bet, or of likelihood: every value counts as much."""
    return grows_by_bets(family) or family == Family.STUDENT


@tight
def grows_by_bets(family):
    return family == Family.BETS or family == Family.LUMPS or family == Family.SQUARES


@tight
def has_bets(family):
    return grows_by_bets(family) or family == Family.COINS


@tight
def ends_of(p, inner, share):
    """The weights of the atoms 0 and 1, from the mean."""
    return max((1.0 - p) - share * (1.0 - inner), 0.0), max(p - share * inner, 0.0)


@small
def log_capital(n, p, inner, share, u, bets):
    """Of all bets together that the mean is above u."""
    u = min(max(u, LEAST), 1.0 - LEAST)
    none, all_ = ends_of(p, inner, share)
    most, total = -np.inf, 0.0
    rise, turn = (1.0 - u) / u, (inner - u) / u
    for k in range(len(bets.shares)):
        c = bets.shares[k]
        found = bets.log_parts[k] + n * (none * bets.log_rest[k] + all_ * math.log1p(c * rise) + share * math.log1p(c * turn))
        if found > most:
            total, most = total * math.exp(most - found) + 1.0, found
        else:
            total += math.exp(found - most)
    return most + math.log(total) - ROUNDING * n / u


@tight
def best_bet(none, all_, share, rise, turn):
    """The bet with the largest growth, at most ``LARGEST``: where the derivative in c, a quadratic over positive terms, is 0."""
    start = all_ * rise + share * turn - none  # at c = 0: the mean is above u
    if not start > 0.0:
        return 0.0
    slope = all_ * rise * (turn - 1.0) + share * turn * (rise - 1.0) - none * (rise + turn)
    bend = -(none + all_ + share) * rise * turn
    root = math.sqrt(max(slope * slope - 4.0 * bend * start, 0.0))
    # the smallest root above 0, without cancellation; both are above 0 only if bend > 0 > slope
    c = 2.0 * start / (root - slope) if root > slope else LARGEST
    return c if 0.0 < c < LARGEST else LARGEST


@tight
def growth(p, inner, share, u):
    """The growth of the best bet that the mean, which is above u, is so, per value; and its first two derivatives in u.

    By the envelope theorem the first is that at a fixed bet, which is -c / u where the best bet is no limit.
    """
    none, all_ = ends_of(p, inner, share)
    each = 1.0 / u
    rise, turn = (1.0 - u) * each, (inner - u) * each
    c = best_bet(none, all_, share, rise, turn)
    if c == 0.0:
        return 0.0, 0.0, 1.0
    up, mid = 1.0 + c * rise, 1.0 + c * turn
    value = none * math.log(1.0 - c) + all_ * math.log(up) + share * math.log(mid)
    less, least = 1.0 / up, 1.0 / mid
    one, two = all_ * each * less, share * inner * each * least  # x / u over the factor, at the atoms 1 and y
    if c < LARGEST:  # how the best bet changes with u: F(c, u) = sum of w a / (1 + c a), a = x / u - 1
        lost, more, some = 1.0 / (1.0 - c), rise * less, turn * least
        by_c = none * lost * lost + all_ * more * more + share * some * some
        by_u = (one * less + two * least) * each
        bend = c * each * each
        return value, -c * each, bend + by_u * each / by_c if by_c > 0.0 else bend
    first = -c * (one + two) * each
    second = c * (one * (2.0 - c * each * less) + two * (2.0 - c * inner * each * least)) * each * each
    return value, first, second


@tight
def growth_from(p, inner, share, u):
    """As ``growth``, on either side of the mean."""
    u = min(max(u, LEAST), 1.0 - LEAST)
    if u <= p:
        return growth(p, inner, share, u)
    value, first, second = growth(1.0 - p, 1.0 - inner, share, 1.0 - u)
    return value, -first, second
