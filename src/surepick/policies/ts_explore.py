"""TS-Explore, for 0/1 decisions with a linear reward."""

from __future__ import annotations

import math

import numpy as np

from ..arms import Bools
from ..problems.base import Problem
from .base import Policy, View

Q = 0.1  # the paper's q: one sampled vector is too optimistic for a wrong decision with at least this probability


class TSExplore(Policy):
    """Thompson Sampling for combinatorial pure exploration (Wang and Zhu 2022, Algorithm 1).

    Every round draws M = ln(12 m^2 t^2 / delta) / q parameter vectors, normal around the means with variance C R_i^2 / T_i,
    C = ln(12 m^2 t^2 / delta) / phi(q)^2, phi(q) the normal quantile with tail q. If the best decision is the same for all of
    them, it is returned. Else the drawn vector under which its best decision leads phi(means) most names the rival, and the
    least sampled arm in which the two differ is sampled. R_i is half an arm's scale.

    The drawn vectors depend on t alone, so asking twice gives the same answer. Its own test replaces the confidence box for
    stopping; the box is still what the certificate reports.
    """

    name = "ts-explore"
    own = "clucb"
    rule = "ts-explore"

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        return None if problem.linear else "0/1 decisions with a linear reward"

    def contrary(self, view: View) -> np.ndarray[tuple[int], np.dtype[np.int64]] | None:
        """The decision of the most contrary draw, or None if all draws agree with phi(means)."""
        from scipy.special import ndtri

        m, t = self.problem.m, view.samples
        log = math.log(12.0) + 2.0 * math.log(m) + 2.0 * math.log(t) - math.log(view.confidence.delta)
        draws = math.ceil(log / Q)
        spread = 0.5 * self.problem.scales * np.sqrt(log / float(ndtri(1.0 - Q)) ** 2 / view.counts)
        noise = np.random.default_rng((0x7553, t)).standard_normal((draws, m))
        best, lead = None, 0.0
        low, high = self.problem.low, self.problem.high
        for theta in view.estimates + spread * noise:
            theta = np.clip(theta, low, high)
            other = self.problem._solve(theta)
            differ = other != view.decision
            if differ.any():
                gap = self.problem._reward(theta, other.astype(float)) - self.problem._reward(theta, view.decision.astype(float))
                if best is None or gap > lead:
                    best, lead = other, gap
        return best

    def certified(self, view: View) -> bool:
        return self.contrary(view) is None

    def candidates(self, view: View) -> Bools:
        rival = self.contrary(view)
        assert rival is not None
        return np.asarray(rival != view.decision)
