"""Observations from a data frame: one row an observation, with the columns ``arm`` and ``value`` (``Arm``, ``VALUE``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .arms import Floats, Ints
from .checks import entries, label, numbers, short
from .display import listed
from .errors import ObservationError, UnknownArmError
from .problems.base import Problem

ARM, VALUE = COLUMNS = "arm", "value"
ITEM = "item"  # on a pool


def observations(frame: object, problem: Problem) -> list[tuple[int, Floats]]:
    """The values of every arm of a frame, in the order of its rows, all checked; the first bad row is named."""
    names, values = _columns(frame, COLUMNS)
    arms = _arms(names, problem)
    data = numbers(values)
    if data is None or data.shape != arms.shape:
        raise _bad_row(values, arms, problem)
    order = np.argsort(arms, kind="stable")
    found: list[tuple[int, Floats]] = []
    for rows in np.split(order, np.flatnonzero(np.diff(arms[order])) + 1):
        if len(rows):
            i = int(arms[rows[0]])
            try:
                found.append((i, problem.arms[i].check(data[rows])))
            except ObservationError:
                raise _bad_row(values, arms, problem) from None
    return found


def scores(frame: object) -> list[tuple[tuple[Any, Any], Any]]:
    """The ((candidate, item), score) pairs of a frame."""
    arms, items, values = _columns(frame, (ARM, ITEM, VALUE))
    return [((arm, item), value) for arm, item, value in zip(arms, items, values, strict=True)]


def _columns(frame: Any, columns: Sequence[str]) -> list[list[Any]]:
    """Columns of a frame of pandas, polars or the like: it has ``columns``, which name what ``frame[name]`` gives."""
    named = None if isinstance(frame, type) else entries(_part(lambda: frame.columns))
    if named is None or not all(map(label, named)):
        raise ObservationError(
            f"tell_frame takes a data frame with the columns {ARM!r} and {VALUE!r}, as of pandas or polars, not {short(frame)}. "
            "Nothing was recorded.",
            key="frame",
        )
    found: list[Any] = []
    for column in columns:
        exact = [name for name in named if isinstance(name, str) and name == column]
        alike = exact or [name for name in named if isinstance(name, str) and name.lower() == column]
        times = len(alike)
        found += alike[:1]
        if times != 1:
            titles = listed(list(map(repr, named)), 8) or "none"
            has = f"has {times} columns" if times else "has no column"
            raise ObservationError(
                f"The frame {has} {column!r}; its columns are {titles}. It needs one column {ARM!r}, which names the arm "
                f"of every observation, {'one ' + repr(ITEM) + ' of what it was judged on, ' if ITEM in columns else ''}and one "
                f"column {VALUE!r}, which holds them. Nothing was recorded.",
                key=column,
            )
    parts = [entries(_part(lambda name=name: frame[name])) for name in found]  # type: ignore[misc]
    whole = [part for part in parts if part is not None]
    if len(whole) != len(found) or len({len(part) for part in whole}) > 1:
        raise ObservationError(
            f"The columns of {short(frame)} cannot be gone through row by row: collect a lazy frame first. Nothing was recorded.",
            key="frame",
        )
    return whole


def _part(get: Callable[[], object]) -> object:
    try:
        return get()
    except Exception:  # it has no such part, or is a query and not yet its result
        return None


def _arms(names: Sequence[Any], problem: Problem) -> Ints:
    """The positions of the arms that the rows name."""
    found = np.empty(len(names), dtype=np.int64)
    for row, name in enumerate(names):
        try:
            found[row] = problem.index[name]
        except UnknownArmError as error:
            where = f"Row {row} of the frame (the first is 0)"
            raise UnknownArmError(f"{where}: {error} Nothing was recorded.", key=f"{ARM}[{row}]", arm=error.arm) from None
    return found


def _bad_row(values: Sequence[Any], arms: Ints, problem: Problem) -> ObservationError:
    """What is wrong with the first row whose value is no observation of its arm."""
    for row, value in enumerate(values):
        arm, said = problem.arms[arms[row]], ""
        try:
            if len(arm.check(value)) != 1 or np.ndim(value):
                said = f"the value {short(value)} is not a number. Nothing was recorded."
        except ObservationError as error:
            said = str(error)
        if said:
            return ObservationError(f"Row {row} of the frame (the first is 0): {said}", key=f"{VALUE}[{row}]", arm=arm.name)
    raise AssertionError("all rows are good")
