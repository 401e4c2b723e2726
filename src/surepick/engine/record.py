"""One observation more, in the arrays of an explorer's record (:class:`surepick.estimators.Moments`)."""

from __future__ import annotations

import math

from .compile import lean, tight

SUM, CARRY, ORIGIN, ESTIMATE, SQUARES, SURPRISES, DIFFERENCES, WAITING = 0, 1, 2, 3, 4, 5, 6, 7  # columns of ``Moments.table``


@tight
def offset_of(i, counts, table):
    """The mean of an arm, counted from its origin."""
    return (table[i, SUM] + table[i, CARRY]) / counts[i]


@lean
def observe(counts, table, variance, arm, x):
    """As ``Moments.update`` does for one value, to the last bit."""
    old = counts[arm]
    mean = offset_of(arm, counts, table) if old > 0 else 0.0
    counts[arm] = old + 1
    if math.isnan(table[arm, ORIGIN]):
        table[arm, ORIGIN] = x
    x -= table[arm, ORIGIN]
    total = table[arm, SUM]
    whole = total + x
    table[arm, CARRY] += (total - whole) + x if abs(total) >= abs(x) else (x - whole) + total
    table[arm, SUM] = whole
    new = offset_of(arm, counts, table)
    step = x - mean
    table[arm, SQUARES] += step * (x - new)
    if old > 0:
        table[arm, SURPRISES] += step * step
    if old % 2 == 0:
        table[arm, WAITING] = x
    else:
        gap = table[arm, WAITING] - x
        table[arm, DIFFERENCES] += gap * gap
        table[arm, WAITING] = math.nan
    if not variance:
        table[arm, ESTIMATE] = table[arm, ORIGIN] + new
    elif old > 0:
        table[arm, ESTIMATE] = table[arm, SQUARES] / old
