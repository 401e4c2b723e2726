"""CLUCB, for 0/1 decisions with a linear reward."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..arms import Bools
from ..confidence.base import Confidence
from ..problems.base import Problem
from .base import Policy, View


class CLUCB(Policy):
    """Combinatorial Lower-Upper Confidence Bound (Chen, Lin, King, Lyu and Chen 2014, Algorithm 1).

    M = phi(means), and M~ is the best decision when every arm of M is at its lower bound and every other at its upper one. It
    stops when M~ is worth no more than M there, and samples the arm with the largest radius among those in which M and M~
    differ. With an epsilon it stops when M~ is worth at most epsilon more, which is the paper's PAC form.
    """

    name = "clucb"
    own: ClassVar[str | Confidence] = "clucb"
    rule = "clucb"

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        return None if problem.linear else "0/1 decisions with a linear reward"

    def certified(self, view: View) -> bool:
        return view.rival[1] <= 0.0

    def candidates(self, view: View) -> Bools:
        return np.asarray(view.decision != view.rival[0])
