"""The driver: samples for an explorer, in Python or in compiled code, until it is done, and stops to be looked at on the way."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from ..checks import LARGEST, MANY, SEEDS, short, whole
from ..engine import start
from ..engine.enums import Stop
from ..engine.loops import Loop, find
from ..environments.base import Environment
from ..errors import SettingError
from ..explorer import Explorer
from .source import Sampler, Source

log: logging.Logger = logging.getLogger("surepick")

ROUNDS = 1024  # rounds of the first compiled stretch
STRETCH = 0.05  # seconds that a compiled stretch takes, about: Ctrl-C waits for its end
REPORT = 0.1  # seconds between two calls of a progress function


@dataclass(frozen=True)
class Progress:
    """What a progress bar shows."""

    samples: int
    undecided: int
    explorer: Explorer

    @classmethod
    def of(cls, explorer: Explorer) -> Progress:
        return cls(explorer.samples, int(explorer.undecided.sum()), explorer)


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
    if progress is not None and not callable(progress):
        raise SettingError(f"progress must be a function, or None, not {short(progress)}.")
    every = REPORT if progress is not None or log.isEnabledFor(logging.DEBUG) else None
    with closing(looks(explorer, sampler, batch=batch, seed=seed, run=run, every=every, compiled=compiled)) as going:
        for _ in going:
            if progress is not None:
                progress(Progress.of(explorer))


def looks(
    explorer: Explorer,
    sampler: Sampler,
    *,
    batch: int = 1,
    seed: int = 0,
    run: int = 0,
    every: float | None = REPORT,
    next_look: Callable[[int], int] | None = None,
    compiled: bool = True,
) -> Generator[int, None, None]:
    """Sample for an explorer until it is done; yields the number of samples so far whenever a look is due, and at the end.

    Between two looks the explorer is at rest: it can be asked, paused, saved, or left as it is. Who leaves early closes the
    generator, ``with contextlib.closing(looks(...)) as going``, and the explorer is free for another driver.

    Parameters
    ----------
    every : float, optional
        Seconds between two looks, about; None for no look by time.
    next_look : callable, optional
        Given the samples so far, at how many the next look is due.
    """
    batch, seed = whole(batch, "batch", 1, MANY), whole(seed, "seed", 0, SEEDS)
    if isinstance(sampler, Environment) and sampler.m != explorer.problem.m:
        raise SettingError(
            f"The environment has {sampler.m} arms but the problem has {explorer.problem.m}: give one truth an arm."
        )
    if not isinstance(sampler, Environment) and not callable(sampler):
        raise SettingError(f"The sampler must be an environment or a function (arm, n, rng) -> n values, not {short(sampler)}.")
    return _looks(explorer, sampler, batch, seed, run, Schedule(explorer, every, next_look), compiled)


def _looks(
    explorer: Explorer, sampler: Sampler, batch: int, seed: int, run: int, schedule: Schedule, compiled: bool
) -> Generator[int, None, None]:
    with explorer.driven():
        source = Source(explorer, sampler, seed, run, max(batch, explorer.policy.pace))
        try:
            loop = find(explorer, source.batch) if compiled and (source.batch == 1 or source.ahead) else None
            yield from _sampled(explorer, source, schedule, loop)
        except BaseException:  # an interrupt may come between a value and what is derived from it
            explorer.forget()
            raise
        explorer.judge()
        if log.isEnabledFor(logging.INFO) and not explorer.certified:  # a certificate logs itself
            log.info("Stopped after %s samples.", f"{explorer.samples:,}")
        yield explorer.samples


def _sampled(explorer: Explorer, source: Source, schedule: Schedule, loop: Loop | None) -> Generator[int, None, None]:
    """All samples, round by round: in Python, and in compiled code once a loop for it is ready."""
    missing = int(explorer.confidence.missing(explorer.record).sum())
    first = (
        explorer.arms_to_sample(min(missing, MANY)) if missing and not explorer.closed.any() else []
    )  # each arm in turn: asked for at once
    for end in range(source.batch, len(first) + 1, source.batch):
        source.take_all(first[end - source.batch : end])
        yield from schedule.look()
        if explorer.closed.any():  # one has ended, and is asked for no more
            break
    patience = Patience()
    while arms := patience.ask(explorer, source.batch):
        if loop is not None and explorer.started and patience.over(loop, explorer, source):
            if (yield from run_compiled(loop, explorer, source, schedule)):
                return
            loop = None  # the plain loop goes on
            continue
        source.take_all(arms)
        yield from schedule.look()


def run_compiled(loop: Loop, explorer: Explorer, source: Source, schedule: Schedule) -> Generator[int, None, bool]:
    """Explore in compiled code; returns False if the plain loop is to go on: an arm can be sampled no more, or the policy is
    not content with what the loop says is decided."""
    log.info("Compiled rounds from %s samples on.", f"{explorer.samples:,}")
    stretch, rounds, whole = loop.prepare(explorer, source), ROUNDS, True  # whether no batch is under way
    while not explorer.closed.any():
        budget = LARGEST if explorer.budget is None else explorer.budget
        until = -(-(schedule.samples - explorer.samples) // source.batch)  # rounds
        asked = max(1, min(rounds, until)) if whole else 1  # a batch can be looked at when it is complete
        if whole and explorer.cost_budget is not None:
            asked = min(asked, explorer.samples_paid() // source.batch)
            if asked < 1:  # what no longer fits is left out one by one
                return False
        began = time.perf_counter()
        with explorer.lock:
            try:
                what, arm = stretch(budget, asked)
            finally:  # also after Ctrl-C
                explorer.forget(complete=False)
            whole = what != Stop.EMPTY or source.batch == 1
            if whole:
                explorer.forget()
        took = time.perf_counter() - began
        if what == Stop.DECIDED:
            return explorer.certified
        if what == Stop.SPENT:
            return True
        if what == Stop.EMPTY:
            if source.refill(arm):  # there is more room for values, elsewhere
                stretch = stretch.onto(explorer.record)  # type: ignore[arg-type]
            if explorer.closed.any():  # it has ended; the rest of the batch is taken here
                source.take_all(source.left())
                yield from schedule.look()
                return False
            if not whole:
                continue
        elif what == Stop.UNSURE:  # rounding cannot tell: one round in Python
            arms = explorer.arms_to_sample(source.batch)
            if not arms:
                return True
            source.take_all(arms)
            stretch = loop.prepare(explorer, source)
        elif asked == rounds and (took < STRETCH or rounds > 1):
            rounds = 2 * rounds if took < STRETCH else rounds // 2
        yield from schedule.look()
    return False


class Schedule:
    """When the next look is due: by time, or by the number of samples."""

    explorer: Explorer
    every: float | None
    next_look: Callable[[int], int] | None

    def __init__(self, explorer: Explorer, every: float | None, next_look: Callable[[int], int] | None) -> None:
        self.explorer, self.every, self.next_look = explorer, every, next_look
        self._renew()

    def _renew(self) -> None:
        self.time: float = math.inf if self.every is None else time.monotonic() + self.every
        done = self.explorer.samples
        self.samples: int = LARGEST if self.next_look is None else max(self.next_look(done), done + 1)

    @property
    def due(self) -> bool:
        by_time = self.every is not None and time.monotonic() >= self.time
        return by_time or (self.next_look is not None and self.explorer.samples >= self.samples)

    def look(self) -> Generator[int, None, None]:
        """Yields if a look is due."""
        if not self.due:
            return
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s samples, %d arms undecided.", f"{self.explorer.samples:,}", int(self.explorer.undecided.sum()))
        yield self.explorer.samples
        self._renew()


class Patience:
    """Python runs what a loop could that is not compiled yet; if that takes long, the loop is compiled."""

    def __init__(self) -> None:
        self.kernel: Any = None
        self.ready: bool = False

    def ask(self, explorer: Explorer, n: int) -> list[int]:
        if self.kernel is None or self.ready:
            return explorer.arms_to_sample(n)
        with self.kernel.charged():
            return explorer.arms_to_sample(n)

    def over(self, loop: Loop, explorer: Explorer, source: Source) -> bool:
        if self.kernel is None:
            stretch = loop.prepare(explorer, source)
            self.kernel = stretch.kernel
            self.ready = self.kernel.ready(*stretch.given, LARGEST, ROUNDS)
        return self.ready or self.kernel.spent >= start.patience
