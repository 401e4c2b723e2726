"""The progress bar of a simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .work import Standing


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
    with Progress(
        BarColumn(bar_width=24), TextColumn("{task.description}", markup=False), TimeElapsedColumn(),
        console=console, transient=True, disable=not (console.is_terminal or console.is_jupyter),
    ) as bar:  # fmt: skip
        task = bar.add_task("starting (the first run compiles, for 5 to 20 s)", total=None)

        def show(standing: Standing) -> None:
            if standing.cell or not standing.total - standing.done:
                bar.update(task, total=standing.total, completed=standing.done, description=words(standing))

        yield show


def words(standing: Standing) -> str:
    """The standing in words."""
    text = f"{standing.done:,} of {standing.total:,} runs"
    if standing.cell:
        text += f" ({standing.cell})"
    if standing.left is None:
        return f"{text}, no estimate of the rest yet"
    return f"{text}, about {span(standing.left)} left" if standing.left else text


def span(seconds: float) -> str:
    """A rough duration in words."""
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
