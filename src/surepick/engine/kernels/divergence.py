"""Kullback-Leibler divergences of the families of evidence, their derivatives, and lower bounds at a fraction of their cost."""

from __future__ import annotations

import math

import numpy as np

from ..compile import lean, tight
from ..enums import Family
from .bets import grows_by_bets, growth_from
from .student import student_growth
from .unit import LEAST


@lean
def kl(p, q):
    """Divergence of Bernoulli(p) from Bernoulli(q)."""
    total = 0.0
    if p > 0.0:
        total += p * math.log(p / q) if q > 0.0 else np.inf
    if p < 1.0:
        total += (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if q < 1.0 else np.inf
    return total


@lean
def roots(u):
    """The two q with q (1 - q) = u."""
    width = math.sqrt(max(1.0 - 4.0 * u, 0.0))
    small = 2.0 * u / (1.0 + width)  # without cancellation
    return small, 1.0 - small


@lean
def unit_divergence(p, u):
    """As ``kl``, with u kept away from the ends of [0, 1]."""
    return max(kl(p, min(max(u, LEAST), 1.0 - LEAST)), 0.0)


@lean
def divergence(seen, u):
    """What one observation weighs in the long run: the divergence of u from p, or the growth of the best bet."""
    kind, p = seen.family, seen.p
    if kind == Family.NORMAL:
        return 0.5 * (p - u) * (p - u)
    if kind == Family.SPREAD:
        return unit_divergence(min(p, 1.0 - p), roots(u)[0])  # the root on the side of p is the nearer one
    if grows_by_bets(kind):
        return growth_from(p, seen.inner, seen.share, u)[0]
    if kind == Family.STUDENT:
        return student_growth(seen, u)[0]
    return unit_divergence(p, u)


@lean
def tilt_of(seen, u):
    """First and second derivative of ``divergence`` in u; very large at the ends of its range, where they are infinite."""
    kind, p = seen.family, seen.p
    if kind == Family.NORMAL:
        return u - p, 1.0
    if grows_by_bets(kind):
        _, tilt, bend = growth_from(p, seen.inner, seen.share, u)
        return tilt, bend
    if kind == Family.STUDENT:
        _, tilt, bend = student_growth(seen, u)
        return tilt, bend
    q = min(max(u, LEAST), 1.0 - LEAST)
    if kind == Family.SPREAD:
        p, q = min(p, 1.0 - p), min(max(roots(u)[0], LEAST), 0.5 - LEAST)
    first, second = (q - p) / (q * (1.0 - q)), p / (q * q) + (1.0 - p) / ((1.0 - q) * (1.0 - q))
    if kind == Family.SPREAD:
        stretch = 1.0 / (1.0 - 2.0 * q)
        return first * stretch, (second + 2.0 * first * stretch) * stretch * stretch
    return first, second


@tight
def kl_bound(p, u):
    """At most ``unit_divergence``, and near it: ln(1 + y) <= y (6 + y) / (6 + 4 y), the same to the fourth order, for y > -1."""
    a, b = p + 2.0 * u, 3.0 - p - 2.0 * u
    if not a * b > 0.0:  # at an end of [0, 1], by rounding
        return 0.0
    return 0.5 * (p - u) * ((5.0 * p + u) * b - (6.0 - 5.0 * p - u) * a) / (a * b)


@tight
def divergence_bound(kind, p, u):
    """At most ``divergence``."""
    if kind == Family.NORMAL:
        return 0.5 * (p - u) * (p - u)
    if kind == Family.SPREAD:
        p, u = min(p, 1.0 - p), roots(u)[0]
    return kl_bound(p, min(max(u, LEAST), 1.0 - LEAST))
