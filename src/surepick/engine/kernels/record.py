"""One observation more, in the arrays of an explorer's record (:class:`surepick.estimators.Moments`)."""

from __future__ import annotations

import math

from ...estimators import HELD_LEAST
from ..compile import lean, tight
from ..data import Tally
from ..enums import Column
from .redraws import has_redraws, place


@tight
def offset_of(i, record):
    """The mean of an arm, counted from its origin."""
    return (record.table[i, Column.SUM] + record.table[i, Column.CARRY]) / record.counts[i]


@tight
def bend(arm, y, table):
    y = min(y, 1.0)
    if math.isnan(table[arm, Column.FIRST]):
        table[arm, Column.FIRST] = y
        return
    table[arm, Column.UPWARD] += y * y * (1.0 - y)
    table[arm, Column.DOWNWARD] += y * (1.0 - y) * (1.0 - y)


@tight
def hold(arm, x, old, before, record):
    """A value of a normal arm: one of the first ones, which are held back until they differ, or one after these. ``before`` was
    the sum of the old ones."""
    table = record.table
    held, total = table[arm, Column.HELD], table[arm, Column.SUM] + table[arm, Column.CARRY]
    if held > 0.0:
        n = old + 1.0 - held
        mean = (before - table[arm, Column.HELD_SUM]) / (n - 1.0) if n > 1.0 else x
        table[arm, Column.LATER_SQUARES] += (x - mean) * (x - (total - table[arm, Column.HELD_SUM]) / n)
    elif old + 1 >= HELD_LEAST and table[arm, Column.SQUARES] > 0.0:
        table[arm, Column.HELD], table[arm, Column.HELD_SUM] = old + 1.0, total
        table[arm, Column.HELD_SQUARES] = table[arm, Column.SQUARES]


@tight
def observe(arm, x, record):
    """As ``Moments.update`` does for one value, to the last bit."""
    if has_redraws(arm, record.redraws):
        take(arm, record.counts[arm], x, record.table[arm, Column.POPULATION], record.redraws)
    note(arm, x, tally_of(record))


@tight
def tally_of(record):
    """A record, or one of draws with replacement, without what is not needed here."""
    return Tally(record.counts, record.table, record.variance)


@lean
def note(arm, x, record):
    """As ``observe``, of an arm whose values are only drawn once."""
    counts, table = record.counts, record.table
    old = counts[arm]
    mean = offset_of(arm, record) if old > 0 else 0.0
    before = table[arm, Column.SUM] + table[arm, Column.CARRY]
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
    if table[arm, Column.HELD] >= 0.0:
        hold(arm, x, old, before, record)
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


@lean
def take(arm, seen, x, population, redraws):
    """A new value of an arm, after so many, is drawn; as ``surepick.redraws.Redraws.take`` has it."""
    values, start = redraws.values, redraws.starts[arm]
    values[start + seen] = x
    if not seen + 1 < population:
        return
    key, tally = redraws.keys[arm], tally_of(redraws)
    drawn = place(key, redraws.counts[arm], population)
    while drawn < seen:
        note(arm, values[start + drawn], tally)
        drawn = place(key, redraws.counts[arm], population)
    note(arm, x, tally)
    if redraws.variance and not math.isnan(redraws.table[arm, Column.WAITING]):
        after = place(key, redraws.counts[arm], population)
        if after <= seen:
            note(arm, values[start + after], tally)
