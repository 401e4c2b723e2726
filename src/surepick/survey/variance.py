"""The variance of a stratified mean: sum of a_h (1/n_h - 1/N_h) with a_h = W_h^2 S_h^2 deff_h."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arms import Floats, Ints
from ..errors import InfeasibleError

SLACK = 1e-12  # relative: a target that is the variance of a whole-number design is met by it


@dataclass(frozen=True, eq=False)
class Strata:
    """What an optimum is made of: ``a`` a_h, ``rest`` 1/N_h (0 without correction), the price of an interview, and bounds."""

    a: Floats
    rest: Floats
    price: Floats
    low: Ints
    high: Ints

    def variance(self, n: Ints | Floats) -> float:
        return total(self.a * unseen(n, self.rest))

    def cost(self, n: Ints | Floats) -> float:
        return total(self.price * n)

    @property
    def one_price(self) -> bool:
        return bool((self.price == self.price[0]).all())

    def take(self, x: float) -> Floats:
        """Whole numbers at which one more interview gains less than 1/x^2 for its price: they minimise the sum of
        x^2 a/n + price n."""
        with np.errstate(over="ignore"):
            n = np.floor(np.sqrt((np.sqrt(self.a / self.price) * x) ** 2 + 0.25) + 0.5)
        return np.minimum(np.maximum(n, self.low), self.high)

    def real(self, t: float) -> Floats:
        """The same in real numbers."""
        with np.errstate(over="ignore"):
            n = np.sqrt(self.a / self.price) * t
        return np.minimum(np.maximum(n, self.low), self.high)


def unseen(n: Ints | Floats, rest: Floats) -> Floats:
    """1/n - rest with rest = 1/N, as (N - n) / (n N), so that it keeps its digits where nearly all are asked."""
    finite = rest > 0
    N = 1.0 / np.where(finite, rest, 1.0)
    near = np.round(N)
    N = np.where(np.abs(N - near) <= 1e-15 * near, near, N)  # 1 / (1/N) may miss N by a last digit
    out: Floats = np.where(finite, (N - n) / (N * n), 1.0 / n)
    return out


def total(x: Floats) -> float:
    """A sum without the rounding errors of a long one."""
    return math.fsum(x) if len(x) <= 5_000 else float(x.sum())


def within(value: float, limit: float) -> bool:
    return value <= limit * (1.0 + SLACK)


def real_optimum(strata: Strata, *, cost: float | None = None, variance: float | None = None) -> Floats:
    """The optimum in real numbers, n_h in proportion to sqrt(a_h / price_h) within the bounds."""

    def enough(n: Floats) -> bool:
        return strata.cost(n) >= cost if cost is not None else strata.variance(n) <= (variance or 0.0)

    low, high = -400.0, 400.0  # exponents of 2
    if enough(strata.real(0.0)):
        return strata.real(0.0)
    if not enough(strata.real(2.0**high)):
        return strata.real(2.0**high)
    while high - low > 1e-13 * max(1.0, abs(high)):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if enough(strata.real(2.0**middle)):
            high = middle
        else:
            low = middle
    return strata.real(2.0**high)


def refuse_unreachable(strata: Strata, variance: float, said: str) -> None:
    """No design within the bounds reaches the target."""
    least = strata.variance(strata.high)
    if not within(least, variance):
        raise InfeasibleError(said, key="target")
