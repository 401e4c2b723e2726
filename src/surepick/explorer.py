"""One experiment in memory, by asking and telling."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .arms import Bools, Floats, Ints
from .certificate import Certificate
from .confidence import make_confidence
from .errors import SettingError
from .policies import View, make_policy
from .policies.base import spread
from .problems.base import Problem


class Explorer:
    """Says what to sample next, takes in the observations, and stops with a certificate.

    Parameters
    ----------
    problem : Problem
    delta : float
        The decision may be wrong with at most this probability.
    policy : {"auto", "joint", "joint-linear", "pac", "coci", "uniform", "unified", "clucb", "lucb", "kl-lucb", "ugape", \
"ts-explore", "gap", "elimination"}
        How arms are chosen and when to stop. ``"auto"``: ``joint`` for best arm, top-k, best of each and spanning trees (up to
        20,000 exchanges), and for sample allocations if epsilon is 0; ``joint-linear`` for other 0/1 decisions with linear
        reward; else ``pac`` with an epsilon and ``coci`` without. docs/research.md says what it was measured against, and where
        it is not the best.
    confidence : {"auto", "own", "paper", "normal", "beta", "kt-kl", "bernstein", "pairs", "u-statistic", "bernoulli-variance", \
"clucb", "lucb", "kl-lucb", "elimination"}
        The confidence sequence; ``"auto"`` is the tightest one that is valid for the arms as declared, ``"own"`` the one of the
        policy's own paper.
    epsilon : float
        Stop as soon as the decision is within epsilon of the best, in units of the reward.
    relative : bool
        Epsilon is a share of the best reward's size: 0.05 for within 5 %.
    per_arm : bool
        Epsilon is for every arm: each arm of the decision is within epsilon of the k-th best (of its group), and not the sum of
        them within epsilon of the best sum. For best-arm, top-k and best-of-each; for one best arm the two are the same.
    budget : int, optional
        Stop after this many observations, certified or not.
    spend : bool
        Spend the whole budget, also after the decision is certified: the certificate is that of all observations.

    Notes
    -----
    Observations may come in any order, in any batches, late, or not at all: the guarantee holds as long as nobody looks
    at a value to choose whether to report it. Once found certified (whenever ``ask``, ``done`` or the certificate is looked
    at), an explorer stays so: later observations are counted, and the certificate is the one of that moment.

    If two decisions are exactly equally good, no number of samples tells them apart: set ``epsilon`` or a ``budget``.

    Examples
    --------
    >>> import surepick as sp
    >>> ex = sp.Explorer(sp.BestArm(["red", "blue"]), delta=0.1)
    >>> ex.ask(4)
    [0, 1, 0, 1]
    >>> ex.tell("red", [0.9] * 400)
    >>> ex.tell("blue", [0.1] * 400)
    >>> ex.done
    True
    >>> ex.decision
    array([1, 0])
    """

    def __init__(
        self,
        problem: Problem,
        delta: float = 0.05,
        *,
        policy: str = "auto",
        confidence: str = "auto",
        epsilon: float = 0.0,
        relative: bool = False,
        budget: int | None = None,
        spend: bool = False,
        per_arm: bool = False,
    ) -> None:
        if not isinstance(problem, Problem):
            raise SettingError(f"The first argument must be a problem such as TopK(10, 3), not {problem!r}.")
        self.problem = problem
        self.delta = _number(delta, "delta", "a probability between 0 and 1, both excluded", lambda x: 0 < x < 1)
        if self.delta < 1e-300:
            raise SettingError(f"delta = {self.delta:g} is below 1e-300, the smallest that is supported.")
        self.epsilon = _number(epsilon, "epsilon", "a number of at least 0", lambda x: x >= 0)
        if not isinstance(relative, (bool, np.bool_)):
            raise SettingError(f"relative must be True or False, not {relative!r}.")
        self.relative = bool(relative)
        self.per_arm = _checked_per_arm(per_arm, problem, self.relative)
        if budget is not None and (isinstance(budget, bool) or not isinstance(budget, (int, np.integer)) or budget < 0):
            raise SettingError(f"budget must be a whole number of observations, or None for no limit, not {budget!r}.")
        self.budget = None if budget is None else int(budget)
        if not isinstance(spend, (bool, np.bool_)):
            raise SettingError(f"spend must be True or False, not {spend!r}.")
        if spend and budget is None:
            raise SettingError("spend=True needs a budget: say how many observations to spend.")
        self.spend = bool(spend)
        self.policy = make_policy(policy, problem, confidence, self.epsilon)
        named = self.policy.own if confidence == "own" else confidence
        self.confidence = make_confidence(named, problem, self.delta * self.policy.box_share)
        if need := self.policy.lacks(self.confidence):
            raise SettingError(f"policy={self.policy.name!r} needs {need}; leave out confidence={confidence!r}.")
        self.record = problem.parameter.record(problem.m)
        self._stopped: Certificate | None = None
        self._current: Certificate | None = None  # what the observations say now; forgotten when more come in
        self._view: View | None = None
        self._started = False

    # -- tell -----------------------------------------------------------------------------------------------------

    def tell(self, arm: int | str, values: ArrayLike) -> None:
        """Record one observation of an arm, or many. Raises before anything is recorded if one of them is bad."""
        i = self.problem.index[arm]
        self.record.update(i, self.problem.arms[i].check(values))
        self.forget()

    def forget(self) -> None:
        """Drop what was derived from the record, after the record has changed."""
        self._view = self._current = None
        if self.policy.remembers and self.started:
            self.policy.told(self.view)

    # -- ask ------------------------------------------------------------------------------------------------------

    def ask(self, n: int = 1) -> list[int]:
        """At most n arms to sample now, in this order; [] when done.

        Asking changes nothing: until observations are told, the same question has the same answer.
        """
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise SettingError(f"ask(n) needs a whole number of at least 1, not {n!r}.")
        if self.done:
            return []
        if self.budget is not None:
            n = min(int(n), self.budget - self.samples)
        counts, minimum = self.record.counts, self.problem.parameter.minimum
        if self.started:
            if self.spend and self.policy.certified(self.view):  # nothing is in question; make all arms better known
                return self.policy.further(self.view, counts, int(n))
            return self.policy.choose(self.view, counts, int(n))
        first: list[int] = np.repeat(np.arange(self.problem.m), np.maximum(minimum - counts, 0))[:n].tolist()
        if len(first) == n:
            return first
        # Every arm is wanted; nothing tells them apart yet.
        return first + spread(self.undecided, np.maximum(counts, minimum), self.problem.scales, n - len(first))

    # -- what is known --------------------------------------------------------------------------------------------

    @property
    def counts(self) -> Ints:
        """Observations of every arm so far."""
        return self.record.counts.copy()

    @property
    def samples(self) -> int:
        """Observations of all arms so far."""
        return int(self.record.counts.sum())

    @property
    def started(self) -> bool:
        """Every arm has enough observations for a first estimate."""
        if not self._started:  # counts never fall
            self._started = bool((self.record.counts >= self.problem.parameter.minimum).all())
        return self._started

    @property
    def view(self) -> View:
        """What the policy sees; only once every arm has an estimate."""
        if self._view is None:
            self._view = View(
                self.problem, self.confidence, self.record, self.delta, self.epsilon, self.relative, per_arm=self.per_arm
            )
        return self._view

    def box(self) -> tuple[Floats, Floats]:
        """The confidence box; the whole range of the parameter for arms without an estimate."""
        if self.started:
            return self.view.box
        problem, known = self.problem, self.record.counts >= self.problem.parameter.minimum
        if not known.any():
            return problem.low.copy(), problem.high.copy()
        lower, upper = self.confidence.box(self.record)
        return np.where(known, lower, problem.low), np.where(known, upper, problem.high)

    @property
    def undecided(self) -> Bools:
        """C_t: the arms whose entry of the optimal decision varies over the box; all, until every arm has an estimate."""
        if self._stopped is not None:
            return self._stopped.undecided
        return self.policy.undecided(self.view) if self.started else np.ones(self.problem.m, dtype=np.bool_)

    @property
    def certified(self) -> bool:
        """The guarantee that was asked for holds."""
        if self._stopped is not None:
            return True
        if not self.started or (self.spend and not self._spent):
            return False
        exact = self.policy.certified(self.view)
        if exact or (self.epsilon > 0 and self.policy.near(self.view)):
            self._stopped = self._certificate(certified=True, exact=exact)
            return True
        return False

    @property
    def done(self) -> bool:
        """Certified, or out of budget."""
        return self._spent or self.certified

    @property
    def _spent(self) -> bool:
        return self.budget is not None and self.samples >= self.budget

    def attained(self) -> float:
        """The smallest delta at which the observations certify the decision now; 1 if none does.

        For every p fixed in advance, a wrong decision attains p or less with probability at most p: it is a p-value that
        may be looked at at any time.
        """
        return self.policy.attained(self.view) if self.started else 1.0

    def plan(self, n: int) -> dict[str, int]:
        """How many of the next n samples to take of each arm, by name; {} when done. As ``ask(n)``, counted."""
        counted = Counter(self.ask(n))
        return {self.problem.names[i]: counted[i] for i in sorted(counted)}

    @property
    def decision(self) -> np.ndarray[Any, Any]:
        """The decision as it stands: certified if ``done`` is so, else the best guess."""
        return self.certificate().decision

    def certificate(self) -> Certificate:
        """What the observations certify now; once certified, what they certified then."""
        if self.certified and self._stopped is not None:
            return self._stopped
        if self._current is None:
            self._current = self._certificate(certified=False)
        return self._current

    def __repr__(self) -> str:
        return f"<Explorer of {self.problem!r}: {str(self.certificate())[:-1]}>"

    # -- inside ---------------------------------------------------------------------------------------------------

    def _decision(self) -> np.ndarray[Any, Any]:
        """phi at the estimates; arms without one count with the middle of their range, or 0 if that is unbounded."""
        if self.started:
            return self.policy.decision(self.view)
        lower, upper = self.box()
        with np.errstate(invalid="ignore"):
            middle = np.nan_to_num((lower + upper) / 2, nan=0.0, posinf=0.0, neginf=0.0)
        theta = np.where(np.isnan(self.record.estimates), middle, self.record.estimates)
        return self.problem._solve(theta.clip(lower, upper))

    def _gap(self, decision: np.ndarray[Any, Any]) -> float:
        """G, or, if relative, its share of the best reward's size; unknown until every arm has an estimate."""
        if not self.started:
            return math.inf
        return self.policy.gap(self.view, decision)

    def _gap_per_arm(self, decision: np.ndarray[Any, Any]) -> float | None:
        """How far any arm of the decision is from the k-th best of its group; None where arms do not fall short one by one."""
        if not self.problem.ranked:
            return None
        return self.policy.shortfall(self.view, decision) if self.started else math.inf

    def _certificate(self, certified: bool, exact: bool = False) -> Certificate:
        lower, upper = self.box()
        decision = self._decision()
        undecided = np.zeros(self.problem.m, dtype=np.bool_) if exact else self.undecided
        return Certificate(
            decision=decision,
            certified=certified,
            delta=self.delta,
            epsilon=self.epsilon,
            relative=self.relative,
            gap=self._gap(decision) if undecided.any() else 0.0,
            per_arm=self.per_arm,
            gap_per_arm=self._gap_per_arm(decision) if undecided.any() else 0.0,
            yardstick=self.problem.yardstick,
            lower=lower.copy(),
            upper=upper.copy(),
            estimate=self.record.estimates.copy(),
            counts=self.record.counts.copy(),
            undecided=undecided.copy(),
            rival=self.policy.rival(self.view) if self.started and undecided.any() else None,
            attained=self.attained() if certified or self._spent else None,
            samples=self.samples,
            policy=self.policy.name,
            rule=self.policy.rule,
            confidence=self.confidence.name,
            names=self.problem.names,
        )


def _checked_per_arm(per_arm: Any, problem: Problem, relative: bool) -> bool:
    if not isinstance(per_arm, (bool, np.bool_)):
        raise SettingError(f"per_arm must be True or False, not {per_arm!r}.")
    if per_arm and not problem.ranked:
        raise SettingError(
            f"per_arm=True needs best-arm, top-k or best-of-each, whose arms fall short one by one; for {problem.kind} leave it "
            "out: epsilon is then for the decision as a whole."
        )
    if per_arm and relative:
        raise SettingError(
            "per_arm=True takes epsilon in units of the parameter; leave out relative=True, a share of the best sum."
        )
    return bool(per_arm)


def _number(value: Any, name: str, what: str, good: Any) -> float:
    try:
        x = float(value) if isinstance(value, (int, float, np.number)) and not isinstance(value, bool) else math.nan
    except (OverflowError, TypeError):
        x = math.nan
    if math.isfinite(x) and good(x):
        return x
    raise SettingError(f"{name} must be {what}, not {value!r}.")
