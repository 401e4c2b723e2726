"""OR-Tools CP-SAT and HiGHS: general solvers, given the allocation as a choice of units by their gains.

Unit j of a stratum gains n^2 theta (1 / (j - 1) - 1 / j), less and less, so the best k units are the best split. Only units
from half of Neyman's share to twice the share are written down, unless bounds may move the optimum further away. Gains are
divided by the gain at the shares, so that what has to be told apart is near 1. The time includes writing the model down.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from instances import Method, Survey
from numpy.typing import NDArray

Call = Callable[[], NDArray[np.int64]]
SCALE = 2.0**36  # CP-SAT takes whole numbers: gains to 1e-11 of the gain at the shares


class Units:
    """The units to choose from: the gain and the stratum of each, and how many to choose beyond ``sure``."""

    def __init__(self, survey: Survey) -> None:
        low = np.full(len(survey.sizes), survey.lower)
        if survey.capped:
            high = survey.sizes
        else:
            low = np.maximum(low, np.floor(survey.shares / 2).astype(np.int64))
            high = np.minimum(np.ceil(2 * survey.shares).astype(np.int64) + 2, survey.k)
        room = high - low
        self.stratum = np.repeat(np.arange(len(low)), room)
        unit = np.arange(room.sum()) - np.repeat(np.cumsum(room) - room, room) + low[self.stratum]  # units before it
        weight = survey.sizes.astype(float) ** 2 * survey.variances
        margin = (np.sqrt(weight).sum() / survey.k) ** 2
        self.gains = weight[self.stratum] / margin / (unit * (unit + 1.0))
        self.sure, self.rest = low, survey.k - int(low.sum())

    def split(self, taken: NDArray[np.float64]) -> NDArray[np.int64]:
        """The interviews of every stratum, given which units were taken."""
        return self.sure + np.bincount(self.stratum, np.round(taken), len(self.sure)).astype(np.int64)


def cp_sat(survey: Survey) -> Call:
    from ortools.sat.python import cp_model

    def call() -> NDArray[np.int64]:
        units = Units(survey)
        model = cp_model.CpModel()
        take = [model.new_bool_var("") for _ in units.gains]
        model.add(cp_model.LinearExpr.sum(take) == units.rest)
        model.maximize(cp_model.LinearExpr.weighted_sum(take, np.round(units.gains * SCALE).astype(np.int64).tolist()))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        if solver.solve(model) != cp_model.OPTIMAL:
            raise RuntimeError("CP-SAT ended without an optimum")
        return units.split(np.array([solver.value(variable) for variable in take]))

    return call


def milp(survey: Survey) -> Call:
    from scipy.optimize import Bounds, LinearConstraint, milp

    def call() -> NDArray[np.int64]:
        units = Units(survey)
        one = np.ones((1, len(units.gains)))
        answer = milp(
            -units.gains,
            integrality=one[0],
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(one, units.rest, units.rest),
            options={"mip_rel_gap": 0.0},
        )
        return units.split(answer.x)

    return call


def linprog(survey: Survey) -> Call:
    from scipy.optimize import linprog

    def call() -> NDArray[np.int64]:
        units = Units(survey)
        answer = linprog(-units.gains, A_eq=np.ones((1, len(units.gains))), b_eq=[units.rest], bounds=(0, 1), method="highs-ds")
        return units.split(answer.x)

    return call


METHODS = [
    Method("OR-Tools CP-SAT", "ortools", "ortools.sat.python.cp_model", "the optimum of gains in whole numbers", cp_sat),
    Method("HiGHS, `scipy.optimize.milp`", "scipy", "scipy.optimize", "the optimum up to tolerances", milp),
    Method("HiGHS, `scipy.optimize.linprog`", "scipy", "scipy.optimize", "the optimum up to tolerances", linprog),
]
