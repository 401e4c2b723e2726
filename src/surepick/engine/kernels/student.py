"""Evidence about the mean of normal values of unknown variance, from their count, mean and variance.

The first values of an arm (``HELD_LEAST``, or more until two of them differ) are held back: they give the unit, their standard
deviation, and the middle of the prior below, their mean, and are weighed no further. u = 0 is the arm's first value: differences
to it are exact, also far from 0. Of the n values after them, with mean p and variance v in that unit (divisor n), two sorts of
evidence against the mean u are kept, d being the distance of p and u:

* by symmetry: exp(l (x - u) - l^2 (x - u)^2 / 2) has mean at most 1 if x is symmetric about u (de la Pena 1999). Mixed over l
  normal with variance 1 / RATE the product over values is exp(S^2 / (2 (V + RATE))) / sqrt(1 + V / RATE), S = n d and
  V = n (v + d^2). It costs little, but never exceeds exp(n / 2).
* by likelihood (Wasserman, Ramdas and Balakrishnan 2020): the density of the values under a normal-inverse-gamma prior that the
  held values give, over their largest density for any normal law with mean u, which is (2 pi e (v + d^2))^(-n/2). It costs more,
  and settles arms that are far apart within a few values.

Whatever the variance is, both are at most a supermartingale that starts at 1, with respect to all that has been observed of all
arms; so their products over arms are too. The t-statistic itself is not such a one: the martingale of Lai (1976) is one for who
sees nothing but ratios of an arm's own values.

Beyond D^2 = (n - 1) (v + RATE / n) the first sort falls again. It is cut off where the second is ``LOG_ODDS`` above it at D, so
that any average of products of the two, at least a 21st of the first being of the second, never falls with the distance.
"""

from __future__ import annotations

import math

from ..compile import kernel, lean, tight
from ..enums import Column, Family
from .sides import BOTH, one_sided
from .unit import NONE

RATE = 30.0  # fixed before any data; see benchmarks/real_data.py
LOG_ODDS = math.log(21.0)
PRIOR_COUNT, PRIOR_SHAPE, PRIOR_SCALE = 3.0, 1.0, 1.0  # of the mean and of the variance, as three values give them
SMALLEST = 1e-300


@lean
def student_seen(i, counts, table):
    """n, p and v of one arm, and what does not depend on u in its evidence by likelihood."""
    n = float(counts[i]) - table[i, Column.HELD]
    if table[i, Column.HELD] <= 0.0 or n < 1.0:
        return NONE, 0.0, 1.0, 0.0
    held, square = table[i, Column.HELD_SUM] / table[i, Column.HELD], held_square(i, table)
    later, unit = ((table[i, Column.SUM] + table[i, Column.CARRY]) - table[i, Column.HELD_SUM]) / n, math.sqrt(square)
    v, away = max(table[i, Column.LATER_SQUARES], 0.0) / n / square, (later - held) / unit
    scale = PRIOR_SCALE + 0.5 * n * (v + away * away * PRIOR_COUNT / (PRIOR_COUNT + n))
    shape = PRIOR_SHAPE + 0.5 * n
    fixed = math.lgamma(shape) - shape * math.log(scale) - 0.5 * math.log1p(n / PRIOR_COUNT) + 0.5 * n
    return n, later / unit, v, fixed


@tight
def held_square(i, table):
    """The variance of the values that were held back."""
    return table[i, Column.HELD_SQUARES] / (table[i, Column.HELD] - 1.0)


@kernel
def fill_student(families, counts, table, shift, scale, seen):
    """What ``student_seen`` says of all arms of this family, in the rows of ``seen``, and their units.

    Until an arm has values that are weighed, its mean is where it is seen.
    """
    for i in range(len(families)):
        if families[i] == Family.STUDENT:
            seen[0, i], seen[1, i], seen[2, i], seen[3, i] = student_seen(i, counts, table)
            if counts[i] > 0:
                shift[i] = table[i, Column.ORIGIN]
            if table[i, Column.HELD] > 0.0:
                scale[i] = math.sqrt(held_square(i, table))
            elif counts[i] > 0:
                seen[1, i] = (table[i, Column.SUM] + table[i, Column.CARRY]) / counts[i] / scale[i]


@lean
def by_likelihood(n, v, fixed, d):
    return fixed + 0.5 * n * math.log(max(v + d * d, SMALLEST))


@kernel
def by_symmetry(n, v, fixed, d, side):
    total = n * (v + d * d) + RATE
    found = 0.5 * (n * d) * (n * d) / total - 0.5 * math.log(total / RATE)
    if side != BOTH:
        found += one_sided(n * d / math.sqrt(total))
    return min(found, by_likelihood(n, v, fixed, math.sqrt((n - 1.0) * (v + RATE / n))) - LOG_ODDS)


@kernel
def student_parts(seen, u, side):
    """Log evidence against mean u by symmetry and by likelihood. The second counts distances on the side in question alone: on
    the other one the largest density is that of the mean seen."""
    if seen.n < 1.0:
        return 0.0, 0.0
    d = abs(seen.p - u) if side == BOTH else side * (seen.p - u)
    return by_symmetry(seen.n, seen.inner, seen.share, d, side), by_likelihood(seen.n, seen.inner, seen.share, max(d, 0.0))


# -- guides -----------------------------------------------------------------------------------------------------------------


@tight
def about_variance(seen):
    """The variance of an arm's values, with those that were held back as two more."""
    return (seen.n * seen.inner + 2.0) / (seen.n + 2.0)


@tight
def student_growth(seen, u):
    """About what one value adds, ln(1 + d^2 / v) / 2, and its first two derivatives in u; linear from where it bends down,
    so that it is convex."""
    v, d = about_variance(seen), u - seen.p
    if d * d <= v:
        both = v + d * d
        return 0.5 * math.log1p(d * d / v), d / both, (v - d * d) / (both * both)
    root = math.sqrt(v)
    return 0.5 * math.log(2.0) + 0.5 * (abs(d) / root - 1.0), math.copysign(0.5 / root, d), 0.0
