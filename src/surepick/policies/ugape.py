"""UGapE, for the k best arms."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..arms import Bools, Floats
from ..confidence.base import Confidence
from ..problems import TopK
from ..problems.base import Problem
from .base import Policy, View, worth


class UGapE(Policy):
    """Unified Gap-based Exploration, fixed confidence (Gabillon, Ghavamzadeh and Lazaric 2012, UGapEc).

    B_i = (the k-th largest U_j of the others) - L_i bounds arm i's regret; J holds the k arms with the smallest B. u is
    the arm outside J with the highest upper bound, l the arm of J with the lowest lower bound; the less known of the two
    is sampled. It stops when the largest B in J is not above 0, and returns J. Minimising, all is mirrored.
    """

    name = "ugape"
    own: ClassVar[str | Confidence] = "clucb"  # the paper's radius is the same
    rule = "ugape"

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        return None if isinstance(problem, TopK) else "best-arm or top-k"

    def bind(self, problem: Problem) -> None:
        super().bind(problem)
        assert isinstance(problem, TopK)
        self.k: int = problem.k

    def regret(self, view: View) -> Floats:
        """B, for every arm."""
        lower, upper = worth(view)
        order = np.sort(upper)[::-1]
        if self.k == self.problem.m:
            return np.full(self.problem.m, -np.inf)
        kth, next_ = order[self.k - 1], order[self.k]
        return np.asarray(np.where(upper >= kth, next_, kth) - lower)  # the k-th of the others

    def chosen(self, view: View) -> Bools:
        """J."""
        out = np.zeros(self.problem.m, dtype=np.bool_)
        out[np.argsort(self.regret(view), kind="stable")[: self.k]] = True
        return out

    def decision(self, view: View) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return self.chosen(view).astype(np.int64)

    def certified(self, view: View) -> bool:
        return bool(self.regret(view)[self.chosen(view)].max() <= 0.0)

    def candidates(self, view: View) -> Bools:
        lower, upper = worth(view)
        inside = self.chosen(view)
        out = np.zeros(self.problem.m, dtype=np.bool_)
        out[int(np.argmax(np.where(inside, -np.inf, upper)))] = True
        out[int(np.argmin(np.where(inside, lower, np.inf)))] = True
        return out
