"""Arms: the things that can be sampled, and what is known about their values beforehand."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .checks import MANY, among, entries, is_whole, label, masked, nearest, numbers, real, sequence, short
from .errors import ObservationError, ProblemError, UnknownArmError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Names: TypeAlias = Sequence[Hashable]  # or Arm objects
Values: TypeAlias = ArrayLike | Fraction | Decimal | Iterable[float | Fraction | Decimal]

Kind: TypeAlias = Literal["bounded", "bernoulli", "subgaussian", "normal"]
Sense: TypeAlias = Literal["max", "min"]  # what is looked for

KINDS: tuple[Kind, ...] = get_args(Kind)
FIRST = 1_000_000  # entries of a list among which one that is not a number is looked for
FEW = 10_000  # names up to which one that resembles an unknown one is looked for
FAR = 4e12  # how far from 0 values may be, in units of their range or scale: at 1e12 they have four digits left
FAR_COUNTED = 1e6  # the same of arms with a population: when all values are told, nothing but rounding is left to be unsure of
CHEAPEST = 1e-12  # the least that an observation may cost; the inverse is the most
LARGEST_POPULATION = 10**12  # values of an arm that is finite
SELDOM = ("cost", "population")  # fields of an arm that few declare
WIDEST = 1e70  # bounds, scales and values up to this; squares of variances then stay within floating point


@dataclass(frozen=True, slots=True)
class Arm:
    """One thing that can be sampled.

    Parameters
    ----------
    name : hashable
        A text, a tuple such as ("lr", 0.1), a date, whatever can be a key of a dict and is not a whole number: those are the
        arms' positions.
    low, high : float
        Bounds that every value of this arm respects. They are part of the guarantee, and a value outside them is refused.
        Evidence that the mean is below u can grow by about (u - x) / (high - u) a value x and no more, so a generous ``high``
        costs samples; evidence that it is above u knows no upper bound.
    kind : {"bounded", "bernoulli", "subgaussian", "normal"}
        ``"bernoulli"`` arms give only 0 and 1. ``"subgaussian"`` arms are unbounded with a known ``scale``. ``"normal"`` arms
        have normally distributed values, with neither bounds nor a known scale.
    scale : float, optional
        R for a sub-Gaussian arm: its standard deviation if it is normal.
    cost : float
        What one observation of the arm costs, in any unit that all arms share. Policies sample where evidence is cheap; the
        guarantee does not depend on it.
    population : int, optional
        The arm has this many values and no more, and they are drawn without replacement, in random order. Its parameter is that
        of these values, and is known once all of them are. For kinds "bounded" and "bernoulli".

    Examples
    --------
    >>> Arm("price", low=10, high=20)
    Arm(name='price', low=10.0, high=20.0, kind='bounded', scale=None)
    >>> Arm("survey", kind="bernoulli", cost=3.5)
    Arm(name='survey', low=0.0, high=1.0, kind='bernoulli', scale=None, cost=3.5)
    >>> Arm("households", kind="bernoulli", population=840)
    Arm(name='households', low=0.0, high=1.0, kind='bernoulli', scale=None, population=840)
    """

    name: Hashable
    low: float = 0.0
    high: float = 1.0
    kind: Kind = "bounded"
    scale: float | None = None
    cost: float = 1.0
    population: int | None = None

    def __post_init__(self) -> None:
        name = _name(self.name)
        object.__setattr__(self, "name", name)
        cost = real(self.cost)
        if cost is None or not CHEAPEST <= cost <= 1 / CHEAPEST:
            raise ProblemError(
                f"Arm {name!r} needs a cost that is a positive number from {CHEAPEST:g} to {1 / CHEAPEST:g}, what one "
                f"observation of it costs, not {short(self.cost)}; leave it out if all arms cost the same.",
                key="cost",
            )
        object.__setattr__(self, "cost", cost)
        if not among(self.kind, KINDS):
            meant = {"gaussian": "normal"}.get(self.kind.casefold(), self.kind) if isinstance(self.kind, str) else ""
            near = nearest(meant, KINDS)
            hint = "" if near is None else f" (did you mean {near!r}?)"
            raise ProblemError(f"Arm {name!r} has kind {short(self.kind)}{hint}; use one of {', '.join(KINDS)}.", key="kind")
        self._count(name)
        low, high, scale = real(self.low), real(self.high), real(self.scale)
        given = f"low={short(self.low)}, high={short(self.high)}"
        if self.kind == "normal":
            if self.scale is not None:
                raise ProblemError(
                    f"Normal arm {name!r} needs no scale, its variance is learnt: leave scale out, or use kind='subgaussian' "
                    "if the standard deviation is known.",
                    key="scale",
                )
            self._unbound(f"Normal arm {name!r}")
            return
        if self.kind == "subgaussian":
            if scale is None or not 1 / WIDEST <= scale <= WIDEST:
                raise ProblemError(
                    f"Sub-Gaussian arm {name!r} needs scale=R, a positive number (R is the standard deviation "
                    f"of a normal arm), not {short(self.scale)}.",
                    key="scale",
                )
            self._unbound(f"Sub-Gaussian arm {name!r}")
            object.__setattr__(self, "scale", scale)
            return
        if self.scale is not None:
            raise ProblemError(f"Arm {name!r} is {self.kind}: scale is for kind='subgaussian' only; leave it out.", key="scale")
        if low is None or high is None:
            raise ProblemError(
                f"Arm {name!r} needs finite bounds, not {given}; for unbounded values use kind='normal', or kind='subgaussian' "
                "with scale=R.",
                key="low",
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if not low < high:
            raise ProblemError(f"Arm {name!r} needs low < high, not {given}.", key="low")
        if max(abs(low), abs(high)) > WIDEST or high - low < 1 / WIDEST:
            raise ProblemError(
                f"Arm {name!r} has bounds [{low:g}, {high:g}], beyond {WIDEST:g} or closer than {1 / WIDEST:g}: "
                "express its values in another unit.",
                key="low",
            )
        if max(abs(low), abs(high)) > (FAR if self.population is None else FAR_COUNTED) * (high - low):
            raise ProblemError(
                f"Arm {name!r} has bounds [{low!r}, {high!r}], so far from 0 that its values have few digits left to differ in: "
                "count them from another origin, such as low.",
                key="low",
            )
        if self.kind == "bernoulli" and (low, high) != (0, 1):
            raise ProblemError(f"Bernoulli arm {name!r} has values 0 and 1: leave out low and high.", key="low")

    def _count(self, name: Hashable) -> None:
        """Check the population."""
        if self.population is None:
            return
        if not is_whole(self.population) or not 1 <= self.population <= LARGEST_POPULATION:
            raise ProblemError(
                f"Arm {name!r} needs a population that is a whole number from 1 to {LARGEST_POPULATION:,}, how many values it "
                f"has in all, not {short(self.population)}; leave it out if values are drawn with replacement or never run out.",
                key="population",
            )
        if self.kind not in ("bounded", "bernoulli"):
            raise ProblemError(
                f"Arm {name!r} is {self.kind} and has a population: finite populations are for arms of kind 'bounded' or "
                "'bernoulli'; declare bounds that all of its values respect, or leave population out.",
                key="population",
            )
        object.__setattr__(self, "population", int(self.population))

    @property
    def size(self) -> float:
        """How many values it has; infinite if it was declared without a population."""
        return math.inf if self.population is None else float(self.population)

    def _unbound(self, who: str) -> None:
        given = real(self.low), real(self.high)
        if given != (0.0, 1.0) and not (_infinite(self.low, -1) and _infinite(self.high, 1)):
            raise ProblemError(f"{who} is unbounded: leave out low and high, or use kind='bounded'.", key="low")
        object.__setattr__(self, "low", -math.inf)
        object.__setattr__(self, "high", math.inf)

    def __repr__(self) -> str:
        """What is seldom declared is left out where it is not."""
        shown = [one for one in fields(self) if one.name not in SELDOM or getattr(self, one.name) != one.default]
        return f"Arm({', '.join(f'{one.name}={getattr(self, one.name)!r}' for one in shown)})"

    def __getstate__(self) -> list[Any]:
        return [getattr(self, one.name) for one in fields(self)]

    def __setstate__(self, state: list[Any]) -> None:
        """What was pickled before a field was added has its default."""
        for i, one in enumerate(fields(self)):
            object.__setattr__(self, one.name, state[i] if i < len(state) else one.default)

    @property
    def farthest(self) -> float:
        """How far from 0 a value may be."""
        return WIDEST if self.scale is None else min(WIDEST, FAR * self.scale)

    def check(self, values: Values) -> Floats:
        """Return the observations as a flat array, or raise :class:`ObservationError` naming the first bad one."""
        raw = numbers(values)
        if fault := self._fault(values, raw):
            raise ObservationError(f"{fault} Nothing was recorded.", arm=self.name)
        return np.atleast_1d(raw)  # type: ignore[arg-type]

    def fault(self, values: Values) -> str:
        """What is wrong with the observations, as a sentence about the first bad one; "" if nothing is."""
        return self._fault(values, numbers(values))

    def _fault(self, values: Values, raw: Floats | None) -> str:
        if raw is None or raw.ndim > 1:
            return f"Arm {self.name!r} takes a number or a flat list of numbers, not {short(values)}{_oddity(values)}."
        data = np.atleast_1d(raw)
        widest = self.farthest
        good = (np.abs(data) <= widest) & (data >= self.low) & (data <= self.high)
        if self.kind == "bernoulli":
            good &= (data == 0) | (data == 1)
        if good.all():
            return ""
        where = int(np.flatnonzero(~good)[0])
        value = float(data[where])
        at = f" at position {where}" if raw.ndim else ""
        if not math.isfinite(value):
            why = f"is not a finite number{MISSING}"
        elif WIDEST >= abs(value) > widest:
            why = f"is more than {FAR:g} times the scale {self.scale:g} from 0: count the arm's values from another origin"
        elif abs(value) > WIDEST:
            why = f"is beyond {WIDEST:g}: express the arm's values in another unit"
        elif self.kind == "bernoulli":
            why = "is neither 0 nor 1: this arm was declared Bernoulli; declare it 'bounded' if it has other values"
        else:
            why = f"lies outside [{self.low:g}, {self.high:g}]: {WAYS_OUT if self.population is None else WAYS_OUT_COUNTED}"
        return f"Observation {value!r}{at} of arm {self.name!r} {why}."


def _name(name: Any) -> Hashable:
    """The name of an arm, if it can be one."""
    if isinstance(name, (np.str_, np.bytes_, np.floating)):
        name = name.item()  # NumPy has texts and numbers of its own
    if name is None or not label(name) or str(name) == "":
        raise ProblemError(
            "An arm's name must be a non-empty text, a tuple or another value that can be the key of a dict and equals itself, "
            f"not {short(name)}.",
            key="name",
        )
    if isinstance(name, (bool, np.bool_)) or is_whole(name) or (real(name) is not None and name == math.floor(name)):
        raise ProblemError(
            f"An arm cannot be called {short(name)}, because whole numbers are the arms' positions: "
            "use texts or tuples, or leave out the names and say how many arms there are.",
            key="name",
        )
    return name  # type: ignore[no-any-return]


def _infinite(x: object, sign: int = 0) -> bool:
    return isinstance(x, (float, Decimal)) and math.isinf(x) and (sign == 0 or (x > 0) == (sign > 0))


WAYS_OUT = (
    "before sampling, declare bounds that no value can ever pass, the physical ones; or kind='normal', which has no bounds, if "
    "values are normally distributed; or tell a transform that has bounds, such as a share or a capped value, and the decision "
    "is then about its means"
)
WAYS_OUT_COUNTED = (
    "before sampling, declare bounds that no value can ever pass, the physical ones; or tell a transform that has bounds, such "
    "as a share or a capped value, and the decision is then about its means"
)
MISSING = ": leave it out if it is missing whatever it was, else tell what it counts as"


def _oddity(values: object) -> str:
    """Which entry of a flat list is the first that is not a number, and what to do, for the end of a sentence."""
    if isinstance(values, str):
        return ": convert texts with float()"
    if values is None or type(values).__name__ in ("NAType", "NaTType") or values is np.ma.masked:
        return MISSING
    if isinstance(values, np.ma.MaskedArray) and masked(values):
        return (
            f": the entry at position {int(np.flatnonzero(np.ma.getmaskarray(values))[0])} is masked{MISSING}"
            if values.ndim
            else ""
        )
    if isinstance(values, (list, tuple)) or (isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype == object):
        for i, value in enumerate(values[:FIRST]):
            if type(value) is not float and ((single := numbers(value)) is None or single.ndim):
                return f": the entry at position {i} is {short(value)}"
    return ""


def make_arms(arms: int | Names, noun: str = "arm") -> tuple[Arm, ...]:
    """Arms from a number of them, their names, or :class:`Arm` objects; refuses duplicates and none at all."""
    given = entries(arms) if sequence(arms) else None
    made: tuple[Arm, ...]
    if given is not None:
        made = tuple(a if isinstance(a, Arm) else Arm(a) for a in given)
    elif is_whole(arms):
        if int(arms) > MANY:
            raise ProblemError(f"{short(int(arms))} {noun}s are too many: at most {MANY:,} are supported.", key="arms")
        made = tuple(Arm(f"{noun} {i}") for i in range(int(arms)))
    else:
        raise ProblemError(
            f"Give the {noun}s as a whole number, a list of names or a list of Arm objects, not {short(arms)}.", key="arms"
        )
    if not made:
        raise ProblemError(f"The problem has no {noun}s; give at least one.", key="arms")
    seen: dict[Hashable, int] = {}
    for i, arm in enumerate(made):
        if arm.name in seen:
            raise ProblemError(
                f"Two {noun}s are called {arm.name!r} (positions {seen[arm.name]} and {i}); give each its own name.", key="arms"
            )
        seen[arm.name] = i
    return made


class ArmIndex:
    """Finds an arm by name or by index."""

    def __init__(self, arms: Sequence[Arm]) -> None:
        self._by_name = {arm.name: i for i, arm in enumerate(arms)}
        self._m = len(arms)

    def __getitem__(self, arm: Hashable) -> int:
        if is_whole(arm):
            if 0 <= int(arm) < self._m:
                return int(arm)
            raise UnknownArmError(f"There is no arm {short(int(arm))}: the arms are numbered 0 to {self._m - 1}.", arm=arm)
        try:
            if arm in self._by_name:
                return self._by_name[arm]
        except Exception:  # it cannot be a name
            pass
        if not isinstance(arm, str) and type(arm) not in set(map(type, self._by_name)):
            raise UnknownArmError(f"An arm is given by its name or its whole number, not {short(arm)}.", arm=arm)
        raise UnknownArmError(f"There is no arm called {short(arm)}{self._hint(arm)}", arm=arm)

    def _hint(self, name: Hashable) -> str:
        if isinstance(name, str) and self._m <= FEW and len(name) <= 60:
            meant = nearest(name, (known for known in self._by_name if isinstance(known, str)))
            if meant is not None:
                return f"; did you mean {meant!r}?"
        first = ", ".join(map(short, list(self._by_name)[:5]))
        return f"; the arms are {first}." if self._m <= 5 else f"; the first of the {self._m:,} arms are {first}."
