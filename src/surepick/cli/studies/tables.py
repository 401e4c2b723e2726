"""surepick study import and export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..talk import AsJson, emit, say
from .options import FILE, Name, Where, Who, opened

SHOWN = 100  # bad rows that are listed


def import_(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A CSV or Parquet file: arm, value, and item on a pool.", show_default=False)
    ],
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows out instead of importing nothing.")] = False,
    key: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What names them: recorded once. Unless told, their content.", show_default=False),
    ] = None,
    arm: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column with the arms.", show_default=False)] = None,
    value: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column with the values.", show_default=False)] = None,
    item: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column with the items.", show_default=False)] = None,
    order: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column with the order: each entry is a moment.", show_default=False)
    ] = None,
    where: Where = FILE,
    name: Name = None,
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Record the rows of a table, all as one moment unless --order says more.

    All bad rows are listed with their lines, and then nothing is imported, unless you say --skip-bad. The same table again
    changes nothing.
    """
    from ...errors import RowsError

    with opened(where, name, who) as study:
        try:
            found = study.import_data(
                data, key, arm=arm, value=value, item=item, order=order, skip_bad=skip_bad
            )  # fmt: skip
        except RowsError as error:
            if as_json:
                rows = [vars(row) for row in error.rows]
                emit({"error": {"type": "RowsError", "key": error.key, "message": str(error), "rows": rows}})
            else:
                for row in error.rows[:SHOWN]:
                    say(f"line {row.line}: {row.why}", "red", stderr=True)
                more = f" The first {SHOWN} are listed; --json has all." if len(error.rows) > SHOWN else ""
                many = "1 row is" if len(error.rows) == 1 else f"{len(error.rows):,} rows are"
                say(f"{data}: {many} no observation.{more} Nothing was imported.", "red", stderr=True)
            raise typer.Exit(2) from None
        status = study.status()
    if as_json:
        emit({**found.to_dict(), "samples": status.samples, "done": status.done})
        return
    for row in found.bad[:SHOWN]:
        say(f"left out, line {row.line}: {row.why}")
    say(f"{found} {status}")


def export(
    to: Annotated[Path, typer.Argument(metavar="FILE", help="A CSV or Parquet file.", show_default=False)],
    where: Where = FILE,
    name: Name = None,
    as_json: AsJson = False,
) -> None:
    """Write the log to a table: every entry, who told it and when, and what it counts as."""
    with opened(where, name) as study:
        many = study.export(to)
    if as_json:
        emit({"file": str(to), "entries": many})
        return
    say(f"Wrote {many:,} entries to {to}.")
