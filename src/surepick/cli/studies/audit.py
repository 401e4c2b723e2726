"""surepick study history, correct and verify."""

from __future__ import annotations

from typing import Annotated

import typer

from ..talk import AsJson, emit, say, table
from .options import FILE, Name, Where, Who, opened
from .take import number_in


def history(
    after: Annotated[int, typer.Option(metavar="ENTRY", help="Only entries after this one.", min=0)] = 0,
    limit: Annotated[int, typer.Option(metavar="N", help="How many entries.", min=1)] = 50,
    where: Where = FILE,
    name: Name = None,
    as_json: AsJson = False,
) -> None:
    """Who told what, and when."""
    with opened(where, name) as study:
        entries = study.history(after, limit)
    if as_json:
        emit({"entries": [entry.to_dict() for entry in entries]})
        return
    pooled = any(entry.item is not None for entry in entries)
    table(
        ["entry", "arm", *(["item"] if pooled else []), "value", "who", "when", ""],
        [
            (
                str(entry.seq), str(entry.arm), *([str(entry.item)] if pooled else []), f"{entry.value:g}", entry.who,
                f"{entry.told.astimezone():%Y-%m-%d %H:%M}",
                f"corrects {entry.corrects}: {entry.note}" if entry.corrects else entry.key or "",
            )
            for entry in entries
        ],
    )  # fmt: skip
    if len(entries) == limit:
        say(f"There may be more: --after {entries[-1].seq}")


def correct(
    entry: Annotated[str, typer.Argument(metavar="ENTRY", help="Its number in the history, or a ticket.", show_default=False)],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The right value.", show_default=False)],
    why: Annotated[str, typer.Option(metavar="TEXT", help="What was wrong.", show_default=False)],
    where: Where = FILE,
    name: Name = None,
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """Put a wrong entry right: a new entry that names the old one, which stays in the log."""
    with opened(where, name, who) as study:
        seq = study.correct(int(entry) if entry.isascii() and entry.isdigit() else entry, number_in(value), why)
        status = study.status()
    if as_json:
        emit({"entry": seq, **status.to_dict()})
        return
    say(f"Corrected, as entry {seq}. {status}")


def verify(where: Where = FILE, name: Name = None, as_json: AsJson = False) -> None:
    """Work the certificate out again from the log alone, and compare it with what is stored. Ends with code 1 if they differ."""
    with opened(where, name) as study:
        found = study.verify()
    if as_json:
        emit(found.to_dict())
    else:
        say(str(found), None if found.ok else "red")
        if found.ok:
            say(str(found.certificate))
    if not found.ok:
        raise typer.Exit(1)
