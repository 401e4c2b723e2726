"""Evaluate: have candidates scored on items by a function, several at a time, until the decision is certified."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from ..certificate import Outcome
from ..checks import file, short
from ..errors import EvaluationError, ObservationError, SettingError, StudyError
from ..explorer import Explorer
from ..pool import Board
from .drive import REPORT, Progress
from .evaluations import Evaluations, Plan
from .hands import Scorer, hands_for
from .interrupts import Interrupts
from .marks import Mark, mark
from .results_file import ResultsFile
from .results_rows import Reader, Row

PATIENCE = 5.0  # seconds that evaluations have to end after Ctrl-C


def evaluate(
    explorer: Explorer,
    function: Scorer,
    *,
    workers: int = 8,
    retries: int = 2,
    timeout: float | None = None,
    results: str | os.PathLike[str] | None = None,
    failed: float | None = None,
    earlier: str | os.PathLike[str] | None = None,
    progress: Callable[[Progress], object] | None = None,
) -> Outcome:
    """Have candidates scored on items of a pool by a function, several at a time, until the explorer is done.

    Scores are told as they come, each as a moment. What is under way when the explorer is done is finished, and kept.

    Parameters
    ----------
    explorer : Explorer
        With a pool.
    function : callable
        ``function(candidate, item) -> score``, given both by name. A plain one is run in threads, a coroutine function in an
        event loop in a thread of its own.
    workers : int
        How many evaluations are under way at a time.
    retries : int
        How often an evaluation that failed is tried again, after a short pause that grows: one that raised, took longer than
        ``timeout``, or gave no score within the candidate's bounds.
    timeout : float, optional
        Seconds of a try at most. A coroutine is cancelled then. A thread cannot be ended: its answer is ignored.
    results : path, optional
        A CSV file to which every score is appended as it comes. It is on the disk before it is told, so that neither a crash nor
        a power cut loses a score that counted. A file that is there already is read and told first, and the run goes on from
        there: it must be of the same candidates, items and seed. Where delta, epsilon, the problem or bounds were others, a
        warning says so. ``surepick check`` reads it, too.
    failed : float, optional
        What an evaluation counts as that failed every try; within the bounds of all candidates. Without it the run stops: no
        score is guessed.
    earlier : path, optional
        The file of results of another question on the same items, with the same seed: its scores of candidates that are there
        again count here too, and need not be taken anew.
    progress : callable, optional
        Called with a :class:`Progress` some ten times a second, and once at the end.

    Returns
    -------
    Outcome

    Raises
    ------
    EvaluationError
        An evaluation failed every try, and ``failed`` was not given. Those under way were finished and kept; the error names the
        candidate, the item and the last failure, and carries the outcome so far and the explorer to go on with.
    KeyboardInterrupt
        After Ctrl-C, once what was under way has ended, or after five seconds. What was told stays told, and on file.

    Examples
    --------
    >>> import surepick as sp
    >>> skill = {"ant": 0.9, "bee": 0.4}
    >>> explorer = sp.Explorer(sp.BestArm(list(skill)), pool=sp.Pool(200))
    >>> outcome = sp.evaluate(explorer, lambda model, item: (item % 10) / 10 < skill[model], workers=4)
    >>> outcome.certified, outcome.certificate.chosen
    (True, {'ant': 1})
    """
    if not isinstance(explorer, Explorer) or explorer.pool is None:
        raise SettingError(
            f"evaluate needs an explorer with a pool, such as Explorer(problem, pool=Pool(2000)), not {short(explorer)}; without "
            "one, explore samples arms.",
            key="explorer",
        )
    if not callable(function):
        raise SettingError(f"The function must be one (candidate, item) -> score, not {short(function)}.", key="function")
    if progress is not None and not callable(progress):
        raise SettingError(f"progress must be a function, or None, not {short(progress)}.", key="progress")
    plan = Plan.of(explorer.problem, workers, retries, timeout, failed)
    known = [] if earlier is None else rows_of(explorer, earlier)
    if results is None:
        _take_over(explorer, known, plan.failed, str(earlier))
    saved = None if results is None else open_results(explorer, results, plan.failed, known)
    if saved is not None and saved.changes:
        warnings.warn(f"{saved.path}: {saved.changes}", stacklevel=2)
    try:
        going = Evaluations(explorer, hands_for(function), plan, saved)
        go(going, progress)
    finally:
        if saved is not None:
            saved.close()
    outcome = Outcome.of(explorer.certificate())
    if going.failures and failed is None:
        raise failure_of(going, outcome) from going.failures[0].cause
    return outcome


def go(going: Evaluations, progress: Callable[[Progress], object] | None) -> None:
    """Evaluate, and raise what was raised in the meantime when what is under way has ended, or has had time for it."""
    pressed, due = 0, 0.0

    def press(_: int) -> None:
        nonlocal pressed
        pressed += 1
        going.stop(PATIENCE if pressed == 1 else 0.0)

    steps = going.run()
    with Interrupts(press):
        try:
            for _ in steps:
                if progress is not None and time.monotonic() >= due:
                    progress(Progress.of(going.explorer))
                    due = time.monotonic() + REPORT
        except BaseException:  # of the function that was to see the progress; or of the run itself, which is then over
            going.stop(PATIENCE)
            for _ in steps:
                pass
            raise
    if pressed:
        raise KeyboardInterrupt
    if progress is not None:
        progress(Progress.of(going.explorer))


def rows_of(explorer: Explorer, path: str | os.PathLike[str], scorer: str = "", *, same_scorer: bool = False) -> list[Row]:
    """The scores of candidates of this explorer that are in a file of results of another question."""
    source = file(path)
    reader = Reader(source, explorer.problem, Mark(mark(explorer.problem), "", scorer), same_scorer=same_scorer, earlier=True)
    try:
        return reader.parse(source.read_bytes())
    except OSError as error:
        raise StudyError(f"{source}: cannot be read ({error.strerror or error}); check the path.") from None


def open_results(
    explorer: Explorer,
    path: str | os.PathLike[str],
    failed: float | None,
    earlier: Sequence[Row] = (),
    scorer: str = "",
    *,
    same_scorer: bool = False,
) -> ResultsFile:
    """A file of results, all of whose scores are told; those that the explorer has from elsewhere, and earlier ones, are put
    there."""
    saved = ResultsFile(file(path), explorer.problem, explorer.settings, scorer, same_scorer=same_scorer)
    try:
        board, pool = explorer.record, explorer.pool
        assert isinstance(board, Board)
        assert pool is not None
        there = {(row.candidate, row.item) for row in saved.rows}
        new = [row for row in earlier if (row.candidate, row.item) not in there]
        saved.needless = _take_over(explorer, [*saved.rows, *new], failed, str(saved.path))
        there |= {(row.candidate, row.item) for row in new}
        new += [
            Row(i, j, score)
            for i in np.flatnonzero(board.told).tolist()
            for place, j in enumerate(pool.order.tolist())
            if (score := board.known(i, place)) is not None and (i, j) not in there
        ]
        if new:
            saved.add(new)
        saved.taken_over = len(new)
    except BaseException:
        saved.close()
        raise
    return saved


def _take_over(explorer: Explorer, rows: Sequence[Row], failed: float | None, path: str) -> int:
    """Tell all scores of a file; how many of them came when it was certain already."""
    board, pool = explorer.record, explorer.pool
    assert isinstance(board, Board)
    assert pool is not None
    for row in rows:
        known = board.known(row.candidate, int(pool.places[row.item]))
        name, item = explorer.problem.names[row.candidate], pool.names[row.item]
        if known is not None and known != row.score:
            raise StudyError(
                f"{path}: the score of candidate {name!r} on item {item!r} is {row.score:g} there, and the explorer was "
                f"told {known:g}: a score is one number; take a fresh explorer, or another file. Nothing was run."
            )
        if row.failed and failed is not None and row.score != failed:
            raise StudyError(
                f"{path}: a failure counted as {row.score:g} there ({name!r} on {item!r}), and now as {failed:g}: what it "
                "counts as is said once, before any score is seen. Nothing was run."
            )
    needless = 0
    try:
        # The runner writes no score that it was not asked for, and the file's last column says that it is of this pool. Gaps are
        # evaluations that were under way when an earlier run ended.
        explorer.expect([(row.candidate, row.item) for row in rows])
        for row in rows:  # each was a moment
            needless += explorer.certified and not explorer.settings.spend
            explorer.tell_many([((row.candidate, row.item), row.score)])
    except ObservationError as error:
        raise StudyError(f"{path}: {error}") from None
    return needless


def failure_of(going: Evaluations, outcome: Outcome, way: str = "failed=0.0") -> EvaluationError:
    """What stopped the run, as a sentence."""
    first, others, many = going.failures[0], len(going.failures) - 1, going.explorer.samples
    times = "failed" if first.tries == 1 else f"failed {first.tries} times, the last time"
    also = f" So did {others} more." if others else ""
    kept = f"the {many:,} scores so far stay" if many != 1 else "the one score so far stays"
    where = "" if going.file is None else f", in {going.file.path}"
    return EvaluationError(
        f"The evaluation of candidate {first.candidate!r} on item {short(first.item)} {times}: {first.why}.{also} Nothing is "
        f"guessed in its place; {kept}{where}. Mend the cause and go on; or say what every failure counts as, such as {way}, and "
        "go on: by what a failure is worth to you, and not by who failed. From the first one on it cannot be changed.",
        going.explorer,
        outcome,
        going.failures,
    )
