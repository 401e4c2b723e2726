"""A world to simulate: what the arms really are."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arms import Floats, Ints
from ..checks import LARGEST, MANY, SEEDS, numbers, short, whole
from ..errors import ParameterError, ProblemError
from ..estimators import Estimator, Mean, Variance, make_estimator


def stream(seed: int, run: int, arm: int, begun: int = 0, failures: int = 0) -> np.random.Generator:
    """The random numbers of one arm in one run: its s-th sample depends on (seed, run, arm, s) alone.

    An exploration that goes on with an arm gets numbers that it has not had, and one that goes on after a failure others than
    those that led to it.
    """
    key = (seed, run, arm, begun, failures) if failures else (seed, run, arm, begun) if begun else (seed, run, arm)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(key)))


class Laws(NamedTuple):
    """How compiled code draws an environment's values, see engine/draws.py. Arm i has numbers[starts[i] : starts[i + 1]]."""

    kinds: int | Ints  # of all arms, or one an arm
    starts: Ints
    numbers: Floats
    least: Floats  # no value of an arm is below
    most: Floats  # or above
    binary: bool = False  # every value is 0 or 1


class Environment(ABC):
    """Base of every environment.

    ``sample(arm, n, rng)`` must draw n values as it would draw them one by one, so that no result depends on how many
    are drawn at once.
    """

    means: Floats
    variances: Floats

    def stream(self, seed: int, run: int, arm: int, begun: int = 0, failures: int = 0) -> np.random.Generator:
        """The random numbers of one arm in one run, for ``sample``; ``begun`` values of it were drawn before."""
        whole(seed, "seed", 0, SEEDS, ParameterError)
        whole(arm, "arm", 0, self.m - 1, ParameterError)
        for number, what in ((run, "run"), (begun, "begun"), (failures, "failures")):
            whole(number, what, 0, LARGEST, ParameterError)
        return stream(seed, run, arm, begun, failures)

    def populations(self) -> Ints | None:
        """How many values every arm has, if they are drawn without replacement."""
        return None

    @property
    def m(self) -> int:
        """The number of arms."""
        return len(self.means)

    def __repr__(self) -> str:
        known = getattr(self, "means", None)  # one of a user's own may not be complete yet
        return f"<{type(self).__name__}>" if known is None else f"<{type(self).__name__}: {self.m} arms>"

    @abstractmethod
    def sample(self, arm: int, n: int, rng: np.random.Generator) -> Floats:
        """n values of an arm."""

    def _check(self, arm: int, n: int, rng: np.random.Generator) -> None:
        """Raises unless there is such an arm, and n values can be drawn of it."""
        whole(arm, "arm", 0, self.m - 1, ParameterError)
        whole(n, "n", 0, MANY, ParameterError)
        try:
            draws = callable(rng.random)
        except Exception:
            draws = False
        if not draws:
            raise ParameterError(
                f"rng must be a Generator of NumPy, such as numpy.random.default_rng(0), not {short(rng)}.", key="rng"
            )

    def law(self) -> Laws | None:
        """The same draws for compiled code, if it has them."""
        return None

    def truth(self, parameter: str | Estimator) -> Floats:
        """theta: the true parameter of every arm."""
        parameter = make_estimator(parameter)
        if isinstance(parameter, Mean):
            return self.means.copy()
        if isinstance(parameter, Variance):
            return self.variances.copy()
        raise ProblemError(f"The true {parameter.name!r} of this environment is not known; only mean and variance are.")


def law_of(environment: Environment) -> Laws | None:
    """The law of an environment. One that samples otherwise than its class, or its parent, does not have their law."""
    if "sample" in vars(environment):
        return None
    for cls in type(environment).__mro__:
        if "sample" in vars(cls) or "law" in vars(cls):
            own = "law" in vars(cls) and type(environment).sample.__module__ == cls.__module__
            return environment.law() if own else None
    return None


def vector(values: ArrayLike, what: str, m: int | None = None, most: float = sys.float_info.max) -> Floats:
    """A flat array of finite numbers, one an arm; a single number serves all m arms."""
    array = numbers(values)
    if array is None or array.ndim > 1 or array.size == 0 or (array.ndim == 0 and m is None):
        raise ProblemError(f"{what} must be a flat list of numbers, one an arm, not {short(values)}.", key=what)
    if array.ndim == 0 and m is not None:
        array = np.full(m, float(array))
    if m is not None and len(array) != m:
        raise ProblemError(
            f"{what} has {len(array)} entries but there are {m} arms: give one an arm, or one number for all.", key=what
        )
    wrong = np.flatnonzero(~(np.abs(array) <= most))
    if len(wrong):
        limit = f" of at most {most:g}" if math.isfinite(array[wrong[0]]) else ""
        raise ProblemError(f"{what}[{wrong[0]}] is not a finite number{limit}.", key=f"{what}[{wrong[0]}]")
    return array
