"""A function that takes the samples of a study, many at a time, here or on the workers of an executor."""

from __future__ import annotations

import inspect
import logging
import os
import secrets
import socket
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from ...certificate import Outcome
from ...checks import short
from ...errors import ConflictError, EvaluationError, SettingError
from ...run.evaluate import go
from ...run.evaluations import Evaluations, Plan
from ...run.hands import Hands, Submitted, hands_for
from ...run.results_rows import Row
from .tickets import Ticket

if TYPE_CHECKING:
    from .study import Study

log: logging.Logger = logging.getLogger("surepick")

PAUSE = 0.5  # seconds until it is asked again whether others have left something to do
RENEWED = 3.0  # how often in its time a ticket is renewed


class OfArm:
    """A function of an arm as one of an arm and nothing else; it goes to other processes."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function: Callable[[Any], Any] = function

    def __call__(self, arm: Any, _: Any) -> Any:
        return self.function(arm)


class OfArmAwaited(OfArm):
    """The same of a coroutine function."""

    async def __call__(self, arm: Any, _: Any) -> Any:
        return await self.function(arm)


class Running(Evaluations):
    """Asks a study for tickets, has them answered, and tells it the answers, each of which is a moment."""

    def __init__(self, study: Study, hands: Hands, plan: Plan, worker: str, lease: float) -> None:
        super().__init__(study.explorer(), hands, plan)
        self.study: Study = study
        self.worker: str = worker
        self.lease: float = lease
        self.tickets: dict[int, Ticket] = {}  # by number: what Evaluations takes for an item
        self._renew_at: float = time.monotonic() + lease / RENEWED

    def _done(self) -> bool:
        return self.study.status().done

    def _ask(self, n: int) -> list[tuple[int, int]]:
        """The worker's own tickets that are not under way, such as those of a run that crashed, and new ones."""
        new = []
        for ticket in self.study.ask(n + len(self.under_way), self.worker, lease=self.lease):
            pair = ticket.index, ticket.number
            if pair not in self.under_way:
                self.tickets[ticket.number] = ticket
                new.append(pair)
        return new[:n]

    def _names(self, candidate: int, item: int) -> tuple[Any, Any]:
        ticket = self.tickets[item]
        return ticket.arm, ticket.item

    def _tell(self, row: Row) -> None:
        try:
            self.study.tell(self.tickets[row.item], row.score, who=self.worker)
        except ConflictError as error:  # somebody else was faster, and found another score
            log.warning("%s", error)

    def _wait(self) -> list[tuple[int, Any, BaseException | None]]:
        if time.monotonic() >= self._renew_at:
            self.study.renew([self.tickets[item] for _, item in self.under_way], lease=self.lease)
            self._renew_at = time.monotonic() + self.lease / RENEWED
        return super()._wait()

    def left(self) -> list[Ticket]:
        """What was asked for and not answered."""
        return self.study.waiting(self.worker)


def run(
    study: Study,
    function: Callable[..., Any],
    workers: int,
    executor: Executor | None,
    retries: int,
    timeout: float | None,
    failed: float | None,
    worker: str | None,
    lease: float,
) -> Outcome:
    if not callable(function):
        raise SettingError(f"The function must be one that takes a sample, not {short(function)}.", key="function")
    if executor is not None and not hasattr(executor, "submit"):
        raise SettingError(f"executor must be one of concurrent.futures, or like one, not {short(executor)}.", key="executor")
    explorer = study.explorer()
    plan = Plan.of(explorer.problem, workers, retries, timeout, failed)
    name = worker or f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"
    scorer = function if explorer.pool is not None else _of_arm(function)
    while not study.status().done:
        hands: Hands = hands_for(scorer) if executor is None else Submitted(scorer, executor)
        going = Running(study, hands, plan, name, lease)
        try:
            go(going, None)
        finally:
            if left := going.left():
                study.release(left)
        if going.failures and plan.failed is None:
            raise _failure(going) from going.failures[0].cause
        if not going.told and not study.status().done:  # all that may be asked for is with others
            time.sleep(PAUSE)
    return Outcome.of(study.certificate())


def _of_arm(function: Callable[..., Any]) -> OfArm:
    awaited = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004
    return OfArmAwaited(function) if awaited else OfArm(function)


def _failure(going: Running) -> EvaluationError:
    first, many = going.failures[0], going.study.status().samples
    what = f"arm {first.candidate!r}" if first.item is None else f"candidate {first.candidate!r} on item {short(first.item)}"
    times = "failed" if first.tries == 1 else f"failed {first.tries} times, the last time"
    return EvaluationError(
        f"Sampling {what} {times}: {first.why}. Nothing is guessed in its place; the {many:,} values so far are in the study. "
        "Mend the cause and run it again; or say what every failure counts as, such as failed=0.0: by what a failure is worth to "
        "you, and not by who failed.",
        going.explorer,
        Outcome.of(going.study.certificate()),
        going.failures,
    )
