"""Any linear constraints on whole decisions, by integer programming."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arms import Arm, Bools, Floats, Ints, Names, Sense, make_arms
from ..checks import numbers, short
from ..errors import InfeasibleError, ProblemError, SurepickError
from ..estimators import Estimator, make_estimator
from .base import Constraints, Problem, check_sense, refuse_apart
from .half_spaces import HalfSpaces
from .keys import PARAMETER, SENSE, Columns, Key, Keys, Numbers, WholePerArm, wholes

APART = 1e6  # how much larger than the range of another arm the reward of an arm may be
HIGHEST = 2**31 - 1  # level
LISTED = 65_536  # whole vectors up to which the decisions are listed


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
    HiGHS gets the model once; from call to call only the objective changes. Not bi-monotone. Whether phi is constant on a box is
    one more program, for the best *other* decision. For 0/1 decisions that is the same model at the corner that is worst for this
    one, and only if nothing beats it there the model below. With more levels every y_i counts up from this decision at U and
    down at L, g_i(v) = U_i (v - y_i) or L_i (v - y_i), with two whole variables and a switch an arm; another decision moves
    bounds of that second model, and its matrix stays.

    Ties are broken by the solver, the same way every time. It works with tolerances: what is smaller than some
    1e-12 of the largest weight counts for nothing, for decisions and for gaps. So arms are refused if one can weigh more than
    a million times the range of another.

    Examples
    --------
    A knapsack with weights 3, 4, 2 and room for 6:

    >>> Program(3, [[3, 4, 2]], upper=6).solve([0.5, 0.6, 0.3])
    array([0, 1, 1])
    """

    kind = "program"
    bimonotone = False
    exact = False
    undecided_cheap = False
    caches: ClassVar[tuple[str, ...]] = (*Problem.caches, "_moves")

    def __init__(
        self,
        arms: int | Names,
        A: ArrayLike,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
        levels: int | Sequence[int] | Ints = 1,
        *,
        sense: Sense = "max",
        parameter: str | Estimator = "mean",
    ) -> None:
        super().__init__(make_arms(arms), make_estimator(parameter))
        self.sense: Sense = check_sense(sense)
        self.sign: float = 1.0 if sense == "max" else -1.0
        rows, least, most = numbers(A), numbers(lower), numbers(upper)
        if rows is None or least is None or most is None or rows.ndim > 2:
            raise ProblemError("A, lower and upper must be numbers: a row of A a constraint, and one bound a row.", key="A")
        self.A: Floats = np.atleast_2d(rows)
        if self.A.shape[1] != self.m:
            raise ProblemError(f"A has {self.A.shape[1]} columns, but there are {self.m} arms: give one column an arm.", key="A")
        if any(bound.shape not in ((), (1,), (len(self.A),)) for bound in (least, most)):
            raise ProblemError(f"A has {len(self.A)} rows: give one number as lower and upper, or one a row.", key="lower")
        self.least: Floats = np.broadcast_to(least, len(self.A)).copy()
        self.most: Floats = np.broadcast_to(most, len(self.A)).copy()
        if not np.isfinite(self.A).all() or np.isnan(self.least).any() or np.isnan(self.most).any():
            raise ProblemError("A must be finite, and lower and upper must not be NaN.", key="A")
        if (self.least > self.most).any():
            crossed = int(np.argmax(self.least > self.most))
            raise InfeasibleError(
                f"Constraint {crossed} has its lower bound above its upper one: swap or loosen them.", key="lower"
            )
        top = numbers(levels)
        if top is None or top.shape not in ((), (self.m,)) or not ((top >= 0) & (top <= HIGHEST) & (top == np.floor(top))).all():
            raise ProblemError(
                f"levels must be whole numbers from 0 to {HIGHEST:,}, for all arms or one an arm, not {short(levels)}.",
                key="levels",
            )
        self.levels: Ints = np.broadcast_to(top.astype(np.int64), (self.m,)).copy()
        refuse_apart(self, APART, self.levels)
        self.linear: bool = bool((self.levels <= 1).all())
        self._plain = _Model(self.A, _Bounds(self.least, self.most, self.levels.astype(np.float64)))
        self.solve_at(np.zeros(self.m))  # raises if there is no decision at all

    @classmethod
    def study_keys(cls) -> Keys:
        from pydantic import AfterValidator, Field

        # JSON has no infinity, so that a text may stand for it.
        number = Annotated[float, Field(allow_inf_nan=True), AfterValidator(_not_nan)] | Literal["inf", "-inf"]
        rows = "a list of rows, one a constraint: each a list of finite numbers, one an arm, or a column of the CSV table of arms"
        bound = "a number, {} for no bound, or a list of them, one a row of A"
        levels = "a whole number of at least 0, or a list of them, one an arm"
        return {
            "A": Key(list[Numbers | str], rows),
            "lower": Key(number | list[number], bound.format("-inf"), "-inf"),
            "upper": Key(number | list[number], bound.format("inf"), "inf"),
            "levels": Key(WholePerArm, levels, 1, column="levels", read=wholes),
            "sense": SENSE,
            "parameter": PARAMETER,
        }

    @classmethod
    def from_study(cls, arms: Sequence[Arm] | None, keys: dict[str, Any], table: Columns | None) -> Problem:
        assert arms is not None
        rows = [_row(i, row, len(arms), table) for i, row in enumerate(keys["A"])]
        if not rows:
            raise ProblemError("There are no constraints; give at least one row.", key="A")
        ends = {end: _ends(end, keys[end], len(rows)) for end in ("lower", "upper")}
        return super().from_study(arms, {**keys, "A": rows, **ends}, table)

    def keys(self) -> dict[str, Any]:
        return {
            "A": self.A.tolist(), "lower": self.least.tolist(), "upper": self.most.tolist(), "levels": self.levels.tolist(),
            "sense": self.sense,
        }  # fmt: skip

    def solve_at(self, theta: Floats) -> Ints:
        return self._plain.maximise(self.sign * theta)

    def admits(self, decision: Floats) -> bool:
        whole = (decision == np.floor(decision)) & (decision >= 0) & (decision <= self.levels)
        rows, near = self.A @ decision, 1e-9
        return bool(whole.all() and (rows >= self.least - near).all() and (rows <= self.most + near).all())

    def reward_at(self, theta: Floats, decision: Floats) -> float:
        return self.sign * float(theta @ decision)

    def reward_range_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[float, float]:
        ends = self.reward_at(lower, decision), self.reward_at(upper, decision)
        return min(ends), max(ends)

    def constraints(self) -> Constraints:
        return Constraints(self.A, self.least, self.most, self.levels, self.sign)

    def half_spaces(self, theta: Floats) -> HalfSpaces | None:
        if np.prod(self.levels + 1.0) > LISTED:
            return None
        whole = np.indices((self.levels + 1).tolist()).reshape(self.m, -1).T
        rows = whole @ self.A.T
        met = ((rows >= self.least - 1e-9) & (rows <= self.most + 1e-9)).all(axis=1)
        return HalfSpaces.of_decisions(whole[met], self.solve_at(theta), self.sign, theta)

    def rival_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[Ints, float]:
        if self.linear:
            held = decision > 0
            corner = np.where(held, lower, upper) if self.sign > 0 else np.where(held, upper, lower)
            rival = self.solve_at(corner)
            edge = self.sign * float((corner * (rival - decision)).sum())
            if (rival != decision).any() and edge >= -_rounding(lower, upper, self.levels):
                return rival, edge
            # The decision wins; that another one is as good there, only a program that leaves it out can tell.
        return super().rival_on(lower, upper, decision)

    def settled_on(self, lower: Floats, upper: Floats, decision: np.ndarray[Any, Any], rival: np.ndarray[Any, Any]) -> bool:
        return bool((rival == decision).all())

    def undecided_on(self, lower: Floats, upper: Floats) -> Bools:
        """None if phi is constant; else every arm that is not the same in all decisions: which ones may change is hard to say."""
        middle = self.solve_at((lower + upper) / 2)
        if (self.rival_on(lower, upper, middle.astype(np.float64))[0] == middle).all():
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


class _Bounds(NamedTuple):
    """lower <= A y <= upper and 0 <= y <= levels."""

    lower: Floats
    upper: Floats
    levels: Floats


# One thread, because workers of HiGHS would not survive a fork; and no feasibility jump, because its tables alone take ten times
# as long as the rest of a small program.
OPTIONS: dict[str, bool | int | float | str] = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.0,
    "mip_feasibility_tolerance": 1e-9,
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
    "mip_heuristic_run_feasibility_jump": False,
}


class _Model:
    """One integer program, handed to HiGHS once; from call to call the objective changes, and bounds where others are given."""

    A: Any
    bounds: _Bounds

    def __init__(self, A: Any, bounds: _Bounds) -> None:
        from scipy.sparse import csr_array

        self.A, self.bounds = csr_array(A), bounds
        self.columns: NDArray[np.int32] = np.arange(len(bounds.levels), dtype=np.int32)
        self._highs: Any = None
        self._lock = Lock()  # threads that share a problem share its model

    def __getstate__(self) -> dict[str, Any]:
        return {"A": self.A, "bounds": self.bounds, "columns": self.columns}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _highs=None, _lock=Lock())

    def maximise(self, weights: Floats, bounds: _Bounds | None = None) -> Ints:
        with self._lock:
            try:
                return self._maximise(weights, bounds)
            except SurepickError:
                raise
            except BaseException:  # Ctrl-C may leave HiGHS with some of the new bounds only
                self._highs = None
                raise

    def _maximise(self, weights: Floats, bounds: _Bounds | None) -> Ints:
        import highspy

        if bounds is not None:
            self._move(bounds)
        if self._highs is None:
            self._highs = self._build()
        highs = self._highs
        # HiGHS has absolute tolerances, so the largest weight becomes about 1000, by a power of two because that is exact.
        costs = np.ldexp(-weights, 10 - np.frexp(np.abs(weights).max())[1])
        highs.changeColsCost(len(costs), self.columns, costs)
        highs.clearSolver()  # no start from the last answer: ties must not depend on what was asked before
        if highs.run() == highspy.HighsStatus.kError:
            highs.setOptionValue("threads", 0)  # as many as other code in this process runs HiGHS with
            highs.run()
        status = highs.getModelStatus()
        if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
            raise InfeasibleError("No whole decision meets the constraints: loosen lower, upper or levels.", key="lower")
        if status != highspy.HighsModelStatus.kOptimal:
            raise SurepickError(f"HiGHS found no optimum: {highs.modelStatusToString(status)}.")
        return np.asarray(np.rint(highs.getSolution().col_value), dtype=np.int64)

    def _move(self, bounds: _Bounds) -> None:
        last, self.bounds = self.bounds, bounds
        if self._highs is None:
            return
        if (bounds.levels != last.levels).any():
            self._highs.changeColsBounds(len(self.columns), self.columns, np.zeros(len(self.columns)), bounds.levels)
        if (bounds.lower != last.lower).any() or (bounds.upper != last.upper).any():
            rows = np.arange(len(bounds.lower), dtype=np.int32)
            self._highs.changeRowsBounds(len(rows), rows, bounds.lower, bounds.upper)

    def _build(self) -> Any:
        import highspy

        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = self.A.shape
        lp.row_lower_, lp.row_upper_, lp.col_upper_ = self.bounds
        lp.col_lower_ = lp.col_cost_ = np.zeros(lp.num_col_)
        lp.integrality_ = [highspy.HighsVarType.kInteger] * lp.num_col_
        matrix = lp.a_matrix_
        matrix.num_row_, matrix.num_col_ = self.A.shape
        matrix.format_ = highspy.MatrixFormat.kRowwise
        matrix.start_, matrix.index_, matrix.value_ = self.A.indptr, self.A.indices, self.A.data
        highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in OPTIONS.items():
            highs.setOptionValue(name, value)
        if highs.passModel(lp) == highspy.HighsStatus.kError:
            raise ProblemError(
                "HiGHS refuses the constraints: A must stay below 1e15, lower below inf and upper above -inf.", key="A"
            )
        return highs


class Detour:
    """The best *other* decision over a box: decision + more - less, where an arm moves one way only and at least one moves."""

    program: Constraints
    switches: int

    def __init__(self, program: Constraints) -> None:
        from scipy.sparse import block_array, csr_array, eye_array

        levels = program.levels
        many = np.flatnonzero(levels > 1)  # an arm with one level can move one way only; others have a switch, on for more
        A, one = csr_array(program.A), eye_array(len(levels), format="csr")
        room = csr_array((levels[many].astype(np.float64), (np.arange(len(many)),) * 2), shape=(len(many), len(many)))
        move = csr_array(np.ones((1, len(levels))))
        rows = block_array([[A, -A, None], [one[many], None, -room], [None, one[many], room], [move, move, None]], format="csr")
        self.program, self.switches = program, len(many)
        # The switches' rows, more <= levels * on and less <= levels * (1 - on), and that something moves.
        self.low: Floats = np.append(np.full(2 * len(many), -np.inf), 1.0)
        self.high: Floats = np.concatenate((np.zeros(len(many)), levels[many], [np.inf]))
        self.model: _Model = _Model(rows, self._bounds(np.zeros(len(levels), dtype=np.int64)))

    def _bounds(self, y: Ints) -> _Bounds:
        program, base = self.program, self.program.A @ y
        lower, upper = np.append(program.lower - base, self.low), np.append(program.upper - base, self.high)
        return _Bounds(lower, upper, np.concatenate((program.levels - y, y, np.ones(self.switches))))

    def rival(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[Ints, float]:
        """That decision and its edge; this one itself if every other is worse all over the box."""
        y, m, levels = np.rint(decision).astype(np.int64), len(decision), self.program.levels
        # What a unit more and a unit less is worth.
        up, down = (upper, lower) if self.program.sign > 0 else (-lower, -upper)
        try:
            found = self.model.maximise(np.concatenate((up, -down, np.zeros(self.switches))), self._bounds(y))
        except InfeasibleError:  # there is no other decision
            return y, 0.0
        change = found[:m] - found[m : 2 * m]
        edge = float((np.where(change > 0, up, down) * change).sum())
        return (y + change, edge) if edge >= -_rounding(lower, upper, levels) else (y, 0.0)


def _row(i: int, row: list[float] | str, m: int, table: Columns | None) -> list[float]:
    """A constraint of a study: its numbers, or the column that it names."""
    if isinstance(row, str):
        if table is None:
            raise ProblemError(
                f"The column {row!r} needs a table; name a CSV file with it as arms, or give {m} numbers.", key=f"A[{i}]"
            )
        return table.numbers(row, f"which row {i} of A names")
    if len(row) != m:
        raise ProblemError(f"The row has {len(row)} numbers but there are {m} arms; give one number an arm.", key=f"A[{i}]")
    return row


def _ends(end: str, given: Any, rows: int) -> list[float]:
    bounds = [float(x) for x in given] if isinstance(given, list) else [float(given)] * rows
    if len(bounds) != rows:
        raise ProblemError(f"A has {rows} rows but there are {len(bounds)} bounds; give one a row, or one for all.", key=end)
    return bounds


def _not_nan(x: float) -> float:
    if x != x:
        raise ValueError("NaN is no bound")
    return x


def _rounding(lower: Floats, upper: Floats, levels: Ints) -> float:
    """Rewards on the box that are this close count as equal."""
    return 1e-9 * (1.0 + float((np.maximum(np.abs(lower), np.abs(upper)) * levels).sum()))
