"""Samples in two stages: primary units (villages, schools), and people within each.

With a likeness delta of people in one primary unit, the variance of a mean from m units with n people each is
S^2 (1 + delta (n - 1)) / (m n), and the cost m (C1 + C2 n). The best n = sqrt(C1 / C2 (1 - delta) / delta) depends neither on the
budget nor on S (Hansen, Hurwitz and Madow 1953, chapter 6).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arms import Floats
from ..checks import number
from ..errors import InfeasibleError, SettingError

MOST = 1_000_000  # people a primary unit


@dataclass(frozen=True)
class TwoStage:
    """The best design in two stages.

    Attributes
    ----------
    psus, take : float
        Primary units, and interviews in each, in real numbers.
    cv, cost : float
        What they reach, and cost.
    whole : tuple of int
        The best whole numbers (primary units, interviews in each).
    whole_cv, whole_cost : float
        What these reach, and cost.
    """

    psus: float
    take: float
    cv: float
    cost: float
    whole: tuple[int, int]
    whole_cv: float
    whole_cost: float


def best_take(psu_cost: Floats, cost: Floats, delta: Floats, most: Floats) -> Floats:
    """The best whole number of interviews in each primary unit."""
    with np.errstate(divide="ignore", invalid="ignore"):
        real = np.sqrt(psu_cost / cost * (1 - delta) / delta)
    real = np.clip(np.nan_to_num(real, nan=1.0, posinf=MOST), 1.0, np.minimum(most, MOST))
    low = np.floor(real)
    high = np.minimum(low + 1, np.maximum(np.floor(most), 1))

    def loss(n: Floats) -> Floats:
        out: Floats = (psu_cost + cost * n) * (delta + (1 - delta) / n)
        return out

    best: Floats = np.where(loss(low) <= loss(high), low, high)
    return best


def two_stage(
    psu_cost: float, cost: float, delta: float, *, relvariance: float = 1.0, budget: float | None = None, cv: float | None = None
) -> TwoStage:
    """The best numbers of primary units and of interviews in each, for a budget or for a target.

    Parameters
    ----------
    psu_cost, cost : float
        Of a primary unit, and of an interview.
    delta : float
        How alike people in one primary unit are: the intraclass correlation, above 0 and below 1.
    relvariance : float
        The variance of a single answer, divided by the squared mean.
    budget, cv : float
        One of them: what all may cost, or the coefficient of variation to reach.

    Examples
    --------
    >>> from surepick.survey import two_stage
    >>> design = two_stage(750, 100, 0.05, budget=100_000)
    >>> round(design.psus, 1), round(design.take, 1), round(design.cv, 4), design.whole
    (51.4, 11.9, 0.0502, (54, 11))
    """
    c1 = number(psu_cost, "psu_cost", "a positive number", lambda x: x > 0)
    c2 = number(cost, "cost", "a positive number", lambda x: x > 0)
    d = number(delta, "delta", "above 0 and below 1", lambda x: 0 < x < 1)
    v = number(relvariance, "relvariance", "a positive number", lambda x: x > 0)
    if (budget is None) == (cv is None):
        raise SettingError("Give either a budget or a cv.", key="budget")
    take = max(1.0, math.sqrt(c1 / c2 * (1 - d) / d))

    def squared(m: Floats, n: Floats) -> Floats:
        """The squared CV."""
        return v * (d + (1 - d) / n) / m

    def price(m: Floats, n: Floats) -> Floats:
        return m * (c1 + c2 * n)

    def alone_with(n: float) -> float:
        return v * (d + (1 - d) / n)

    if budget is not None:
        c = number(budget, "budget", "a positive number", lambda x: x > 0)
        if c < c1 + c2:
            raise InfeasibleError(f"A budget of {c:,g} does not pay for one interview, which costs {c1 + c2:,g}.", key="budget")
        take = min(take, (c - c1) / c2)  # one unit at least
        m = c / (c1 + c2 * take)
        whole = _best(
            take,
            units=lambda n: np.floor(c / (c1 + c2 * n) * (1 + 1e-12)),
            takes=lambda m: np.floor((c / m - c1) / c2 * (1 + 1e-12)),
            least=squared,
            beside=price,
            worth=lambda best: best * c / v,
            parts=(c1, c2, d),
        )
    else:
        target = number(cv, "cv", "a positive number", lambda x: x > 0)
        if alone_with(take) < target**2:  # then so many interviews in one unit are too many
            take = max((1 - d) / (target**2 / v - d), 1.0)
        m = max(alone_with(take) / target**2, 1.0)
        whole = _best(
            take,
            units=lambda n: np.ceil(squared(np.ones(1), n) / target**2 * (1 - 1e-12)),
            takes=lambda m: np.ceil((1 - d) / np.maximum(target**2 * m / v * (1 + 1e-12) - d, 1e-300) * (1 - 1e-12)),
            least=price,
            beside=squared,
            worth=lambda best: best * target**2 / v,
            parts=(c1, c2, d),
        )
    pair = np.array(whole[:1], dtype=float), np.array(whole[1:], dtype=float)
    return TwoStage(
        psus=m, take=take, cv=math.sqrt(alone_with(take) / m), cost=m * (c1 + c2 * take), whole=whole,
        whole_cv=math.sqrt(float(squared(*pair)[0])), whole_cost=float(price(*pair)[0]),
    )  # fmt: skip


def _best(
    take: float,
    *,
    units: Callable[[Floats], Floats],
    takes: Callable[[Floats], Floats],
    least: Callable[[Floats, Floats], Floats],
    beside: Callable[[Floats, Floats], Floats],
    worth: Callable[[float], float],
    parts: tuple[float, float, float],
) -> tuple[int, int]:
    """The best whole numbers of primary units and of interviews in each; ``beside`` decides between those that are as good.

    ``units`` is the best m for an n, ``takes`` the best n for an m. In real numbers an n attains no less than
    (d + (1 - d) / n) (C1 + C2 n), which rules out all n outside an interval once some pair is known; the rest are tried, or
    their m, if those are fewer.
    """
    c1, c2, d = parts

    def first(m: Floats, n: Floats) -> tuple[float, float, int, int]:
        good = (m >= 1) & (n >= 1) & (n < 2.0**53) & (m < 2.0**53)
        m, n = m[good], n[good]
        at = np.lexsort((beside(m, n), least(m, n)))[:1]
        return next(((float(least(m, n)[i]), float(beside(m, n)[i]), int(m[i]), int(n[i])) for i in at), (np.inf, 0.0, 1, 1))

    one = np.ones(1)
    near = np.array([np.floor(take), np.floor(take) + 1.0, 1.0, *np.maximum(takes(one), 1.0)])
    best = first(units(near), near)
    # w n^2 - k n + C1 (1 - d) <= 0 with w = C2 d
    k = worth(best[0]) * (1 + 1e-9) - c1 * d - c2 * (1 - d)
    root = math.sqrt(max(k * k - 4 * c1 * c2 * d * (1 - d), 0.0))
    high = (k + root) / (2 * c2 * d)
    low = max(c1 * (1 - d) / (c2 * d) / high, 1.0)
    few, many = (float(units(np.array([x]))[0]) for x in (np.ceil(high), np.floor(low)))
    if high - low <= many - few:
        n = np.floor(low) + np.arange(min(high - low + 2.0, MOST))
        best = min(best, first(units(n), n))
    else:
        m = max(few, 1.0) + np.arange(min(many - few + 2.0, MOST))
        n = takes(m)
        best = min(best, first(m, n))
    return best[2], best[3]
