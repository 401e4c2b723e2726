"""The interval of one arm, for every confidence sequence that has a kernel; to the last bit as the Python classes have it.

``numbers`` and ``units`` are those of :class:`surepick.confidence.base.Sequence`; ``span`` has the smallest and the largest value
of every arm's parameter, its scale, what rounding may take from a bound (``Moments.rounding``), by which it is put outwards, and
-1 if the problem looks for small parameters, else 1.
"""

from __future__ import annotations

import math

from .compile import lean, tight
from .evidence import NORMAL, interval
from .intervals import bernstein_reach, kl_interval, kt_regret
from .kinds import DIVERGENCE, KT, MIXTURE, RADIUS, U_STATISTIC
from .record import DIFFERENCES, ESTIMATE, ORIGIN, SURPRISES, offset_of

FIRST, POWER, SECOND, THIRD, LEVEL, RHO, NORM = 0, 1, 2, 3, 4, 5, 6  # of ``numbers``
KIND, SHIFT, SCALE, PAIRED = 0, 1, 2, 3  # of ``units``
LOW, HIGH, WIDE, ROUNDING, SIGN = 0, 1, 2, 3, 4  # of ``span``


@lean
def log_term(numbers, t):
    """The logarithm in a radius, after t samples of all arms; it grows with t, so intervals of arms at rest widen."""
    return numbers[FIRST] + numbers[POWER] * math.log(t) - numbers[SECOND] - numbers[THIRD]


@tight
def within(x, low, high):
    return min(max(x, low), high)


@tight
def placed(below, above, i, origin, scale, span):
    """Bounds in the user's units, from those counted from an origin; put outwards by what rounding may take."""
    slack = span[ROUNDING, i]
    return (
        within(origin + scale * below - slack, span[LOW, i], span[HIGH, i]),
        within(origin + scale * above + slack, span[LOW, i], span[HIGH, i]),
    )


@lean
def unit_of(i, counts, table, units):
    """n and p of one arm, as ``Mixture.units`` has them."""
    if units[PAIRED, i] > 0.0:
        n = float(counts[i] // 2)
        p = table[i, DIFFERENCES] / max(n, 1.0) / 2.0 / units[SCALE, i]
    else:
        n = float(counts[i])
        p = ((table[i, ORIGIN] - units[SHIFT, i]) + offset_of(i, counts, table)) / units[SCALE, i]
    if units[KIND, i] != NORMAL:
        p = within(p, 0.0, 1.0)
    return n, p


@lean
def slow_ends(i, c, kind, numbers, units, span, counts, table):
    """The sequences that have no radius in closed form."""
    n, low, scale = counts[i], span[LOW, i], span[WIDE, i]
    if kind == MIXTURE:
        number, p = unit_of(i, counts, table, units)
        below, above = interval(int(units[KIND, i]), max(number, 1.0), p, numbers[RHO], numbers[LEVEL])
        return placed(below, above, i, units[SHIFT, i], units[SCALE, i], span)
    origin, offset = table[i, ORIGIN], offset_of(i, counts, table)
    if kind in (DIVERGENCE, KT):
        p = within(((origin - low) + offset) / scale, 0.0, 1.0)
        reach = c if kind == DIVERGENCE else numbers[LEVEL] + kt_regret(float(n), p)
        below, above = kl_interval(p, reach / n)
        return placed(below, above, i, low, scale, span)
    reach = bernstein_reach(0.25 + table[i, SURPRISES] / (scale * scale), numbers[RHO], numbers[NORM], numbers[LEVEL])
    half = scale * reach / n
    return placed(offset - half, offset + half, i, origin, 1.0, span)


@tight
def ends(i, c, kind, numbers, units, span, counts, table):
    """Lower and upper bound of an arm, c being the logarithm of ``log_term``; wider for a larger c."""
    if kind == RADIUS:
        radius = span[WIDE, i] * math.sqrt(c / (2.0 * counts[i]))
    elif kind == U_STATISTIC:
        radius = span[WIDE, i] * math.sqrt(c / (8.0 * max(counts[i] // 2, 1)))
    else:
        return slow_ends(i, c, kind, numbers, units, span, counts, table)
    return placed(-radius, radius, i, table[i, ESTIMATE], 1.0, span)
