"""Arms with normal noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arms import WIDEST, Floats
from ..engine.enums import Law
from ..errors import ProblemError
from .base import Environment, Laws, vector


class Gaussian(Environment):
    """Arms with normally distributed values, for problems whose arms are sub-Gaussian or normal.

    Parameters
    ----------
    mean : array of numbers
        One an arm.
    sd : number of at least 0, or array of them
        The standard deviation, for all arms or one an arm. Sub-Gaussian arms need a ``scale`` of at least this.

    Examples
    --------
    >>> from surepick.environments import Gaussian, stream
    >>> world = Gaussian([20, 35], sd=[2, 0])
    >>> world.variances
    array([4., 0.])
    >>> world.sample(1, 3, stream(seed=0, run=0, arm=1))
    array([35., 35., 35.])
    """

    def __init__(self, mean: ArrayLike, sd: ArrayLike) -> None:
        self.means: Floats = vector(mean, "mean", most=WIDEST).copy()
        self.sd: Floats = vector(sd, "sd", len(self.means), WIDEST).copy()
        wrong = np.flatnonzero(self.sd < 0)
        if len(wrong):
            raise ProblemError(
                f"sd[{wrong[0]}] = {self.sd[wrong[0]]:g} is not a standard deviation: give 0 or more.", key=f"sd[{wrong[0]}]"
            )
        self.variances: Floats = self.sd**2

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> Floats:
        self._check(arm, n, rng)
        values: Floats = self.means[arm] + self.sd[arm] * rng.standard_normal(n)
        return values

    def law(self) -> Laws:
        numbers, far = np.column_stack((self.means, self.sd)).ravel(), 40.0 * self.sd  # double precision gets to 14
        return Laws(Law.NORMAL, 2 * np.arange(self.m + 1), numbers, self.means - far, self.means + far)
