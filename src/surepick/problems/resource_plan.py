"""How much to do at every site when the response is unknown and the cost is known (water resource planning)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arms import WIDEST, Arm, Bools, Floats, Ints, Names, make_arms
from ..checks import MANY, entries, numbers, sequence, short, whole
from ..engine import compiled
from ..engine.data import Plan
from ..errors import InfeasibleError, ParameterError, ProblemError
from ..estimators import Estimator, make_estimator
from .base import Problem
from .dual import least_bound
from .explicit import undecided_real
from .half_spaces import LARGEST, HalfSpaces
from .keys import PARAMETER, Columns, Key, Keys, Numbers, PerArm, WholePerArm, finite, wholes

Cost = Callable[[int], float] | ArrayLike

LISTED = 4096  # up to this many plans are listed, for an exact test of undecided arms when a cost is not convex
PROGRAM = 20_000_000  # table entries up to which the largest gap is found exactly


class ResourcePlan(Problem):
    """The plan y that maximises sum_i theta_i y_i - f_i(y_i) with whole 0 <= y_i <= caps_i and sum y >= require.

    Parameters
    ----------
    cost : callable, or one table or callable an arm
        f_i, as a table of its values at 0..cap, or as a function of a whole number. One function serves all arms.
    caps : int or array of int
        The most that can be done at each site.
    require : int
        The least that must be done in all.
    arms : names or Arm objects, optional
    parameter : {"mean", "variance"} or Estimator

    Notes
    -----
    *Convex costs*: phi takes every unit with a positive gain theta_i - (f_i(l) - f_i(l-1)), and more of the best ones
    until the requirement is met. Equal gains go to the larger index; a unit that gains exactly 0 is taken only when
    required. This is bi-monotone whether or not the requirement is tight, and undecided arms are found as for
    :class:`SampleAllocation`, by one unit more and one unit less.

    *Concave or other costs* are **not** bi-monotone (the paper's lemma is wrong there; see the errata). phi is found by
    dynamic programming over the requirement. Undecided arms are exact, by a linear program a plan, up to 4,096 plans.
    Beyond that ``rival`` guides the sampling, and ``undecided`` marks none when phi is constant, else every arm with more
    than one level that a necessary condition leaves open: never too few arms, often too many (``exact`` is then False).

    Examples
    --------
    >>> plan = ResourcePlan(lambda y: 0.1 * y * y, caps=[3, 3], require=2)
    >>> plan.solve([0.9, 0.2])
    array([3, 1])
    """

    kind = "resource-plan"
    noun = "site"

    def __init__(
        self,
        cost: Callable[[int], float] | Sequence[Cost],
        caps: int | Sequence[int] | Ints,
        require: int,
        *,
        arms: Names | None = None,
        parameter: str | Estimator = "mean",
    ) -> None:
        table = isinstance(cost, np.ndarray) and cost.ndim == 2
        costs = None if callable(cost) else entries(cost) if sequence(cost) or table else []
        if not callable(cost) and not costs:
            raise ProblemError(
                f"cost must be a function, or a list with a table or a function a site, not {short(cost)}.", key="cost"
            )
        m = _count(costs, caps, arms)
        made = make_arms(m if arms is None else arms, self.noun)
        if len(made) != m:
            raise ProblemError(f"There are {m} sites but {len(made)} arms: give one arm a site, or leave arms out.", key="arms")
        super().__init__(made, make_estimator(parameter))
        self.caps: Ints = _whole(caps, m, "caps")
        self.require: int = whole(require, "require", error=ProblemError)
        if self.require > self.caps.sum():
            raise InfeasibleError(
                f"The caps add up to {self.caps.sum()}, below the required {short(self.require)}: raise caps or lower require.",
                key="caps",
            )
        if self.caps.sum() > MANY:
            raise ProblemError(
                f"The caps add up to {self.caps.sum()}, above {MANY:,}, the most that is supported: use larger units.", key="caps"
            )
        each: list[Any] = [cost] * m if costs is None else costs
        tables = [_table(each[i], int(self.caps[i]), made[i].name) for i in range(m)]
        self._starts: Ints = np.concatenate(([0], np.cumsum(self.caps + 1)))  # arm i's table is costs[starts[i]:starts[i+1]]
        self._costs: Floats = np.concatenate(tables)
        self._level: Ints = np.arange(len(self._costs)) - np.repeat(self._starts[:-1], self.caps + 1)
        steps = [np.diff(table) for table in tables]
        self.rival_exact: bool = self.require * len(self._costs) <= PROGRAM
        self.convex: bool = all(_rising(step, table) for step, table in zip(steps, tables, strict=True))
        self.bimonotone: bool = self.convex
        if self.convex:
            smooth = [_smooth(step, table) for step, table in zip(steps, tables, strict=True)]
            self._steps: Floats = np.concatenate(smooth)
            self._first: Ints = np.concatenate(([0], np.cumsum(self.caps)))
            return
        plans = math.prod(int(c) + 1 for c in self.caps) if m < 64 else LISTED + 1
        self.exact: bool = plans <= LISTED
        self.undecided_cheap: bool = self.exact
        if self.exact:
            grid = np.indices((self.caps + 1).tolist()).reshape(m, -1).T
            grid = grid[grid.sum(axis=1) >= self.require]
            self._plans: Floats = grid.astype(np.float64)
            self._plan_rewards: Floats = -self._costs[self._starts[:-1] + grid].sum(axis=1)

    @classmethod
    def study_keys(cls) -> Keys:
        each = "a finite number, or a list of them, one a site"
        power = {
            "factor": Key(PerArm, each, column="cost", read=finite),
            "exponent": Key(PerArm, each, column="exponent", read=finite),
        }
        cost = (
            "a list of tables, one a site, with the costs at 0, 1, ..., cap, or a formula such as "
            '{kind = "power", factor = 0.1, exponent = 2}'
        )
        return {
            "caps": Key(WholePerArm, "a whole number, or a list of them, one a site", column="cap", read=wholes),
            "require": Key(int, "a whole number of at least 0"),
            "cost": Key(list[Numbers] | dict[str, object], cost, {"kind": "power"}, tables={"power": power}),
            "parameter": PARAMETER,
        }

    @classmethod
    def from_study(cls, arms: Sequence[Arm] | None, keys: dict[str, Any], table: Columns | None) -> Problem:
        if isinstance(keys["cost"], dict):
            caps = keys["caps"]
            if arms is None and not isinstance(caps, list):
                raise ProblemError(
                    "With one cap for all sites, say how many there are: give a list of caps, or arms.", key="caps"
                )
            keys = {**keys, "cost": _power(keys["cost"], len(caps if arms is None else arms))}
        return super().from_study(arms, keys, table)

    def keys(self) -> dict[str, Any]:
        return {
            "cost": [self.cost_table(i).tolist() for i in range(self.m)], "caps": self.caps.tolist(), "require": self.require
        }  # fmt: skip

    def solve_at(self, theta: Floats) -> Ints:
        y = np.empty(self.m, dtype=np.int64)
        if self.convex:
            compiled("plans").best(self._convex(), theta, y)
        else:
            table = np.repeat(theta, self.caps + 1) * self._level - self._costs
            compiled("plans").plan_program(table, self._starts, self.require, y)
        return y

    def cost_table(self, arm: Hashable) -> Floats:
        """f_i at 0, 1, ..., cap."""
        i = self.index[arm]
        return self._costs[self._starts[i] : self._starts[i + 1]].copy()

    def _places(self, decision: Floats) -> Ints:
        whole = self._whole(decision)
        if not whole.all():
            where = int(np.flatnonzero(~whole)[0])
            raise ParameterError(
                f"decision[{where}] = {decision[where]:g} is not a whole number in 0..{self.caps[where]}.",
                key=f"decision[{where}]",
            )
        return self._starts[:-1] + decision.astype(np.int64)

    def _whole(self, decision: Floats) -> Bools:
        whole: Bools = (decision == np.floor(decision)) & (decision >= 0) & (decision <= self.caps)
        return whole

    def reward_at(self, theta: Floats, decision: Floats) -> float:
        self._places(decision)  # refuses what is no plan
        return float(compiled("plans").reward(self._costs, self._starts, theta, decision))

    def slopes(self, decision: ArrayLike) -> Floats:
        return self.check_vector(decision, "decision")

    def reward_range_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[float, float]:
        return self.reward_at(lower, decision), self.reward_at(upper, decision)

    def undecided_on(self, lower: Floats, upper: Floats) -> Bools:
        if self.convex:
            out = np.empty(self.m, dtype=np.bool_)
            compiled("plans").undecided(self._convex(), lower, upper, out)
            return out
        if self.exact:
            return undecided_real(self._plans, self._plan_rewards, lower, upper)
        middle = self.solve_at((lower + upper) / 2)
        if not self._contested(lower, upper, middle).any():
            return np.zeros(self.m, dtype=np.bool_)
        # A level is possible only if the best plan with it, at U, reaches the best plan of all, at L.
        at_lower = self.solve_at(lower)
        reached = self.reward_at(lower, at_lower.astype(np.float64)) - self._near(lower, upper)
        table = np.repeat(upper, self.caps + 1) * self._level - self._costs
        out = np.empty(self.m, dtype=np.bool_)
        compiled("plans").plan_open(table, self._starts, middle, self.require, reached, out)
        return out

    def _contested(self, lower: Floats, upper: Floats, decision: Ints) -> Bools:
        """Arms that some plan changes which could do at least as well as the decision somewhere on the box."""
        edges = self._edges(lower, upper, decision.astype(np.float64))
        out = np.empty(self.m, dtype=np.bool_)
        compiled("plans").plan_open(edges, self._starts, decision, self.require, -self._near(lower, upper), out)
        return out

    def _near(self, lower: Floats, upper: Floats) -> float:
        return 1e-12 * float(np.abs(self._costs).max() + np.maximum(np.abs(lower), np.abs(upper)) @ self.caps)

    def settled_on(self, lower: Floats, upper: Floats, decision: np.ndarray[Any, Any], rival: np.ndarray[Any, Any]) -> bool:
        if self.undecided_cheap:
            return super().settled_on(lower, upper, decision, rival)
        return not self._contested(lower, upper, decision.astype(np.int64)).any()

    def admits(self, decision: Floats) -> bool:
        return bool(self._whole(decision).all() and decision.sum() >= self.require)

    def _edges(self, lower: Floats, upper: Floats, decision: Floats) -> Floats:
        """g_i(v): the most that level v of arm i can be better than the decision's, over the box."""
        more = self._level - np.repeat(decision, self.caps + 1)
        theta = np.where(more > 0, np.repeat(upper, self.caps + 1), np.repeat(lower, self.caps + 1))
        base = np.repeat(self._costs[self._places(decision)], self.caps + 1)
        edges: Floats = theta * more - self._costs + base
        return edges

    def rival_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[Ints, float]:
        """G: exact by dynamic programming while that is cheap, else an upper bound by Lagrangian duality."""
        y = np.empty(self.m, dtype=np.int64)
        if self.rival_exact:
            gap = compiled("plans").strongest(self._costs, self._starts, self.require, lower, upper, decision, y)
            return y, float(gap)
        edges = self._edges(lower, upper, decision)
        more = self._level - np.repeat(decision, self.caps + 1)
        slack = float(decision.sum()) - self.require

        def bound(price: float) -> float:
            return float(np.maximum.reduceat(edges + price * more, self._starts[:-1]).sum()) + price * slack

        highest = float(np.abs(edges).max())
        price, value = least_bound(bound, highest)
        priced = edges + price * more
        for i in range(self.m):
            y[i] = int(np.argmax(priced[self._starts[i] : self._starts[i + 1]]))
        missing = self.require - int(y.sum())
        for i in range(self.m):  # the bound's plan may fall short of the requirement: fill it up
            add = min(max(missing, 0), int(self.caps[i] - y[i]))
            y[i] += add
            missing -= add
        return y, value

    def half_spaces(self, theta: Floats) -> HalfSpaces | None:
        best = self.solve_at(theta)
        return self._units(theta, best) if self.convex else self._others(theta, best)

    def _units(self, theta: Floats, best: Ints) -> HalfSpaces | None:
        """One unit more, one less, or, where the requirement is tight, one moved: enough for concave separable rewards."""
        steps = [np.diff(self.cost_table(i)) for i in range(self.m)]
        more, less = np.flatnonzero(best < self.caps), np.flatnonzero(best > 0)
        loss = {i: float(steps[i][best[i]] - theta[i]) for i in more.tolist()}  # of taking the next unit
        worth = {i: float(theta[i] - steps[i][best[i] - 1]) for i in less.tolist()}  # of the last unit
        moves = [([i, i], [1.0, 0.0], loss[i]) for i in loss]
        if best.sum() > self.require:
            moves += [([i, i], [-1.0, 0.0], worth[i]) for i in worth]
        elif 2 * len(loss) * len(worth) > LARGEST:
            return None
        else:
            moves += [([j, i], [1.0, -1.0], loss[j] + worth[i]) for j in loss for i in worth if i != j]
        arms, c, gap = zip(*moves, strict=True) if moves else ((), (), ())
        return HalfSpaces(np.array(arms, dtype=np.int64).reshape(-1, 2), np.array(c).reshape(-1, 2), np.array(gap))

    def _others(self, theta: Floats, best: Ints) -> HalfSpaces | None:
        """Every other plan, if they are listed."""
        if not self.exact or self._plans.size > LARGEST:
            return None
        c = self._plans - best
        gap = self.reward_at(theta, best.astype(np.float64)) - self._plan_rewards - self._plans @ theta
        other = (c != 0).any(axis=1)
        return HalfSpaces.of(c[other], gap[other])

    def lower(self) -> Plan | None:
        return self._convex() if self.convex else None

    def _convex(self) -> Plan:
        return Plan(self.require, self._steps, self._first, self._costs, self._starts)


def _power(formula: dict[str, Any], m: int) -> list[Cost]:
    """The costs factor * y ** exponent of every site."""
    each = {}
    for name in ("factor", "exponent"):
        values = formula[name] if isinstance(formula[name], list) else [formula[name]] * m
        if len(values) != m:
            raise ProblemError(
                f"There are {m} sites but {len(values)} numbers; give one a site, or one for all.", key=f"cost.{name}"
            )
        each[name] = values
    for i, e in enumerate(each["exponent"]):
        if e <= 0:
            raise ProblemError(
                f"Site {i} has {e!r}; the cost factor * y ** exponent needs an exponent above 0.", key="cost.exponent"
            )

    def cost(factor: float, exponent: float) -> Callable[[int], float]:
        return lambda y: float(factor * y**exponent)

    return list(map(cost, each["factor"], each["exponent"]))


def _count(cost: object, caps: object, arms: Names | None) -> int:
    lists = {name: len(x) for name, x in (("caps", caps), ("cost", cost), ("arms", arms)) if sequence(x)}  # type: ignore[arg-type]
    if not lists:
        raise ProblemError("Say how many sites there are: give caps, cost or arms as a list with one entry a site.", key="caps")
    if len(set(lists.values())) > 1:
        counted = " but ".join(f"{n} {name.rstrip('s')}s" for name, n in lists.items())
        raise ProblemError(f"There are {counted}: give one of each a site.", key=next(iter(lists)))
    m = next(iter(lists.values()))
    if m == 0:
        raise ProblemError("There are no sites; give at least one.", key="caps")
    return m


def _whole(caps: int | Sequence[int] | Ints, m: int, what: str) -> Ints:
    array = numbers(caps)
    if array is None or array.shape not in ((), (m,)) or not ((array >= 0) & (array == np.floor(array)) & (array < 2**31)).all():
        raise ProblemError(f"{what} must be whole numbers of at least 0, one a site, not {short(caps)}.", key=what)
    return np.broadcast_to(array.astype(np.int64), (m,)).copy()


def _table(cost: Cost, cap: int, name: Hashable) -> Floats:
    try:
        table = numbers([cost(y) for y in range(cap + 1)] if callable(cost) else cost)
    except Exception as error:
        raise ProblemError(f"The cost function of {name!r} failed on 0..{cap}: {short(error)}.", key="cost") from error
    if table is None or table.ndim == 0:
        raise ProblemError(
            f"The cost of {name!r} must be numbers or a function of a whole number, not {short(cost)}. "
            "If all sites cost the same, give one function.",
            key="cost",
        )
    if table.shape != (cap + 1,):
        raise ProblemError(
            f"The cost table of {name!r} has {table.size} entries, but its cap is {cap}: give the cost at 0, 1, ..., {cap}.",
            key="cost",
        )
    if not (np.abs(table) <= WIDEST).all():
        where = int(np.flatnonzero(~(np.abs(table) <= WIDEST))[0])
        raise ProblemError(f"The cost of {name!r} at {where} is not a finite number of at most {WIDEST:g}.", key="cost")
    return table


def _rising(step: Floats, table: Floats) -> bool:
    """Convex, up to the rounding of the table's entries."""
    return bool((np.diff(step) >= -_rounding(table)).all())


def _smooth(step: Floats, table: Floats) -> Floats:
    """Steps that never fall: rounding makes those of a straight line wobble, and equal gains must be equal."""
    change, rounding = np.diff(step), _rounding(table)
    if ((change == 0) | (change > rounding)).all():
        return step
    smooth = step.copy()
    for i in range(1, len(step)):
        if step[i] - smooth[i - 1] <= rounding[i - 1]:
            smooth[i] = smooth[i - 1]
    return smooth


def _rounding(table: Floats) -> Floats:
    """How far rounding of three neighbouring entries can bend the line through them."""
    size = np.abs(table)
    rounding: Floats = 8 * np.finfo(np.float64).eps * np.maximum(np.maximum(size[:-2], size[1:-1]), size[2:])
    return rounding
