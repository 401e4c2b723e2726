"""The k best arms of every group (multi-bandit identification; a partition matroid)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..arms import Bools, Floats, Names, make_arms
from ..checks import entries, label, short, whole
from ..engine import kernels
from ..errors import InfeasibleError, ProblemError
from ..estimators import Estimator, make_estimator
from .base import Kernel, LinearProblem


class BestOfEach(LinearProblem):
    """The ``k`` best arms of every group.

    Parameters
    ----------
    arms : int, names or Arm objects
    groups : sequence
        A label for every arm.
    k : int
        How many arms to pick in each group.
    parameter : {"mean", "variance"} or Estimator

    Notes
    -----
    A partition matroid, hence bi-monotone. Arm i *can be in* iff fewer than k others of its group have a lower bound
    above its upper bound; it *can be out* iff at least k others have an upper bound above its lower bound. Ties go to
    the lower index. One selection a group answers both for all arms.

    Examples
    --------
    >>> BestOfEach(["a", "b", "c", "d"], groups=["x", "x", "y", "y"]).solve([0.2, 0.5, 0.9, 0.4])
    array([0, 1, 1, 0])
    """

    kind = "best-of-each"
    exchangeable = True

    def __init__(
        self,
        arms: int | Names,
        groups: Sequence[Hashable],
        k: int = 1,
        *,
        parameter: str | Estimator = "mean",
    ) -> None:
        super().__init__(make_arms(arms), make_estimator(parameter))
        given = entries(groups)
        if given is None:
            raise ProblemError(f"groups must be a list with a text or a number for every arm, not {short(groups)}.")
        if len(given) != self.m:
            raise ProblemError(f"There are {self.m} arms but {len(given)} group labels: give a label for every arm.")
        for i, one in enumerate(given):
            if not label(one):
                raise ProblemError(
                    f"groups must be a list with a text or a number for every arm; that of arm {self.names[i]!r} is {short(one)} "
                    "(a list has no place among labels, and NaN equals nothing)."
                )
        labels = {one: g for g, one in enumerate(dict.fromkeys(given))}
        self._partition([labels[one] for one in given], k, list(labels))

    def _partition(self, group: Sequence[int], k: int, labels: Sequence[object]) -> None:
        self.k = whole(k, "k", 1, error=ProblemError)
        self.group = np.asarray(group, dtype=np.int64)
        sizes = np.bincount(self.group)
        if self.k > sizes.min():
            g = int(np.flatnonzero(sizes < self.k)[0])
            where = f"Group {labels[g]!r} has" if len(labels) > 1 else "There are"
            raise InfeasibleError(
                f"{where} {sizes[g]} arms, so {short(self.k)} of them cannot be picked: choose k of at most {sizes.min()}."
            )
        # Arms of one group stand together, in the order of their index.
        self._members = np.argsort(self.group, kind="stable").astype(np.int64)
        self._starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)

    def _contains(self, decision: Floats) -> bool:
        picked = np.bincount(self.group, weights=decision)
        return bool(np.isin(decision, (0.0, 1.0)).all() and (picked == self.k).all())

    def _best(self, weights: Floats) -> np.ndarray[Any, Any]:
        order = self._members[np.lexsort((self._members, -weights[self._members], self.group[self._members]))]
        rank = np.arange(self.m) - np.repeat(self._starts[:-1], np.diff(self._starts))
        decision = np.zeros(self.m, dtype=np.int64)
        decision[order[rank < self.k]] = 1
        return decision

    def _open(self, lower: Floats, upper: Floats) -> Bools:
        out = np.empty(self.m, dtype=np.bool_)
        kernels("matroids").partition_undecided(lower, upper, self._members, self._starts, self.k, out)
        return out

    def keys(self) -> dict[str, Any]:
        return {"groups": self.group.tolist(), "k": self.k}

    def kernel(self) -> Kernel:
        return Kernel(0, np.concatenate(([self.k, len(self._starts)], self._starts, self._members)), np.empty(0))
