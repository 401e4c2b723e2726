"""COCI, the paper's algorithm."""

from __future__ import annotations

from ..arms import Bools
from ..problems.base import Problem
from .base import Policy, View
from .unified import Unified


class COCI(Policy):
    """Consistently Optimal Confidence Interval (Algorithm 1): sample the undecided arm with the largest radius.

    C_t holds the arms whose entry of phi is not constant on the confidence box; when it is empty every point of the box,
    hence with probability 1 - delta the truth, has the same optimal decision.

    Where C_t is too hard to find (matchings, paths, integer programs) the unified rule takes its place: it stops on the
    same data, and samples within C_t.
    """

    name = "coci"

    def bind(self, problem: Problem) -> None:
        super().bind(problem)
        self.unified: Unified | None = None if problem.undecided_cheap else Unified().bound(problem)
        self.rule: str = "per-arm" if self.unified is None else self.unified.rule

    def certified(self, view: View) -> bool:
        return not view.undecided.any() if self.unified is None else self.unified.certified(view)

    def candidates(self, view: View) -> Bools:
        return view.undecided if self.unified is None else self.unified.candidates(view)
