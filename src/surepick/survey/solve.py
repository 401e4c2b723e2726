"""From units and estimates to whole numbers: which of the algorithms does it, and what it proves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..arms import Floats, Ints
from ..errors import InfeasibleError
from .bethel import cheapest, in_reals
from .limits import Limits
from .optimum import least_cost, least_variance, proportional
from .targets import Estimate
from .units import Units
from .variance import Strata, real_optimum, within

STEPS, CLOSE = 10, 1e-4  # of the search for a design that does as well as can be for a budget
LEAST = 1e-60  # of a standard error or variance, as a multiple of its limit


@dataclass(frozen=True, eq=False)
class Solution:
    """Units by stratum, the optimum in real numbers, and by how much the design may be above the best one: in ``of``."""

    units: Ints
    real: Floats
    above: float
    of: str  # "cost" or "variance"
    saves: Floats | None = None  # by target: cost that a 1 % larger standard error would save
    saved: float | None = None  # the same for all targets together
    least: Estimate | None = None  # whose variance was minimised, if it was that of one


def strata_of(one: Estimate, units: Units, price: Floats) -> Strata:
    """One estimate, in units: a (spread / m - known) = a spread (1/m - known / spread)."""
    return Strata(one.a * units.spread, units.known / units.spread, price, units.low, units.high)


def reach(targets: list[Estimate], units: Units, price: Floats, source: str) -> Solution:
    """The cheapest units that reach all targets."""
    for one in targets:
        _refuse_unreachable(one, units, source)
    if len(targets) == 1:
        one = targets[0]
        strata, limit = strata_of(one, units, price), _limit(one)
        best = least_cost(strata, limit)
        real = real_optimum(strata, variance=limit)
        saved = strata.cost(real) - strata.cost(real_optimum(strata, variance=limit * 1.01**2))
        return Solution(best.n, real, best.above, "cost", np.array([saved]), saved)
    limits = limits_of(targets, units, price)
    found = cheapest(limits)
    saves = found.multipliers * (1 - 1 / 1.01**2)
    saves = np.where(saves > 1e-9 * saves.sum(), saves, 0.0)  # what is left of multipliers that are 0
    return Solution(found.n, found.real, max(limits.cost(found.n) - found.bound, 0.0), "cost", saves, float(saves.sum()))


def spend(one: Estimate, units: Units, price: Floats, budget: float) -> Solution:
    """The least variance of one estimate for a budget."""
    strata = strata_of(one, units, price)
    best = least_variance(strata, budget)
    real = real_optimum(strata, cost=min(budget, strata.cost(best.n) + price.max()))
    variance = strata.variance(real)
    looser = real_optimum(strata, variance=variance * 1.01**2)
    saved = strata.cost(real) - strata.cost(looser) if variance > 0 else None
    return Solution(best.n, real, best.above, "variance", None, saved, one)


def spend_on_all(wanted: list[Estimate], units: Units, price: Floats, budget: float) -> Solution:
    """The budget is spent so that the worst of several standard errors, as a multiple of its target, is as small as it can be."""
    limits = limits_of(wanted, units, price)
    if within(limits.cost(units.high), budget):
        return Solution(units.high.copy(), units.high.astype(np.float64), 0.0, "variance")

    def at(squared: float) -> Limits:
        return Limits(limits.A / squared, limits.rest, price, units.low, units.high)

    low, high = 1e-12, float(limits.used(units.low).max()) or 1.0
    real = units.low.astype(np.float64)
    for _ in range(60):
        middle = float(np.sqrt(low * high))
        tried, least = in_reals(at(middle))
        if tried is not None and limits.cost(tried) <= budget * (1 + 1e-12):
            high, real = middle, tried
        elif least > budget * (1 + 1e-12):
            low = middle  # no design of this cost can do as well
        else:
            break
        if high / low < 1 + 1e-7:
            break
    n = np.minimum(np.floor(real + 1e-9), units.high).astype(np.int64)
    left = budget * (1 + 1e-12) - limits.cost(n)
    A = limits.A.tocsr()
    for _ in range(3 * len(n) + 100):  # one by one where the worst estimate gains most
        used = limits.used(n)
        fits = (price <= left) & (n < units.high)
        for j in np.argsort(-used, kind="stable"):
            gain = np.where(fits, A[[j]].toarray()[0] / (n * (n + 1.0) * price), 0.0)
            if gain.max() > 0:
                break
        else:
            break
        h = int(np.argmax(gain))
        n[h] += 1
        left -= price[h]
    else:  # much is left where little can be gained: for all estimates together
        total = Strata(np.asarray(A.sum(axis=0)).ravel(), limits.rest, price, n, units.high)
        n = least_variance(total, budget).n
    n, worst, bound = _narrowed(limits, at, budget, n, low)
    return Solution(n, real, max(worst / bound - 1.0, 0.0), "worst")


def _narrowed(limits: Limits, at: Callable[[float], Limits], budget: float, n: Ints, bound: float) -> tuple[Ints, float, float]:
    """A better design for the budget, and a better bound: the cheapest designs in whole numbers for targets in between."""
    worst = float(limits.used(n).max())
    low, high = bound, worst
    for _ in range(STEPS):
        if worst / bound - 1.0 < CLOSE or high / low - 1.0 < CLOSE:
            break
        middle = float(np.sqrt(low * high))
        tight = at(middle)
        found = cheapest(tight) if tight.meets(limits.high) else None
        if found is not None and within(limits.cost(found.n), budget):
            n, worst = found.n, float(limits.used(found.n).max())
            high = min(worst, middle)
            continue
        low = middle
        if found is None or found.bound > budget * (1 + 1e-9):
            bound = middle  # no design of this cost can do as well
    return n, worst, bound


def shares(sizes: Floats, units: Units, size: int) -> Ints:
    """A number of interviews in proportion to ``sizes``, within the bounds."""
    return proportional(sizes / units.take, size, units.low, units.high)


def shares_reach(sizes: Floats, targets: list[Estimate], units: Units, source: str) -> Ints:
    """The fewest interviews in proportion to ``sizes`` that reach all targets."""
    for one in targets:
        _refuse_unreachable(one, units, source)
    limits = limits_of(targets, units, units.cost)
    low, high = int(units.low.sum()) - 1, int(units.high.sum())
    while high - low > 1:
        middle = (low + high) // 2
        if limits.meets(shares(sizes, units, middle)):
            high = middle
        else:
            low = middle
    return shares(sizes, units, high)


def limits_of(targets: list[Estimate], units: Units, price: Floats) -> Limits:
    """All targets, as limits of 1."""
    rows = []
    for one in targets:
        row = one.a * units.spread / _limit(one)
        # below, nothing counts; above, nothing but everybody will do
        rows.append(sparse.csr_array(np.where(row < LEAST, 0.0, np.minimum(row, 1.0 / LEAST))[None, :]))
    return Limits(sparse.csr_array(sparse.vstack(rows)), units.known / units.spread, price, units.low, units.high)


def _limit(one: Estimate) -> float:
    return min(max((one.target or 0.0) / one.scale, LEAST), 1.0 / LEAST) ** 2


def _refuse_unreachable(one: Estimate, units: Units, source: str) -> None:
    least = strata_of(one, units, units.cost).variance(units.high)
    if not within(least, _limit(one)):
        best = f"a CV of {one.cv(least):.4g}" if not np.isnan(one.cv(least)) else f"a standard error of {one.se(least):.4g}"
        wanted = one.target or 0.0
        asked = one.asked_cv or (one.of_mean(wanted) if not np.isnan(one.of_mean(wanted)) else wanted)
        where = "" if one.domain == "all" else f" in {one.domain!r}"
        raise InfeasibleError(
            f"{source}: {asked:.4g} cannot be reached for {one.variable!r}{where}: with all interviews that can be had it is "
            f"{best}; raise the target, the upper bounds or the response rates.",
            key="target",
        )
