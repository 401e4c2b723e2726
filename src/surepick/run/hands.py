"""What does the evaluations: threads for a plain function, an event loop for a coroutine function."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Executor, Future
from typing import Any, Protocol, SupportsFloat, TypeAlias

Scorer: TypeAlias = Callable[[Any, Any], SupportsFloat | Awaitable[SupportsFloat]]
Done: TypeAlias = Callable[[int, Any, BaseException | None], object]  # the key of a try, its score, or what went wrong

PATIENCE = 5.0  # seconds in which coroutines that are cancelled should have ended


class DroppedError(Exception):
    """A try that nobody waits for any more."""


class NoScoreError(Exception):
    """A try that gave no score; the message says all."""


class Hands(Protocol):
    """Does tries, and says when each has ended."""

    def begin(self, key: int, candidate: Any, item: Any, done: Done) -> None:
        """Begin a try. When it has ended ``done`` is called, once, from whatever thread."""

    def drop(self, key: int) -> None:
        """Nobody waits for this try any more: end it, so that ``done`` is called soon."""

    def close(self) -> None:
        """End all that is under way, and whatever serves it."""


class Threads:
    """A thread a try. A thread cannot be ended: one that is dropped goes on, and its answer is ignored."""

    def __init__(self, function: Scorer) -> None:
        self.function: Scorer = function
        self.under_way: dict[int, Done] = {}

    def begin(self, key: int, candidate: Any, item: Any, done: Done) -> None:
        self.under_way[key] = done
        threading.Thread(target=self._try, args=(key, candidate, item), name=f"surepick-{key}", daemon=True).start()

    def _try(self, key: int, candidate: Any, item: Any) -> None:
        score, error = None, None
        try:
            score = self.function(candidate, item)
            if inspect.iscoroutine(score):
                score.close()
                raise TypeError("the function gave a coroutine: define it by async def, or await what it calls")
        except BaseException as raised:  # also SystemExit: it is the end of this try, and not of the run
            error = raised
        self._over(key, score, error)

    def _over(self, key: int, score: Any, error: BaseException | None) -> None:
        done = self.under_way.pop(key, None)
        if done is not None:
            done(key, score, error)

    def drop(self, key: int) -> None:
        self._over(key, None, DroppedError())

    def close(self) -> None:
        self.under_way.clear()


class Loop:
    """An event loop in a thread of its own: the caller's thread may have one that is running, as in a notebook."""

    def __init__(self, function: Scorer) -> None:
        self.function: Scorer = function
        self.tasks: dict[int, asyncio.Task[Any]] = {}
        self.loop: asyncio.AbstractEventLoop = asyncio.new_event_loop()
        self.thread: threading.Thread = threading.Thread(target=self._serve, name="surepick-loop", daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        finally:
            self.loop.close()

    def begin(self, key: int, candidate: Any, item: Any, done: Done) -> None:
        self.loop.call_soon_threadsafe(self._begin, key, candidate, item, done)

    def _begin(self, key: int, candidate: Any, item: Any, done: Done) -> None:
        task = self.tasks[key] = self.loop.create_task(self._try(candidate, item))
        task.add_done_callback(lambda _: self._over(key, task, done))

    async def _try(self, candidate: Any, item: Any) -> Any:
        found: Any = self.function(candidate, item)
        return await found

    def _over(self, key: int, task: asyncio.Task[Any], done: Done) -> None:
        del self.tasks[key]
        error = DroppedError() if task.cancelled() else task.exception()
        done(key, None if error is not None else task.result(), error)

    def drop(self, key: int) -> None:
        def cancel() -> None:
            if key in self.tasks:
                self.tasks[key].cancel()

        self.loop.call_soon_threadsafe(cancel)

    def close(self) -> None:
        async def end() -> None:
            tasks = list(self.tasks.values())
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks, timeout=PATIENCE)
            self.loop.stop()

        def begin(ending: Coroutine[Any, Any, None]) -> None:
            self.ending: asyncio.Task[None] = self.loop.create_task(ending)  # held, or it might be collected

        self.loop.call_soon_threadsafe(begin, end())
        self.thread.join()


class Submitted:
    """A task of an executor a try: processes, or the workers of a cluster. One that is dropped goes on if it has begun, and its
    answer is ignored."""

    def __init__(self, function: Scorer, executor: Executor) -> None:
        self.function: Scorer = function
        self.executor: Executor = executor
        self.under_way: dict[int, tuple[Future[Any], Done]] = {}
        self.lock: threading.Lock = threading.Lock()

    def begin(self, key: int, candidate: Any, item: Any, done: Done) -> None:
        future = self.executor.submit(self.function, candidate, item)
        with self.lock:
            self.under_way[key] = future, done
        future.add_done_callback(lambda _: self._over(key))

    def _over(self, key: int, error: BaseException | None = None) -> None:
        with self.lock:
            future, done = self.under_way.pop(key, (None, None))
        if future is None or done is None:
            return
        if error is None:
            error = DroppedError() if future.cancelled() else future.exception()
        done(key, None if error is not None else future.result(), error)

    def drop(self, key: int) -> None:
        with self.lock:
            future = self.under_way[key][0] if key in self.under_way else None
        if future is not None:
            future.cancel()
        self._over(key, DroppedError())

    def close(self) -> None:
        for key in list(self.under_way):
            self.drop(key)


def hands_for(function: Scorer) -> Hands:
    """What evaluates by this function."""
    asynchronous = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004
    return Loop(function) if asynchronous else Threads(function)
