"""One rule for every decision class: stop by the largest gap, sample where decision and rival differ."""

from __future__ import annotations

from ..arms import Bools
from ..problems.base import Problem
from .base import Policy, View


class Unified(Policy):
    """The paper's open question, answered for every continuous and separable reward.

    With y^ = phi(estimates), separability turns "is phi constant on the box?" into one maximisation of a table,
    G = max_y sum_i g_i(y_i) with g_i(v) = max over [L_i, U_i] of r_i(theta, v) - r_i(theta, y^_i). It stops when no other
    decision attains G = 0, which is COCI's C_t = {} exactly, and samples the widest arm among those where y^ and the
    maximiser differ. For 0/1 decisions and linear rewards this is one oracle call, at L on y^ and U off it.
    """

    name = "unified"
    rule = "unified"

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        return None if problem.rivals else "an oracle of tables (table=True), which can name the strongest rival"

    def certified(self, view: View) -> bool:
        return self.problem.settled_on(*view.box, view.decision, view.rival[0])

    def candidates(self, view: View) -> Bools:
        differ: Bools = view.rival[0] != view.decision
        return differ if differ.any() else view.undecided
