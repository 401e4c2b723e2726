"""What users pass, checked: plain values come out, or a sentence that says what was wrong."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from .errors import SettingError, SurepickError

MANY = 10_000_000  # arms of a problem, entries of a list that comes one by one, and samples to ask for at once
LARGEST = 2**53  # of counts: up to here floating point has every whole number
SEEDS = 2**128 - 1
LONGEST = 4096  # letters of a path
AT_ONCE = 65_536  # values of a generator that are looked at together


def short(x: object) -> str:
    """A value as text that fits in a sentence, whatever it is."""
    try:
        if isinstance(x, (str, bytes, list, tuple)) and len(x) > 60:
            x = x[:60]  # the text of a million entries takes a while
        text = repr(x)
    except Exception:
        text = f"<{type(x).__name__} that cannot be shown>"
    if "\n" in text:
        text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def real(x: object) -> float | None:
    """A single number as a float; None if it is not a real and finite one (True and False are not)."""
    if type(x) is not float and (isinstance(x, (bool, np.timedelta64)) or not isinstance(x, (Real, Decimal))):
        return None
    try:
        value = float(x)
    except Exception:  # too large, or a type that only claims to be a number
        return None
    return value if math.isfinite(value) else None


def is_whole(x: object) -> TypeGuard[int]:
    """A whole number of Python or NumPy, whose durations claim to be numbers, too."""
    return isinstance(x, (int, np.integer)) and not isinstance(x, (bool, np.timedelta64))


def whole(x: object, what: str, low: int = 0, high: int | None = None, error: type[SurepickError] = SettingError) -> int:
    """A whole number from low to high as an int."""
    n = int(x) if is_whole(x) else None
    if n is not None and n >= low and (high is None or n <= high):
        return n
    wanted = f"of at least {low}" if n is None or n < low else f"from {low} to {high:,}"
    raise error(f"{what} must be a whole number {wanted}, not {short(x)}.", key=_key(what))


def number(x: object, what: str, wanted: str, good: Callable[[float], bool], error: type[SurepickError] = SettingError) -> float:
    """A finite number that is good, as a float."""
    value = real(x)
    if value is None or not good(value):
        raise error(f"{what} must be {wanted}, not {short(x)}.", key=_key(what))
    return value


def _key(what: str) -> str:
    """What a complaint is about: "q of ts-explore" is about q."""
    return what.partition(" ")[0]


def file(x: object, error: type[SurepickError] = SettingError) -> Path:
    """A path on the disk."""
    if isinstance(x, (str, os.PathLike)):
        try:
            text = os.fspath(x)
            if isinstance(text, str) and 0 < len(text) <= LONGEST and "\0" not in text:
                return Path(text)
        except Exception:  # a path only by name
            pass
    raise error(f"A file is given by its path, a text or a Path, not by {short(x)}.")


def flag(x: object, what: str, error: type[SurepickError] = SettingError) -> bool:
    """True or False."""
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    raise error(f"{what} must be True or False, not {short(x)}.", key=_key(what))


def among(x: object, known: Container[str]) -> bool:
    """It is one of the known texts."""
    return isinstance(x, str) and str(x) in known


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name that a word was probably meant to be, in any case of letters."""
    import difflib

    alike = {name.casefold(): name for name in known}
    close = difflib.get_close_matches(word.casefold(), alike, n=1)
    return alike[close[0]] if close else None


def label(x: object) -> bool:
    """It can be a name: it has a hash, equals itself (NaN does not), and can be shown as a text."""
    if type(x) is str:
        return True
    try:
        hash(x)
        return bool(x == x) and bool(str(x) + repr(x)) and (not isinstance(x, tuple) or all(map(label, x)))
    except Exception:
        return False


def entries(x: object) -> list[Any] | None:
    """What something holds, in its order; None if it has no order, cannot be gone through, or has no end in sight."""
    if isinstance(x, (set, frozenset)):
        return None
    try:
        listed = list(islice(iter(x), MANY + 1))  # type: ignore[call-overload]
    except Exception:
        if isinstance(x, Generator):  # its own error says more
            raise
        return None
    return listed if len(listed) <= MANY else None


def sequence(x: object) -> bool:
    """It is a list, a tuple, a flat array, an index of pandas or the like, and neither a text nor bytes."""
    try:
        flat = isinstance(x, Sequence) or (hasattr(x, "__iter__") and getattr(x, "ndim", None) == 1)
        return flat and not isinstance(x, (str, bytes, bytearray, memoryview)) and len(x) <= MANY  # type: ignore[arg-type]
    except Exception:
        return False


def numbers(x: object) -> NDArray[np.float64] | None:
    """Real numbers as an array of floats; None if something else is among them, or the rows of a table differ in length.

    Fractions, decimals, and whatever turns itself into an array are taken, and iterators are used up; texts, dates, masked
    entries and missing ones are not taken.
    """
    if type(x) is float or (type(x) is np.ndarray and x.dtype == np.float64 and x.size <= MANY):  # most are
        return np.array(x)
    if isinstance(x, Iterator):
        return _drained(x)
    try:
        array = _array(x)
        if array is None:
            return None
        if array.dtype.kind == "O":
            floats = np.array([_float(entry) for entry in array.ravel().tolist()], dtype=np.float64)
            return floats.reshape(array.shape)
        with np.errstate(over="ignore"):  # long doubles
            return array.astype(np.float64) if array.dtype.kind in "biuf" else None
    except Exception:
        return None


def _array(x: object) -> NDArray[Any] | None:
    if isinstance(x, (list, tuple, np.ma.MaskedArray)):
        if masked(x):
            return None
    elif not isinstance(x, np.ndarray) and hasattr(x, "__len__") and len(x) > MANY:  # a range, say, of more than fits in memory
        return None
    return np.asarray(x)


def masked(x: object) -> bool:
    """Some entry is masked. NumPy forgets that where it makes an array of a list of masked arrays."""
    if isinstance(x, np.ma.MaskedArray):
        return bool(np.ma.getmaskarray(x).any())
    if not isinstance(x, (list, tuple)):
        return False
    kinds = set(map(type, x))
    return any(issubclass(kind, (np.ma.MaskedArray, list, tuple)) for kind in kinds) and any(map(masked, x))


def _float(x: object) -> float:
    if isinstance(x, (Real, Decimal, np.bool_)) and not isinstance(x, np.timedelta64):
        return float(x)
    raise TypeError


def _drained(x: Iterator[object]) -> NDArray[np.float64] | None:
    parts, total = [np.empty(0)], 0
    while some := list(islice(x, AT_ONCE)):
        part, total = numbers(some), total + len(some)
        if part is None or part.ndim != 1 or total > MANY:
            return None
        parts.append(part)
    return np.concatenate(parts)


def vouched(part: object, method: str) -> bool:
    """Whether an object's class is taken at its word about a method that must fit what other methods do: one of this package, or
    one that has the method itself. A class from elsewhere may do otherwise than the one that it derives from."""
    cls = type(part)
    return cls.__module__.startswith(f"{__name__.partition('.')[0]}.") or method in vars(cls)
