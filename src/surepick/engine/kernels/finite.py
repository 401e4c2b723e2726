"""Evidence about the mean of N values, n of which have been drawn without replacement, and what is certain of it.

Let the values lie in [0, 1], S be the sum of those drawn and u a mean of all N. Of what is not drawn yet the mean is
u_t = (N u - S) / (N - n), if u is the truth. So for every q, the product of (q / u_t)^x ((1 - q) / (1 - u_t))^(1 - x) over 0/1
values is a martingale; over other values, with gamma functions for what counts successes and failures, a supermartingale (see
docs/proofs.md). The product of the denominators depends on n and S alone: it is the hypergeometric probability

    Gamma(N u + 1) / Gamma(N u - S + 1) * Gamma(N - N u + 1) / Gamma(N - N u - (n - S) + 1) * Gamma(N - n + 1) / Gamma(N + 1).

q is mixed over Beta(rho u, rho (1 - u)), as for values that never run out (mixtures.py).

What is not drawn lies in [0, 1], too. So u is certainly in [S / N, (S + N - n) / N], and known once n = N.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile import kernel, lean, small, tight
from ..enums import Column, Family, Unit

OUTWARDS = 2.0**-49  # in units of where values may lie: more than rounding may take from what is certain
LEAST_LEFT = 1e-9  # no smaller a share of the values is left, where guides divide by it


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
def log_drawn(yes, no, whole, u):
    """The logarithm of the probability above: of so many successes and failures, in their order, if u is the mean of all."""
    left_yes, left_no = max(whole * u - yes, 0.0), max(whole * (1.0 - u) - no, 0.0)
    return log_rise(left_yes + 1.0, yes) + log_rise(left_no + 1.0, no) - log_rise(whole - (yes + no) + 1.0, yes + no)


@tight
def possible(n, p, whole):
    """The means, in units, that n values with mean p of so many leave."""
    share = n / whole
    return p * share, p * share + (1.0 - share)


@tight
def effective(n, whole):
    """About how many draws with replacement so many without are worth."""
    return n / max(1.0 - n / whole, LEAST_LEFT) if whole < np.inf else n


@lean
def spread(low, high):
    """All variances q (1 - q) for q in an interval."""
    most = 0.25 if low <= 0.5 <= high else max(low * (1.0 - low), high * (1.0 - high))
    return min(low * (1.0 - low), high * (1.0 - high)), most


@lean
def certain(i, low, high, n, p, units, record):
    """What is certain of an arm's parameter, within its range: all of the range if its values never run out."""
    whole = record.table[i, Column.POPULATION]
    if not whole < np.inf:
        return low, high
    if not record.counts[i] < whole:
        known = min(max(record.table[i, Column.ESTIMATE], low), high)
        return known, known
    if units[Unit.PAIRED, i] > 0.0:
        return low, high
    least, most = possible(n, p, whole)
    if int(units[Unit.FAMILY, i]) == Family.SPREAD:
        least, most = spread(least, most)
    shift, scale = units[Unit.SHIFT, i], units[Unit.SCALE, i]
    slack = OUTWARDS * (abs(shift) + scale)
    return max(low, shift + scale * least - slack), min(high, shift + scale * most + slack)


@kernel
def all_certain(lows, highs, seen, units, record, lower, upper):
    """What is certain of the parameters of all arms; ``seen`` has their n and p."""
    for i in range(len(lows)):
        lower[i], upper[i] = certain(i, lows[i], highs[i], seen[0, i], seen[1, i], units, record)
