"""The little statistics that the verdicts rest on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..simulation import clopper_pearson

SURE = 0.95  # of all intervals of one claim together


class Rate(NamedTuple):
    """A count out of many, the interval of its probability, and whether that is below a limit."""

    errors: int
    of: int
    low: float
    high: float


def rates(counts: Sequence[tuple[int, int]]) -> list[Rate]:
    """Exact (Clopper-Pearson) intervals that hold together with probability 95 %."""
    sure = 1 - (1 - SURE) / max(len(counts), 1)
    return [Rate(count, of, *clopper_pearson(count, of, sure)) for count, of in counts]


class Slope(NamedTuple):
    """The power with which y grows in x, and its 95 % interval."""

    power: float
    low: float
    high: float


def slope(x: ArrayLike, y: ArrayLike) -> Slope:
    """Of the line through (ln x, ln y) by least squares; the interval by Student's t from what the line leaves over.

    Examples
    --------
    >>> slope([1, 10, 100], [3, 30, 300]).power
    1.0
    """
    from scipy.stats import linregress, t

    fit = linregress(np.log(np.asarray(x, dtype=np.float64)), np.log(np.asarray(y, dtype=np.float64)))
    spare = np.size(x) - 2
    reach = float(t.ppf(0.5 + SURE / 2, spare) * fit.stderr) if spare > 0 else float("inf")  # two points are on every line
    power = round(float(fit.slope), 12)
    return Slope(power, power - reach, power + reach)


class Mean(NamedTuple):
    """A mean and its standard error."""

    value: float
    error: float


def mean(values: ArrayLike) -> Mean:
    array = np.asarray(values, dtype=np.float64)
    return Mean(float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else float("inf"))


def ratio(above: ArrayLike, below: ArrayLike) -> tuple[float, float, float]:
    """mean(above) / mean(below) of pairs, with its 95 % interval by the delta method (pairs share their luck)."""
    from scipy.stats import t

    a, b = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    r = float(a.mean() / b.mean())
    reach = float(t.ppf(0.5 + SURE / 2, max(len(a) - 1, 1))) * mean((a - r * b) / b.mean()).error
    return r, r - reach, r + reach
