"""The answers of a survey: one row a person, with the stratum and a column for every question."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ..arms import Bools, Floats, Ints
from ..display import listed
from ..errors import StudyError
from ..study.tables import EMPTY
from .cells import MISSING, Cells, read_cells
from .figures import Figures
from .frame import Frame
from .titles import ALONE

ORDER = ("order", "wave", "round", "time", "date", "day", "datetime", "timestamp")
PERSON = ("id", "person", "respondent", "case", "unit")
LIKE_A_NUMBER = re.compile(r"[+-]?[\d.,'\s\u00a0\u202f]*\d[\d.,]*([eE][+-]?\d+)?\s*%?")
YES, NO = ("yes", "true", "y"), ("no", "false", "n")
LARGEST_ANSWER = 1e75  # its square, times squared numbers of people, is still a number
NAMED = 6  # strata or rows that a message names


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers, a row a person; a row has the same place in all arrays.

    Attributes
    ----------
    cells : Cells
        The table as it was read.
    stratum : array of int
        The place of every person's stratum in the frame.
    values : dict of arrays
        By variable; NaN is an answer that is missing.
    by : dict of lists
        The columns that say which domain a person belongs to, ``""`` where that is missing.
    moment : array of int or None
        Which of the moments in time an answer is of, the first being 0; None if no column says so.
    order : str or None
        That column.
    yes_no : set of str
        The variables whose answers are yes and no, in words or as truth values, and not numbers that may be others later.
    ignored : tuple of str
        Columns that were not used, with texts in them.
    """

    cells: Cells
    stratum: Ints
    values: dict[str, Floats]
    by: dict[str, list[str]]
    moment: Ints | None
    order: str | None
    ignored: tuple[str, ...]
    yes_no: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.stratum)

    def binary(self, variable: str) -> bool:
        """All answers are 0 or 1."""
        y = self.values[variable]
        return bool(np.isin(y[~np.isnan(y)], (0.0, 1.0)).all())

    def place(self, row: int) -> str:
        return f"row {row}" if self.cells.lines is None else f"line {self.cells.lines[row]}"

    def counts(self, among: Bools, strata: int) -> Ints:
        """How many of these rows every stratum has."""
        return np.bincount(self.stratum[among], minlength=strata)


def read_answers(source: object, frame: Frame, variables: Sequence[str] | None = None, by: Sequence[str] = ()) -> Answers:
    """Answers from a table in CSV, Excel or Parquet, a data frame, or a dictionary of columns, checked against the frame."""
    try:
        cells = read_cells(source)
    except StudyError as error:
        if error.key == EMPTY:
            raise StudyError("There are no answers yet, so that there is nothing to estimate.", key="answers") from None
        raise
    if cells.source == "The frame":
        cells = dataclasses.replace(cells, source="The answers")
    j = _one(cells, ALONE["stratum"])
    if j is None:
        cells.fail(None, None, f"there is no column stratum, which says where a person belongs; the columns are {_titles(cells)}")
    for title in {title for title in cells.titles if cells.titles.count(title) > 1}:
        cells.fail(None, title, "two columns have this title; rename or delete one")
    names, index = cells.texts(j), frame.index
    for i, name in enumerate(names):
        if name not in index:
            few = "" if len(index) > 2 * NAMED else f"; the frame has {listed(list(index))}"
            cells.fail(i, cells.titles[j], f"there is no stratum {name!r} in {frame.source}{few}")
    stratum = np.array([index[name] for name in names], dtype=np.int64)
    _refuse_more_than_there_are(cells, j, stratum, frame)
    _refuse_the_same_person(cells)
    at = _one(cells, ORDER)
    moment = None if at is None else _moments(cells, at)
    used, domains = {j, at, _one(cells, PERSON)}, {}
    for title in by:
        k = _named(cells, title, "by")
        used.add(k)
        domains[title] = cells.texts(k)
    values, ignored = dict[str, Floats](), list[str]()
    wanted = [k for k in range(len(cells.titles)) if k not in used]
    if variables is not None:
        wanted = [_named(cells, title, "variables") for title in variables]
    figures = cells.figures(wanted)
    for k in wanted:
        if variables is None and _holds_texts(cells.columns[k]):
            ignored.append(cells.titles[k])
        else:
            values[cells.titles[k]] = _numbers(cells, k, figures)
    for title, y in values.items():
        for i in np.flatnonzero(np.abs(y) > LARGEST_ANSWER)[:1].tolist():
            cells.fail(i, title, f"{y[i]:g} is too large to reckon with; mend it, or give answers in a larger unit")
    if not values:
        cells.fail(None, None, f"no column holds answers as numbers, or yes and no; the columns are {_titles(cells)}")
    words = frozenset(cells.titles[k] for k in wanted if _yes_no(cells.columns[k]))
    return Answers(cells, stratum, values, domains, moment, None if at is None else cells.titles[at], tuple(ignored), words)


def _one(cells: Cells, names: Sequence[str]) -> int | None:
    found = [j for j, title in enumerate(cells.titles) if title.casefold() in names]
    return min(found, key=lambda j: names.index(cells.titles[j].casefold())) if found else None


def _named(cells: Cells, title: str, key: str) -> int:
    if title not in cells.titles:
        raise StudyError(f"{cells.source}: there is no column {title!r}; the columns are {_titles(cells)}.", key=key)
    return cells.titles.index(title)


def _titles(cells: Cells) -> str:
    return ", ".join(map(repr, cells.titles[:20])) + (", ..." if len(cells.titles) > 20 else "")


def _given(column: Any) -> list[Any]:
    """The cells that are not empty, of a column of texts or of several kinds."""
    return [x for x in column if x is not None and x not in MISSING] if isinstance(column, list) else []


def _holds_texts(column: Any) -> bool:
    """Whether half of the cells or more hold no number: a remark, and no question of which one answer is spelled wrongly."""
    if not isinstance(column, list):
        return bool(np.isnan(column).all())
    given = _given(column)
    figures = [x for x in given if isinstance(x, Real) or (isinstance(x, str) and LIKE_A_NUMBER.fullmatch(x))]
    return 2 * len(figures) <= len(given) and not _yes_no(column)


def _yes_no(column: Any) -> bool:
    """Whether all answers are words for yes and no, or truth values."""
    given = _given(column)
    return bool(given) and all(
        isinstance(x, (bool, np.bool_)) or (isinstance(x, str) and x.strip().casefold() in (*YES, *NO)) for x in given
    )


def _numbers(cells: Cells, column: int, figures: Figures) -> Floats:
    """The answers as numbers; yes and no are 1 and 0."""
    cast = cells.columns[column]
    if isinstance(cast, list) and _yes_no(cast):  # an empty cell is a missing answer
        words = [None if x is None or x in MISSING else str(x).strip().casefold() for x in cast]
        return np.array([np.nan if x is None else float(x in YES) for x in words])
    return cells.numbers(column, figures)


def _refuse_more_than_there_are(cells: Cells, column: int, stratum: Ints, frame: Frame) -> None:
    many = np.bincount(stratum, minlength=len(frame))
    for h in np.flatnonzero(many > frame.N):
        row = int(np.flatnonzero(stratum == h)[int(frame.N[h])])
        cells.fail(
            row,
            cells.titles[column],
            f"stratum {frame.strata[h]!r} has {many[h]:,} answers and {frame.N[h]:,.10g} people; each is asked once, so look for "
            "rows that come twice, or mend N",
        )


def _refuse_the_same_person(cells: Cells) -> None:
    k = _one(cells, PERSON)
    if k is None:
        return
    seen: dict[str, int] = {}
    for i, person in enumerate(cells.texts(k)):
        if person and seen.setdefault(person, i) != i:
            cells.fail(
                i, cells.titles[k], f"{person!r} has answered already, in {cells.place(seen[person])}; keep one of the two"
            )


def _moments(cells: Cells, column: int) -> Ints:
    """The moments of all rows, by their numbers or dates."""
    raw = cells.texts(column) if isinstance(cells.columns[column], list) else cells.columns[column].tolist()
    for i, x in enumerate(raw):
        if x == "" or x != x:
            cells.fail(i, cells.titles[column], "the cell is empty; give every answer its wave or time, or leave the column out")
    marks: list[Any]
    try:
        marks = [float(x) for x in raw]
        if not np.isfinite(marks).all():
            raise ValueError
    except ValueError:
        from datetime import datetime

        try:
            marks = [datetime.fromisoformat(str(x)) for x in raw]
            sorted(set(marks))
        except (ValueError, TypeError):  # such as with and without a time zone
            what = "waves are numbers, or dates such as 2026-03-14, all of one kind; write them alike"
            cells.fail(None, cells.titles[column], what)
    place = {mark: i for i, mark in enumerate(sorted(set(marks)))}
    return np.array([place[mark] for mark in marks], dtype=np.int64)
