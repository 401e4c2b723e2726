"""What is told to an explorer: checked, as a whole, before any of it is recorded."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from .arms import Floats, Values
from .checks import entries, short
from .errors import ObservationError, UnknownArmError
from .problems.base import Problem


def values_of(problem: Problem, arm: Hashable, values: Values) -> tuple[int, Floats]:
    """The position of an arm, and its values."""
    try:
        i = problem.index[arm]
    except UnknownArmError as error:
        raise UnknownArmError(f"{error} Nothing was recorded.", arm=error.arm) from None
    return i, problem.arms[i].check(values)


def pairs_of(problem: Problem, observations: Iterable[tuple[Hashable, Values]]) -> list[tuple[int, Floats]]:
    """The pairs of ``tell_many``."""
    given, found = entries(observations), []
    for entry in [None] if given is None or isinstance(observations, Mapping) else given:
        pair = entries(entry) if isinstance(entry, (tuple, list)) else None
        if pair is None or len(pair) != 2:
            hint = ": give a dict by its items()" if isinstance(observations, Mapping) else ""
            raise ObservationError(
                f"tell_many takes a list of (arm, values) pairs, not {short(observations)}{hint}. Nothing was recorded."
            )
        found.append(values_of(problem, *pair))
    return found


def rows_of(problem: Problem, rows: Iterable[Mapping[Any, float]]) -> list[dict[int, Floats]]:
    """The rows of ``tell_rows``: one value of each arm that a row has."""
    listed = None if hasattr(rows, "to_dict") or isinstance(rows, Mapping) else entries(rows)
    if listed is None:
        way = ": of a table with a column an arm, [row.dropna().to_dict() for _, row in table.iterrows()]"
        hint = way if hasattr(rows, "iterrows") else ""
        raise ObservationError(
            f"tell_rows takes a list of rows, each a dict of arms and their values, not {short(rows)}{hint}. "
            "Nothing was recorded."
        )
    return [_row_of(problem, row) for row in listed]


def _row_of(problem: Problem, values: Mapping[Any, float]) -> dict[int, Floats]:
    if not isinstance(values, Mapping) or not values:
        hint = ": give a series by its to_dict()" if hasattr(values, "to_dict") else ""
        raise ObservationError(f"A row is a dict of arms and their values, not {short(values)}{hint}. Nothing was recorded.")
    row: dict[int, Floats] = {}
    for arm, value in values.items():
        i, data = values_of(problem, arm, value)
        if len(data) != 1 or i in row:
            raise ObservationError(
                f"A row has one value of an arm, and arm {problem.names[i]!r} has {'two' if i in row else len(data)}. "
                "Nothing was recorded."
            )
        row[i] = data
    return row
