"""TS-Explore, for 0/1 decisions with a linear reward."""

from __future__ import annotations

import math
import secrets
from typing import Any, ClassVar

import numpy as np

from ..arms import Bools, Floats
from ..checks import MANY, number, whole
from ..confidence.base import Confidence
from ..confidence.mixture import TUNED, width
from ..estimators import Mean, Moments
from ..problems.base import Problem
from .base import Policy, View

Q = 0.1  # the paper's choice in its experiments
SPLIT = 0.5  # the part of the test's delta that is for means far from the truth; the rest is for unlucky draws


class TSExplore(Policy):
    """Thompson Sampling for combinatorial pure exploration (Wang and Zhu 2022, Algorithm 1), with constants that are proved.

    Every round draws M parameter vectors, normal around the means. If the best decision is the same for all of them, it is
    returned. Else the drawn vector under which its best decision leads phi(means) most names the rival, and the least sampled
    arm in which the two differ is sampled.

    Why it may stop: let y* be the best decision, y^ = phi(means) another one, and c = y* - y^ with support S. As for
    ``joint-linear``, with probability 1 - delta_1, at all times, <c, theta - means> <= sqrt(2 B Q), Q = sum over S of
    R_i^2 (N_i + rho) / N_i^2 and B = ln(1 / delta_1) + a + sum over S of (b + ln(1 + N_i / rho) / 2). Draws have variance
    2 B R_i^2 (N_i + rho) / N_i^2 / z^2, with the largest such B and z the normal quantile with tail q. So <c, draw> is normal,
    with mean at least <c, theta> - sqrt(2 B Q) >= -sqrt(2 B Q) and standard deviation sqrt(2 B Q) / z at least: it is above 0,
    and y^ not the best of the draw, with probability q or more. All M draws agree with y^ with probability (1 - q)^M at most,
    and M = ln(pi^2 t^2 / (6 delta_2)) / q makes the sum over all t at most delta_2.

    The paper's variance C(t) R_i^2 / N_i, C(t) = ln(12 |decisions|^2 t^2 / delta) / z^2, is smaller; its union over decisions
    takes the counts as if they were fixed. Draws are not clipped to the arms' range: the argument above needs them as they are.

    The drawn vectors depend on t and on the policy's own entropy, so asking twice gives the same answer. Vectors for a smaller
    delta are those for a larger one, spread further, and some more, so that certificates are nested in delta.

    Parameters
    ----------
    q : float
        The paper's q, from 0.001 to 0.49: one drawn vector contradicts a wrong decision with at least this probability. A larger
        one draws fewer vectors, which are spread further. From 1/2 on, draws would prove nothing.
    tuned : int
        The observations of an arm for which rho is tuned, as for the sequence ``normal``.
    box_share : float
        The part of delta that the reported box gets, from 0.001 to 0.999; the test has the rest.
    """

    name = "ts-explore"
    own: ClassVar[str | Confidence] = "clucb"
    rule = "ts-explore"
    independent = True

    a: float
    b: float
    whole: bool

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        if type(problem.parameter) is not Mean:
            return "the mean as its parameter"
        if problem.finite:
            return "arms without a population"
        if problem.unscaled:
            return "arms with bounds or a scale"
        if not problem.linear:
            return "0/1 decisions with a linear reward"
        return None if problem.any_weights else "a maximiser that takes weights of either sign"

    def __init__(self, *, q: float = Q, tuned: int = TUNED, box_share: float = 0.1) -> None:
        self.q: float = number(q, "q", "a number from 0.001 to 0.49", lambda x: 0.001 <= x <= 0.49)
        self.tuned: int = whole(tuned, "tuned", 1, MANY)
        self._share_out(box_share)

    def bind(self, problem: Problem) -> None:
        super().bind(problem)
        self.a, self.b, _, self.whole = union(problem)
        self.widest: int = min(problem.m, 2 * int(problem.solve_at(np.full(problem.m, problem.sign)).sum()))
        self.entropy: tuple[int, ...] = (secrets.randbits(64),)

    def seed(self, seed: int, run: int) -> None:
        self.entropy = (0x7553, seed, run)

    def memory(self) -> list[int]:
        return list(self.entropy)

    def remember(self, memory: list[int]) -> None:
        self.entropy = tuple(memory)

    def decision(self, view: View) -> np.ndarray[Any, Any]:
        found = view.__dict__.get("ts_decision")
        if found is None:
            found = view.__dict__["ts_decision"] = self.problem.solve_at(view.estimates)
        return found

    def spread(self, view: View) -> Floats:
        """Standard deviations of the draws."""
        from scipy.special import ndtri

        share = (1.0 - self.box_share) * SPLIT
        rho = width(-math.log(view.fixed * share), self.tuned)
        regret = 0.5 * np.log1p(view.counts / rho)
        if not self.whole:  # the arms in which two decisions differ, at most
            regret = np.sort(self.b + regret)[-self.widest :]
        level = (0.0 if self.whole else self.a) + float(regret.sum()) - math.log(view.delta * share)
        half = self.problem.scales / 2.0  # R
        z = float(ndtri(1.0 - self.q))
        found: Floats = half * np.sqrt(2.0 * level * (view.counts + rho)) / view.counts / z
        assert isinstance(view.record, Moments)
        rounding = view.record.rounding
        if rounding.any():  # |a + b| >= (|a| + |b|) / sqrt(2): the draws reach as far as the means may be off, too
            found = math.sqrt(2.0) * (found + math.sqrt(self.widest) * rounding / z)
        return found

    def contrary(self, view: View) -> np.ndarray[Any, Any] | None:
        """The decision of the most contrary draw, or None if all draws agree with phi(means)."""
        if "contrary" in view.__dict__:
            return view.__dict__["contrary"]  # type: ignore[no-any-return]
        t, decision = view.samples, self.decision(view)
        part = view.delta * (1.0 - self.box_share) * (1.0 - SPLIT)
        draws = math.ceil((2.0 * math.log(math.pi * t) - math.log(6.0 * part)) / self.q)
        noise = np.random.default_rng((*self.entropy, t)).standard_normal((draws, self.problem.m))
        best, lead = None, 0.0
        for theta in view.estimates + self.spread(view) * noise:
            other = self.problem.solve_at(theta)
            if (other != decision).any():
                gap = self.problem.reward_at(theta, other.astype(float)) - self.problem.reward_at(theta, decision.astype(float))
                if best is None or gap > lead:
                    best, lead = other, gap
        view.__dict__["contrary"] = best
        return best

    def certified(self, view: View) -> bool:
        return self.contrary(view) is None

    def candidates(self, view: View) -> Bools:
        rival = self.contrary(view)
        assert rival is not None
        return np.asarray(rival != self.decision(view))


def union(problem: Problem) -> tuple[float, float, int, bool]:
    """a, b and k of the union over alternatives, or the product over all arms, which needs none (True): what is cheaper.

    Chosen before any data: at the count that mixtures are tuned for, an arm costs about 1.
    """
    a, b, parts = problem.alternatives()
    size = 2.0 * float(problem.solve_at(np.full(problem.m, problem.sign)).sum())
    if a + (b + 1.0) * min(size, problem.m) >= problem.m:
        return 0.0, 0.0, 1, True
    return a, b, parts, False
