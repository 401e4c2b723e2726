"""Arms that give back values seen before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..arms import WIDEST, Floats
from ..checks import entries, label, numbers, short
from ..engine.enums import Law
from ..errors import ProblemError
from .base import Environment, Laws


class Replay(Environment):
    """Arms that draw, with replacement, from values you have: how would past data have been explored?

    Parameters
    ----------
    values_by_arm : sequence of flat arrays, or a mapping from an arm's name to its values
        At least one value an arm. The arms may have different numbers of values.

    Attributes
    ----------
    names : tuple of str, or None
        The names of the arms if a mapping gave them.

    Notes
    -----
    The values are the whole truth about an arm: ``variances`` divides by their number, not by one less.

    Examples
    --------
    >>> from surepick.environments import Replay, stream
    >>> world = Replay({"north": [1, 2, 3, 4], "south": [7]})
    >>> world.names, world.means, world.variances
    (('north', 'south'), array([2.5, 7. ]), array([1.25, 0.  ]))
    >>> world.sample(1, 3, stream(seed=0, run=0, arm=1))
    array([7., 7., 7.])
    """

    def __init__(self, values_by_arm: Mapping[str, ArrayLike] | Sequence[ArrayLike]) -> None:
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
        self.variances: Floats = np.array([values.var() for values in self.values])

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> Floats:
        self._check(arm, n, rng)
        values = self.values[arm]
        # One uniform a value. u < 1 gives floor(u len) < len, also after rounding.
        return values[(rng.random(n) * len(values)).astype(np.int64)]

    def law(self) -> Laws:
        starts, values = np.cumsum([0, *map(len, self.values)]), np.concatenate(self.values)
        least, most = np.minimum.reduceat(values, starts[:-1]), np.maximum.reduceat(values, starts[:-1])
        return Laws(Law.REPLAY, starts, values, least, most, binary=bool(np.isin(values, (0, 1)).all()))


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
