"""0/1 classes for which only a maximiser is at hand, because the exact test of undecided arms is hard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arms import Arm, Bools, Floats, Ints, Sense
from ..estimators import Estimator
from .base import LinearProblem, refuse_apart

SUMMED = 1e9  # how much larger than the range of another arm an arm may be: sums of many arms are rounded at the size of all
FORCED = 400  # arms up to which the report of undecided arms may cost two oracle calls an arm


class OracleProblem(LinearProblem):
    """Linear 0/1 decisions, not bi-monotone: matchings, paths, integer programs.

    Whether phi is constant on a box is one oracle call, at the corner that is worst for the decision (``rival``). *Which*
    arms may change is hard to say exactly (for paths it is NP-hard), so ``undecided`` marks none when phi is constant, and
    otherwise every arm that a cheap necessary condition leaves open: arm i can be in only if the best decision with it, at
    U, reaches the best one without it, at L; and likewise out. A smaller box never opens an arm again.
    """

    bimonotone = False
    exact = False
    undecided_cheap = False

    @property
    def splits(self) -> bool:
        """``maximise_within`` works, so that the decisions can be searched part by part (``hardness`` does)."""
        return self.any_weights

    def __init__(self, arms: Sequence[Arm], parameter: Estimator, sense: Sense = "max") -> None:
        super().__init__(arms, parameter, sense)
        refuse_apart(self, SUMMED)

    def open_on(self, lower: Floats, upper: Floats) -> Bools:
        decision = self.maximise((lower + upper) / 2)
        corner = np.where(decision > 0, lower, upper)
        if (self.maximise(corner) == decision).all():
            return np.zeros(self.m, dtype=np.bool_)
        at_lower, at_upper = self.maximise(lower), self.maximise(upper)
        near = 1e-9 * (1.0 + float(np.abs(np.concatenate((lower, upper))).sum()))
        top = float(lower @ at_lower)
        least_out = np.where(at_lower > 0, self._without(lower, at_lower), top)
        can_in = (at_upper > 0) | (self._with(upper, at_upper) >= least_out - near)
        can_out = (at_lower == 0) | (self._without(upper, at_upper) >= top - near)
        return np.asarray(can_in & can_out)

    def maximise_within(self, weights: Floats, taken: list[int], left: list[int]) -> np.ndarray[Any, Any] | None:
        """The best of the decisions with some arms and without some others; None if there is none.

        ``taken`` and ``left`` hold what earlier decisions of the search have in ``branches``, in that order.
        """
        force = 1.0 + 2.0 * float(np.abs(weights).sum())
        bent = weights.copy()
        bent[taken], bent[left] = force, -force
        decision = self.maximise(bent)
        return None if decision[left].any() or not decision[taken].all() else decision

    def branches(self, decision: np.ndarray[Any, Any]) -> list[int]:
        """Arms of which every other decision differs from this one in at least one."""
        return list(range(self.m))

    def _with(self, weights: Floats, best: np.ndarray[Any, Any]) -> Floats:
        """At least the best value with each arm in; of use for arms that are not in the best decision."""
        return self._flip(weights, best, np.flatnonzero(best == 0))

    def _without(self, weights: Floats, best: np.ndarray[Any, Any]) -> Floats:
        """The best value with each arm out; for arms that are not in the best decision that is the optimum."""
        return self._flip(weights, best, np.flatnonzero(best))

    def _flip(self, weights: Floats, best: np.ndarray[Any, Any], arms: Ints) -> Floats:
        """The best values with each of some arms the other way round (-inf if impossible), one oracle call an arm."""
        values = np.full(self.m, float(weights @ best))
        if self.m > FORCED and len(arms) > FORCED:
            return values  # leaves every arm open
        force = 1.0 + 2.0 * float(np.abs(weights).sum())
        for i in arms:
            bent = weights.copy()
            bent[i] = -force if best[i] else force
            other = self.maximise(bent)
            values[i] = float(weights @ other) if other[i] != best[i] else -np.inf
        return values
