"""One moment of an exploration: what the observations so far say."""

from __future__ import annotations

import math
from enum import Enum, auto
from typing import Any

import numpy as np

from .arms import Bools, Floats, Ints
from .certificate import Certificate
from .confidence import Confidence
from .estimators import Moments, Record
from .order import Order, nothing_known
from .policies import Policy, View
from .policies.base import lazy
from .problems.base import Problem
from .problems.ranking import Ranking
from .settings import Settings


def told(record: Record) -> Ints:
    """Observations of every arm, those included that do not count yet."""
    return record.told if isinstance(record, Moments) else record.counts


class Guarantee(Enum):
    """What the observations of one moment certify."""

    NONE = auto()
    NEAR = auto()  # the decision is within epsilon of the best, which may be another one
    EXACT = auto()  # the decision is the best


class Moment:
    """What the observations say, until more come in. Everything is worked out once, if it is asked for; nothing is kept."""

    problem: Problem
    settings: Settings
    policy: Policy
    confidence: Confidence
    record: Record
    started: bool
    paused: Bools
    ended: Bools
    exhausted: Bools

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        policy: Policy,
        confidence: Confidence,
        record: Record,
        started: bool,
        paused: Bools,
        ended: Bools,
        exhausted: Bools,
    ) -> None:
        self.problem, self.settings, self.policy, self.confidence = problem, settings, policy, confidence
        self.record, self.started = record, started
        self.paused, self.ended, self.exhausted = paused, ended, exhausted

    @lazy
    def samples(self) -> int:
        return int(told(self.record).sum())

    @property
    def spent(self) -> bool:
        """The budget is: in observations, or in cost, when what is left pays for no arm that could be sampled."""
        if self.settings.budget is not None and self.samples >= self.settings.budget:
            return True
        return self.settings.cost_budget is not None and not (self.payable & ~self.over).any()

    @lazy
    def payable(self) -> Bools:
        """The arms of which what is left of the budget in cost pays for one more observation."""
        if self.settings.cost_budget is None:
            return np.ones(self.problem.m, dtype=np.bool_)
        prices = self.problem.prices
        return prices.within(prices.of(self.settings.cost_budget) - prices.total(told(self.record)))

    @property
    def over(self) -> Bools:
        """The arms that never will be sampled again: they have ended, or all of their values are drawn."""
        return self.ended | self.exhausted

    @lazy
    def view(self) -> View:
        """What the policy sees; only once every arm has an estimate."""
        asked = self.settings
        view = View(
            self.problem, self.confidence, self.record, asked.delta, asked.epsilon, asked.relative, per_arm=asked.per_arm
        )  # fmt: skip
        if self.paused.any() or self.over.any():
            view.open, view.ended = ~(self.paused | self.over), self.over
        return view

    @lazy
    def guarantee(self) -> Guarantee:
        """Of a budget that is to be spent, there is none before it is, or before no arm can be sampled any more."""
        if not self.started or (self.settings.spend and not (self.spent or self.over.all())):
            return Guarantee.NONE
        if self.exhausted.all() or self.policy.certified(self.view):  # where all is known, ties are nobody's fault
            return Guarantee.EXACT
        return Guarantee.NEAR if self.settings.epsilon > 0 and self.policy.near(self.view) else Guarantee.NONE

    @lazy
    def box(self) -> tuple[Floats, Floats]:
        """The confidence box; the whole range of the parameter for arms without an estimate."""
        if self.started:
            return self.view.box
        problem, known = self.problem, self.confidence.missing(self.record) == 0
        if not known.any():
            return problem.low.copy(), problem.high.copy()
        lower, upper = self.confidence.box(self.record)
        return np.where(known, lower, problem.low), np.where(known, upper, problem.high)

    @lazy
    def undecided(self) -> Bools:
        """C_t: the arms whose entry of the optimal decision varies over the box; all, until every arm has an estimate."""
        if not self.started:
            return np.ones(self.problem.m, dtype=np.bool_)
        exact = self.guarantee is Guarantee.EXACT
        return np.zeros(self.problem.m, dtype=np.bool_) if exact else self.policy.undecided(self.view)

    @lazy
    def decision(self) -> np.ndarray[Any, Any]:
        """phi at the estimates; arms without one count with the middle of their range, or 0 if that is unbounded."""
        if self.started:
            return self.policy.decision(self.view)
        lower, upper = self.box
        with np.errstate(invalid="ignore"):
            middle = np.nan_to_num((lower + upper) / 2, nan=0.0, posinf=0.0, neginf=0.0)
        theta = np.where(np.isnan(self.record.estimates), middle, self.record.estimates)
        return self.problem.solve_at(theta.clip(lower, upper))

    @lazy
    def gap(self) -> float:
        """G, or, if relative, its share of the best reward's size; unknown until every arm has an estimate."""
        if not self.undecided.any():
            return 0.0
        return self.policy.gap(self.view, self.decision) if self.started else math.inf

    @lazy
    def gap_per_arm(self) -> float | None:
        """How far any arm of the decision is from the k-th best of its group; None where arms do not fall short one by one."""
        if not self.problem.ranked:
            return None
        if not self.undecided.any():
            return 0.0
        return self.policy.shortfall(self.view, self.decision) if self.started else math.inf

    @lazy
    def attained(self) -> float:
        """The smallest delta at which the observations certify the decision; 1 if none does."""
        return self.policy.attained(self.view) if self.started else 1.0

    @lazy
    def order(self) -> Order:
        """Of a ranking, what is certain of every two arms."""
        return self.policy.order(self.view) if self.started else nothing_known(self.problem.m)

    @lazy
    def rival(self) -> np.ndarray[Any, Any] | None:
        """What stands most in the way; None if nothing does, and before every arm has an estimate."""
        if not (self.started and self.undecided.any()):
            return None
        rival = self.policy.rival(self.view)
        return self.problem.named_on(*self.view.box, self.decision, rival)

    @lazy
    def guess(self) -> np.ndarray[Any, Any] | None:
        """phi at the estimates, where the decision is another one and not certified."""
        if not self.started or self.guarantee is not Guarantee.NONE:
            return None
        guess = self.policy.guess(self.view)
        return None if guess is None or (guess == self.decision).all() else guess

    @lazy
    def certificate(self) -> Certificate:
        problem, policy, record, asked = self.problem, self.policy, self.record, self.settings
        order = self.order if isinstance(problem, Ranking) else None
        certified, (lower, upper) = self.guarantee is not Guarantee.NONE, self.box
        halves = policy.halves(self.confidence, record)
        return Certificate(
            decision=self.decision,
            certified=certified,
            delta=asked.delta,
            epsilon=asked.epsilon,
            relative=asked.relative,
            gap=self.gap,
            per_arm=asked.per_arm,
            gap_per_arm=self.gap_per_arm,
            yardstick=problem.yardstick,
            lower=lower.copy(),
            upper=upper.copy(),
            estimate=record.estimates.copy(),
            counts=told(record).copy(),
            undecided=self.undecided.copy(),
            rival=self.rival,
            guess=self.guess,
            remark=problem.remark,
            attained=self.attained if certified or self.spent else None,
            samples=self.samples,
            cost=problem.cost_of(told(record)) if problem.priced else None,
            policy=str(policy),
            rule=policy.rule,
            confidence=str(self.confidence),
            names=problem.names,
            independent=policy.independent,
            finite=problem.finite,
            kinds=problem.kinds,
            above=None if order is None else order.above.copy(),
            close=None if order is None else order.close.copy(),
            pool=None if problem.pool is None else (problem.pool.size, problem.pool.seed),
            ended=[problem.names[i] for i in np.flatnonzero(self.ended)],
            waiting=[] if halves is None else [problem.names[i] for i in np.flatnonzero(halves & ~self.over)],
        )
