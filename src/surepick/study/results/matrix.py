"""Tables of scores: CSV, Parquet and NumPy, wide or long.

Wide, the first column says what a row is: ``candidate`` (or ``model``, ``arm``) makes every other column an item, ``item`` (or
``question``, ``doc_id``, ``id``, ...) makes every other column a candidate. Long, there are columns for both and one for the
score.
"""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ...checks import short
from ...errors import StudyError
from ...run.results_rows import TITLES
from ..tables import read_table
from .found import LISTED, Column, Found, as_score, listing, many, tabled

Names = tuple[tuple[str, ...], ...]

# What columns are called; of a table that has several of these the first kind counts.
WHO: Names = (("candidate", "model", "arm"),)
WHAT: Names = (
    ("item", "question", "doc_id"), ("question_id", "sample_id", "example_id", "prompt_id", "item_id"), ("id",),
)  # fmt: skip
WORTH = ("score", "value")
SCORES = (  # if there is but one of these
    "correct", "is_correct", "accuracy", "acc", "acc_norm", "em", "exact_match", "f1", "pass", "passed", "reward", "rating",
)  # fmt: skip


@dataclass(frozen=True)
class Sheet:
    """Columns with titles, and how rows are called in complaints."""

    path: Path
    titles: list[str]
    columns: list[list[Any]]
    noun: str  # a line of a text, a row of a table without lines
    lines: list[int]

    def fail(self, row: int, column: int, what: str) -> NoReturn:
        title = self.titles[column]
        raise StudyError(f"{self.path}, {self.noun} {self.lines[row]}, column {title!r}: {what}.", key=title)

    def score(self, row: int, column: int) -> float:
        try:
            return as_score(self.columns[column][row])
        except ValueError as error:
            self.fail(row, column, f"{error}; leave the cell empty where a score is missing")

    def names(self, column: int) -> list[str]:
        found = ["" if cell is None or cell != cell else str(cell).strip() for cell in self.columns[column]]
        if "" in found:
            self.fail(found.index(""), column, "the cell is empty, and it says whose score this is")
        return found


def read_csv(path: Path, metric: str | None) -> Found:
    table = read_table(path)
    columns = [list(column) for column in zip(*table.rows, strict=True)]
    return _read(Sheet(path, table.header, columns, "line", table.lines), metric)


def read_parquet(path: Path, metric: str | None) -> Found:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, partitioning=None)
        columns = [column.to_pylist() for column in table.columns]
    except (pa.ArrowException, OSError) as error:
        raise StudyError(f"{path}: cannot be read as Parquet ({str(error).splitlines()[0]}).") from None
    if not columns or not table.num_rows:
        raise StudyError(f"{path}: the table has no rows; give one a candidate, an item or a score.")
    # pandas puts the index behind the columns
    index = [name for name in (table.schema.pandas_metadata or {}).get("index_columns", ()) if isinstance(name, str)]
    order = sorted(range(len(columns)), key=lambda j: table.column_names[j] not in index)
    titles = ["" if name.startswith("__index_level_") else name for name in table.column_names]
    sheet = Sheet(path, [titles[j] for j in order], [columns[j] for j in order], "row", list(range(1, table.num_rows + 1)))
    return _read(sheet, metric)


def _read(sheet: Sheet, metric: str | None) -> Found:
    if sheet.titles[: len(TITLES)] == list(TITLES):
        raise StudyError(
            f"{sheet.path}: this is a file of results of surepick evaluate, which stops where a decision is certain: nothing is "
            f"known of the other items, and the means of those that were judged are not what was decided by. Read it with its "
            f"study: surepick check STUDY.toml {sheet.path.name}. If every candidate was judged on every item, delete its column "
            f"{TITLES[-1]!r}.",
        )
    who, what = _find(sheet, WHO), _find(sheet, WHAT)
    if who is not None and what is not None:
        return _long(sheet, who, what, metric)
    if who is None and what is None:
        raise StudyError(
            f"{sheet.path}: it does not say what a row is. The first column is called {sheet.titles[0]!r}: call it candidate (or "
            "model, arm) if a row is a candidate and every other column an item, or item (or question, doc_id) if it is the "
            "reverse."
        )
    if metric is not None:
        raise StudyError(
            f"{sheet.path}: a table with a column an item, or a candidate, has one score of each; leave out metric, which is for "
            "logs and for tables with a row a score.",
            key="metric",
        )
    return _wide(sheet, who if who is not None else what, turned=who is None)  # type: ignore[arg-type]


def _find(sheet: Sheet, names: Names) -> int | None:
    for kind in names:
        found = [j for j, title in enumerate(sheet.titles) if title.casefold() in kind]
        if len(found) > 1:
            both = " and ".join(repr(sheet.titles[j]) for j in found[:2])
            raise StudyError(f"{sheet.path}: the columns {both} mean the same; rename or delete all but one.")
        if found:
            return found[0]
    return None


def _wide(sheet: Sheet, first: int, turned: bool) -> Found:
    rows, noun = sheet.names(first), "item" if turned else "candidate"
    others = [j for j in range(len(sheet.titles)) if j != first]
    columns = [sheet.titles[j].strip() for j in others]
    if not others:
        raise StudyError(f"{sheet.path}: there is no column beside {sheet.titles[first]!r}, so there are no scores.")
    seen: dict[str, int] = {}
    for row, name in enumerate(rows):
        if name in seen:
            other, call = ("candidate", "candidate or model") if turned else ("item", "item or question")
            known = f"{noun} {name!r} is already in {sheet.noun} {sheet.lines[seen[name]]}"
            none = f"no {other} column was found: call it {call}"
            sheet.fail(row, first, f"{known}; give each one row. If a row is one score, {none}")
        seen[name] = row
    if "" in columns:
        raise StudyError(f"{sheet.path}: column {others[columns.index('')] + 1} has no title; name every item and candidate.")
    if twice := next((name for name in columns if columns.count(name) > 1), None) if len(set(columns)) < len(columns) else None:
        raise StudyError(f"{sheet.path}: two columns are called {twice!r}; give each a name of its own.")
    table = np.array([[sheet.score(row, j) for j in others] for row in range(len(rows))])
    if turned:
        return Found(table.T.copy(), columns, rows, None, [sheet.path])
    return Found(table, rows, columns, None, [sheet.path])


def _long(sheet: Sheet, who: int, what: int, metric: str | None) -> Found:
    worth = _score_column(sheet, who, what, metric)
    names, items = sheet.names(who), sheet.names(what)
    columns: dict[str, Column] = {}
    for row, (name, item) in enumerate(zip(names, items, strict=True)):
        column = columns.get(name)
        if column is None:
            column = columns[name] = Column(sheet.path, sheet.noun, name)
        column.enter(item, sheet.score(row, worth), sheet.lines[row], "; give a repetition an item of its own")
    again = sum(column.again for column in columns.values())
    notes = [f"{sheet.path}: what {many(again, 'row')} said before counts once."] * (again > 0)
    every = list(dict.fromkeys(items))
    table = tabled({name: column.scores for name, column in columns.items()}, every)
    return Found(table, list(columns), every, sheet.titles[worth], [sheet.path], notes)


def _score_column(sheet: Sheet, who: int, what: int, metric: str | None) -> int:
    others = [j for j in range(len(sheet.titles)) if j not in (who, what)]
    titles = [sheet.titles[j] for j in others]
    if metric is not None:
        if metric not in titles:
            raise StudyError(
                f"{sheet.path}: there is no column {metric!r}; the columns beside those of candidates and items are "
                f"{listing(map(repr, titles), LISTED) or 'none'}.",
                key="metric",
            )
        return others[titles.index(metric)]
    usual = [j for j in others if sheet.titles[j].casefold() in WORTH]
    likely = [j for j in others if sheet.titles[j].casefold() in SCORES]
    found = usual or (likely if len(likely) == 1 else others)
    if len(found) == 1:
        return found[0]
    if not found:
        raise StudyError(f"{sheet.path}: there is no column with scores beside those of candidates and items; add one.")
    raise StudyError(
        f"{sheet.path}: which column is the score? Choose one with metric (--metric): {listing(titles, LISTED)}.", key="metric"
    )


def read_numpy(path: Path) -> Found:
    """A table without names, or an archive with ``scores`` and, if it has them, ``candidates`` and ``items``."""
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)  # what is pickled could run anything
            if isinstance(loaded, np.ndarray):
                return Found(_floats(path, loaded), None, None, None, [path])
            if "scores" not in loaded.files:
                raise StudyError(
                    f"{path}: there is no array 'scores' in it, only {listing(map(repr, loaded.files)) or 'nothing'}; save it "
                    "with numpy.savez(file, scores=..., candidates=..., items=...)."
                )
            table = _floats(path, loaded["scores"])
            rows = _texts(path, loaded["candidates"], "candidates", table.shape[0]) if "candidates" in loaded.files else None
            columns = _texts(path, loaded["items"], "items", table.shape[1]) if "items" in loaded.files else None
            return Found(table, rows, columns, None, [path])
    except FileNotFoundError:
        raise StudyError(f"{path}: there is no such file; check the path.") from None
    except (ValueError, EOFError, OSError, zipfile.BadZipFile, gzip.BadGzipFile) as error:
        if isinstance(error, StudyError):
            raise
        pickled = (
            "; arrays of Python objects are not read: save numbers, and names as texts" if isinstance(error, ValueError) else ""
        )
        raise StudyError(f"{path}: cannot be read as an array of NumPy ({str(error).splitlines()[0]}){pickled}.") from None


def _floats(path: Path, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.dtype.kind not in "biuf" or array.ndim != 2 or 0 in array.shape:
        raise StudyError(
            f"{path}: scores are a table of numbers, a row a candidate and a column an item, and this is an array of "
            f"{array.dtype} with the shape {array.shape}."
        )
    table = array.astype(np.float64)
    bad = np.argwhere(np.isinf(table))
    if len(bad):
        raise StudyError(f"{path}: the score in row {bad[0][0]}, column {bad[0][1]} is infinite; write nan where it is missing.")
    return table


def _texts(path: Path, array: np.ndarray[Any, Any], what: str, n: int) -> list[str]:
    turn: Callable[[Any], str] = (lambda x: x.decode("utf-8", "replace")) if array.dtype.kind == "S" else str
    found = [turn(x) for x in array.tolist()] if array.ndim == 1 and array.dtype.kind in "SUiu" else []
    if len(found) != n or len(set(found)) != n:
        raise StudyError(f"{path}: {what} must be {n:,} different names, one for each, not {short(array)}.")
    return found
