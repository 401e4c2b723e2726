"""How much evidence two arms have together that slope_h theta_h >= slope_j theta_j, about: the generalised likelihood ratio.

It is the least of w_h d(p_h, u_h) + w_j d(p_j, u_j) over all parameters for which the claim is false, d being the divergence and
w = n^2 / (n + rho) about the count. It guides the sampling, and says when the exact evidence is worth working out.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from ..compile import lean, tight
from ..data import Glimpse, Seen
from ..enums import Family
from .bets import by_growth, grows_by_bets, growth_from
from .divergence import divergence, divergence_bound, kl_bound, tilt_of
from .finite import effective
from .student import student_growth
from .unit import LEAST

LEAST_WITHIN = 1e-9  # how near to its least it is worked out
BOUND_ERROR, BOUND_ERROR_EACH = (
    1e-9,
    1e-14,
)  # bounds are lowered by these, the second for every observation: more than arithmetic may err


# With these the quick estimate is rarely below the exact evidence by more than ``exchanges.SLACK``.
PRICE_OF_BETS, PRICE_OF_LUMPS, PRICE_OF_COINS, PRICE_OF_STUDENT = 1.0, 1.6, 0.12, 1.2


class Spare(IntEnum):
    """Rows of ``spare``, see ``glr_bounds``."""

    LEVEL = 0
    SLOPE = 1
    FOUND = 2


class Fact(IntEnum):
    """What is known of an arm, in a row of its own: family, n and p; n^2 / (n + rho); ln(1 + n / rho) / 2; the parameter seen;
    its range; what turns it into units; ln(1 + n / rho) / 2 after all samples that may yet be planned before the next look; the
    inner atom and its weight. For bets see ``factor_of`` and ``price_of``."""

    FAMILY = 0
    N = 1
    P = 2
    FACTOR = 3
    HALF = 4
    SEEN = 5
    LOW = 6
    HIGH = 7
    SHIFT = 8
    SCALE = 9
    AHEAD = 10
    INNER = 11
    SHARE = 12


@tight
def seen_of(i, arms):
    """One arm as evidence sees it."""
    inner, share = arms.atoms[0, i], arms.atoms[1, i]
    if arms.finite.shape[1] == 0:
        return Seen(arms.families[i], arms.n[i], arms.p[i], inner, share, np.inf, 0.0, 0.0)
    return Seen(arms.families[i], arms.n[i], arms.p[i], inner, share, arms.finite[0, i], arms.finite[1, i], arms.finite[2, i])


@tight
def glimpse_of(i, arms):
    """One arm as guides see it."""
    return Glimpse(arms.families[i], arms.n[i], arms.p[i], arms.atoms[0, i], arms.atoms[1, i])


@tight
def whole_of(i, arms):
    """How many values an arm has."""
    return arms.finite[0, i] if arms.finite.shape[1] > 0 else np.inf


@tight
def factor_of(family, n, whole, rho):
    """About how many observations count: a mixture that is tuned to rho of them loses some of the first."""
    n = effective(n, whole)
    return n if by_growth(family) else n * n / (n + rho)


@tight
def weight_of(i, arms):
    return factor_of(arms.families[i], arms.n[i], whole_of(i, arms), arms.rho[i])


@tight
def price_of(family, n, rho):
    """About what a mixture costs, two-sided: of so many bets a few are near the best, however long one plays."""
    if by_growth(family):
        return PRICE_OF_LUMPS if family == Family.LUMPS else PRICE_OF_STUDENT if family == Family.STUDENT else PRICE_OF_BETS
    return 0.5 * math.log1p(n / rho) + (PRICE_OF_COINS if family == Family.COINS else 0.0)


@tight
def by_mean(family):
    """Of two such arms in the same units the likelihood ratio is least at the mean of both."""
    return family == Family.UNIT or family == Family.COINS or family == Family.NORMAL


@tight
def base_of(h, j, slope_h, slope_j, arms):
    """What parameters of two arms are counted from: where u = 0 is for the arm of smaller scale, so that levels keep its digits.

    Where slopes differ, as they do for variances, it must be 0.
    """
    if slope_h != slope_j:
        return 0.0
    if arms.scale[h] == arms.scale[j]:
        return arms.shift[min(h, j)]  # the same whichever is to be larger, so that a problem and its mirror image round alike
    return arms.shift[h] if arms.scale[h] < arms.scale[j] else arms.shift[j]


@tight
def settled(h, j, slope_h, slope_j, base, more, arms):
    """Whatever the parameters are, slope_h theta_h + more >= slope_j theta_j: also if they tie, one of them being known."""
    most, least = slope_j * (arms.high[j] - base), slope_h * (arms.low[h] - base) + more
    tied = arms.low[h] == arms.high[h] or arms.low[j] == arms.high[j]
    return most < least or (most == least and tied)


@lean
def bracket(h, j, slope_h, slope_j, base, arms):
    """Levels g = slope (theta - base) that both arms can be at, widened to where a claim is never or always true."""
    return (
        max(slope_h * (arms.low[h] - base), slope_j * (arms.low[j] - base)),
        min(slope_h * (arms.high[h] - base), slope_j * (arms.high[j] - base)),
    )


@lean
def level_seen(i, slope, base, arms):
    """The level at which an arm's observations are, counted from ``base``."""
    u = arms.p[i] * (1.0 - arms.p[i]) if arms.families[i] == Family.SPREAD else arms.p[i]
    return slope * ((arms.shift[i] - base) + arms.scale[i] * u)


@lean
def in_order(h, j, slope_h, slope_j, arms):
    """The arms are seen as slope_h theta_h > slope_j theta_j says; if they are not, ``glr`` is 0 whatever their numbers are."""
    base = base_of(h, j, slope_h, slope_j, arms)
    return level_seen(h, slope_h, base, arms) > level_seen(j, slope_j, base, arms)


@lean
def glr_at(g, h, j, slope_h, slope_j, arms):
    w_h, w_j = weight_of(h, arms), weight_of(j, arms)
    base = base_of(h, j, slope_h, slope_j, arms)
    d_h = divergence(glimpse_of(h, arms), (g / slope_h - (arms.shift[h] - base)) / arms.scale[h])
    return w_h * d_h + w_j * divergence(glimpse_of(j, arms), (g / slope_j - (arms.shift[j] - base)) / arms.scale[j])


@tight
def least_level(h, j, slope_h, slope_j, arms):
    """The level at which the likelihood ratio is least, and NaN; or no level, and what it is without."""
    base = base_of(h, j, slope_h, slope_j, arms)
    start, end = bracket(h, j, slope_h, slope_j, base, arms)
    if start >= end:
        if settled(h, j, slope_h, slope_j, base, 0.0, arms):
            return start, np.inf
        if start > end:
            return start, 0.0
    at_h, at_j = level_seen(h, slope_h, base, arms), level_seen(j, slope_j, base, arms)
    if at_h <= at_j:
        return start, 0.0
    a, b = min(max(at_j, start), end), min(max(at_h, start), end)
    w_h, w_j = weight_of(h, arms), weight_of(j, arms)
    g = min(max((w_h * at_h + w_j * at_j) / (w_h + w_j), a), b)
    plain = by_mean(arms.families[h])
    if (
        plain
        and arms.families[h] == arms.families[j]
        and slope_h == slope_j
        and arms.scale[h] == arms.scale[j]
        and arms.shift[h] == arms.shift[j]
    ):
        return g, np.nan
    unit_h, unit_j = slope_h * arms.scale[h], slope_j * arms.scale[j]
    least, most, stride = a, b, b - a
    for _ in range(60):  # Newton's method for the zero of the derivative, which rises; halving where that leads too little far
        h_1, h_2 = tilt_of(glimpse_of(h, arms), (g / slope_h - (arms.shift[h] - base)) / arms.scale[h])
        j_1, j_2 = tilt_of(glimpse_of(j, arms), (g / slope_j - (arms.shift[j] - base)) / arms.scale[j])
        tilt = w_h * h_1 / unit_h + w_j * j_1 / unit_j
        bend = w_h * h_2 / (unit_h * unit_h) + w_j * j_2 / (unit_j * unit_j)
        if tilt > 0.0:
            most = g
        else:
            least = g
        if abs(tilt) * (most - least) <= LEAST_WITHIN:  # no more than that is left, by the tangent
            break
        before, stride = stride, -tilt / bend if bend > 0.0 else most - least
        if not (least < g + stride < most and abs(stride) <= 0.5 * abs(before)):
            stride = 0.5 * (least + most) - g
        g += stride
    return g, np.nan


@tight
def glr(h, j, slope_h, slope_j, arms):
    """About how much evidence there is for slope_h theta_h >= slope_j theta_j; quick, and not a bound. It guides the sampling."""
    g, found = least_level(h, j, slope_h, slope_j, arms)
    return glr_at(g, h, j, slope_h, slope_j, arms) if math.isnan(found) else found


@tight
def rates(h, j, slope_h, slope_j, arms):
    """What one observation more of either arm adds, about: its divergence at the level at which both together are least."""
    g, found = least_level(h, j, slope_h, slope_j, arms)
    if not math.isnan(found):
        return 0.0, 0.0
    base = base_of(h, j, slope_h, slope_j, arms)
    d_h = divergence(glimpse_of(h, arms), (g / slope_h - (arms.shift[h] - base)) / arms.scale[h])
    return d_h, divergence(glimpse_of(j, arms), (g / slope_j - (arms.shift[j] - base)) / arms.scale[j])


@tight
def by_rates(h, j, arms):
    """``rates`` say which of two arms to sample: of bets, and of normal values, every one counts as much."""
    kind = arms.families[h]
    return kind == arms.families[j] and by_growth(kind)


@tight
def glr_of_two(w_h, p_h, w_j, p_j, normal):
    """At most ``glr`` for two arms of these weights that are seen at p_h and p_j, in the right order."""
    if normal:
        found = 0.5 * (w_h * w_j / (w_h + w_j)) * (p_h - p_j) * (p_h - p_j)
    else:
        g = (w_h * p_h + w_j * p_j) / (w_h + w_j)
        found = w_h * kl_bound(p_h, g) + w_j * kl_bound(p_j, g)
    return found * (1.0 - BOUND_ERROR) - BOUND_ERROR_EACH * (w_h + w_j)


@tight
def glr_bound_alike(h, j, known):
    """At most ``glr`` for two arms of the same kind, shift, scale, range and slope."""
    if known[h, Fact.SEEN] <= known[j, Fact.SEEN]:
        return 0.0
    normal = int(known[h, Fact.FAMILY]) == Family.NORMAL
    return glr_of_two(known[h, Fact.FACTOR], known[h, Fact.P], known[j, Fact.FACTOR], known[j, Fact.P], normal)


@tight
def within(u):
    """A mean of values in [0, 1], kept away from the ends."""
    return min(max(u, LEAST), 1.0 - LEAST)


@tight
def unit_tilt(p, u):
    """First and second derivative of the divergence of u from p in u."""
    curve = 1.0 / (u * (1.0 - u))
    return (u - p) * curve, (p * (1.0 - u) * (1.0 - u) + (1.0 - p) * u * u) * curve * curve


@tight
def quick_tilt(seen, u):
    """As ``tilt_of``, with fewer divisions; the last bits differ."""
    return unit_tilt(seen.p, within(u)) if seen.family == Family.UNIT or seen.family == Family.COINS else tilt_of(seen, u)


@tight
def tangent(seen, u):
    """At most the divergence, and its first and second derivative, about."""
    if grows_by_bets(seen.family):
        return growth_from(seen.p, seen.inner, seen.share, u)
    if seen.family == Family.STUDENT:
        return student_growth(seen, u)
    first, second = quick_tilt(seen, u)
    return divergence_bound(seen.family, seen.p, u), first, second


@lean
def glr_bound(level, h, j, slope_h, slope_j, known):
    """At most ``glr``, and a level nearer to where its least is.

    Distances are convex in the level (that of a ``SPREAD``, in its variance, too), so they are nowhere below a tangent; here the
    tangent at ``level``, over the levels between those seen. The nearer that is to the least, the nearer the bound.
    """
    start = max(slope_h * known[h, Fact.LOW], slope_j * known[j, Fact.LOW])
    end = min(slope_h * known[h, Fact.HIGH], slope_j * known[j, Fact.HIGH])
    if start >= end:
        tied = known[h, Fact.LOW] == known[h, Fact.HIGH] or known[j, Fact.LOW] == known[j, Fact.HIGH]
        if (start > end or tied) and slope_j * known[j, Fact.HIGH] <= slope_h * known[h, Fact.LOW]:
            return np.inf, level
        if start > end:
            return 0.0, level
    at_h, at_j = slope_h * known[h, Fact.SEEN], slope_j * known[j, Fact.SEEN]
    if at_h <= at_j:
        return 0.0, level
    a, b = min(max(at_j, start), end), min(max(at_h, start), end)
    both = known[h, Fact.FACTOR] + known[j, Fact.FACTOR]
    if not a <= level <= b:
        level = min(max((known[h, Fact.FACTOR] * at_h + known[j, Fact.FACTOR] * at_j) / both, a), b)
    found, tilt, bend, error = 0.0, 0.0, 0.0, 0.0
    for side in range(2):
        i, slope = (h, slope_h) if side == 0 else (j, slope_j)
        w, shift = known[i, Fact.FACTOR], known[i, Fact.SHIFT]
        seen = Glimpse(int(known[i, Fact.FAMILY]), known[i, Fact.N], known[i, Fact.P], known[i, Fact.INNER], known[i, Fact.SHARE])
        theta, per_unit = level / slope, 1.0 / known[i, Fact.SCALE]
        u, per_level = (theta - shift) * per_unit, per_unit / slope
        value, first, second = tangent(seen, u)
        found += w * value
        tilt += w * first * per_level
        bend += w * second * per_level * per_level
        off = BOUND_ERROR_EACH * (abs(theta) + abs(shift)) * per_unit  # more than u may err
        error += w * (abs(first) + second * off) * off
    found += tilt * (a - level) if tilt > 0.0 else tilt * (b - level)
    if bend > 0.0:
        level = min(max(level - tilt / bend, a), b)
    return found * (1.0 - BOUND_ERROR) - BOUND_ERROR_EACH * both - error, level


@lean
def glr_bounds(i, upper, slope, spare, p, w, arms):
    """As ``glr_bound`` for one arm and each of all arms, where all are in units of [0, 1]: without a branch, so that several are
    worked out at once. Levels and the slopes of the others are in ``spare``, and so is what is found."""
    levels, slopes, found = spare[Spare.LEVEL], spare[Spare.SLOPE], spare[Spare.FOUND]
    low_i, high_i, shift_i, per_unit_i = slope * arms.low[i], slope * arms.high[i], arms.shift[i], 1.0 / arms.scale[i]
    p_i, w_i, at_i, per_level_i = p[i], w[i], slope * (shift_i + arms.scale[i] * p[i]), per_unit_i / slope
    for q in range(len(p)):
        shift, per_unit = arms.shift[q], 1.0 / arms.scale[q]
        low, high, at = slopes[q] * arms.low[q], slopes[q] * arms.high[q], slopes[q] * (shift + arms.scale[q] * p[q])
        start, end, both = max(low_i, low), min(high_i, high), w_i + w[q]
        at_h, at_j = (at_i, at) if upper else (at, at_i)
        a, b = min(max(at_j, start), end), min(max(at_h, start), end)
        level, middle = levels[q], min(max((w_i * at_i + w[q] * at) / both, a), b)
        level = level if a <= level <= b else middle
        theta_i, theta, per_level = level / slope, level / slopes[q], per_unit / slopes[q]
        u_i, u = within((theta_i - shift_i) * per_unit_i), within((theta - shift) * per_unit)
        first_i, second_i = unit_tilt(p_i, u_i)
        first, second = unit_tilt(p[q], u)
        tilt = w_i * first_i * per_level_i + w[q] * first * per_level
        bend = w_i * second_i * per_level_i * per_level_i + w[q] * second * per_level * per_level
        off_i, off = (
            BOUND_ERROR_EACH * (abs(theta_i) + abs(shift_i)) * per_unit_i,
            BOUND_ERROR_EACH * (abs(theta) + abs(shift)) * per_unit,
        )
        error = w_i * (abs(first_i) + second_i * off_i) * off_i + w[q] * (abs(first) + second * off) * off
        total = w_i * kl_bound(p_i, u_i) + w[q] * kl_bound(p[q], u)
        total += tilt * (a - level) if tilt > 0.0 else tilt * (b - level)
        total = total * (1.0 - BOUND_ERROR) - BOUND_ERROR_EACH * both - error
        total = 0.0 if at_h <= at_j else total
        never = high <= low_i if upper else high_i <= low
        found[q] = (np.inf if never else 0.0) if start > end else total
        levels[q] = min(max(level - tilt / bend, a), b)
