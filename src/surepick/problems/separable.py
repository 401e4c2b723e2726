"""The user's own separable reward and maximiser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arms import WIDEST, Arm, Bools, Floats, Names, make_arms
from ..checks import entries, flag, numbers, sequence, short
from ..errors import InfeasibleError, ProblemError
from ..estimators import Estimator, make_estimator
from .base import Problem

Reward = Callable[[float, float], float]


class Separable(Problem):
    """A decision class of your own: rewards r_i(theta_i, y_i), the levels of every y_i, and a maximiser.

    Parameters
    ----------
    rewards : callable, or one an arm
        r_i(theta_i, y_i). For fixed levels v and w both r_i(theta, v) and r_i(theta, v) - r_i(theta, w) must be monotone
        in theta, as anything affine in theta is.
    levels : sequence of sequences
        The values that each y_i can take.
    oracle : callable
        The maximiser. ``oracle(theta)`` returns the best decision, one level an arm, always the same one for the same
        theta. With ``table=True`` it is called as ``oracle(tables)``, where ``tables[i][l]`` is what ``levels[i][l]`` is
        worth for arm i, and returns the decision that maximises the sum.
    table : bool
        What the oracle takes.
    bimonotone : bool
        Declare that phi_i rises with theta_i and falls with every other theta_j, or the reverse (the paper's
        Theorem 3). Undecided arms are then exact, with two oracle calls an arm.
    arms : int, names or Arm objects, optional
    parameter : {"mean", "variance"} or Estimator

    Notes
    -----
    With neither ``table=True`` nor ``bimonotone=True`` no number of calls of ``oracle(theta)`` can rule out a better decision
    somewhere between the points asked, so the problem is refused. With a table oracle, ``rival`` guides the sampling;
    ``undecided`` marks none when phi is constant, else every arm with more than one level that a necessary condition leaves
    open: never too few arms, often too many.

    Examples
    --------
    >>> pick = lambda theta: np.eye(len(theta), dtype=int)[np.argmax(theta)]
    >>> best = Separable(lambda theta, y: theta * y, [[0, 1]] * 3, pick, bimonotone=True)
    >>> best.undecided([0.1, 0.5, 0.2], [0.3, 0.9, 0.6])
    array([False,  True,  True])
    """

    kind = "separable"

    def __init__(
        self,
        rewards: Reward | Sequence[Reward],
        levels: Sequence[Sequence[float]],
        oracle: Callable[..., Any],
        *,
        table: bool = False,
        bimonotone: bool = False,
        arms: int | Names | None = None,
        parameter: str | Estimator = "mean",
    ) -> None:
        if not sequence(levels) and not isinstance(levels, np.ndarray):
            raise ProblemError(f"levels must be a list with the values of every y_i, not {short(levels)}.", key="levels")
        given = entries(levels) or []
        made = make_arms(len(given) if arms is None else arms)
        super().__init__(made, make_estimator(parameter))
        if len(given) != self.m:
            raise ProblemError(
                f"There are {self.m} arms but levels for {len(given)}: give the levels of every arm.", key="levels"
            )
        if not callable(rewards) and not sequence(rewards):
            raise ProblemError(f"rewards must be one function r(theta, y), or a list of {self.m} of them.", key="rewards")
        self.rewards: list[Reward] = [rewards] * self.m if callable(rewards) else list(rewards)
        if len(self.rewards) != self.m or not all(callable(r) for r in self.rewards):
            raise ProblemError(f"rewards must be one function r(theta, y), or a list of {self.m} of them.", key="rewards")
        if not callable(oracle):
            raise ProblemError("oracle must be a function that returns the best decision.", key="oracle")
        self.table: bool = flag(table, "table", ProblemError)
        self.bimonotone: bool = flag(bimonotone, "bimonotone", ProblemError)
        if not (self.table or self.bimonotone):
            raise ProblemError(
                "An oracle of theta alone cannot certify a decision between the points it is asked at. Either declare "
                "bimonotone=True if phi_i rises with theta_i and falls with the others, or give an oracle of tables "
                "with table=True.",
                key="table",
            )
        self.levels: list[Floats] = []
        for arm, own in zip(made, given, strict=True):
            values = numbers(own)
            finite = values is not None and values.ndim == 1 and bool((np.abs(values) <= WIDEST).all())
            if values is None or not finite or not 0 < len(values) == len(set(values)):
                raise ProblemError(
                    f"The levels of arm {arm.name!r} must be a list of different finite numbers, at least one.", key="levels"
                )
            self.levels.append(values)
        self.oracle = oracle
        self.exact: bool = self.bimonotone
        self.rivals: bool = self.table
        self.rival_exact: bool = self.table
        self.undecided_cheap: bool = self.bimonotone
        self.affine: bool = all(_is_affine(r, arm, v) for r, arm, v in zip(self.rewards, made, self.levels, strict=True))

    def _worths(self, i: int, theta: float, values: Floats) -> Floats:
        """r_i(theta, y) for every y; a reward that is not a number would certify nothing."""
        table = _worths(self.rewards[i], self.arms[i], theta, values)
        if not np.isfinite(table).all():
            raise ProblemError(
                f"The reward of arm {self.names[i]!r} at theta = {theta:g} is not a finite number for every level.", key="rewards"
            )
        return table

    def _tables(self, theta: Floats) -> list[Floats]:
        return [self._worths(i, t, values) for i, (t, values) in enumerate(zip(theta.tolist(), self.levels, strict=True))]

    def _ask(self, question: Any) -> np.ndarray[Any, Any]:
        try:
            answer = self.oracle(question)
        except Exception as error:
            raise ProblemError(f"The oracle failed: {short(error)}.", key="oracle") from error
        if (values := numbers(answer)) is None or values.shape != (self.m,):
            raise InfeasibleError(
                f"The oracle returned {short(answer)}; it must return a decision with {self.m} entries.", key="oracle"
            )
        decision = np.asarray(answer)
        if decision.dtype.kind not in "iuf" or decision.shape != values.shape:
            decision = values
        for i, values in enumerate(self.levels):
            if not (values == decision[i]).any():
                raise ProblemError(
                    f"The oracle put arm {self.arms[i].name!r} at {decision[i]!r}, which is not among its levels.", key="oracle"
                )
        return decision

    def solve_at(self, theta: Floats) -> np.ndarray[Any, Any]:
        return self._ask(self._tables(theta) if self.table else theta.copy())

    def reward_at(self, theta: Floats, decision: Floats) -> float:
        return float(sum(float(self._worths(i, t, decision[i : i + 1])[0]) for i, t in enumerate(theta.tolist())))

    def reward_range_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[float, float]:
        ends = [
            (float(self._worths(i, low, decision[i : i + 1])[0]), float(self._worths(i, high, decision[i : i + 1])[0]))
            for i, (low, high) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True))
        ]
        return float(sum(map(min, ends))), float(sum(map(max, ends)))

    def _edges(self, lower: Floats, upper: Floats, decision: Floats) -> list[Floats]:
        """g_i(v): the most that level v of arm i can be better than the decision's, over the box."""
        edges = []
        for i, (at_low, at_high) in enumerate(zip(self._tables(lower), self._tables(upper), strict=True)):
            mine = int(np.flatnonzero(self.levels[i] == decision[i])[0])
            edges.append(np.maximum(at_low - at_low[mine], at_high - at_high[mine]))
        return edges

    def undecided_on(self, lower: Floats, upper: Floats) -> Bools:
        out = np.zeros(self.m, dtype=np.bool_)
        if self.bimonotone:
            for i in range(self.m):
                one, other = lower.copy(), upper.copy()
                one[i], other[i] = upper[i], lower[i]
                out[i] = self.solve_at(one)[i] != self.solve_at(other)[i]
            return out
        decision = self.solve_at((lower + upper) / 2)
        if not self._contested(self._edges(lower, upper, decision), decision, lambda worth, near: worth >= -near).any():
            return out
        # A level is possible only if the best decision with it, at its best, reaches the best of all, at its worst.
        ends = list(zip(self._tables(lower), self._tables(upper), strict=True))
        worst = [np.minimum(a, b) for a, b in ends]
        reached = self._worth(worst, self._ask(worst))
        best = [np.maximum(a, b) for a, b in ends]
        return self._contested(best, decision, lambda worth, near: worth >= reached - near)

    def _contested(self, tables: list[Floats], decision: np.ndarray[Any, Any], good: Callable[[float, float], bool]) -> Bools:
        """Arms for which a decision with another level than this one's is worth enough by the tables."""
        out = np.zeros(self.m, dtype=np.bool_)
        reach = sum(float(np.ptp(t)) for t in tables)
        for i, values in enumerate(self.levels):
            for v in np.flatnonzero(values != decision[i]):
                forced = list(tables)
                forced[i] = np.full(len(values), float(tables[i].min()) - 2.0 * reach - 1.0)
                forced[i][v] = tables[i][v]
                y = self._ask(forced)
                if y[i] == values[v] and good(self._worth(tables, y), 1e-12 * (1.0 + reach)):
                    out[i] = True
                    break
        return out

    def settled_on(self, lower: Floats, upper: Floats, decision: np.ndarray[Any, Any], rival: np.ndarray[Any, Any]) -> bool:
        if self.bimonotone:
            return super().settled_on(lower, upper, decision, rival)
        edges = self._edges(lower, upper, decision)
        return not self._contested(edges, decision, lambda worth, near: worth >= -near).any()

    def admits(self, decision: Floats) -> bool:
        return all(bool((values == y).any()) for values, y in zip(self.levels, decision, strict=True))

    def _worth(self, edges: list[Floats], decision: np.ndarray[Any, Any]) -> float:
        return float(sum(e[int(np.flatnonzero(v == y)[0])] for e, v, y in zip(edges, self.levels, decision, strict=True)))

    def rival_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[np.ndarray[Any, Any], float]:
        """Exact with a table oracle; else a bound that lets every arm choose for itself (its decision may be infeasible)."""
        edges = self._edges(lower, upper, decision)
        if self.table:
            rival = self._ask(edges)
            return rival, self._worth(edges, rival)
        free = np.array([values[int(np.argmax(e))] for e, values in zip(edges, self.levels, strict=True)])
        return free, float(sum(e.max() for e in edges))


def _is_affine(reward: Reward, arm: Arm, levels: Floats) -> bool:
    """Tried at five points of the arm's range for every level."""
    low, high = (arm.low, arm.high) if np.isfinite(arm.high - arm.low) else (-1.0, 1.0)
    values = np.array([_worths(reward, arm, float(t), levels) for t in np.linspace(low, high, 5)])
    if not np.isfinite(values).all():
        return False
    return bool((np.abs(np.diff(values, 2, axis=0)).max(axis=0) <= 1e-9 * (1.0 + np.abs(values).max(axis=0))).all())


def _worths(reward: Reward, arm: Arm, theta: float, levels: Floats) -> Floats:
    """What every level is worth."""
    try:
        table = numbers([reward(theta, level) for level in levels.tolist()])
    except Exception as error:
        raise ProblemError(
            f"The reward of arm {arm.name!r} failed at theta = {theta:g}: {short(error)}.", key="rewards"
        ) from error
    if table is None or table.shape != levels.shape:
        raise ProblemError(f"The reward of arm {arm.name!r} at theta = {theta:g} is not a number for every level.", key="rewards")
    return table
