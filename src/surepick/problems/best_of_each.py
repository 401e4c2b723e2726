"""The k best arms of every group (multi-bandit identification; a partition matroid)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arms import Bools, Floats, Ints, Names, Sense, make_arms
from ..checks import entries, label, short, whole
from ..engine import compiled
from ..engine.data import Exchanges, Partition
from ..errors import InfeasibleError, ProblemError
from ..estimators import Estimator, make_estimator
from .base import LinearProblem, exchange_list
from .keys import PARAMETER, SENSE, K, Key, Keys, Label


class BestOfEach(LinearProblem):
    """The ``k`` best arms of every group: those with the largest parameters, or with the smallest ones.

    Parameters
    ----------
    arms : int, names or Arm objects
    groups : sequence
        A label for every arm.
    k : int
        How many arms to pick in each group.
    sense : {"max", "min"}
        "min" for the smallest parameters: the least time, cost or error.
    parameter : {"mean", "variance"} or Estimator

    Notes
    -----
    A partition matroid, hence bi-monotone. Arm i *can be in* iff fewer than k others of its group have a lower bound
    above its upper bound; it *can be out* iff at least k others have an upper bound above its lower bound. Ties go to
    the lower index, in both senses. One selection a group answers both for all arms. The smallest parameters are found by the
    mirror image of the box.

    Examples
    --------
    >>> BestOfEach(["a", "b", "c", "d"], groups=["x", "x", "y", "y"]).solve([0.2, 0.5, 0.9, 0.4])
    array([0, 1, 1, 0])
    """

    kind = "best-of-each"
    ranked = True
    exchangeable = True

    def __init__(
        self,
        arms: int | Names,
        groups: Sequence[Hashable],
        k: int = 1,
        *,
        sense: Sense = "max",
        parameter: str | Estimator = "mean",
    ) -> None:
        super().__init__(make_arms(arms), make_estimator(parameter), sense)
        given = entries(groups)
        if given is None:
            raise ProblemError(f"groups must be a list with a text or a number for every arm, not {short(groups)}.", key="groups")
        if len(given) != self.m:
            raise ProblemError(
                f"There are {self.m} arms but {len(given)} group labels: give a label for every arm.", key="groups"
            )
        for i, one in enumerate(given):
            if not label(one):
                raise ProblemError(
                    f"groups must be a list with a text or a number for every arm; that of arm {self.names[i]!r} is {short(one)} "
                    "(a list has no place among labels, and NaN equals nothing).",
                    key="groups",
                )
        labels = {one: g for g, one in enumerate(dict.fromkeys(given))}
        self._partition([labels[one] for one in given], k, list(labels))

    def _partition(self, group: Sequence[int], k: int, labels: Sequence[object]) -> None:
        self.k: int = whole(k, "k", 1, error=ProblemError)
        self.group: Ints = np.asarray(group, dtype=np.int64)
        sizes = np.bincount(self.group)
        if self.k > sizes.min():
            g = int(np.flatnonzero(sizes < self.k)[0])
            where = f"Group {labels[g]!r} has" if len(labels) > 1 else "There are"
            raise InfeasibleError(
                f"{where} {sizes[g]} arms, so {short(self.k)} of them cannot be picked: choose k of at most {sizes.min()}.",
                key="k",
            )
        # Arms of one group stand together, in the order of their index.
        self._members = np.argsort(self.group, kind="stable").astype(np.int64)
        self._starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)

    @property
    def yardstick(self) -> str:
        ending = "th" if self.k % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(self.k % 10, "th")
        return ("the best" if self.k == 1 else f"the {self.k}{ending} best") + (" of its group" if len(self._starts) > 2 else "")

    def admits(self, decision: Floats) -> bool:
        picked = np.bincount(self.group, weights=decision)
        return bool(np.isin(decision, (0.0, 1.0)).all() and (picked == self.k).all())

    def shortfall_on(self, lower: Floats, upper: Floats, decision: Floats) -> tuple[np.ndarray[Any, Any], float]:
        """The largest B_h over the arms h of the decision, B_h = (the k-th largest U of the others of its group) - L_h.

        Arm h falls short by theta_(k) - theta_h, theta_(k) being the k-th best parameter of its group. If that is positive, h
        is not among the k best, so theta_(k) is the k-th best of the others, and at most the k-th largest of their upper
        bounds. It is attained where h is at its lower bound and the others are at their upper ones. Minimising, all is
        mirrored.

        A bound exchange by exchange, for evidence that is not a box: if h falls short, then one of the k best is outside the
        decision, which has k places. So there is an l outside it with theta_l >= theta_(k), and h falls short by at most the most
        that one of these can be above h.
        """
        low, high = (lower, upper) if self.sign > 0 else (-upper, -lower)
        gap, worst, other = compiled("partitions").shortfall(self.lower(), low, high, decision)
        rival = decision.astype(np.int64)
        if worst >= 0:
            rival[worst], rival[other] = 0, 1
        return rival, float(gap)

    def maximise(self, weights: Floats) -> np.ndarray[Any, Any]:
        if len(self._starts) == 2:  # one group needs no order
            edge = np.partition(weights, self.m - self.k)[self.m - self.k]
            decision: np.ndarray[Any, Any] = (weights > edge).astype(np.int64)
            decision[np.flatnonzero(weights == edge)[: self.k - int(decision.sum())]] = 1
            return decision
        order = self._members[np.lexsort((self._members, -weights[self._members], self.group[self._members]))]
        rank = np.arange(self.m) - np.repeat(self._starts[:-1], np.diff(self._starts))
        decision = np.zeros(self.m, dtype=np.int64)
        decision[order[rank < self.k]] = 1
        return decision

    def open_on(self, lower: Floats, upper: Floats) -> Bools:
        out = np.empty(self.m, dtype=np.bool_)
        compiled("partitions").undecided(self.lower(), lower, upper, out)
        return out

    @classmethod
    def study_keys(cls) -> Keys:
        groups = Key(list[Label], "a list of labels, one an arm", column="group")
        return {"groups": groups, "k": replace(K, default=1), "sense": SENSE, "parameter": PARAMETER}

    def keys(self) -> dict[str, Any]:
        return {"groups": self.group.tolist(), "k": self.k, "sense": self.sense}

    def lower(self) -> Partition:
        return Partition(self.k, self._starts, self._members, self.sign)

    def width(self) -> int:
        return 2

    @property
    def most_exchanges(self) -> int:
        return int((self.k * (np.diff(self._starts) - self.k)).sum())

    def exchanges(self, decision: np.ndarray[Any, Any]) -> Exchanges:
        return exchange_list(
            self.most_exchanges, lambda high, low: compiled("partitions").exchanges(self.lower(), decision, high, low)
        )
