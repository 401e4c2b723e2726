"""Nearly optimal decisions: make the certified gap small, and say how small it is."""

from __future__ import annotations

import heapq
from typing import Any, ClassVar

import numpy as np

from ..arms import Bools, Floats, Ints
from ..confidence.base import Confidence
from ..problems.base import Problem
from .base import Policy, View
from .coci import COCI


class PAC(Policy):
    """Decides for the smallest certified gap, and samples where one more observation narrows it most.

    On the box, a decision y is within G(y) of the best, whatever the truth there. phi(estimates) need not have the smallest G:
    it forgets that some arms are known worse than others. So phi is also taken at the middle of the box, and at the middle of
    the square roots, which suits variances; the one with the smallest gap is the decision (a cheap minimax regret). That the data
    choose among them costs nothing, because the box holds for all decisions at once.

    Between the decision and its strongest rival the reward is uncertain by sum_i |a_i(rival) - a_i(decision)| (U_i - L_i), a_i(y)
    being the slope of the reward in theta_i. An interval shrinks by about 1 / (2 T_i) of its width with one more observation, so
    the arm with the largest |a_i(rival) - a_i(decision)| (U_i - L_i) / T_i, per cost, is sampled.

    It stops when the gap is at most epsilon (the explorer's test), or when phi is constant on the box. With an epsilon for every
    arm, the largest shortfall of an arm takes the place of the gap, and the exchange that shows it that of the rival.
    """

    name = "pac"
    own: ClassVar[str | Confidence] = "auto"
    rule = "gap"

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        if not problem.affine:
            return "a reward that is affine in theta"
        return None if problem.rivals else "an oracle of tables (table=True), which can name the strongest rival"

    def bind(self, problem: Problem) -> None:
        super().bind(problem)
        self.exact: COCI = COCI().bound(problem)

    def certified(self, view: View) -> bool:
        return self.exact.certified(view)

    def decision(self, view: View) -> np.ndarray[Any, Any]:
        return self._best(view)[0]

    def guess(self, view: View) -> np.ndarray[Any, Any]:
        return view.decision

    def rival(self, view: View) -> np.ndarray[Any, Any]:
        return self._best(view)[1]

    def gap(self, view: View, decision: np.ndarray[Any, Any]) -> float:
        mine, _, gap = self._best(view)
        return gap if not view.per_arm and (decision == mine).all() else view.gap(decision)

    def shortfall(self, view: View, decision: np.ndarray[Any, Any]) -> float:
        mine, _, shortfall = self._best(view)
        return shortfall if view.per_arm and (decision == mine).all() else view.shortfall(decision)

    def candidates(self, view: View) -> Bools:
        return self._stakes(view) > 0

    def choose(self, view: View, planned: Ints, n: int) -> list[int]:
        stakes = self._stakes(view)
        able = self.able(view, stakes > 0)
        stakes = np.where(able, np.where(stakes[able].any(), stakes, 1.0), 0.0)
        # With one more observation of an arm its width falls as T^-1/2, so what the next one adds falls as T^-3/2.
        costs = self.problem.costs
        heap = [
            (-float(stakes[i]) / int(planned[i]) / float(costs[i]), i, int(planned[i]))
            for i in np.flatnonzero(stakes > 0).tolist()
        ]
        heapq.heapify(heap)
        chosen = []
        for _ in range(n):
            worth, i, c = heap[0]
            chosen.append(i)
            heapq.heapreplace(heap, (worth * (c / (c + 1)) ** 1.5, i, c + 1))
        return chosen

    def _stakes(self, view: View) -> Floats:
        decision, rival, _ = self._best(view)
        lower, upper = view.box
        stakes: Floats = np.abs(self.problem.slopes(rival) - self.problem.slopes(decision)) * (upper - lower)
        if not (stakes > 0).any():  # a rival that ties with the decision, or an upper bound without one
            stakes = np.where(view.undecided, upper - lower, 0.0)
        return stakes if (stakes > 0).any() else np.ones(self.problem.m)

    def _best(self, view: View) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], float]:
        """The decision, its rival and its gap."""
        found = view.__dict__.get("pac")
        if found is None:
            found = view.__dict__["pac"] = min((self._weigh(view, y) for y in self._options(view)), key=lambda option: option[2])
        return found

    def _options(self, view: View) -> list[np.ndarray[Any, Any]]:
        lower, upper = view.box
        options = [view.decision]
        bounded = np.isfinite(upper - lower)  # until much is known of normal arms, nothing bounds them
        thetas = [np.where(bounded, (lower + np.where(bounded, upper, lower)) / 2, view.estimates)]
        if (self.problem.low >= 0).all():
            thetas.append(((np.sqrt(lower) + np.sqrt(upper)) / 2) ** 2)
        for theta in thetas:
            y = self.problem.solve_at(np.clip(theta, lower, upper))
            if not any((y == other).all() for other in options):
                options.append(y)
        return options

    def _weigh(self, view: View, decision: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], float]:
        problem = self.problem
        weigh = problem.shortfall_on if view.per_arm else problem.relative_rival_on if view.relative else problem.rival_on
        rival, gap = weigh(*view.box, np.asarray(decision, dtype=np.float64))
        return decision, rival, max(0.0, gap)
