"""The log of a study: what was told, by whom and when. It is only ever added to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, and_, bindparam, func, insert, select

from ...arms import Floats, Ints
from . import schema

MANY = 2_000  # rows from which on they go by the driver's own way
AT_ONCE = 100_000  # rows that are in memory as Python objects at a time


@dataclass(frozen=True, eq=False)
class Entries:
    """Observations in the order of the log, a column each. ``items`` are the numbers of items, -1 where there is none."""

    arms: Ints
    items: Ints
    values: Floats
    tickets: Ints | None = None  # -1 where nobody asked
    moments: Ints | None = None
    seqs: Ints | None = None

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int | None, float, int | None]]) -> Entries:
        """From arm, item, value and the number of a ticket."""
        arms, items, values, tickets = zip(*rows, strict=True) if rows else ((), (), (), ())
        return cls(
            np.array(arms, dtype=np.int64), _numbers(items), np.array(values, dtype=np.float64), _numbers(tickets)
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.arms)

    def part(self, which: slice) -> Entries:
        columns = (self.arms, self.items, self.values, self.tickets, self.moments, self.seqs)
        return Entries(*(None if column is None else column[which] for column in columns))  # type: ignore[arg-type]

    @property
    def pooled(self) -> bool:
        return len(self) > 0 and bool(self.items[0] >= 0)


def _numbers(column: Sequence[int | None]) -> Ints:
    return np.array([-1 if x is None else x for x in column], dtype=np.int64)


def digest_of(entries: Entries) -> str:
    """Of entries in their order, and of their moments."""
    known = hashlib.sha256()
    for column in (entries.arms, entries.items, entries.values, entries.moments):
        known.update(b"-" if column is None else np.ascontiguousarray(column).tobytes())
    return known.hexdigest()


# -- writing --------------------------------------------------------------------------------------------------------------


ADD_MOMENT = insert(schema.moment)
ADD_ENTRIES = insert(schema.observation)


def add_moment(connection: Connection, study: int, moment: int, who: str, told: float, **more: Any) -> None:
    values = {"study": study, "moment": moment, "who": who, "told": told, "key": None, "digest": None, "note": None, **more}
    connection.execute(ADD_MOMENT, values)


def add(connection: Connection, study: int, moments: Ints, first: int, entries: Entries) -> None:
    """Observations, numbered from ``first`` on."""
    n = len(entries)
    for start in range(0, n, AT_ONCE):
        part = entries.part(slice(start, start + AT_ONCE))
        seqs = range(first + start, first + start + len(part))
        columns = (
            [study] * len(part), seqs, moments[start : start + AT_ONCE].tolist(), part.arms.tolist(), _known(part.items),
            part.values.tolist(), _known(part.tickets) or [None] * len(part), [None] * len(part),
        )  # fmt: skip
        _insert(connection, list(zip(*columns, strict=True)))


def _known(column: Ints | None) -> list[int | None]:
    return [None if x < 0 else x for x in ([] if column is None else column.tolist())]


COLUMNS = ("study", "seq", "moment", "arm", "item", "value", "ticket", "corrects")


def _insert(connection: Connection, rows: list[tuple[Any, ...]]) -> None:
    table, names = schema.observation, ", ".join(COLUMNS)
    if len(rows) < MANY:
        connection.execute(ADD_ENTRIES, [dict(zip(COLUMNS, row, strict=True)) for row in rows])
    elif connection.dialect.name == "sqlite":
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({names}) VALUES ({', '.join('?' * len(COLUMNS))})", rows)
    else:
        cursor: Any = connection.connection.cursor()
        with cursor.copy(f"COPY {table.name} ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


# -- reading --------------------------------------------------------------------------------------------------------------


_O = schema.observation
READ = (
    select(_O.c.seq, _O.c.moment, _O.c.arm, _O.c.item, _O.c.value, _O.c.ticket)
    .where(
        _O.c.study == bindparam("study"), _O.c.seq > bindparam("after"), _O.c.seq <= bindparam("until"), _O.c.corrects.is_(None)
    )
    .order_by(_O.c.seq)
)


def read(connection: Connection, study: int, after: int, until: int, revision: int) -> Entries:
    """The observations after one, each with the value that holds now: corrections stand where what they correct stood."""
    rows = connection.execute(READ, {"study": study, "after": after, "until": until}).all()
    seqs, moments, arms, items, values, tickets = zip(*rows, strict=True) if rows else ((),) * 6
    held = np.array(values, dtype=np.float64)
    numbers = np.array(seqs, dtype=np.int64)
    for seq, value in corrected(connection, study).items() if revision else ():
        at = int(np.searchsorted(numbers, seq))
        if at < len(numbers) and numbers[at] == seq:
            held[at] = value
    return Entries(
        np.array(arms, dtype=np.int64), _numbers(items), held, _numbers(tickets), np.array(moments, dtype=np.int64), numbers
    )


def corrected(connection: Connection, study: int) -> dict[int, float]:
    """The entries that were corrected, and the values that hold instead."""
    table = schema.observation
    rows = connection.execute(
        select(table.c.corrects, table.c.value).where(table.c.study == study, table.c.corrects.isnot(None)).order_by(table.c.seq)
    )
    return {row.corrects: row.value for row in rows}  # the last one holds


def one(connection: Connection, study: int, seq: int) -> Row[Any] | None:
    table = schema.observation
    return connection.execute(select(table).where(table.c.study == study, table.c.seq == seq)).one_or_none()


def latest(connection: Connection, study: int, seq: int) -> float | None:
    """The value that an entry was corrected to last."""
    table = schema.observation
    return connection.execute(
        select(table.c.value).where(table.c.study == study, table.c.corrects == seq).order_by(table.c.seq.desc()).limit(1)
    ).scalar_one_or_none()


def of_key(connection: Connection, study: int, key: str) -> Row[Any] | None:
    table = schema.moment
    return connection.execute(select(table).where(table.c.study == study, table.c.key == key)).one_or_none()


def page(connection: Connection, study: int, after: int, limit: int) -> Iterator[Row[Any]]:
    """Entries with who told them and when, in the order of the log."""
    o, m = schema.observation, schema.moment
    joined = o.join(m, and_(o.c.study == m.c.study, o.c.moment == m.c.moment))
    return iter(
        connection.execute(
            select(o, m.c.who, m.c.told, m.c.key, m.c.note)
            .select_from(joined)
            .where(o.c.study == study, o.c.seq > after)
            .order_by(o.c.seq)
            .limit(limit)
        )
    )


def count_corrected(connection: Connection, study: int) -> int:
    """How many entries have been corrected."""
    table = schema.observation
    return int(connection.execute(select(func.count(table.c.corrects.distinct())).where(table.c.study == study)).scalar_one())
