"""Tables in Markdown files, between marks: <!-- name --> and <!-- /name -->."""

from __future__ import annotations

from pathlib import Path


def put(text: str, mark: str, table: str) -> str:
    """The text with the table between its marks."""
    before, opening, rest = text.partition(f"<!-- {mark} -->\n")
    _, closing, after = rest.partition(f"<!-- /{mark} -->")
    if not opening or not closing:
        raise SystemExit(f"There are no marks <!-- {mark} --> to write between.")
    return f"{before}{opening}\n{table}\n{closing}{after}"


def write(file: Path, tables: dict[str, str]) -> None:
    """Put every table between its marks in this file."""
    text = file.read_text(encoding="utf-8")
    for mark, table in tables.items():
        text = put(text, mark, table)
    file.write_text(text, encoding="utf-8")
