"""Observations from a CSV table in long form: one row an observation, with its arm and its value."""

from __future__ import annotations

import numpy as np

from ..arms import Floats
from ..errors import ObservationError, UnknownArmError
from ..problems import Problem
from .tables import Table


def read_observations(table: Table, problem: Problem) -> list[Floats]:
    """The values of every arm, in the order of the table. One bad row and nothing is used."""
    names = table.texts("stratum", "which names the arm of every observation")
    numbers = table.numbers("value", "which holds the observations")
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(name, []).append(row)
    values = [np.empty(0) for _ in problem.arms]
    for name, where in rows.items():
        try:
            i = problem.index[name]
            values[i] = np.array([numbers[row] for row in where])
            problem.arms[i].check(values[i])
        except UnknownArmError as error:
            table.fail(where[0], "stratum", _said(error))
        except ObservationError:
            for row in where:
                try:
                    problem.arms[i].check(numbers[row])
                except ObservationError as error:
                    table.fail(row, "value", _said(error))
            raise
    return values


def _said(error: ObservationError) -> str:
    # "Nothing was recorded." is about one explorer; here no row of the file is used.
    return str(error).replace(" Nothing was recorded.", "") + " Nothing of this file was used"
