"""surepick evaluate: have candidates scored by a program, several at a time, until the decision is certified."""

from __future__ import annotations

import math
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .talk import AsJson, File, Plot, emit, open_folder, save_pictures, say

if TYPE_CHECKING:
    from ..run.evaluations import Evaluations
    from ..run.results_file import ResultsFile


def evaluate(
    file: File,
    command: Annotated[
        str,
        typer.Option(
            metavar="CMD", help='What prints a score, such as "./score {candidate} {item}"; no shell.', show_default=False
        ),
    ],
    workers: Annotated[int, typer.Option(help="Evaluations at a time.", min=1)] = 8,
    retries: Annotated[int, typer.Option(help="How often a failed one is tried again.", min=0)] = 2,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Seconds of a try at most.", show_default=False)
    ] = None,
    results: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where scores are kept; FILE.results.csv unless told.", show_default=False)
    ] = None,
    failed: Annotated[
        float | None, typer.Option(metavar="SCORE", help="What counts where every try fails.", show_default=False)
    ] = None,
    earlier: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Begin with the scores of another study's results: other candidates, the same items and seed.",
            show_default=False,
        ),
    ] = None,
    same_scorer: Annotated[
        bool, typer.Option("--same-scorer", help="Another command than before gives the same scores: go on with its file.")
    ] = False,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Score candidates by a program until the decision is certified.

    The program is run once for every candidate and item that is asked for. The last line that it prints is the score: a number,
    or a JSON object with a key score. A code other than 0, no score, one out of bounds or a time-out is a failure, and is tried
    again after a pause. A pair that fails every try stops the run, unless --failed says what it counts as.

    Every score is on the disk before it counts. The same command goes on where it was stopped, by whatever; with another
    --command it is refused, unless you say --same-scorer.
    Ctrl-C waits for what is under way; a second one ends it (exit code 130).
    """
    from ..certificate import Outcome
    from ..errors import StudyError
    from ..run.command import Command
    from ..run.evaluate import failure_of, open_results, rows_of
    from ..run.evaluations import Evaluations, Plan
    from ..run.marks import scorer
    from ..study import load
    from .evaluated import Evaluated

    spec = load(file)
    if spec.problem.pool is None:
        raise StudyError(
            f"{file}, key pool: the study says nothing of the items that all candidates are judged on. Add a [pool] table with "
            'items = 2000, items = ["a", "b"] or items = "items.csv" (column item).',
            key="pool",
        )
    program, plan = Command(command), Plan.of(spec.problem, workers, retries, timeout, failed)
    if plot is not None:
        open_folder(plot)
    explorer = spec.explorer()
    path = file.with_suffix(".results.csv") if results is None else results
    by = scorer(program.words)
    known = [] if earlier is None else rows_of(explorer, earlier, by, same_scorer=same_scorer)
    saved = open_results(explorer, path, plan.failed, known, by, same_scorer=same_scorer)
    going = Evaluations(explorer, program, plan, saved)
    try:
        if not as_json:
            _say_where(path, saved, earlier)
        stopped = None if explorer.done else _go(going)
    finally:
        saved.close()
    certificate = explorer.certificate()
    stopped = None if explorer.done else stopped  # it had all it needed
    error = None
    if going.failures and plan.failed is None:
        error = failure_of(going, Outcome.of(certificate), "--failed 0")
    pictures: list[str] = []
    if plot is not None:
        pictures = save_pictures(certificate, plot, spec.title, spec.problem.parameter.name, explorer=explorer)
    made = Evaluated(file, path, command, spec, going, certificate, stopped, error, pictures)
    if as_json:
        emit(made.payload())
    else:
        made.show()
    if stopped is not None:
        raise typer.Exit(128 + stopped)
    if error is not None:
        raise typer.Exit(2)


def _go(going: Evaluations) -> int | None:
    """Evaluate under a display; the signal that stopped it, if one did."""
    from ..run.interrupts import Interrupts
    from .under_way import Display

    stopped: int | None = None

    def press(number: int) -> None:
        nonlocal stopped
        # The first Ctrl-C waits; a second one does not, nor does whoever ends the process or closes the terminal.
        going.stop(math.inf if number == signal.SIGINT and not going.stopping else 0.0)
        stopped = number

    with Interrupts(press, "SIGINT", "SIGTERM", "SIGHUP"), Display(going) as display:
        for _ in going.run():
            display.look()
    return stopped


def _say_where(path: Path, saved: ResultsFile, earlier: Path | None) -> None:
    """Before the run: where scores are kept, and what is there already. On standard error."""
    many, torn = len(saved.rows), saved.torn
    lost = " The last line was cut off by a crash, and is evaluated again." if torn else ""
    text = f"Going on from {many:,} scores in {path}.{lost}" if many or torn else f"Scores are kept in {path}."
    say(text, stderr=True)
    if saved.taken_over:
        say(f"{saved.taken_over:,} scores of {earlier} count here, too.", stderr=True)
    if saved.changes:
        say(saved.changes, "yellow", stderr=True)
