"""CSV tables of arms, strata and observations, read so that every complaint can name the file, the line and the column.

The first row names the columns, in any order and any case. Cells are separated by commas, or by semicolons or tabs if the
header has no comma. Numbers have a decimal point. Empty lines and columns that nobody asks for are ignored.
"""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

from ..errors import StudyError

# What a column may be called, the first name being the one that messages use.
EMPTY = "rows"  # the key of an error about a table that has none
NAMED = ("arm", "value")  # columns that options of surepick check name
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
ALIASES = {
    "stratum": ("stratum", "strata", "arm", "name", "site", "variant"),
    "arm": ("arm", "stratum", "variant", "site", "name", "candidate", "model"),
    "item": ("item", "question", "doc_id"),
    "value": ("value", "score"),
    "N": ("n", "size", "nh"),
    "S": ("s", "sd", "sh"),
    "variance": ("variance", "var"),
    "mean": ("mean",),
    "min": ("min", "low"),
    "max": ("max", "high"),
    "order": ("order", "time", "date", "day", "datetime", "timestamp"),
}


@dataclass(frozen=True)
class Table:
    """The cells of a CSV file as texts, each with its line."""

    path: Path
    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    called: dict[str, str] = field(default_factory=dict)  # columns whose title the user gave
    delimiter: str = ","

    def naming(self, **columns: str | None) -> Table:
        """The same table, where these columns have other titles."""
        called = {column: title for column, title in columns.items() if title is not None}
        for title in called.values():
            if title not in self.header:
                raise StudyError(f"{self.path}, line 1: there is no column {title!r}. The columns are {self._titles}.")
        return replace(self, called=called)

    @property
    def _titles(self) -> str:
        return ", ".join(map(repr, self.header))

    def __len__(self) -> int:
        return len(self.rows)

    def find(self, column: str) -> int | None:
        """The position of a column under any of its names, or None; two that mean the same are refused."""
        if column in self.called:
            return self.header.index(self.called[column])
        names = ALIASES.get(column, (column.casefold(),))
        found = [j for j, title in enumerate(self.header) if title.casefold() in names]
        if len(found) > 1:
            both = " and ".join(repr(self.header[j]) for j in found)
            raise StudyError(f"{self.path}, line 1: the columns {both} mean the same; rename or delete all but one.")
        return found[0] if found else None

    def has(self, column: str) -> bool:
        return self.find(column) is not None

    def texts(self, column: str, why: str = "", *, empty: bool = False) -> list[str]:
        """The cells of a column, none of them empty unless that is allowed; ``why`` says what they are needed for."""
        j = self.find(column)
        if j is None:
            names = ALIASES.get(column, (column,))
            other = f" (or {', '.join(repr(n) for n in names[1:])})" if len(names) > 1 else ""
            hint = f", or say which one it is, --{column} COLUMN" if column in NAMED else ""
            raise StudyError(
                f"{self.path}, line 1: there is no column {column!r}{other}{why and ', ' + why}: add it{hint}. "
                f"The columns are {self._titles}.",
                key=column,
            )
        cells = [row[j] for row in self.rows]
        if not empty and "" in cells:
            self.fail(cells.index(""), column, f"the cell is empty; fill it in{self._or_else(column)}")
        return cells

    def names(self, noun: str) -> list[str]:
        """What the rows are called; no name may come twice."""
        names = self.texts("stratum", f"which names each {noun}")
        seen: dict[str, int] = {}
        for i, name in enumerate(names):
            if name in seen:
                self.fail(i, "stratum", f"{name!r} is already in line {self.lines[seen[name]]}; give each {noun} its own name")
            seen[name] = i
        return names

    def numbers(self, column: str, why: str = "") -> list[float]:
        return [self.number(i, column, cell) for i, cell in enumerate(self.texts(column, why))]

    def sizes(self, column: str, why: str = "") -> list[float]:
        """Positive numbers."""
        out = self.numbers(column, why)
        for i, x in enumerate(out):
            if x <= 0:
                self.fail(i, column, f"{x!r} is not a positive number; leave out what is empty")
        return out

    def wholes(self, column: str, why: str = "") -> list[int]:
        """Whole numbers; 12 and 12.0 are both twelve."""
        return [self.whole(i, column, cell) for i, cell in enumerate(self.texts(column, why))]

    def whole(self, row: int, column: str, cell: str) -> int:
        x = self.number(row, column, cell)
        if x != math.floor(x):
            self.fail(row, column, f"{x!r} is not a whole number")
        return int(x)

    def number(self, row: int, column: str, cell: str) -> float:
        try:
            x = float(cell)
        except ValueError:
            hint = "; write decimals with a point" if "," in cell else ""
            if THOUSANDS.fullmatch(cell):
                hint = f"; write {cell.replace(',', '')} if the comma parts thousands, and decimals with a point"
            hint = "; write 1 or 0" if cell.casefold() in ("true", "false", "yes", "no") else hint
            self.fail(row, column, f"{cell!r} is not a number{hint}")
        # float() also takes 1_000, which no spreadsheet writes, and nan, which is no value
        if "_" in cell or not math.isfinite(x):
            self.fail(row, column, f"{cell!r} is not a finite number{self._or_else(column, 'whatever it was')}")
        return x

    def _or_else(self, column: str, whatever: str = "") -> str:
        """What to do with a cell that says nothing: an observation may be left out, an arm or a stratum may not."""
        if column == "value":
            return f"; delete the line if the value is missing {whatever}" if whatever else ", or delete the line"
        if column in ("S", "variance"):
            return "; where nobody knows, guess: that of a similar stratum, or on the safe side"
        return ""

    def fail(self, row: int, column: str, what: str) -> NoReturn:
        j = self.find(column)
        title = column if j is None else self.header[j]
        raise StudyError(f"{self.path}, line {self.lines[row]}, column {title!r}: {what}.", key=title)


def read_table(path: str | Path, *, empty: bool = False) -> Table:
    """Read a CSV file with a header; without rows only if it may be ``empty``."""
    path = Path(path)
    text = read_text(path)
    first = text.split("\n", 1)[0]
    delimiter = "," if "," in first else ";" if ";" in first else "\t" if "\t" in first else ","
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    header: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for raw in reader:
            cells = [cell.strip() for cell in raw]
            if not header:
                header = cells
            elif any(cells):
                if len(cells) != len(header):
                    cut = "" if text.endswith(("\n", "\r")) else "; if it is the last line, it may be cut off"
                    raise StudyError(
                        f"{path}, line {reader.line_num}: {len(cells)} cells, but the header has {len(header)} columns; "
                        f"put texts with a separator in them in double quotes{cut}."
                    )
                rows.append(cells)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise StudyError(f"{path}, line {reader.line_num}: not a CSV table ({error}).") from None
    if not any(header):
        raise StudyError(f"{path}, line 1: the table has no header; name the columns in the first line.")
    if not rows and not empty:
        raise StudyError(f"{path}: the table has a header but no rows; add one row an arm or an observation.", key=EMPTY)
    return Table(path, header, rows, lines, delimiter=delimiter)


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, or a sentence about why it cannot be read."""
    try:
        with path.open("rb") as stream:
            start = stream.read(8)
        if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
            raise StudyError(
                f"{path}: this is an Excel workbook, or another file of an office program; save the sheet as CSV (UTF-8)."
            )
        if start.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise StudyError(f"{path}: this is UTF-16 text, which Excel calls Unicode; save the file as CSV UTF-8.")
        return path.read_text(encoding="utf-8-sig")  # spreadsheets put a byte-order mark in front
    except FileNotFoundError:
        raise StudyError(f"{path}: there is no such file; check the path.") from None
    except IsADirectoryError:
        raise StudyError(f"{path}: this is a folder; give a file.") from None
    except UnicodeDecodeError as error:
        raise StudyError(f"{path}: byte {error.start} is not UTF-8 text; save the file as UTF-8.") from None
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror}).") from None
