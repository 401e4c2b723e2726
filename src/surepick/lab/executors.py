"""Where runs are done: in this process, in a pool of processes, or wherever a given executor does them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any, TypeVar

from ..checks import short
from ..errors import SettingError
from ..settings import Settings
from .futures_inside import let_go, workers
from .trials import World, packed

T = TypeVar("T")

MOST = 61  # processes that a pool can have under Windows
UNKNOWN = 64  # workers where their number is not known
TRAVELLING = 64_000_000  # bytes of worlds that may be under way at once
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Crew:
    """Who does the runs, how many chunks may be under way, and what is sent: bytes where it goes to other processes."""

    executor: Executor
    window: int
    worlds: Mapping[str, World | bytes]
    settings: Mapping[Settings, Settings | bytes]


def processes(executor: Executor | int | None) -> int | None:
    """How many processes to start; None if an executor is given."""
    if isinstance(executor, Executor):
        return None
    if executor is None:
        return min(cores(), MOST)
    if isinstance(executor, bool) or not isinstance(executor, int) or not 1 <= executor <= MOST:
        raise SettingError(
            f"executor must be None for a process on every core, a number of processes from 1 to {MOST}, or an Executor of "
            f"concurrent.futures, not {short(executor)}."
        )
    return executor


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def crew(executor: Executor | int | None, worlds: Mapping[str, World], settings: Sequence[Settings], runs: int) -> Iterator[Crew]:
    """Whoever is to do the runs."""
    plain = {one: one for one in settings}
    many = min(processes(executor) or MOST, runs)
    if isinstance(executor, ThreadPoolExecutor):
        yield Crew(executor, 2 * (workers(executor) or UNKNOWN), worlds, plain)
    elif many == 1 and not isinstance(executor, Executor):
        yield Crew(Here(), 1, worlds, plain)
    else:
        parcels = {name: packed(world, name) for name, world in worlds.items()}
        largest = max(map(len, parcels.values()))
        if isinstance(executor, Executor):
            yield Crew(executor, max(4, min(2 * (workers(executor) or UNKNOWN), TRAVELLING // largest)), parcels, plain)
            return
        asked = {one: packed(one, f"{one.policy}/{one.confidence}") for one in settings}
        # Workers run the user's script only if it defines something that they need.
        script = any(b"__main__" in parcel for parcel in (*parcels.values(), *asked.values()))
        with process_pool(many, script) as pool:
            yield Crew(pool, 2 * many, parcels, asked)


@contextmanager
def process_pool(many: int, script: bool = False) -> Iterator[Executor]:
    """Fresh processes, which end with this one. They run the user's ``script`` only if they need something that it defines."""
    watched, held = Pipe(duplex=False)  # workers end when this process lets go of its end, also when it is killed
    pool = ProcessPoolExecutor(many, _Whole() if script else _Alone(), _begin, (watched,))
    waited = True
    try:
        yield pool
    except BaseException:
        held.close()
        waited = let_go(pool)  # a worker may end in the middle of a result
        raise
    finally:
        pool.shutdown(waited, cancel_futures=True)
        held.close()
        watched.close()


class Here(Executor):
    """Does everything at once, in this process."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def _begin(watched: Connection) -> None:
    """In a new worker: Ctrl-C is for the parent, and without a parent there is nothing to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def wait() -> None:
        watched.poll(None)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


class _WholeProcess(SpawnProcess):
    """A fresh process, with one thread for linear algebra: there is a process a core already."""

    def start(self) -> None:
        added = [name for name in ONE_THREAD if name not in os.environ]
        os.environ.update(dict.fromkeys(added, "1"))
        try:
            super().start()
        finally:
            for name in added:
                del os.environ[name]


class _AloneProcess(_WholeProcess):
    """Does not run the user's script again, so that the script needs no ``if __name__ == "__main__"``."""

    def start(self) -> None:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            super().start()
        finally:
            sys.modules["__main__"] = main


class _Whole(SpawnContext):
    Process = _WholeProcess


class _Alone(SpawnContext):
    Process = _AloneProcess
