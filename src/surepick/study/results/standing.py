"""What a whole table says: with every score there, who is best is known and not estimated."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...arms import Bools, Floats, Ints
from ...environments import Scores

ROUNDING = 1e-12  # of the range of a score: means that differ by less are equal, and one was summed otherwise


@dataclass(frozen=True)
class Standing:
    """Candidates in the order of their means.

    Attributes
    ----------
    means : array
        Of every candidate.
    order : array
        The candidates, the best first; of equal ones the first.
    behind : array
        By how much every candidate is worse than the best one.
    lead : float
        By how much the last of the best k is better than the next one.
    tied : array of bool
        Candidates that are equal at the limit of the best k: any of them will do.
    near : array of bool
        Not among the best k, and within epsilon of them.
    """

    means: Floats
    order: Ints
    behind: Floats
    lead: float
    tied: Bools
    near: Bools
    good: Bools  # no more than epsilon worse than the k-th best

    @property
    def tie(self) -> bool:
        return bool(self.tied.any())


def standing(scores: Scores, k: int, *, epsilon: float = 0.0, sense: str = "max", span: float = 1.0) -> Standing:
    """Who is best of all, and by how much; ``span`` is the range of a score."""
    means = np.array([math.fsum(row) / len(row) for row in scores.table.tolist()])
    sign, slack = (1.0 if sense == "max" else -1.0), ROUNDING * span
    worth = sign * means
    order = np.argsort(-np.round(worth / slack), kind="stable")
    last, next_ = worth[order[k - 1]], worth[order[min(k, len(order) - 1)]]
    lead = float(last - next_) if last - next_ > slack else 0.0
    at_limit = np.abs(worth - last) <= slack
    good = worth >= last - epsilon - slack
    chosen = np.zeros(len(means), dtype=np.bool_)
    chosen[order[:k]] = True
    tied = at_limit if lead == 0.0 else np.zeros(len(means), dtype=np.bool_)
    behind = np.maximum(worth.max() - worth, 0.0)
    behind[behind <= slack] = 0.0
    return Standing(means, order, behind, lead, tied, good & ~chosen & ~tied, good)
