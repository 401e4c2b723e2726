"""Tickets: who was asked to sample what, until when, and what came of it.

A ticket that has expired is not lost: it may be given out again, under another number. Both may be answered, and both answers
count: they are draws of the same arm. On a pool the two are about the same score, which is one number: the second answer must
agree.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, insert, select, update

from ...checks import entries, short
from ...errors import StudyError
from ...explorer import Explorer
from . import schema

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is taken for another
CODE = 4
SOME = 500  # tickets that a statement names

TICKET = schema.ticket


# Statements of every transaction are built once: to build one takes as long as to run it.
ONE = select(TICKET).where(TICKET.c.study == bindparam("study"), TICKET.c.number == bindparam("number"))
OF_STATE = TICKET.c.study == bindparam("study"), TICKET.c.state == bindparam("state")
WAITING = select(TICKET).where(*OF_STATE).order_by(TICKET.c.number)
COUNT = select(func.count(), func.count().filter(TICKET.c.expires <= bindparam("now"))).select_from(TICKET).where(*OF_STATE)
GIVE = insert(TICKET)
ANSWERED = (
    update(TICKET)
    .where(TICKET.c.study == bindparam("a_study"), TICKET.c.number == bindparam("a_number"))
    .values(state=schema.TOLD, seq=bindparam("a_seq"))
)
SCORED = (
    update(TICKET)
    .where(
        TICKET.c.study == bindparam("a_study"), TICKET.c.arm == bindparam("an_arm"), TICKET.c.item == bindparam("an_item"),
        TICKET.c.seq.is_(None),
    )
    .values(state=schema.TOLD, seq=bindparam("a_seq"))
)  # fmt: skip


@dataclass(frozen=True)
class Ticket:
    """A request for one observation.

    Attributes
    ----------
    id : str
        What the answer is told by, such as ``"17-kq3f"``.
    arm : name
        The arm to sample, or the candidate to evaluate, as the study calls it.
    index : int
        The position of the arm.
    item : name or None
        On a pool, what the candidate is to be evaluated on.
    worker : str or None
        Who asked.
    expires : datetime
        When it may be given to somebody else. An answer that comes later counts all the same.
    """

    id: str
    arm: Any
    index: int
    item: Any
    worker: str | None
    expires: datetime

    @property
    def number(self) -> int:
        """The number in front of its id: tickets are numbered in the order in which they were asked for."""
        return int(self.id.partition("-")[0])

    @classmethod
    def of(cls, row: Any, explorer: Explorer) -> Ticket:
        pool = explorer.pool
        return cls(
            id=f"{row.number}-{row.code}",
            arm=explorer.problem.names[row.arm],
            index=row.arm,
            item=None if pool is None else pool.names[row.item],
            worker=row.worker,
            expires=datetime.fromtimestamp(row.expires, UTC),
        )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        item = None if self.item is None else str(self.item)
        return {**vars(self), "arm": str(self.arm), "item": item, "expires": self.expires.isoformat()}


@dataclass(frozen=True)
class Given:
    """A ticket as it is in the table."""

    number: int
    code: str
    arm: int
    item: int | None
    worker: str | None
    expires: float


def number_of(given: object) -> tuple[int, str]:
    """The number and the letters of a ticket's id."""
    text = given.id if isinstance(given, Ticket) else given
    if isinstance(text, str):
        number, _, code = text.strip().lower().partition("-")
        if number.isascii() and number.isdigit() and len(number) < 19 and code:
            return int(number), code
    raise StudyError(f"A ticket is what ask gave, or its id, such as '17-kq3f', not {short(given)}.", key="ticket")


def numbers_of(given: object) -> list[tuple[int, str]]:
    """Of a list of tickets."""
    listed = None if isinstance(given, (str, Mapping)) else entries(given)
    if listed is None:
        raise StudyError(f"Give a list of tickets, or of their ids, not {short(given)}.", key="given")
    return [number_of(one) for one in listed]


def find(connection: Connection, study: int, wanted: Iterable[tuple[int, str]]) -> dict[int, Row[Any]]:
    """The tickets of these numbers, all of which must be there."""
    codes = dict(wanted)
    numbers, found = list(codes), dict[int, Row[Any]]()
    if len(numbers) == 1:
        found = {row.number: row for row in connection.execute(ONE, {"study": study, "number": numbers[0]})}
        numbers = []
    for start in range(0, len(numbers), SOME):
        some = TICKET.c.number.in_(numbers[start : start + SOME])
        found |= {row.number: row for row in connection.execute(select(TICKET).where(TICKET.c.study == study, some))}
    for number, code in codes.items():
        if number not in found or found[number].code != code:
            raise StudyError(
                f"There is no ticket '{number}-{code}' in this study: look at its letters, or record the value without a ticket. "
                "Nothing was recorded.",
                key="ticket",
            )
    return found


def waiting(connection: Connection, study: int) -> Sequence[Row[Any]]:
    """The open tickets."""
    return connection.execute(WAITING, {"study": study, "state": schema.OPEN}).all()


def count(connection: Connection, study: int, now: float) -> tuple[int, int]:
    """How many tickets are open, and how many of them have expired."""
    found = connection.execute(COUNT, {"study": study, "state": schema.OPEN, "now": now}).one()
    return int(found[0]), int(found[1])


def pending(rows: Iterable[Any], explorer: Explorer) -> Any:
    """What is on its way, as ``Explorer.ask`` takes it."""
    if explorer.pool is not None:
        return [(row.arm, row.item) for row in rows]
    return Counter(row.arm for row in rows)


def give(
    connection: Connection, study: int, explorer: Explorer, n: int, worker: str | None, now: float, lease: float, last: int
) -> tuple[list[Any], int]:
    """Tickets for a worker, n at most: its own that are open, and then new ones; and the number of the last ticket there is."""
    open_ = waiting(connection, study)
    own = [row for row in open_ if worker is not None and row.worker == worker][:n]
    kept = {row.number for row in own}
    if own:
        _update(connection, study, kept, expires=now + lease)
    again = [Given(row.number, row.code, row.arm, row.item, worker, now + lease) for row in own]
    live, expired = [], dict[tuple[int, int | None], list[int]]()
    for row in open_:
        if row.number in kept or row.expires > now:
            live.append(row)
        else:
            expired.setdefault((row.arm, row.item), []).append(row.number)
    if n == len(own):
        return list(again), last
    asked = explorer.ask(n - len(own), pending(live, explorer))
    wanted: list[tuple[int, int | None]] = asked if explorer.pool is not None else [(arm, None) for arm in asked]
    passed_on = [expired[pair].pop(0) for pair in wanted if expired.get(pair)]
    if passed_on:
        _update(connection, study, passed_on, state=schema.GIVEN_AGAIN)
    new = [
        Given(number, "".join(secrets.choice(LETTERS) for _ in range(CODE)), arm, item, worker, now + lease)
        for number, (arm, item) in enumerate(wanted, last + 1)
    ]
    if new:
        connection.execute(GIVE, [{**vars(one), "study": study, "asked": now, "state": schema.OPEN, "seq": None} for one in new])
    return [*again, *new], last + len(new)


def renew(connection: Connection, study: int, numbers: Sequence[int], expires: float) -> None:
    """Somebody still works on these."""
    _update(connection, study, numbers, expires=expires)


def release(connection: Connection, study: int, numbers: Sequence[int], now: float) -> None:
    """Nobody works on these any more: they may be given out again."""
    for start in range(0, len(numbers), SOME):
        some = TICKET.c.number.in_(numbers[start : start + SOME])
        still = (TICKET.c.study == study) & (TICKET.c.state == schema.OPEN) & some
        connection.execute(update(TICKET).where(still).values(expires=now, worker=None))


def settle(connection: Connection, study: int, answers: Sequence[tuple[int, int]]) -> None:
    """Tickets, by number, that were answered by an entry."""
    if answers:
        connection.execute(ANSWERED, [{"a_study": study, "a_number": number, "a_seq": seq} for number, seq in answers])


def settle_scores(connection: Connection, study: int, scores: Sequence[tuple[int, int, int]]) -> None:
    """All tickets about these scores, by candidate, item and the entry that has the score."""
    rows = [{"a_study": study, "an_arm": arm, "an_item": item, "a_seq": seq} for arm, item, seq in scores]
    connection.execute(SCORED, rows)


def _update(connection: Connection, study: int, numbers: Iterable[int], **values: Any) -> None:
    listed = list(numbers)
    for start in range(0, len(listed), SOME):
        some = TICKET.c.number.in_(listed[start : start + SOME])
        connection.execute(update(TICKET).where(TICKET.c.study == study, some).values(**values))
