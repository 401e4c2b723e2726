"""The driver: samples for an explorer, in Python or in compiled code, until it is done."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import LARGEST, MANY, SEEDS, short, whole
from ..engine import start
from ..engine.enums import Stop
from ..engine.loops import Loop, find
from ..environments.base import Environment
from ..errors import SettingError
from ..explorer import Explorer
from .source import Sampler, Source

log = logging.getLogger("surepick")

ROUNDS = 1024  # rounds in compiled code before the first look at progress and Ctrl-C
LOOK = 0.05  # seconds between two looks, about
REPORT = 0.1  # seconds between two calls of a progress function


@dataclass(frozen=True)
class Progress:
    """What a progress bar shows."""

    samples: int
    undecided: int
    explorer: Explorer


def drive(
    explorer: Explorer,
    sampler: Sampler,
    *,
    batch: int = 1,
    seed: int = 0,
    run: int = 0,
    progress: Callable[[Progress], object] | None = None,
    compiled: bool = True,
) -> None:
    """Sample for an explorer until it is done. ``compiled=False`` keeps to the Python loop; the samples are the same."""
    batch, seed = whole(batch, "batch", 1, MANY), whole(seed, "seed", 0, SEEDS)
    if progress is not None and not callable(progress):
        raise SettingError(f"progress must be a function, or None, not {short(progress)}.")
    if isinstance(sampler, Environment) and sampler.m != explorer.problem.m:
        raise SettingError(
            f"The environment has {sampler.m} arms but the problem has {explorer.problem.m}: give one truth an arm."
        )
    if not isinstance(sampler, Environment) and not callable(sampler):
        raise SettingError(f"The sampler must be an environment or a function (arm, n, rng) -> n values, not {short(sampler)}.")
    with explorer.driven():
        _drive(explorer, Source(explorer, sampler, seed, run), Report(explorer, progress), batch, compiled)


def _drive(explorer: Explorer, source: Source, report: Report, batch: int, compiled: bool) -> None:
    fast = find(explorer) if compiled and batch == 1 else None
    patience = Patience()
    batch = max(batch, explorer.policy.pace)
    missing = int(np.maximum(explorer.problem.parameter.minimum - explorer.record.counts, 0).sum())
    for arm in explorer.ask(min(missing, MANY)) if missing and batch == 1 else ():
        source.take(arm, 1)
    while arms := patience.ask(explorer, batch):
        if fast is not None and explorer.started and patience.over(fast, explorer, source):
            if run_compiled(fast, explorer, source, report):
                break
            fast = None  # the policy is not content, which it should be; the plain loop goes on
            continue
        for arm, n in Counter(arms).items() if len(arms) > 1 else ((arms[0], 1),):
            source.take(arm, n)
        report()
    report(last=True)
    if log.isEnabledFor(logging.INFO) and not explorer.certified:  # a certificate logs itself
        log.info("Stopped after %s samples.", f"{explorer.samples:,}")


class Report:
    """Calls the user's progress function, but not so often that it costs time."""

    def __init__(self, explorer: Explorer, progress: Callable[[Progress], object] | None) -> None:
        self.explorer, self.progress, self.last = explorer, progress, time.monotonic()
        self.logs = log.isEnabledFor(logging.DEBUG)

    def __call__(self, last: bool = False) -> None:
        if (self.progress is None and not self.logs) or not (last or time.monotonic() - self.last >= REPORT):
            return
        self.last = time.monotonic()
        if self.logs:
            log.debug("%s samples, %d arms undecided.", f"{self.explorer.samples:,}", int(self.explorer.undecided.sum()))
        if self.progress is not None:
            self.progress(Progress(self.explorer.samples, int(self.explorer.undecided.sum()), self.explorer))


class Patience:
    """Python runs what a loop could that is not compiled yet; if that takes long, the loop is compiled."""

    def __init__(self) -> None:
        self.kernel: Any = None
        self.ready = False

    def ask(self, explorer: Explorer, n: int) -> list[int]:
        if self.kernel is None or self.ready:
            return explorer.ask(n)
        with self.kernel.charged():
            return explorer.ask(n)

    def over(self, loop: Loop, explorer: Explorer, source: Source) -> bool:
        if self.kernel is None:
            self.kernel, given = loop.prepare(explorer, source)
            self.ready = self.kernel.ready(*given, LARGEST, ROUNDS)
        return self.ready or self.kernel.spent >= start.patience


def run_compiled(loop: Loop, explorer: Explorer, source: Source, report: Report) -> bool:
    """Explore in compiled code; True if it ended as the policy would have it."""
    stretch, rounds = loop.prepare(explorer, source), ROUNDS
    limit = LARGEST if explorer.budget is None else explorer.budget
    while True:
        began = time.perf_counter()
        with explorer.lock:
            try:
                what, arm = stretch(limit, rounds)
            finally:  # also after Ctrl-C
                explorer.forget()
        took = time.perf_counter() - began
        if what in (Stop.DECIDED, Stop.SPENT):
            return what == Stop.SPENT or explorer.policy.certified(explorer.view)
        if what == Stop.EMPTY:
            source.refill(arm)
            if not explorer.able[arm]:  # it has ended
                return False
        elif what == Stop.UNSURE:  # rounding cannot tell: one round in Python
            arms = explorer.ask(1)
            if not arms:
                return True
            source.take(arms[0], 1)
            stretch = loop.prepare(explorer, source)
        elif took < LOOK or rounds > 1:
            rounds = 2 * rounds if took < LOOK else rounds // 2
        report()
