"""Observations from tables, and the log as a table: CSV, Parquet, data frames."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...arms import Floats, Ints
from ...checks import file, numbers, short
from ...errors import RowsError, StudyError, SurepickError
from ...explorer import Explorer
from ..tables import Table, read_table
from .log import Entries

PARQUET = (".parquet", ".pq")
SHOWN = 10  # bad rows that a message names
UNUSED = "Nothing was imported."


@dataclass(frozen=True)
class BadRow:
    """A row that is no observation.

    Attributes
    ----------
    line : int
        In a CSV file the line, the header being line 1; else the row, the first being 1.
    why : str
    """

    line: int
    why: str


@dataclass(frozen=True)
class Imported:
    """What became of a table.

    Attributes
    ----------
    rows : int
        Rows that are observations.
    new : int
        Those that were not known; 0 if the same table was imported before.
    bad : list of BadRow
        Rows that were left out.
    """

    rows: int
    new: int
    bad: list[BadRow]

    def to_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "new": self.new, "bad": [vars(row) for row in self.bad]}

    def __str__(self) -> str:
        left = f"; {len(self.bad):,} bad row{' was' if len(self.bad) == 1 else 's were'} left out" if self.bad else ""
        if self.rows and not self.new:
            return f"These {self.rows:,} observations were imported before: nothing was added{left}."
        return f"Imported {self.new:,} observation{'' if self.new == 1 else 's'}{left}."


@dataclass(frozen=True)
class Rows:
    """The columns of a table, and how its rows are counted."""

    name: str
    arms: Sequence[Any]
    values: Sequence[Any]
    items: Sequence[Any] | None
    order: Sequence[Any] | None
    lines: Sequence[int]
    text: bool  # cells are texts


def read_rows(source: Any, explorer: Explorer, arm: str | None, value: str | None, item: str | None, order: str | None) -> Rows:
    """A table with its columns found; those that are named here have other titles than usual."""
    pooled = explorer.pool is not None
    if isinstance(source, (str, os.PathLike)):
        path = file(source, StudyError)
        if path.suffix.lower() not in PARQUET:
            return _of_csv(read_table(path, empty=True).naming(arm=arm, value=value, item=item, order=order), pooled, order)
        return _of_frame(_parquet(path), str(path), pooled, arm, value, item, order)
    return _of_frame(source, "The data frame", pooled, arm, value, item, order)


def _of_csv(table: Table, pooled: bool, order: str | None) -> Rows:
    return Rows(
        str(table.path), table.texts("arm", "which names the arm of every observation", empty=True),
        table.texts("value", "which holds the observations", empty=True),
        table.texts("item", "which says on which item of the pool the score is", empty=True) if pooled else None,
        table.texts("order") if order is not None else None, table.lines, True,
    )  # fmt: skip


def _parquet(path: Path) -> Any:
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except FileNotFoundError:
        raise StudyError(f"{path}: there is no such file; check the path.") from None
    except (OSError, ValueError) as error:
        raise StudyError(f"{path}: this is no Parquet file ({short(str(error))}).") from None


def _of_frame(
    frame: Any, name: str, pooled: bool, arm: str | None, value: str | None, item: str | None, order: str | None
) -> Rows:
    titles = [str(title) for title in getattr(frame, "columns", ())]
    if not titles:
        raise StudyError(f"Import takes the path of a CSV or Parquet file, or a data frame with columns, not {short(frame)}.")

    def column(usual: str, called: str | None) -> list[Any]:
        found = [title for title in titles if title == called or (called is None and title.casefold() == usual)]
        if len(found) != 1:
            raise StudyError(
                f"{name}: there is no column {called or usual!r}; the columns are {', '.join(map(repr, titles))}.", key=usual
            )
        return list(frame[found[0]])

    arms = column("arm", arm)
    return Rows(
        name, arms, column("value", value), column("item", item) if pooled else None,
        column("order", order) if order is not None else None, range(1, len(arms) + 1), False,
    )  # fmt: skip


def entries_of(rows: Rows, explorer: Explorer, skip_bad: bool) -> tuple[Entries, list[BadRow]]:
    """The observations of a table, checked, and the rows that are none, which raise unless they are to be left out."""
    bad: dict[int, str] = {}
    arms = _positions(rows.arms, explorer.problem.index, bad)
    values = _values(rows, bad)
    items = np.full(len(arms), -1, dtype=np.int64)
    if rows.items is not None and explorer.pool is not None:
        named = explorer.pool.named
        cells = [x if named or not isinstance(x, str) or not x.strip().isdigit() else int(x) for x in rows.items]
        items = _positions(cells, explorer.pool, bad)
    for i in np.unique(arms[arms >= 0]).tolist():
        where, one = np.flatnonzero(arms == i), explorer.problem.arms[i]
        if one.fault(values[where]):
            for row in where.tolist():
                if row not in bad and (fault := one.fault(float(values[row]))):
                    bad[row] = fault
    found = [BadRow(rows.lines[row], why) for row, why in sorted(bad.items())]
    if found and not skip_bad:
        raise RowsError(_complaint(rows.name, found), rows=found)
    kept = np.ones(len(arms), dtype=np.bool_)
    kept[list(bad)] = False
    moments = None if rows.order is None else _moments(rows.order, rows.name)[kept]
    sorted_ = slice(None) if moments is None else np.argsort(moments, kind="stable")
    marks = None if moments is None else moments[sorted_]
    return Entries(arms[kept][sorted_], items[kept][sorted_], values[kept][sorted_], None, marks), found


def _complaint(name: str, bad: list[BadRow]) -> str:
    few = " ".join(f"Line {row.line}: {row.why}" for row in bad[:SHOWN])
    more = f" And {len(bad) - SHOWN:,} more." if len(bad) > SHOWN else ""
    many = "1 row is" if len(bad) == 1 else f"{len(bad):,} rows are"
    return f"{name}: {many} no observation. {few}{more} Mend them, or leave them out by skip_bad. {UNUSED}"


def _positions(names: Sequence[Any], index: Any, bad: dict[int, str]) -> Ints:
    """The numbers of names; a name is looked up once, whether it is there or not."""
    known: dict[Any, int] = {}
    unknown: dict[Any, str] = {}
    found = np.full(len(names), -1, dtype=np.int64)
    for row, name in enumerate(names):
        plain = isinstance(name, (str, int, tuple))
        at = known.get(name) if plain else None
        why = unknown.get(name) if plain and at is None else None
        if at is None and why is None:
            try:
                at = known[name] = int(index[name])
            except (SurepickError, TypeError) as error:
                why = str(error).removesuffix(" Nothing was recorded.")
                if plain:
                    unknown[name] = why
        if at is None:
            bad.setdefault(row, str(why))
        else:
            found[row] = at
    return found


def _values(rows: Rows, bad: dict[int, str]) -> Floats:
    cells = rows.values
    if not rows.text:
        whole = numbers(list(cells))
        if whole is not None and whole.ndim == 1:
            return whole
    try:
        if rows.text and not any("_" in cell for cell in cells):
            return np.array(list(map(float, cells)))
    except ValueError:
        pass
    found = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        try:
            single = float(cell) if rows.text and "_" not in cell else numbers(cell)
            if single is None or np.ndim(single):
                raise ValueError
            found[row] = single
        except (TypeError, ValueError):
            bad.setdefault(row, f"{short(cell)} is not a number." if cell != "" else "The value is missing.")
    return found


def _moments(order: Sequence[Any], name: str) -> Ints:
    """The moments of rows: the same entry is the same moment, and they come in order."""
    try:
        return np.unique(np.array(list(map(float, order))), return_inverse=True)[1]
    except (TypeError, ValueError):
        pass
    try:
        return np.unique(np.array(list(map(str, order)), dtype="datetime64[us]"), return_inverse=True)[1]
    except ValueError:
        raise StudyError(
            f"{name}: the column of the order must have numbers, or dates such as 2026-03-14 09:30, in every row. {UNUSED}",
            key="order",
        ) from None


# -- writing --------------------------------------------------------------------------------------------------------------

TITLES = ("seq", "moment", "arm", "item", "value", "counts_as", "corrects", "ticket", "who", "told", "key", "note")


def write(path: str | os.PathLike[str], rows: Iterator[dict[str, Any]]) -> int:
    """The log as a file; how many entries it has."""
    import pandas as pd

    target = file(path, StudyError)
    frame = pd.DataFrame(list(rows), columns=list(TITLES))
    for column in ("corrects", "ticket"):
        frame[column] = frame[column].astype("Int64")
    new = target.with_name(f".{target.name}.new")
    try:
        if target.suffix.lower() in PARQUET:
            frame.to_parquet(new, index=False)
        else:
            frame.to_csv(new, index=False)
        os.replace(new, target)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise StudyError(f"{target}: cannot be written ({error.strerror or error}); check the path and the room there.") from None
    return len(frame)
