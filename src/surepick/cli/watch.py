"""Runs an exploration under a progress bar, and stops it where its state is whole when Ctrl-C is pressed."""

from __future__ import annotations

import signal
import sys
import time
from contextlib import closing
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..difficulty import hardness
from ..environments import Environment
from ..errors import SurepickError
from ..explorer import Explorer
from ..lab import Trace
from ..run.drive import looks
from .talk import about, console, gap_text, say

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from ..study import StudySpec

PATIENCE = 0.5  # seconds that one estimate of what is left may take
LOOK = 0.2  # seconds between two looks of the display


class CtrlC:
    """Remembers the first Ctrl-C for the next look; a second one interrupts at once."""

    def __init__(self) -> None:
        self.pressed: bool = False

    def __enter__(self) -> CtrlC:
        self.before: Any = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self.before)

    def _press(self, _signal: int, _frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True


class Display:
    """Samples so far, arms undecided or, with an epsilon, the certified gap, and an estimate of what is left.

    On standard error, if that is a terminal.
    """

    next_look: float
    next_estimate: float

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.bar: Progress | None = None
        self.task: TaskID | None = None
        self.begin: tuple[float, int] | None = None  # when the first samples were in, compilation over, and how many
        self.next_look = self.next_estimate = 0.0
        self.total: float | None = None
        self.trace: Trace = Trace()

    def __enter__(self) -> Display:
        if sys.stderr.isatty():
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

            self.bar = Progress(
                SpinnerColumn(), BarColumn(bar_width=24), TextColumn("{task.description}", markup=False),
                console=console(stderr=True), transient=True,
            )  # fmt: skip
            self.task = self.bar.add_task("starting", total=None)
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def look(self) -> None:
        now = time.monotonic()
        explorer, samples = self.explorer, self.explorer.samples
        if self.bar is None or self.task is None or not explorer.started or now < self.next_look:
            return
        if self.begin is None:
            self.begin = now, samples
        if explorer.epsilon > 0:
            self.trace(explorer)
        if now >= self.next_estimate:
            self.total = estimate_total(explorer, self.trace)
            took = time.monotonic() - now
            self.next_estimate = now + max(1.0, 10 * took)
        text = f"{samples:,} samples, {self._standing()}, {self._left(samples, now)}"
        self.next_look = time.monotonic() + LOOK
        known = self.total is not None and np.isfinite(self.total)
        self.bar.update(self.task, description=text, total=max(self.total or 0, samples) if known else None, completed=samples)

    def _standing(self) -> str:
        explorer = self.explorer
        if explorer.epsilon == 0:
            return f"{int(explorer.undecided.sum())} of {explorer.problem.m} undecided"
        gap = self.trace.gap[-1]
        asked = f"{100 * explorer.epsilon:g} %" if explorer.relative else f"{explorer.epsilon:g}"
        return f"within {gap_text(gap, explorer.relative)} ({asked} asked for)" if np.isfinite(gap) else "no gap certified yet"

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


def estimate_total(explorer: Explorer, trace: Trace | None = None) -> float | None:
    """How many samples the whole run takes if the estimates so far are right; None if that is unknown, or long to work out.

    With an epsilon, as many as it takes if the gap goes on falling as in the trace so far. The rule of thumb without one is
    about the paper's radius.
    """
    if explorer.spend:
        return None if explorer.budget is None else float(explorer.budget)
    if explorer.epsilon > 0:
        total = None if trace is None else foreseen(trace)
        return total if total is None or explorer.budget is None else min(total, float(explorer.budget))
    if explorer.confidence.name != "paper":
        return None
    problem, (lower, upper) = explorer.problem, explorer.box()
    begin = time.monotonic()
    problem.undecided_on(lower, upper)
    # Radii take about 60 such calls for every arm whose radius differs from the others'.
    if 60 * problem.m * (time.monotonic() - begin) > PATIENCE:
        return None
    theta = np.clip(explorer.record.estimates, problem.low, problem.high)
    try:
        total = hardness(problem, theta).expected(explorer.delta, policy=explorer.policy.name)
    except SurepickError:
        return None
    return total if explorer.budget is None else min(total, float(explorer.budget))


def foreseen(trace: Trace) -> float | None:
    """The samples at which the gap is epsilon if it falls on as a power of the samples, as since they were half as many.

    At most as their inverse: early on it falls faster, which does not last.
    """
    if not trace.samples:
        return None
    samples, gap = np.array(trace.samples), np.array(trace.gap)
    before = np.flatnonzero((samples <= samples[-1] / 2) & np.isfinite(gap))
    if len(before) == 0 or not 0 < gap[-1] < gap[before[-1]]:
        return None
    then = before[-1]
    power = min(np.log(gap[then] / gap[-1]) / np.log(samples[-1] / samples[then]), 1.0)
    return float(samples[-1] * max(gap[-1] / trace.epsilon, 1.0) ** (1 / power))


def explore(explorer: Explorer, world: Environment, *, seed: int, batch: int = 1, trace: Trace | None = None) -> bool:
    """Sample until the explorer is done; returns False if Ctrl-C stopped it. A trace follows it."""
    next_look = None if trace is None else trace.next_look
    with CtrlC() as keys, Display(explorer) as display:
        try:
            with closing(looks(explorer, world, seed=seed, batch=batch, next_look=next_look)) as going:
                for _ in going:
                    if trace is not None:
                        trace(explorer)
                    if keys.pressed:
                        return False
                    display.look()
        except KeyboardInterrupt:
            return False
    return True


def warn_of_ties(spec: StudySpec) -> None:
    """Say beforehand that a run cannot end: the simulated truth has two best decisions, and nothing else stops it."""
    if spec.epsilon > 0 or spec.budget is not None or spec.cost_budget is not None or spec.problem.m > 200:
        return
    if spec.problem.finite:  # it ends when all values are drawn
        return
    if hardness(spec.problem, spec.theta()).radius.min() == 0:
        say(
            "The best decision is not unique: no number of samples tells the best ones apart, so this run will not end by "
            "itself. Set epsilon or a budget, or press Ctrl-C.",
            "yellow",
        )
