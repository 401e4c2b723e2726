"""Any explicit list of decisions with a linear reward."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arms import WIDEST, Bools, Floats, Ints, Names, Sense, make_arms
from ..checks import LARGEST, numbers, short
from ..engine.data import Listed
from ..errors import InfeasibleError, ProblemError
from ..estimators import Estimator, make_estimator
from .base import Problem, check_sense, refuse_apart
from .explicit import leading, undecided_binary, undecided_real, width_of
from .half_spaces import HalfSpaces
from .keys import PARAMETER, SENSE, Key, Keys, Numbers
from .oracle import SUMMED

SHORT = 80  # decisions up to which the width is found by enumeration


class Subsets(Problem):
    """The best of an explicit list of decisions, each a vector of real numbers, with reward theta . y.

    Parameters
    ----------
    arms : int, names or Arm objects
    decisions : array, one row a decision
        Often 0/1 rows (subsets of the arms), but any real numbers will do.
    sense : {"max", "min"}
    parameter : {"mean", "variance"} or Estimator

    Notes
    -----
    Ties go to the decision that is listed first. Not bi-monotone in general. For 0/1 rows y is possible iff it leads at
    the corner that suits it best, (U on y, L off y); for real rows a linear program decides.

    Examples
    --------
    >>> Subsets(3, [[1, 1, 0], [0, 0, 1]]).solve([0.3, 0.4, 0.6])
    array([1, 1, 0])
    """

    kind = "subsets"
    bimonotone = False

    def __init__(
        self,
        arms: int | Names,
        decisions: ArrayLike,
        *,
        sense: Sense = "max",
        parameter: str | Estimator = "mean",
    ) -> None:
        super().__init__(make_arms(arms), make_estimator(parameter))
        refuse_apart(self, SUMMED)
        self.sense: Sense = check_sense(sense)
        self.sign: float = 1.0 if sense == "max" else -1.0
        D = numbers(decisions)
        if D is None:
            raise ProblemError(f"decisions must be rows of {self.m} numbers each, not {short(decisions)}.", key="decisions")
        if D.size == 0:
            raise InfeasibleError("The list of decisions is empty; give at least one.", key="decisions")
        if D.ndim != 2 or D.shape[1] != self.m:
            raise ProblemError(
                f"decisions has shape {D.shape}, but there are {self.m} arms: give rows of {self.m} numbers.", key="decisions"
            )
        if not (np.abs(D) <= WIDEST).all():
            row = int(np.argwhere(~(np.abs(D) <= WIDEST))[0, 0])
            raise ProblemError(
                f"Decision {row} has an entry that is not a finite number of at most {WIDEST:g}.", key=f"decisions[{row}]"
            )
        first: dict[bytes, int] = {}
        for row, y in enumerate(D + 0.0):  # + 0.0 makes -0.0 and 0.0 the same
            if y.tobytes() in first:
                raise ProblemError(
                    f"Decisions {first[y.tobytes()]} and {row} are the same; list each once.", key=f"decisions[{row}]"
                )
            first[y.tobytes()] = row
        self.linear: bool = bool(np.isin(D, (0.0, 1.0)).all())
        self.decisions: Ints | Floats = D.astype(np.int64) if ((D == np.round(D)) & (np.abs(D) <= LARGEST)).all() else D
        self.listed: Floats | Ints = self.decisions
        self._D: Floats = self.sign * D
        self._zero = np.zeros(len(D))

    def admits(self, decision: Floats) -> bool:
        return bool((self.decisions == decision).all(axis=1).any())

    @classmethod
    def study_keys(cls) -> Keys:
        decisions = Key(list[Numbers], "a list of rows of finite numbers, one number an arm")
        return {"decisions": decisions, "sense": SENSE, "parameter": PARAMETER}

    def keys(self) -> dict[str, Any]:
        return {"decisions": self.decisions.tolist(), "sense": self.sense}

    def lower(self) -> Listed:
        return Listed(self.decisions.astype(np.float64))

    def half_spaces(self, theta: Floats) -> HalfSpaces | None:
        return HalfSpaces.of_decisions(self.decisions, self.solve_at(theta), self.sign, theta)

    def width(self) -> int | None:
        if not self.linear or len(self.decisions) > SHORT:
            return None
        return width_of([frozenset(row.nonzero()[0].tolist()) for row in self.decisions])

    def solve_at(self, theta: Floats) -> np.ndarray[Any, Any]:
        row: np.ndarray[Any, Any] = self.decisions[leading(self._D, self._zero, theta)]
        return row.copy()

    def reward_at(self, theta: Floats, decision: Floats) -> float:
        return self.sign * float(theta @ decision)

    def reward_range_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[float, float]:
        w = decision if self.sense == "max" else -decision
        return float(np.where(w > 0, lower, upper) @ w), float(np.where(w > 0, upper, lower) @ w)

    def undecided_on(self, lower: Floats, upper: Floats) -> Bools:
        if not self.linear:
            return undecided_real(self._D, self._zero, lower, upper)
        if self.sense == "max":
            return undecided_binary(self._D, lower, upper)
        return undecided_binary(-self._D, -upper, -lower)

    def rival_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[np.ndarray[Any, Any], float]:
        difference = self._D - (decision if self.sense == "max" else -decision)
        edges = np.maximum(difference, 0) @ upper + np.minimum(difference, 0) @ lower
        row = int(np.argmax(edges))
        return self.decisions[row].copy(), float(edges[row])
