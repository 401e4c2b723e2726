"""Arms: the things that can be sampled, and what is known about their values beforehand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import ObservationError, ProblemError, UnknownArmError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

KINDS = ("bounded", "bernoulli", "subgaussian")
WIDEST = 1e70  # bounds, scales and values up to this; squares of variances then stay within floating point


@dataclass(frozen=True, slots=True)
class Arm:
    """One thing that can be sampled.

    Parameters
    ----------
    name : str
    low, high : float
        Bounds that every value of this arm respects. They are part of the guarantee: the confidence radius
        is proportional to ``high - low``, and a value outside them is refused.
    kind : {"bounded", "bernoulli", "subgaussian"}
        ``"bernoulli"`` arms give only 0 and 1. ``"subgaussian"`` arms are unbounded with a known ``scale``.
    scale : float, optional
        R for a sub-Gaussian arm: its standard deviation if it is normal.

    Examples
    --------
    >>> Arm("price", low=10, high=20)
    Arm(name='price', low=10.0, high=20.0, kind='bounded', scale=None)
    """

    name: str
    low: float = 0.0
    high: float = 1.0
    kind: str = "bounded"
    scale: float | None = None

    def __post_init__(self) -> None:
        name = self.name
        if not isinstance(name, str) or not name:
            raise ProblemError(f"An arm's name must be a non-empty text, not {name!r}.")
        object.__setattr__(self, "name", str(name))  # NumPy has texts of its own
        if self.kind not in KINDS:
            raise ProblemError(f"Arm {name!r} has kind {self.kind!r}; use one of {', '.join(KINDS)}.")
        if self.kind == "subgaussian":
            if self.scale is None or not _is_real(self.scale) or not 1 / WIDEST <= self.scale <= WIDEST:
                raise ProblemError(
                    f"Sub-Gaussian arm {name!r} needs scale=R, a positive number (R is the standard deviation "
                    f"of a normal arm), not {self.scale!r}."
                )
            if (self.low, self.high) not in ((0.0, 1.0), (-math.inf, math.inf)):
                raise ProblemError(f"Sub-Gaussian arm {name!r} is unbounded: leave out low and high, or use kind='bounded'.")
            object.__setattr__(self, "scale", float(self.scale))
            object.__setattr__(self, "low", -math.inf)
            object.__setattr__(self, "high", math.inf)
            return
        if self.scale is not None:
            raise ProblemError(f"Arm {name!r} is {self.kind}: scale is for kind='subgaussian' only; leave it out.")
        if not (_is_real(self.low) and _is_real(self.high)):
            raise ProblemError(
                f"Arm {name!r} needs finite bounds, not low={self.low!r}, high={self.high!r}; "
                "for unbounded values use kind='subgaussian' with scale=R."
            )
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))
        if not self.low < self.high:
            raise ProblemError(f"Arm {name!r} needs low < high, not low={self.low!r}, high={self.high!r}.")
        if max(abs(self.low), abs(self.high)) > WIDEST or self.high - self.low < 1 / WIDEST:
            raise ProblemError(
                f"Arm {name!r} has bounds [{self.low:g}, {self.high:g}], beyond {WIDEST:g} or closer than {1 / WIDEST:g}: "
                "express its values in another unit."
            )
        if self.kind == "bernoulli" and (self.low, self.high) != (0, 1):
            raise ProblemError(f"Bernoulli arm {name!r} has values 0 and 1: leave out low and high.")

    def check(self, values: ArrayLike) -> Floats:
        """Return the observations as a flat array, or raise :class:`ObservationError` naming the first bad one."""
        raw = numbers(values)
        if raw is None or raw.ndim > 1:
            raise ObservationError(
                f"Arm {self.name!r} takes a number or a flat list of numbers, not {short(values)}. Nothing was recorded."
            )
        data = np.atleast_1d(raw)
        good = (np.abs(data) <= WIDEST) & (data >= self.low) & (data <= self.high)
        if self.kind == "bernoulli":
            good &= (data == 0) | (data == 1)
        if good.all():
            return data
        where = int(np.flatnonzero(~good)[0])
        value = float(data[where])
        at = f" at position {where}" if raw.ndim else ""
        if not math.isfinite(value):
            why = "is not a finite number: drop it, or record it as missing in your own data"
        elif abs(value) > WIDEST:
            why = f"is beyond {WIDEST:g}: express the arm's values in another unit"
        elif self.kind == "bernoulli":
            why = "is neither 0 nor 1: this arm was declared Bernoulli; declare it 'bounded' if it has other values"
        else:
            why = f"lies outside [{self.low:g}, {self.high:g}]: declare wider bounds for the arm before sampling"
        raise ObservationError(f"Observation {value!r}{at} of arm {self.name!r} {why}. Nothing was recorded.")


def _is_real(x: object) -> bool:
    if isinstance(x, bool) or not isinstance(x, (int, float, np.integer, np.floating)):
        return False
    try:
        return math.isfinite(float(x))
    except OverflowError:
        return False


def numbers(values: object) -> Floats | None:
    """The values as an array of floats, or None if they are not plain real numbers (texts and ragged lists are not)."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        return None
    return array.astype(np.float64) if array.dtype.kind in "biuf" else None


def short(x: object) -> str:
    """A value as text that fits in a sentence."""
    text = repr(x)
    return text if len(text) <= 60 else text[:57] + "..."


def make_arms(arms: int | Sequence[str | Arm] | Sequence[Arm] | Sequence[str], noun: str = "arm") -> tuple[Arm, ...]:
    """Arms from a number of them, their names, or :class:`Arm` objects; refuses duplicates and none at all."""
    listed = (isinstance(arms, Sequence) and not isinstance(arms, (str, bytes))) or (
        isinstance(arms, np.ndarray) and arms.ndim == 1
    )
    if isinstance(arms, bool) or not (listed or isinstance(arms, (int, np.integer))):
        raise ProblemError(f"Give the {noun}s as a whole number, a list of names or a list of Arm objects, not {arms!r}.")
    made: tuple[Arm, ...]
    if isinstance(arms, (int, np.integer)):
        made = tuple(Arm(f"{noun} {i}") for i in range(int(arms)))
    else:
        made = tuple(a if isinstance(a, Arm) else Arm(a) for a in arms)
    if not made:
        raise ProblemError(f"The problem has no {noun}s; give at least one.")
    seen: dict[str, int] = {}
    for i, arm in enumerate(made):
        if arm.name in seen:
            raise ProblemError(
                f"Two {noun}s are called {arm.name!r} (positions {seen[arm.name]} and {i}); give each its own name."
            )
        seen[arm.name] = i
    return made


class ArmIndex:
    """Finds an arm by name or by index."""

    def __init__(self, arms: Sequence[Arm]) -> None:
        self._by_name = {arm.name: i for i, arm in enumerate(arms)}
        self._m = len(arms)

    def __getitem__(self, arm: int | str) -> int:
        if isinstance(arm, str):
            if arm in self._by_name:
                return self._by_name[arm]
            import difflib

            close = difflib.get_close_matches(arm, self._by_name, n=1)
            first = ", ".join(map(repr, list(self._by_name)[:5]))
            hint = f"; did you mean {close[0]!r}?" if close else f"; the first arms are {first}."
            raise UnknownArmError(f"There is no arm called {arm!r}{hint} Nothing was recorded.")
        if isinstance(arm, (int, np.integer)) and not isinstance(arm, bool):
            if 0 <= arm < self._m:
                return int(arm)
            raise UnknownArmError(f"There is no arm {int(arm)}: the arms are numbered 0 to {self._m - 1}. Nothing was recorded.")
        raise UnknownArmError(f"An arm is named by its text or its whole number, not {arm!r}. Nothing was recorded.")
