"""Where a study is: what all these commands begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ...study.durable import Study

Where = Annotated[
    str,
    typer.Option(
        "--database", "-d", metavar="URL", envvar="SUREPICK_DATABASE",
        help="The database: a file, or postgresql+psycopg://user@host/name. Also from SUREPICK_DATABASE.",
    ),
]  # fmt: skip
Name = Annotated[
    str | None, typer.Option("--study", "-s", metavar="NAME", help="Which study, if there are several.", show_default=False)
]
Who = Annotated[str | None, typer.Option("--who", metavar="NAME", help="In whose name; you, unless told.", show_default=False)]

FILE = "study.db"


def opened(where: str, name: str | None, who: str | None = None) -> Study:
    from ...study.durable import Study

    return Study.open(where, name, who=who)
