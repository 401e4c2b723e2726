"""What changes a study: asking, telling, recording, correcting."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from ...arms import Values
from ...checks import LARGEST, MANY, entries, flag, is_whole, short, whole
from ...errors import ObservationError, SettingError, StudyError
from . import log, tables, tickets
from .given import lease_of, own_key, text_of, who_of
from .looking import Looking
from .tables import Imported
from .tickets import Ticket, number_of, numbers_of
from .turn import Turn


class Telling(Looking):
    """Every method is one transaction."""

    def ask(self, n: int = 1, worker: str | None = None, *, lease: float | None = None) -> list[Ticket]:
        """Tickets for at most n samples to take now; [] when the study is done, and while nothing can be sampled.

        Tickets that are open count as if they were answered, so that many workers sample different arms. A worker that is named
        first gets back what it has not answered yet: after a crash it goes on. Tickets that have expired are given out again, if
        their arms are still wanted.
        """
        n = whole(n, "n", 1, MANY)
        name = None if worker is None else text_of(worker, "worker")
        seconds = None if lease is None else lease_of(lease)

        def step(turn: Turn) -> list[Ticket]:
            return [Ticket.of(row, turn.explorer) for row in turn.ask(n, name, seconds)]

        return self._do(step, safe=False)  # a ticket that a power cut takes is asked for again; its id is never another one's

    def tell(self, ticket: Ticket | str, value: Values, *, who: str | None = None) -> None:
        """The answer to a ticket. The same answer again does nothing; another one raises :class:`ConflictError`."""
        self.tell_many([(ticket, value)], who=who)

    def tell_many(self, answers: Iterable[tuple[Ticket | str, Values]], *, who: str | None = None) -> None:
        """Answers to tickets that came in together, as one moment: all of them, or none if one is refused."""
        listed = None if isinstance(answers, Mapping) else entries(answers)
        if listed is None or not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in listed):
            raise ObservationError(
                f"tell_many takes a list of (ticket, value) pairs, not {short(answers)}. Nothing was recorded."
            )
        checked = [(number_of(ticket), value) for ticket, value in listed]
        name = self.who if who is None else who_of(who)
        if checked:
            self._do(lambda turn: turn.tell(checked, name))

    def renew(self, given: Iterable[Ticket | str], *, lease: float | None = None) -> None:
        """Tickets that take longer than was thought: they are not given to anybody else for another while."""
        numbers, seconds = numbers_of(given), None if lease is None else lease_of(lease)

        def step(turn: Turn) -> None:
            found = tickets.find(turn.connection, turn.row.id, numbers)
            until = turn.now + (turn.row.lease if seconds is None else seconds)
            tickets.renew(turn.connection, turn.row.id, list(found), until)

        self._do(step, safe=False)

    def release(self, given: Iterable[Ticket | str]) -> None:
        """Tickets that nobody will answer: they may be given out again at once. An answer that comes all the same is taken."""
        numbers = numbers_of(given)

        def step(turn: Turn) -> None:
            found = tickets.find(turn.connection, turn.row.id, numbers)
            tickets.release(turn.connection, turn.row.id, list(found), turn.now)

        self._do(step, safe=False)

    def record(self, arm: Hashable, values: Values, key: str | None = None, *, who: str | None = None) -> None:
        """Observations of an arm that nobody asked for, as one moment. On a pool ``arm`` is a (candidate, item) pair.

        ``key`` names them, such as the page of a notebook: the same ones under the same key are recorded once, however often they
        are sent; others under it raise :class:`ConflictError`.
        """
        known = own_key() if key is None else text_of(key, "key")
        name = self.who if who is None else who_of(who)
        self._do(lambda turn: turn.record(arm, values, known, name))

    def import_data(
        self,
        source: str | os.PathLike[str] | Any,
        key: str | None = None,
        *,
        arm: str | None = None,
        value: str | None = None,
        item: str | None = None,
        order: str | None = None,
        skip_bad: bool = False,
        who: str | None = None,
    ) -> Imported:
        """Record the rows of a table, one an observation: a CSV or a Parquet file, or a data frame.

        Its columns are ``arm`` and ``value``, and on a pool ``item``; ``arm=``, ``value=`` and ``item=`` name them if they are
        called otherwise. All rows are one moment, or, with ``order``, those with the same entry in that column are, in its order.

        Raises :class:`RowsError`, which has all bad rows, and imports nothing, unless ``skip_bad``. The same table again changes
        nothing; ``key`` names it, by default after its content.
        """
        named = {"arm": arm, "value": value, "item": item, "order": order}
        columns = [None if one is None else text_of(one, what) for what, one in named.items()]
        left_out, name = flag(skip_bad, "skip_bad"), self.who if who is None else who_of(who)
        called = None if key is None else text_of(key, "key")

        explorer = self._do(lambda turn: turn.explorer, writing=False)  # whose problem never changes
        rows = tables.read_rows(source, explorer, *columns)
        entries, bad = tables.entries_of(rows, explorer, left_out)
        if not len(entries):
            return Imported(0, 0, bad)
        digest = log.digest_of(entries)
        known = f"import {digest[:16]}" if called is None else called
        new = self._do(lambda turn: turn.record_entries(entries, known, digest, name))
        return Imported(len(entries), new, bad)

    def correct(self, entry: int | Ticket | str, value: Values, why: str, *, who: str | None = None) -> int:
        """Put a wrong entry right: a new entry that names the old one, which stays in the log. Its number.

        The study is judged anew, as if the right value had been told in the first place; the certificate says that entries were
        corrected. Correct an entry because it is wrong, whichever way it speaks, and not because of what it certifies.

        Parameters
        ----------
        entry : int, Ticket or str
            The number of the entry in :meth:`history`, or the ticket that it answers.
        value : float
        why : str
            What was wrong, for those who read the log.
        """
        reason = why.strip() if isinstance(why, str) else ""
        if not reason:
            raise SettingError("why must say what was wrong, for those who read the log.", key="why")
        name, key = self.who if who is None else who_of(who), own_key()
        seq = whole(entry, "entry", 1, LARGEST) if is_whole(entry) else None
        ticket = None if seq is not None else number_of(entry)

        def step(turn: Turn) -> int:
            at = seq
            if ticket is not None:
                at = tickets.find(turn.connection, turn.row.id, [ticket])[ticket[0]].seq
                if at is None:
                    raise StudyError(f"Ticket '{ticket[0]}-{ticket[1]}' has no answer yet: tell it.", key="entry")
            assert at is not None
            return turn.correct(at, value, reason, name, key)

        return self._do(step)

    def close(self) -> None:
        """End the study: from now on nothing is asked or told. It can still be read and corrected."""

        def step(turn: Turn) -> None:
            if turn.row.closed is None:
                turn.row = turn.row._replace(closed=turn.now)

        self._do(step)
