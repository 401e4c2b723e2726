"""The k best arms."""

from __future__ import annotations

from typing import Any

from ..arms import Names, Sense, make_arms
from ..estimators import Estimator, make_estimator
from .base import LinearProblem
from .best_of_each import BestOfEach
from .keys import PARAMETER, SENSE, K, Keys


class TopK(BestOfEach):
    """The ``k`` arms with the largest parameters, or with the smallest ones.

    Parameters
    ----------
    arms : int, names or Arm objects
    k : int
    sense : {"max", "min"}
        "min" for the smallest parameters: the least time, cost or error.
    parameter : {"mean", "variance"} or Estimator

    Notes
    -----
    :class:`BestOfEach` with one group; see there for the test of undecided arms.

    Examples
    --------
    >>> TopK(["a", "b", "c", "d"], k=2).solve([0.2, 0.5, 0.9, 0.4])
    array([0, 1, 1, 0])
    >>> TopK(["a", "b", "c", "d"], k=2, sense="min").solve([0.2, 0.5, 0.9, 0.4])
    array([1, 0, 0, 1])
    """

    kind = "top-k"

    def __init__(self, arms: int | Names, k: int, *, sense: Sense = "max", parameter: str | Estimator = "mean") -> None:
        LinearProblem.__init__(self, make_arms(arms), make_estimator(parameter), sense)
        self._partition([0] * self.m, k, ["all"])

    @classmethod
    def study_keys(cls) -> Keys:
        return {"k": K, "sense": SENSE, "parameter": PARAMETER}

    def keys(self) -> dict[str, Any]:
        return {"k": self.k, "sense": self.sense}
