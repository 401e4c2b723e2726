"""The tables of durable studies, and how those of earlier versions are brought up to date.

Tables are only ever added to, but for a study's own row and for tickets. What was observed is the log: ``moment`` and
``observation``. All else that is known of a study is a function of its ``spec`` and of the log, in the order of ``seq``.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    inspect,
    select,
    text,
)  # fmt: skip

from ...errors import StorageError

VERSION = 1
PREFIX = "surepick_"  # one database may hold other tables

TABLES: MetaData = MetaData()

OPEN, TOLD, GIVEN_AGAIN = 0, 1, 2  # states of a ticket

version: Table = Table(f"{PREFIX}version", TABLES, Column("version", Integer, nullable=False))

# spec: the content of a file that Explorer.save writes, of an explorer that was told nothing, with what "auto" stands for.
# seq, moment, tickets, revision: how many observations, moments, tickets and corrections there are. Who writes to any table
# locks this row first, so that a study is written to by one at a time.
study: Table = Table(
    f"{PREFIX}study",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("spec", Text, nullable=False),
    Column("spec_hash", String(64), nullable=False),
    Column("lease", Double, nullable=False),  # seconds until a ticket may be given out again
    Column("created", Double, nullable=False),
    Column("closed", Double),
    Column("clock", Double, nullable=False),  # the latest time that was ever read: a clock that is set back stands still here
    Column("seq", BigInteger, nullable=False),
    Column("moment", BigInteger, nullable=False),
    Column("tickets", BigInteger, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("certified", BigInteger),  # the moment that certified it
)


def _of_study(*more: Column[object] | ForeignKeyConstraint | Index, name: str, rowid: bool = False) -> Table:
    return Table(
        f"{PREFIX}{name}",
        TABLES,
        Column("study", Integer, primary_key=True, autoincrement=False),
        *more,
        ForeignKeyConstraint(["study"], [study.c.id]),
        sqlite_with_rowid=rowid,
    )


# What came in together, from whom and when. key, digest: of a record that is made once, however often it is sent.
moment: Table = _of_study(
    Column("moment", BigInteger, primary_key=True, autoincrement=False),
    Column("who", Text, nullable=False),
    Column("told", Double, nullable=False),
    Column("key", String(200)),
    Column("digest", String(64)),
    Column("note", Text),
    name="moment",
)
Index(
    f"{PREFIX}moment_key", moment.c.study, moment.c.key, unique=True,
    sqlite_where=moment.c.key.isnot(None), postgresql_where=moment.c.key.isnot(None),
)  # fmt: skip

# corrects: the seq of the entry whose value this one replaces, at the moment at which that one was told.
observation: Table = _of_study(
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("moment", BigInteger, nullable=False),
    Column("arm", Integer, nullable=False),
    Column("item", Integer),
    Column("value", Double, nullable=False),
    Column("ticket", BigInteger),
    Column("corrects", BigInteger),
    name="observation",
)
Index(
    f"{PREFIX}observation_ticket", observation.c.study, observation.c.ticket, unique=True,
    sqlite_where=observation.c.ticket.isnot(None), postgresql_where=observation.c.ticket.isnot(None),
)  # fmt: skip
_original_score = observation.c.item.isnot(None) & observation.c.corrects.is_(None)
Index(
    f"{PREFIX}observation_item", observation.c.study, observation.c.arm, observation.c.item, unique=True,
    sqlite_where=_original_score, postgresql_where=_original_score,
)  # fmt: skip
Index(
    f"{PREFIX}observation_corrects", observation.c.study, observation.c.corrects,
    sqlite_where=observation.c.corrects.isnot(None), postgresql_where=observation.c.corrects.isnot(None),
)  # fmt: skip

# code: a few letters that make a ticket's id hard to mistype or to guess. seq: of the observation that answers it.
ticket: Table = _of_study(
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("code", String(16), nullable=False),
    Column("arm", Integer, nullable=False),
    Column("item", Integer),
    Column("worker", Text),
    Column("asked", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("state", SmallInteger, nullable=False),
    Column("seq", BigInteger),
    name="ticket",
    rowid=True,  # else SQLite goes through all tickets to find those that are open, whatever the index
)
Index(f"{PREFIX}ticket_open", ticket.c.study, ticket.c.state, ticket.c.number)
Index(
    f"{PREFIX}ticket_item", ticket.c.study, ticket.c.arm, ticket.c.item,
    sqlite_where=ticket.c.item.isnot(None), postgresql_where=ticket.c.item.isnot(None),
)  # fmt: skip

# An explorer as it was after the moment; of the newest revision only.
snapshot: Table = _of_study(
    Column("moment", BigInteger, primary_key=True, autoincrement=False),
    Column("revision", Integer, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("content", Text, nullable=False),
    name="snapshot",
)

# The certificate that a moment reached, as it was when that moment was told, or after the corrections of a revision.
certificate: Table = _of_study(
    Column("revision", Integer, primary_key=True, autoincrement=False),
    Column("moment", BigInteger, nullable=False),
    Column("content", Text, nullable=False),
    name="certificate",
)

Migration = Callable[[Connection], None]
MIGRATIONS: dict[int, Migration] = {}  # from a version to the next one


def found(connection: Connection) -> int | None:
    """The version of the tables that are there; None if there are none."""
    if not inspect(connection).has_table(version.name):
        return None
    return int(connection.execute(select(version.c.version)).scalar_one())


def prepare(connection: Connection, where: str) -> None:
    """Make the tables, or bring them up to date. Within a transaction that writes."""
    if connection.dialect.name == "postgresql":  # two that come at once
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('surepick'))"))
    there = found(connection)
    if there is None:
        refuse_foreign(connection, where)
        TABLES.create_all(connection)
        connection.execute(version.insert().values(version=VERSION))
        return
    check(there, where)
    for step in range(there, VERSION):
        MIGRATIONS[step](connection)
    if there < VERSION:
        connection.execute(version.update().values(version=VERSION))


def check(there: int, where: str) -> None:
    """Refuse what a newer surepick wrote."""
    if there > VERSION:
        raise StorageError(
            f"{where}: its tables are of version {there}, and this surepick knows version {VERSION}: use a newer surepick."
        )


def refuse_foreign(connection: Connection, where: str) -> None:
    """A file of another program is left alone; a server's database may hold what it likes."""
    if connection.dialect.name == "sqlite" and inspect(connection).get_table_names():
        raise StorageError(f"{where}: this is a database of another program; give another file.")
