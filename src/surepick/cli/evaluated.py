"""What surepick evaluate says when it has ended: for people, and as JSON."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .talk import plain, say, show_certificate
from .under_way import troubles_of

if TYPE_CHECKING:
    from ..certificate import Certificate
    from ..errors import EvaluationError
    from ..run.evaluations import Evaluations
    from ..study import StudySpec

NAMED = 5  # failures that a sentence names


@dataclass(frozen=True)
class Evaluated:
    """What a run has made, for people and as JSON."""

    file: Path
    path: Path
    command: str
    spec: StudySpec
    going: Evaluations
    certificate: Certificate
    stopped: int | None
    error: EvaluationError | None
    pictures: list[str]

    @property
    def everything(self) -> int:
        """How many scores there are."""
        pool = self.spec.problem.pool
        assert pool is not None
        return self.spec.problem.m * pool.size

    @property
    def cost_of_everything(self) -> float | None:
        problem = self.spec.problem
        assert problem.pool is not None
        return problem.cost_of(np.full(problem.m, problem.pool.size)) if problem.priced else None

    @property
    def needless(self) -> int:
        """Scores that came when it was certain already, also those of the file."""
        assert self.going.file is not None
        return self.going.needless + self.going.file.needless

    @property
    def counted(self) -> list[tuple[str, str]]:
        """The pairs whose score stands for a failure, also of earlier runs on the same file."""
        problem, going = self.spec.problem, self.going
        assert problem.pool is not None
        assert going.file is not None
        before = [(problem.names[row.candidate], problem.pool.names[row.item]) for row in going.file.rows if row.failed]
        now = [] if going.plan.failed is None else [(one.candidate, one.item) for one in going.failures]
        return [(str(candidate), str(item)) for candidate, item in before + now]

    def show(self) -> None:
        """For people."""
        explorer, going = self.going.explorer, self.going
        show_certificate(self.certificate, self.spec.title)
        saved = self.everything - explorer.samples
        share = f"; {saved:,} evaluations are saved, {100 * saved / self.everything:.3g} %" if self.certificate.certified else ""
        say(f"{explorer.samples:,} of {self.everything:,} scores were taken, {going.told:,} of them in this run{share}.")
        if needless := self.needless:
            say(f"{needless:,} of them {'was' if needless == 1 else 'were'} not needed: it was certain before they came.")
        if self.cost_of_everything is not None:
            tries = " Tries that failed are not in it." if going.retried or going.failures else ""
            say(f"They cost {explorer.cost:,.12g}; all scores cost {self.cost_of_everything:,.12g}.{tries}")
        if troubles := troubles_of(going):
            say(f"{troubles}.")
        if counted := self.counted:
            listed = ", ".join(f"{candidate} on {item}" for candidate, item in counted[:NAMED])
            more = f" and {len(counted) - NAMED:,} more" if len(counted) > NAMED else ""
            say(f"What a failure counts as is the score of {listed}{more}.")
        if self.stopped is not None:
            how = "Ctrl-C" if self.stopped == signal.SIGINT else signal.Signals(self.stopped).name
            say(f"Stopped by {how}. The same command goes on from {self.path}.")
        elif not self.certificate.certified and self.error is None:
            say(f"The budget is spent; raise it in {self.file}, and the same command goes on from {self.path}.")
        else:
            say(f"The scores are in {self.path}.")
        if going.file is not None and going.file.changes:
            say(going.file.changes, "yellow")
        for picture in self.pictures:
            say(f"Saved {picture}")
        if self.error is not None:
            say(str(self.error), "red", stderr=True)

    def payload(self) -> dict[str, Any]:
        """As JSON."""
        explorer, going, plan = self.going.explorer, self.going, self.going.plan
        return {
            "file": str(self.file),
            "title": self.spec.title,
            "problem": self.spec.problem.kind,
            "command": self.command,
            "workers": plan.workers,
            "retries": plan.retries,
            "timeout": plain(plan.timeout),
            "failed": plan.failed,
            "results": str(self.path),
            "certificate": self.certificate.to_dict(),
            "scores": explorer.samples,
            "scores_in_this_run": going.told,
            "not_needed": self.needless,
            "all_scores": self.everything,
            "cost": explorer.cost if self.spec.problem.priced else None,
            "cost_of_all_scores": self.cost_of_everything,
            "retried": going.retried,
            "failures": [
                {"candidate": str(one.candidate), "item": str(one.item), "tries": one.tries, "why": one.why}
                for one in going.failures
            ],
            "counted_as_failed": [list(pair) for pair in self.counted],
            "changes": going.file.changes if going.file is not None else "",
            "interrupted": self.stopped is not None,
            "pictures": self.pictures,
            "error": None if self.error is None else {"type": "EvaluationError", "key": None, "message": str(self.error)},
        }
