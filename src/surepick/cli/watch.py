"""Runs an exploration under a progress bar, and stops it where its state is whole when Ctrl-C is pressed."""

from __future__ import annotations

import signal
import sys
import time
from types import FrameType
from typing import TYPE_CHECKING

import numpy as np

from ..difficulty import hardness
from ..environments import Environment
from ..errors import SurepickError
from ..explorer import Explorer
from ..loop import drive
from .talk import about, console, say

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from ..study import StudySpec

PATIENCE = 0.5  # seconds that one estimate of what is left may take


class StoppedError(Exception):
    """Ctrl-C was pressed."""


class CtrlC:
    """Remembers the first Ctrl-C for the next look; a second one interrupts at once."""

    def __init__(self) -> None:
        self.pressed = False

    def __enter__(self) -> CtrlC:
        self.before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self.before)

    def _press(self, _signal: int, _frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True


class Display:
    """Samples so far, arms undecided, and an estimate of what is left; on standard error, if that is a terminal."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.bar: Progress | None = None
        self.task: TaskID | None = None
        self.begin: tuple[float, int] | None = None  # when the first samples were in, compilation over, and how many
        self.next_estimate = 0.0
        self.total: float | None = None

    def __enter__(self) -> Display:
        if sys.stderr.isatty():
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

            self.bar = Progress(
                SpinnerColumn(), BarColumn(bar_width=24), TextColumn("{task.description}", markup=False),
                console=console(stderr=True), transient=True,
            )  # fmt: skip
            self.task = self.bar.add_task("starting (the first run compiles, for about 20 s)", total=None)
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def look(self) -> None:
        now = time.monotonic()
        if self.bar is None or self.task is None or not self.explorer.started:
            return
        if self.begin is None:
            self.begin = now, self.explorer.samples
        if now >= self.next_estimate:
            self.total = estimate_total(self.explorer)
            took = time.monotonic() - now
            self.next_estimate = now + max(1.0, 10 * took)
        samples, undecided = self.explorer.samples, int(self.explorer.undecided.sum())
        text = f"{samples:,} samples, {undecided} of {self.explorer.problem.m} undecided, {self._left(samples, now)}"
        known = self.total is not None and np.isfinite(self.total)
        self.bar.update(self.task, description=text, total=max(self.total or 0, samples) if known else None, completed=samples)

    def _left(self, samples: int, now: float) -> str:
        if self.total is None or self.begin is None:
            return "no estimate of the rest"
        if not np.isfinite(self.total):
            return "no end in sight: a tie?"
        left = self.total - samples
        if left <= 0:
            return "longer than foreseen: a close call"
        then, before = self.begin
        unit, word = (1e9, " billion") if left >= 1e9 else (1e6, " million") if left >= 1e7 else (1.0, "")
        text = f"about {about(left / unit)}{word}"
        if now - then < 1 or samples == before:
            return f"{text} left"
        seconds = left * (now - then) / (samples - before)
        return f"{text} left ({f'{about(seconds)} s' if seconds < 120 else f'{about(seconds / 60)} min'})"


def estimate_total(explorer: Explorer) -> float | None:
    """How many samples the whole run takes if the estimates so far are right; None if that is unknown, or long to work out.

    With an epsilon the run stops earlier, so the figure then errs on the side of caution. The rule of thumb is about the
    paper's radius.
    """
    if explorer.confidence.name != "paper":
        return None
    problem, (lower, upper) = explorer.problem, explorer.box()
    begin = time.monotonic()
    problem._undecided(lower, upper)
    # Radii take about 60 such calls for every arm whose radius differs from the others'.
    if 60 * problem.m * (time.monotonic() - begin) > PATIENCE:
        return None
    theta = np.clip(explorer.record.estimates, problem.low, problem.high)
    try:
        total = hardness(problem, theta).expected(explorer.delta, policy=explorer.policy.name)
    except SurepickError:
        return None
    return total if explorer.budget is None else min(total, float(explorer.budget))


def explore(explorer: Explorer, world: Environment, *, seed: int, batch: int = 1) -> bool:
    """Sample until the explorer is done; returns False if Ctrl-C stopped it."""
    with CtrlC() as keys, Display(explorer) as display:

        def look(_: object) -> None:
            if keys.pressed:
                raise StoppedError
            display.look()

        try:
            drive(explorer, world, seed=seed, batch=batch, progress=look)
        except (StoppedError, KeyboardInterrupt):
            explorer.forget()
            return False
        return True


def warn_of_ties(spec: StudySpec) -> None:
    """Say beforehand that a run cannot end: the simulated truth has two best decisions, and nothing else stops it."""
    if spec.epsilon > 0 or spec.budget is not None or spec.problem.m > 200:
        return
    if hardness(spec.problem, spec.theta()).radius.min() == 0:
        say(
            "The best decision is not unique: no number of samples tells the best ones apart, so this run will not end by "
            "itself. Set epsilon or a budget, or press Ctrl-C.",
            "yellow",
        )
