"""Evaluations of the pairs that an explorer asks for, some at a time: retries, time-outs, and an end in order."""

from __future__ import annotations

import math
import queue
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from ..arms import Arm
from ..checks import number, numbers, short, whole
from ..errors import SettingError
from ..explorer import Explorer
from ..problems.base import Problem
from .hands import DroppedError, Hands, NoScoreError
from .results_file import ResultsFile
from .results_rows import FAILED, Row

WORKERS = RETRIES = 1_000  # at most
TICK = 0.1  # seconds between two looks, about
PAUSE, LONGEST = 0.5, 30.0  # seconds before the first retry, each pause being twice the one before; and at most
LENGTH = 300  # letters of a failure's text that are kept


@dataclass(frozen=True)
class Plan:
    """How evaluations are made.

    Attributes
    ----------
    workers : int
        How many are under way at a time.
    retries : int
        How often one that failed is tried again.
    timeout : float
        Seconds of a try at most; infinite if that is nobody's business.
    failed : float or None
        What one counts as that failed every try; None if nothing is to be made of it.
    """

    workers: int
    retries: int
    timeout: float
    failed: float | None

    @classmethod
    def of(cls, problem: Problem, workers: object, retries: object, timeout: object, failed: object) -> Plan:
        """What users asked for, checked."""
        anyway = "a number within the bounds of all scores, or None"
        score = None if failed is None else number(failed, "failed", anyway, lambda _: True)
        for arm in problem.arms if score is not None else ():
            if fault(arm, score):
                of = "0 or 1" if arm.kind == "bernoulli" else f"from {arm.low:g} to {arm.high:g}"
                raise SettingError(
                    f"failed, what a failure counts as, must be a score that could be, {of}, not {score:g}.", key="failed"
                )
        seconds = "a positive number of seconds, or None"
        return cls(
            whole(workers, "workers", 1, WORKERS),
            whole(retries, "retries", 0, RETRIES),
            math.inf if timeout is None else number(timeout, "timeout", seconds, lambda x: x > 0),
            score,
        )


@dataclass
class Evaluation:
    """A pair that is being evaluated, in numbers, and how that goes."""

    candidate: int
    item: int
    tries: int = 0
    key: int | None = None  # of the try that is under way; None in the pause before the next one
    begun: float = 0.0  # when that try began
    until: float = math.inf  # when its time is over, or the pause is
    late: bool = False


@dataclass(frozen=True)
class Failed:
    """A pair that failed every try, by name."""

    candidate: Any
    item: Any
    tries: int
    why: str
    cause: BaseException | None = field(default=None, compare=False)


class Evaluations:
    """Asks, has evaluated, keeps and tells, until the explorer is done, a pair has failed, or somebody says stop.

    Whatever is known of it changes in the thread that goes through ``run``, and in no other; ``stop`` may be called from
    anywhere, also from a handler of a signal.

    Attributes
    ----------
    under_way : dict
        The pairs that are being evaluated, no more than ``plan.workers``.
    told, retried, needless : int
        Scores that were told, tries that were not the first, and scores that came when the explorer was certain already, in this
        run.
    failures : list of Failed
        Pairs that failed every try. If failures count as something, that was told.
    stopping : bool
        No evaluation is begun any more.
    """

    def __init__(self, explorer: Explorer, hands: Hands, plan: Plan, file: ResultsFile | None = None) -> None:
        self.explorer: Explorer = explorer
        self.hands: Hands = hands
        self.plan: Plan = plan
        self.file: ResultsFile | None = file
        self.under_way: dict[tuple[int, int], Evaluation] = {}
        self.told: int = 0
        self.retried: int = 0
        self.needless: int = 0
        self.failures: list[Failed] = []
        self.stopping: bool = False
        self._stopped: bool = False  # by somebody, and not by a failure
        self._leave_at: float = math.inf
        self._keys: Iterator[int] = count()
        self._ended: queue.SimpleQueue[tuple[int, Any, BaseException | None] | None] = queue.SimpleQueue()

    def stop(self, patience: float = math.inf) -> None:
        """Begin no evaluation any more, and wait this long for those that are under way."""
        self.stopping = self._stopped = True
        self._leave_at = min(self._leave_at, time.monotonic() + patience)
        self._ended.put(None)

    def run(self) -> Generator[None, None, None]:
        """Evaluate; stops to be looked at some ten times a second, and after every score."""
        try:
            while self._begin() and time.monotonic() < self._leave_at:
                yield
                self._take_in(self._wait())
        finally:
            self.hands.close()
        self._take_in(self._so_far())  # what has ended in the meantime

    @property
    def _hurried(self) -> bool:
        """What fails now is not tried again. What is under way when the explorer is done is kept, but not needed."""
        return self._stopped or self._done()

    # -- what is evaluated: pairs of a pool, for an explorer ---------------------------------------------------------------

    def _done(self) -> bool:
        """Nothing more is needed."""
        return self.explorer.done

    def _ask(self, n: int) -> list[tuple[int, int]]:
        """What to begin now."""
        return self.explorer.ask(n, pending=list(self.under_way))

    def _names(self, candidate: int, item: int) -> tuple[Any, Any]:
        """What the function is given."""
        pool = self.explorer.pool
        assert pool is not None
        return self.explorer.problem.names[candidate], pool.names[item]

    def _tell(self, row: Row) -> None:
        """A score, which is a moment."""
        self.explorer.tell_many([((row.candidate, row.item), row.score)])

    # -- beginning -----------------------------------------------------------------------------------------------------

    def _begin(self) -> bool:
        """Begin as many tries as there are hands; whether any evaluation is under way."""
        now = time.monotonic()
        pausing = [one for one in self.under_way.values() if one.key is None]
        hurried = bool(pausing) and self._hurried
        for evaluation in pausing:
            if hurried:
                del self.under_way[evaluation.candidate, evaluation.item]
            elif evaluation.until <= now:
                self._try(evaluation)
        if not self.stopping and (free := self.plan.workers - len(self.under_way)) > 0:
            for pair in self._ask(free):
                evaluation = self.under_way[pair] = Evaluation(*pair)
                self._try(evaluation)
        return bool(self.under_way)

    def _try(self, evaluation: Evaluation) -> None:
        evaluation.tries += 1
        self.retried += evaluation.tries > 1
        evaluation.key, evaluation.late, evaluation.begun = next(self._keys), False, time.monotonic()
        evaluation.until = evaluation.begun + self.plan.timeout
        self.hands.begin(evaluation.key, *self._names(evaluation.candidate, evaluation.item), self._over)

    def _over(self, key: int, score: Any, error: BaseException | None) -> None:
        self._ended.put((key, score, error))

    # -- ending --------------------------------------------------------------------------------------------------------

    def _wait(self) -> list[tuple[int, Any, BaseException | None]]:
        """The tries that have ended by now, some time being given to the next one; those whose time is over are dropped."""
        now = time.monotonic()
        for evaluation in self.under_way.values():
            if evaluation.key is not None and not evaluation.late and evaluation.until <= now:
                evaluation.late = True
                self.hands.drop(evaluation.key)
        next_ = min(self._leave_at, *(one.until for one in self.under_way.values() if not one.late), now + TICK)
        try:
            first = self._ended.get(timeout=max(0.0, next_ - now))
        except queue.Empty:
            return []
        return ([] if first is None else [first]) + self._so_far()

    def _so_far(self) -> list[tuple[int, Any, BaseException | None]]:
        """The tries that have ended and were not looked at."""
        ended = []
        while not self._ended.empty():
            if (found := self._ended.get()) is not None:
                ended.append(found)
        return ended

    def _take_in(self, ended: list[tuple[int, Any, BaseException | None]]) -> None:
        now, known = time.monotonic(), {one.key: one for one in self.under_way.values() if one.key is not None}
        rows = []
        for key, score, error in ended:
            evaluation = known.get(key)
            if evaluation is not None and (row := self._row(evaluation, score, error, now)) is not None:
                rows.append(row)
        self._keep(rows)

    def _row(self, evaluation: Evaluation, score: Any, error: BaseException | None, now: float) -> Row | None:
        """What is to be kept of a try that has ended; None if there is another one, or nothing to keep."""
        pair = evaluation.candidate, evaluation.item
        arm, seconds = self.explorer.problem.arms[pair[0]], now - evaluation.begun
        why = f"no answer within {self.plan.timeout:g} s" if evaluation.late else described(error) if error is not None else ""
        why = shortened(why or fault(arm, score))
        if not why:
            del self.under_way[pair]
            return Row(*pair, float(numbers(score)), seconds, evaluation.tries)  # type: ignore[arg-type]
        hurried = self._hurried
        if evaluation.tries <= self.plan.retries and not hurried:
            evaluation.key = None
            evaluation.until = now + min(PAUSE * 2.0 ** min(evaluation.tries - 1, 10), LONGEST)
            return None
        del self.under_way[pair]
        if hurried and (
            self.plan.failed is None or evaluation.tries <= self.plan.retries
        ):  # it is not needed, or will be tried again
            return None
        self.failures.append(Failed(*self._names(*pair), evaluation.tries, why, error))
        if self.plan.failed is None:
            self.stopping = True
            return None
        return Row(*pair, self.plan.failed, seconds, evaluation.tries, f"{FAILED}: {why}")

    def _keep(self, rows: list[Row]) -> None:
        """Put scores on file and, when they are there, tell them: what was told is never lost."""
        if self.file is not None and rows:
            self.file.add(rows)
        for row in rows:  # each is a moment
            self.needless += self.explorer.certified and not self.explorer.settings.spend
            self._tell(row)
            self.told += 1


def fault(arm: Arm, score: object) -> str:
    """What is wrong with a score; "" if nothing is."""
    found = numbers(score)
    if found is None:
        return f"it gave {short(score)}, which is no number"
    if found.ndim:
        return f"it gave {found.size} numbers, and a score is one"
    x = float(found)
    if not arm.fault(x):
        return ""
    if not math.isfinite(x):
        return f"it gave {x:g}, which is no finite number"
    if arm.low <= x <= arm.high:
        return f"it gave {x:g}, and the scores of {arm.name!r} are 0 or 1, as declared"
    return f"it gave {x:g}, which lies outside [{arm.low:g}, {arm.high:g}], the declared bounds"


def described(error: BaseException) -> str:
    """An error in one line."""
    if isinstance(error, DroppedError):
        return "it was cancelled"
    name, said = type(error).__name__, f"{error}"
    text = " ".join(said.split())
    return text if isinstance(error, NoScoreError) else f"{name}: {text}" if text else name


def shortened(text: str) -> str:
    return text if len(text) <= LENGTH else text[: LENGTH - 3] + "..."
