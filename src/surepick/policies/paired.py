"""Exchanges of arms that may depend on each other, by intervals and by differences within rows."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..arms import Bools, Floats, Ints
from ..checks import vouched
from ..confidence.base import Confidence
from ..confidence.differences import Differences
from ..estimators import Mean, Moments
from ..problems.base import LinearProblem, Problem
from .base import Policy, View
from .joint import LISTED


class Paired(Policy):
    """Stops when every single exchange is certain by what holds under any dependence between arms.

    As for :class:`~surepick.policies.joint.Joint`, a basis of a matroid is optimal iff no single exchange improves it, and a
    wrong one has an exchange (h, l) that is false at the truth, h outside and l inside the true optimum. Here the evidence of two
    arms is not multiplied, which needs independence. An exchange is certain if

    * the interval of h lies above that of l: the box, which a union over arms makes right for any dependence, has half of delta;
    * or the capital of bets on their differences within rows (:class:`~surepick.confidence.differences.Differences`) is at least
      P / (delta / 2), P the number of exchanges.

    Differences within rows vary little when arms rise and fall together, so that complete rows need far fewer samples than
    intervals do. It samples the arms of exchanges that are not certain, the least known first.

    Parameters
    ----------
    box_share : float
        The part of delta that the box gets, from 0.001 to 0.999; the bets have the rest.
    """

    name = "paired"
    own: ClassVar[str | Confidence] = "auto"
    rule = "exchanges"

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        if type(problem.parameter) is not Mean:
            return "the mean as its parameter"
        if problem.finite:
            return "arms without a population"
        if not (isinstance(problem, LinearProblem) and problem.exchangeable and vouched(problem, "exchanges")):
            return "a class in which single exchanges tell whether a decision is optimal"
        if not np.isfinite(problem.high - problem.low).all():
            return "bounded arms"
        return None if problem.most_exchanges <= LISTED else f"at most {LISTED:,} exchanges"

    def __init__(self, *, box_share: float = 0.5) -> None:
        self._share_out(box_share)

    def bind(self, problem: Problem) -> None:
        super().bind(problem)
        self.pairs: int = problem.most_exchanges

    def rows(self, record: Moments) -> Differences:
        """Where differences are kept: with the other observations."""
        if record.rows is None:
            record.rows = Differences(self.problem.low, self.problem.high)
        assert isinstance(record.rows, Differences)
        return record.rows

    def certified(self, view: View) -> bool:
        return not bool((self._gains(view)[2] > 0).any())

    def undecided(self, view: View) -> Bools:
        high, low, gains = self._gains(view)
        found = np.zeros(self.problem.m, dtype=np.bool_)
        found[high[gains > 0]] = found[low[gains > 0]] = True
        return found

    def candidates(self, view: View) -> Bools:
        return self.undecided(view)

    def rival(self, view: View) -> np.ndarray[Any, Any]:
        """The decision after the exchange that could gain most."""
        high, low, gains = self._gains(view)
        other = view.decision.copy()
        if (gains > 0).any():
            e = int(gains.argmax())
            outside = view.decision[high[e]] == 0  # minimising, the arm that is to be larger is the one left out
            other[high[e]], other[low[e]] = (1, 0) if outside else (0, 1)
        return other

    def gap(self, view: View, decision: np.ndarray[Any, Any]) -> float:
        """From the box, or from what the exchanges could gain, if that is less; see ``Joint.gap``."""
        gap = view.gap(decision)
        if (decision != view.decision).any():
            return gap
        high, low, gains = self._gains(view)
        sums = []
        for arms in (high, low):
            most = np.zeros(self.problem.m)
            np.maximum.at(most, arms, gains)
            sums.append(float(most.sum()))
        return min(gap, view.share(decision, min(sums)))

    def _gains(self, view: View) -> tuple[Ints, Ints, Floats]:
        """Every exchange, an arm that is to be larger and one that is to be smaller, and how much it could gain at most.

        0 for an exchange that is certain; one that could only tie has a little more than 0.
        """
        found = view.__dict__.get("paired")
        if found is None:
            found = view.__dict__["paired"] = self._look(view)
        return found

    def _look(self, view: View) -> tuple[Ints, Ints, Floats]:
        high, low, *_ = self.problem.exchanges(view.decision)
        lower, upper = view.box
        gains: Floats = np.maximum(upper[low] - lower[high], 0.0)
        tied = upper[low] == lower[high]
        gains[tied] = np.finfo(float).tiny  # an interval that only touches leaves a tie
        record = view.record
        if isinstance(record, Moments) and isinstance(record.rows, Differences) and len(high):
            threshold = math.log(self.pairs) - math.log(view.delta * (1.0 - self.box_share))
            gains[record.rows.evidence(high, low) >= threshold] = 0.0
        return high, low, gains
