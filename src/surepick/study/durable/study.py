"""A study that outlives its processes, machines and people."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Self

from sqlalchemy import Connection, insert, select

from ... import saving
from ...arms import Values
from ...checks import MANY, entries, flag, short, whole
from ...errors import ObservationError, SettingError, StudyError
from ..spec import StudySpec
from . import log, schema, tables, tickets
from .database import Database
from .given import FIRST, LEASE, lease_of, own_key, spec_of, text_of, there, who_of
from .looking import Looking
from .status import Summary, time_if, time_of
from .tables import Imported
from .tickets import Ticket, number_of
from .turn import Turn


class Study(Looking):
    """An experiment in a database: many people and machines ask and tell, and what one was told is never lost.

    Made by :meth:`create` or :meth:`open`. Every method is one transaction: when it returns, what it did is on the disk; when it
    raises, nothing has happened. All may be called from several threads, and from as many processes and machines as open the same
    study. docs/studies.md has examples.

    Examples
    --------
    >>> import surepick as sp
    >>> study = sp.Study.create("sqlite:///:memory:", {"arms": ["red", "blue"], "problem": {"kind": "best-arm"}, "delta": 0.1})
    >>> [ticket.arm for ticket in study.ask(2, worker="ana")]
    ['red', 'blue']
    >>> for ticket in study.ask(2, worker="ana"):  # her own: they are not answered yet
    ...     study.tell(ticket, 0.9 if ticket.arm == "red" else 0.1)
    >>> study.record("red", [0.9] * 400, key="notebook 1")
    >>> study.record("blue", [0.1] * 400, key="notebook 2")
    >>> study.status().done
    True
    """

    # -- making and finding -----------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        url: str | os.PathLike[str],
        spec: str | os.PathLike[str] | Mapping[str, Any] | StudySpec,
        name: str | None = None,
        *,
        lease: float = LEASE,
        who: str | None = None,
    ) -> Self:
        """A new study.

        Parameters
        ----------
        url : str or path
            ``sqlite:///study.db`` or the path of a file, which is made if need be, or ``postgresql+psycopg://user@host/name``.
            One database holds many studies.
        spec : path, dict or StudySpec
            A study file, or what it says; see docs/study-files.md. It is kept as it is now, with what "auto" stands for.
        name : str, optional
            By default the name of the study file, or "study".
        lease : float
            Seconds after which a ticket may be given to somebody else.
        who : str, optional
            In whose name values are told; by default the user and the computer.
        """
        made, called = spec_of(spec)
        name = text_of(called if name is None else name, "name")
        seconds = lease_of(lease)
        content = saving.text(made.explorer(), fixed=True)
        database = Database(url, create=True)
        table = schema.study

        def step(connection: Connection) -> int:
            schema.prepare(connection, database.where)
            if connection.execute(select(table.c.id).where(table.c.name == name)).first() is not None:
                raise StudyError(
                    f"{database.where}: there is a study {name!r} already; open it, or take another name.", key="name"
                )
            now = time.time()
            added = connection.execute(
                insert(table).values(
                    name=name,
                    title=made.title,
                    spec=content,
                    spec_hash=hashlib.sha256(content.encode()).hexdigest(),
                    lease=seconds,
                    created=now,
                    clock=now,
                    seq=0,
                    moment=0,
                    tickets=0,
                    revision=0,
                )
            )
            return int(added.inserted_primary_key[0])  # type: ignore[index]

        try:
            database.set_up()
            return cls(database, database.do(step, patience=FIRST), name, who_of(who))
        except BaseException:
            database.close()
            raise

    @classmethod
    def open(cls, url: str | os.PathLike[str], name: str | None = None, *, who: str | None = None) -> Self:
        """A study that is there. ``name`` may be left out if the database holds one only."""
        database = Database(url)
        table = schema.study
        try:
            rows = there(
                database, lambda connection: connection.execute(select(table.c.name, table.c.id).order_by(table.c.id)).all()
            )
            named = {row.name: row.id for row in rows}
            if name is None and len(named) != 1:
                found = f"holds {len(named)}: {', '.join(map(repr, named))}" if named else "holds no study"
                raise StudyError(f"{database.where}: which study? The database {found}.", key="name")
            chosen = next(iter(named)) if name is None else name
            if chosen not in named:
                known = ", ".join(map(repr, named)) or "none"
                raise StudyError(f"{database.where}: there is no study {short(chosen)}; there are {known}.", key="name")
            return cls(database, int(named[chosen]), chosen, who_of(who))
        except BaseException:
            database.close()
            raise

    @staticmethod
    def studies(url: str | os.PathLike[str]) -> list[Summary]:
        """The studies of a database."""
        database, t = Database(url), schema.study
        try:
            rows = there(database, lambda connection: connection.execute(select(t).order_by(t.c.id)).all())
        finally:
            database.close()
        return [
            Summary(r.name, r.title, time_of(r.created), r.seq - r.revision, r.certified is not None, time_if(r.closed))
            for r in rows
        ]

    # -- asking and telling ---------------------------------------------------------------------------------------------

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

    def release(self, given: Iterable[Ticket | str]) -> None:
        """Tickets that nobody will answer: they may be given out again at once. An answer that comes all the same is taken."""
        numbers = [number_of(ticket) for ticket in given]

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
        left_out, name = flag(skip_bad, "skip_bad"), self.who if who is None else who_of(who)
        called = None if key is None else text_of(key, "key")

        explorer = self._do(lambda turn: turn.explorer, writing=False)  # whose problem never changes
        rows = tables.read_rows(source, explorer, arm, value, item, order)
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
        seq = whole(entry, "entry", 1) if isinstance(entry, int) else None
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
