"""Prints results and errors: for people, or as JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from ..arms import Floats
    from ..certificate import Certificate
    from ..explorer import Explorer
    from ..lab import Trace

File = Annotated[Path, typer.Argument(metavar="FILE", help="A study file (TOML).", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FOLDER", help="Save pictures there.", show_default=False)]

ROWS = 60  # arms that a table shows
PLAIN = 110  # columns when the output is not a terminal
USUAL = 80  # columns of a terminal, for which tables with long names are made if there is none
LEAST = 24  # letters that an arm's name keeps on a line
NARROWEST = 100  # columns of a table, however narrow the terminal


def console(*, stderr: bool = False, wide: bool = False) -> Console:
    from rich.console import Console

    terminal = (sys.stderr if stderr else sys.stdout).isatty()
    made = Console(stderr=stderr, highlight=False, markup=False, width=None if terminal else PLAIN)
    if terminal and wide and made.width < NARROWEST:
        made.width = NARROWEST  # long lines that the terminal wraps are better than digits that are cut off
    return made


def say(text: str = "", style: str | None = None, *, stderr: bool = False) -> None:
    """A sentence, wrapped at words on a terminal; elsewhere it is one line."""
    terminal = (sys.stderr if stderr else sys.stdout).isatty()
    console(stderr=stderr).print(text, style=style, soft_wrap=not terminal)


def emit(payload: dict[str, Any]) -> None:
    """JSON to standard output; what is unknown or infinite must have become None before."""
    print(json.dumps(payload, indent=2, allow_nan=False))


def fail(kind: str, message: str, as_json: bool, key: str | None = None) -> int:
    """One sentence in red on standard error, or {"error": ...} on standard output; returns the exit code."""
    if as_json:
        emit({"error": {"type": kind, "key": key, "message": message}})
    else:
        say(message, "red", stderr=True)
    return 2


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, styles: Sequence[str | None] | None = None) -> None:
    """A table whose first column is text and whose others are numbers; wider than the terminal rather than without the names."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    rows = [list(row) for row in rows]
    widths = [max(max(map(len, cell.split("\n"))) for cell in cells) for cells in zip(columns, *rows, strict=True)]
    least = min(widths[0], LEAST)
    for j, column in enumerate(columns):
        first = j == 0
        grid.add_column(
            column, justify="left" if first else "right", overflow="fold", no_wrap=not first, min_width=least if first else None
        )
    for i, row in enumerate(rows):
        grid.add_row(*(Text(cell) for cell in row), style=styles[i] if styles else None)
    made = console(wide=True)
    made.width = max(made.width, least + sum(widths[1:]) + 3 * len(widths))
    made.print(grid)


def width() -> int:
    """Columns that people see."""
    return console().width if sys.stdout.isatty() else USUAL


def folded(columns: Sequence[str], rows: Sequence[Sequence[str]], least: int = 12) -> list[list[str]]:
    """The same rows, the names in front folded so that the table fits, as long as names keep so many letters."""
    beside = sum(3 + max(map(len, cells)) for cells in list(zip(columns, *rows, strict=True))[1:])
    room = max(width() - 2 - beside, least)  # a blank on either side
    return [["\n".join(name[i : i + room] for i in range(0, len(name), room)), *cells] for name, *cells in rows]


def number(x: float | None) -> str:
    if x is None or math.isnan(x):
        return "–"
    return f"{x:.4g}"


def about(x: float) -> str:
    """A rough figure: two digits that count."""
    if not math.isfinite(x):
        return "∞"
    x = float(f"{x:.2g}")
    return f"{x:,.0f}" if x >= 10 else f"{x:g}"


def plain(x: float | None) -> float | None:
    return x if x is not None and math.isfinite(x) else None


def plain_list(values: Iterable[float]) -> list[float | None]:
    return [plain(float(x)) for x in values]


def show_certificate(certificate: Certificate, title: str = "") -> None:
    """The statement, the decision in words if it is a choice of arms, and a row an arm."""
    import numpy as np

    if title:
        say(title, "bold")
    say(str(certificate), "bold green" if certificate.certified else "bold yellow")
    if certificate.above is not None:
        from .ranking import show_order

        show_order(certificate)
        show_standing(certificate)
        return
    decision, names = certificate.decision, [str(name) for name in certificate.names]
    chosen = [names[i] for i in np.flatnonzero(decision)]
    if set(decision.tolist()) <= {0, 1} and len(chosen) <= 20:
        say(f"{'Decision' if certificate.certified else 'Best guess'}: {', '.join(chosen) or 'none'}")
    # Of very many arms, show those that matter.
    matters = np.lexsort((decision == 0, ~certificate.undecided))[:ROWS]
    shown, guess = np.sort(matters), certificate.guess
    columns = ["arm", "samples", "estimate", "lower", "upper", "decision", *([] if guess is None else ["best guess"]), ""]
    table(
        columns,
        folded(
            columns,
            [
                (
                    names[i],
                    f"{certificate.counts[i]:,}",
                    number(float(certificate.estimate[i])),
                    number(float(certificate.lower[i])),
                    number(float(certificate.upper[i])),
                    f"{decision[i]:g}",
                    *([] if guess is None else [f"{guess[i]:g}"]),
                    "undecided" if certificate.undecided[i] else "",
                )
                for i in shown
            ],
            LEAST,
        ),
        styles=["yellow" if certificate.undecided[i] else "bold" if decision[i] else None for i in shown],
    )
    if len(shown) < len(names):
        say(f"{len(names) - len(shown):,} more arms are not shown; --json has them all.")
    if guess is not None:
        say("The decision is the one with the smallest certified gap; the best guess would be best if the estimates were right.")
    show_standing(certificate)


def show_standing(certificate: Certificate) -> None:
    """How far from the best the decision may be, what stands in the way of more, and the confidence that was attained."""
    if certificate.undecided.any():
        if certificate.certified and certificate.above is None:
            per_arm = certificate.gap_per_arm if certificate.per_arm else None
            gap = (
                gap_text(certificate.gap, certificate.relative)
                if per_arm is None
                else f"{gap_text(per_arm, False)} for every arm"
            )
            say(f"Certified gap: at most {gap}. Undecided arms may differ in the very best decision.")
        if certificate.blocking is not None:
            say(f"Most in the way: {certificate.blocking}.")
    show_attained(certificate)
    if certificate.independent:
        say("If arms depend on each other, set dependent = true in the study.")


def show_attained(certificate: Certificate) -> None:
    attained, asked = certificate.attained, certificate.delta
    if attained is None or (certificate.certified and attained > asked):
        return
    if attained >= 1:
        say("Attained delta: none below 1; these observations do not certify the decision at any confidence.")
    else:
        also = "" if certificate.certified else f"; {asked:g} was asked for"
        say(f"Attained delta: {attained:.2g}, the smallest at which these observations certify the decision{also}.")


def gap_text(gap: float, relative: bool) -> str:
    if not relative:
        return f"{gap:.3g}"
    return f"{100 * gap:,.0f} % of the best" if gap >= 1 else f"{100 * gap:.3g} % of the best"


def open_folder(folder: Path, option: str = "--plot") -> None:
    """Make a folder for pictures, unless there is one."""
    from ..errors import SettingError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise SettingError(
            f"{option} {folder}: a folder is wanted, and there is a file of that name, or on the way to it; name a folder, "
            "which is made if need be."
        ) from None


def save_pictures(
    certificate: Certificate,
    folder: Path,
    title: str,
    parameter: str,
    traces: Trace | Mapping[str, Trace] | None = None,
    marks: Mapping[str, float] | None = None,
    proportions: Floats | None = None,
    explorer: Explorer | None = None,
) -> list[str]:
    """The pictures of a certificate and, if there are traces, of how the gap fell; of a history, all that it shows; of an
    explorer with a pool, how its candidates compare, and how many evaluations that took."""
    from ..lab import History, allocation, closing, evaluations, gap, intervals, ranks, samples, save, standings
    from ..standings import why_not

    open_folder(folder)
    figures = {
        "intervals.png": intervals(certificate, title=title, parameter=parameter),
        "samples.png": samples(certificate, title=title),
    }
    if certificate.above is not None:
        figures["ranks.png"] = ranks(certificate, title=title)
    if explorer is not None and explorer.pool is not None:
        figures["evaluations.png"] = evaluations(explorer, title=title)
        if why_not(explorer.problem) is None:
            figures["standings.png"] = standings(explorer, title=title)
    if traces is not None:
        figures["gap.png"] = gap(traces, title=title, marks=marks)
    if isinstance(traces, History) and traces.certificates:
        figures["allocation.png"] = allocation(traces, proportions=proportions, title=title)
        figures["closing.png"] = closing(traces, title=title, parameter=parameter)
    return [str(save(figure, folder / name)) for name, figure in figures.items()]
