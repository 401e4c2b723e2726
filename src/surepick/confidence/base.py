"""A confidence sequence: intervals for every arm that hold for all arms and all times together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np

from ..arms import Floats, Ints
from ..estimators import Record
from ..problems.base import Problem


class Confidence(ABC):
    """Intervals that all contain the truth, at all times at once, with probability at least 1 - delta.

    A subclass may use the counts and estimates of the arms, never a setting tuned on the data.
    """

    name: ClassVar[str]

    def __init__(self, problem: Problem, delta: float) -> None:
        self.problem = problem
        self.delta = delta

    def at(self, delta: float) -> Self:
        """The same sequence at another delta; what was fixed in advance stays as it is."""
        return type(self)(self.problem, delta)

    @abstractmethod
    def radius(self, counts: Ints) -> Floats:
        """Half-width of every arm's interval before it is clipped to the parameter's range."""

    def box(self, record: Record) -> tuple[Floats, Floats]:
        """Lower and upper bounds of every arm's parameter, within its range."""
        problem, estimates = self.problem, record.estimates
        radius = self.radius(np.maximum(record.counts, 1))
        lower = np.minimum(np.maximum(estimates - radius, problem.low), problem.high)
        upper = np.minimum(np.maximum(estimates + radius, problem.low), problem.high)
        return lower, upper
