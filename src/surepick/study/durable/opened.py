"""An opened study: its database, its explorer, and transactions on it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Self, TypeVar

from sqlalchemy import Connection

from ...errors import StudyError
from .database import Database
from .state import State
from .turn import Turn, header

T = TypeVar("T")


class Opened:
    """What all methods of a study work with.

    Attributes
    ----------
    name : str
    who : str
        In whose name values are told.
    """

    def __init__(self, database: Database, id: int, name: str, who: str) -> None:
        self._database: Database = database
        self._id: int = id
        self.name: str = name
        self.who: str = who
        self._state: State | None = None
        self._behind: bool = False  # a transaction has failed: the explorer may know more than the log
        self._lock: threading.RLock = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Let go of the database. The study goes on when it is used again, here or elsewhere."""
        self._database.close()

    def __getstate__(self) -> dict[str, Any]:
        if self._database.memory:
            raise StudyError("A study in memory is in this process only; give it a file to share it with others.")
        return {"url": self._database.url, "id": self._id, "name": self.name, "who": self.who}

    def __setstate__(self, state: dict[str, Any]) -> None:
        url = state["url"].render_as_string(hide_password=False)
        self.__init__(Database(url), state["id"], state["name"], state["who"])  # type: ignore[misc]

    @property
    def where(self) -> str:
        """The database, as messages call it: a path, or an address without its password."""
        return self._database.where

    def __repr__(self) -> str:
        return f"<Study {self.name!r} in {self._database.where}>"

    def _do(self, step: Callable[[Turn], T], *, writing: bool = True, safe: bool = True) -> T:
        """A step with this study, in one transaction."""

        def attempt(connection: Connection) -> T:
            row = header(connection, self._id, lock=writing)
            state, behind = self._state, self._behind
            self._behind = True
            if state is None or behind or state.revision != row.revision or state.seq > row.seq:
                state = self._state = State.load(connection, row)
            else:
                state.catch_up(connection, row)
            turn = Turn(connection, row, state)
            found = step(turn)
            if writing:
                turn.finish()
            self._state = turn.state
            return found

        with self._lock:
            found = self._database.do(attempt, writing=writing, safe=safe)
            self._behind = False
            return found
