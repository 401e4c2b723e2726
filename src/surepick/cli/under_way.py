"""Shows how evaluations go: a few lines that change on a terminal, and elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from .talk import console, say

if TYPE_CHECKING:
    from rich.console import Console

    from ..run.evaluations import Evaluations

LOOK = 0.2  # seconds between two looks on a terminal
SELDOM = 2.0  # the same where a look takes long
EVERY = 30.0  # seconds between two lines elsewhere


class Display:
    """Scores so far, what they cost, who is undecided, what is in the way, and what had to be tried again. On standard error."""

    def __init__(self, going: Evaluations) -> None:
        self.going: Evaluations = going
        self.console: Console = console(stderr=True)
        self.live: Any = None
        self.begun: float = time.monotonic()
        self.next: float = self.begun + EVERY
        self.told: bool = False  # that the run is stopping

    def __enter__(self) -> Display:
        if sys.stderr.isatty() and not self.console.is_dumb_terminal:
            from rich.live import Live

            self.live = Live(console=self.console, auto_refresh=False, transient=True)
            self.live.start()
            self.next = 0.0
        return self

    def __exit__(self, *_: object) -> None:
        if self.live is not None:
            self.live.stop()

    def look(self) -> None:
        """Show how it goes, if it is time to."""
        now, stopping = time.monotonic(), self.going.stopping and not self.told
        if now < self.next and not stopping:
            return
        self.told = self.told or stopping
        if self.live is None:
            self.next = now + EVERY
            say(". ".join(self._lines()) + ".", stderr=True)
            return
        self.live.update(self._drawn(), refresh=True)
        took = time.monotonic() - now
        self.next = now + min(max(LOOK, 10 * took), SELDOM)

    def _drawn(self) -> Any:
        from rich.text import Text

        return Text("\n".join(self._lines()), no_wrap=True, overflow="ellipsis")

    def _lines(self) -> list[str]:
        """In words, the most important first."""
        going, explorer = self.going, self.going.explorer
        problem, many = explorer.problem, len(going.under_way)
        took = lasted(time.monotonic() - self.begun)
        lines = [f"{explorer.samples:,} scores, {many} under way, after {took}; at most {at_most(going):,}"]
        certificate = explorer.certificate()
        if certificate.certified:
            lines += ["Certified"] * (not explorer.done)
        else:
            way = f", in the way: {certificate.blocking}" if certificate.blocking else ""
            lines.append(f"{int(certificate.undecided.sum())} of {problem.m} undecided{way}")
        if problem.priced:
            most = "" if explorer.cost_budget is None else f" of at most {explorer.cost_budget:,.12g}"
            lines.append(f"Cost {explorer.cost:,.12g}{most}")
        if troubles := troubles_of(going):
            lines.append(troubles)
        if going.stopping and many:
            failed = bool(going.failures) and going.plan.failed is None
            why, again = ("A pair failed", "") if failed else ("Stopping", " again")
            lines.insert(0, f"{why}: Ctrl-C{again} ends the {many} under way, which are waited for")
        elif explorer.done and many:
            lines.insert(0, f"Done: Ctrl-C ends the {many} under way, which are waited for")
        return lines


def lasted(seconds: float) -> str:
    """Minutes and seconds, or hours and minutes."""
    whole = int(seconds)
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h"


def at_most(going: Evaluations) -> int:
    """How many scores there can be, within the budget."""
    explorer = going.explorer
    assert explorer.pool is not None
    everything = explorer.problem.m * explorer.pool.size
    return everything if explorer.budget is None else min(everything, explorer.budget)


def troubles_of(going: Evaluations) -> str:
    """What had to be tried again, and what failed; "" if nothing did."""
    found = []
    if going.retried:
        found.append(f"{going.retried:,} retr{'y' if going.retried == 1 else 'ies'}")
    if going.failures:
        counted = (
            "" if going.plan.failed is None else f" and count{'s' if len(going.failures) == 1 else ''} as {going.plan.failed:g}"
        )
        found.append(f"{len(going.failures):,} failed every try{counted}")
    return ", ".join(found)
