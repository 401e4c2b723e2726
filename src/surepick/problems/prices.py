"""What observations cost, counted exactly: as decimals, the way they were written."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..arms import Bools, Floats, Ints


class Prices:
    """The costs of all arms as whole numbers of a unit that all of them share, so that sums do not round: three observations at
    0.1 cost 0.3, and a budget is never exceeded."""

    def __init__(self, costs: Floats) -> None:
        exact = [Fraction(repr(cost)) for cost in costs.tolist()]
        self.unit: int = math.lcm(*(cost.denominator for cost in exact))  # units in a cost of 1
        self.each: list[int] = [int(cost * self.unit) for cost in exact]
        self.dearest: int = max(self.each)

    def of(self, amount: float) -> int:
        """An amount in units, rounded down."""
        return math.floor(Fraction(repr(amount)) * self.unit)

    def total(self, counts: Ints) -> int:
        """What so many observations of every arm cost."""
        return sum(n * cost for n, cost in zip(counts.tolist(), self.each, strict=True))

    def within(self, left: int) -> Bools:
        """The arms of which one observation costs no more than is left."""
        return np.array([cost <= left for cost in self.each])

    def paid(self, arms: list[int], left: int) -> list[int]:
        """The first of these observations, as far as what is left pays for them."""
        for done, arm in enumerate(arms):
            left -= self.each[arm]
            if left < 0:
                return arms[:done]
        return arms
