"""surepick study: a study in a database, for people with a spreadsheet."""

from __future__ import annotations

import typer

from . import audit, manage, tables, take, watch

app: typer.Typer = typer.Typer(
    help="A study in a database, that many people and machines ask and tell: see docs/studies.md.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

app.command("create")(manage.create)
app.command("list")(manage.list_)
app.command("ask")(take.ask)
app.command("tell")(take.tell)
app.command("record")(take.record)
app.command("status")(watch.status)
app.command("watch")(watch.watch)
app.command("history")(audit.history)
app.command("import")(tables.import_)
app.command("export")(tables.export)
app.command("correct")(audit.correct)
app.command("verify")(audit.verify)
app.command("copy")(manage.copy)
app.command("close")(manage.close)
