"""Evidence against a parameter, as the logarithm of a mixture martingale, and the intervals that follow from it.

An arm is seen through n observations with mean p of one of three kinds:

* ``UNIT``: values in [0, 1] with mean u. For every q the product of (q/u)^x ((1-q)/(1-u))^(1-x) is a supermartingale, because
  it is convex in x and has mean 1 at the ends; q is mixed over Beta(rho u, rho (1 - u)).
* ``NORMAL``: 1-sub-Gaussian values with mean u; exp(l (x - u) - l^2 / 2) is mixed over l normal with variance 1 / rho.
* ``SPREAD``: 0/1 values with variance u = q (1 - q), seen through their mean as a ``UNIT``.

By Ville's inequality the evidence against the true u exceeds ln(1/alpha) at any time with probability at most alpha. Mixed over
q above (below) u only, it is one-sided evidence that the mean lies above (below) u, worth up to ln 2 more.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile import kernel, lean, small
from ..enums import Family
from .divergence import LEAST, roots

ABOVE, BELOW, BOTH = 1, -1, 0  # sides of a parameter
UNIT = int(Family.UNIT)  # a plain number, for numba compiles what it is handed to for every type
HEDGE = 0.01  # the part of one-sided mixtures that is two-sided, so that evidence against far parameters is never very negative


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
def log_rise(b, a):
    """ln Gamma(a + b) - ln Gamma(b), to the last digits also where a is tiny; by Stirling's series."""
    total = 0.0
    while b < 25.0:
        total -= math.log1p(a / b)
        b += 1.0
    c = a + b
    series = -a / (12.0 * b * c) + a * (3.0 * b * b + 3.0 * a * b + a * a) / (360.0 * b * b * b * c * c * c)
    return total + (b - 0.5) * math.log1p(a / b) + a * (math.log(c) - 1.0) + series


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


@kernel
def log_phi(z):
    """ln of the normal distribution function."""
    if z > -30.0:
        return math.log(0.5 * math.erfc(-z / math.sqrt(2.0)))
    return -0.5 * z * z - math.log(-z) - 0.5 * math.log(2.0 * math.pi) + math.log1p(-1.0 / (z * z))


@small
def unit_evidence(n, p, u, rho, side):
    """Against mean u, from n values in [0, 1] with mean p."""
    if side == BELOW:  # that the mean is below u is that of 1 - x is above 1 - u
        p, u, side = 1.0 - p, 1.0 - u, ABOVE
    u = min(max(u, LEAST), 1.0 - LEAST)
    a, b = rho * u, rho * (1.0 - u)
    yes, no = n * p, max(n * (1.0 - p), 0.0)
    found = log_beta(a + yes, b + no) - log_beta(a, b) - yes * math.log(u) - no * math.log1p(-u)
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
        found += math.log((1.0 - HEDGE) * 2.0 * math.exp(log_phi(side * s / math.sqrt(n + rho))) + HEDGE)
    return found


@kernel
def evidence(kind, n, p, u, rho, side):
    """Log evidence against u: that the parameter is above it, below it, or other (``side``)."""
    if kind == Family.UNIT:
        return unit_evidence(n, p, u, rho, side)
    if kind == Family.NORMAL:
        return normal_evidence(n, p, u, rho, side)
    small, large = roots(u)
    # Above u the mean lies between the roots. Below u it is outside, on the side where it is seen, which makes it two-sided; seen
    # between the roots there is none, and no more than the martingale of either root has, for one of them is the truth.
    between = small < p < large
    found = 0.0 if side == BELOW and between else np.inf
    for k in range(2):
        if side != BELOW or between or (p <= small) == (k == 0):
            towards = BOTH if side == BELOW else (side if k == 0 else -side)
            found = min(found, unit_evidence(n, p, small if k == 0 else large, rho, towards))
    return found


@kernel
def reach(kind, n, p, end, rho, level):
    """How far from p towards ``end`` a parameter may lie with two-sided evidence at most ``level``; rounded outwards."""
    inside, outside = p, end
    if evidence(kind, n, p, end, rho, BOTH) <= level:
        return end
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        if evidence(kind, n, p, middle, rho, BOTH) <= level:
            inside = middle
        else:
            outside = middle
        if abs(outside - inside) <= 1e-12 * (abs(outside) + abs(inside)):
            break
    return outside


@kernel
def interval(kind, n, p, rho, level):
    """All parameters with evidence at most ``level``: an interval."""
    if kind == Family.NORMAL:
        half = math.sqrt((n + rho) * (math.log1p(n / rho) + 2.0 * level)) / n
        return p - half, p + half
    low = reach(UNIT, n, p, 0.0, rho, level)
    high = reach(UNIT, n, p, 1.0, rho, level)
    return (low, high) if kind == Family.UNIT else spread(low, high)


@lean
def spread(low, high):
    """All variances q (1 - q) for q in an interval."""
    most = 0.25 if low <= 0.5 <= high else max(low * (1.0 - low), high * (1.0 - high))
    return min(low * (1.0 - low), high * (1.0 - high)), most


@kernel
def intervals(kinds, n, p, rho, level, old_n, old_p, lower, upper):
    """Intervals of all arms; only arms that have changed since ``old_n``, ``old_p`` are worked out again."""
    for i in range(len(n)):
        if n[i] != old_n[i] or p[i] != old_p[i]:
            lower[i], upper[i] = interval(kinds[i], n[i], p[i], rho, level)
            old_n[i], old_p[i] = n[i], p[i]
