"""What a study leaves out, its CSV table may hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .complaints import Place, join
from .tables import Table


class Need:
    """A value of the study, or the table's column where the study leaves it out."""

    place: Place
    prefix: str
    table: Table | None

    def __init__(self, place: Place, prefix: str, table: Table | None) -> None:
        self.place, self.prefix, self.table = place, prefix, table

    def __call__(self, key: str, given: Any, column: str, read: Callable[[Table, str], Any]) -> Any:
        if given is not None:
            return given
        if self.table is None:
            self.place.fail(
                join(self.prefix, key), f"this key is missing; add it, or name a CSV file with a column {column!r} as arms."
            )
        return read(self.table, column)

    def maybe(self, given: Any, column: str, read: Callable[[Table, str], Any]) -> Any:
        if given is None and self.table is not None and self.table.has(column):
            return read(self.table, column)
        return given
