"""How to split a survey's interviews over strata whose variances are unknown (partitioned opinion sampling)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arms import WIDEST, Arm, Bools, Floats, Ints, Names, make_arms
from ..checks import flag
from ..engine import compiled
from ..engine.data import Allocation, Exchanges
from ..errors import ParameterError, ProblemError
from ..estimators import Variance
from .allocate import NEAR, check_limits, check_sizes, exact_gain, fill
from .base import Problem
from .keys import Key, Keys, Numbers, WholePerArm, positive, wholes

PROGRAM = 300_000  # steps up to which the relative gap is worked out exactly


class SampleAllocation(Problem):
    """Split ``budget`` interviews over strata so that the estimated population mean varies least.

    The unknown parameter of every stratum (arm) is the variance of its answers; the reward is minus the variance of the
    stratified estimate, -sum_i (n_i/n)^2 theta_i / y_i, and if ``finite`` -sum_i (n_i/n)^2 theta_i (1/y_i - 1/n_i).

    Parameters
    ----------
    sizes : array of positive numbers
        Stratum sizes.
    budget : int
        Interviews in all.
    lower, upper : int or array of int, optional
        Bounds on every stratum's interviews; by default at least 1 and no upper bound.
    arms : names or Arm objects, optional
        By default strata with answers in [0, 1].
    finite : bool
        The sizes are how many there are of every stratum, whole numbers, and nobody is asked twice: every arm has its size as its
        population, and no stratum gets more interviews than that.

    Notes
    -----
    The variance of a finite stratum is S^2, with the divisor N - 1. The correction for a finite population, (n_i/n)^2 theta_i /
    N_i, is the same for all allocations, so that it moves neither the best one nor a gap. It does move a *relative* gap, which
    is a share of the variance that the survey will have: with it if ``finite``, without it if not, whatever ``upper`` is.

    phi takes the largest marginal gains M_i(l; theta_i) = n_i^2 theta_i / (l (l+1)), which makes it bi-monotone (the paper's
    Lemma on OSA). Both ends of an arm's range, phi_i(L but U_i) and phi_i(U but L_i), enclose phi_i(L) and phi_i(U). So if
    those two differ the arm is undecided; if they agree it is undecided iff it takes one unit more at U_i from the
    weakest unit that another arm holds at L, or loses its last one at L_i to the best unit that another arm lacks at U.

    Examples
    --------
    >>> SampleAllocation([6, 16, 13], budget=13).solve([0, 0.05, 0.2])
    array([1, 5, 7])
    """

    kind = "sample-allocation"
    noun = "stratum"
    sizes: Floats
    exchangeable = True
    rival_exact = False

    budget: int
    least: Ints
    most: Ints

    def __init__(
        self,
        sizes: ArrayLike,
        budget: int,
        *,
        lower: int | Sequence[int] | Ints = 1,
        upper: int | Sequence[int] | Ints | None = None,
        arms: Names | None = None,
        finite: bool = False,
    ) -> None:
        self.sizes = check_sizes(sizes)
        made = make_arms(len(self.sizes) if arms is None else arms, self.noun)
        if len(made) != len(self.sizes):
            raise ProblemError(f"There are {len(self.sizes)} sizes but {len(made)} arms: give one arm a stratum.", key="sizes")
        self.counted: bool = flag(finite, "finite", ProblemError)
        if self.counted:
            made = tuple(_counted(arm, size) for arm, size in zip(made, self.sizes.tolist(), strict=True))
        super().__init__(made, Variance())
        self.budget, self.least, self.most = check_limits(self.m, budget, lower, upper)
        self._people: Floats = self.sizes if self.counted else np.full(self.m, np.inf)
        if self.counted:
            self._cap()
        share = self.sizes / self.sizes.sum()
        self._share2: Floats = share * share
        # Divided by a power of two, so that squares stay within floating point and gains compare as before.
        self._n: Floats = np.ldexp(self.sizes, -int(np.frexp(self.sizes.max())[1]))

    def _cap(self) -> None:
        """No stratum gets more interviews than it has people."""
        over = np.flatnonzero(self.least > self.sizes)
        if len(over):
            i = int(over[0])
            raise ProblemError(
                f"{self.noun.capitalize()} {self.arms[i].name!r} is to have at least {self.least[i]:,} interviews, and has "
                f"{int(self.sizes[i]):,} people: lower the bound.",
                key="lower",
            )
        if self.budget > self.sizes.sum():
            raise ProblemError(
                f"The budget is {self.budget:,} interviews, and with finite=True all strata together have "
                f"{int(self.sizes.sum()):,} people: lower it, or leave finite out if people may be asked twice.",
                key="budget",
            )
        self.most = np.minimum(self.most, self.sizes.astype(np.int64))

    @classmethod
    def study_keys(cls) -> Keys:
        limits = "a whole number, or a list of them, one a stratum"
        return {
            "budget": Key(int, "a whole number of interviews"),
            "sizes": Key(Numbers, "a list of positive numbers, one a stratum", column="N", read=positive),
            "lower": Key(WholePerArm, limits, 1, column="lower", read=wholes),
            "upper": Key(WholePerArm, limits, None, column="upper", read=wholes),
            "finite": Key(bool, "true or false", False),
        }

    def keys(self) -> dict[str, Any]:
        return {
            "sizes": self.sizes.tolist(), "budget": self.budget, "lower": self.least.tolist(), "upper": self.most.tolist(),
            **({"finite": True} if self.counted else {}),
        }  # fmt: skip

    def solve_at(self, theta: Floats) -> Ints:
        _refuse_negative(theta, "theta")
        return fill(self.sizes, theta, self.budget, self.least, self.most, strict=False)  # observations may be anything

    def solve(self, theta: ArrayLike) -> Ints:
        given = self.check_vector(theta, "theta")
        _refuse_negative(given, "theta")
        return fill(self.sizes, given, self.budget, self.least, self.most)

    def check_box(self, lower: ArrayLike, upper: ArrayLike) -> tuple[Floats, Floats]:
        low, high = super().check_box(lower, upper)
        _refuse_negative(low, "lower")
        return low, high

    def admits(self, decision: Floats) -> bool:
        whole = (decision == np.floor(decision)) & (decision >= self.least) & (decision <= self.most)
        return bool(whole.all() and decision.sum() <= self.budget)

    def reward_at(self, theta: Floats, decision: Floats) -> float:
        if (decision < 1 / WIDEST).any():
            where = int(np.flatnonzero(decision < 1 / WIDEST)[0])
            raise ParameterError(
                f"decision[{where}] = {decision[where]:g}: every stratum needs interviews to have an estimate.",
                key=f"decision[{where}]",
            )
        return -float((self._share2 * theta * (1.0 - decision / self._people) / decision).sum())

    def reward_range_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[float, float]:
        return self.reward_at(upper, decision), self.reward_at(lower, decision)

    def undecided_on(self, lower: Floats, upper: Floats) -> Bools:
        at_lower, at_upper = self.solve_at(lower), self.solve_at(upper)
        out: Bools = at_lower != at_upper
        same = ~out
        # One more at U_i: against the weakest unit held by another at L.
        held = at_lower > self.least
        more = same & (at_lower < self.most)
        if held.any() and more.any():
            weak = _extremes(self._n, lower, at_lower - 1, held, strongest=False)
            out |= more & self._beats(upper, at_lower, lower, at_lower - 1, weak, wins=True)
        # One less at L_i: against the best unit that another lacks at U.
        lacking = at_upper < self.most
        less = same & (at_upper > self.least)
        if lacking.any() and less.any():
            best = _extremes(self._n, upper, at_upper, lacking, strongest=True)
            out |= less & self._beats(lower, at_upper - 1, upper, at_upper, best, wins=False)
        return out

    def _beats(self, theta: Floats, step: Ints, their_theta: Floats, their_step: Ints, two: Ints, wins: bool) -> Bools:
        """For every arm: its step beats (``wins``), or is beaten by, that of the first of ``two`` arms that is another."""
        arms = np.arange(self.m)
        other = np.full(self.m, two[0])
        if len(two) > 1:
            other[two[0]] = two[1]
        unit = np.maximum(step, 1)
        mine = self._n**2 * theta / (unit * (unit + 1.0))
        their_unit = np.maximum(their_step[other], 1)
        theirs = self._n[other] ** 2 * their_theta[other] / (their_unit * (their_unit + 1.0))
        out: Bools = mine > theirs if wins else mine < theirs
        larger: Bools = arms > other if wins else arms < other
        close = np.abs(mine - theirs) <= NEAR * np.maximum(mine, theirs)
        if close.any():
            alike = (self._n == self._n[other]) & (theta == their_theta[other]) & (unit == their_unit)
            alike |= (theta == 0) & (their_theta[other] == 0)
            out = np.where(close & alike, larger, out)
            for i in np.flatnonzero(close & ~alike):
                j = other[i]
                a = exact_gain(self._n[i], theta[i], int(unit[i]))
                b = exact_gain(self._n[j], their_theta[j], int(their_unit[i]))
                out[i] = larger[i] if a == b else ((a > b) == wins)
        if len(two) == 1:
            out[two[0]] = False  # nobody else to trade with
        return out

    def rival_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[Ints, float]:
        """G by Lagrangian duality: an upper bound, equal to G up to rounding to whole interviews."""
        rival = np.rint(decision).astype(np.int64)
        return rival, float(compiled("allocation_gap").gap_bound(self.lower(), lower, upper, decision, rival))

    def relative_rival_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[Ints, float]:
        """The largest of V(decision) / V(y) - 1 over the box and all allocations y, V being the variance; by dynamic programming
        while that is cheap, else from above by a price on interviews."""
        rival, kernels = np.rint(decision).astype(np.int64), compiled("allocation_ratio")
        if self.ratio_exact:
            return rival, float(kernels.ratio_exact(self.lower(), lower, upper, decision, rival))
        return rival, float(kernels.ratio_bound(self.lower(), lower, upper, decision, np.zeros(2), rival))

    def named_on(self, lower: Floats, upper: Floats, decision: Ints, rival: Ints) -> Ints:
        """A rival that spends as much as the decision. One from a price on interviews, or from a box that still holds 0, may
        leave interviews over; then it is the best allocation at a corner of the box, of those tried the one that beats the
        decision most: strata whose next interview may gain most are at their upper bounds, the others at their lower ones."""
        if rival.sum() >= decision.sum() or not np.isfinite(upper).all():
            return rival
        y = decision.astype(np.float64)
        hope = self._share2 * (upper / (y * (y + 1.0)) - lower / (y * np.maximum(y - 1.0, 1.0)))
        order = np.argsort(-np.where(decision < self.most, hope, -np.inf), kind="stable")
        best, most = rival, -np.inf
        for many in {min(2**step, self.m - 1) for step in range(self.m.bit_length())}:
            theta = lower.copy()
            theta[order[:many]] = upper[order[:many]]
            other = self.solve_at(theta)
            gain = self.reward_at(theta, other.astype(np.float64)) - self.reward_at(theta, y)
            if gain > most and (other != decision).any():
                best, most = other, gain
        return best

    @property
    def remark(self) -> str:
        given = "with the correction" if self.counted else "without correction"
        return f"The variance of an allocation is that {given} for a finite population."

    @property
    def ratio_exact(self) -> bool:
        """The relative gap that ``relative_rival`` returns is attained; if not, it is an upper bound."""
        return self.m * min(self.budget, int(self.most.max())) * self.budget <= PROGRAM

    def slopes(self, decision: ArrayLike) -> Floats:
        return self._share2 * (1.0 / self._people) - self._share2 / self.check_vector(decision, "decision")

    def lower(self) -> Allocation:
        return Allocation(self.budget, self._n, self._share2, self.least, self.most, 1.0 / self._people)

    @property
    def most_exchanges(self) -> int:
        return self.m * (self.m - 1)

    def exchanges(self, decision: np.ndarray[Any, Any]) -> Exchanges:
        high, low = np.empty(self.most_exchanges, dtype=np.int64), np.empty(self.most_exchanges, dtype=np.int64)
        slopes = np.empty(self.most_exchanges), np.empty(self.most_exchanges)
        count = compiled("allocation").exchanges(self.lower(), decision.astype(np.int64), high, low, *slopes)
        return Exchanges(high[:count], low[:count], slopes[0][:count], slopes[1][:count])


def _counted(arm: Arm, size: float) -> Arm:
    """The stratum, which has so many people."""
    if size != math.floor(size):
        raise ProblemError(
            f"With finite=True sizes are how many people a stratum has, and that of {arm.name!r} is {size!r}: give whole "
            "numbers, or leave finite out.",
            key="sizes",
        )
    if arm.population is not None and arm.population != size:
        raise ProblemError(
            f"Stratum {arm.name!r} has a population of {arm.population:,} and a size of {int(size):,}: with finite=True the two "
            "are the same; leave population out.",
            key="sizes",
        )
    return replace(arm, population=int(size))


def _refuse_negative(theta: Floats, what: str) -> None:
    if not (np.isfinite(theta) & (theta >= 0)).all():
        where = int(np.flatnonzero(~(np.isfinite(theta) & (theta >= 0)))[0])
        raise ParameterError(
            f"{what}[{where}] = {theta[where]} is not a variance: give a finite number of at least 0.", key=f"{what}[{where}]"
        )


def _extremes(sizes: Floats, theta: Floats, unit: Ints, among: Bools, strongest: bool) -> Ints:
    """The two arms whose steps come last (or first) in the order: gain, then larger index."""
    where = np.flatnonzero(among)
    gains = sizes[where] ** 2 * theta[where] / (unit[where] * (unit[where] + 1.0))
    keep = min(2, len(where))
    if strongest:
        gains = -gains
    edge = np.partition(gains, keep - 1)[keep - 1]
    where = where[gains <= edge + NEAR * abs(edge)]
    ranked: list[int] = []
    first = where[0]
    alike = (sizes[where] == sizes[first]) & (theta[where] == theta[first]) & (unit[where] == unit[first])
    if alike.all() or not theta[where].any():
        ranked = sorted(where.tolist(), reverse=strongest)
    else:
        exact = {i: exact_gain(sizes[i], theta[i], int(unit[i])) for i in where.tolist()}
        ranked = sorted(exact, key=lambda i: (exact[i], i), reverse=strongest)
    return np.array(ranked[:2])
