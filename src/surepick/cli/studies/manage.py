"""surepick study create, list, copy and close."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..talk import AsJson, emit, say, table
from .options import FILE, Name, Where, opened


def create(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A study file (TOML).", show_default=False)],
    where: Where = FILE,
    name: Annotated[
        str | None,
        typer.Option("--study", "-s", metavar="NAME", help="What to call it; as the file, unless told.", show_default=False),
    ] = None,
    lease: Annotated[float, typer.Option(metavar="HOURS", help="After which a ticket may be given to somebody else.")] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Begin a study, as FILE describes it."""
    from ...study.durable import Study

    with Study.create(where, file, name, lease=3600.0 * lease) as study:
        explorer, title = study.explorer(), study.status().title
        if as_json:
            emit({"study": study.name, "database": study.where, "title": title, "arms": list(map(str, explorer.problem.names))})
            return
        say(f"Created study {study.name!r} in {study.where}: {title or explorer.problem.kind}, {explorer.problem.m} arms.")
        say("What to sample next: surepick study ask")


def list_(where: Where = FILE, as_json: AsJson = False) -> None:
    """The studies of a database."""
    from ...study.durable import Study

    found = Study.studies(where)
    if as_json:
        emit({"studies": [one.to_dict() for one in found]})
        return
    table(
        ["study", "title", "samples", "created", ""],
        [
            (one.name, one.title, f"{one.samples:,}", f"{one.created:%Y-%m-%d}",
             "closed" if one.closed else "certified" if one.certified else "going on")
            for one in found
        ],
    )  # fmt: skip


def copy(
    to: Annotated[str, typer.Argument(metavar="URL", help="The other database.", show_default=False)],
    where: Where = FILE,
    name: Name = None,
    called: Annotated[str | None, typer.Option("--as", metavar="NAME", help="What to call it there.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Copy a study to another database, with its log and its tickets: from a file to a server, or back.

    Close it here afterwards, so that nobody goes on telling this one.
    """
    with opened(where, name) as study:
        study.copy(to, called)
        if as_json:
            emit({"study": called or study.name, "samples": study.status().samples})
            return
        say(f"Copied study {study.name!r}, {study.status().samples:,} samples. Close it here, so that nobody goes on with it.")


def close(where: Where = FILE, name: Name = None, as_json: AsJson = False) -> None:
    """End a study: nothing more is asked or told."""
    with opened(where, name) as study:
        study.close()
        status = study.status()
        if as_json:
            emit({"study": study.name, **status.to_dict()})
            return
        say(f"Closed study {study.name!r} after {status.samples:,} samples. It can still be read and corrected.")
