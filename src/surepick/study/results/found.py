"""What the reader of a format hands over, and what readers share: cells, texts, and sentences that name what they are about."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np

from ...arms import Floats
from ...checks import nearest, short
from ...errors import SettingError, StudyError

SHOWN = 4  # names that a sentence shows
BOM = b"\xef\xbb\xbf"  # what some editors put in front
LISTED = 12  # scores to choose from that a sentence shows
EMPTY = ("", "nan", "na", "n/a", "null", "none", "-")  # cells without a score


@dataclass(frozen=True)
class Found:
    """Scores of some candidates on some items, NaN where one is missing."""

    table: Floats
    candidates: list[str] | None  # None if the file does not name them
    items: list[str] | None
    metric: str | None  # what the score is called
    files: list[Path]
    notes: list[str] = field(default_factory=list)

    @property
    def named(self) -> bool:
        return self.candidates is not None and self.items is not None


class Column:
    """The scores of one candidate as they are read: one an item, where lines may say it twice but not differently."""

    def __init__(self, path: Path, noun: str, candidate: str) -> None:
        self.path: Path = path
        self.noun: str = noun  # what a line is called
        self.candidate: str = candidate
        self.scores: dict[str, float] = {}
        self.lines: dict[str, int] = {}
        self.again: int = 0  # lines that said what was said before

    def enter(self, item: str, score: float, line: int, hint: str = "") -> None:
        before = self.scores.get(item)
        if before is None:
            self.scores[item], self.lines[item] = score, line
        elif before == score or (math.isnan(before) and math.isnan(score)):
            self.again += 1
        else:
            raise StudyError(
                f"{self.path}, {self.noun} {line}: item {item!r} of {self.candidate!r} has the score {_told(score)} here, and "
                f"{_told(before)} in {self.noun} {self.lines[item]}{hint or '; delete one of the two'}."
            )


def _told(score: float) -> str:
    return "none" if math.isnan(score) else f"{score:g}"


def tabled(columns: dict[str, dict[str, float]], items: list[str]) -> Floats:
    """A row a candidate, NaN where it has no score."""
    at = {item: j for j, item in enumerate(items)}
    table = np.full((len(columns), len(items)), np.nan)
    for i, scores in enumerate(columns.values()):
        table[i, [at[item] for item in scores]] = list(scores.values())
    return table


def as_score(cell: Any) -> float:
    """A cell as a number, NaN if it says that there is none; ValueError with a phrase about what it is otherwise."""
    if type(cell) is str:
        text = cell.strip()
        try:
            x = float(text)
        except ValueError:
            x = math.nan
            low = text.casefold()
            if low in ("true", "false"):
                return float(low == "true")
            if low not in EMPTY:
                hint = "; write decimals with a point" if "," in text else ""
                raise ValueError(f"{short(text)} is not a number{hint}") from None
        if "_" in text or math.isinf(x):
            raise ValueError(f"{short(text)} is not a finite number")
        return x
    if cell is None:
        return math.nan
    if isinstance(cell, (bool, np.bool_, int, float, np.integer, np.floating, Decimal)):
        x = float(cell)
        if math.isinf(x):
            raise ValueError("it is infinite")
        return x
    if isinstance(cell, (list, tuple, np.ndarray)):
        if len(cell) == 1:
            return as_score(cell[0])
        raise ValueError(f"a list of {len(cell)} values is no single score")
    raise ValueError(f"{short(cell)} is not a number")


def listing(names: Iterable[Any], most: int = SHOWN) -> str:
    """The first of some names, and how many more there are."""
    found = [str(name) for name in names]
    more = len(found) - most
    return ", ".join(found[:most]) + (f" and {more:,} more" if more > 0 else "")


def many(count: int, noun: str) -> str:
    """So many of them."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def unknown(name: str, known: Iterable[str]) -> SettingError:
    """A candidate that no file has."""
    there = list(dict.fromkeys(known))
    meant = nearest(name, there)
    hint = f"did you mean {meant!r}?" if meant else f"there are {listing(map(repr, there))}."
    return SettingError(f"No file has a candidate {name!r}; {hint}", key="candidates")


@contextmanager
def opened(path: Path) -> Iterator[BufferedIOBase]:
    """The bytes of a file, unpacked if it ends in .gz; or a sentence about why it cannot be read."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise StudyError(f"{path}: there is no such file; check the path.") from None
    except IsADirectoryError:
        raise StudyError(f"{path}: this is a folder; give a file.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise StudyError(f"{path}: cannot be unpacked ({error}); pack it anew.") from None
    except OSError as error:
        raise StudyError(f"{path}: cannot be read ({error.strerror}).") from None


def json_of(path: Path) -> Any:
    """What a file of JSON holds."""
    try:
        with opened(path) as file:
            return json.loads(file.read().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise StudyError(f"{path}: byte {error.start} is not UTF-8 text; save the file as UTF-8.") from None
    except json.JSONDecodeError as error:
        raise StudyError(f"{path}, line {error.lineno}: not JSON ({error.msg}); the file may be cut off.") from None
    except RecursionError:
        raise StudyError(f"{path}: not JSON that can be read; it is nested too deeply.") from None


def json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Every line that is not empty, with its number; or the entries of a list, as the harness wrote until June 2024."""
    with opened(path) as file:
        for number, raw in enumerate(file, 1):
            line = raw.removeprefix(BOM) if number == 1 else raw
            if not line.strip():
                continue
            if number == 1 and line.lstrip().startswith(b"["):
                yield from enumerate(json_of(path), 1)
                return
            try:
                yield number, json.loads(line.decode())
            except UnicodeDecodeError as error:
                raise StudyError(
                    f"{path}, line {number}: byte {error.start} of the line is not UTF-8 text; save the file as UTF-8."
                ) from None
            except (json.JSONDecodeError, RecursionError) as error:
                what = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
                cut = "" if any(rest.strip() for rest in file) else "; it is the last line, and may be cut off"
                raise StudyError(
                    f"{path}, line {number}: not JSON ({what}){cut}. Delete the line, or write the file anew."
                ) from None


def bare(path: Path) -> str:
    """The name of a file without .gz."""
    return path.name.removesuffix(".gz")
