"""Results that outlive the process: one SQLite file, a row a run."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ..checks import file as check_file
from ..errors import SettingError
from ..problems.base import Problem
from .decisions import Decision, Known, text_of
from .trials import Chunk

APPLICATION = 0x53755069  # marks the file as one of these
VERSION = 1
PATIENCE = 60  # seconds to wait for another process that writes to the file

SCHEMA = """
CREATE TABLE cells (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, name TEXT NOT NULL) STRICT;
CREATE TABLE runs (
    cell INTEGER NOT NULL REFERENCES cells (id),
    run INTEGER NOT NULL,
    samples INTEGER NOT NULL,
    certified INTEGER NOT NULL,
    correct INTEGER NOT NULL,
    decision TEXT NOT NULL,
    PRIMARY KEY (cell, run)
) STRICT, WITHOUT ROWID;
"""

# Where it is not the number of samples; a table of its own, since files from before there were costs have none.
COSTS = """
CREATE TABLE IF NOT EXISTS costs (cell INTEGER NOT NULL, run INTEGER NOT NULL, cost REAL NOT NULL, PRIMARY KEY (cell, run))
STRICT, WITHOUT ROWID
"""

Row = tuple[int, int, bool, bool, float, Decision]


class Store:
    """Keeps results by the fingerprint of all that they depend on, and by run."""

    path: Path

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection
        self._rows: list[tuple[int, int, int, int, int, str]] = []
        self._costs: list[tuple[int, int, float]] = []

    @classmethod
    @contextmanager
    def open(cls, path: str | os.PathLike[str]) -> Iterator[Store]:
        """The store in this file, which is created if there is none; refuses any other file."""
        file = check_file(path)
        if not file.parent.is_dir():
            raise SettingError(f"{file}: there is no folder {file.parent} for the store; create it first.")
        if file.exists() and not file.is_file():
            raise SettingError(f"{file}: the store must be a file.")
        try:
            with closing(sqlite3.connect(file, timeout=PATIENCE, isolation_level=None)) as connection:
                store = cls(file, connection)
                store._begin()
                try:
                    yield store
                finally:
                    store.flush()
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
                raise _foreign(file) from None
            raise SettingError(
                f"{file}: the store cannot be used ({error}); check your rights there and the room on the disk."
            ) from error

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        with self._connection:
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            (application,) = self._connection.execute("PRAGMA application_id").fetchone()
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if tables == 0 and (application, version) == (0, 0):
                for statement in filter(str.strip, SCHEMA.split(";")):
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
                self._connection.execute(f"PRAGMA user_version = {VERSION}")
            elif application != APPLICATION:
                raise _foreign(self.path)
            elif version != VERSION:
                raise SettingError(
                    f"{self.path}: this store has version {version}, but this surepick reads version {VERSION}; "
                    "use the surepick that wrote it, or another file."
                )
            self._connection.execute(COSTS)

    def cell(self, fingerprint: str, name: str) -> int:
        """The number of a cell here. The name is for people who read the file."""
        add = "INSERT INTO cells (fingerprint, name) VALUES (?, ?) ON CONFLICT DO NOTHING"
        self._connection.execute(add, (fingerprint, name))
        found = self._connection.execute("SELECT id FROM cells WHERE fingerprint = ?", (fingerprint,)).fetchone()
        return int(found[0])

    def rows(self, cell: int, runs: int, problem: Problem) -> Iterator[Row]:
        """Run, samples, certified, correct, cost and decision of the first runs, as far as they are there."""
        ask = """
            SELECT run, samples, certified, correct, coalesce(cost, samples), decision
            FROM runs LEFT JOIN costs USING (cell, run) WHERE cell = ? AND run < ?
        """
        known = Known()
        for run, samples, certified, correct, cost, decision in self._connection.execute(ask, (cell, runs)):
            yield run, samples, bool(certified), bool(correct), float(cost), known.read(decision, problem)

    def add(self, cell: int, chunk: Chunk, problem: Problem) -> None:
        """Keep the results of a chunk; they are on the disk after :meth:`flush`."""
        texts = [text_of(decision, problem) for decision in chunk.decisions]
        columns = (chunk.samples.tolist(), chunk.certified.tolist(), chunk.correct.tolist(), texts)
        self._rows += [(cell, run, *row) for run, *row in zip(chunk.runs, *columns, strict=True)]
        if problem.priced:
            self._costs += [(cell, run, cost) for run, cost in zip(chunk.runs, chunk.costs.tolist(), strict=True)]

    def flush(self) -> None:
        """Put everything on the disk."""
        if self._rows:
            self._connection.execute("BEGIN IMMEDIATE")
            with self._connection:
                self._connection.executemany("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?)", self._rows)
                self._connection.executemany("INSERT OR IGNORE INTO costs VALUES (?, ?, ?)", self._costs)
            self._rows, self._costs = [], []


def _foreign(file: Path) -> SettingError:
    return SettingError(f"{file}: this file is not a store of simulation results; give another path.")
