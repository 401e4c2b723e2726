"""A policy: when to stop, and which arms to sample next."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from ..arms import Bools, Floats, Ints
from ..confidence import Confidence
from ..problems.base import Problem

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 - reads like property
    """An attribute that is worked out when first asked for (functools' takes a lock in Python 3.11, which rounds feel)."""

    def __init__(self, work: Callable[[Any], T]) -> None:
        self.work = work
        self.__doc__ = work.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, view: Any, owner: type) -> T:
        value = view.__dict__[self.name] = self.work(view)
        return value


class View:
    """What a policy sees: the state of one exploration between two observations. Everything is worked out once, if needed."""

    def __init__(self, problem: Problem, confidence: Confidence, counts: Ints, estimates: Floats, epsilon: float) -> None:
        self.problem, self.confidence, self.epsilon = problem, confidence, epsilon
        self.counts, self.estimates = counts, estimates

    @lazy
    def samples(self) -> int:
        """t, the observations of all arms."""
        return int(self.counts.sum())

    @lazy
    def radius(self) -> Floats:
        """Half-widths of the intervals before they are clipped."""
        return self.confidence.radius(self.counts)

    @lazy
    def box(self) -> tuple[Floats, Floats]:
        return self.confidence.box(self.counts, self.estimates)

    @lazy
    def decision(self) -> np.ndarray[Any, Any]:
        """phi at the estimates, within the box."""
        lower, upper = self.box
        return self.problem._solve(np.minimum(np.maximum(self.estimates, lower), upper))

    @lazy
    def undecided(self) -> Bools:
        """C_t: arms whose entry of phi may vary over the box."""
        return self.problem._undecided(*self.box)

    @lazy
    def rival(self) -> tuple[np.ndarray[Any, Any], float]:
        """The decision that could beat this one most on the box, and by how much at most."""
        rival, gap = self.problem._rival(*self.box, np.asarray(self.decision, dtype=np.float64))
        return rival, max(0.0, gap)


class Policy(ABC):
    """Stops when its own test says so, and samples among its candidates the arm that is least known."""

    name: ClassVar[str]
    own: ClassVar[str] = "paper"  #: the confidence sequence of its own paper
    rule: str  #: how it stops, for the certificate
    pace: ClassVar[int] = 1  #: samples of one round
    remembers: ClassVar[bool] = False  #: ``told`` is to be called

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        """What this problem lacks for the policy to work, in words; None if nothing."""
        return None

    def told(self, view: View) -> None:  # noqa: B027 - most policies keep nothing
        """Observations came in; a policy that ``remembers`` keeps here, and only here, what it needs of the past."""

    @abstractmethod
    def certified(self, view: View) -> bool:
        """The decision is optimal at every point of the box."""

    def decision(self, view: View) -> np.ndarray[Any, Any]:
        """The decision as it stands."""
        return view.decision

    @abstractmethod
    def candidates(self, view: View) -> Bools:
        """The arms among which the least known one is sampled."""

    def choose(self, view: View, planned: Ints, n: int) -> list[int]:
        """The next n arms, as the policy would choose them one by one with no answers in between.

        Each time the candidate with the largest radius, ties to the lowest index; a sample that is only planned
        narrows the radius as a real one will. Radii compare as scale^2 / count does, without rounding luck.
        """
        return spread(self.candidates(view), planned, self.problem.scales, n)


def spread(candidates: Bools, counts: Ints, scales: Floats, n: int) -> list[int]:
    arms = np.flatnonzero(candidates)
    squares = scales[arms] ** 2
    planned = counts[arms]
    weights = squares / planned
    if n == 1:
        return [int(arms[weights.argmax()])]
    heap = [(-w, p) for p, w in enumerate(weights.tolist())]
    heapq.heapify(heap)
    chosen = []
    for _ in range(n):
        p = heap[0][1]
        chosen.append(int(arms[p]))
        planned[p] += 1
        heapq.heapreplace(heap, (-float(squares[p] / planned[p]), p))
    return chosen
