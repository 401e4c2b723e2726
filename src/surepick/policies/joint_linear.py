"""Joint stopping for any 0/1 class with a linear reward: is every other decision certainly worse?"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..arms import Bools, Floats, Ints
from ..confidence.mixture import width
from ..engine import compiled
from ..estimators import Mean, Moments
from ..problems import Subsets
from ..problems.base import Problem
from .base import Policy, View, spread

TRIES = 8  # slopes of the linear bound that are tried for one arm


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
    """

    name = "joint-linear"
    own = "auto"
    rule = "joint"
    box_share = 0.1
    independent = True

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        if type(problem.parameter) is not Mean:
            return "the mean as its parameter"
        if isinstance(problem, Subsets):
            return None
        if not problem.linear:
            return "0/1 decisions with a linear reward"
        return None if problem.any_weights else "a maximiser that takes weights of either sign"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.listed = problem.decisions.astype(np.float64) if isinstance(problem, Subsets) else None
        self.sign = -1.0 if getattr(problem, "sense", "max") == "min" else 1.0
        self.half = problem.scales / 2.0  # R
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
            arm = int(compiled("exchanges").behind(counts))
            if arm < 0 or (view.open is not None and not view.open[arm]):
                arm = spread(candidates, counts, self.problem.scales, 1)[0]
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
        gain = state.test.gain(self.listed) if self.listed is not None else self._gain(state.test)
        return min(gap, view.share(decision, gain))

    def _gain(self, test: _Test) -> float:
        """The linear bound holds for every slope; the best one suits the decision that it finds.

        A decision that differs by several alternatives pays for each of them.
        """
        slope, found = test.slope(np.ones(self.problem.m)), math.inf
        for _ in range(TRIES):
            weights = test.weights(slope)
            other = self._best(weights)
            found = min(found, float((weights * (other - test.decision)).sum()) + slope * test.base * self.parts)
            moved = other != test.decision
            if not moved.any():
                break
            slope = test.slope(moved)
        return max(0.0, found)

    # -- inside -------------------------------------------------------------------------------------------------------

    def _state(self, view: View) -> _State:
        found = view.__dict__.get("joint_linear")
        if found is None:
            found = view.__dict__["joint_linear"] = self._look(view)
        return found

    def _look(self, view: View) -> _State:
        problem, counts = self.problem, view.counts
        level = -math.log(view.delta * (1.0 - self.box_share))
        rho = width(-math.log(view.fixed * (1.0 - self.box_share)))
        means = np.clip(view.estimates, problem.low, problem.high)
        decision = problem.solve_at(means)
        spread = self.half**2 * (counts + rho) / counts**2
        regret = 0.5 * np.log1p(counts / rho)
        assert isinstance(view.record, Moments)
        rounding = view.record.rounding
        if self.whole:
            test = _Test(decision, self.sign * means, spread, np.zeros(problem.m), level + float(regret.sum()), rounding)
        else:
            test = _Test(decision, self.sign * means, spread, self.b + regret, level + self.a, rounding)
        rival = test.among(self.listed) if self.listed is not None else self._search(test)
        return _State(decision, rival, test)

    def _search(self, test: _Test) -> np.ndarray[Any, Any] | None:
        slope = test.slope(np.ones(self.problem.m))
        best = self._best(test.weights(slope))
        if not test.worse(best) and (best != test.decision).any():
            return best  # an oracle call is enough to see that something blocks
        for i in range(self.problem.m):
            other = self._arm(test, i, slope)
            if other is not None:
                return other
        return None

    def _arm(self, test: _Test, i: int, slope: float) -> np.ndarray[Any, Any] | None:
        """A decision with another entry for arm i that may be better; None if there is none."""
        for _ in range(TRIES):
            weights = test.weights(slope)
            force = 4.0 * float(np.abs(weights).sum()) or 1.0
            weights[i] += -force if test.decision[i] else force
            other = self._best(weights)
            if other[i] == test.decision[i] or test.certain(other, slope):  # there is none, or all are worse
                return None
            if not test.worse(other):
                return other
            new = test.slope(other != test.decision)
            if abs(new - slope) <= 1e-3 * slope:
                break
            slope = new
        return other

    def _best(self, weights: Floats) -> np.ndarray[Any, Any]:
        return self.problem.solve_at(self.sign * weights)


class _Test:
    """A > sqrt(2 B Q), for one decision and the data of one moment; ``value`` is maximised, and known up to ``rounding``."""

    def __init__(
        self, decision: np.ndarray[Any, Any], value: Floats, spread: Floats, price: Floats, base: float, rounding: Floats
    ) -> None:
        self.decision, self.value, self.spread, self.price, self.base = decision, value, spread, price, base
        self.rounding = rounding

    def among(self, listed: Floats) -> np.ndarray[Any, Any] | None:
        """The listed decision that blocks most."""
        margin = self._margins(listed)
        worst = int(np.argmin(margin))
        if margin[worst] > 0.0:
            return None
        row: np.ndarray[Any, Any] = listed[worst]
        return row.astype(np.int64) if (row == np.round(row)).all() else row

    def _margins(self, listed: Floats) -> Floats:
        change = listed - self.decision
        moved = change != 0
        level = self.base + moved @ self.price
        margin: Floats = -(change @ self.value) - np.sqrt(2.0 * level * ((change * change) @ self.spread))
        margin -= np.abs(change) @ self.rounding
        margin[~moved.any(axis=1)] = math.inf
        return margin

    def gain(self, listed: Floats) -> float:
        """The most that a listed decision could be better."""
        return max(0.0, -float(self._margins(listed).min()))

    def worse(self, other: np.ndarray[Any, Any]) -> bool:
        change = other - self.decision
        moved = change != 0
        level = self.base + float(self.price[moved].sum())
        ahead = -float((change * self.value).sum()) - float(self.rounding[moved].sum())
        return ahead > math.sqrt(2.0 * level * float(self.spread[moved].sum()))

    def slope(self, moved: Any) -> float:
        """The slope at which the linear bound is exact for this support."""
        return math.sqrt(float((moved * self.spread).sum()) / (2.0 * (self.base + float((moved * self.price).sum()))))

    def weights(self, slope: float) -> Floats:
        """Every arm at the end that is bad for the decision, by the linear bound."""
        reach = slope * self.price + self.spread / (2.0 * slope) + self.rounding
        return np.where(self.decision > 0, self.value - reach, self.value + reach)

    def certain(self, other: np.ndarray[Any, Any], slope: float) -> bool:
        """The maximiser ``other`` at these weights shows that all decisions it was the best of are worse."""
        weights = self.weights(slope)
        return float((weights * (other - self.decision)).sum()) < -slope * self.base


class _State(NamedTuple):
    decision: np.ndarray[Any, Any]
    rival: np.ndarray[Any, Any] | None
    test: _Test


def union(problem: Problem) -> tuple[float, float, int, bool]:
    """a, b and k of the union over alternatives, or the product over all arms, which needs none (True): what is cheaper.

    Chosen before any data: at the count that mixtures are tuned for, an arm costs about 1.
    """
    a, b, parts = problem.alternatives()
    size = 2.0 * float(problem.solve_at(np.full(problem.m, -1.0 if getattr(problem, "sense", "max") == "min" else 1.0)).sum())
    if a + (b + 1.0) * min(size, problem.m) >= problem.m:
        return 0.0, 0.0, 1, True
    return a, b, parts, False
