"""The best window: k neighbouring arms in a row. Which four weeks are the best for the trip?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surepick.arms import make_arms
from surepick.engine import loops
from surepick.errors import ProblemError
from surepick.estimators import make_estimator
from surepick.problems import register
from surepick.problems.keys import PARAMETER, SENSE, K, Keys
from surepick.problems.oracle import OracleProblem


class Row(NamedTuple):
    """What compiled code sees of the class; ``sign`` is -1 if the smallest sum is looked for."""

    k: int
    sign: float


@register
class Window(OracleProblem):
    """The k neighbouring arms with the largest sum, or with the smallest one."""

    kind = "window"
    noun = "week"

    def __init__(self, arms: Any, k: int, *, sense: str = "max", parameter: Any = "mean") -> None:
        super().__init__(make_arms(arms, self.noun), make_estimator(parameter), sense)
        if not 1 <= k <= self.m:
            raise ProblemError(f"A window of {k} does not fit into {self.m} arms: choose k from 1 to {self.m}.", key="k")
        self.k = k

    def maximise(self, weights: np.ndarray) -> np.ndarray:
        from window_kernel import best  # imports numba, so not before it is needed

        decision = np.empty(self.m, dtype=np.int64)
        best(self.lower(), weights, decision)
        return decision

    def admits(self, decision: np.ndarray) -> bool:
        taken = np.flatnonzero(decision)
        return len(taken) == self.k == taken[-1] - taken[0] + 1 and bool((decision[taken] == 1).all())

    def lower(self) -> Row:
        return Row(self.k, self.sign)

    def keys(self) -> dict[str, Any]:
        return {"k": self.k, "sense": self.sense}

    @classmethod
    def study_keys(cls) -> Keys:
        return {"k": K, "sense": SENSE, "parameter": PARAMETER}


loops.register("window_loop")
loops.register("window_joint")
