"""Samples in two stages: primary units (villages, schools), and people within each.

With a likeness delta of people in one primary unit, the variance of a mean from m units with n people each is
S^2 (1 + delta (n - 1)) / (m n), and the cost m (C1 + C2 n). The best n = sqrt(C1 / C2 (1 - delta) / delta) depends neither on the
budget nor on S (Hansen, Hurwitz and Madow 1953, chapter 6).
"""

from __future__ import annotations

import math
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

    def one(n: float) -> float:
        """The squared CV with one primary unit."""
        return v * (1 + d * (n - 1)) / n

    whole = int(best_take(*(np.array([x]) for x in (c1, c2, d, float(MOST))))[0])
    if budget is not None:
        c = number(budget, "budget", "a positive number", lambda x: x > 0)
        if c < c1 + c2:
            raise InfeasibleError(f"A budget of {c:,g} does not pay for one interview, which costs {c1 + c2:,g}.", key="budget")
        m = c / (c1 + c2 * take)
        tried = range(1, min(MOST, int((c - c1) / c2), 20 * whole + 20) + 1)
        pairs = [(math.floor(c / (c1 + c2 * n) * (1 + 1e-12)), n) for n in tried]
        best = min((p for p in pairs if p[0] >= 1), key=lambda p: (one(p[1]) / p[0], p[0] * (c1 + c2 * p[1])))
    else:
        target = number(cv, "cv", "a positive number", lambda x: x > 0)
        m = one(take) / target**2
        tried = range(1, 20 * whole + 21)
        pairs = [(math.ceil(one(n) / target**2 * (1 - 1e-12)), n) for n in tried]
        best = min(pairs, key=lambda p: p[0] * (c1 + c2 * p[1]))
    return TwoStage(
        psus=m, take=take, cv=math.sqrt(one(take) / m), cost=m * (c1 + c2 * take), whole=best,
        whole_cv=math.sqrt(one(best[1]) / best[0]), whole_cost=best[0] * (c1 + c2 * best[1]),
    )  # fmt: skip
