"""Compiled confidence intervals that have no closed form."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True)
def kl(p, q):
    """Divergence of Bernoulli(p) from Bernoulli(q)."""
    total = 0.0
    if p > 0.0:
        total += p * math.log(p / q) if q > 0.0 else np.inf
    if p < 1.0:
        total += (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if q < 1.0 else np.inf
    return total


@njit(cache=True)
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


@njit(cache=True)
def kl_bounds(p, level):
    """The smallest and largest q with kl(p, q) <= level."""
    lower = np.empty(len(p))
    upper = np.empty(len(p))
    for i in range(len(p)):
        mean = min(max(p[i], 0.0), 1.0)
        reach = math.sqrt(level[i] / 2.0)  # Pinsker: no further than this
        lower[i] = furthest(mean, max(mean - reach, 0.0), level[i])
        upper[i] = furthest(mean, min(mean + reach, 1.0), level[i])
    return lower, upper
