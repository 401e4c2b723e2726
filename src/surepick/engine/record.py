"""One observation more, in the arrays of an explorer's record (:class:`surepick.estimators.Moments`)."""

from __future__ import annotations

import math

from .compile import lean

MEAN, SQUARES, ESTIMATE, SURPRISES, DIFFERENCES, WAITING = 0, 1, 2, 3, 4, 5  # rows of ``Moments.table``


@lean
def observe(counts, table, variance, arm, x):
    """As ``Moments.update`` does for one value, to the last bit."""
    counts[arm] += 1
    n = counts[arm]
    step = x - table[MEAN, arm]
    table[MEAN, arm] += step / n
    table[SQUARES, arm] += step * (x - table[MEAN, arm])
    if n > 1:
        table[SURPRISES, arm] += step * step
    if n % 2 == 1:
        table[WAITING, arm] = x
    else:
        gap = table[WAITING, arm] - x
        table[DIFFERENCES, arm] += gap * gap
        table[WAITING, arm] = math.nan
    if not variance:
        table[ESTIMATE, arm] = table[MEAN, arm]
    elif n > 1:
        table[ESTIMATE, arm] = table[SQUARES, arm] / (n - 1)
