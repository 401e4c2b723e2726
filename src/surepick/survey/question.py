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


def table(told: Answers) -> dict[str, Any]:
    return dict(zip(told.cells.titles, told.cells.columns, strict=True))


def joined(before: Answers, new: Answers) -> dict[str, Any]:
    """Two tables with the same columns, one below the other."""
    old, more = before.cells, new.cells
    if set(old.titles) != set(more.titles):
        raise StudyError(
            f"{more.source}: the columns are {listed(more.titles)}, and those of the answers before {listed(old.titles)}; give "
            "every wave the same columns.",
            key="answers",
        )
    columns = dict(zip(more.titles, more.columns, strict=True))
    return {title: [*list(column), *list(columns[title])] for title, column in zip(old.titles, old.columns, strict=True)}
