"""Arms that give 0 or 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arms import Floats
from ..engine.enums import Law
from ..errors import ProblemError
from .base import Environment, Laws, vector


class Bernoulli(Environment):
    """Arms that give 1 with their own probability, else 0: a click, a cure, a yes.

    Parameters
    ----------
    p : array of numbers in [0, 1]
        The probability of a 1, one an arm.

    Examples
    --------
    >>> from surepick.environments import Bernoulli, stream
    >>> world = Bernoulli([0.5, 0.9])
    >>> world.sample(0, 6, stream(seed=0, run=0, arm=0))
    array([0., 1., 1., 1., 0., 0.])
    >>> world.variances
    array([0.25, 0.09])
    """

    def __init__(self, p: ArrayLike) -> None:
        self.p: Floats = vector(p, "p").copy()
        wrong = np.flatnonzero((self.p < 0) | (self.p > 1))
        if len(wrong):
            raise ProblemError(
                f"p[{wrong[0]}] = {self.p[wrong[0]]:g} is not a probability: give a number from 0 to 1.", key=f"p[{wrong[0]}]"
            )
        self.means: Floats = self.p.copy()
        self.variances: Floats = self.p * (1 - self.p)

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> Floats:
        self._check(arm, n, rng)
        ones: Floats = (rng.random(n) < self.p[arm]).astype(np.float64)
        return ones

    def law(self) -> Laws:
        return Laws(Law.BERNOULLI, np.arange(self.m + 1), self.p, np.zeros(self.m), np.ones(self.m), binary=True)
