"""Arms with values in [0, 1] around a mean."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arms import Floats
from ..engine.enums import Law
from ..errors import ProblemError
from .base import Environment, Laws, vector


class Beta(Environment):
    """Arms with Beta-distributed values, in [0, 1] and as concentrated around their mean as you say.

    Parameters
    ----------
    mean : array of numbers strictly between 0 and 1
        One an arm.
    concentration : positive number or array of them
        a + b of the Beta distribution, for all arms or one an arm: a = mean · concentration and
        b = (1 - mean) · concentration. The variance is mean (1 - mean) / (concentration + 1), so a large
        concentration gives values near the mean and a small one gives values near 0 and 1.

    Examples
    --------
    >>> from surepick.environments import Beta, stream
    >>> world = Beta([0.2, 0.5], concentration=3)
    >>> world.variances
    array([0.04  , 0.0625])
    >>> bool(world.sample(0, 1000, stream(seed=0, run=0, arm=0)).max() <= 1)
    True
    """

    def __init__(self, mean: ArrayLike, concentration: ArrayLike) -> None:
        self.means: Floats = vector(mean, "mean").copy()
        wrong = np.flatnonzero((self.means <= 0) | (self.means >= 1))
        if len(wrong):
            raise ProblemError(
                f"mean[{wrong[0]}] = {self.means[wrong[0]]:g} does not lie strictly between 0 and 1, as the mean of a "
                "Beta arm must; use Bernoulli for an arm that is always 0 or always 1.",
                key=f"mean[{wrong[0]}]",
            )
        self.concentration: Floats = vector(concentration, "concentration", len(self.means)).copy()
        self.a: Floats = self.means * self.concentration
        self.b: Floats = (1 - self.means) * self.concentration
        wrong = np.flatnonzero((self.a <= 0) | (self.b <= 0))
        if len(wrong):
            raise ProblemError(
                f"concentration[{wrong[0]}] = {self.concentration[wrong[0]]:g} must be a positive number.",
                key=f"concentration[{wrong[0]}]",
            )
        self.variances: Floats = self.means * (1 - self.means) / (self.concentration + 1)

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> Floats:
        self._check(arm, n, rng)
        return rng.beta(self.a[arm], self.b[arm], n)

    def law(self) -> Laws:
        numbers = np.column_stack((self.a, self.b)).ravel()
        kinds = np.where(
            (self.a <= 1) & (self.b <= 1), Law.FOREIGN, Law.BETA
        )  # small shapes take a method that differs in compiled code
        return Laws(kinds, 2 * np.arange(self.m + 1), numbers, np.zeros(self.m), np.ones(self.m))
