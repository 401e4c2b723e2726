"""The progress bar of a simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .work import Standing

BAR = 24  # columns of the bar
WIDE = 100  # columns of a terminal from which on it is as long as that
BESIDE = len("  0:00:00")  # columns of the time so far, and between the parts
LEAST = 12  # characters of what is being run that are worth showing


@contextmanager
def shown(progress: bool | Callable[[Standing], object] | None) -> Iterator[Callable[[Standing], object]]:
    """What to call when results come in."""
    if callable(progress):
        yield progress
        return
    if not progress:
        yield lambda standing: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, highlight=False)
    size = BAR if console.width >= WIDE else BAR // 2
    with Progress(
        BarColumn(bar_width=size), TextColumn("{task.description}", markup=False), TimeElapsedColumn(),
        console=console, transient=True, disable=not (console.is_terminal or console.is_jupyter),
    ) as bar:  # fmt: skip
        task = bar.add_task("starting (the first run compiles, for 5 to 20 s)", total=None)

        def show(standing: Standing) -> None:
            if standing.cell or not standing.total - standing.done:
                bar.update(
                    task,
                    total=standing.total,
                    completed=standing.done,
                    description=words(standing, console.width - size - BESIDE),
                )

        yield show


def words(standing: Standing, most: int = 1000) -> str:
    """The standing in words, in so many characters: what is being run, which begins with a title, is cut first."""
    text = f"{standing.done:,} of {standing.total:,} runs"
    rest = (
        f", about {span(standing.left)} left"
        if standing.left
        else ", no estimate of the rest yet"
        if standing.left is None
        else ""
    )
    room, cell = most - len(text) - len(rest) - len(" ()"), standing.cell
    if len(cell) > room:
        cell = f"…{cell[len(cell) - room + 1 :].lstrip()}" if room >= LEAST else ""
    return f"{text} ({cell}){rest}" if cell else f"{text}{rest}"


def span(seconds: float) -> str:
    """A rough duration in words."""
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
