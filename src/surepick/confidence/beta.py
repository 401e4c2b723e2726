"""The beta mixture, for means of bounded arms."""

from __future__ import annotations

from ..arms import Arm
from ..engine.enums import Family
from ..errors import SettingError
from ..problems.base import Problem
from .mixture import Mixture, Unit, mean_only


class Beta(Mixture):
    """{u : ln [B(rho u + S, rho (1-u) + N - S) / B(rho u, rho (1-u))] - S ln u - (N - S) ln(1-u) <= ln(m / delta)}.

    N values in [0, 1] (other bounds are scaled to it) have sum S and mean u. For every q, (q/u)^x ((1-q)/(1-u))^(1-x) is convex
    in x, so its mean over any law on [0, 1] with mean u is at most u (q/u) + (1-u)((1-q)/(1-u)) = 1; products over observations
    are supermartingales, and so is their mixture over q ~ Beta(rho u, rho (1-u)). This is the beta-binomial mixture of Howard,
    Ramdas, McAuliffe and Sekhon (2021), centred at the parameter in question; equality holds for Bernoulli arms.

    rho is a number of observations, fixed in advance (see :class:`Mixture`). Close to u the evidence is
    N kl(mean, u) N / (N + rho) - ln(1 + N / rho) / 2: the width adapts to u (1-u), so rare events are as cheap as they should be.
    """

    name = "beta"
    without_replacement = True

    def bind(self, problem: Problem, delta: float) -> None:
        mean_only(self.name, problem)
        super().bind(problem, delta)

    def unit(self, arm: Arm) -> Unit:
        if arm.kind == "subgaussian":
            raise SettingError(
                f"confidence='beta' is for bounded arms, and {arm.name!r} is sub-Gaussian: use 'auto' or 'normal'.",
                key="confidence",
            )
        return Unit(Family.UNIT, arm.low, arm.high - arm.low)
