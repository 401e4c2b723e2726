"""Limits of several variances, and a linear program over the interviews around a design."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ..arms import Floats, Ints
from .variance import SLACK, total, unseen

AROUND = 3  # interviews on either side of the real optimum


@dataclass(frozen=True, eq=False)
class Limits:
    """``A`` is divided by the limits, so that every one of them is 1."""

    A: sparse.csr_array
    rest: Floats
    price: Floats
    low: Ints
    high: Ints

    def used(self, n: Ints | Floats) -> Floats:
        """The share of every limit that a design takes up."""
        out: Floats = self.A @ unseen(n, self.rest)
        return out

    def meets(self, n: Ints | Floats) -> bool:
        return bool((self.used(n) <= 1.0 + SLACK).all())

    def cost(self, n: Ints | Floats) -> float:
        return total(self.price * n)


def mixture(limits: Limits, real: Floats) -> tuple[Floats, Floats | None]:
    """The multipliers of the best mixture of whole numbers around a design in real numbers, and the mixture, if there is one.

    One variable an interview, from 0 to 1; gains fall, so the earlier interviews come first.
    """
    start: Ints = np.clip(np.floor(real).astype(np.int64) - AROUND + 1, limits.low, limits.high)
    more = np.minimum(start + 2 * AROUND, limits.high) - start
    arm = np.repeat(np.arange(len(more)), more)
    unit = np.arange(len(arm)) - np.repeat(np.cumsum(more) - more, more) + start[arm]
    gains = limits.A[:, arm] @ sparse.diags_array(1.0 / (unit * (unit + 1.0)))
    solved = linprog(limits.price[arm], A_ub=-gains, b_ub=1.0 - limits.used(start), bounds=(0, 1), method="highs")
    if solved.status != 0:
        return np.zeros(gains.shape[0]), None
    taken: Floats = start.astype(np.float64) + np.bincount(arm, weights=solved.x, minlength=len(start))
    duals: Floats = np.maximum(-solved.ineqlin.marginals, 0.0)
    return duals, taken
