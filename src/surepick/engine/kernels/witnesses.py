"""Parameters against which there is too little evidence: they witness that an exchange may gain something, or that an interval
reaches somewhere.

To work out what an exchange could gain at most takes many levels and both tails of a mixture. To know that it could gain more
than x, one pair of parameters that are x apart will do, and it does for as long as the evidence against these two stays below
the threshold. After an observation that is one logarithm of a beta function.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from ..compile import lean
from ..enums import Family
from .bets import by_growth, has_bets
from .divergence import kl, tilt_of
from .exchanges import ONE_SIDED
from .glr import price_of, seen_of
from .mixtures import alone, by_bets, log_beta, log_tail, parts, sort_of, together
from .sides import ABOVE, BELOW, BOTH, HEDGE
from .student import about_variance
from .unit import LEAST

LAID_WITHIN, LAID_WITHIN_EXACTLY = 1e-3, 1e-4  # how near to the evidence that is looked for, and if it is to be exact
WITNESS_ERROR, WITNESS_ERROR_EACH = 1e-6, 1e-12  # more than arithmetic may err, the second for every observation


class Point(IntEnum):
    """A parameter u of an arm, in units, and what its evidence is made from: the side on which the arm is to be, the prior
    Beta(a, b), ln u and ln(1 - u), what does not change with observations, the part of the prior on that side, and the evidence
    itself, by its mixture and by bets."""

    U = 0
    SIDE = 1
    A = 2
    B = 3
    LOG_U = 4
    LOG_V = 5
    FIXED = 6
    PRIOR = 7
    EVIDENCE = 8
    CAPITAL = 9
    SORT = 10


@lean
def tail_bound(a, b, u):
    """At least P(Beta(a, b) > u), and near it: Phi of the signed root of twice the divergence, for the law of a binomial number
    (Zubkov and Serov 2012)."""
    n = a + b - 1.0
    if b <= 1.0 or a >= n:
        return 1.0
    q = a / n
    root = math.sqrt(n * max(kl(q, u), 0.0))
    return 0.5 * math.erfc(-root if q > u else root)


@lean
def put(points, k, kind, u, rho, side):
    """Point k is this one from now on."""
    points[k, Point.U], points[k, Point.SIDE] = u, side
    if not (kind == Family.UNIT or has_bets(kind)):
        return
    u = min(max(u, LEAST), 1.0 - LEAST)
    a, b = rho * u, rho * (1.0 - u)
    points[k, Point.A], points[k, Point.B], points[k, Point.FIXED] = a, b, -log_beta(a, b)
    points[k, Point.LOG_U], points[k, Point.LOG_V] = math.log(u), math.log1p(-u)
    if side != BOTH:
        points[k, Point.PRIOR] = math.exp(log_tail(a, b, u) if side == ABOVE else log_tail(b, a, 1.0 - u))


@lean
def weigh(points, k, seen, rho):
    """No evidence against a point is larger than this."""
    u, side, n, p = points[k, Point.U], int(points[k, Point.SIDE]), seen.n, seen.p
    points[k, Point.SORT] = sort_of(seen.family, seen.whole)
    if (seen.family == Family.UNIT or has_bets(seen.family)) and not seen.whole < np.inf:
        u, yes, no = min(max(u, LEAST), 1.0 - LEAST), n * p, max(n * (1.0 - p), 0.0)
        a, b = points[k, Point.A] + yes, points[k, Point.B] + no
        found = log_beta(a, b) + points[k, Point.FIXED] - yes * points[k, Point.LOG_U] - no * points[k, Point.LOG_V]
        if side != BOTH:
            tail = tail_bound(a, b, u) if side == ABOVE else tail_bound(b, a, 1.0 - u)
            found += math.log((1.0 - HEDGE) * tail / points[k, Point.PRIOR] + HEDGE)
    else:
        weigh_well(points, k, seen, rho)
        return
    error = WITNESS_ERROR + WITNESS_ERROR_EACH * n
    bet = by_bets(seen, points[k, Point.U], side) + error if has_bets(seen.family) else -np.inf
    points[k, Point.EVIDENCE], points[k, Point.CAPITAL] = found + error, bet


@lean
def weigh_well(points, k, seen, rho):
    """As ``weigh``, but exactly."""
    points[k, Point.SORT] = sort_of(seen.family, seen.whole)
    mixed, bet = parts(seen, points[k, Point.U], rho, int(points[k, Point.SIDE]))
    error = WITNESS_ERROR + WITNESS_ERROR_EACH * seen.n
    points[k, Point.EVIDENCE], points[k, Point.CAPITAL] = mixed + error, bet + error


@lean
def against(points, k):
    """The evidence against a point."""
    return alone(int(points[k, Point.SORT]), points[k, Point.EVIDENCE], points[k, Point.CAPITAL])


@lean
def against_both(points, k):
    """The evidence against points k and k + 1 together."""
    other = k + 1
    return together(
        int(points[k, Point.SORT]), points[k, Point.EVIDENCE], points[k, Point.CAPITAL],
        int(points[other, Point.SORT]), points[other, Point.EVIDENCE], points[other, Point.CAPITAL],
    )  # fmt: skip


@lean
def deviation(slope):
    """The z at which z^2 / 2 + ln((1 - H) 2 Phi(z) + H), one-sided evidence of a normal arm, has this slope."""
    z = slope - 0.8 if slope < 2.0 else slope
    for _ in range(6):
        weight = 2.0 * (1.0 - HEDGE)
        rate = weight * math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
        rate /= weight * 0.5 * math.erfc(-z / math.sqrt(2.0)) + HEDGE
        step = (slope - z - rate) / max(1.0 - rate * (z + rate), 0.1)
        z = max(z + min(max(step, -1.0), 1.0), -2.0)
        if abs(step) < 1e-6:
            break
    return z


@lean
def pushed(i, tilt, arms):
    """Where the likelihood ratio of an arm rises by ``tilt`` a unit of the parameter, within the arm's range."""
    kind, n, p = arms.families[i], arms.n[i], arms.p[i]
    t = tilt * arms.scale[i] / n
    if not by_growth(kind):
        t = tilt * arms.scale[i] * (n + arms.rho[i]) / (n * n)
    if kind == Family.NORMAL:
        u = p + t
    elif kind == Family.STUDENT:
        u = p + t * about_variance(seen_of(i, arms))
    elif kind == Family.UNIT or kind == Family.COINS:  # u - p = t u (1 - u)
        root = math.sqrt(max((1.0 - t) * (1.0 - t) + 4.0 * t * p, 0.0))
        u = 2.0 * p / (1.0 - t + root) if t < 1.0 else (t - 1.0 + root) / (2.0 * t)
    else:
        at, most = (p * (1.0 - p), 0.25) if kind == Family.SPREAD else (p, 1.0)
        a, b = (0.0, at) if t < 0.0 else (at, most)
        for _ in range(40):
            middle = 0.5 * (a + b)
            if tilt_of(seen_of(i, arms), middle)[0] < t:
                a = middle
            else:
                b = middle
        u = 0.5 * (a + b)
    return min(max(u, (arms.low[i] - arms.shift[i]) / arms.scale[i]), (arms.high[i] - arms.shift[i]) / arms.scale[i])


@lean
def divide(points, k, h, j, target, blurs, arms):
    """Points k and k + 1 of two arms, as far apart as may be with evidence of ``target`` or little less; returns (by how much
    theta_j is above theta_h there, what evidence rises by for every unit more).

    At the furthest apart the evidence of both has the same slope. Where that is, normal arms tell; how large it is, evidence.
    """
    cost = price_of(arms.families[h], arms.n[h], arms.rho[h]) + price_of(arms.families[j], arms.n[j], arms.rho[j]) - ONE_SIDED
    slope = math.sqrt(2.0 * max(target + cost, 0.25) / (blurs[h] + blurs[j]))
    before, off_before = 0.0, 0.0
    for attempt in range(12):
        for side in range(2):
            i = h if side == 0 else j
            away = deviation(slope * math.sqrt(blurs[i])) / math.sqrt(blurs[i])
            u = pushed(i, -away if side == 0 else away, arms)
            put(points, k + side, arms.families[i], u, arms.rho[i], ABOVE if side == 0 else BELOW)
            weigh(points, k + side, seen_of(i, arms), arms.rho[i])
        off = target - against_both(points, k)
        if 0.0 <= off < LAID_WITHIN:
            break
        change = math.sqrt(max(target - 0.5 * LAID_WITHIN + cost, 0.01) / max(target - off + cost, 0.01))
        if attempt > 0 and off != off_before:  # the secant
            change = (slope + (0.5 * LAID_WITHIN - off) * (slope - before) / (off - off_before)) / slope
        before, off_before = slope, off
        slope *= min(max(change, 0.5), 2.0)
    x = (arms.shift[j] - arms.shift[h]) + (arms.scale[j] * points[k + 1, Point.U] - arms.scale[h] * points[k, Point.U])
    return x, slope


@lean
def weigh_both(points, k, h, j, arms):
    """The exact evidence against points k and k + 1, as ``weigh_well``."""
    weigh_well(points, k, seen_of(h, arms), arms.rho[h])
    weigh_well(points, k + 1, seen_of(j, arms), arms.rho[j])
    return against_both(points, k)


@lean
def moved_by(points, k, h, j, along, apart, arms):
    """Move points k and k + 1, both by so much, and the second by so much more; returns the exact evidence against them."""
    points[k, Point.U] += along / arms.scale[h]
    points[k + 1, Point.U] += (along + apart) / arms.scale[j]
    return weigh_both(points, k, h, j, arms)


@lean
def sharpen(points, k, h, j, x, tilt, target, blurs, arms):
    """Points k and k + 1, which ``divide`` has put x apart, a little further apart by the exact evidence; returns how far, or 0
    if that did not work.

    Both are moved to where the parabola through three evidences is least, then apart until there is evidence of ``target``.
    """
    step = 0.25 * math.sqrt(blurs[h] * blurs[j] / (blurs[h] + blurs[j]))
    middle = weigh_both(points, k, h, j, arms)
    left = moved_by(points, k, h, j, -step, 0.0, arms)
    right = moved_by(points, k, h, j, 2.0 * step, 0.0, arms)
    bend, along = left - 2.0 * middle + right, 0.0
    if bend > 0.0:
        along = step * min(max(0.5 * (left - right) / bend, -4.0), 4.0)
    found = moved_by(points, k, h, j, along - step, 0.0, arms)
    for _ in range(3):
        apart = (target - LAID_WITHIN_EXACTLY - found) / tilt
        x += apart
        before, found = found, moved_by(points, k, h, j, 0.0, apart, arms)
        if 0.0 <= target - found < 2.0 * LAID_WITHIN_EXACTLY:
            break
        if (found - before) * apart > 0.0:
            tilt = (found - before) / apart
    for i in (h, j):
        u = points[k if i == h else k + 1, Point.U]
        if not (arms.low[i] - arms.shift[i] <= u * arms.scale[i] <= arms.high[i] - arms.shift[i]):
            return 0.0
    for side in range(2):
        i = h if side == 0 else j
        put(points, k + side, arms.families[i], points[k + side, Point.U], arms.rho[i], ABOVE if side == 0 else BELOW)
    return x if found < target else 0.0
