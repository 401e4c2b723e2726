"""The variance p (1 - p) of arms declared Bernoulli."""

from __future__ import annotations

from ..arms import Arm
from ..engine.enums import Family
from ..errors import SettingError
from ..problems.base import Problem
from .mixture import Mixture, Unit, variance_only, variance_scale


class BernoulliVariance(Mixture):
    """The image of the beta mixture's interval for p under p -> p (1 - p).

    If the interval holds p then its image holds p (1 - p), at no further cost. Near p = 1/2 the map is flat, so the width is
    quadratic in that of p. Only for arms that are *declared* Bernoulli: that all values so far were 0 and 1 does not do.
    """

    name = "bernoulli-variance"
    without_replacement = True

    def bind(self, problem: Problem, delta: float) -> None:
        variance_only(self.name, problem)
        super().bind(problem, delta)

    def unit(self, arm: Arm) -> Unit:
        if arm.kind != "bernoulli":
            raise SettingError(
                f"confidence='bernoulli-variance' is for arms with kind='bernoulli', and {arm.name!r} is {arm.kind}: use 'auto'.",
                key="confidence",
            )
        return Unit(Family.SPREAD, 0.0, variance_scale(arm))
