"""One transaction on one study: its row is locked, its explorer is in step with the log, and what is told is judged and kept."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, bindparam, insert, select, update

from ...certificate import Certificate
from ...checks import short
from ...errors import ConflictError, ObservationError, StudyError
from ...explorer import Explorer
from ...pool import Board
from ...told import candidate_and_place, values_of
from . import log, schema, tickets
from .log import Entries
from .state import State

STUDY = schema.study


class Header(NamedTuple):
    """The row of a study, without what it was created with."""

    id: int
    name: str
    title: str
    lease: float
    created: float
    closed: float | None
    clock: float
    seq: int
    moment: int
    tickets: int
    revision: int
    certified: int | None


# Statements of every transaction are built once: to build one takes as long as to run it.
HEADER = select(*(STUDY.c[name] for name in Header._fields)).where(STUDY.c.id == bindparam("study"))
LOCKED = HEADER.with_for_update()
# Never its id, even to the same: a database would look whether anything refers to it.
CHANGING = ("closed", "clock", "seq", "moment", "tickets", "revision", "certified")
CHANGE = update(STUDY).where(STUDY.c.id == bindparam("study")).values({name: bindparam(name) for name in CHANGING})


def header(connection: Connection, study: int, *, lock: bool) -> Header:
    """The row of a study, without what it was created with; locked, until the transaction ends, if it is to be written to."""
    return Header(*connection.execute(LOCKED if lock else HEADER, {"study": study}).one())


class Turn:
    """What a transaction does with a study.

    Attributes
    ----------
    row : Header
        The study as it is now, what this transaction has changed included.
    now : float
        The time. Where the clock was set back, the latest time that was ever read.
    """

    def __init__(self, connection: Connection, row: Header, state: State) -> None:
        self.connection: Connection = connection
        self.row: Header = row
        self.state: State = state
        self.before: Header = row
        self.now: float = max(time.time(), row.clock)

    @property
    def explorer(self) -> Explorer:
        return self.state.explorer

    def open(self) -> None:
        if self.row.closed is not None:
            raise StudyError(f"Study {self.row.name!r} is closed: nothing more is asked or told. It can be read, and corrected.")

    def found(self, arm: Any, values: Any) -> Entries:
        """Values of an arm, or a score of a (candidate, item) pair, checked."""
        problem, pool = self.explorer.problem, self.explorer.pool
        if pool is None:
            i, data = values_of(problem, arm, values)
            return Entries(np.full(len(data), i), np.full(len(data), -1), data)
        i, place = candidate_and_place(problem, pool, arm)
        return Entries.of([(i, int(pool.order[place]), self._value(i, values), None)])

    def name(self, arm: int, item: int | None) -> str:
        """What an entry is about, in words."""
        pool, name = self.explorer.pool, self.explorer.problem.names[arm]
        return f"arm {name!r}" if pool is None or item is None else f"candidate {name!r} on item {pool.names[item]!r}"

    # -- asking ---------------------------------------------------------------------------------------------------------

    def ask(self, n: int, worker: str | None, lease: float | None) -> list[Any]:
        self.open()
        if self.explorer.done:
            return []
        seconds = self.row.lease if lease is None else lease
        given, last = tickets.give(
            self.connection, self.row.id, self.explorer, n, worker, self.now, seconds, self.row.tickets
        )  # fmt: skip
        self.row = self.row._replace(tickets=last)
        return given

    # -- telling --------------------------------------------------------------------------------------------------------

    def tell(self, answers: Sequence[tuple[tuple[int, str], Any]], who: str) -> None:
        """Answers to tickets, as one moment: all of them, or none."""
        found = tickets.find(self.connection, self.row.id, [given for given, _ in answers])
        new: dict[int, float] = {}
        for (number, code), value in answers:
            row = found[number]
            x = self._value(row.arm, value)
            first = new.get(number)
            if row.seq is not None:
                self._agree(f"ticket {number}-{code}", row, x)
            elif first is not None and first != x:
                raise ConflictError(_twice(f"ticket {number}-{code}", first, x), key="ticket", value=first)
            else:
                new[number] = x
        if not new:
            return
        self.open()
        rows = [(found[number].arm, found[number].item, x, number) for number, x in new.items()]
        if self.explorer.pool is not None:
            rows = self._scores(rows)
        entries = Entries.of(rows)
        self.state.expect(entries)
        self._append(entries, who)

    def _value(self, arm: int, value: Any) -> float:
        data = self.explorer.problem.arms[arm].check(value)
        if len(data) != 1:
            raise ObservationError(
                f"One value is wanted, and {short(value)} has {len(data)}: tell one of them, and record the others "
                "without a ticket. Nothing was recorded.",
                arm=self.explorer.problem.names[arm],
            )
        return float(data[0])

    def _agree(self, what: str, row: Any, x: float) -> None:
        """It was answered before. The same value, or the one that was put right, is no news."""
        entry = log.one(self.connection, self.row.id, row.seq)
        assert entry is not None
        if x != entry.value and x != log.latest(self.connection, self.row.id, row.seq):
            raise ConflictError(
                _twice(what, entry.value, x), key="ticket", arm=self.explorer.problem.names[row.arm], value=entry.value
            )

    def _scores(self, rows: list[tuple[int, int | None, float, int]]) -> list[tuple[int, int | None, float, int]]:
        """Two tickets about the same score must agree, and one of them is kept."""
        seen: dict[tuple[int, int | None], float] = {}
        kept: list[tuple[int, int | None, float, int]] = []
        for arm, item, x, number in rows:
            first = seen.setdefault((arm, item), x)
            if first != x:
                raise ConflictError(_twice(self.name(arm, item), first, x), key="ticket", value=first)
            if len(seen) > len(kept):
                kept.append((arm, item, x, number))
        return kept

    def record(self, arm: Any, values: Any, key: str | None, who: str) -> None:
        """Observations that nobody asked for, as one moment."""
        entries = self.found(arm, values)
        self.record_entries(entries, key, log.digest_of(entries), who)

    def record_entries(self, entries: Entries, key: str | None, digest: str, who: str, note: str | None = None) -> int:
        """Entries under a key: how many are new; none if they were recorded before."""
        if key is not None and (before := log.of_key(self.connection, self.row.id, key)) is not None:
            if before.digest == digest:
                return 0
            raise ConflictError(
                f"The key {short(key)} was used before, for other observations, which stay: give these a key of their own. "
                "Nothing was recorded.",
                key="key",
            )
        self.open()
        if self.explorer.pool is not None:
            entries = self._unknown(entries)
            self.explorer.expect([(row.arm, row.item) for row in tickets.waiting(self.connection, self.row.id)])
        self._append(entries, who, key=key, digest=digest, note=note)
        return len(entries)

    def _unknown(self, entries: Entries) -> Entries:
        """Those that are not known; a score that is known must agree."""
        pool, board = self.explorer.pool, self.explorer.record
        assert pool is not None
        assert isinstance(board, Board)
        seen: dict[tuple[int, int], float] = {}
        new = []
        for at, (i, item, x) in enumerate(
            zip(entries.arms.tolist(), entries.items.tolist(), entries.values.tolist(), strict=True)
        ):
            before = seen.get((i, item), board.known(i, int(pool.places[item])))
            if before is None:
                seen[i, item] = x
                new.append(at)
            elif before != x:
                raise ConflictError(_twice(self.name(i, item), before, x), arm=self.explorer.problem.names[i], value=before)
        moments = entries.moments
        return Entries(
            entries.arms[new], entries.items[new], entries.values[new], None, None if moments is None else moments[new]
        )

    def _append(self, entries: Entries, who: str, **more: Any) -> None:
        """Tell the explorer, and write it down: all of it is one moment, or as many as ``entries.moments`` has."""
        if not len(entries):
            return
        row, at, first = self.row, self.row.moment + 1, self.row.seq + 1
        marks = np.zeros(len(entries), dtype=np.int64) if entries.moments is None else entries.moments
        numbers = at + np.cumsum(np.diff(marks, prepend=marks[0]) != 0)
        whole = Entries(entries.arms, entries.items, entries.values, entries.tickets, numbers)
        was = self.explorer.certified
        found = self.state.judge(whole)
        last = int(numbers[-1])
        for moment in range(at, last + 1):
            log.add_moment(self.connection, row.id, moment, who, self.now, **(more if moment == at else {}))
        log.add(self.connection, row.id, numbers, first, whole)
        self.row = row._replace(seq=row.seq + len(entries), moment=last)
        self.state.seq, self.state.moment = self.row.seq, last
        self._settle(whole, first)
        if not was and found is not None:
            self.certify(found)
        self.state.save(self.connection, row.id)

    def _settle(self, entries: Entries, first: int) -> None:
        if entries.pooled:
            scores = zip(entries.arms.tolist(), entries.items.tolist(), range(first, first + len(entries)), strict=True)
            tickets.settle_scores(self.connection, self.row.id, list(scores))
        elif entries.tickets is not None:
            answered = zip(entries.tickets.tolist(), range(first, first + len(entries)), strict=True)
            tickets.settle(self.connection, self.row.id, [(number, seq) for number, seq in answered if number >= 0])

    def certify(self, moment: int) -> None:
        """This moment certified the study: write down what it says."""
        content = json.dumps(self.certificate().to_dict(), allow_nan=False)
        self.row = self.row._replace(certified=moment)
        self.connection.execute(
            insert(schema.certificate).values(study=self.row.id, revision=self.row.revision, moment=moment, content=content)
        )

    def certificate(self) -> Certificate:
        """What is certain, and how many entries were corrected."""
        certificate = self.explorer.certificate()
        if not self.row.revision:
            return certificate
        return replace(certificate, corrected=log.count_corrected(self.connection, self.row.id))

    # -- correcting -------------------------------------------------------------------------------------------------------

    def correct(self, seq: int, value: Any, why: str, who: str, key: str) -> int:
        """A new entry whose value holds instead of that of an older one, from the moment of that one on; its number."""
        if log.of_key(self.connection, self.row.id, key) is not None:  # tried again
            return self.row.seq
        entry = log.one(self.connection, self.row.id, seq) if seq <= self.row.seq else None
        if entry is None:
            raise StudyError(f"There is no entry {seq}: history() lists them all. Nothing was recorded.", key="entry")
        if entry.corrects is not None:
            entry = log.one(self.connection, self.row.id, entry.corrects)
            assert entry is not None
        x = self._value(entry.arm, value)
        latest = log.latest(self.connection, self.row.id, entry.seq)
        if x == (entry.value if latest is None else latest):
            raise StudyError(f"Entry {entry.seq} says {x:g} already. Nothing was recorded.", key="value")
        row = self.row
        at, last = row.moment + 1, row.seq + 1
        log.add_moment(self.connection, row.id, at, who, self.now, key=key, note=why)
        self.connection.execute(
            insert(schema.observation).values(
                study=row.id, seq=last, moment=at, arm=entry.arm, item=entry.item, value=x, ticket=None, corrects=entry.seq
            )
        )
        self.row = row._replace(seq=last, moment=at, revision=row.revision + 1, certified=None)
        before = row.certified if row.certified is not None and row.certified < entry.moment else None
        found = self._again(entry.moment, before)
        if found is not None:
            self.certify(found)
        self.state.save(self.connection, row.id, anyway=True)
        return last

    def _again(self, moment: int, certified: int | None) -> int | None:
        """The explorer anew, as if the right value had been told at this moment; the moment that certifies the study."""
        entries = log.read(self.connection, self.row.id, 0, self.row.seq, self.row.revision)
        assert entries.moments is not None
        self.state = State.blank(self.connection, self.row)
        cut = int(np.searchsorted(entries.moments, moment))
        self.state.replay(entries.part(slice(0, cut)), certified)
        found = self.state.judge_again(entries.part(slice(cut, len(entries))))
        self.state.seq, self.state.moment = self.row.seq, self.row.moment
        return certified if certified is not None else found

    # -- the end ----------------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Write down what has changed of the study itself."""
        changed = {
            name: value for name, value, before in zip(Header._fields, self.row, self.before, strict=True) if value != before
        }
        if changed or self.now > self.row.clock + 1.0:
            row = self.row._replace(clock=self.now)
            self.connection.execute(CHANGE, {"study": row.id, **{name: getattr(row, name) for name in CHANGING}})


def _twice(what: str, first: float, x: float) -> str:
    return f"The value of {what} is {first!r}, and was told again as {x!r}: the first one stays. Nothing was recorded."
