"""Observations from a CSV table in long form: one row an observation, with its arm and its value, and when it was told."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from ..arms import Floats
from ..checks import short
from ..errors import ObservationError, StudyError, UnknownArmError
from ..explorer import Explorer
from ..problems import Problem
from ..run.marks import Mark
from ..run.marks import mark as mark_of
from .tables import Table

UNUSED = "Nothing of this file was used"
NUMBER = re.compile(r"[-+]?\d+(\.\d*)?")


def read_observations(table: Table, problem: Problem) -> list[Floats]:
    """The values of every arm, in the order of the table. One bad row and nothing is used."""
    values = [np.empty(0) for _ in problem.arms]
    for i, rows in _rows_of_arms(table, problem).items():
        values[i] = np.array([value for _, value in rows])
    return values


def read_scores(table: Table, problem: Problem) -> list[tuple[tuple[str, Hashable], float]]:
    """The ((candidate, item), score) of every row of a table with the columns ``arm``, ``item`` and ``value``, checked."""
    assert problem.pool is not None
    values: dict[int, float] = {}
    for rows in _rows_of_arms(table, problem).values():
        values.update(rows)
    found = []
    names, items = table.texts("arm"), table.texts("item", "which says on which item of the pool the score is")
    for row, (name, item) in enumerate(zip(names, items, strict=True)):
        key: Hashable = item
        if not problem.pool.named:
            if not item.isdigit() and not NUMBER.fullmatch(item):
                few = f"items = {problem.pool.size}, from 0 on"
                way = f'items = "{table.path.name}" if this table has all of them'
                table.fail(
                    row,
                    "item",
                    f"{short(item)} is a name, and the items of the study are numbers ({few}): name them there, {way}. {UNUSED}",
                )
            key = table.whole(row, "item", item)
        try:
            problem.pool[key]
        except ObservationError as error:
            table.fail(row, "item", f"{error} {UNUSED}")
        found.append(((name, key), values[row]))
    return found


def _rows_of_arms(table: Table, problem: Problem) -> dict[int, list[tuple[int, float]]]:
    """For every arm of the table, its rows and their values, all checked."""
    names = table.texts("arm", "which names the arm of every observation")
    numbers = table.numbers("value", "which holds the observations")
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(name, []).append(row)
    found: dict[int, list[tuple[int, float]]] = {}
    for name, where in rows.items():
        try:
            i = problem.index[name]
        except UnknownArmError as error:
            table.fail(where[0], "arm", f"{error} {UNUSED}")
        if problem.arms[i].fault(np.array([numbers[row] for row in where])):
            for row in where:
                if fault := problem.arms[i].fault(numbers[row]):
                    table.fail(row, "value", f"{fault} {UNUSED}")
        if len(where) > problem.populations[i]:
            many = f"arm {problem.names[i]!r} has a population of {problem.arms[i].population:,} values, and this is one more"
            table.fail(where[int(problem.populations[i])], "arm", f"{many}: every value is told once. {UNUSED}")
        found[i] = [(row, numbers[row]) for row in where]
    return found


@dataclass(frozen=True)
class Replayed:
    """How the observations of a table were told.

    Attributes
    ----------
    column : str or None
        What the column is called that has the order; None if there is none, and all are one moment.
    moments : int
    certified_at : text or None
        The order of the moment at which the decision was certified.
    later : int
        Observations after that moment.
    unused : list of str
        Columns that say nothing to surepick.
    """

    column: str | None
    moments: int
    certified_at: str | None
    later: int
    unused: list[str]


def tell_table(explorer: Explorer, table: Table) -> Replayed:
    """Tell an explorer the observations of a table, moment by moment.

    Observations with the same entry in the column ``order`` (or ``time``, ``date``, ``day``, ``datetime``, ``timestamp``) are one
    moment; without the column, all are.
    Entries are numbers, or dates such as 2026-03-14 or 2026-03-14 09:30. Observations with the same entry in the column
    ``row`` were made together, and are told as rows.
    """
    problem = explorer.problem
    if problem.pool is not None:
        return _tell_scores(explorer, table)
    checked = [(row, i, value) for i, rows in _rows_of_arms(table, problem).items() for row, value in rows]
    marks = table.texts("order") if table.has("order") else ["0"] * len(table)
    together = table.texts("row") if table.has("row") else None
    if together and explorer.policy.independent:
        table.fail(0, "row", "values of one row may depend on each other, so the study needs dependent = true")
    times = _times(table, marks)
    moments: dict[Any, list[tuple[int, int, float]]] = {}
    for entry in sorted(checked):
        moments.setdefault(times[entry[0]], []).append(entry)
    if together is not None:
        _refuse_split_rows(table, together, times)
    certified_at, later = None, 0
    for time in sorted(moments):
        entries = moments[time]
        if explorer.certified:
            later += len(entries)
        if together is None:
            explorer.tell_many([(i, value) for _, i, value in entries])
        else:
            rows: dict[str, dict[Hashable, float]] = {}
            for row, i, value in entries:
                if i in rows.setdefault(together[row], {}):
                    table.fail(row, "row", f"row {together[row]!r} has two values of arm {problem.names[i]!r}; number the rows")
                rows[together[row]][i] = value
            explorer.tell_rows(list(rows.values()))
        if certified_at is None and explorer.certified:
            certified_at = marks[entries[0][0]]
    at = table.find("order")
    column = None if at is None else table.header[at]
    used = {table.find(name) for name in ("arm", "value", "order", "row")}
    unused = [title for j, title in enumerate(table.header) if j not in used]
    return Replayed(column, len(moments), certified_at if column else None, later, unused)


def _tell_scores(explorer: Explorer, table: Table) -> Replayed:
    """Tell an explorer with a pool the scores of a table: as one moment, each on its item."""
    scores = read_scores(table, explorer.problem)
    # A table that evaluate wrote for this very pool has what was asked for; gaps are what was under way when it was stopped.
    marks = map(Mark.read, table.texts("pool") if table.has("pool") else [])
    asked = {known and known.pool for known in marks} == {mark_of(explorer.problem)}
    try:
        if asked:
            explorer.expect([pair for pair, _ in scores])
        explorer.tell_many(scores)
    except ObservationError as error:
        raise StudyError(f"{table.path}: {str(error).removesuffix(' Nothing was recorded.')} {UNUSED}.") from None
    used = set(range(len(table.header))) if asked else {table.find(name) for name in ("arm", "value", "item")}
    return Replayed(None, 1, None, 0, [title for j, title in enumerate(table.header) if j not in used])


def _times(table: Table, marks: list[str]) -> list[Any]:
    """What the moments are sorted by: numbers by their size, or dates by the calendar; not a mixture."""
    try:
        numbers = [float(mark) for mark in marks]
    except ValueError:
        return _dates(table, marks)
    for row, x in enumerate(numbers):
        if not math.isfinite(x):
            table.fail(row, "order", f"{marks[row]!r} has no place in an order; give every observation its time or number")
    return numbers


def _dates(table: Table, marks: list[str]) -> list[datetime]:
    found: list[datetime] = []
    for row, mark in enumerate(marks):
        try:
            found.append(datetime.fromisoformat(mark))
        except ValueError:
            table.fail(row, "order", f"{mark!r} is no date; write dates as 2026-03-14 or 2026-03-14 09:30, or use numbers")
        if (found[-1].tzinfo is None) != (found[0].tzinfo is None):
            table.fail(row, "order", f"{mark!r} has a time zone and others have none, or the reverse; give all one, or none")
    return found


def _refuse_split_rows(table: Table, together: list[str], times: list[Any]) -> None:
    """Values of a row were observed together, so they are told at one moment."""
    when: dict[str, Any] = {}
    for row, name in enumerate(together):
        if when.setdefault(name, times[row]) != times[row]:
            table.fail(
                row,
                "row",
                f"row {name!r} is told at two moments; give all values of a row the time at which the last of them was known",
            )
