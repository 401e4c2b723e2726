"""Sides of a parameter, and what evidence that is about one of them gains."""

from __future__ import annotations

import math

from ..compile import kernel

ABOVE, BELOW, BOTH = 1, -1, 0
HEDGE = 0.01  # the part of one-sided mixtures that is two-sided, so that evidence against far parameters is never very negative


@kernel
def log_phi(z):
    """ln of the normal distribution function."""
    if z > -30.0:
        return math.log(0.5 * math.erfc(-z / math.sqrt(2.0)))
    return -0.5 * z * z - math.log(-z) - 0.5 * math.log(2.0 * math.pi) + math.log1p(-1.0 / (z * z))


@kernel
def one_sided(z):
    """What a normal mixture gains by being about the side on which the values are, z deviations from the parameter."""
    return math.log((1.0 - HEDGE) * 2.0 * math.exp(log_phi(z)) + HEDGE)
