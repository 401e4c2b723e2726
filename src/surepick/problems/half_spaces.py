"""The parameters at which another decision is best, as half-spaces: sum_i c_i (lambda_i - theta_i) >= gap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arms import Floats, Ints
from ..engine.data import Exchanges

LARGEST = 2_000_000  # entries of the table of half-spaces; more than that takes too long


class HalfSpaces(NamedTuple):
    """One row a half-space: its arms, their coefficients (0 fills up short rows), and by how much theta misses it."""

    arms: Ints
    c: Floats
    gap: Floats

    @classmethod
    def of(cls, c: Floats, gap: Floats) -> HalfSpaces:
        """From rows with a coefficient for every arm."""
        longest = int((c != 0).sum(axis=1).max(initial=0))
        arms = np.argsort(c == 0, axis=1, kind="stable")[:, :longest]
        return cls(arms, np.take_along_axis(c, arms, axis=1), gap)

    @classmethod
    def of_exchanges(cls, exchanges: Exchanges, theta: Floats) -> HalfSpaces:
        """From the single exchanges of a decision: one is false where slope_l lambda_l > slope_h lambda_h."""
        arms = np.column_stack((exchanges.low, exchanges.high))
        c = np.column_stack((exchanges.slope_low, -exchanges.slope_high))
        return cls(arms, c, -(c * theta[arms]).sum(axis=1))

    @classmethod
    def of_decisions(cls, decisions: Floats | Ints, best: Floats | Ints, sign: float, theta: Floats) -> HalfSpaces | None:
        """From a list of all decisions, with reward (plus or minus) theta . y; None if it is too long."""
        if decisions.size > LARGEST:
            return None
        c = sign * (decisions - best)
        c = c[(c != 0).any(axis=1)]
        return cls.of(c, -(c @ theta))

    def joined(self, other: HalfSpaces) -> HalfSpaces:
        wide = max(self.arms.shape[1], other.arms.shape[1])
        both = [(s.arms, s.c, ((0, 0), (0, wide - s.arms.shape[1]))) for s in (self, other)]
        arms = np.vstack([np.pad(arms, room) for arms, _, room in both])
        c = np.vstack([np.pad(c, room) for _, c, room in both])
        return HalfSpaces(arms, c, np.concatenate((self.gap, other.gap)))
