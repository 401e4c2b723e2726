"""Hands out runs in chunks, and takes in their results as they come."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass

import numpy as np

from ..arms import Bools, Floats, Ints
from ..errors import SurepickError
from ..settings import Settings
from .decisions import Decision, Known
from .executors import Crew, crew
from .fingerprint import fingerprint
from .store import Store
from .trials import Chunk, World, run_chunk

SECONDS = 1.0  # that the runs of one chunk are to take
LARGEST = 10_000  # runs of one chunk
TICK = 0.5  # seconds after which the bar is renewed when nothing comes in


@dataclass(frozen=True)
class Standing:
    """What a progress bar of a simulation shows.

    Attributes
    ----------
    done, total : int
        Runs; those that the store had count as done.
    cell : str
        The problem, policy and delta of the last results.
    left : float or None
        Seconds, by what the runs of each combination took so far; None until all have been tried.
    """

    done: int
    total: int
    cell: str
    left: float | None


class Cell:
    """One problem, one policy, one delta: the results of its runs, and which are to be done."""

    problem: str
    policy: str
    world: World
    settings: Settings
    seed: int
    left: int
    waiting: int

    def __init__(self, problem: str, policy: str, world: World, settings: Settings, seed: int, runs: int) -> None:
        self.problem, self.policy, self.world, self.settings, self.seed = problem, policy, world, settings, seed
        self.samples: Ints = np.zeros(runs, dtype=np.int64)
        self.certified: Bools = np.zeros(runs, dtype=np.bool_)
        self.correct: Bools = np.zeros(runs, dtype=np.bool_)
        self.costs: Floats = np.zeros(runs)
        self.decisions: list[Decision] = [np.empty(0)] * runs
        self.known: Known = Known()
        self.todo: deque[range] = deque([range(runs)])
        self.left = self.waiting = runs  # not in yet, and not handed out yet
        self.pace: float | None = None  # seconds a run
        self.tried: int = 0  # runs that the pace is from
        self.key: int = 0  # of the store

    @property
    def name(self) -> str:
        return f"{self.problem}, {self.policy}, δ = {self.settings.delta:g}"

    def fingerprint(self) -> str:
        return fingerprint(self.world.problem, self.world.environment, self.settings, self.seed)

    def resume(self, store: Store) -> None:
        """Take what the store has."""
        self.key = store.cell(self.fingerprint(), self.name)
        have = np.zeros(len(self.samples), dtype=np.bool_)
        for run, samples, certified, correct, cost, decision in store.rows(self.key, len(have), self.world.problem):
            have[run] = True
            self.samples[run], self.certified[run], self.correct[run] = samples, certified, correct
            self.costs[run] = cost
            self.decisions[run] = self.known(decision)
        self.left = self.waiting = int((~have).sum())
        edges = np.flatnonzero(np.diff(np.concatenate(([True], have, [True])).astype(np.int8))).tolist()
        self.todo = deque(range(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True))

    def take(self, size: int) -> range:
        runs = self.todo.popleft()
        if len(runs) > size:
            self.todo.appendleft(runs[size:])
            runs = runs[:size]
        self.waiting -= len(runs)
        return runs

    def put(self, chunk: Chunk) -> None:
        where, n = slice(chunk.runs.start, chunk.runs.stop), len(chunk.runs)
        self.samples[where], self.certified[where], self.correct[where] = chunk.samples, chunk.certified, chunk.correct
        self.costs[where] = chunk.costs
        self.decisions[where] = map(self.known, chunk.decisions)
        self.left -= n
        if chunk.pace is not None:
            self.tried += n
            self.pace = chunk.pace if self.pace is None else self.pace + (chunk.pace - self.pace) * n / self.tried

    def size(self) -> int:
        """How many runs to hand out at once."""
        if self.pace is None:
            return 2  # the first of its kind in a process says nothing about the pace
        return min(max(int(SECONDS / max(self.pace, 1e-9)), 1), 4 * self.tried, LARGEST)


def work(cells: list[Cell], executor: Executor | int | None, store: Store | None, report: Callable[[Standing], object]) -> None:
    """Do all runs that are to be done. Whatever ends it early, what is done is put into the store before."""
    total, left = sum(len(cell.samples) for cell in cells), sum(cell.left for cell in cells)
    report(Standing(total - left, total, "", None if left else 0.0))
    if not left:
        return
    worlds = {cell.problem: cell.world for cell in cells if cell.left}
    try:
        with crew(executor, worlds, [cell.settings for cell in cells if cell.left], left) as hands:
            _Work(cells, hands, store, report, total).all()
    except BrokenExecutor as error:
        kept = "Nothing is kept: use a store." if store is None else f"What was done is in {store.path}; run it again to go on."
        raise SurepickError(
            "A worker process died: it was killed, ran out of memory, or failed as it started (a script whose own functions or "
            f'classes are simulated must call simulate under `if __name__ == "__main__":`). {kept}'
        ) from error


class _Work:
    def __init__(
        self, cells: list[Cell], hands: Crew, store: Store | None, report: Callable[[Standing], object], total: int
    ) -> None:
        self.cells, self.hands, self.store, self.report, self.total = cells, hands, store, report, total
        self.untried = deque(cell for cell in cells if cell.left)  # every cell is tried first, to know how long its runs take
        self.queue = deque(self.untried)
        self.pending: dict[Future[Chunk], Cell] = {}
        self.begin: float | None = None  # when the first results came in
        self.busy = 0.0  # seconds that workers have spent on what came in since
        self.last = ""

    def all(self) -> None:
        try:
            while self._hand_out():
                done, _ = wait(self.pending, timeout=TICK, return_when=FIRST_COMPLETED)
                for future in done:
                    self._take_in(future)
                if self.store is not None:
                    self.store.flush()
                self.report(self._standing())
        except BaseException:
            self._leave()
            raise

    def _hand_out(self) -> bool:
        while len(self.pending) < self.hands.window and (cell := self._next()) is not None:
            ahead = sum(c.waiting for c in self.cells) // self.hands.window + 1  # the last chunks are to end together
            runs = cell.take(min(cell.size(), ahead))
            sent = self.hands.worlds[cell.problem], self.hands.settings[cell.settings], cell.seed
            self.pending[self.hands.executor.submit(run_chunk, *sent, runs)] = cell
        return bool(self.pending)

    def _next(self) -> Cell | None:
        if self.untried:
            return self.untried.popleft()
        while self.queue and not self.queue[0].waiting:
            self.queue.popleft()
        return self.queue[0] if self.queue else None

    def _take_in(self, future: Future[Chunk]) -> None:
        cell = self.pending.pop(future)
        try:
            chunk = future.result()
        except CancelledError as error:
            raise SurepickError("The executor dropped runs that it had taken; was it shut down, or the cluster?") from error
        cell.put(chunk)
        if self.store is not None:
            self.store.add(cell.key, chunk, cell.world.problem)
        self.last = cell.name
        if self.begin is None:
            self.begin = time.monotonic()
        else:
            self.busy += chunk.seconds

    def _leave(self) -> None:
        """Keep what is done, and drop the rest."""
        for future in self.pending:
            future.cancel()
        for future in [f for f in self.pending if f.done() and not f.cancelled() and f.exception() is None]:
            self._take_in(future)
        self.report(self._standing())

    def _standing(self) -> Standing:
        left = sum(cell.left for cell in self.cells)
        open_ = [cell for cell in self.cells if cell.left]
        seconds = None
        if not left:
            seconds = 0.0
        elif self.begin is not None and all(cell.pace is not None for cell in open_):
            elapsed = time.monotonic() - self.begin
            if elapsed > 1 and self.busy > 0:
                seconds = sum((cell.pace or 0.0) * cell.left for cell in open_) / (self.busy / elapsed)
        return Standing(self.total - left, self.total, self.last, seconds)
