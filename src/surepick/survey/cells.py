"""The cells of a table, from CSV, Excel, Parquet, a data frame or a dictionary, so that complaints can name their place."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..arms import Floats
from ..checks import entries, file, label, short
from ..errors import StudyError
from ..study import read_table
from ..study.tables import EMPTY
from .figures import Figures

DIGITS = frozenset("0123456789.+-eE")
MISSING = ("", "NA")  # R writes NA
OLD_EXCEL = b"\xd0\xcf\x11\xe0"


@dataclass(frozen=True)
class Cells:
    """Columns of texts, numbers or empty cells (None), with the line of every row."""

    source: str  # the file, or "The frame"
    titles: list[str]
    columns: list[Any]
    lines: list[int] | None = None  # None: rows are counted from 0, as in Python
    semicolons: bool = False  # between the cells of a file

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def place(self, row: int) -> str:
        return f"{self.source}, row {row} (the first is 0)" if self.lines is None else f"{self.source}, line {self.lines[row]}"

    def fail(self, row: int | None, title: str | None, what: str) -> NoReturn:
        """Say what is wrong, and where; a row of None is the header's."""
        where = self.place(row) if row is not None else self.source if self.lines is None else f"{self.source}, line 1"
        column = "" if title is None else f", column {title!r}"
        raise StudyError(f"{where}{column}: {what}.", key=title)

    def figures(self, columns: Iterable[int]) -> Figures:
        """How these columns write their numbers."""
        given = [self.columns[j] for j in columns]
        texts = [x for column in given if isinstance(column, list) for x in column if isinstance(x, str)]
        return Figures.of(texts, self.semicolons) if self.semicolons or any("," in x for x in texts) else Figures()

    def texts(self, column: int) -> list[str]:
        """The cells as texts, an empty one for what is not given; 3.0 is the text 3."""
        return [_text(x) for x in _list(self.columns[column])]

    def numbers(self, column: int, figures: Figures) -> Floats:
        """The cells as numbers, NaN for what is not given."""
        cells = self.columns[column]
        if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
            out = cells.astype(np.float64)
            bad = np.flatnonzero(np.isinf(out))
            if len(bad):
                self.fail(int(bad[0]), self.titles[column], f"{out[bad[0]]} is not a finite number")
            return out
        texts = isinstance(cells, list) and all(isinstance(x, str) for x in cells)
        if texts and figures == Figures() and all(map(DIGITS.issuperset, cells)):  # no sign that needs a decision: most tables
            try:
                return np.array([float(x) if x else np.nan for x in cells])
            except ValueError:
                pass  # the first bad cell is named below
        return np.array([self._number(i, column, x, figures) for i, x in enumerate(_list(cells))], dtype=np.float64)

    def _number(self, row: int, column: int, x: Any, figures: Figures) -> float:
        if x is None or (isinstance(x, str) and x in MISSING):
            return np.nan
        if isinstance(x, str):
            value, why = figures.read(x)
            if why:
                self.fail(row, self.titles[column], why)
            return value
        if isinstance(x, date):
            self.fail(row, self.titles[column], f"{x} is a date and no number; spreadsheets make dates of figures such as 1.5")
        try:
            value = float(x)
        except Exception:
            self.fail(row, self.titles[column], f"{short(x)} is not a number")
        if np.isinf(value):
            self.fail(row, self.titles[column], f"{value} is not a finite number")
        return value


def read_cells(source: object) -> Cells:
    """The cells of a file, which is told by its contents and not by its name, or of a data frame or dictionary."""
    if isinstance(source, Cells):
        return source
    if isinstance(source, (str, os.PathLike)):
        return _checked(_read(file(source, StudyError)))
    table: Any = source
    if isinstance(source, Mapping):
        names = list(source)
    else:
        named = entries(getattr(source, "columns", None))
        if named is None or isinstance(source, type) or not all(map(label, named)):
            raise StudyError(
                f"A frame is the path of a table, a data frame, or a dictionary of columns, not {short(source)}.", key="frame"
            )
        names = named
    columns = []
    for name in names:
        column = table[name]
        array = np.asarray(column) if not isinstance(column, str) else None
        if array is None or array.ndim != 1:
            raise StudyError(f"The frame, column {str(name)!r}: a list with one entry a stratum is wanted, not {short(column)}.")
        columns.append(array if array.dtype.kind in "iuf" else [_cell(x) for x in _list(column)])
    if len({len(c) for c in columns}) > 1:
        lengths = ", ".join(f"{name} {len(c)}" for name, c in zip(names, columns, strict=True))
        raise StudyError(f"The columns of the frame differ in length: {lengths}.", key="frame")
    return _checked(Cells("The frame", [str(name) for name in names], columns))


def _read(path: Path) -> Cells:
    try:
        with path.open("rb") as stream:
            start = stream.read(4)
    except OSError:
        start = b""  # the reader of texts says what is wrong
    if start == b"PK\x03\x04":
        return _excel(path)
    if start == b"PAR1":
        return _parquet(path)
    if start == OLD_EXCEL:
        raise StudyError(f"{path}: this is an Excel file of the old format .xls; save it as .xlsx or CSV.", key="frame")
    table = read_table(path)
    columns = [list(column) for column in zip(*table.rows, strict=True)]
    return Cells(str(path), table.header, columns, table.lines, table.delimiter == ";")


def _excel(path: Path) -> Cells:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise StudyError(
            f"{path}: Excel files take the package openpyxl; install surepick with the extra 'excel' "
            "(pip install 'surepick[excel]'), or save the table as CSV.",
            key="frame",
        ) from None
    try:
        book = load_workbook(BytesIO(path.read_bytes()), read_only=True, data_only=True)
    except Exception as error:
        raise StudyError(f"{path}: this is a zip file, but no Excel table (.xlsx) that can be read ({error}).") from None
    try:
        sheet = book.worksheets[0]
        rows = [[_cell(x) for x in row] for row in sheet.iter_rows(values_only=True)]
        name = f"{path}, sheet {sheet.title!r}" if len(book.worksheets) > 1 else str(path)
    finally:
        book.close()
    lines = [i for i, row in enumerate(rows) if any(x is not None for x in row)]
    if not lines:
        raise StudyError(f"{name}: the table is empty; name the columns in the first line.")
    header = [_text(x) for x in rows[lines[0]]]
    kept = [j for j, title in enumerate(header) if title]
    columns = [[rows[i][j] if j < len(rows[i]) else None for i in lines[1:]] for j in kept]
    return Cells(name, [header[j] for j in kept], columns, [i + 1 for i in lines[1:]])


def _parquet(path: Path) -> Cells:
    import pyarrow.parquet as pq

    try:
        frame = pq.read_table(path).to_pandas()
    except Exception as error:
        raise StudyError(f"{path}: this is no Parquet table that can be read ({error}).") from None
    cells = read_cells(frame.reset_index() if frame.index.name is not None else frame)
    return Cells(str(path), cells.titles, cells.columns)


def _checked(cells: Cells) -> Cells:
    if not cells.titles or not len(cells):
        raise StudyError(f"{cells.source}: there are no strata; give one row a stratum.", key=EMPTY)
    return cells


def _list(cells: Any) -> list[Any]:
    return cells.tolist() if hasattr(cells, "tolist") else list(cells)


def _cell(x: Any) -> Any:
    """None for what is empty or missing; texts without blanks around them."""
    if isinstance(x, str):
        return x.strip() or None
    try:
        return None if x is None or not bool(x == x) else x
    except Exception:  # pandas.NA is neither true nor false
        return None


def _text(x: Any) -> str:
    if x is None or x != x:
        return ""
    return str(int(x)) if isinstance(x, float) and x.is_integer() and abs(x) < 1e15 else str(x)
