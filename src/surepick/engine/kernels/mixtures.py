"""Evidence against a parameter, as the logarithm of a mixture martingale, and the intervals that follow from it.

An arm is seen through n observations with mean p of one of these kinds:

* ``UNIT``: values in [0, 1] with mean u. For every q the product of (q/u)^x ((1-q)/(1-u))^(1-x) is a supermartingale, because
  it is convex in x and has mean 1 at the ends; q is mixed over Beta(rho u, rho (1 - u)). Without replacement: see finite.py.
* ``NORMAL``: 1-sub-Gaussian values with mean u; exp(l (x - u) - l^2 / 2) is mixed over l normal with variance 1 / rho.
* ``SPREAD``: 0/1 values with variance u = q (1 - q), seen through their mean as a ``UNIT``.
* ``BETS``, ``COINS``, ``LUMPS``: values in [0, 1] with mean u; the average of the capital of all bets (see bets.py) and of the
  mixture of a ``UNIT``. Which of the three an arm is its first value says, which is not weighed, and so is what either has of it.
  Without replacement bets are on draws anew (see surepick/redraws.py), and either has a fixed part.
* ``STUDENT``: normal values with mean u and any variance; the average of evidence by likelihood and by symmetry (see student.py).

By Ville's inequality the evidence against the true u exceeds ln(1/alpha) at any time with probability at most alpha. Mixed over
q above (below) u only, it is one-sided evidence that the mean lies above (below) u, worth up to ln 2 more.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile import kernel, lean, small, tight
from ..data import Seen
from ..enums import Family
from .bets import (
    LOG_ABOVE_PART,
    LOG_BELOW_PART,
    LOG_HALF,
    SQUARES_ABOVE,
    SQUARES_BELOW,
    VALUES,
    has_bets,
    log_capital,
)
from .divergence import roots
from .finite import log_drawn, log_rise, possible, spread
from .sides import ABOVE, BELOW, BOTH, HEDGE, one_sided
from .student import student_parts
from .unit import LEAST

UNIT = int(Family.UNIT)  # a plain number: compiled code cannot choose between a member and a number
EVEN, BETTORS, COINERS = 0, 1, 2  # arms by what they are expected to show
# What the first and the second part of the evidence of an arm have of its capital, by these sorts (rows).
ALONE = np.array([[0.4, 0.6], [0.08, 0.92], [0.75, 0.25]])
LOG_ALONE = np.log(ALONE)
# And of that of two arms: both first parts, both second ones, one each, either way.
BOTH_EVEN, BOTH_BETTORS, BOTH_COINERS = [0.41, 0.55, 0.02, 0.02], [0.08, 0.88, 0.02, 0.02], [0.72, 0.24, 0.02, 0.02]
TOGETHER = np.array(
    [
        [BOTH_EVEN, [0.03, 0.52, 0.42, 0.03], [0.33, 0.13, 0.10, 0.44]],
        [[0.03, 0.52, 0.03, 0.42], BOTH_BETTORS, [0.10, 0.26, 0.02, 0.62]],
        [[0.33, 0.13, 0.44, 0.10], [0.10, 0.26, 0.62, 0.02], BOTH_COINERS],
    ]
)
LOG_TOGETHER = np.log(TOGETHER)
LEAST_PART = float(TOGETHER.min())


@small
def log_beta(a, b):
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@small
def fraction(a, b, x):
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    h = d
    for k in range(1, 100_000):
        for even in (True, False):
            if even:
                term = k * (b - k) * x / ((a - 1.0 + 2 * k) * (a + 2 * k))
            else:
                term = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 1.0 + 2 * k))
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = 1.0 + term / c
            c = c if abs(c) > tiny else tiny
            h *= d * c
        if abs(d * c - 1.0) < 1e-13:
            break
    return h


@small
def log_tail(a, b, x):
    """ln P(Beta(a, b) > x)."""
    if x < (a + 1.0) / (a + b + 2.0):
        # One minus what lies below, which is nearly all if a is tiny: so its logarithm must be right to the last digit.
        first = math.lgamma(1.0 + a) if a > 1e-6 else a * (0.8224670334241132 * a - 0.5772156649015329)
        below = a * math.log(x) + b * math.log1p(-x) - first + log_rise(b, a) + math.log(fraction(a, b, x))
        return math.log(-math.expm1(min(below, -1e-17)))
    front = a * math.log(x) + b * math.log1p(-x) - log_beta(a, b)
    return front + math.log(fraction(b, a, 1.0 - x) / b)


@small
def unit_evidence(n, p, u, rho, side):
    """Against mean u, from n values in [0, 1] with mean p."""
    return mean_evidence(n, p, np.inf, u, rho, side)


@small
def mean_evidence(n, p, whole, u, rho, side):
    """Against mean u, from n values in [0, 1] with mean p; of so many without replacement, if that is finite."""
    if side == BELOW:  # that the mean is below u is that of 1 - x is above 1 - u
        p, u, side = 1.0 - p, 1.0 - u, ABOVE
    u = min(max(u, LEAST), 1.0 - LEAST)
    a, b = rho * u, rho * (1.0 - u)
    yes, no = n * p, max(n * (1.0 - p), 0.0)
    found = log_beta(a + yes, b + no) - log_beta(a, b)
    if whole < np.inf:
        found -= log_drawn(yes, no, whole, u)
    else:
        found = found - yes * math.log(u) - no * math.log1p(-u)
    if side == ABOVE:
        tail = log_tail(a + yes, b + no, u) - log_tail(a, b, u)
        found += math.log((1.0 - HEDGE) * math.exp(tail) + HEDGE)
    return found


@kernel
def normal_evidence(n, p, u, rho, side):
    """Against mean u, from n 1-sub-Gaussian values with mean p."""
    s = n * (p - u)
    found = 0.5 * s * s / (n + rho) - 0.5 * math.log1p(n / rho)
    if side != BOTH:
        found += one_sided(side * s / math.sqrt(n + rho))
    return found


@tight
def log_sum(a, b):
    """ln(e^a + e^b)."""
    most = max(a, b)
    return most + math.log1p(math.exp(min(a, b) - most)) if most > -np.inf else most


@kernel
def by_bets(seen, u, side):
    """The logarithm of the capital of bets against mean u.

    If both sides are in question, a part of the bets is on either: half, but for squares. Those on the wrong side of what is seen
    have lost, and are left out: so it is less than it could be, and rises from what is seen to either end.
    """
    n, p = (seen.draws, seen.drawn) if seen.whole < np.inf else (seen.n, seen.p)
    above, squares = side == ABOVE or (side == BOTH and u < p), seen.family == Family.SQUARES
    part = 0.0
    if side == BOTH:
        part = LOG_HALF if not squares else LOG_ABOVE_PART if above else LOG_BELOW_PART
    if above:
        return log_capital(n, p, seen.inner, seen.share, u, SQUARES_ABOVE if squares else VALUES) + part
    return log_capital(n, 1.0 - p, 1.0 - seen.inner, seen.share, 1.0 - u, SQUARES_BELOW if squares else VALUES) + part


@kernel
def parts(seen, u, rho, side):
    """Log evidence against u, as that of the mixture and that of bets, or by symmetry and by likelihood; -inf if there is but
    one sort."""
    if has_bets(seen.family):
        return mean_evidence(seen.n, seen.p, seen.whole, u, rho, side), by_bets(seen, u, side)
    if seen.family == Family.STUDENT:
        return student_parts(seen, u, side)
    return evidence(seen, u, rho, side), -np.inf


@tight
def sort_of(family, whole):
    """The row of ``ALONE`` for an arm whose evidence has two parts."""
    if family == Family.STUDENT or whole < np.inf:  # finitely many values have no first one that is held back
        return EVEN
    return BETTORS if family == Family.BETS or family == Family.SQUARES else COINERS


@tight
def alone(sort, mixed, bet):
    """The evidence of one arm of a sort, from its parts."""
    if bet == -np.inf:
        return mixed
    return log_sum(LOG_ALONE[sort, 0] + mixed, LOG_ALONE[sort, 1] + bet)


@lean
def together(sort_h, mixed_h, bet_h, sort_j, mixed_j, bet_j):
    """The evidence of two arms, from their parts.

    Where both have two it is the average of four products, mostly of those whose factors suit the sorts of the arms: two arms
    then pay once for the choice, and not twice.
    """
    if bet_h == -np.inf or bet_j == -np.inf:
        return alone(sort_h, mixed_h, bet_h) + alone(sort_j, mixed_j, bet_j)
    weights = LOG_TOGETHER[sort_h, sort_j]
    same = log_sum(weights[0] + (mixed_h + mixed_j), weights[1] + (bet_h + bet_j))
    return log_sum(same, log_sum(weights[2] + (mixed_h + bet_j), weights[3] + (bet_h + mixed_j)))


@kernel
def evidence(seen, u, rho, side):
    """Log evidence against u: that the parameter is above it, below it, or other (``side``)."""
    n, p, whole = seen.n, seen.p, seen.whole
    if seen.family == Family.UNIT:
        return mean_evidence(n, p, whole, u, rho, side)
    if seen.family == Family.NORMAL:
        return normal_evidence(n, p, u, rho, side)
    if has_bets(seen.family):
        return alone(sort_of(seen.family, whole), mean_evidence(n, p, whole, u, rho, side), by_bets(seen, u, side))
    if seen.family == Family.STUDENT:
        mixed, likely = student_parts(seen, u, side)
        return alone(EVEN, mixed, likely)
    small, large = roots(u)
    # Above u the mean lies between the roots. Below u it is outside, on the side where it is seen, which makes it two-sided; seen
    # between the roots there is none, and no more than the martingale of either root has, for one of them is the truth.
    between = small < p < large
    found = 0.0 if side == BELOW and between else np.inf
    for k in range(2):
        if side != BELOW or between or (p <= small) == (k == 0):
            towards = BOTH if side == BELOW else (side if k == 0 else -side)
            found = min(found, mean_evidence(n, p, whole, small if k == 0 else large, rho, towards))
    return found


@tight
def of_values(seen):
    """The arm as the mean of its values shows it, also where the parameter is the variance of 0/1 values."""
    family = UNIT if seen.family == Family.SPREAD else seen.family
    n = seen.n if has_bets(family) else max(seen.n, 1.0)
    return Seen(family, n, seen.p, seen.inner, seen.share, seen.whole, seen.draws, seen.drawn)


@kernel
def reach(seen, end, rho, level):
    """How far from p towards ``end`` a parameter may lie with two-sided evidence at most ``level``; rounded outwards."""
    inside, outside = seen.p, end
    if evidence(seen, end, rho, BOTH) <= level:
        return end
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        if evidence(seen, middle, rho, BOTH) <= level:
            inside = middle
        else:
            outside = middle
        if abs(outside - inside) <= 1e-12 * (abs(outside) + abs(inside)):
            break
    return outside


@kernel
def student_interval(seen, rho, level):
    """All means with evidence at most ``level``, which grows on either side of p without end."""
    if seen.n < 1.0:
        return -np.inf, np.inf
    away = 1.0
    while away < 1e150 and evidence(seen, seen.p + away, rho, BOTH) <= level:
        away *= 4.0
    return reach(seen, seen.p - away, rho, level), reach(seen, seen.p + away, rho, level)


@kernel
def interval(seen, rho, level):
    """All parameters with evidence at most ``level``: an interval."""
    if seen.family == Family.STUDENT:
        return student_interval(seen, rho, level)
    values = of_values(seen)
    n, p = values.n, values.p
    if seen.family == Family.NORMAL:
        half = math.sqrt((n + rho) * (math.log1p(n / rho) + 2.0 * level)) / n
        return p - half, p + half
    least, most = possible(n, p, values.whole)
    if not n < values.whole:
        low, high = p, p
    else:
        low, high = reach(values, least, rho, level), reach(values, most, rho, level)
    return spread(low, high) if seen.family == Family.SPREAD else (low, high)


@tight
def seen_by(family, seen, i):
    """Arm i, whose numbers are in column i."""
    return Seen(family, seen[0, i], seen[1, i], seen[2, i], seen[3, i], seen[4, i], seen[5, i], seen[6, i])


@kernel
def intervals(families, seen, rho, level, before, lower, upper):
    """Intervals of all arms, of which ``seen`` has n, p and the atoms; only arms that have changed since ``before`` are worked
    out again."""
    for i in range(len(families)):
        for k in range(len(seen)):
            if seen[k, i] != before[k, i]:
                lower[i], upper[i] = interval(seen_by(families[i], seen, i), rho, level)
                before[:, i] = seen[:, i]
                break
