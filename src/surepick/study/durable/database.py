"""Databases by URL: a SQLite file or a PostgreSQL server, with transactions that are tried again, and errors as sentences.

What is promised. A transaction that writes is on the disk before ``do`` returns, so that neither a killed process nor a power cut
loses it. PostgreSQL sees to that itself. SQLite would, with ``synchronous = FULL``, while it holds its one lock, so that all who
write wait for the disk one after the other; here it commits with ``synchronous = NORMAL``, lets go of the lock, and then the log
(the file ``-wal``) is brought to the disk: several processes wait for one write of the disk together.
"""

from __future__ import annotations

import os
import random
import sqlite3
import sys
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import QueuePool, StaticPool

from ...checks import file, short
from ...errors import StorageError

PATIENCE = 60.0  # seconds to wait for others who write, and for a server that comes back
FIRST = 1.0  # seconds to wait for a server that was never reached
SHORT = 0.0005, 0.004  # seconds between two tries to get SQLite's lock: its own pauses grow to a tenth of a second
PAUSE = 0.25  # seconds between two tries to reach a server
MEMORY = ":memory:"
SHARED = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "fuse.glusterfs", "glusterfs", "lustre", "ceph", "afs", "beegfs"}
NOTHING = "Nothing was recorded, and what was told before is untouched."

T = TypeVar("T")


def address(url: object) -> URL:
    """A URL of a database; a path is that of a SQLite file."""
    if isinstance(url, os.PathLike) or (isinstance(url, str) and "://" not in url):
        return URL.create("sqlite", database=str(file(url, StorageError)))
    if not isinstance(url, str):
        raise StorageError(
            f"A database is given by its URL, such as sqlite:///study.db, or the path of a file, not {short(url)}."
        )
    try:
        made = make_url(url)
    except ArgumentError:
        made = None
    kind = None if made is None else made.drivername.partition("+")[0]
    if made is None or kind not in ("sqlite", "postgresql", "postgres"):
        raise StorageError(
            "A database is a SQLite file, sqlite:///study.db or its path, or a PostgreSQL server, "
            f"postgresql+psycopg://user@host/name, not {short(_shown(made, url))}."
        )
    if kind == "sqlite":
        return made.set(database=made.database or MEMORY)
    return made.set(drivername="postgresql+psycopg") if made.drivername in ("postgres", "postgresql") else made


def _shown(made: URL | None, url: str) -> str:
    """Without its password."""
    return url.split("@")[-1] if made is None else made.render_as_string(hide_password=True)


class Database:
    """A database, opened. Used by one thread at a time; after a fork, and in another process, it is opened anew.

    Attributes
    ----------
    where : str
        What messages call it.
    """

    def __init__(self, url: object, *, create: bool = False) -> None:
        self.url: URL = address(url)
        self.lite: bool = self.url.get_backend_name() == "sqlite"
        self.memory: bool = self.lite and self.url.database == MEMORY
        self.path: Path | None = Path(self.url.database or "") if self.lite and not self.memory else None
        self.where: str = str(self.path) if self.path is not None else _shown(self.url, "")
        if self.path is not None:
            _check_file(self.path, create)
        self.engine: Engine = self._engine()
        self._pid: int = os.getpid()
        self._end: Any = weakref.finalize(self, _dispose, self.engine, self._pid)

    def _engine(self) -> Engine:
        if not self.lite:
            try:
                return create_engine(self.url, poolclass=QueuePool, pool_size=1, max_overflow=4)
            except (ModuleNotFoundError, NoSuchModuleError):
                raise StorageError(
                    "PostgreSQL needs the package psycopg, which comes with the extra: pip install 'surepick[postgres]'."
                ) from None
        name = MEMORY if self.path is None else f"{self.path.resolve().as_uri()}?mode=rwc"

        def connect() -> sqlite3.Connection:
            return sqlite3.connect(name, uri=name != MEMORY, timeout=0.0, isolation_level=None, check_same_thread=False)

        engine = create_engine("sqlite://", creator=connect, poolclass=StaticPool if self.memory else QueuePool)
        event.listen(engine, "connect", _set_up)
        return engine

    @property
    def first(self) -> float:
        """Seconds to wait for it at first: an address may be wrong, and a file is there or is not."""
        return PATIENCE if self.lite else FIRST

    def set_up(self) -> None:
        """A new SQLite file gets a write-ahead log, which it keeps: readers do not wait, and a torn write is noticed."""
        if self.path is None or (self.path.exists() and self.path.stat().st_size):
            return
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with self.engine.connect() as connection:
                    connection.exec_driver_sql("PRAGMA journal_mode = WAL")
                return
            except DBAPIError as error:  # others make the same file
                if not _passing(error) or time.monotonic() >= until:
                    raise self._sentence(error) from error
            time.sleep(random.uniform(*SHORT))

    # -- transactions -------------------------------------------------------------------------------------------------

    def do(self, step: Callable[[Connection], T], *, writing: bool = True, patience: float | None = None, safe: bool = True) -> T:
        """What a step does within one transaction, which is tried again where others were in the way or a server was gone: a step
        must not matter twice. ``safe``: it is on the disk when this returns."""
        if os.getpid() != self._pid:  # the connections are the parent's
            self.engine.dispose(close=False)
            self.engine, self._pid = self._engine(), os.getpid()
            self._end.detach()
            self._end = weakref.finalize(self, _dispose, self.engine, self._pid)
        until = time.monotonic() + (PATIENCE if patience is None else patience)
        while True:
            try:
                with self.engine.connect() as connection:
                    if not self.lite and not writing:  # all that is read is of one moment
                        connection.execution_options(isolation_level="REPEATABLE READ")
                    with connection.begin():
                        if self.lite:
                            self._begin(connection, writing, until)
                        found = step(connection)
                if writing and safe:
                    self._to_disk()
                return found
            except DBAPIError as error:
                if not _passing(error) or time.monotonic() >= until:
                    raise self._sentence(error) from error
                time.sleep(random.uniform(*SHORT) if self.lite else PAUSE)
            except SQLAlchemyError as error:
                raise StorageError(f"{self.where}: {_first_line(error)}. {NOTHING}") from error

    def _begin(self, connection: Connection, writing: bool, until: float) -> None:
        """SQLite lets one write at a time, and who waits asks again and again: without a detour."""
        driver: Any = connection.connection.driver_connection
        while True:
            try:
                driver.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
                return
            except sqlite3.OperationalError as error:
                if not _busy(error) or time.monotonic() >= until:
                    raise DBAPIError("BEGIN", None, error) from error
            except sqlite3.Error as error:
                raise DBAPIError("BEGIN", None, error) from error
            time.sleep(random.uniform(*SHORT))

    def _to_disk(self) -> None:
        """Bring SQLite's log to the disk. If it is gone, it was put into the file, which is on the disk."""
        if self.path is None:
            return
        try:
            descriptor = os.open(f"{self.path}-wal", os.O_RDWR if os.name == "nt" else os.O_RDONLY)
        except FileNotFoundError:
            return
        try:
            os.fsync(descriptor)
        except OSError as error:
            raise StorageError(
                f"{self.where}: what was just recorded may not be on the disk ({error.strerror}). Look at the disk, and "
                "tell it again when it is in order: what is there already counts once."
            ) from error
        finally:
            os.close(descriptor)

    def same(self, other: Database) -> bool:
        """The two are one."""
        if self.path is not None and other.path is not None:
            return self.path.resolve() == other.path.resolve()
        return not self.lite and self.url == other.url

    def close(self) -> None:
        """Let go of all connections; the next use makes new ones."""
        _dispose(self.engine, self._pid)

    # -- sentences ------------------------------------------------------------------------------------------------------

    def _sentence(self, error: DBAPIError) -> StorageError:
        cause = error.orig
        said = _first_line(cause if cause is not None else error)
        if isinstance(cause, sqlite3.Error):
            name = (getattr(cause, "sqlite_errorname", None) or "").removeprefix("SQLITE_")
            for start, why in _WHY.items():
                if name.startswith(start):
                    return StorageError(f"{self.where}: {why.format(patience=PATIENCE)} {NOTHING}")
            return StorageError(f"{self.where}: the database cannot be used ({said}). {NOTHING}")
        return StorageError(
            f"{self.where}: the server does not do it ({said}); check that it runs, the address and your rights there. {NOTHING}"
        )


_WHY = {
    "NOTADB": "this is no SQLite database; give another file.",
    "READONLY": "the file, or its folder, cannot be written to; look at the rights there, or copy it to where you may write.",
    "CANTOPEN": "the file cannot be opened; look at the path, and at your rights to the file and its folder.",
    "PERM": "the file cannot be opened; look at your rights to the file and its folder.",
    "FULL": "the disk is full; make room there, and do it again.",
    "IOERR": "the disk does not do its work, or is full; look at it, and do it again.",
    "CORRUPT": "the file is damaged; go on with a copy from before.",
    "BUSY": "another program has been writing to it for {patience:g} seconds without an end; end that one, and do it again.",
    "LOCKED": "another program has been writing to it for {patience:g} seconds without an end; end that one, and do it again.",
}


def _dispose(engine: Engine, pid: int) -> None:
    """What a fork has inherited is not its own to close."""
    engine.dispose(close=os.getpid() == pid)


def _set_up(connection: sqlite3.Connection, _: object) -> None:
    for pragma in ("foreign_keys = ON", "synchronous = NORMAL"):
        connection.execute(f"PRAGMA {pragma}")


def _passing(error: DBAPIError) -> bool:
    """It goes by when one waits."""
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return _busy(cause)
    state = getattr(cause, "sqlstate", None)
    if state is None:
        return error.connection_invalidated or type(cause).__name__ == "OperationalError"
    return error.connection_invalidated or state.startswith(("40", "08", "57P")) or state == "55P03"


def _busy(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorname", None) or "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def _check_file(path: Path, create: bool) -> None:
    try:
        there, folder = path.exists(), path.parent.is_dir()
    except OSError as error:  # a name that is too long, or a folder that cannot be looked into
        raise StorageError(f"{path}: this path cannot be used ({error.strerror or error}).") from None
    if path.is_dir():
        raise StorageError(f"{path}: this is a folder; give the path of a file.")
    if not there:
        if not folder:
            raise StorageError(f"{path}: there is no folder {path.parent}; make it first, or check the path.")
        if not create:
            raise StorageError(f"{path}: there is no such file; check the path, or create a study there.")
    kind = shared_kind(path)
    if kind is not None:
        raise StorageError(
            f"{path}: this folder is shared over the network ({kind}), where SQLite cannot keep two computers from writing "
            "at the same time; use a folder of this computer, or PostgreSQL for several computers."
        )


def shared_kind(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str | None:
    """The kind of a file system that several computers share, if the path lies on one; None where nobody says."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
        there = str(path.resolve().parent)
    except OSError:
        return None
    best, kind = "", ""
    for line in lines:
        before, _, after = line.partition(" - ")
        parts = before.split()
        if len(parts) < 5 or not after:
            continue
        point = parts[4].replace("\\040", " ")
        if (there == point or there.startswith(point.rstrip("/") + "/")) and len(point) >= len(best):
            best, kind = point, after.split()[0]
    return kind if kind in SHARED else None
