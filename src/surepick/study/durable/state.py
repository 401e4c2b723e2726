"""An explorer that is kept in step with the log of a study.

What it knows is a function of the study's ``spec`` and of the log in its order: every moment of the log is one moment of the
explorer. Who writes a moment judges it, in the same transaction, and notes in the study's row which one certified the study. So
who reads it later need not judge all the others again: it is known that they certified nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, delete, insert, select

from ... import saving
from ...arms import Floats, Ints
from ...explorer import Explorer
from ...pool import Board
from . import log, schema
from .log import Entries

LEAST = 500  # observations between two snapshots
LETTERS = 64  # of a snapshot, that one more observation between two pays for


class State:
    """An explorer, and up to where in the log it has come."""

    def __init__(self, explorer: Explorer, seq: int, moment: int, revision: int) -> None:
        self.explorer: Explorer = explorer
        self.seq: int = seq
        self.moment: int = moment
        self.revision: int = revision
        self.snapshot: int = seq  # the last entry of the newest snapshot, as far as is known
        self.spacing: int = LEAST
        if isinstance(explorer.record, Board):  # what was asked for is known: it has a ticket
            explorer.record.offered[:] = explorer.record.counts

    @classmethod
    def blank(cls, connection: Connection, row: Any) -> State:
        """Before anything was told."""
        table = schema.study
        spec = connection.execute(select(table.c.spec).where(table.c.id == row.id)).scalar_one()
        return cls(saving.of_text(Explorer, spec, f"study {row.name}"), 0, 0, row.revision)

    @classmethod
    def load(cls, connection: Connection, row: Any) -> State:
        """From the newest snapshot, and the log from there on."""
        table = schema.snapshot
        found: Row[Any] | None = connection.execute(
            select(table)
            .where(table.c.study == row.id, table.c.revision == row.revision, table.c.moment <= row.moment)
            .order_by(table.c.moment.desc())
            .limit(1)
        ).one_or_none()
        if found is None:
            state = cls.blank(connection, row)
        else:
            explorer = saving.of_text(Explorer, found.content, f"study {row.name}, snapshot of moment {found.moment}")
            state = cls(explorer, found.seq, found.moment, row.revision)
            state.spacing = max(LEAST, len(found.content) // LETTERS)
        state.catch_up(connection, row)
        return state

    def catch_up(self, connection: Connection, row: Any) -> None:
        """Take in what others told."""
        if self.seq < row.seq:
            self.replay(log.read(connection, row.id, self.seq, row.seq, row.revision), row.certified)
            self.seq, self.moment = row.seq, row.moment

    def replay(self, entries: Entries, certified: int | None) -> None:
        """Take in entries that were judged when they were told, of which this moment certified the study, if any."""
        if self.explorer.policy.remembers and not self.explorer.certified:
            self.judge_again(entries)
            return
        self.expect(entries)
        if certified is None or self.explorer.certified:
            before = len(entries) if certified is None else 0
            until = before
        else:
            assert entries.moments is not None
            before, until = np.searchsorted(entries.moments, [certified, certified + 1]).tolist()
        self._pass(entries.part(slice(0, before)))
        self.tell(entries.part(slice(before, until)))
        self.tell(entries.part(slice(until, len(entries))))

    def judge(self, entries: Entries) -> int | None:
        """Take in entries moment by moment, and judge each; the one that certified the study, if it was among them."""
        assert entries.moments is not None
        found = None
        starts: list[int] = np.flatnonzero(np.diff(entries.moments, prepend=-1)).tolist()
        for start, end in zip(starts, [*starts[1:], len(entries)][: len(starts)], strict=True):
            if self.explorer.certified:  # no moment matters any more
                self.tell(entries.part(slice(start, len(entries))))
                break
            self.tell(entries.part(slice(start, end)))
            if self.explorer.certified:
                found = int(entries.moments[start])
        return found

    def judge_again(self, entries: Entries) -> int | None:
        """As ``judge``, of entries that were taken before."""
        self.expect(entries)
        return self.judge(entries)

    def tell(self, entries: Entries) -> None:
        """Tell the explorer one moment. Raises if it refuses it, and nothing has changed then."""
        if not len(entries):
            return
        if self.explorer.pool is None:
            self.explorer.tell_many(_by_arm(entries.arms, entries.values))
            return
        pairs = list(zip(entries.arms.tolist(), entries.items.tolist(), strict=True))
        self.explorer.tell_many(list(zip(pairs, entries.values.tolist(), strict=True)))

    def _pass(self, entries: Entries) -> None:
        """Take in moments that certified nothing, without judging them again."""
        if not len(entries):
            return
        explorer = self.explorer
        with explorer.lock:
            record, pool = explorer.record, explorer.pool
            if pool is None:
                for arm, values in _by_arm(entries.arms, entries.values):
                    record.update(arm, values)
            else:
                assert isinstance(record, Board)
                places = pool.places[entries.items].tolist()
                record.take_in(dict(zip(zip(entries.arms.tolist(), places, strict=True), entries.values.tolist(), strict=True)))
            explorer.forget(complete=False)

    def expect(self, entries: Entries) -> None:
        """These scores were asked for."""
        if entries.pooled:
            self.explorer.expect(list(zip(entries.arms.tolist(), entries.items.tolist(), strict=True)))

    def save(self, connection: Connection, study: int, *, anyway: bool = False) -> None:
        """Keep a snapshot, if the last one is long ago, and drop those before it."""
        if not anyway and self.seq - self.snapshot < self.spacing:
            return
        content, table = saving.text(self.explorer), schema.snapshot
        connection.execute(delete(table).where(table.c.study == study))
        connection.execute(
            insert(table).values(study=study, moment=self.moment, revision=self.revision, seq=self.seq, content=content)
        )
        self.snapshot, self.spacing = self.seq, max(LEAST, len(content) // LETTERS)


def _by_arm(arms: Ints, values: Floats) -> list[tuple[int, Floats]]:
    """The values of every arm, each in their order."""
    if len(arms) == 1:
        return [(int(arms[0]), values)]
    order = np.argsort(arms, kind="stable")
    cuts = np.flatnonzero(np.diff(arms[order])) + 1
    return [(int(arms[rows[0]]), values[rows]) for rows in np.split(order, cuts)]
