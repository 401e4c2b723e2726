"""The next wave: the rest of the budget is planned by the exact optimum with what was collected as lower bounds, and the wave is
the part of that plan that comes next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arms import Floats, Ints
from .optimum import least_variance, proportional
from .spread import Seen, plug_in, spread
from .variance import Strata

RULES = ("shrunk", "optimistic", "plug-in")
FIRST = ("auto", "known", "proportional", "root", "equal")
EACH = 3  # interviews of a stratum in the first wave, if that many can be had


@dataclass(frozen=True, eq=False)
class Field:
    """What can be asked: by stratum the weight W_h^2 deff_h of S_h^2, the people, the price of an interview, and bounds on the
    interviews in the end; ``limit`` is on what all of them cost. ``paid``: that is money, and not a number of interviews."""

    weight: Floats
    N: Floats
    price: Floats
    low: Ints
    high: Ints
    limit: float
    paid: bool

    @property
    def pairs(self) -> int:
        """Two interviews in every stratum, or one where there are no more."""
        return int(np.minimum(2, self.high).sum())


def believed(known: Seen, rule: str) -> Floats:
    """The S_h^2 that a rule plans with, in units of ``scale`` squared."""
    if rule == "plug-in":
        return plug_in(known)
    found = spread(known)
    return found.high if rule == "optimistic" else found.mean


def strata_of(field: Field, S2: Floats, told: Ints) -> Strata:
    a = field.weight * S2
    return Strata(a / (a.max() or 1.0), 1.0 / field.N, field.price, np.maximum(field.low, told), field.high)


def planned(field: Field, S2: Floats, told: Ints) -> Ints:
    """The whole budget: the exact optimum among the designs that keep what was collected."""
    strata = strata_of(field, S2, told)
    if field.paid and not strata.a.any():
        return affordable(field, strata, field.N)
    return least_variance(strata, field.limit).n


def part(field: Field, S2: Floats, told: Ints, goal: Ints, n: int) -> Ints:
    """The n interviews of the plan that come next: what the lower bounds lack, then those that gain most for their price."""
    need = goal - told
    n = int(min(n, need.sum()))
    least = np.maximum(np.minimum(field.low, goal) - told, 0)
    if n <= least.sum():
        return proportional(np.maximum(least, 1e-9).astype(np.float64), n, np.zeros_like(least), least)
    strata = strata_of(field, S2 / field.price, told)
    k = int(told.sum()) + n
    alike = Strata(strata.a, strata.rest, np.ones(len(told)), told + least, goal)
    return least_variance(alike, k).n - told


def affordable(field: Field, strata: Strata, shares: Floats) -> Ints:
    """As many in proportion to shares as the budget pays for; where the next one is too dear, the rest goes to the others."""
    limit, n, high = field.limit * (1 + 1e-12), strata.low, strata.high
    while (n < high).any():
        few, many = int(n.sum()), int(high.sum())
        while many > few:
            middle = (few + many + 1) // 2
            few, many = (middle, many) if strata.cost(proportional(shares, middle, n, high)) <= limit else (few, middle - 1)
        n = proportional(shares, few, n, high)
        high = np.where(strata.cost(n) + field.price <= limit, high, n)
    return n


def opening(field: Field, shares: Floats, n: int) -> Ints:
    """The first wave: n interviews in proportion to shares, three in every stratum at least if that fills at most the half."""
    high = field.high
    for each in range(EACH, -1, -1):
        low = np.minimum(np.maximum(np.minimum(field.low, 2 * (each > 0)), each), high)
        if low.sum() * (2 if each > 2 else 1) <= n:
            break
    return proportional(shares, n, low, high)


def shares_of(first: str, field: Field, guess: Floats) -> Floats:
    """In proportion to what the first wave is: N_h, its root, alike, or N_h S_h by the frame's S, over the root of the price."""
    if first == "known":
        share = np.sqrt(field.weight * guess / field.price)
        known: Floats = share / share.max() if share.max() > 0 else field.N / field.N.max()
        return known
    power = {"proportional": 1.0, "root": 0.5, "equal": 0.0}[first]
    out: Floats = (field.N / field.N.max()) ** power
    return out
