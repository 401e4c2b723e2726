"""A problem: the decision class, its reward, and which arms the confidence box leaves undecided."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from inspect import signature
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from ..arms import WIDEST, Arm, ArmIndex, Bools, Floats, Ints, Sense
from ..checks import LARGEST as MOST
from ..checks import among, numbers, short, vouched
from ..engine.data import Exchanges
from ..errors import ParameterError, ProblemError
from ..estimators import Estimator, Mean, Moments, Record
from ..pool import Board, Pool
from .half_spaces import LARGEST, HalfSpaces
from .keys import Columns, Keys
from .prices import Prices

DEAR = 0.5  # the power of its cost by which an arm is sampled less often, where radii tell what is sampled
VAST = WIDEST**2  # parameters and decisions up to this: variances are squares of values


class Constraints(NamedTuple):
    """Whole y with 0 <= y <= levels and lower <= A y <= upper; ``sign`` is 1 to maximise theta . y and -1 to minimise it."""

    A: Floats
    lower: Floats
    upper: Floats
    levels: np.ndarray[Any, np.dtype[np.int64]]
    sign: float


class Problem(ABC):
    """Base of every decision class.

    The reward is separable, r(theta; y) = sum_i r_i(theta_i, y_i), and always *maximised*: costs and variances
    enter with a minus sign.

    Every question has two names. ``solve``, ``reward``, ``undecided``, ``rival``, ... take what a user gives and check it.
    A subclass writes ``solve_at``, ``reward_at`` (at a point), ``undecided_on``, ``rival_on``, ... (on a box): they get finite
    arrays of floats with an entry for every arm, check nothing, and are what loops call.

    Attributes
    ----------
    kind : str
        What study files and saved explorers call the class.
    noun : str
        What an arm is called in messages: a stratum, a site, an edge.
    arms : tuple of Arm
    parameter : Estimator
        What theta is for every arm: its mean, its variance, or a parameter of the user's own.
    bimonotone : bool
        phi_i rises with theta_i and falls with every other theta_j, or the reverse.
    exact : bool
        ``undecided`` marks an arm if and only if its decision changes somewhere on the box. Where False it may
        mark more arms, never fewer.
    affine : bool
        The reward is affine in theta; ``slopes`` gives its gradient.
    rivals : bool
        ``rival`` returns a decision of the class (it always returns a valid bound).
    rival_exact : bool
        The gap that ``rival`` returns is attained; if not, it is an upper bound.
    undecided_cheap : bool
        ``undecided`` is cheap enough to guide the sampling; if not, ``rival`` does.
    linear : bool
        Decisions are 0/1 vectors and the reward is (plus or minus) theta . y.
    sign : float
        1 to maximise theta . y and -1 to minimise it, if ``linear``.
    any_weights : bool
        The maximiser takes parameters of either sign, also outside the arms' ranges.
    ranked : bool
        A decision takes the k best arms of every group, so each of them falls short by itself: ``shortfall`` says by how much.
    exchangeable : bool
        A decision is optimal iff no single exchange helps: one arm out and one in, or one unit moved.
    listed : array or None
        All decisions, one a row, if the class is an explicit list of them with reward (plus or minus) theta . y.
    sizes : array or None
        How many people every arm stands for, if the class knows.
    pool : Pool or None
        The items that all arms are judged on.
    populations : array
        How many values every arm has, infinite where they never run out.
    finite : bool
        Some arm has a population.
    costs : array
        What one observation of every arm costs.
    dearness : array
        Costs as multiples of the least.
    priority : array
        Divided by the number of observations it tells which arm is to be sampled first, where radii do: scale^2 / sqrt(cost).
    """

    kind: ClassVar[str]
    noun: ClassVar[str] = "arm"
    bimonotone: bool = True
    exact: bool = True
    affine: bool = True
    rivals: bool = True
    rival_exact: bool = True
    undecided_cheap: bool = True
    linear: bool = False
    sign: float = 1.0
    any_weights: bool = True
    ranked: bool = False
    exchangeable: bool = False
    listed: Floats | Ints | None = None
    sizes: Floats | None = None
    pool: Pool | None = None
    caches: ClassVar[tuple[str, ...]] = (
        "_detour",
        "costs",
        "dearness",
        "prices",
        "priority",
    )  # attributes that are worked out when first needed

    def __init__(self, arms: Sequence[Arm], parameter: Estimator) -> None:
        self.arms: tuple[Arm, ...] = tuple(arms)
        self.parameter = parameter
        self.index: ArmIndex = ArmIndex(self.arms)
        ranges = [parameter.range(arm) for arm in self.arms]
        self.low: Floats = np.array([low for low, _ in ranges])
        self.high: Floats = np.array([high for _, high in ranges])
        self.scales: Floats = np.array([parameter.scale(arm) for arm in self.arms])
        self.populations: Floats = np.array([arm.size for arm in self.arms])
        self.finite: bool = bool(np.isfinite(self.populations).any())
        self.first: Ints = np.array([parameter.first(arm) for arm in self.arms])  # observations before a policy is asked

    @property
    def unscaled(self) -> bool:
        """Some arm is normal with an unknown variance, so that no bound on how far its values stray is known."""
        return any(arm.kind == "normal" for arm in self.arms)

    @property
    def kinds(self) -> list[str]:
        """What is assumed of the arms' values, sorted: 0/1 values are bounded ones."""
        return sorted({"bounded" if arm.kind == "bernoulli" else arm.kind for arm in self.arms})

    @property
    def m(self) -> int:
        """The number of arms."""
        return len(self.arms)

    def pooled(self, pool: Pool) -> Self:
        """The same problem, all arms of which are judged on the items of a pool."""
        if not isinstance(pool, Pool):
            raise ProblemError(f"pool must be a Pool of items, such as Pool(2000), not {short(pool)}.", key="pool")
        if type(self.parameter) is not Mean:
            raise ProblemError(
                f"A pool is for means, and the parameter of this {self.kind} problem is the {self.parameter.name}: leave it out.",
                key="pool",
            )
        for arm in self.arms:
            if arm.kind not in ("bounded", "bernoulli"):
                raise ProblemError(
                    f"On a pool all scores lie within bounds, and {self.noun} {arm.name!r} is {arm.kind}: declare low and high.",
                    key="pool",
                )
            if arm.population not in (None, pool.size):
                raise ProblemError(
                    f"{self.noun.capitalize()} {arm.name!r} has a population of {arm.population:,}, and the pool has "
                    f"{pool.size:,} items: leave population out, every item is a value.",
                    key="pool",
                )
        other = copy.copy(self)
        for name in self.caches:
            other.__dict__.pop(name, None)
        other.pool = pool
        other.arms = tuple(replace(arm, population=pool.size) for arm in self.arms)
        other.index = ArmIndex(other.arms)
        other.populations, other.finite = np.array([arm.size for arm in other.arms]), True
        return other

    def record(self) -> Record:
        """An empty record of observations for this problem's arms."""
        if self.pool is not None:
            board: Board = Board(self.m, self.pool.size).place(self.arms)
            return board
        record = self.parameter.record(self.m)
        return record.place(self.arms) if isinstance(record, Moments) else record

    @cached_property
    def costs(self) -> Floats:
        return np.array([arm.cost for arm in self.arms])

    @cached_property
    def dearness(self) -> Floats:
        return np.asarray(self.costs / self.costs.min())

    @cached_property
    def prices(self) -> Prices:
        """The costs, for sums that are exact."""
        return Prices(self.costs)

    @cached_property
    def priority(self) -> Floats:
        return np.asarray(self.scales**2 / self.costs**DEAR)

    def cost_of(self, counts: ArrayLike) -> float:
        """What so many observations of every arm cost."""
        vector = self.check_vector(counts, "counts")
        if not ((vector >= 0) & (vector == np.floor(vector)) & (vector <= MOST)).all():
            raise ParameterError(f"counts must be whole numbers of at least 0, one an arm, not {short(counts)}.", key="counts")
        return self.prices.total(vector.astype(np.int64)) / self.prices.unit

    @property
    def priced(self) -> bool:
        """Costs were declared: some arm's is not 1."""
        return bool((self.costs != 1.0).any())

    @property
    def remark(self) -> str:
        """What a certificate says besides of how the reward is meant; empty if nothing."""
        return ""

    @property
    def yardstick(self) -> str:
        """What every arm of a decision is compared with, in words: the best, the 2nd best of its group; "" if not ``ranked``."""
        return ""

    @property
    def names(self) -> list[Any]:
        return [arm.name for arm in self.arms]

    # -- the four questions ---------------------------------------------------------------------------------------

    def solve(self, theta: ArrayLike) -> np.ndarray[Any, Any]:
        """phi(theta): the leading optimal decision (ties are broken the same way every time)."""
        return self.solve_at(self.check_vector(theta, "theta"))

    def reward(self, theta: ArrayLike, decision: ArrayLike) -> float:
        """r(theta; decision), which ``solve`` maximises."""
        return self.reward_at(self.check_vector(theta, "theta"), self.check_vector(decision, "decision"))

    def undecided(self, lower: ArrayLike, upper: ArrayLike) -> Bools:
        """C: True for every arm whose entry of phi is not constant on the box [lower, upper]."""
        return self.undecided_on(*self.check_box(lower, upper))

    def rival(self, lower: ArrayLike, upper: ArrayLike, decision: ArrayLike) -> tuple[np.ndarray[Any, Any], float]:
        """The decision that could beat this one most on the box, and by how much at most (G, never negative)."""
        low, high = self.check_box(lower, upper)
        y = self.check_decision(decision)
        rival, gap = self.rival_on(low, high, y)
        return rival, max(0.0, gap)

    def contains(self, decision: ArrayLike) -> bool:
        """The vector is one of the decisions; anything else is not."""
        y = numbers(decision)
        return y is not None and y.shape == (self.m,) and bool((np.abs(y) <= VAST).all()) and self.admits(y)

    def reward_range(self, lower: ArrayLike, upper: ArrayLike, decision: ArrayLike) -> tuple[float, float]:
        """Smallest and largest reward of one decision over the box."""
        return self.reward_range_on(*self.check_box(lower, upper), self.check_vector(decision, "decision"))

    def admits(self, decision: Floats) -> bool:
        """The vector, one finite number an arm, is one of the decisions."""
        return True

    def settled_on(self, lower: Floats, upper: Floats, decision: np.ndarray[Any, Any], rival: np.ndarray[Any, Any]) -> bool:
        """phi is this decision all over the box; ``rival`` is the one that could beat it most."""
        return not self.undecided_on(lower, upper).any()

    @abstractmethod
    def solve_at(self, theta: Floats) -> np.ndarray[Any, Any]:
        """phi(theta), ties broken the same way every time."""

    @abstractmethod
    def undecided_on(self, lower: Floats, upper: Floats) -> Bools:
        """True for every arm whose entry of phi is not constant on the box: some arms too many if need be, never one too few."""

    def alternatives(self) -> tuple[float, float, int]:
        """a, b and k with sum over the alternatives to any one decision of exp(-a - b |S|) <= 1, S being the arms that differ.

        An alternative is a decision, or enough of them that a decision is optimal if no such one is better; any two decisions
        differ by at most k of them, with no arm in common. There are at most m^s / s! sets of s arms, so a = 1, b = ln m and
        k = 1 always do.
        """
        return 1.0, float(np.log(self.m)), 1

    def half_spaces(self, theta: Floats) -> HalfSpaces | None:
        """Half-spaces whose union is every parameter at which the decision at theta is beaten; None if they are not at hand.

        What any algorithm needs is worked out from them (``hardness``). Where single exchanges tell whether a decision is
        optimal, the exchanges are enough; other classes have their own.
        """
        if not (self.exchangeable and vouched(self, "exchanges")) or self.most_exchanges > 10 * LARGEST:
            return None
        exchanges = self.exchanges(self.solve_at(theta))
        return HalfSpaces.of_exchanges(exchanges, theta) if 2 * len(exchanges.high) <= LARGEST else None

    def width(self) -> int | None:
        """width(Y) of Chen et al. (2014): how many arms one step of exchange may have to touch; None if unknown.

        An exchange set b = (in, out) leads from S towards S' if it takes out some i of S - S', stays between the two, and
        both S with b and S' against b are decisions. The width is the largest, over S, S' and i, of the smallest such |b|:
        2 for the bases of a matroid.
        """
        return None

    def constraints(self) -> Constraints | None:
        """The class as an integer program with reward (plus or minus) theta . y, if it can be written as one."""
        return None

    def rival_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[np.ndarray[Any, Any], float]:
        """The decision that could beat this one most on the box, and by how much at most; a gap below 0 counts as 0.

        By HiGHS for a class that writes itself as a program; other classes have their own.
        """
        if not hasattr(self, "_detour"):
            from .program import Detour

            program = self.constraints()
            if program is None:
                raise ProblemError(f"{type(self).__name__} must write rival_on, or constraints for HiGHS to find the rival.")
            self._detour = Detour(program)  # kept, so that HiGHS gets the model once
        return self._detour.rival(lower, upper, decision)

    def relative_rival(self, lower: ArrayLike, upper: ArrayLike, decision: ArrayLike) -> tuple[np.ndarray[Any, Any], float]:
        """As ``rival``, but by how large a share of the best reward's size the decision may fall short of it.

        A reward r of the decision is at least (1 - share) times the best one's; a cost at most (1 + share) times.
        """
        low, high = self.check_box(lower, upper)
        y = self.check_decision(decision)
        rival, share = self.relative_rival_on(low, high, y)
        return rival, max(0.0, share)

    def relative_rival_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[np.ndarray[Any, Any], float]:
        """From G: the best is at most G better than this one, whose size the box bounds from below."""
        rival, gap = self.rival_on(lower, upper, decision)
        return rival, self.share_on(lower, upper, decision, gap)

    def share_on(self, lower: Floats, upper: Floats, decision: Floats, gap: float) -> float:
        """A gap as a share of the best reward's size, which is at least what the box leaves of this decision's."""
        if gap <= 0:
            return 0.0
        least, most = self.reward_range_on(lower, upper, decision)
        size = least + gap if least > 0 else -most - gap  # a reward falls short of the best; a cost exceeds it
        return gap / size if size > 0 else float("inf")

    def named_on(
        self, lower: Floats, upper: Floats, decision: np.ndarray[Any, Any], rival: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, Any]:
        """The rival as a certificate names it, which has to be a decision that one would take; policies may use a cheaper one."""
        return rival

    def shortfall(self, lower: ArrayLike, upper: ArrayLike, decision: ArrayLike) -> tuple[np.ndarray[Any, Any], float]:
        """The most by which one arm of the decision can be worse than the k-th best of its group, and the exchange that shows it.

        Only for the best k of all arms or of every group (``ranked``).
        """
        low, high = self.check_box(lower, upper)
        return self.shortfall_on(low, high, self.check_decision(decision))

    def shortfall_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[np.ndarray[Any, Any], float]:
        """The most by which one arm of the decision can be worse than the k-th best of its group, if the class is ``ranked``."""
        raise ProblemError(
            f"The arms of a decision of {self.kind} do not fall short one by one; best-arm, top-k and best-of-each have a "
            "shortfall, any class a rival."
        )

    def slopes(self, decision: ArrayLike) -> Floats:
        """a(y): how the reward of a decision rises with every theta_i, for rewards that are affine in theta."""
        y = self.check_vector(decision, "decision")
        return np.array([self.reward_at(e, y) for e in np.eye(self.m)]) - self.reward_at(np.zeros(self.m), y)

    @abstractmethod
    def reward_range_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[float, float]:
        """Smallest and largest reward of one decision over the box."""

    @abstractmethod
    def reward_at(self, theta: Floats, decision: Floats) -> float:
        """r(theta; decision)."""

    def lower(self) -> Any:
        """The problem for compiled loops: a type of ``surepick.engine.data`` or a named tuple of your own; None if only
        the Python loop can run it."""
        return None

    @property
    def most_exchanges(self) -> int:
        """Single exchanges that a decision has at most, if it is ``exchangeable``."""
        raise ProblemError(f"{type(self).__name__} must say how many single exchanges a decision has at most.")

    def exchanges(self, decision: np.ndarray[Any, Any]) -> Exchanges:
        """All single exchanges of a decision, if it is ``exchangeable``: a decision is optimal iff none of them is false."""
        raise ProblemError(f"{type(self).__name__} must list the single exchanges of a decision.")

    # -- files ----------------------------------------------------------------------------------------------------

    def keys(self) -> dict[str, Any] | None:
        """What the problem is made from besides arms and parameter, as plain numbers, texts and lists for a file; or None."""
        return None

    @classmethod
    def from_keys(cls, arms: Sequence[Arm], parameter: str, keys: dict[str, Any]) -> Problem:
        """The problem that has these ``keys``."""
        make: Any = cls
        named = {"parameter": parameter} if "parameter" in signature(cls).parameters else {}
        made: Problem = make(arms=arms, **named, **keys)
        return made

    @classmethod
    def study_keys(cls) -> Keys | None:
        """The keys of the class in a study file's [problem] table; None if it cannot be written in one."""
        return None

    @classmethod
    def from_study(cls, arms: Sequence[Arm] | None, keys: dict[str, Any], table: Columns | None) -> Problem:
        """The problem of a study: its arms (None if it leaves them to the class), its keys, of which columns of the table have
        filled what it leaves out, and the table."""
        make: Any = cls
        made: Problem = make(**({} if arms is None else {"arms": arms}), **keys)
        return made

    @classmethod
    def row_names(cls, table: Columns) -> list[str] | None:
        """What the rows of a table of arms without a column of names are called; None if they need one."""
        return None

    # -- input ----------------------------------------------------------------------------------------------------

    def check_vector(self, values: ArrayLike, what: str) -> Floats:
        """A finite number for every arm; ``what`` it is goes into the complaint."""
        vector = numbers(values)
        if vector is None:
            raise ParameterError(f"{what} must be {self.m} numbers, not {short(values)}.", key=what)
        if vector.shape != (self.m,):
            raise ParameterError(
                f"{what} has shape {vector.shape}, but the problem has {self.m} arms: give one number an arm.", key=what
            )
        if not (np.abs(vector) <= VAST).all():
            where = int(np.flatnonzero(~(np.abs(vector) <= VAST))[0])
            raise ParameterError(
                f"{what} is {vector[where]} for arm {self.arms[where].name!r}; give a finite number of at most {VAST:g} "
                "for every arm.",
                key=what,
            )
        return vector

    def check_decision(self, decision: ArrayLike) -> Floats:
        """A vector that is one of the decisions."""
        y = self.check_vector(decision, "decision")
        if not self.contains(y):
            raise ParameterError(f"{short(decision)} is not a decision of this problem, so it has no rival.", key="decision")
        return y

    def check_box(self, lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
        """The ends of a box that is not empty."""
        low, high = self.check_vector(lower, "lower"), self.check_vector(upper, "upper")
        if (low > high).any():
            where = int(np.flatnonzero(low > high)[0])
            raise ParameterError(
                f"The box is empty for arm {self.arms[where].name!r}: lower {low[where]:g} is above upper {high[where]:g}.",
                key="lower",
            )
        return low, high

    def __getstate__(self) -> dict[str, Any]:
        """What the problem was made from, without what it has kept since: it travels light, and is the same after use."""
        return {name: value for name, value in self.__dict__.items() if name not in self.caches}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.m} arms>"


def refuse_apart(problem: Problem, apart: float, levels: Floats | Ints | int = 1) -> None:
    """Refuse arms of which one can weigh so much more than the range of another that sums do not show the other."""
    free = np.broadcast_to(levels, problem.m) > 0
    width = problem.high - problem.low
    with np.errstate(over="ignore"):
        largest = np.where(free, np.maximum(np.abs(problem.low), np.abs(problem.high)) * levels, 0.0)
    narrow, wide = np.where(free, width, np.inf).argmin(), largest.argmax()
    if np.isfinite(largest[wide]) and largest[wide] > apart * width[narrow]:
        raise ProblemError(
            f"Arm {problem.arms[wide].name!r} reaches {largest[wide]:g}, more than {apart:g} times the range of arm "
            f"{problem.arms[narrow].name!r}, {width[narrow]:g}: their sum would not show the latter. Express the values "
            "in units, or count them from an origin, that bring the arms nearer to each other.",
            key="arms",
        )


def check_sense(sense: Sense) -> Sense:
    if not among(sense, ("max", "min")):
        raise ProblemError(f"sense={short(sense)} is unknown; use 'max' or 'min'.", key="sense")
    return sense


class LinearProblem(Problem):
    """0/1 decisions with reward theta . y (``sense="max"``) or -theta . y (``sense="min"``).

    A subclass writes ``maximise(weights)`` and ``open_on(lower, upper)`` for maximisation; minimising theta is
    maximising -theta, for which a box is mirrored.
    """

    linear = True

    def __init__(self, arms: Sequence[Arm], parameter: Estimator, sense: Sense = "max") -> None:
        super().__init__(arms, parameter)
        self.sense: Sense = check_sense(sense)
        self.sign: float = 1.0 if sense == "max" else -1.0

    def slopes(self, decision: ArrayLike) -> Floats:
        return self.sign * self.check_vector(decision, "decision")

    def settled_on(self, lower: Floats, upper: Floats, decision: np.ndarray[Any, Any], rival: np.ndarray[Any, Any]) -> bool:
        return bool((rival == decision).all())  # the oracle at the corner that is worst for the decision still picks it

    @abstractmethod
    def maximise(self, weights: Floats) -> np.ndarray[Any, Any]:
        """The decision with the largest weights . y, ties broken the same way every time."""

    @abstractmethod
    def open_on(self, lower: Floats, upper: Floats) -> Bools:
        """True for every arm whose entry of ``maximise`` is not constant for weights in the box."""

    def solve_at(self, theta: Floats) -> np.ndarray[Any, Any]:
        return self.maximise(theta if self.sign > 0 else -theta)

    def undecided_on(self, lower: Floats, upper: Floats) -> Bools:
        return self.open_on(lower, upper) if self.sign > 0 else self.open_on(-upper, -lower)

    def reward_at(self, theta: Floats, decision: Floats) -> float:
        return self.sign * float((theta * decision).sum())  # a product by BLAS would start threads for long vectors

    def reward_range_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[float, float]:
        ends = self.reward_at(lower, decision), self.reward_at(upper, decision)
        return min(ends), max(ends)

    def rival_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[np.ndarray[Any, Any], float]:
        # One oracle call at the corner that is worst for the decision (the test of CLUCB).
        held = decision > 0
        corner = np.where(held, lower, upper) if self.sign > 0 else np.where(held, upper, lower)
        rival = self.solve_at(corner)
        steps = rival - decision
        at = steps.nonzero()[0]
        return rival, self.sign * math.fsum((corner[at] * steps[at]).tolist())  # far from 0 a plain sum loses digits


def exchange_list(most: int, write: Callable[[Ints, Ints], int]) -> Exchanges:
    """The exchanges that a kernel writes, for slopes of 1."""
    high, low = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    count = write(high, low)
    return Exchanges(high[:count], low[:count], np.ones(count), np.ones(count))
