"""surepick study ask, tell and record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..talk import AsJson, emit, say, table
from .options import FILE, Name, Where, Who, opened

if TYPE_CHECKING:
    from ...study.durable import Ticket

TITLES = ("ticket", "arm", "item", "value")


def ask(
    n: Annotated[int, typer.Option("--next", "-n", metavar="N", help="How many samples, at most.", min=1)] = 10,
    worker: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who will take them: what you have not told yet comes first.", show_default=False),
    ] = None,
    sheet: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write them to a table, to be filled in and told.", show_default=False)
    ] = None,
    where: Where = FILE,
    name: Name = None,
    as_json: AsJson = False,
) -> None:
    """What to sample next: a ticket for each.

    Tickets count as if they were answered, so that everybody samples something else. With --worker the same question has the same
    answer until you tell: after a crash, or for a second look.
    """
    with opened(where, name) as study:
        tickets = study.ask(n, worker)
        status = None if tickets else study.status()
    if sheet is not None and tickets:
        write_sheet(sheet, tickets)
    if as_json:
        emit({"tickets": [ticket.to_dict() for ticket in tickets], "done": bool(status and status.done)})
        return
    if status is not None:
        say(
            f"Nothing to sample: {status}"
            if status.done
            else "Nothing to sample just now: all that may be asked for is on its way."
        )
        return
    pooled = tickets[0].item is not None
    table(
        ["sample", *(["on item"] if pooled else []), "ticket", "until"],
        [
            (str(ticket.arm), *([str(ticket.item)] if pooled else []), ticket.id, f"{ticket.expires.astimezone():%Y-%m-%d %H:%M}")
            for ticket in tickets
        ],
    )
    say(f"Filled in, {sheet} is told by: surepick study tell --sheet {sheet}" if sheet else
        f"Tell what you found: surepick study tell {tickets[0].id} VALUE")  # fmt: skip


def write_sheet(path: Path, tickets: list[Ticket]) -> None:
    """A table with an empty column for the values."""
    import csv

    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(TITLES)
        writer.writerows([ticket.id, ticket.arm, "" if ticket.item is None else ticket.item, ""] for ticket in tickets)


def read_sheet(path: Path) -> list[tuple[str, float]]:
    """The rows of such a table that have a value."""
    from ...study import read_table

    filled = read_table(path)
    cells = zip(filled.texts("ticket", "which ask has written"), filled.texts("value", empty=True), strict=True)
    return [(ticket, filled.number(row, "value", cell)) for row, (ticket, cell) in enumerate(cells) if cell]


def tell(
    answers: Annotated[
        list[str] | None, typer.Argument(metavar="[TICKET VALUE]...", help="Tickets, each with its value.", show_default=False)
    ] = None,
    sheet: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="A table with the columns ticket and value.", show_default=False)
    ] = None,
    where: Where = FILE,
    name: Name = None,
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Tell the values of tickets, all of them or, if one is refused, none.

    The same value again does nothing, so a sheet may be told whenever more of it is filled in. Another value is refused: the
    first one stays, and `correct` puts it right if it was wrong. Write -- before values below 0.
    """
    from ...errors import SettingError

    words = answers or []
    if len(words) % 2 or not (words or sheet):
        raise SettingError("Give tickets and values in turn, such as 17-kq3f 0.52, or a table with --sheet.", key="answers")
    pairs = [(ticket, number_in(value)) for ticket, value in zip(words[::2], words[1::2], strict=True)]
    if sheet is not None:
        pairs += read_sheet(sheet)
    with opened(where, name, who) as study:
        before = study.status().samples
        study.tell_many(pairs)
        status = study.status()
    if as_json:
        emit({"told": len(pairs), "new": status.samples - before, "samples": status.samples, "done": status.done})
        return
    say(f"Told {len(pairs):,} value{'' if len(pairs) == 1 else 's'}, {status.samples - before:,} of them new. {status}")


def number_in(cell: str) -> float:
    from ...errors import ObservationError

    try:
        if "_" not in cell:
            return float(cell)
    except ValueError:
        pass
    raise ObservationError(f"{cell!r} is not a number; write decimals with a point. Nothing was recorded.", key="value")


def record(
    arm: Annotated[str, typer.Argument(metavar="ARM", show_default=False)],
    values: Annotated[list[str], typer.Argument(metavar="VALUE...", show_default=False)],
    item: Annotated[
        str | None, typer.Option(metavar="ITEM", help="On a pool, the item of the score.", show_default=False)
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What names them, such as a page: recorded once.", show_default=False)
    ] = None,
    where: Where = FILE,
    name: Name = None,
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Record values of an arm that nobody asked for. Write -- before values below 0."""
    data = [number_in(value) for value in values]
    with opened(where, name, who) as study:
        found: object = arm
        if item is not None:
            pool = study.explorer().pool
            found = (arm, int(item) if pool is not None and not pool.named and item.isdigit() else item)
        study.record(found, data, key)
        status = study.status()
    if as_json:
        emit({"recorded": len(data), "samples": status.samples, "done": status.done})
        return
    say(f"Recorded. {status}")
