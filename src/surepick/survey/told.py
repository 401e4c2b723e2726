"""What an estimation is told beside its tables: bounds of values, and how many interviews were planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arms import Floats
from ..checks import nearest, numbers, short
from ..errors import SettingError, StudyError
from .answers import NAMED, Answers
from .cells import read_cells
from .frame import Frame


def bounds_of(
    variable: str, answers: Answers, given: tuple[float, float] | Mapping[str, tuple[float, float]] | None
) -> tuple[float, float] | None:
    """Between what the values lie; yes and no need not say so, but numbers that were 0 and 1 so far may be others later."""
    pair: Any = given.get(variable) if isinstance(given, Mapping) else given
    if pair is None:
        return (0.0, 1.0) if variable in answers.yes_no else None
    ends = numbers(pair)
    if ends is None or ends.shape != (2,) or not np.isfinite(ends).all() or not ends[0] < ends[1]:
        raise SettingError(f"bounds of {variable!r} must be a pair (low, high), not {short(pair)}.", key="bounds")
    y = answers.values[variable]
    outside = np.flatnonzero((y < ends[0]) | (y > ends[1]))
    if len(outside):
        i = int(outside[0])
        wrong = f"{y[i]:.10g} lies outside the bounds {ends[0]:g} to {ends[1]:g}; give bounds that hold for all people"
        answers.cells.fail(i, variable, wrong)
    return float(ends[0]), float(ends[1])


def planned_in(source: object, frame: Frame) -> object:
    """The column ``n`` that a plan leaves beside N."""
    if isinstance(source, Frame):
        return None
    cells = read_cells(source)
    if not ("n" in cells.titles and "N" in cells.titles):
        return None
    j = cells.titles.index("n")
    planned = cells.numbers(j, cells.figures([j]))
    for i in np.flatnonzero(~(planned >= 0))[:1].tolist():
        cells.fail(i, "n", "the interviews that were planned are wanted, a number of at least 0; mend it, or delete the column")
    return planned


def planned_of(planned: object, frame: Frame) -> Floats | None:
    if planned is None:
        return None
    if isinstance(planned, Mapping):
        refuse_unknown(planned, frame.strata, "planned", frame.source)
        planned = [planned.get(name, 0) for name in frame.strata]
    found = numbers(planned)
    if found is None or found.shape != (len(frame),) or not (np.isfinite(found) & (found >= 0)).all():
        raise SettingError(f"planned must be a number of interviews for each of the {len(frame)} strata, not {short(planned)}.")
    return np.minimum(found, frame.N)


def refuse_unknown(given: Mapping[Any, Any], names: Sequence[str], key: str, source: str) -> None:
    """A name that is spelled wrongly must not do nothing."""
    for name in given:
        if name not in names:
            meant = nearest(str(name), names)
            hint = f" Did you mean {meant!r}?" if meant else ""
            few = f"{', '.join(map(repr, names[:NAMED]))}{', ...' if len(names) > NAMED else ''}"
            raise SettingError(f"{key} names {short(name)}, which {source} has not; there are {few}.{hint}", key=key)


def refuse_shares(frame: Frame) -> None:
    for h in np.flatnonzero(frame.N != np.floor(frame.N)):
        raise StudyError(
            f"{frame.place(int(h))}: N = {frame.N[h]:.10g} is no number of people; totals and the correction for a finite "
            "population need them.",
            key="N",
        )
