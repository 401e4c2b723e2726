"""Questions to a study, which change nothing."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from typing import Any

from ...certificate import Certificate
from ...checks import LARGEST, MANY, whole
from ...errors import StudyError
from ...explorer import Explorer
from . import copying, log, tables, tickets
from .database import Database
from .given import OWN, text_of
from .opened import Opened
from .status import Entry, Status, time_if, time_of
from .tickets import Ticket
from .turn import Turn
from .verify import Verification, verify


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

    def explorer(self) -> Explorer:
        """An explorer that knows what the study knows, to look at: what it is told stays with it."""
        return self._do(lambda turn: copy.deepcopy(turn.explorer), writing=False)

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

        name = None if worker is None else text_of(worker, "worker")

        def step(turn: Turn) -> list[Ticket]:
            rows = tickets.waiting(turn.connection, turn.row.id)
            return [Ticket.of(row, turn.explorer) for row in rows if name is None or row.worker == name]

        return self._do(step, writing=False)

    def history(self, after: int = 0, limit: int = 100) -> list[Entry]:
        """Who told what, and when: the entries after this one, at most ``limit``."""
        after, limit = whole(after, "after", 0, LARGEST), whole(limit, "limit", 1, MANY)

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

    def verify(self) -> Verification:
        """Work out the certificate again, from what the study was created with and from its log alone, and compare it with what
        is stored. Every moment is judged again, so this takes a while if there are very many."""
        return self._do(verify, writing=False)

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write the log to a CSV or a Parquet file, a row an entry; how many there are.

        ``value`` is what was told, ``counts_as`` what counts: another number where an entry was corrected, and nothing in the row
        of the correction itself.
        """

        def step(turn: Turn) -> int:
            right = log.corrected(turn.connection, turn.row.id)
            names, pool = turn.explorer.problem.names, turn.explorer.pool

            def rows() -> Iterator[dict[str, Any]]:
                for row in log.page(turn.connection, turn.row.id, 0, turn.row.seq):
                    yield {
                        "seq": row.seq, "moment": row.moment, "arm": str(names[row.arm]), "value": row.value,
                        "item": None if pool is None else str(pool.names[row.item]),
                        "counts_as": None if row.corrects is not None else right.get(row.seq, row.value),
                        "corrects": row.corrects, "ticket": row.ticket, "who": row.who,
                        "told": time_of(row.told).isoformat(timespec="seconds"),
                        "key": None if (row.key or OWN).startswith(OWN) else row.key, "note": row.note,
                    }  # fmt: skip

            return tables.write(path, rows())

        return self._do(step, writing=False)

    def copy(self, url: str | os.PathLike[str], name: str | None = None) -> None:
        """Copy the study, with its log and its tickets, to another database, such as from a file to a server.

        The two have nothing to do with each other from then on: close this one, so that nobody tells it more.
        """
        target = Database(url, create=True)
        if target.same(self._database):
            raise StudyError(f"{target.where}: a study is copied to another database.", key="url")
        try:
            target.set_up()
            called = self.name if name is None else text_of(name, "name")
            self._do(lambda turn: copying.copy(turn.connection, turn.row.id, target, called), writing=False)
        finally:
            target.close()
