"""Successive elimination, the simple baseline."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..arms import Bools
from ..confidence.base import Confidence
from ..problems.base import Problem
from .base import Policy, View


class Elimination(Policy):
    """Sample all arms that are still in question equally often; an arm that has once been decided is never sampled again.

    Successive elimination (Even-Dar, Mannor and Mansour 2006) for every class with a test of undecided arms: deciding an arm is
    accepting or rejecting it. It stops when no arm is in question. Whether an arm has been decided is looked
    at whenever observations are told.
    """

    name = "elimination"
    own: ClassVar[str | Confidence] = "elimination"
    rule = "per-arm"
    remembers = True

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        return None if problem.undecided_cheap else "a cheap test of undecided arms"

    def bind(self, problem: Problem) -> None:
        super().bind(problem)
        self.active: Bools = np.ones(problem.m, dtype=np.bool_)

    def certified(self, view: View) -> bool:
        return not view.undecided.any()

    def told(self, view: View) -> None:
        self.active &= view.undecided

    def memory(self) -> list[bool]:
        active: list[bool] = self.active.tolist()
        return active

    def remember(self, memory: list[bool]) -> None:
        self.active[:] = memory

    def candidates(self, view: View) -> Bools:
        return self.active if self.active.any() else view.undecided
