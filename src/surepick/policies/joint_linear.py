"""Joint stopping for any 0/1 class with a linear reward: is every other decision certainly worse?"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..arms import Bools, Floats, Ints
from ..checks import MANY, whole
from ..confidence.base import Confidence
from ..confidence.mixture import TUNED, width
from ..engine import compiled
from ..engine.data import JointTest
from ..engine.enums import SAME_SLOPE, TRIES
from ..estimators import Mean, Moments
from ..problems.base import Problem
from .base import Policy, View, spread


class JointLinear(Policy):
    """Stops when all arms in which another decision differs, together, show that it is worse.

    For a decision y let c = y - y^ have support S, A = <-c, means> and Q = sum over S of c_i^2 R_i^2 (N_i + rho) / N_i^2. The
    product over S of the arms' normal mixtures (see ``confidence="normal"``) is a supermartingale, so with probability at least
    1 - delta, at all times and for all y,

        <c, theta> <= -A + sqrt(2 B Q),   B = ln(1 / delta) + a + sum over S of (b + ln(1 + N_i / rho) / 2),

    where a and b pay for the union: the alternatives to the true optimum satisfy sum over them of exp(-a - b |S|) <= 1. It stops
    when A > sqrt(2 B Q) for every y. With intervals of their own, the errors of the |S| arms would add up; here their squares do.

    An explicit list of K decisions is looked through, with b = 0 and a = ln(K - 1). Other classes have only a maximiser: since
    sqrt(2 B Q) <= l B + Q / (2 l) for every slope l > 0, and that is linear in y, the best y with y_i other than y^_i is found by
    one call of it, for every arm i and a few slopes. This is conservative, so still a guarantee.

    It samples among the arms of the decision that blocks the certificate the one that is least known. A tenth of delta goes to
    the box, which is reported, and from which the undecided arms are.

    Parameters
    ----------
    tuned : int
        The observations of an arm for which rho is tuned, as for the sequence ``normal``.
    box_share : float
        The part of delta that the reported box gets, from 0.001 to 0.999; the test has the rest.
    """

    name = "joint-linear"
    own: ClassVar[str | Confidence] = "auto"
    rule = "joint"
    independent = True

    a: float
    b: float
    parts: int
    whole: bool

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        if type(problem.parameter) is not Mean:
            return "the mean as its parameter"
        if problem.finite:
            return "arms without a population"
        if problem.unscaled:
            return "arms with bounds or a scale"
        if problem.listed is not None:
            return None
        if not problem.linear:
            return "0/1 decisions with a linear reward"
        return None if problem.any_weights else "a maximiser that takes weights of either sign"

    def __init__(self, *, tuned: int = TUNED, box_share: float = 0.1) -> None:
        self.tuned: int = whole(tuned, "tuned", 1, MANY)
        self._share_out(box_share)

    def bind(self, problem: Problem) -> None:
        super().bind(problem)
        self.listed: Floats | None = None if problem.listed is None else problem.listed.astype(np.float64)
        self.sign: float = problem.sign
        self.half: Floats = problem.scales / 2.0  # R
        if self.listed is None:
            self.a, self.b, self.parts, self.whole = union(problem)
        else:
            self.a, self.b, self.parts, self.whole = math.log(max(len(self.listed) - 1, 1)), 0.0, 1, False

    def decision(self, view: View) -> np.ndarray[Any, Any]:
        return self._state(view).decision

    def certified(self, view: View) -> bool:
        return self._state(view).rival is None

    def candidates(self, view: View) -> Bools:
        state = self._state(view)
        return np.ones(self.problem.m, dtype=np.bool_) if state.rival is None else np.asarray(state.rival != state.decision)

    def choose(self, view: View, planned: Ints, n: int) -> list[int]:
        candidates, counts = self.able(view, self.candidates(view)), planned.copy()
        chosen: list[int] = []
        for _ in range(n):
            arm = int(compiled("exchanges").behind(counts, self.problem.dearness))
            if arm < 0 or (view.open is not None and not view.open[arm]):
                arm = spread(candidates, counts, self.problem.priority, 1)[0]
            chosen.append(arm)
            counts[arm] += 1
        return chosen

    def rival(self, view: View) -> np.ndarray[Any, Any]:
        """A decision that is not yet certainly worse."""
        state = self._state(view)
        return state.decision if state.rival is None else state.rival

    def gap(self, view: View, decision: np.ndarray[Any, Any]) -> float:
        """From the box, or from the joint bound on what another decision could gain, if that is less."""
        gap = view.gap(decision)
        state = self._state(view)
        if (decision != state.decision).any():
            return gap
        if state.rival is None:
            return 0.0
        gain = -compiled("linear").closest(self.listed, state.test)[1] if self.listed is not None else self._gain(state.test)
        return min(gap, view.share(decision, max(0.0, gain)))

    def _gain(self, test: JointTest) -> float:
        """The linear bound holds for every slope; the best one suits the decision that it finds.

        A decision that differs by several alternatives pays for each of them.
        """
        room, weights = compiled("linear"), np.empty(self.problem.m)
        slope, found = room.first_slope(test), math.inf
        for _ in range(TRIES):
            room.bend(slope, test, weights)
            other = self._best(weights)
            found = min(found, room.excess(other, slope, test) + slope * float(test.base[0]) * self.parts)
            if room.differ(other, test) == 0:
                break
            slope = room.slope_of(other, test)
        return found

    # -- inside -------------------------------------------------------------------------------------------------------

    def level(self, delta: float) -> float:
        """ln(1 / delta) + a, for the part of delta that is not the box's."""
        return self.a - math.log(delta * (1.0 - self.box_share))

    def rho(self, delta: float) -> float:
        """The width of the mixtures, for the delta of before the data."""
        return width(-math.log(delta * (1.0 - self.box_share)), self.tuned)

    def _state(self, view: View) -> _State:
        found = view.__dict__.get("joint_linear")
        if found is None:
            found = view.__dict__["joint_linear"] = self._look(view)
        return found

    def _look(self, view: View) -> _State:
        problem = self.problem
        means = np.clip(view.estimates, problem.low, problem.high)
        decision = problem.solve_at(means)
        spread, regret = np.empty(problem.m), np.empty(problem.m)
        total = compiled("linear").weigh(view.counts, self.half, self.rho(view.fixed), spread, regret)
        price = np.zeros(problem.m) if self.whole else self.b + regret
        base = np.array([self.level(view.delta) + (total if self.whole else 0.0)])
        assert isinstance(view.record, Moments)
        held = decision if self.listed is None else decision.astype(np.float64)
        test = JointTest(held, self.sign * means, spread, price, view.record.rounding, base)
        return _State(decision, self._search(test) if self.listed is None else self._among(test), test)

    def _among(self, test: JointTest) -> np.ndarray[Any, Any] | None:
        """The listed decision that blocks most."""
        assert self.problem.listed is not None
        row, margin = compiled("linear").closest(self.listed, test)
        found: np.ndarray[Any, Any] = self.problem.listed[row].copy()
        return None if margin > 0.0 else found

    def _search(self, test: JointTest) -> np.ndarray[Any, Any] | None:
        room, weights = compiled("linear"), np.empty(self.problem.m)
        slope = room.first_slope(test)
        room.bend(slope, test, weights)
        best = self._best(weights)
        if room.differ(best, test) > 0 and room.lead(best, test) >= 0.0:
            return best  # an oracle call is enough to see that something blocks
        for i in range(self.problem.m):
            other = self._arm(test, i, slope)
            if other is not None:
                return other
        return None

    def _arm(self, test: JointTest, i: int, slope: float) -> np.ndarray[Any, Any] | None:
        """A decision with another entry for arm i that may be better; None if there is none."""
        room, weights = compiled("linear"), np.empty(self.problem.m)
        for _ in range(TRIES):
            room.bend_with(i, slope, test, weights)
            other = self._best(weights)
            if other[i] == test.decision[i] or room.certain(other, slope, test):  # there is none, or all are worse
                return None
            if room.lead(other, test) >= 0.0:
                return other
            new = room.slope_of(other, test)
            if abs(new - slope) <= SAME_SLOPE * slope:
                break
            slope = new
        return other

    def _best(self, weights: Floats) -> np.ndarray[Any, Any]:
        return self.problem.solve_at(self.sign * weights)


class _State(NamedTuple):
    decision: np.ndarray[Any, Any]
    rival: np.ndarray[Any, Any] | None
    test: JointTest


def union(problem: Problem) -> tuple[float, float, int, bool]:
    """a, b and k of the union over alternatives, or the product over all arms, which needs none (True): what is cheaper.

    Chosen before any data: at the count that mixtures are tuned for, an arm costs about 1.
    """
    a, b, parts = problem.alternatives()
    size = 2.0 * float(problem.solve_at(np.full(problem.m, problem.sign)).sum())
    if a + (b + 1.0) * min(size, problem.m) >= problem.m:
        return 0.0, 0.0, 1, True
    return a, b, parts, False
