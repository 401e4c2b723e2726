"""Questions to a study, which change nothing."""

from __future__ import annotations

from typing import Any

from ...certificate import Certificate
from ...checks import MANY, whole
from . import log, tickets
from .given import OWN
from .opened import Opened
from .status import Entry, Status, time_if, time_of
from .tickets import Ticket
from .turn import Turn


class Looking(Opened):
    """How a study stands, and what was told."""

    def status(self) -> Status:
        """How the study stands."""

        def step(turn: Turn) -> Status:
            row, explorer, certificate = turn.row, turn.explorer, turn.certificate()
            open_, expired = tickets.count(turn.connection, row.id, turn.now)
            undecided = [name for name, left in zip(certificate.names, certificate.undecided, strict=True) if left]
            return Status(
                row.name,
                row.title,
                explorer.samples,
                explorer.done or row.closed is not None,
                certificate.certified,
                undecided,
                open_,
                expired,
                certificate.corrected,
                certificate,
                time_of(row.created),
                time_if(row.closed),
            )

        return self._do(step, writing=False)

    def certificate(self) -> Certificate:
        """What is certain now; once certified, what was certified then."""
        return self._do(lambda turn: turn.certificate(), writing=False)

    def plan(self, n: int) -> dict[Any, int]:
        """How many of the next n samples to take of each arm, by name, after those that are on their way; {} when done."""

        def step(turn: Turn) -> dict[Any, int]:
            if turn.row.closed is not None:
                return {}
            live = [row for row in tickets.waiting(turn.connection, turn.row.id) if row.expires > turn.now]
            return turn.explorer.plan(n, tickets.pending(live, turn.explorer))

        return self._do(step, writing=False)

    def waiting(self, worker: str | None = None) -> list[Ticket]:
        """The tickets that nobody has answered, or those of a worker."""

        def step(turn: Turn) -> list[Ticket]:
            rows = tickets.waiting(turn.connection, turn.row.id)
            return [Ticket.of(row, turn.explorer) for row in rows if worker is None or row.worker == worker]

        return self._do(step, writing=False)

    def history(self, after: int = 0, limit: int = 100) -> list[Entry]:
        """Who told what, and when: the entries after this one, at most ``limit``."""
        after, limit = whole(after, "after", 0), whole(limit, "limit", 1, MANY)

        def step(turn: Turn) -> list[Entry]:
            names, pool = turn.explorer.problem.names, turn.explorer.pool
            return [
                Entry(
                    row.seq,
                    row.moment,
                    names[row.arm],
                    None if pool is None else pool.names[row.item],
                    row.value,
                    row.ticket,
                    row.who,
                    time_of(row.told),
                    None if (row.key or OWN).startswith(OWN) else row.key,
                    row.corrects,
                    row.note,
                )
                for row in log.page(turn.connection, turn.row.id, after, limit)
            ]

        return self._do(step, writing=False)
