"""Joint stopping: is every single exchange of the decision certain?"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..arms import Bools, Floats, Ints
from ..checks import vouched
from ..confidence import Confidence, Mixture
from ..confidence.mixture import weighable
from ..engine import compiled
from ..engine.data import Arms, Exchanges
from ..estimators import Moments, Record
from ..problems.base import LinearProblem, Problem
from .base import TINY, Policy, View, spread

LISTED = 20_000  # exchanges up to which all of them are weighed
FEWER = 0.7  # the power of its cost by which an arm is expected to have fewer observations
WEIGHED = 500  # open exchanges up to which their possible gains are worked out


class Joint(Policy):
    """Stops when the evidence of the two arms of every single exchange, together, is large enough.

    A basis of a matroid, and a separable concave allocation, is optimal iff no single exchange improves it: one arm out and one
    in, or one unit moved. For arms h and l with theta_h = x and theta_l = y let E_h(x) and E_l(y) be the logarithms of their
    one-sided mixture martingales (see :class:`surepick.confidence.Mixture`): evidence that h is above x and that l is below y.
    Their product is a supermartingale too, so E_h + E_l at the truth ever exceeds ln(P / delta) with probability at most
    delta / P. The rule stops when for every exchange

        min { E_h(x) + E_l(y) : slope_h x <= slope_l y } > ln(P / delta).

    A wrong decision has an exchange (h, l) that is false at the truth, with h outside and l inside the true optimum (matroids, by
    the exchange of bases) or h with too many units and l with too few (allocations), so the union is over P = k (m - k) pairs,
    or m (m - 1). Two arms together need less than two intervals that do not overlap.

    It samples the exchange that is known least: the least evidence for what it needs, by a quick estimate, and of its two arms
    the one whose next observation adds more. The exact evidence is worked out once the quick estimate of that exchange is within
    1/2 of what it needs, which can be some samples late for arms with very unlike ranges, and for 0/1 values of arms that are
    not declared Bernoulli where delta is far below 10^-10. With an epsilon, matroids are certified
    also when the exchanges together could gain no more than epsilon, and an exchange that looks like a tie gives way to the one
    that could gain most.

    With an epsilon for every arm it takes the same samples, and stops when no exchange by itself could gain more: then every
    arm of the decision is within epsilon of the k-th best of its group. For if arm h of the decision falls short by more, it is
    not among the k best, and since the decision has k places some l of the k best is not in it: (h, l) is false by more than
    epsilon, with h outside and l inside the true optimum, which is one of the same P pairs.

    Where costs differ, of the two arms the one is sampled that adds more per cost, and the mixture of an arm is tuned for
    N0 (g / c)^0.7 observations, c being its cost and g the geometric mean of all: dear arms will have fewer. Any tuning that is
    fixed before the data keeps the guarantee.

    Variances of arms that are not declared Bernoulli are weighed by pairs of observations; a pair that has begun is completed
    before anything else.

    A tenth of delta goes to the box, which is reported, and bounds the gap before it stops where the exchanges do not.

    Parameters
    ----------
    box_share : float
        The part of delta that the reported box gets, from 0.001 to 0.999; the test has the rest.
    """

    name = "joint"
    own: ClassVar[str | Confidence] = "auto"
    rule = "exchanges"
    independent = True

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        if not weighable(problem):
            return "the mean or the variance as its parameter"
        if not (problem.exchangeable and vouched(problem, "exchanges")):
            return "a class in which single exchanges tell whether a decision is optimal"
        return None

    def __init__(self, *, box_share: float = 0.1) -> None:
        self._share_out(box_share)

    def bind(self, problem: Problem) -> None:
        super().bind(problem)
        self.pairs: int = problem.most_exchanges
        self.sign: float = float(getattr(problem, "sign", 1.0))
        typical = math.exp(float(np.log(problem.dearness).mean()))
        self.tuning: Floats = (typical / problem.dearness) ** FEWER  # of rho, by arm
        self._last: _State | None = None  # spares the exchanges of arms that have not changed; answers do not depend on it

    def lacks(self, confidence: Confidence) -> str | None:
        return None if isinstance(confidence, Mixture) else "evidence, which mixture martingales have"

    def threshold(self, delta: float) -> float:
        """ln(P / delta), for the part of delta that is not the box's."""
        return math.log(max(self.pairs, 1)) - math.log(delta * (1.0 - self.box_share))

    def undo(self, memory: Any) -> None:
        self._last = None

    def halves(self, confidence: Confidence, record: Record) -> Bools | None:
        assert isinstance(confidence, Mixture)
        return confidence.halves(record, record.counts)

    def decision(self, view: View) -> np.ndarray[Any, Any]:
        return self._state(view).decision.copy()

    def certified(self, view: View) -> bool:
        return self._state(view).whole and self._verdict(view)[1]

    def candidates(self, view: View) -> Bools:
        return np.asarray(self.rival(view) != self.decision(view))

    def rival(self, view: View) -> np.ndarray[Any, Any]:
        """The decision after the exchange that is known least."""
        state = self._state(view)
        other = state.decision.copy()
        if not self.certified(view) and len(state.exchanges[0]):
            e = self._verdict(view)[0]
            high, low = int(state.exchanges[0][e]), int(state.exchanges[1][e])
            more, less = (low, high) if self.sign > 0 else (high, low)
            other[less] -= 1
            other[more] += 1
        return other

    def undecided(self, view: View) -> Bools:
        """The arms of the exchanges that are not certain: if all exchanges of an arm are, so is its entry."""
        state = self._state(view)
        if not state.whole:  # the box may be sure of a decision that is not the one at the estimates
            return np.asarray(view.undecided | (view.decision != state.decision))
        high, low, *_ = state.exchanges
        found, unsure = np.zeros(self.problem.m, dtype=np.bool_), self._unsure(view)
        found[high[unsure]] = found[low[unsure]] = True
        return found

    def gap(self, view: View, decision: np.ndarray[Any, Any]) -> float:
        """From the box, or, for matroids, from what the exchanges could gain, if that is less.

        Two bases differ by a one-to-one list of exchanges, so the best is better by at most the sum, over the arms to be given
        up, of the most that each could gain; or the same over the arms to be taken in.
        """
        gap, state = view.gap(decision), self._state(view)
        if not isinstance(self.problem, LinearProblem) or not state.whole or (decision != state.decision).any():
            return gap
        open_ = self._unsure(view)
        if open_.sum() <= WEIGHED:
            order = self._doubtful(view)
            return min(gap, view.share(decision, self._together(view, order[open_[order]], math.inf)))
        # Of so many, what they could gain is worked out only if it is as little as was asked for.
        return gap if view.relative else min(gap, self._together(view, self._doubtful(view), view.epsilon))

    def shortfall(self, view: View, decision: np.ndarray[Any, Any]) -> float:
        """From the box or, exchange by exchange, from what it could gain by its evidence, whichever is less."""
        state = self._state(view)
        by_box = view.shortfall(decision)
        if by_box == 0.0 or not state.whole or (decision != state.decision).any():
            return by_box
        given = *view.box, state.exchanges, self.weigh(view), self.threshold(view.delta)
        found = min(by_box, float(compiled("leads").largest(self._doubtful(view), *given)))
        return view.epsilon if found > view.epsilon > 0 and self._each_within(view) else found  # bisection rounds up

    def _within(self, view: View, decision: np.ndarray[Any, Any]) -> bool:
        """No more of the evidence is worked out than tells, and none of it unless a quick estimate is near."""
        state, linear = self._state(view), isinstance(self.problem, LinearProblem)
        if linear and view.share(state.decision, self._about_most(view)) > 1.5 * view.epsilon:
            return False
        if view.relative or not linear or (decision != state.decision).any():
            return super()._within(view, decision)
        if view.per_arm:
            return self._each_within(view)
        if view.gap(decision) <= view.epsilon:
            return True
        given = state.exchanges, self.weigh(view), self.threshold(view.delta)
        return state.whole and bool(compiled("leads").within_together(self._doubtful(view), view.epsilon, *given))

    def _about_most(self, view: View) -> float:
        """About the most that all exchanges together, or any arm by itself, could gain."""
        return float(compiled("gains").most_of(self._state(view).exchanges, self._quick(view), self.weigh(view), view.per_arm))

    def _each_within(self, view: View) -> bool:
        """No exchange by itself can gain more than epsilon."""
        state = self._state(view)
        if view.shortfall(state.decision) <= view.epsilon:
            return True
        if not state.whole:
            return False
        given = *view.box, state.exchanges, self.weigh(view), self.threshold(view.delta)
        return bool(compiled("leads").within(self._doubtful(view), view.epsilon, *given))

    def _doubtful(self, view: View) -> Ints:
        """The exchanges, those first that could gain most by a quick estimate."""
        return np.argsort(-self._quick(view), kind="stable")

    def _together(self, view: View, order: Ints, most: float) -> float:
        given = self._state(view).exchanges, self.weigh(view), self.threshold(view.delta)
        return float(compiled("leads").together(order, most, *given))

    def _quick(self, view: View) -> Floats:
        """About what every exchange could gain, as if all arms were normal; it guides the sampling when epsilon is positive."""
        if "quick" not in view.__dict__:
            given = self._state(view).exchanges, self.weigh(view), self.threshold(view.delta)
            view.__dict__["quick"] = compiled("gains").gains(*given)
        found: Floats = view.__dict__["quick"]
        return found

    def _unsure(self, view: View) -> Bools:
        exchanges = self._state(view).exchanges
        found: Bools = compiled("exchanges").unsure(exchanges, self.weigh(view), self.threshold(view.delta))
        return found

    def attained(self, view: View) -> float:
        """The smallest delta at which these data certify the decision."""
        if view.epsilon > 0:
            return super().attained(view)
        state = self._state(view)
        if not state.whole:
            return 1.0
        high, low, slopes_high, slopes_low = state.exchanges
        evidence = compiled("least").least_evidence
        arms = self.weigh(view)
        least = min(
            (evidence(int(h), int(j), a, b, arms) for h, j, a, b in zip(high, low, slopes_high, slopes_low, strict=True)),
            default=math.inf,
        )
        if not self.certified(view) and least >= self.threshold(view.delta):
            least = self._certain_up_to(state, arms, self.threshold(view.delta))
        return min(1.0, max(TINY, max(self.pairs, 1) * math.exp(-least) / (1.0 - self.box_share)))

    def _certain_up_to(self, state: _State, arms: Arms, high: float) -> float:
        """The largest threshold at which ``look`` certifies, where it does not at ``high`` though the evidence is enough: because
        the quick estimate, which has to be near before the exact evidence is looked at, is far too low, as it is for few values
        of arms with very unlike ranges. What is not certified must not attain delta."""
        look, stale = compiled("exchanges").look, np.ones(self.problem.m, dtype=np.bool_)

        def certain(threshold: float) -> bool:
            scores, verdicts = np.empty_like(state.scores), np.empty_like(state.verdicts)
            return bool(look(state.exchanges, stale, scores, verdicts, arms, threshold)[1])

        low = self.threshold(1.0)
        while high - low > 1e-3:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if certain(middle) else (low, middle)
        return low

    def choose(self, view: View, planned: Ints, n: int) -> list[int]:
        return self._plan(view, planned, n, to_the_end=False)

    def spend(self, view: View, planned: Ints, n: int) -> list[int]:
        """Always for the exchange with the lowest score, certain or not: it is the last moment that will be judged, by the delta
        that it attains, so that no threshold has a say before. Nor is any exact evidence worked out."""
        return self._plan(view, planned, n, to_the_end=True)

    def _plan(self, view: View, planned: Ints, n: int, *, to_the_end: bool) -> list[int]:
        if view.open is not None and (~view.open & (planned < self.problem.populations)).any():
            return self._among(view, planned, n)
        state, confidence, room = self._state(view), self._mixture(view), compiled("exchanges")
        if len(state.exchanges[0]) == 0:  # there is but one decision
            return self._even(view, planned, n)
        arms = self.weigh(view)
        counts, stale = planned.copy(), np.zeros(self.problem.m, dtype=np.bool_)
        scores, verdicts = state.scores.copy(), state.verdicts.copy()
        chosen: list[int] = []
        weigh = room.weakest_of if to_the_end else lambda *given: room.look(*given)[0]
        stale |= planned != view.counts  # what is on its way weighs as if it agreed with what is there
        e = state.weakest if to_the_end else self._verdict(view)[0]
        gains = self._quick(view).copy() if view.epsilon > 0 and isinstance(self.problem, LinearProblem) else None
        if gains is not None and (self._ahead(view, e) > view.epsilon or not gains.max() > 0.0):
            gains = None  # the weakest exchange seems far enough from a tie to be settled, or nothing seems to be left to gain
        for _ in range(n):
            planned_arms = arms._replace(n=confidence.weighed(view.record, counts))
            if gains is not None:  # what could be gained most is narrowed first
                e = int(gains.argmax())
                gains[e] *= 1.0 - 0.25 / min(counts[state.exchanges[0][e]], counts[state.exchanges[1][e]])
            elif stale.any():  # and so does what is planned
                e = weigh(state.exchanges, stale, scores, verdicts, planned_arms, self.threshold(view.delta))
            arm = self._halved(view, counts)
            if arm < 0:
                arm = int(room.behind(counts, self.problem.dearness, self.problem.populations))
            if arm < 0:
                arm = int(room.richer(e, state.exchanges, planned_arms, counts))
            if not counts[arm] < self.problem.populations[arm]:
                break
            chosen.append(arm)
            counts[arm] += 1
            stale[:] = False
            stale[arm] = True
        return chosen or self._among(view, planned, n)

    def _halved(self, view: View, counts: Ints) -> int:
        """An arm with half a pair after so many observations, -1 if there is none; see ``exchanges.halved``."""
        confidence = self._mixture(view)
        if not self.problem.finite:
            return int(compiled("exchanges").halved(counts, confidence.paired))
        halves = np.flatnonzero(confidence.halves(view.record, counts) & (counts < self.problem.populations))
        return int(halves[0]) if len(halves) else -1

    def _among(self, view: View, planned: Ints, n: int) -> list[int]:
        """Where some arms cannot be sampled: those of uncertain exchanges that can be, the least known first."""
        open_ = np.ones(self.problem.m, dtype=np.bool_) if view.open is None else view.open
        halves: list[int] = np.flatnonzero(self._mixture(view).halves(view.record, planned) & open_)[:n].tolist()
        counts = planned.copy()
        counts[halves] += 1
        return halves + spread(self.able(view, self.undecided(view)), counts, self.problem.priority, n - len(halves))

    def _even(self, view: View, planned: Ints, n: int) -> list[int]:
        """All arms alike, but pairs that have begun first."""
        halves = np.flatnonzero(self._mixture(view).halves(view.record, planned))[:n]
        counts = planned.copy()
        counts[halves] += 1
        rest = spread(self.able(view, np.ones(self.problem.m, dtype=np.bool_)), counts, self.problem.priority, n - len(halves))
        return [*halves.tolist(), *rest]

    def _ahead(self, view: View, e: int) -> float:
        """How much better the decision looks than after an exchange."""
        high, low, slope_high, slope_low = self._state(view).exchanges
        return float(slope_high[e] * view.estimates[high[e]] - slope_low[e] * view.estimates[low[e]])

    # -- inside -------------------------------------------------------------------------------------------------------

    def _mixture(self, view: View) -> Mixture:
        assert isinstance(view.confidence, Mixture)
        return view.confidence

    def reference(self, view: View) -> float:
        """What the estimates are counted from to choose the decision: which is best depends on differences only, and far from 0
        these are exact in numbers that are counted from nearby. The origin of the arm of the smallest scale; 0 for variances."""
        record = view.record
        assert isinstance(record, Moments)
        return 0.0 if record.variance else float(record.origins[int(self.problem.scales.argmin())])

    def weigh(self, view: View) -> Arms:
        """The arms as evidence sees them."""
        confidence, problem = self._mixture(view), self.problem
        families, seen = confidence.seen(view.record)
        n, p, atoms, finite = seen[0], seen[1], seen[2:4], seen[4:] if problem.finite else np.zeros((3, 0))
        shift = confidence.places(view.record)
        bounds = confidence.certain(view.record, seen)
        given = confidence.scales(view.record), confidence.rho * self.tuning, atoms.copy(), problem.dearness, finite.copy()
        return Arms(families, n, p, *bounds, shift, *given)

    def _state(self, view: View) -> _State:
        found = view.__dict__.get("joint")
        if found is None:
            found = view.__dict__["joint"] = self._look(view)
        return found

    def _look(self, view: View) -> _State:
        problem, room = self.problem, compiled("exchanges")
        arms, threshold = self.weigh(view), self.threshold(view.delta)
        assert isinstance(view.record, Moments)
        reference = self.reference(view)
        decision = problem.solve_at(np.clip(view.record.about(reference), problem.low - reference, problem.high - reference))
        last = self._last
        if last is not None and last.threshold == threshold and (last.decision == decision).all():
            exchanges, scores, verdicts = last.exchanges, last.scores.copy(), last.verdicts.copy()
            stale = (last.n != arms.n) | (last.p != arms.p) | (last.atoms != arms.atoms).any(axis=0)
            if problem.finite:
                stale |= (last.low != arms.low) | (last.high != arms.high)
        else:
            exchanges = problem.exchanges(decision)
            scores, verdicts = np.empty(len(exchanges.high)), np.empty(len(exchanges.high), dtype=np.int64)
            stale = np.ones(problem.m, dtype=np.bool_)
        weakest = room.weakest_of(exchanges, stale, scores, verdicts, arms, threshold)
        halves = self._mixture(view).halves(view.record, view.counts)
        if view.ended is not None:  # half a pair of an arm that has ended is never completed, and counts for nothing
            halves = halves & ~view.ended
        whole = not halves.any()
        seen = arms.n, arms.p, arms.atoms, arms.low, arms.high
        self._last = _State(decision, exchanges, scores, verdicts, *seen, threshold, int(weakest), whole)
        return self._last

    def _verdict(self, view: View) -> tuple[int, bool]:
        """The exchange that blocks a certificate, or simply the weakest one, and whether there is enough evidence for all."""
        if "verdict" not in view.__dict__:
            state = self._state(view)
            given = state.exchanges, state.scores, state.verdicts, self.weigh(view), state.threshold
            e, enough = compiled("exchanges").verdict(state.weakest, *given)
            view.__dict__["verdict"] = int(e), bool(enough)
        found: tuple[int, bool] = view.__dict__["verdict"]
        return found


class _State(NamedTuple):
    decision: np.ndarray[Any, Any]
    exchanges: Exchanges
    scores: Floats
    verdicts: Ints  # see engine/enums.py
    n: Floats
    p: Floats
    atoms: Floats
    low: Floats  # what is certain
    high: Floats
    threshold: float
    weakest: int  # the exchange with the lowest score, -1 if there is none
    whole: bool  # no pair waits for its second observation
