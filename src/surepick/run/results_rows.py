"""The rows of a file of results: what is in it, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from ..checks import short
from ..errors import SettingError, StudyError
from ..problems.base import Problem
from .marks import Mark, of_pool

TITLES = ("candidate", "item", "score", "seconds", "tries", "note", "pool")
FAILED = "failed"  # how the note of a score begins that stands for a failure

HEADER = ",".join(TITLES).encode() + b"\n"
CELL = re.compile(r'(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(?:,|\Z)')


@dataclass(frozen=True)
class Row:
    """A score: of which candidate on which item, in numbers, and how it came about."""

    candidate: int
    item: int
    score: float
    seconds: float | None = None
    tries: int = 1
    note: str = ""

    @property
    def failed(self) -> bool:
        """It is no score, but what a failure counts as."""
        return self.note.startswith(FAILED)


def named_by_texts(names: Iterable[object], noun: str) -> dict[str, int]:
    """The position of every name as it is written to a file, where each has to mean one."""
    found: dict[str, int] = {}
    for i, name in enumerate(names):
        text = str(name)
        if text in found:
            raise SettingError(f"Two {noun}s are both {text!r} in a file of results: give them names that differ as texts.")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise SettingError(f"The {noun} {short(name)} cannot be written to a file of results: its name is no text.") from None
        found[text] = i
    return found


class Reader:
    """Reads the rows of a file, and writes nothing.

    Attributes
    ----------
    marks : dict
        Of the rows, each with the last line that has it.
    torn : bool
        The last line had been cut off by a crash.
    unended : bool
        It only lacks its end, as some editors leave it.
    whole : int
        So many bytes are lines that are whole.
    """

    def __init__(self, path: Path, problem: Problem, mark: Mark, *, same_scorer: bool = False, earlier: bool = False) -> None:
        assert problem.pool is not None
        self.path: Path = path
        self.problem: Problem = problem
        self.mark: Mark = mark
        self.same_scorer: bool = same_scorer
        self.earlier: bool = earlier  # of other candidates, or of some of them
        self.marks: dict[Mark, int] = {}
        self.candidates: dict[str, int] = named_by_texts(problem.names, "candidate")
        self.items: dict[str, int] = named_by_texts(problem.pool.names, "item")

    def parse(self, content: bytes) -> list[Row]:
        """All rows, or a sentence about what is wrong with one."""
        marked = of_pool(self.mark.pool)
        *before, last = content.rsplit(b"\n", 1)
        last = last.rpartition(b",")[2]
        # a mark with fewer parts than the line before has is cut off
        parts = {str(self.mark).count("/"), *(text[-1000:].rpartition(b",")[2].count(b"/") for text in before)}
        self.unended: bool = bool(marked.fullmatch(last)) and last.count(b"/") in parts and content.count(b'"') % 2 == 0
        whole, lines = _lines(content + b"\n" if self.unended else content)
        self.whole: int = whole
        self.torn: bool = self.whole < len(content)
        if not lines and not HEADER.startswith(content):
            self._refuse_header(content)
        rows: list[Row] = []
        if lines:
            if lines[0][1].removeprefix(b"\xef\xbb\xbf") != HEADER.rstrip(b"\n"):
                self._refuse_header(lines[0][1])
            rows = self._rows(lines[1:])
        if any(found.end() < len(content) for found in marked.finditer(content, whole)):  # a crash cuts off before its end
            self.fail(content.count(b"\n", 0, self.whole) + 1, "a quote is opened, and not closed")
        self._refuse_scorer()
        return rows

    def _refuse_header(self, found: bytes) -> NoReturn:
        text = short(found.partition(b"\n")[0].decode("utf-8", "replace"))
        raise StudyError(
            f"{self.path}, line 1: this is no file of results that evaluate wrote: it begins with {text}, and not with the "
            f"columns {', '.join(TITLES)}. Name another file; nothing was run."
        )

    def _rows(self, lines: list[tuple[int, bytes]]) -> list[Row]:
        found: dict[tuple[int, int], Row] = {}
        for line, content in lines:
            row = self._row(line, content)
            if row is None:
                continue
            before = found.setdefault((row.candidate, row.item), row)
            if before.score != row.score:
                self.fail(line, f"the same candidate and item had the score {before.score:g} before, and here {row.score:g}")
        return list(found.values())

    def _row(self, line: int, content: bytes) -> Row | None:
        try:
            cells = _cells(content.decode("utf-8"))
        except UnicodeDecodeError:
            self.fail(line, "it is not UTF-8 text")
        if cells is None or len(cells) != len(TITLES):
            self.fail(line, f"it should have {len(TITLES)} cells, {', '.join(TITLES)}")
        candidate, item, score, seconds, tries, note, written_for = cells
        known = Mark.read(written_for)
        if known is None or self._shared(known) != self._shared(self.mark):
            self._refuse_mark(line, written_for)
        self.marks[known] = line
        i, j = self.candidates.get(candidate), self.items.get(item)
        if i is None and self.earlier:
            return None
        if i is None or j is None:
            self.fail(line, f"there is no candidate {candidate!r}" if i is None else f"there is no item {item!r}")
        try:
            found = Row(i, j, float(score), float(seconds) if seconds else None, int(tries), note)
        except ValueError:
            self.fail(line, "score, seconds and tries should be numbers")
        if fault := self.problem.arms[i].fault(found.score):
            self.fail(line, fault.rstrip("."))
        return found

    def _shared(self, mark: Mark) -> str:
        """What has to be the same: the candidates need not be, in a file of earlier ones."""
        return mark.pool.rpartition("/")[0] if self.earlier else mark.pool

    def _refuse_mark(self, line: int, found: str) -> NoReturn:
        """Say which of the three differs."""
        known = Mark.read(found)
        if known is None:
            self.fail(line, f"the last cell should be {str(self.mark)!r}")
        theirs, mine = known.pool.split("/"), self.mark.pool.split("/")
        if theirs[0] != mine[0]:
            what = f"a pool of seed {theirs[0]}, and this one has seed {mine[0]}"
        else:
            noun = "items" if theirs[1] != mine[1] else "candidates"
            what = f"other {noun}, or of the same ones in another order"
        raise StudyError(
            f"{self.path}, line {line}: the results are those of {what}. Scores count on one random order of the same items: "
            "restore the study, or name another file and begin anew. Nothing was run."
        )

    def _refuse_scorer(self) -> None:
        """Scores of another scorer than the last one."""
        line, before = max(((line, known.scorer) for known, line in self.marks.items() if known.scorer), default=(0, ""))
        if before and self.mark.scorer and before != self.mark.scorer and not self.same_scorer:
            raise StudyError(
                f"{self.path}, line {line}: this score was made by another --command. Scores of two scorers do not mix: restore "
                "the command, or name another file with --results and begin anew; if it gives the same scores as before, say "
                "--same-scorer. Nothing was run.",
                key="command",
            )

    def fail(self, line: int, what: str) -> NoReturn:
        """Something is wrong with a line."""
        raise StudyError(f"{self.path}, line {line}: {what}. Mend or delete the line; nothing was run.")


def _lines(content: bytes) -> tuple[int, list[tuple[int, bytes]]]:
    """The lines that are whole, each with its number, and where they end. A line goes on while a quote is open."""
    found: list[tuple[int, bytes]] = []
    begin, at, number, first = 0, 0, 0, 1
    while (end := content.find(b"\n", at)) >= 0:
        at, number = end + 1, number + 1
        line = content[begin:end]
        if line.count(b'"') % 2 == 0:
            if line.strip():
                found.append((first, line.removesuffix(b"\r")))
            begin, first = at, number + 1
    return begin, found


def _cells(line: str) -> list[str] | None:
    """The cells of a line; None if it is none of a table."""
    found, at = list[str](), 0
    while match := CELL.match(line, at):
        quoted, plain = match.groups()
        found.append(plain if quoted is None else quoted.replace('""', '"'))
        if not match[0].endswith(","):
            return found if match.end() == len(line) else None
        at = match.end()
    return None
