"""A study in another database, with its log, its tickets and its certificates: from a file to a server, or back."""

from __future__ import annotations

from sqlalchemy import Connection, Table, insert, select

from ...errors import StudyError
from . import schema
from .database import Database

ROWS = 10_000  # that are in memory at a time


def copy(source: Connection, study: int, target: Database, name: str) -> None:
    """Copy a study, as it is within the transaction of ``source``, in one transaction of the target."""
    row = source.execute(select(schema.study).where(schema.study.c.id == study)).mappings().one()

    def step(connection: Connection) -> None:
        schema.prepare(connection, target.where)
        there = select(schema.study.c.id).where(schema.study.c.name == name)
        if connection.execute(there).first() is not None:
            raise StudyError(f"{target.where}: there is a study {name!r} already; take another name.", key="name")
        values = {**row, "name": name}
        del values["id"]
        made = connection.execute(insert(schema.study).values(**values)).inserted_primary_key
        assert made is not None
        for table in (schema.moment, schema.observation, schema.ticket, schema.snapshot, schema.certificate):
            _copy(source, study, table, connection, int(made[0]))

    target.do(step)


def _copy(source: Connection, study: int, table: Table, target: Connection, into: int) -> None:
    rows = source.execution_options(yield_per=ROWS).execute(select(table).where(table.c.study == study)).mappings()
    for part in rows.partitions():
        target.execute(insert(table), [{**one, "study": into} for one in part])
