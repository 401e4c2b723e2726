"""The answers to the one question that waves follow: which it is, who answered it, and several tables as one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arms import Ints
from ..display import listed
from ..errors import SettingError, StudyError
from .answers import Answers
from .frame import Frame


def variable_of(told: Answers, variable: str | None) -> str:
    if variable is None and len(told.values) > 1:
        raise SettingError(
            f"{told.cells.source}: there are answers to {listed(list(told.values))}; waves follow one of them: say which "
            "(variable). An estimate has figures for all.",
            key="variable",
        )
    if variable is not None and variable not in told.values:
        raise SettingError(
            f"{told.cells.source}: there is no column {variable!r} with answers as numbers, or yes and no; there are "
            f"{listed(list(told.values))}.",
            key="variable",
        )
    return next(iter(told.values)) if variable is None else variable


def counts(told: Answers, variable: str, frame: Frame) -> tuple[Ints, Ints]:
    """Who answered, and who was asked and did not, by stratum."""
    none = np.isnan(told.values[variable])
    return told.counts(~none, len(frame)), told.counts(none, len(frame))


def columns(told: Answers) -> dict[str, Any]:
    """The table as it was read. Where numbers may have decimal commas they are numbers, since another table may have points."""
    raw = dict(zip(told.cells.titles, told.cells.columns, strict=True))
    numbers = {title: y for title, y in told.values.items() if title not in told.yes_no}
    texts = (x for title in numbers if isinstance(raw[title], list) for x in raw[title] if isinstance(x, str))
    commas = told.cells.semicolons or any("," in x for x in texts)
    return raw | numbers if commas else raw


def joined(before: Answers, new: Answers) -> dict[str, Any]:
    """Two tables with the same columns, one below the other."""
    old, more = columns(before), columns(new)
    if set(old) != set(more):
        raise StudyError(
            f"{new.cells.source}: the columns are {listed(list(more))}, and those of the answers before {listed(list(old))}; "
            "give every wave the same columns.",
            key="answers",
        )
    return {title: [*list(column), *list(more[title])] for title, column in old.items()}
