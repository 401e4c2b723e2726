"""Pairs of observations, for variances of bounded arms."""

from __future__ import annotations

from ..arms import Arm
from ..engine.enums import Family
from ..problems.base import Problem
from .mixture import Mixture, Unit, variance_only, variance_scale


class Pairs(Mixture):
    """The beta mixture for W = ((X - X') / (high - low))^2, whose mean is twice the variance on [0, 1].

    The pairs are the first and second observation of an arm, the third and fourth, and so on: each observation is in one pair,
    so the W of an arm are independent, in [0, 1], with mean 2 variance / (high - low)^2, and the sequence for means holds for
    them (see :class:`~surepick.confidence.beta.Beta`). Overlapping pairs would break it. N is the number of pairs.
    """

    name = "pairs"
    without_replacement = True

    def bind(self, problem: Problem, delta: float) -> None:
        variance_only(self.name, problem)
        super().bind(problem, delta)

    def unit(self, arm: Arm) -> Unit:
        return Unit(Family.UNIT, 0.0, (arm.high - arm.low) ** 2 / 2.0 * variance_scale(arm), pairs=True)
