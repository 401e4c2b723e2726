"""surepick paper: every claim of the paper, measured."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .talk import AsJson, console, emit, say

if TYPE_CHECKING:
    from ..lab.paper import Claim, Result

REPORT = "report.html"


def paper(
    out: Annotated[
        Path, typer.Option(metavar="PATH", help="Where the report goes: a folder, or a file that ends in .html.")
    ] = Path("surepick-paper"),
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.", min=0)] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs, under half a minute; the report says so.")] = False,
    processes: Annotated[
        int | None, typer.Option(metavar="P", help="Processes.  [default: one on every core]", min=1, show_default=False)
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="CLAIM", help="Only this claim; may be repeated.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure every claim of the paper, and write a report.

    One HTML page with a verdict, a figure and tables for each claim. It takes a few minutes.
    Ctrl-C stops without a report (exit code 130).
    """
    from ..lab.paper.claims import chosen
    from ..lab.paper.report import page, to_dict, write

    claims = chosen(only)
    path = _place(out)
    begin = time.monotonic()
    results, lab = _measure(claims, seed, quick, processes, as_json)
    write(page(results, lab, time.monotonic() - begin), path)
    if as_json:
        emit({"report": str(path), "seed": seed, "quick": quick, "claims": [to_dict(*pair) for pair in results]})
        return
    _verdicts(results)
    if quick:
        say("A quick look with few runs; leave out --quick for the full report.", "yellow")
    say(f"Saved {path}")


def _measure(
    claims: Sequence[Claim], seed: int, quick: bool, processes: int | None, as_json: bool
) -> tuple[list[tuple[Claim, Result]], Any]:
    from ..lab.paper import Lab
    from ..lab.paper.claims import workers

    with _display(claims, as_json) as display, workers(processes) as executor:
        lab = Lab(seed, quick, executor)
        results = []
        for claim in claims:
            lab.step = display(claim)
            results.append((claim, claim.measure(lab)))
            lab.step(1.0)
    return results, lab


def _place(out: Path) -> Path:
    """The report's file; its folder is made at once, which is better than after some minutes."""
    from ..errors import SettingError

    path = out if out.suffix.lower() in (".html", ".htm") else out / REPORT
    if path.is_dir():
        raise SettingError(f"--out {out}: {path} is a folder, so the report cannot have that name; name another file or folder.")
    if path.parent.exists() and not path.parent.is_dir():
        raise SettingError(f"--out {out}: {path.parent} is a file, not a folder; name another folder, or a file ending in .html.")
    path.parent.mkdir(parents=True, exist_ok=True)
    trial = path.parent / f".{path.name}.trial"
    trial.touch()
    trial.unlink()
    return path


def _verdicts(results: Sequence[tuple[Claim, Result]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    colours = {"holds": "green", "wrong as stated": "red", "not confirmed": "yellow"}
    grid = Table(box=SIMPLE_HEAD, pad_edge=False)
    grid.add_column("claim", no_wrap=True)
    grid.add_column("in the paper")
    grid.add_column("verdict")
    for claim, result in results:
        grid.add_row(claim.name, claim.where, Text(str(result.verdict), style=colours[result.verdict.standing]))
    console(wide=True).print(grid)


@contextmanager
def _display(claims: Sequence[Claim], as_json: bool) -> Iterator[Callable[[Claim], Callable[[float], object]]]:
    """A bar for every claim, with the time that is left, on standard error if that is a terminal."""
    if as_json or not sys.stderr.isatty():
        yield lambda claim: lambda share: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}", markup=False), BarColumn(bar_width=24), TextColumn("{task.fields[left]}", markup=False),
        TimeElapsedColumn(), console=console(stderr=True), transient=True,
    ) as bar:  # fmt: skip
        tasks = {claim.name: bar.add_task(claim.name, total=1.0, start=False, left="waiting") for claim in claims}

        def open_(claim: Claim) -> Callable[[float], object]:
            task, begin = tasks[claim.name], time.monotonic()
            bar.start_task(task)
            bar.update(task, left="the first runs compile")

            def step(share: float) -> None:
                spent = time.monotonic() - begin
                left = "done" if share >= 1 else f"about {spent * (1 - share) / share:.0f} s left" if share > 0 else ""
                bar.update(task, completed=share, left=left)
                if share >= 1:
                    bar.stop_task(task)

            return step

        yield open_
