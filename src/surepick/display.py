"""Results as a notebook shows them: a sentence, and a table as long as one likes to see."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

ROWS = 30  # of a table that are shown
LETTERS = 60  # of a name


def name(x: object) -> str:
    """A name as plain text, on one line and not too long."""
    text = " ".join(str(x).split())
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"


def figure(x: float | None) -> str:
    """A number as people read it; a dash where there is none."""
    if x is None or math.isnan(x):
        return "–"
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    if float(x).is_integer() and abs(x) < 1e15:
        return f"{int(x):,}".replace("-", "−")
    return f"{x:.4g}".replace("-", "−")


def listed(names: Sequence[object], most: int = 4) -> str:
    """A few names, and how many more there are."""
    few = ", ".join(map(name, names[:most]))
    return f"{few} and {len(names) - most:,} more" if len(names) > most else few


def table(header: Sequence[str], rows: Iterable[Sequence[str]], total: int, noun: str, names: int = 1) -> str:
    """Rows of plain texts as a table of HTML: ``names`` columns of names, then numbers. There are ``total`` rows in all."""

    def line(kind: str, cells: Sequence[str]) -> str:
        sides = ["left"] * names + ["right"] * (len(cells) - names)
        parts = (f'<{kind} style="text-align: {side}">{escape(cell)}</{kind}>' for side, cell in zip(sides, cells, strict=True))
        return f"<tr>{''.join(parts)}</tr>"

    shown = [line("td", row) for row in rows]
    more = total - len(shown)
    if more > 0:
        shown.append(f'<tr><td colspan="{len(header)}"><i>and {more:,} more {noun}{"" if more == 1 else "s"}</i></td></tr>')
    return f"<table><thead>{line('th', header)}</thead><tbody>{''.join(shown)}</tbody></table>"


def page(sentence: str, tables: str, notes: Sequence[str] = (), about: str = "") -> str:
    """A sentence, what it is about, and notes that open when they are clicked on."""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    folded = f"<details><summary>{escape(about)}</summary><ul>{items}</ul></details>" if notes else ""
    return f"<div><p><b>{escape(sentence)}</b></p>{tables}{folded}</div>"
