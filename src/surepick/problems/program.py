"""Any linear constraints on whole decisions, by integer programming."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arms import Arm, Bools, Floats, Ints, make_arms
from ..errors import InfeasibleError, ProblemError, SurepickError
from ..estimators import Estimator, make_estimator
from .base import Constraints, Problem, check_sense


class Program(Problem):
    """The whole decision y, 0 <= y_i <= levels_i and lower <= A y <= upper, with the largest theta . y, by HiGHS.

    Parameters
    ----------
    arms : int, names or Arm objects
    A : matrix, one row a constraint
    lower, upper : number or one a constraint
        Use ``-inf`` or ``inf`` for no bound.
    levels : int or one an arm
        The largest value of each y_i; 1 for a choice of arms.
    sense : {"max", "min"}
    parameter : {"mean", "variance"} or Estimator

    Notes
    -----
    ``scipy.optimize.milp`` solves it. Its constraints are set up once here, but scipy hands them to HiGHS anew at every call. Not
    bi-monotone. Whether phi is constant on a box is one more program, for the best *other* decision: every y_i counts up from
    this one at U and down at L, g_i(v) = U_i (v - y_i) or L_i (v - y_i), with two whole variables and a switch an arm.

    Ties are broken by the solver, the same way every time.

    Examples
    --------
    A knapsack with weights 3, 4, 2 and room for 6:

    >>> Program(3, [[3, 4, 2]], upper=6).solve([0.5, 0.6, 0.3])
    array([0, 1, 1])
    """

    kind = "program"
    bimonotone = False
    exact = False
    per_arm = False

    def __init__(
        self,
        arms: int | Sequence[str] | Sequence[Arm],
        A: ArrayLike,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        levels: int | Sequence[int] | Ints = 1,
        *,
        sense: str = "max",
        parameter: str | Estimator = "mean",
    ) -> None:
        super().__init__(make_arms(arms), make_estimator(parameter))
        self.sense = check_sense(sense)
        self.sign = 1.0 if sense == "max" else -1.0
        try:
            self.A: Floats = np.atleast_2d(np.asarray(A, dtype=np.float64))
            self.lower: Floats = np.broadcast_to(np.asarray(lower, dtype=np.float64), len(self.A)).copy()
            self.upper: Floats = np.broadcast_to(np.asarray(upper, dtype=np.float64), len(self.A)).copy()
        except (TypeError, ValueError):
            raise ProblemError("A, lower and upper must be numbers: a row of A a constraint, and one bound a row.") from None
        if self.A.shape[1] != self.m:
            raise ProblemError(f"A has {self.A.shape[1]} columns, but there are {self.m} arms: give one column an arm.")
        if not np.isfinite(self.A).all() or np.isnan(self.lower).any() or np.isnan(self.upper).any():
            raise ProblemError("A must be finite, and lower and upper must not be NaN.")
        if (self.lower > self.upper).any():
            crossed = int(np.argmax(self.lower > self.upper))
            raise InfeasibleError(f"Constraint {crossed} has its lower bound above its upper one: swap or loosen them.")
        top = np.asarray(levels)
        if top.dtype.kind not in "iu" or (top < 0).any() or top.shape not in ((), (self.m,)):
            raise ProblemError(f"levels must be whole numbers of at least 0, one an arm, not {levels!r}.")
        self.levels: Ints = np.broadcast_to(top.astype(np.int64), (self.m,)).copy()
        self.linear = bool((self.levels <= 1).all())
        self._plain = _Model(self.A, self.lower, self.upper, self.levels)
        self._detour: _Detour | None = None
        self._solve(np.zeros(self.m))  # raises if there is no decision at all

    def _solve(self, theta: Floats) -> Ints:
        return self._plain.maximise(self.sign * theta)

    def contains(self, decision: Floats) -> bool:
        whole = (decision == np.floor(decision)) & (decision >= 0) & (decision <= self.levels)
        rows, near = self.A @ decision, 1e-9
        return bool(whole.all() and (rows >= self.lower - near).all() and (rows <= self.upper + near).all())

    def _reward(self, theta: Floats, decision: Floats) -> float:
        return self.sign * float(theta @ decision)

    def reward_range(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[float, float]:
        ends = self._reward(lower, decision), self._reward(upper, decision)
        return min(ends), max(ends)

    def constraints(self) -> Constraints:
        return Constraints(self.A, self.lower, self.upper, self.levels, self.sign)

    def _rival(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[Ints, float]:
        y = np.rint(decision).astype(np.int64)
        if self._detour is None or (self._detour.y != y).any():  # the same decision is asked about again and again
            self._detour = _Detour(self.constraints(), y)
        return self._detour.rival(lower, upper)

    def settled(self, lower: Floats, upper: Floats, decision: np.ndarray[Any, Any], rival: np.ndarray[Any, Any]) -> bool:
        return bool((rival == decision).all())

    def _undecided(self, lower: Floats, upper: Floats) -> Bools:
        """None if phi is constant; else every arm that is not the same in all decisions: which ones may change is hard to say."""
        middle = self._solve((lower + upper) / 2)
        if (self._rival(lower, upper, middle.astype(np.float64))[0] == middle).all():
            return np.zeros(self.m, dtype=np.bool_)
        return self._movable()

    def _movable(self) -> Bools:
        """Arms that do not have the same value in every decision of the class."""
        if not hasattr(self, "_moves"):
            ends = []
            for i in range(self.m):
                unit = np.zeros(self.m)
                unit[i] = 1.0
                ends.append(self._plain.maximise(unit)[i] != self._plain.maximise(-unit)[i])
            self._moves: Bools = np.array(ends)
        return self._moves.copy()


class _Model:
    """One integer program whose objective changes."""

    def __init__(self, A: Floats, lower: Floats, upper: Floats, levels: Ints) -> None:
        from scipy.optimize import Bounds, LinearConstraint

        self.constraints = LinearConstraint(A, lower, upper)
        self.bounds = Bounds(np.zeros(len(levels)), levels.astype(np.float64))
        self.whole = np.ones(len(levels))

    def maximise(self, weights: Floats) -> Ints:
        from scipy.optimize import milp

        found = milp(
            -weights, integrality=self.whole, bounds=self.bounds, constraints=self.constraints, options={"mip_rel_gap": 0.0}
        )
        if found.status == 2:
            raise InfeasibleError("No whole decision meets the constraints: loosen lower, upper or levels.")
        if found.x is None:
            raise SurepickError(f"HiGHS found no optimum: {found.message}")
        return np.asarray(np.rint(found.x), dtype=np.int64)


def strongest_rival(program: Constraints, lower: Floats, upper: Floats, decision: Floats) -> tuple[Ints, float]:
    """The best *other* decision over the box, by one program; this one itself if every other is worse all over it."""
    return _Detour(program, np.rint(decision).astype(np.int64)).rival(lower, upper)


class _Detour:
    """The program of the largest gap: decision + more - less, where an arm moves one way only and at least one moves."""

    def __init__(self, program: Constraints, y: Ints) -> None:
        A, levels = program.A, program.levels
        m, base = len(y), A @ y
        rise = np.hstack((np.eye(m), np.zeros((m, m)), -np.diag((levels - y).astype(np.float64))))  # more <= room * on
        fall = np.hstack((np.zeros((m, m)), np.eye(m), np.diag(y.astype(np.float64))))  # less <= y * (1 - on)
        move = np.concatenate((np.ones(2 * m), np.zeros(m)))[None, :]
        rows = np.vstack((np.hstack((A, -A, np.zeros((len(A), m)))), rise, fall, move))
        low = np.concatenate((program.lower - base, np.full(2 * m, -np.inf), [1.0]))
        high = np.concatenate((program.upper - base, np.zeros(m), y.astype(np.float64), [np.inf]))
        self.y, self.m, self.program = y, m, program
        self.model = _Model(rows, low, high, np.concatenate((levels - y, y, np.ones(m, dtype=np.int64))))

    def rival(self, lower: Floats, upper: Floats) -> tuple[Ints, float]:
        # What a unit more and a unit less is worth.
        up, down = (upper, lower) if self.program.sign > 0 else (-lower, -upper)
        try:
            found = self.model.maximise(np.concatenate((up, -down, np.zeros(self.m))))
        except InfeasibleError:  # there is no other decision
            return self.y.copy(), 0.0
        change = found[: self.m] - found[self.m : 2 * self.m]
        edge = float((np.where(change > 0, up, down) * change).sum())
        near = 1e-9 * (1.0 + float((np.maximum(np.abs(lower), np.abs(upper)) * self.program.levels).sum()))
        return (self.y + change, edge) if edge >= -near else (self.y.copy(), 0.0)
