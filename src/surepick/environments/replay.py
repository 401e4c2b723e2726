"""Arms that give back values seen before, or that there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..arms import WIDEST, Floats, Ints
from ..checks import entries, flag, label, numbers, short
from ..engine.enums import Law
from ..errors import ParameterError, ProblemError
from .base import Environment, Laws, stream


class Replay(Environment):
    """Arms that draw from values you have: how would past data, or a whole population, have been explored?

    Parameters
    ----------
    values_by_arm : sequence of flat arrays, or a mapping from an arm's name to its values
        At least one value an arm. The arms may have different numbers of values.
    replace : bool
        Draw with replacement; if False every run draws the values of an arm in a random order of its own, each once, as an
        :class:`~surepick.Arm` with a ``population`` gives them.

    Attributes
    ----------
    names : tuple of str, or None
        The names of the arms if a mapping gave them.

    Notes
    -----
    The values are the whole truth about an arm: ``variances`` divides by their number, not by one less. Without replacement it
    divides by one less, as the variance of a finite population does in surveys.

    Examples
    --------
    >>> from surepick.environments import Replay, stream
    >>> world = Replay({"north": [1, 2, 3, 4], "south": [7]})
    >>> world.names, world.means, world.variances
    (('north', 'south'), array([2.5, 7. ]), array([1.25, 0.  ]))
    >>> world.sample(1, 3, stream(seed=0, run=0, arm=1))
    array([7., 7., 7.])
    >>> world = Replay({"north": [1, 2, 3, 4], "south": [7]}, replace=False)
    >>> sorted(world.sample(0, 4, world.stream(seed=0, run=0, arm=0)).tolist())
    [1.0, 2.0, 3.0, 4.0]
    """

    def __init__(self, values_by_arm: Mapping[str, ArrayLike] | Sequence[ArrayLike], *, replace: bool = True) -> None:
        self.replace: bool = flag(replace, "replace")
        named = isinstance(values_by_arm, Mapping)
        listed = entries(values_by_arm.items() if isinstance(values_by_arm, Mapping) else values_by_arm)
        if listed is None or isinstance(values_by_arm, (str, bytes)):
            raise ProblemError(f"Give a list of values for every arm, or a dict of them by name, not {short(values_by_arm)}.")
        if not listed:
            raise ProblemError("There are no arms to replay; give the values of at least one.")
        items = listed if named else list(enumerate(listed))
        for key, _ in items:
            if not label(key):
                raise ProblemError(f"{short(key)} cannot be the name of an arm: use a text.")
        self.values: list[Floats] = [_values(key, values) for key, values in items]
        self.names: tuple[str, ...] | None = tuple(str(key) for key, _ in items) if named else None
        self.means: Floats = np.array([values.mean() for values in self.values])
        self.variances: Floats = np.array([self._variance(values) for values in self.values])

    def _variance(self, values: Floats) -> float:
        return float(values.var(ddof=0 if self.replace or len(values) == 1 else 1))

    def stream(self, seed: int, run: int, arm: int, begun: int = 0, failures: int = 0) -> np.random.Generator:
        again = super().stream(seed, run, arm, begun, failures)
        return again if self.replace else Order(stream(seed, run, arm), len(self.values[arm]), begun)

    def populations(self) -> Ints | None:
        return None if self.replace else np.array([len(values) for values in self.values])

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> Floats:
        self._check(arm, n, rng)
        values = self.values[arm]
        if not self.replace:
            return values[self._next(arm, n, rng)]
        # One uniform a value. u < 1 gives floor(u len) < len, also after rounding.
        return values[(rng.random(n) * len(values)).astype(np.int64)]

    def _next(self, arm: int, n: int, rng: np.random.Generator) -> Ints:
        """Which values come next, without replacement."""
        if not isinstance(rng, Order) or len(rng.order) != len(self.values[arm]):
            raise ParameterError(
                "Without replacement, what comes next depends on what was drawn: give sample the rng that "
                "world.stream(seed, run, arm) returns, the same one for all values of an arm.",
                key="rng",
            )
        left = len(rng.order) - rng.used
        if n > left:
            name = arm if self.names is None else self.names[arm]
            raise ParameterError(
                f"Arm {name!r} was asked for {n} values, and {left} of its {len(rng.order)} are left: declare it with "
                f"population={len(rng.order)}, or draw with replacement.",
                key="n",
            )
        rng.used += n
        return rng.order[rng.used - n : rng.used]

    def law(self) -> Laws | None:
        if not self.replace:
            return None
        starts, values = np.cumsum([0, *map(len, self.values)]), np.concatenate(self.values)
        least, most = np.minimum.reduceat(values, starts[:-1]), np.maximum.reduceat(values, starts[:-1])
        return Laws(Law.REPLAY, starts, values, least, most, binary=bool(np.isin(values, (0, 1)).all()))


class Order(np.random.Generator):
    """A random order of an arm's values, and how many of them are used."""

    def __init__(self, rng: np.random.Generator, size: int, used: int) -> None:
        super().__init__(rng.bit_generator)
        self.order: Ints = self.permutation(size)
        self.used: int = min(used, size)


def _values(arm: int | str, values: ArrayLike) -> Floats:
    """The values of one arm as a flat array of its own."""
    array = numbers(values)
    if array is None or array.ndim != 1:
        raise ProblemError(f"The values of arm {arm!r} must be a flat list of numbers, not {short(values)}.")
    if len(array) == 0:
        raise ProblemError(f"Arm {arm!r} has no values to replay; give at least one or leave the arm out.")
    bad = np.flatnonzero(~(np.abs(array) <= WIDEST))
    if len(bad):
        raise ProblemError(
            f"Value {array[bad[0]]} at position {bad[0]} of arm {arm!r} is not a finite number of at most {WIDEST:g}: "
            "drop it first."
        )
    return array
