"""Compiled confidence intervals that have no closed form."""

from __future__ import annotations

import math

import numpy as np

from ..compile import kernel, small
from .divergence import kl


@kernel
def furthest(mean, end, level):
    """How far from the mean towards an end q may go while kl(mean, q) <= level, by bisection; rounded outwards."""
    if kl(mean, end) <= level:
        return end
    inside, outside = mean, end
    while abs(outside - inside) > 1e-13:
        middle = 0.5 * (inside + outside)
        if kl(mean, middle) <= level:
            inside = middle
        else:
            outside = middle
    return outside


@kernel
def kl_interval(p, level):
    """The smallest and largest q with kl(p, q) <= level."""
    mean = min(max(p, 0.0), 1.0)
    reach = math.sqrt(level / 2.0)  # Pinsker: no further than this
    return furthest(mean, max(mean - reach, 0.0), level), furthest(mean, min(mean + reach, 1.0), level)


@kernel
def kl_bounds(p, level):
    """The smallest and largest q with kl(p, q) <= level, for every arm."""
    lower = np.empty(len(p))
    upper = np.empty(len(p))
    for i in range(len(p)):
        lower[i], upper[i] = kl_interval(p[i], level[i])
    return lower, upper


# -- KT-KL ------------------------------------------------------------------------------------------------------------


@small
def kt_regret(n, p):
    """By how much the mixture over Beta(1/2, 1/2) falls short of the best q: ln pi - ln B(S + 1/2, N - S + 1/2) - N H(S / N)."""
    yes, no = n * p, max(n * (1.0 - p), 0.0)
    best = 0.0  # -N H
    if yes > 0.0:
        best += yes * math.log(p)
    if no > 0.0:
        best += no * math.log1p(-p)
    return math.log(math.pi) - math.lgamma(yes + 0.5) - math.lgamma(no + 0.5) + math.lgamma(n + 1.0) + best


@kernel
def kt_evidence(n, p, u):
    """Log evidence against mean u, from n values in [0, 1] with mean p."""
    return n * kl(p, u) - kt_regret(n, p)


@kernel
def kt_bounds(n, p, level, old_n, old_p, lower, upper):
    """All u with evidence at most ``level``; only arms that have changed since ``old_n``, ``old_p`` are worked out again."""
    for i in range(len(n)):
        if n[i] != old_n[i] or p[i] != old_p[i]:
            lower[i], upper[i] = kl_interval(p[i], (level + kt_regret(n[i], p[i])) / n[i])
            old_n[i], old_p[i] = n[i], p[i]


# -- empirical Bernstein ------------------------------------------------------------------------------------------------


@small
def bernstein_evidence(s, v, rho, norm):
    """Log evidence that the mean is lower, from a sum that is s >= 0 above its mean and has summed squared prediction errors
    v.

    The mixture of exp(l s - v (-ln(1 - l) - l)) over 1 - l ~ Gamma(rho, rho), truncated to [0, 1]. Of its two incomplete gamma
    functions one is a constant, in ``norm``; the other, P(a, x) with x > a, is 1 - Q(a, x) and close to 1 where it matters.
    Q(a, x) <= x^a e^-x / (Gamma(a) (x - a + 1)) and Q < 1/2, so this is never more than the mixture.
    """
    a, x = v + rho, v + rho + s
    front = a * math.log(x) - x - math.lgamma(a)
    beyond = math.exp(min(front, 0.0)) / (x - max(a - 1.0, 0.0)) if front < 0.0 else 0.5
    return norm - rho - front + math.log1p(-min(beyond, 0.5))


@kernel
def bernstein_reach(v, rho, norm, level):
    """The largest s with evidence at most ``level``, by bisection; rounded outwards."""
    inside, outside = 0.0, math.sqrt(2.0 * v * level) + level
    while bernstein_evidence(outside, v, rho, norm) <= level:
        inside, outside = outside, 2.0 * outside
    while outside - inside > 1e-12 * outside:
        middle = 0.5 * (inside + outside)
        if bernstein_evidence(middle, v, rho, norm) <= level:
            inside = middle
        else:
            outside = middle
    return outside


@kernel
def bernstein_reaches(v, rho, norm, level, old_v, reaches):
    """How far every arm's sum may be from its mean; only arms that have changed since ``old_v`` are worked out again."""
    for i in range(len(v)):
        if v[i] != old_v[i]:
            reaches[i] = bernstein_reach(v[i], rho, norm, level)
            old_v[i] = v[i]
