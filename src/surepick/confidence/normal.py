"""The normal mixture, for means of bounded and sub-Gaussian arms."""

from __future__ import annotations

from ..arms import Arm
from ..engine.enums import Family
from ..problems.base import Problem
from .mixture import Mixture, Unit, mean_only


class Normal(Mixture):
    """Half-width R sqrt( (N + rho) (ln(1 + N/rho) + 2 ln(m/delta)) ) / N, R = (high - low) / 2 for bounded arms.

    exp(l (X - theta) - l^2 R^2 / 2) has mean at most 1 for every l if X is R-sub-Gaussian with mean theta (Hoeffding's lemma for
    bounded arms). Mixed over l ~ normal(0, 1 / (rho R^2)) the product over observations is
    sqrt(rho / (N + rho)) exp( (sum of X - N theta)^2 / (2 R^2 (N + rho)) ), a supermartingale (Robbins 1970; Howard et al. 2021).

    rho is fixed in advance (see :class:`Mixture`); choosing it after seeing N or the values breaks the guarantee.
    """

    name = "normal"

    def bind(self, problem: Problem, delta: float) -> None:
        mean_only(self.name, problem)
        super().bind(problem, delta)

    def unit(self, arm: Arm) -> Unit:
        return Unit(Family.NORMAL, 0.0, arm.scale if arm.scale is not None else (arm.high - arm.low) / 2.0)
