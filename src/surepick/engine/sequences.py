"""The interval of one arm, for every confidence sequence that has a kernel; to the last bit as the Python classes have it.

``numbers`` and ``units`` are those of :class:`surepick.confidence.base.Sequence`; ``span`` has the smallest and the largest value
of every arm's parameter, its scale, and -1 if the problem looks for small parameters, else 1.
"""

from __future__ import annotations

import math

from .compile import lean, tight
from .evidence import NORMAL, interval
from .intervals import bernstein_reach, kl_interval, kt_regret
from .kinds import DIVERGENCE, KT, MIXTURE, RADIUS, U_STATISTIC
from .record import DIFFERENCES, ESTIMATE, MEAN, SURPRISES

FIRST, POWER, SECOND, THIRD, LEVEL, RHO, NORM = 0, 1, 2, 3, 4, 5, 6  # of ``numbers``
KIND, SHIFT, SCALE, PAIRED = 0, 1, 2, 3  # of ``units``
LOW, HIGH, WIDE, SIGN = 0, 1, 2, 3  # of ``span``


@lean
def log_term(numbers, t):
    """The logarithm in a radius, after t samples of all arms; it grows with t, so intervals of arms at rest widen."""
    return numbers[FIRST] + numbers[POWER] * math.log(t) - numbers[SECOND] - numbers[THIRD]


@tight
def within(x, low, high):
    return min(max(x, low), high)


@lean
def unit_of(i, counts, table, units):
    """n and p of one arm, as ``Mixture.units`` has them."""
    if units[PAIRED, i] > 0.0:
        n = float(counts[i] // 2)
        mean = table[DIFFERENCES, i] / max(n, 1.0) / 2.0
    else:
        n = float(counts[i])
        mean = table[MEAN, i]
    p = (mean - units[SHIFT, i]) / units[SCALE, i]
    if units[KIND, i] != NORMAL:
        p = within(p, 0.0, 1.0)
    return n, p


@lean
def slow_ends(i, c, kind, numbers, units, span, counts, table):
    """The sequences that have no radius in closed form."""
    n, estimate, low, high, scale = counts[i], table[ESTIMATE, i], span[LOW, i], span[HIGH, i], span[WIDE, i]
    if kind == DIVERGENCE:
        below, above = kl_interval((estimate - low) / scale, c / n)
        return low + scale * below, low + scale * above
    if kind == MIXTURE:
        number, p = unit_of(i, counts, table, units)
        below, above = interval(int(units[KIND, i]), max(number, 1.0), p, numbers[RHO], numbers[LEVEL])
        return (
            within(units[SHIFT, i] + units[SCALE, i] * below, low, high),
            within(units[SHIFT, i] + units[SCALE, i] * above, low, high),
        )
    if kind == KT:
        p = within((estimate - low) / scale, 0.0, 1.0)
        below, above = kl_interval(p, (numbers[LEVEL] + kt_regret(float(n), p)) / n)
        return within(low + scale * below, low, high), within(low + scale * above, low, high)
    reach = bernstein_reach(0.25 + table[SURPRISES, i] / (scale * scale), numbers[RHO], numbers[NORM], numbers[LEVEL])
    half = scale * reach / n
    return within(table[MEAN, i] - half, low, high), within(table[MEAN, i] + half, low, high)


@tight
def ends(i, c, kind, numbers, units, span, counts, table):
    """Lower and upper bound of an arm, c being the logarithm of ``log_term``; wider for a larger c."""
    if kind == RADIUS:
        radius = span[WIDE, i] * math.sqrt(c / (2.0 * counts[i]))
    elif kind == U_STATISTIC:
        radius = span[WIDE, i] * math.sqrt(c / (8.0 * max(counts[i] // 2, 1)))
    else:
        return slow_ends(i, c, kind, numbers, units, span, counts, table)
    estimate = table[ESTIMATE, i]
    return within(estimate - radius, span[LOW, i], span[HIGH, i]), within(estimate + radius, span[LOW, i], span[HIGH, i])
