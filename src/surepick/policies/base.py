"""A policy: when to stop, and which arms to sample next."""

from __future__ import annotations

import heapq
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from ..arms import Bools, Floats, Ints
from ..checks import number
from ..confidence import Confidence
from ..estimators import Record
from ..order import Order, of_box
from ..parameters import Parametric
from ..problems.base import Problem

T = TypeVar("T")
TINY = 1e-300  # the smallest delta that is looked for


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

    problem: Problem
    confidence: Confidence
    record: Record
    delta: float
    epsilon: float
    relative: bool
    per_arm: bool
    counts: Ints
    estimates: Floats

    def __init__(
        self,
        problem: Problem,
        confidence: Confidence,
        record: Record,
        delta: float,
        epsilon: float = 0.0,
        relative: bool = False,
        fixed: float | None = None,
        per_arm: bool = False,
    ) -> None:
        self.problem, self.confidence, self.record = problem, confidence, record
        self.delta, self.epsilon, self.relative, self.per_arm = delta, epsilon, relative, per_arm
        self.fixed: float = delta if fixed is None else fixed  # the delta of before the data, by which tests are tuned
        self.counts, self.estimates = record.counts, record.estimates
        self.open: Bools | None = None  # the arms that may be sampled, if not all
        self.ended: Bools | None = None  # the arms that never will be again, if there are any

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
        return self.confidence.box(self.record)

    @lazy
    def decision(self) -> np.ndarray[Any, Any]:
        """phi at the estimates, within the box."""
        lower, upper = self.box
        return self.problem.solve_at(np.minimum(np.maximum(self.estimates, lower), upper))

    @lazy
    def undecided(self) -> Bools:
        """C_t: arms whose entry of phi may vary over the box."""
        return self.problem.undecided_on(*self.box)

    def gap(self, decision: np.ndarray[Any, Any]) -> float:
        """How far this decision is from the best at most: in units of the reward or, if relative, as a share of its size."""
        if not self.relative and decision is self.__dict__.get("decision"):
            return self.rival[1]
        weigh = self.problem.relative_rival_on if self.relative else self.problem.rival_on
        return max(0.0, weigh(*self.box, np.asarray(decision, dtype=np.float64))[1])

    def share(self, decision: np.ndarray[Any, Any], gap: float) -> float:
        """A gap in units of the reward as it is asked for: the same, or, if relative, a share of the best reward's size."""
        return self.problem.share_on(*self.box, np.asarray(decision, dtype=np.float64), gap) if self.relative else gap

    def shortfall(self, decision: np.ndarray[Any, Any]) -> float:
        """How far any arm of this decision is from the k-th best of its group at most."""
        return self.problem.shortfall_on(*self.box, np.asarray(decision, dtype=np.float64))[1]

    @lazy
    def rival(self) -> tuple[np.ndarray[Any, Any], float]:
        """The decision that could beat this one most on the box, and by how much at most."""
        rival, gap = self.problem.rival_on(*self.box, np.asarray(self.decision, dtype=np.float64))
        return rival, max(0.0, gap)


class Policy(Parametric, ABC):
    """Stops when its own test says so, and samples among its candidates the arm that is least known.

    An object of a policy says which one is meant, with which parameters; ``bound`` makes one that works on a problem.
    """

    own: ClassVar[str | Confidence] = "paper"  #: the confidence sequence of its own paper
    rule: str  #: how it stops, for the certificate
    pace: ClassVar[int] = 1  #: samples of one round
    box_share: float = 1.0  #: the part of delta that the box gets; the rest is for a test of the policy's own
    remembers: ClassVar[bool] = False  #: ``told`` is to be called
    independent: ClassVar[bool] = False  #: its proof needs arms that are independent of each other, not only their values

    def _share_out(self, box_share: float) -> None:
        """Let the box have this part of delta, where it is a parameter of the policy."""
        self.box_share = number(box_share, "box_share", "a number from 0.001 to 0.999", lambda x: 0.001 <= x <= 0.999)

    def bound(self, problem: Problem) -> Self:
        """The same policy at work on a problem; this one stays as it is."""
        working = self.fresh()
        working.bind(problem)
        return working

    def bind(self, problem: Problem) -> None:
        """Work out, once, what depends on the problem."""
        self.problem = problem

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        """What this problem lacks for the policy to work, in words; None if nothing."""
        return None

    def seed(self, seed: int, run: int) -> None:
        """Fix what the policy draws by itself, for an exploration with this seed."""

    def told(self, view: View) -> None:
        """Observations came in; a policy that ``remembers`` keeps here, and only here, what it needs of the past."""

    def memory(self) -> Any:
        """What the policy keeps of the past, as plain data for a file."""
        return None

    def remember(self, memory: Any) -> None:
        """Take up what ``memory`` gave."""

    def lacks(self, confidence: Confidence) -> str | None:
        """What this confidence sequence lacks for the policy to work, in words; None if nothing."""
        return None

    def halves(self, confidence: Confidence, record: Record) -> Bools | None:
        """The arms with half a pair, where the policy certifies at no moment with one; None where pairs do not matter."""
        return None

    def undo(self, memory: Any) -> None:
        """The last observations were taken back: ``memory`` is what the policy kept before them."""
        self.remember(memory)

    @abstractmethod
    def certified(self, view: View) -> bool:
        """The decision is optimal at every point of the box."""

    def decision(self, view: View) -> np.ndarray[Any, Any]:
        """The decision as it stands."""
        return view.decision

    def guess(self, view: View) -> np.ndarray[Any, Any] | None:
        """phi at the estimates, if ``decision`` is another one; None if it is that."""
        return None

    def undecided(self, view: View) -> Bools:
        """The arms whose entry of the optimal decision is not certain."""
        return view.undecided

    def rival(self, view: View) -> np.ndarray[Any, Any]:
        """The decision that stands most in the way of a certificate; the decision itself if none does."""
        return view.rival[0] if self.problem.rivals else view.decision

    def gap(self, view: View, decision: np.ndarray[Any, Any]) -> float:
        """How far the decision is from the best at most."""
        return view.gap(decision)

    def shortfall(self, view: View, decision: np.ndarray[Any, Any]) -> float:
        """How far any arm of the decision is from the k-th best of its group at most; for ``ranked`` problems."""
        return view.shortfall(decision)

    def order(self, view: View) -> Order:
        """Of a ranking: which arms are certainly before which, by the box."""
        return of_box(*worth(view), 0.0 if view.relative else view.epsilon)

    def near(self, view: View) -> bool:
        """The decision is within epsilon of the best: its reward or, if that is asked for, every one of its arms."""
        return self._within(view, self.decision(view))

    def _within(self, view: View, decision: np.ndarray[Any, Any]) -> bool:
        return (self.shortfall if view.per_arm else self.gap)(view, decision) <= view.epsilon

    def attained(self, view: View) -> float:
        """The smallest delta at which these data certify the decision, by bisection; 1 if none does."""
        decision = self.decision(view)

        def certified(log_delta: float) -> bool:
            delta = math.exp(log_delta)
            box = view.confidence.at(delta * self.box_share)
            other = View(view.problem, box, view.record, delta, view.epsilon, view.relative, view.fixed, view.per_arm)
            other.open, other.ended = view.open, view.ended
            if view.epsilon > 0 and self._within(other, decision):
                return True
            return self.certified(other) and bool((self.decision(other) == decision).all())

        low, high = math.log(TINY), 0.0
        if not certified(-1e-9):
            return 1.0
        if certified(low):
            return TINY
        while high - low > 1e-3:
            middle = (low + high) / 2
            low, high = (low, middle) if certified(middle) else (middle, high)
        return math.exp(high)

    @abstractmethod
    def candidates(self, view: View) -> Bools:
        """The arms among which the least known one is sampled."""

    def stuck(self, view: View, over: Bools) -> bool:
        """Some arms are not sampled any more, and nothing that could still be would tell anything."""
        return False

    def spend(self, view: View, planned: Ints, n: int) -> list[int]:
        """The next n arms where the whole budget is to be spent: as ever, and once the decision is certain all arms, the least
        known first."""
        if not self.certified(view) and (chosen := self.choose(view, planned, n)):
            return chosen
        return spread(self.able(view, np.ones(self.problem.m, dtype=np.bool_)), planned, self.problem.priority, n)

    def choose(self, view: View, planned: Ints, n: int) -> list[int]:
        """The next n arms, as the policy would choose them one by one with no answers in between.

        Each time the candidate with the largest radius, ties to the lowest index; a sample that is only planned
        narrows the radius as a real one will. Radii compare as scale^2 / count does, without rounding luck; where costs differ,
        as scale^2 / (count sqrt(cost)), which leads to counts in proportion to 1 / sqrt(cost).
        """
        return spread(self.able(view, self.candidates(view)), planned, self.problem.priority, n)

    def able(self, view: View, wanted: Bools) -> Bools:
        """The arms that are wanted and may be sampled; if there are none, undecided ones, or any, that may be."""
        if view.open is None:
            return wanted
        for arms in (wanted, self.undecided(view)):
            if (arms & view.open).any():
                return np.asarray(arms & view.open)
        return view.open


def worth(view: View) -> tuple[Floats, Floats]:
    """The box of what is maximised: of the parameters, or of their opposites if the problem looks for the smallest."""
    lower, upper = view.box
    return (lower, upper) if getattr(view.problem, "sign", 1.0) > 0 else (-upper, -lower)


def spread(candidates: Bools, counts: Ints, priority: Floats, n: int) -> list[int]:
    """The next n arms by priority / count, ties to the lowest index; see :class:`Problem`."""
    arms = np.flatnonzero(candidates)
    squares = priority[arms]
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
