"""Gap-based selection for rewards that are affine in the parameters."""

from __future__ import annotations

import heapq

import numpy as np

from ..arms import Ints
from ..problems.base import Problem
from .base import View
from .unified import Unified


class Gap(Unified):
    """Stop as the unified rule does; sample the arm whose next observation narrows the contested gap most.

    After CombGapE (Nakamura and Sugiyama 2023) and the gap rules before it: between decision and rival only
    sum_i |a_i(y~) - a_i(y^)| rad_i is uncertain, a_i(y) being the slope of the reward in theta_i, so the arm with the largest
    |a_i(y~) - a_i(y^)| (rad_i(T_i) - rad_i(T_i + 1)), per cost, is sampled. Works for real decisions: allocations, plans,
    integer programs.
    """

    name = "gap"

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        return super().needs(problem) or (None if problem.affine else "a reward that is affine in theta")

    def choose(self, view: View, planned: Ints, n: int) -> list[int]:
        differ = np.abs(self.problem.slopes(view.rival[0]) - self.problem.slopes(view.decision))
        able = self.able(view, self.candidates(view))
        stake = np.where(able, np.maximum(differ, 1e-300), 0.0) * self.problem.scales / self.problem.costs
        heap = [(-s * _gain(int(c)), i, int(c)) for i, (s, c) in enumerate(zip(stake, planned, strict=True)) if s > 0]
        heapq.heapify(heap)
        chosen = []
        for _ in range(n):
            _, i, c = heap[0]
            chosen.append(i)
            heapq.heapreplace(heap, (-stake[i] * _gain(c + 1), i, c + 1))
        return chosen


def _gain(count: int) -> float:
    """How much 1 / sqrt(count) falls with one more."""
    return float(1.0 / np.sqrt(count) - 1.0 / np.sqrt(count + 1))
