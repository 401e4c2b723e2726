"""The file of results: a CSV table with a row a score, each on the disk before anything is made of it.

::

    candidate,item,score,seconds,tries,note,pool
    amber,q7,1,0.52,1,,0/5f1c09ab/90aa31c4/0.05/0/6b0c6d0e/2f7a1f8e
    basalt,q7,0,30.0,3,failed: no answer within 30 s,0/5f1c09ab/90aa31c4/0.05/0/6b0c6d0e/2f7a1f8e

Names are as they are, in quotes where need be. The last column is the mark (``marks``): of which pool a score is, which is the
same in all rows, for which question it was taken, and by which scorer. It is last so that a line that was cut off by a crash
lacks a part of it.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from ..errors import StudyError
from ..problems.base import Problem
from ..settings import Settings
from .marks import Mark, changes, mark, question
from .results_rows import HEADER, Reader, Row

try:
    import fcntl
except ImportError:  # Windows has none
    fcntl = None  # type: ignore[assignment]

PLAIN = re.compile(r"[\w./:;()\[\]{}'<>=+*%&$#@!?|~^-][\w ./:;()\[\]{}'<>=+*%&$#@!?|~^-]*(?<! )", re.ASCII)


class ResultsFile(Reader):
    """A file of results that is open for this run alone.

    Attributes
    ----------
    rows : list of Row
        What was in the file, in the order in which it was told.
    changes : str
        How the question of earlier runs differs from that of this one; "" if it does not.
    needless : int
        Scores of the file that came when the explorer was certain already.
    taken_over : int
        Scores of elsewhere that were put there when it was opened.
    """

    def __init__(
        self, path: Path, problem: Problem, settings: Settings | None = None, scorer: str = "", *, same_scorer: bool = False
    ) -> None:
        asked = "" if settings is None else question(problem, settings)
        super().__init__(path, problem, Mark(mark(problem), asked, scorer), same_scorer=same_scorer)
        self.needless: int = 0
        self.taken_over: int = 0
        try:
            self.descriptor: int = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            self._cannot("written", error)
        try:
            self._lock()
            self.rows: list[Row] = self._read()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Others may use the file from now on."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise StudyError(
                    f"{self.path}: another run is writing to this file; wait until it has ended, or name another file."
                ) from None
            # else a disk that knows no locks

    def _cannot(self, what: str, error: OSError) -> NoReturn:
        raise StudyError(f"{self.path}: cannot be {what} ({error.strerror or error}); check the path and your rights.") from None

    # -- reading -------------------------------------------------------------------------------------------------------

    def _read(self) -> list[Row]:
        with open(os.dup(self.descriptor), "rb") as source:
            source.seek(0)
            content = source.read()
        rows = self.parse(content)
        self.changes: str = changes((found.question for found in self.marks), self.mark.question)
        if self.unended:
            self._append(b"\n")
        if self.torn:  # only now: what is not understood is left alone
            os.ftruncate(self.descriptor, self.whole)
        if self.whole == 0:
            self._append(HEADER)
            _sync_folder(self.path)
        return rows

    # -- writing -------------------------------------------------------------------------------------------------------

    def add(self, rows: Iterable[Row]) -> None:
        """Append rows; when this returns they are on the disk."""
        self._append("".join(map(self._line, rows)).encode())

    def _line(self, row: Row) -> str:
        pool = self.problem.pool
        assert pool is not None
        return ",".join(
            [
                _quoted(str(self.problem.names[row.candidate])),
                _quoted(str(pool.names[row.item])),
                repr(row.score).removesuffix(".0"),
                "" if row.seconds is None else f"{row.seconds:.3f}",
                str(row.tries),
                _quoted(row.note.encode("utf-8", "replace").decode()),
                _quoted(str(self.mark)),
            ]
        ) + "\n"  # fmt: skip

    def _append(self, data: bytes) -> None:
        before = os.fstat(self.descriptor).st_size
        try:
            while data:
                data = data[os.write(self.descriptor, data) :]
            os.fsync(self.descriptor)
        except OSError as error:
            os.ftruncate(self.descriptor, before)  # a disk that is full takes parts of lines
            raise StudyError(
                f"{self.path}: cannot be written ({error.strerror or error}). What was there before is whole; the same run goes "
                "on from there."
            ) from None


def _quoted(text: str) -> str:
    return text if not text or PLAIN.fullmatch(text) else '"' + text.replace('"', '""') + '"'


def _sync_folder(path: Path) -> None:
    """That there is such a file is on the disk, too."""
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(path.parent, os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
