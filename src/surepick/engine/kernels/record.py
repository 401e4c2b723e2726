"""One observation more, in the arrays of an explorer's record (:class:`surepick.estimators.Moments`)."""

from __future__ import annotations

import math

from ..compile import lean, tight
from ..enums import Column


@tight
def offset_of(i, record):
    """The mean of an arm, counted from its origin."""
    return (record.table[i, Column.SUM] + record.table[i, Column.CARRY]) / record.counts[i]


@tight
def bend(arm, y, table):
    y = min(y, 1.0)
    table[arm, Column.UPWARD] += y * y * (1.0 - y)
    table[arm, Column.DOWNWARD] += y * (1.0 - y) * (1.0 - y)


@lean
def observe(arm, x, record):
    """As ``Moments.update`` does for one value, to the last bit."""
    counts, table = record.counts, record.table
    old = counts[arm]
    mean = offset_of(arm, record) if old > 0 else 0.0
    counts[arm] = old + 1
    if math.isnan(table[arm, Column.ORIGIN]):
        table[arm, Column.ORIGIN] = x
    x -= table[arm, Column.ORIGIN]
    total = table[arm, Column.SUM]
    whole = total + x
    table[arm, Column.CARRY] += (total - whole) + x if abs(total) >= abs(x) else (x - whole) + total
    table[arm, Column.SUM] = whole
    new = offset_of(arm, record)
    step = x - mean
    table[arm, Column.SQUARES] += step * (x - new)
    if old > 0:
        table[arm, Column.PREDICTION_ERROR] += step * step
    if old % 2 == 0:
        table[arm, Column.WAITING] = x
    else:
        gap = table[arm, Column.WAITING] - x
        table[arm, Column.DIFFERENCES] += gap * gap
        table[arm, Column.WAITING] = math.nan
        if record.variance:
            bend(arm, (gap / table[arm, Column.RANGE]) * (gap / table[arm, Column.RANGE]), table)
    if not record.variance:
        bend(arm, x / table[arm, Column.RANGE], table)
        table[arm, Column.ESTIMATE] = table[arm, Column.ORIGIN] + new
    elif old > 0:
        table[arm, Column.ESTIMATE] = table[arm, Column.SQUARES] / old
