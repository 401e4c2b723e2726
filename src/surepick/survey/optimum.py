"""The whole-number optimum of one variable: the least variance for a size or a cost, or the least cost for a variance.

Interviews are taken in the order of what they gain for their price: the l-th to l+1-th of stratum h gains a_h / (l (l + 1)),
which falls with l. Where all prices are one, the first that fill the size, or reach the variance, are the exact optimum
(Wright 2017). Where prices differ, that order gives a bound on every design, and ``core`` looks through the designs that are
not ruled out by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arms import Floats, Ints
from ..problems.allocate import fill
from .core import search
from .variance import Strata, within

FEW = 256  # interviews near the threshold that are looked at one by one, at least


@dataclass(frozen=True, eq=False)
class Optimum:
    """A whole-number design; ``above`` is how much more it may cost, or its variance may be, than the best one's: 0 if exact."""

    n: Ints
    above: float


def least_variance(strata: Strata, budget: float) -> Optimum:
    """The design of least variance whose cost is at most the budget, which the least design must not exceed."""
    if strata.one_price:
        k = int(min(np.floor(budget / strata.price[0] * (1 + 1e-12)), strata.high.sum()))
        return Optimum(_fill(strata, k), 0.0)
    largest: Ints = np.where(strata.a > 0, strata.high, strata.low)
    if within(strata.cost(largest), budget):
        return Optimum(largest, 0.0)

    def fits(n: Floats) -> bool:
        return within(strata.cost(n), budget)

    x0, x1 = _bracket(strata, fits)
    n, arm, unit = _steps(strata, x0, x1)
    ratio = strata.a[arm] / (strata.price[arm] * unit * (unit + 1.0))
    left = budget * (1 + 1e-12) - strata.cost(n)
    closed, critical = np.zeros(len(n), dtype=bool), 0.0
    for i in np.argsort(-ratio, kind="stable"):
        h = arm[i]
        if closed[h]:
            continue
        if strata.price[h] <= left:
            n[h] += 1
            left -= strata.price[h]
        else:
            closed[h] = True
            critical = critical or float(ratio[i])
    _spend(strata, n, left)
    worth = critical or 1.0 / x1**2  # of one unit of cost
    found, above = search(strata, n, worth, budget * (1 + 1e-12), True)
    return Optimum(found, above)


def least_cost(strata: Strata, variance: float) -> Optimum:
    """The cheapest design whose variance is at most the limit, which the largest design must reach."""

    def short(n: Floats | Ints) -> bool:
        return not within(strata.variance(n), variance)

    if not short(strata.low.astype(np.float64)):
        return Optimum(strata.low.copy(), 0.0)
    x0, x1 = _bracket(strata, short)
    n, arm, unit = _steps(strata, x0, x1)
    ratio = strata.a[arm] / (strata.price[arm] * unit * (unit + 1.0))
    order = np.argsort(-ratio, kind="stable")
    after = strata.variance(n) - np.cumsum(strata.a[arm[order]] / (unit[order] * (unit[order] + 1.0)))
    q = min(int(np.searchsorted(-after, -variance * (1 + 1e-9))), len(order))
    n += np.bincount(arm[order[:q]], minlength=len(n))
    while q < len(order) and short(n):
        n[arm[order[q]]] += 1
        q += 1
    while q:  # the differences above lose digits where nearly all are asked
        n[arm[order[q - 1]]] -= 1
        if short(n):
            n[arm[order[q - 1]]] += 1
            break
        q -= 1
    if strata.one_price:
        return Optimum(n, 0.0)
    worth = float(ratio[order[max(q - 1, 0)]])
    _trim(strata, n, variance)
    found, above = search(strata, n, worth, variance * (1 + 1e-12), False)
    if short(found):
        found = n
    return Optimum(found, above)


def proportional(sizes: Floats, k: int, low: Ints, high: Ints) -> Ints:
    """k interviews in proportion to the sizes, within bounds: the largest remainders are rounded up."""
    k = int(min(max(k, low.sum()), high.sum()))
    lower, upper = 0.0, float(high.max() + 1) / float(sizes.min())
    for _ in range(200):
        t = 0.5 * (lower + upper)
        if np.clip(t * sizes, low, high).sum() > k:
            upper = t
        else:
            lower = t
    real = np.clip(lower * sizes, low, high)
    n: Ints = np.floor(real * (1 + 1e-12)).astype(np.int64)
    n = np.clip(n, low, high)
    while (spare := k - int(n.sum())) > 0:
        room = np.flatnonzero(n < high)
        order = room[np.argsort(-(real - n)[room], kind="stable")][:spare]
        n[order] += 1
    return n


def _fill(strata: Strata, k: int) -> Ints:
    gains = strata.a > 0
    best = np.where(gains, strata.high, strata.low)
    if best.sum() <= k:  # what nobody gains from is split by what there is
        if gains.all():
            return best
        rest = np.where(strata.rest > 0, 1.0 / np.where(strata.rest > 0, strata.rest, 1.0), 1.0)
        n = best.copy()
        n[~gains] = proportional(rest[~gains], k - int(best[gains].sum()), strata.low[~gains], strata.high[~gains])
        return n
    return fill(np.ones(len(gains)), strata.a, k, strata.low, strata.high, strict=False)


def _bracket(strata: Strata, before: Callable[[Floats], bool]) -> tuple[float, float]:
    """Thresholds around the one at which ``before`` ends, with few interviews between them."""
    few = max(FEW, len(strata.a) // 8)
    e0, e1 = -60.0, 60.0  # exponents of 2
    while not before(strata.take(2.0**e0)):
        e0 *= 2
    while before(strata.take(2.0**e1)):
        e1 *= 2
        if e1 > 1000:
            break
    n0, n1 = strata.take(2.0**e0).sum(), strata.take(2.0**e1).sum()
    for _ in range(200):
        middle = 0.5 * (e0 + e1)
        if n1 - n0 <= few or middle in (e0, e1):
            break
        n = strata.take(2.0**middle)
        if before(n):
            e0, n0 = middle, n.sum()
        else:
            e1, n1 = middle, n.sum()
    return 2.0**e0, 2.0**e1


def _steps(strata: Strata, x0: float, x1: float) -> tuple[Ints, Ints, Ints]:
    """The design at the lower threshold, and the interviews from there to the upper one: stratum and how many there were."""
    n = strata.take(x0 * (1 - 1e-12)).astype(np.int64)
    more = strata.take(x1 * (1 + 1e-12)).astype(np.int64) - n
    arm = np.repeat(np.arange(len(n)), more)
    unit = np.arange(len(arm)) - np.repeat(np.cumsum(more) - more, more) + n[arm]
    return n, arm, unit


def _spend(strata: Strata, n: Ints, left: float) -> None:
    """Interviews for what is left of the budget, those that gain most first."""
    while True:
        fits = np.flatnonzero((strata.price <= left) & (n < strata.high) & (strata.a > 0))
        if not len(fits):
            return
        h = fits[np.argmax(strata.a[fits] / (strata.price[fits] * n[fits] * (n[fits] + 1.0)))]
        n[h] += 1
        left -= strata.price[h]


def _trim(strata: Strata, n: Ints, variance: float) -> None:
    """Leave out interviews that the limit does not need, the dearest first."""
    spare = variance * (1 + 1e-12) - strata.variance(n)
    while True:
        loss = strata.a / (n * np.maximum(n - 1.0, 0.5))
        fits = np.flatnonzero((n > strata.low) & (loss <= spare))
        if not len(fits):
            return
        h = fits[np.argmax(strata.price[fits])]
        n[h] -= 1
        spare = variance * (1 + 1e-12) - strata.variance(n)
