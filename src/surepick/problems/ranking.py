"""All arms in the order of their parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arms import Bools, Floats, Ints, Names, Sense, make_arms
from ..engine.data import Exchanges
from ..estimators import Estimator, make_estimator
from .base import Problem, check_sense
from .half_spaces import LARGEST, HalfSpaces
from .keys import PARAMETER, SENSE, Keys


class Ranking(Problem):
    """The whole order of the arms, the one with the largest parameter first, or with the smallest one.

    The decision says the rank of every arm, from 1 for the best one to m. Of equal arms the first comes first.

    Parameters
    ----------
    arms : int, names or Arm objects
    sense : {"max", "min"}
        "min" if the smallest parameter is the best one: times, costs, errors.
    parameter : {"mean", "variance"} or Estimator

    Notes
    -----
    The reward is the sum, over all pairs, of the parameter of the arm that is ranked above the other. So a ranking falls short of
    the right one by the sum, over the pairs in wrong order, of how far they are apart: what ``epsilon`` bounds. On a pool it is
    for every pair: any two are in the right order, or within epsilon of each other.

    Bi-monotone. Arm i is certainly before arm j iff its lower bound is above the upper bound of j; its rank lies between how many
    are certainly before it and how many certainly after it. How much a ranking can fall short on a box is an assignment problem.

    ``groups`` and ``ranks`` of a certificate say what is certain of the order on the way.

    Examples
    --------
    >>> Ranking(["a", "b", "c"]).solve([0.2, 0.9, 0.5])
    array([3, 1, 2])
    >>> Ranking(["a", "b", "c"], sense="min").solve([0.2, 0.9, 0.5])
    array([1, 3, 2])
    """

    kind = "ranking"

    def __init__(self, arms: int | Names, *, sense: Sense = "max", parameter: str | Estimator = "mean") -> None:
        super().__init__(make_arms(arms), make_estimator(parameter))
        self.sense: Sense = check_sense(sense)
        self.sign: float = 1.0 if sense == "max" else -1.0

    @classmethod
    def study_keys(cls) -> Keys:
        return {"sense": SENSE, "parameter": PARAMETER}

    def keys(self) -> dict[str, Any]:
        return {"sense": self.sense}

    def admits(self, decision: Floats) -> bool:
        return bool((np.sort(decision) == np.arange(1, self.m + 1)).all())

    def solve_at(self, theta: Floats) -> np.ndarray[Any, Any]:
        rank = np.empty(self.m, dtype=np.int64)
        rank[np.argsort(-self.sign * theta, kind="stable")] = np.arange(1, self.m + 1)
        return rank

    def slopes(self, decision: Any) -> Floats:
        return self.sign * (self.m - self.check_vector(decision, "decision"))

    def reward_at(self, theta: Floats, decision: Floats) -> float:
        return self.sign * float((theta * (self.m - decision)).sum())

    def reward_range_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[float, float]:
        ends = self.reward_at(lower, decision), self.reward_at(upper, decision)
        return min(ends), max(ends)

    def _mirrored(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """The box of what is looked for in large amounts."""
        return (lower, upper) if self.sign > 0 else (-upper, -lower)

    def undecided_on(self, lower: Floats, upper: Floats) -> Bools:
        best, worst = self._places(lower, upper)
        return np.asarray(best < worst)

    def _places(self, lower: Floats, upper: Floats) -> tuple[Ints, Ints]:
        """The best and the worst rank of every arm on the box."""
        low, high = self._mirrored(lower, upper)
        return 1 + _before(low, high), self.m - _before(-high[::-1], -low[::-1])[::-1]

    def rival_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[np.ndarray[Any, Any], float]:
        """The gain of every open arm at every open rank, at the end of its interval that suits that rank: an assignment problem.
        Arms that have one rank all over the box have it here."""
        from scipy.optimize import linear_sum_assignment

        low, high = self._mirrored(lower, upper)
        rival, worst = self._places(lower, upper)
        arms = np.flatnonzero(rival < worst)
        free = np.setdiff1d(np.arange(1, self.m + 1), rival[rival == worst])
        rise = decision[arms, None] - free  # by how many ranks
        chosen, places = linear_sum_assignment(rise * np.where(rise > 0, high[arms, None], low[arms, None]), maximize=True)
        rival[arms[chosen]] = free[places]
        steps = decision - rival
        return rival, float((steps * np.where(steps > 0, high, low)).sum())

    def half_spaces(self, theta: Floats) -> HalfSpaces | None:
        """A ranking is beaten where neighbours are in the wrong order."""
        if 2 * self.m > LARGEST:
            return None
        order = np.argsort(self.solve_at(theta), kind="stable")
        better, worse = (order[:-1], order[1:]) if self.sign > 0 else (order[1:], order[:-1])
        ones = np.ones(self.m - 1)
        return HalfSpaces.of_exchanges(Exchanges(better, worse, ones, ones), theta)


def _before(low: Floats, high: Floats) -> Ints:
    """How many others certainly come before each: their lower bound is above its upper one, or equal to it and listed first."""
    m = len(low)
    keys, kind = np.concatenate((-low, -high)), np.repeat([1, 0], m)
    order = np.lexsort((kind, np.tile(np.arange(m), 2), keys))  # an arm's own lower bound never comes before its upper one
    seen = np.cumsum(kind[order])
    found = np.empty(m, dtype=np.int64)
    upper = kind[order] == 0
    found[order[upper] - m] = seen[upper]
    return found
