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
    from ..lab import Trace

File = Annotated[Path, typer.Argument(metavar="FILE", help="A study file (TOML).", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FOLDER", help="Save pictures there.", show_default=False)]

ROWS = 60  # arms that a table shows
PLAIN = 110  # columns when the output is not a terminal
NARROWEST = 100  # columns of a table, however narrow the terminal


def console(*, stderr: bool = False, wide: bool = False) -> Console:
    from rich.console import Console

    terminal = (sys.stderr if stderr else sys.stdout).isatty()
    made = Console(stderr=stderr, highlight=False, markup=False, width=None if terminal else PLAIN)
    if terminal and wide and made.width < NARROWEST:
        made.width = NARROWEST  # long lines that the terminal wraps are better than digits that are cut off
    return made


def say(text: str = "", style: str | None = None) -> None:
    console().print(text, style=style, soft_wrap=True)


def emit(payload: dict[str, Any]) -> None:
    """JSON to standard output; what is unknown or infinite must have become None before."""
    print(json.dumps(payload, indent=2, allow_nan=False))


def fail(kind: str, message: str, as_json: bool, key: str | None = None) -> int:
    """One sentence in red on standard error, or {"error": ...} on standard output; returns the exit code."""
    if as_json:
        emit({"error": {"type": kind, "key": key, "message": message}})
    else:
        console(stderr=True).print(message, style="red", soft_wrap=True)
    return 2


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, styles: Sequence[str | None] | None = None) -> None:
    """A table whose first column is text and whose others are numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    for j, column in enumerate(columns):
        grid.add_column(column, justify="left" if j == 0 else "right", overflow="fold", no_wrap=j > 0)
    for i, row in enumerate(rows):
        grid.add_row(*(Text(cell) for cell in row), style=styles[i] if styles else None)
    console(wide=True).print(grid)


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
    decision, names = certificate.decision, [str(name) for name in certificate.names]
    chosen = [names[i] for i in np.flatnonzero(decision)]
    if set(decision.tolist()) <= {0, 1} and len(chosen) <= 20:
        say(f"{'Decision' if certificate.certified else 'Best guess'}: {', '.join(chosen) or 'none'}")
    # Of very many arms, show those that matter.
    matters = np.lexsort((decision == 0, ~certificate.undecided))[:ROWS]
    shown = np.sort(matters)
    table(
        ["arm", "samples", "estimate", "lower", "upper", "decision", ""],
        [
            (
                names[i],
                f"{certificate.counts[i]:,}",
                number(float(certificate.estimate[i])),
                number(float(certificate.lower[i])),
                number(float(certificate.upper[i])),
                f"{decision[i]:g}",
                "undecided" if certificate.undecided[i] else "",
            )
            for i in shown
        ],
        styles=["yellow" if certificate.undecided[i] else "bold" if decision[i] else None for i in shown],
    )
    if len(shown) < len(names):
        say(f"{len(names) - len(shown):,} more arms are not shown; --json has them all.")
    show_standing(certificate)


def show_standing(certificate: Certificate) -> None:
    """How far from the best the decision may be, what stands in the way of more, and the confidence that was attained."""
    if certificate.undecided.any():
        if certificate.certified:
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
) -> list[str]:
    """The pictures of a certificate and, if there are traces, of how the gap fell; of a history, all that it shows."""
    from ..lab import History, allocation, closing, gap, intervals, samples, save

    open_folder(folder)
    figures = {
        "intervals.png": intervals(certificate, title=title, parameter=parameter),
        "samples.png": samples(certificate, title=title),
    }
    if traces is not None:
        figures["gap.png"] = gap(traces, title=title, marks=marks)
    if isinstance(traces, History) and traces.certificates:
        figures["allocation.png"] = allocation(traces, proportions=proportions, title=title)
        figures["closing.png"] = closing(traces, title=title, parameter=parameter)
    return [str(save(figure, folder / name)) for name, figure in figures.items()]
