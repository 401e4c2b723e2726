"""Consistent optimality radii and the hardness of an instance (Definition 2 and Theorem 1 of the paper)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .. import display
from ..arms import Floats, Ints
from ..checks import among, number, short
from ..errors import ParameterError, SettingError
from ..problems import Problem

if TYPE_CHECKING:
    import pandas as pd

STEPS = 60  # halvings: radii are exact to 2^-60 of an arm's range, and to 1 part in 10^12
NOTHING = 1e-13  # a smaller radius is rounding: two decisions are equally good


@dataclass(frozen=True, eq=False)
class Hardness:
    """How hard it is to find the best decision when theta is the truth.

    Attributes
    ----------
    radius : array
        Lambda_i: every parameter may be off by less than this, as a share of its arm's scale (high - low for means), and arm
        i's entry of the optimal decision is still the same. Infinite for an arm that can never change; 0 if the
        optimum is not unique.
    H, H_uniform : float
        sum_i 1 / Lambda_i^2 and m / min_i Lambda_i^2.
    gap : array or None
        Delta_i of linear 0/1 classes (but paths in a graph with cycles): how much worse the best decision is that differs in arm
        i, in units of the reward.
    H_gap : float or None
        sum_i 1 / Delta_i^2.
    width : int or None
        The width of the class; Lambda_i times the scale is at least Delta_i / width when all arms have the same scale.
    characteristic_time : float or None
        T*, to six digits and never too large: see ``lower_bound``. Infinite if the optimum is not unique; 0 if no parameter in
        the arms' range changes it. None for a parameter of your own, for :class:`Separable`, where an arm has a population, and
        where the alternatives are too many to search: very long lists, programs and plans that cannot be listed, some large
        matchings and paths.
    proportions : array or None
        w*, the shares of the samples that the bound gives to the arms; None where T* is not a positive number.

    characteristic_cost : float or None
        C*, the same for what samples cost: see ``lower_bound_cost``.
    cost_proportions : array or None
        The shares of the cost that this bound gives to the arms.

    Notes
    -----
    ``characteristic_time`` and ``proportions`` are worked out when they are first asked for. That takes milliseconds for tens of
    arms and seconds for a thousand.
    """

    radius: Floats
    H: float
    H_uniform: float
    gap: Floats | None
    H_gap: float | None
    width: int | None
    minimum: int
    problem: Problem = field(repr=False)
    theta: Floats = field(repr=False)

    @cached_property
    def _bound(self) -> tuple[float, Floats | None] | None:
        from .lower_bound import characteristic_time

        return characteristic_time(self.problem, self.theta)

    @property
    def characteristic_time(self) -> float | None:
        return None if self._bound is None else self._bound[0]

    @cached_property
    def _bound_in_cost(self) -> tuple[float, Floats | None] | None:
        from .lower_bound import characteristic_time

        return characteristic_time(self.problem, self.theta, self.problem.costs) if self.problem.priced else self._bound

    @property
    def characteristic_cost(self) -> float | None:
        return None if self._bound_in_cost is None else self._bound_in_cost[0]

    @property
    def cost_proportions(self) -> Floats | None:
        return None if self._bound_in_cost is None else self._bound_in_cost[1]

    @property
    def proportions(self) -> Floats | None:
        return None if self._bound is None else self._bound[1]

    def lower_bound(self, delta: float) -> float | None:
        """T* kl(delta, 1 - delta): no algorithm that is wrong with probability at most delta takes fewer samples on average.

        It holds for every algorithm that is right with probability 1 - delta whatever the arms of the declared kind are, when the
        truth is of a certain family (Garivier and Kaufmann 2016; Kaufmann, Cappe and Garivier 2016):

        - *Bernoulli* arms: Bernoulli arms with these means.
        - *sub-Gaussian* arms: normal arms with these means and standard deviation R.
        - *bounded* arms: arms that give only ``low`` and ``high``, with these means or, for :class:`SampleAllocation`, these
          variances. For other bounded arms with these means the bound is at most this.

        The decision must be exactly the best one: with epsilon > 0 fewer samples may do. None where T* is.
        """
        self._measure("coci", delta)
        if self.characteristic_time is None or delta >= 0.5:  # a coin is right as often
            return None if self.characteristic_time is None else 0.0
        return self.characteristic_time * (1 - 2 * delta) * math.log((1 - delta) / delta)

    def lower_bound_cost(self, delta: float) -> float | None:
        """C* kl(delta, 1 - delta): no algorithm that is wrong with probability at most delta spends less on average, under what
        ``lower_bound`` says. The same number where every arm costs 1."""
        self._measure("coci", delta)
        if self.characteristic_cost is None or delta >= 0.5:
            return None if self.characteristic_cost is None else 0.0
        return self.characteristic_cost * (1 - 2 * delta) * math.log((1 - delta) / delta)

    def upper_bound(self, delta: float, policy: str = "coci") -> float:
        """Theorem 1: with probability 1 - delta COCI (or uniform sampling, with H_uniform) takes at most so many samples."""
        H = self._measure(policy, delta)
        if H == 0:
            return float(self.minimum * len(self.radius))
        return 2 * len(self.radius) + 12 * H * math.log(24 * H) + 4 * H * math.log(4 / (self.minimum * delta))

    def expected(self, delta: float, policy: str = "coci") -> float:
        """What the policy typically takes with the paper's radius, by rule of thumb: every radius must shrink to Lambda_i.

        Solves T = H ln(4 T^3 / (tau delta)) / 2. An estimate, not a bound.
        """
        H = self._measure(policy, delta)
        least = float(self.minimum * len(self.radius))
        if H == 0 or not math.isfinite(H):
            return least if H == 0 else math.inf
        samples = max(least, H)
        for _ in range(100):
            samples = max(least, H * (math.log(4 / (self.minimum * delta)) + 3 * math.log(samples)) / 2)
        return samples

    def _measure(self, policy: str, delta: float) -> float:
        number(delta, "delta", "a probability between 0 and 1, both excluded", lambda x: 0 < x < 1)
        if not among(policy, ("coci", "uniform")):
            raise SettingError(f"policy={short(policy)} has no bound here; use 'coci' or 'uniform'.", key="policy")
        return self.H if policy == "coci" else self.H_uniform

    def to_frame(self) -> pd.DataFrame:
        """A row an arm: ``arm`` (its name), ``theta``, ``decision`` (the best one), ``radius`` and ``gap`` (NaN if none)."""
        import pandas as pd

        names = pd.Series(self.problem.names, dtype=object)
        gap = math.nan if self.gap is None else self.gap
        best = self.problem.solve_at(self.theta)
        return pd.DataFrame({"arm": names, "theta": self.theta, "decision": best, "radius": self.radius, "gap": gap})

    def __str__(self) -> str:
        arm = int(np.argmin(self.radius))
        hardest = f"{display.name(self.problem.names[arm])} with radius {display.figure(float(self.radius[arm]))}"
        return f"H = {display.figure(self.H)}, H_uniform = {display.figure(self.H_uniform)}; the hardest arm is {hardest}."

    def __repr__(self) -> str:
        return f"<Hardness of {self.problem!r}: {str(self)[:-1]}>"

    def _repr_html_(self) -> str:
        order = np.arange(len(self.radius))
        if len(order) > display.ROWS:  # the hardest arms
            order = np.argsort(self.radius, kind="stable")[: display.ROWS]
        header = ["arm", self.problem.parameter.name, "best decision", "radius", "gap"]
        gap = np.full(len(self.radius), math.nan) if self.gap is None else self.gap
        columns = (self.theta, self.problem.solve_at(self.theta), self.radius, gap)
        rows = [[display.name(self.problem.names[i]), *(display.figure(column[i]) for column in columns)] for i in order]
        return display.page(str(self), display.table(header, rows, len(self.radius), "arm"))


def hardness(problem: Problem, theta: ArrayLike) -> Hardness:
    """The hardness of a problem if theta were the truth.

    Parameters
    ----------
    problem : Problem
    theta : array
        One parameter an arm, within its range.

    Examples
    --------
    >>> import surepick as sp
    >>> sp.hardness(sp.BestArm(3), [0.9, 0.5, 0.4]).radius.round(3)
    array([0.2 , 0.2 , 0.25])
    """
    if not isinstance(problem, Problem):
        raise SettingError(f"The first argument must be a problem such as TopK(10, 3), not {short(problem)}.")
    if problem.pool is not None:
        raise SettingError(
            "How hard it is on shared items depends on how the scores of different arms go together: simulate it, with Scores of "
            "what you have.",
            key="pool",
        )
    if problem.unscaled:
        arm = next(arm for arm in problem.arms if arm.kind == "normal")
        raise SettingError(
            f"How hard it is depends on deviations, and arm {arm.name!r} is normal with an unknown one: for a forecast declare "
            "kind='subgaussian' with the standard deviation that you expect as scale.",
            key="kind",
        )
    truth = problem.check_vector(theta, "theta")
    outside = (truth < problem.low) | (truth > problem.high)
    if outside.any():
        i = int(np.flatnonzero(outside)[0])
        raise ParameterError(
            f"theta[{i}] = {truth[i]:g} is outside the range [{problem.low[i]:g}, {problem.high[i]:g}] "
            f"of the {problem.parameter.name} of arm {problem.arms[i].name!r}.",
            key=f"theta[{i}]",
        )
    radius = consistent_radius(problem, truth)
    smallest = float(radius.min())
    gap = reward_gap(problem, truth) if problem.linear and problem.any_weights else None
    return Hardness(
        radius=radius,
        H=_inverse_squares(radius),
        H_uniform=problem.m * _inverse_squares(np.array([smallest])),
        gap=gap,
        H_gap=None if gap is None else _inverse_squares(gap),
        width=problem.width(),
        minimum=problem.parameter.minimum,
        problem=problem,
        theta=truth,
    )


def consistent_radius(problem: Problem, truth: Floats) -> Floats:
    """Lambda: for every arm the largest rho at which it is decided on the box truth +- rho * scale, by bisection."""

    def undecided(rho: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        reach = rho * problem.scales
        return problem.undecided_on(np.maximum(truth - reach, problem.low), np.minimum(truth + reach, problem.high))

    most = 1.0
    unbounded = not np.isfinite(problem.high - problem.low).all()
    while unbounded and most < 1e30 and not undecided(most).all():
        most *= 4.0
    steps = STEPS + math.ceil(math.log2(most))
    radius = np.full(problem.m, math.inf)
    ever: Ints = np.flatnonzero(undecided(most))
    todo = [(0.0, most, ever, 0)]
    while todo:  # all arms of one bracket share their calls
        low, high, arms, depth = todo.pop()
        if len(arms) == 0:
            continue
        if depth == steps or high - low <= 1e-13 * high:
            radius[arms] = low if low > NOTHING else 0.0
            continue
        middle = (low + high) / 2
        open_ = undecided(middle)[arms]
        todo.append((low, middle, arms[open_], depth + 1))
        todo.append((middle, high, arms[~open_], depth + 1))
    return radius


def reward_gap(problem: Problem, truth: Floats) -> Floats:
    """Delta_i, by one oracle call an arm with the arm forced in or out; infinite if it cannot be."""
    best = problem.solve_at(truth)
    top = problem.reward_at(truth, best.astype(np.float64))
    force = (1.0 + 2.0 * float(np.abs(truth).sum())) * problem.sign
    gap = np.full(problem.m, math.inf)
    for i in range(problem.m):
        bent = truth.copy()
        bent[i] = -force if best[i] else force
        other = problem.solve_at(bent)
        if other[i] != best[i]:
            gap[i] = top - problem.reward_at(truth, other.astype(np.float64))
    return gap


def _inverse_squares(values: Floats) -> float:
    with np.errstate(divide="ignore"):
        return float((1.0 / values**2).sum())
