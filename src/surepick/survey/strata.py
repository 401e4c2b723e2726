"""The table of strata as ``surepick allocate`` reads it: the same files as frames are."""

from __future__ import annotations

from pathlib import Path

from ..study import read_table
from ..study.tables import ALIASES, Table
from .cells import read_cells

NUMBERS = frozenset((*ALIASES["N"], *ALIASES["S"], *ALIASES["variance"], "lower", "upper"))


def read_strata(path: Path, other: str | None = None) -> Table:
    """Excel, Parquet, and decimal commas between semicolons as if they had been CSV with points; ``other`` has numbers, too."""
    cells = read_cells(path)
    plain = cells.lines is not None and not cells.semicolons and all(isinstance(x, str) for c in cells.columns for x in c)
    if plain:
        return read_table(path)
    places = [j for j, title in enumerate(cells.titles) if title.casefold() in NUMBERS or title == other]
    figures = cells.figures(places)
    columns = [cells.texts(j) for j in range(len(cells.titles))]
    for j in places:
        columns[j] = ["" if x != x else repr(x) for x in cells.numbers(j, figures).tolist()]
    lines = cells.lines if cells.lines is not None else list(range(2, len(cells) + 2))  # below a header, as it is shown
    return Table(path, cells.titles, [list(row) for row in zip(*columns, strict=True)], lines)
