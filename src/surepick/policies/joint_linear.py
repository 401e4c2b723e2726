"""Joint stopping for any 0/1 class with a linear reward: is every other decision certainly worse?"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..arms import Bools, Floats, Ints
from ..confidence.auto import Auto
from ..confidence.base import Confidence
from ..confidence.mixture import Mixture
from ..engine import compiled
from ..engine.data import JointTest, Stakes
from ..engine.enums import FEWEST_MOVED, TRIES, Family
from ..estimators import Mean, Moments
from ..problems.base import Problem
from .base import TINY, Policy, View, spread

MORE, CHOICE = 1.2, 2.3  # evidence that exact proofs take more than their guide: as a factor, and for the choice of stakes


class JointLinear(Policy):
    """Stops when all arms in which another decision differs, together, show that it is worse.

    For a decision y let c = y - y^ have support S, and A = <-c, means>, of the values that are weighed: bets hold the first one
    of an arm back. Let K_i,k(u) be the capital of stakes about S_k that these values of arm i are on their side of u (see
    engine/kernels/stakes.py). The product over S of K_i,k, averaged over k with weights w_k that are fixed in advance, is a
    supermartingale from 1: with probability at least 1 - delta the truth is, at all times and for all y, among the theta with

        max over k of (ln w_k + sum over S of ln K_i,k(theta_i)) <= ln(1 / delta) + a + b |S|,

    where a and b pay for the union: the alternatives to the true optimum satisfy sum over them of exp(-a - b |S|) <= 1. It stops
    when no y is better at any such theta. By Lagrange's duality y is excluded if for one slope mu > 0 and one k

        A > (ln(1 / delta) + a - ln w_k + sum over S of (b - e_i,k(mu |c_i|))) / mu,

    e_i,k(mu) being at most the least over u of ln K_i,k(u) + mu |mean - u|. With intervals of their own, the errors of the |S|
    arms would add up; here their squares do. And all arms pay once for not knowing which stakes suit them, because for the y that
    blocks, all have about one slope: so small variances and rare events count also where decisions differ in many arms.

    The evidence is that of the confidence sequence (of ``auto`` if it has no martingales): stakes on 0/1 values, or on the chord
    of others, for ``beta``; on the values themselves, by three moments, for ``betting``; sub-Gaussian ones for ``normal``; the
    likelihood of normal values for ``student``, a mixture by itself.

    An explicit list of K decisions is looked through, with b = 0 and a = ln(K - 1). Other classes have only a maximiser: for a
    slope and a k the right side is linear in y, so the best y with y_i other than y^_i is found by one call of it, for every arm
    i and a few slopes. This is conservative, so still a guarantee.

    It samples among the arms of the decision that blocks the certificate the one that is least known. Which one blocks is told by
    a guide, as if arms were normal with the variance that is seen; the evidence is worked out when the guide sees no such
    decision. A tenth of delta goes to the box, which is reported, and from which the undecided arms are.

    Parameters
    ----------
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

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        if type(problem.parameter) is not Mean:
            return "the mean as its parameter"
        if problem.finite:
            return "arms without a population"
        if len({arm.kind == "normal" for arm in problem.arms}) > 1:
            return "arms that are all of kind 'normal', or none of them"
        if problem.listed is not None:
            return None
        if not problem.linear:
            return "0/1 decisions with a linear reward"
        return None if problem.any_weights else "a maximiser that takes weights of either sign"

    def __init__(self, *, box_share: float = 0.1) -> None:
        self._share_out(box_share)

    def bind(self, problem: Problem) -> None:
        super().bind(problem)
        self.listed: Floats | None = None if problem.listed is None else problem.listed.astype(np.float64)
        self.sign: float = problem.sign
        self._auto: Auto | None = None
        if self.listed is None:
            self.a, self.b, self.parts = priced(problem)
        else:
            self.a, self.b, self.parts = math.log(max(len(self.listed) - 1, 1)), 0.0, 1

    def weighing(self, confidence: Confidence) -> Mixture:
        """How arms are weighed: as the confidence sequence does, or as ``auto`` if it has no martingales."""
        if isinstance(confidence, Mixture):
            return confidence
        if self._auto is None:
            self._auto = Auto()
            self._auto.bind(self.problem, 1.0)
        return self._auto

    @property
    def price(self) -> Floats:
        """Of every arm that differs, for the guide."""
        return np.full(self.problem.m, MORE * self.b)

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
        if self.listed is None:
            gain = self._gain(state)
        else:
            gain = compiled("linear_proof").most_gained(self.listed, state.test, state.stakes)
        return min(gap, view.share(decision, max(0.0, gain)))

    def _gain(self, state: _State) -> float:
        """The linear bound holds for every slope; the best one suits the decision that it finds.

        A decision that differs by several alternatives pays for each of them.
        """
        room, weights, test, stakes = compiled("linear_proof"), np.empty(self.problem.m), state.test, state.stakes
        if room.normal(stakes):  # whose evidence bounds the decisions that are behind, and not what they could gain
            return math.inf
        k, mu = room.opening(self.rival_of(state), test, stakes)
        found = math.inf
        for _ in range(TRIES):
            room.bend(k, mu, test, stakes, weights)
            other = self._best(weights)
            found = min(found, room.excess(other, k, mu, test, stakes) + room.base(k, mu, test) * self.parts)
            if compiled("linear").differ(other, test) == 0:
                break
            k, mu = room.opening(other, test, stakes)
        return found

    @staticmethod
    def rival_of(state: _State) -> np.ndarray[Any, Any]:
        return state.decision if state.rival is None else state.rival

    # -- inside -------------------------------------------------------------------------------------------------------

    def level(self, delta: float) -> float:
        """ln(1 / delta) + a, for the part of delta that is not the box's."""
        return self.a - math.log(delta * (1.0 - self.box_share))

    def _state(self, view: View) -> _State:
        found = view.__dict__.get("joint_linear")
        if found is None:
            found = view.__dict__["joint_linear"] = self._look(view)
        return found

    def _look(self, view: View) -> _State:
        problem, confidence = self.problem, self.weighing(view.confidence)
        assert isinstance(view.record, Moments)
        means = np.clip(view.estimates, problem.low, problem.high)
        decision = problem.solve_at(means)
        spread, stakes, away = np.empty(problem.m), compiled("stakes").stakes_of(problem.m), self.away(confidence)
        (families, seen), scales = confidence.seen(view.record), confidence.scales(view.record)
        compiled("stakes").see_all(families, seen, scales, stakes, spread)
        weighed = confidence.places(view.record) + scales * seen[1]
        held = decision if self.listed is None else decision.astype(np.float64)
        base, price = self.base(view.delta), self.price
        values = self.sign * means, self.sign * weighed
        test = JointTest(held, *values, spread, price, view.record.rounding, base, np.array([self.sign]), away)
        return _State(decision, self._search(test, stakes) if self.listed is None else self._among(test, stakes), test, stakes)

    def base(self, delta: float) -> Floats:
        """See :class:`surepick.engine.enums.Base`."""
        return np.array([MORE * (self.level(delta) + CHOICE), self.level(delta), self.b, math.inf, math.inf])

    def away(self, confidence: Mixture) -> Floats:
        """Octaves from the stakes that suit the arm with the largest unit, and change, to those of an arm."""
        fixed = confidence.families != Family.STUDENT  # the others have a unit of their own values
        octaves = np.log2(np.where(fixed, confidence.scale, 1.0))
        most = 1.0 if self.listed is None else max(float(np.ptp(self.listed, axis=0).max()), TINY)
        found: Floats = np.where(fixed, octaves[fixed].max(initial=-math.inf) - octaves, 0.0) + math.log2(most)
        return found

    def _among(self, test: JointTest, stakes: Stakes) -> np.ndarray[Any, Any] | None:
        """A listed decision that may be better."""
        assert self.problem.listed is not None
        row, margin = compiled("linear").closest(self.listed, test)
        if margin > 0.0:
            row = compiled("linear_proof").row_blocking(row, self.listed, test, stakes)
            if row < 0:
                return None
        found: np.ndarray[Any, Any] = self.problem.listed[row].copy()
        return found

    def _search(self, test: JointTest, stakes: Stakes) -> np.ndarray[Any, Any] | None:
        guide, room, weights = compiled("linear"), compiled("linear_proof"), np.empty(self.problem.m)
        slope, size, best, k, mu = guide.first_slope(test), FEWEST_MOVED, test.decision, -1, 0.0
        for _ in range(2):  # a maximiser call or two are enough to see that something blocks
            guide.bend(slope, size, test, weights)
            best = self._best(weights)
            size = guide.differ(best, test)
            if size == 0:
                break
            if guide.lead(best, test) >= 0.0:
                return best
            blocking, k, mu = room.blocks(best, test, stakes)
            if blocking:
                return best
            slope = guide.slope_of(best, test)
        if k < 0:
            k, mu = room.opening(best, test, stakes)
        if room.normal(stakes):
            room.allow(self._best(-test.value), test, stakes)
        room.bend_for(max(size, FEWEST_MOVED), k, mu, test, stakes, weights)
        best = self._best(weights)
        if guide.differ(best, test) > 0 and room.blocks(best, test, stakes)[0]:
            return best
        unclear: np.ndarray[Any, Any] | None = None
        for i in range(self.problem.m):
            other, blocking = self._arm(test, stakes, i, k, mu)
            if blocking or unclear is None:
                unclear = other
            if blocking:
                break
        return unclear

    def _arm(self, test: JointTest, stakes: Stakes, i: int, k: int, mu: float) -> tuple[Any, bool]:
        """A decision with another entry for arm i that may be better, None if there is none; and whether it blocks by itself, or
        only because no slope was found that is good enough for all such decisions."""
        room, weights = compiled("linear_proof"), np.empty(self.problem.m)
        low, high = 0.0, math.inf
        for _ in range(TRIES):
            room.bend_with(i, k, mu, test, stakes, weights)
            other = self._best(weights)
            if other[i] == test.decision[i] or room.certain(other, k, mu, test, stakes):  # there is none, or all are worse
                return None, False
            if room.blocks(other, test, stakes)[0]:
                return other, True
            k, mu, low, high = room.next_slope(other, mu, low, high, test, stakes)
        return other, False

    def _best(self, weights: Floats) -> np.ndarray[Any, Any]:
        return self.problem.solve_at(self.sign * weights)


class _State(NamedTuple):
    decision: np.ndarray[Any, Any]
    rival: np.ndarray[Any, Any] | None
    test: JointTest
    stakes: Stakes


def priced(problem: Problem) -> tuple[float, float, int]:
    """a, b and k of the union over alternatives, or of that over all sets of arms, which are 2^m: what is cheaper for a decision
    that differs by as many arms as may be. Chosen before any data.
    """
    a, b, parts = problem.alternatives()
    size = 2.0 * float(problem.solve_at(np.full(problem.m, problem.sign)).sum())
    every = problem.m * math.log(2.0)
    return (every, 0.0, 1) if a + b * min(size, problem.m) >= every else (a, b, parts)
