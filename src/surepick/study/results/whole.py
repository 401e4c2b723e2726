"""One table of all that was found, and what is missing from it: named, and never guessed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arms import Bools
from ...checks import among, real, short
from ...environments import Scores
from ...errors import SettingError, StudyError
from .found import SHOWN, Found, listing, many, unknown


class Results(Scores):
    """Scores that were read from files, and what was done to make them whole.

    Attributes
    ----------
    candidates, items : list of str
        The rows and the columns; ``items`` is None if the file does not name them.
    metric : str or None
        What the score is called in the files.
    files : list of str
        The files that were used.
    missing : dict
        Of every candidate that lacks scores, the items on which it does.
    dropped : list
        Items that were left out for all candidates.
    filled : int
        Missing scores that were given a number.
    notes : list of str
        All of this, and what else was decided on the way, in sentences.
    """

    def __init__(
        self,
        table: ArrayLike,
        items: Sequence[Hashable] | None = None,
        candidates: Sequence[Hashable] | None = None,
        *,
        metric: str | None = None,
        files: Sequence[str] = (),
        missing: dict[str, list[Any]] | None = None,
        dropped: Sequence[Any] = (),
        filled: int = 0,
        notes: Sequence[str] = (),
    ) -> None:
        super().__init__(table, items, candidates)
        self.metric: str | None = metric
        self.files: list[str] = list(files)
        self.missing: dict[str, list[Any]] = dict(missing or {})
        self.dropped: list[Any] = list(dropped)
        self.filled: int = filled
        self.notes: list[str] = list(notes)

    def __repr__(self) -> str:
        return f"<Results: {self.table.shape[0]:,} candidates on {self.table.shape[1]:,} items>"


def join(parts: list[Found], names: list[str] | None) -> Found:
    """All parts as one table; where several have the same score, they must agree."""
    parts = [_baptised(part, names) for part in parts]
    if len(parts) == 1:
        return parts[0]
    for part in parts:
        if not part.named:
            raise StudyError(
                f"{part.files[0]}: it names neither its candidates nor its items, so it cannot be put together with other "
                "files. Give it alone, or as .npz with scores, candidates and items."
            )
    metrics: dict[str | None, Path] = {}
    for part in parts:
        metrics.setdefault(part.metric, part.files[0])
    if len(metrics) > 1:
        told = "; ".join(f"{metric or 'a score without a name'} in {file}" for metric, file in metrics.items())
        raise StudyError(f"The files hold different scores: {told}. Give files with the same one.", key="metric")
    candidates = list(dict.fromkeys(name for part in parts for name in part.candidates or ()))
    items = list(dict.fromkeys(name for part in parts for name in part.items or ()))
    row, column = ({name: i for i, name in enumerate(every)} for every in (candidates, items))
    table, source = np.full((len(candidates), len(items)), np.nan), np.full((len(candidates), len(items)), -1)
    for number, part in enumerate(parts):
        where = np.ix_([row[name] for name in part.candidates or ()], [column[name] for name in part.items or ()])
        before, new = table[where], ~np.isnan(part.table)
        clash = np.argwhere(new & ~np.isnan(before) & (before != part.table))
        if len(clash):
            i, j = clash[0].tolist()
            assert part.candidates is not None
            assert part.items is not None
            first = parts[int(source[where][i, j])].files[0]
            raise StudyError(
                f"The score of {part.candidates[i]!r} on item {part.items[j]!r} is {before[i, j]:g} in {first} and "
                f"{part.table[i, j]:g} in {part.files[0]}. Give one of the two files, or rename the candidate in one of them."
            )
        table[where] = np.where(new, part.table, before)
        source[where] = np.where(new, number, source[where])
    files, notes = [file for part in parts for file in part.files], [note for part in parts for note in part.notes]
    return Found(table, candidates, items, parts[0].metric, files, notes)


def _baptised(part: Found, names: list[str] | None) -> Found:
    """With names of the rows, if the file has none."""
    if part.candidates is not None:
        return part
    m, n = part.table.shape
    notes = list(part.notes)
    if names is not None:
        if len(names) != m:
            raise SettingError(f"{part.files[0]} has {m:,} rows: candidates must be as many names.", key="candidates")
    else:
        names = [f"row {i}" for i in range(m)]
        notes.append(f"{part.files[0]} names no candidates: a row is one, and called by its number from 0.")
    if m > n:
        notes.append(f"{part.files[0]} has more rows than columns: a row is a candidate; transpose it if rows are items.")
    return Found(part.table, names, part.items, part.metric, part.files, notes)


def chosen(found: Found, names: list[str] | None) -> Found:
    """Only these candidates, in this order."""
    if names is None or names == found.candidates:
        return found
    assert found.candidates is not None
    at = {name: i for i, name in enumerate(found.candidates)}
    for name in names:
        if name not in at:
            raise unknown(name, at)
    return Found(found.table[[at[name] for name in names]], names, found.items, found.metric, found.files, found.notes)


def settled(found: Found, missing: str | float | None) -> Results:
    """Without gaps: refused, left out or filled, as the user says."""
    drop = among(missing, ("drop",))
    if missing is not None and not drop and real(missing) is None:
        raise SettingError(f'missing must be "drop", or the number that a missing score counts as, not {short(missing)}.',
                           key="missing")  # fmt: skip
    candidates, items, table = found.candidates, found.items, found.table
    assert candidates is not None
    gaps = np.isnan(table)
    notes, dropped, filled = list(found.notes), list[Any](), 0
    named = items if items is not None else list(range(table.shape[1]))
    lacking: dict[str, list[Any]] = {
        candidates[i]: [named[j] for j in np.flatnonzero(gaps[i]).tolist()] for i in np.flatnonzero(gaps.any(axis=1)).tolist()
    }
    if lacking:
        if missing is None:
            raise StudyError(_refusal(lacking, gaps), key="missing")
        count, what = int(gaps.sum()), _named(lacking)
        if drop:
            keep = np.asarray(~gaps.any(axis=0))
            if not keep.any():
                raise StudyError(
                    f"No item has a score of every candidate, so nothing is left when items are left out: {what}. Leave "
                    "candidates out, or say what a missing score counts as.",
                    key="missing",
                )
            dropped = [named[j] for j in np.flatnonzero(~keep).tolist()]
            table = table[:, keep]
            items = None if items is None else [items[j] for j in np.flatnonzero(keep).tolist()]
            notes.append(
                f"Left out for all candidates: {len(dropped):,} of {many(len(keep), 'item')}, for want of "
                f"{many(count, 'score')}: {what}. What is found is about the other {int(keep.sum()):,}."
            )
        else:
            worth = real(missing)
            assert worth is not None
            table, filled = np.where(gaps, worth, table), count
            notes.append(f"{many(count, 'missing score')} {'counts' if count == 1 else 'count'} as {worth:g}: {what}.")
    return Results(
        table, items, candidates, metric=found.metric, files=[str(file) for file in found.files], missing=lacking,
        dropped=dropped, filled=filled, notes=notes,
    )  # fmt: skip


def _named(lacking: dict[str, list[Any]]) -> str:
    """Who lacks what."""
    worst = sorted(lacking.items(), key=lambda entry: -len(entry[1]))
    told = [f"{name!r} lacks {len(items):,} ({listing(items)})" for name, items in worst[:SHOWN]]
    return "; ".join(told) + (f"; and {many(len(worst) - SHOWN, 'other candidate')} too" if len(worst) > SHOWN else "")


def _refusal(lacking: dict[str, list[Any]], gaps: Bools) -> str:
    count, left = int(gaps.sum()), int((~gaps.any(axis=0)).sum())
    ways = []
    if left:
        ways.append(f'missing="drop" (--missing drop) leaves these items out for all, and keeps {left:,} of {gaps.shape[1]:,}')
    ways.append("missing=0.0 (--missing 0), or another number, says what a missing score counts as")
    whole = [name for name, items in lacking.items() if len(items) == gaps.shape[1]]
    if left == 0:
        ways.append("or leave candidates out" + (f": {listing(map(repr, whole))} without any score" if whole else ""))
    return (
        f"{count:,} of {gaps.size:,} scores {'is' if count == 1 else 'are'} missing: {_named(lacking)}. A missing score is never "
        f"guessed: {'; '.join(ways)}."
    )
