"""A study that outlives its processes, machines and people."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any, Self

from sqlalchemy import Connection, insert, select

from ... import saving
from ...certificate import Outcome
from ...checks import short
from ...errors import StudyError
from ..spec import StudySpec
from . import schema
from .database import Database
from .given import LEASE, lease_of, spec_of, text_of, there, who_of
from .run import run
from .status import Summary, time_if, time_of
from .telling import Telling


class Study(Telling):
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
            return cls(database, database.do(step, patience=database.first), name, who_of(who))
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
            chosen = next(iter(named)) if name is None else text_of(name, "name")
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

    # -- the loop done for you ------------------------------------------------------------------------------------------

    def run(
        self,
        function: Callable[..., Any],
        workers: int = 8,
        *,
        executor: Executor | None = None,
        retries: int = 2,
        timeout: float | None = None,
        failed: float | None = None,
        worker: str | None = None,
        lease: float = 300.0,
    ) -> Outcome:
        """Have a function take the samples, several at a time, until the study is done. Others may ask and tell meanwhile.

        Parameters
        ----------
        function : callable
            ``function(arm) -> value``, or on a pool ``function(candidate, item) -> score``, given names. A plain one is run in
            threads, a coroutine function in an event loop.
        workers : int
            How many calls are under way at a time.
        executor : concurrent.futures.Executor, optional
            Where the function is called instead: ``ProcessPoolExecutor(8)``, or a Dask cluster's ``client.get_executor()``.
        retries : int
            How often a call that failed is tried again, after a pause that grows: one that raised, took longer than ``timeout``,
            or gave no value within the arm's bounds.
        timeout : float, optional
            Seconds of a call at most.
        failed : float, optional
            What a call counts as that failed every try. Without it the run stops with an :class:`EvaluationError`.
        worker : str, optional
            Whose tickets these are: after a crash, a run of the same name first answers what that one has left.
        lease : float
            Seconds after which the tickets of a run that has died are given to others; one that lives renews them.
        """
        name = None if worker is None else text_of(worker, "worker")
        return run(self, function, workers, executor, retries, timeout, failed, name, lease_of(lease))
