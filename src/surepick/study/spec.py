"""A study: the problem, the settings and, if it is to be simulated, the truth. One format for files and for dicts."""

from __future__ import annotations

import copy
import dataclasses
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..arms import Floats
from ..checks import file, short
from ..environments import Environment
from ..errors import ProblemError, StudyError
from ..estimators import Mean, Variance
from ..explorer import Explorer
from ..problems import Problem, SampleAllocation
from ..problems.registry import find
from ..settings import NAMES, Settings
from .build import build_arms, build_pool, build_problem
from .complaints import Place
from .schema import StudyKeys
from .tables import Table, read_text
from .worlds import build_world

SQUARABLE = 1e150  # larger deviations have no square in floating point


@dataclass(frozen=True, eq=False, kw_only=True)
class StudySpec(Settings):
    """What a study file says, checked and built: settings, and what they are for.

    Attributes
    ----------
    delta, epsilon, relative, per_arm, budget, cost_budget, spend, dependent, policy, confidence
        As for :class:`surepick.Explorer`; ``budget`` is in samples.
    problem : Problem
    seed : int
        Of the simulation.
    environment : Environment or None
        The truth to draw from, if the study has a ``simulate`` table.
    title : str
    source : str
        The file, as messages call it.
    data : dict
        The keys as they were given.

    Examples
    --------
    >>> spec = StudySpec.from_dict({"arms": ["a", "b", "c"], "problem": {"kind": "top-k", "k": 2}, "delta": 0.1})
    >>> spec.problem, spec.explorer().ask(3)
    (<TopK: 3 arms>, [0, 1, 2])
    """

    problem: Problem
    seed: int
    environment: Environment | None
    title: str
    source: str
    data: dict[str, Any]
    _table: Table | None = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], base: str | Path | None = None, *, source: str = "The study") -> StudySpec:
        """A study from a dict with the keys of a study file.

        Parameters
        ----------
        data : dict
        base : path, optional
            The folder that CSV paths are relative to; by default the current one.
        source : str
            How messages call the study.
        """
        if not isinstance(data, Mapping):
            raise StudyError(f"{source}: a study is a dict with the keys of a study file, not {short(data)}.")
        place = Place(source, Path(base) if base is not None else Path())
        keys = place.check(StudyKeys, data)
        arms, table = build_arms(place, keys.arms, find(keys.problem.get("kind")) or Problem, keys.problem)
        problem = build_problem(place, keys.problem, arms, table)
        if keys.pool is not None:
            problem = build_pool(place, keys.pool, problem)
        environment = None if keys.simulate is None else build_world(place, keys.simulate, problem, table)
        with place.blame(""):
            spec = cls(
                **{name: getattr(keys, name) for name in NAMES},
                problem=problem,
                seed=keys.seed,
                environment=environment,
                title=keys.title,
                source=source,
                data=copy.deepcopy(dict(data)),
                _table=table,
            )
            spec.explorer()
        if keys.theta is not None:
            if keys.simulate is not None:
                place.fail("theta", "the simulate table already says what the truth is; give only one of the two.")
            with place.blame(""):
                problem.check_vector(keys.theta, "theta")
        return spec

    def explorer(self) -> Explorer:
        """A fresh explorer with the study's settings."""
        return Explorer.of(self.problem, Settings(**self.asked()))

    def replace(self, **settings: Any) -> StudySpec:
        """The same study with other settings; those that are None stay as they are."""
        changed = dataclasses.replace(self, **{key: value for key, value in settings.items() if value is not None})
        changed.explorer()
        return changed

    def theta(self) -> Floats:
        """The truth, as far as the study knows it: what it simulates, its key ``theta``, or a column of its CSV table.

        The columns are ``mean`` for a mean, and ``variance`` or ``S`` (the standard deviation) for a variance.
        """
        parameter = self.problem.parameter
        if self.environment is not None:
            return self.environment.truth(parameter)
        if self.data.get("theta") is not None:
            return np.array(self.data["theta"], dtype=np.float64)
        table = self._table
        if table is not None and isinstance(parameter, Mean) and table.has("mean"):
            return np.array(table.numbers("mean"))
        if table is not None and isinstance(parameter, Variance) and (table.has("variance") or table.has("S")):
            return table_variances(table)
        columns = "mean" if isinstance(parameter, Mean) else "variance or S"
        raise StudyError(
            f"{self.source}, key theta: the true {parameter.name}s are not known; add theta = [...] with one number an arm, "
            f"a [simulate] table, or a column {columns} to a CSV table of the arms."
        )

    def __repr__(self) -> str:
        return f"<StudySpec {self.title or self.source!r}: {self.problem!r}, delta={self.delta:g}>"


def asked_once(spec: StudySpec) -> tuple[StudySpec, bool]:
    """The study for answers of real people: where it takes the sizes of strata from a table, and does not say whether people
    may be asked again, each of them is asked once. Also whether that was assumed."""
    given = spec.data.get("problem")
    if not isinstance(spec.problem, SampleAllocation) or spec.problem.counted or not isinstance(given, dict):
        return spec, False
    if "finite" in given or "sizes" in given:
        return spec, False
    problem = spec.problem
    try:
        most = np.minimum(problem.most, problem.sizes)
        counted = SampleAllocation(
            problem.sizes, problem.budget, lower=problem.least, upper=most, arms=problem.arms, finite=True
        )  # fmt: skip
        return dataclasses.replace(spec, problem=counted), True
    except ProblemError:  # sizes that are no counts of people
        return spec, False


def table_variances(table: Table, column: str | None = None) -> Floats:
    """The variances of a strata table, from ``variance``, from ``S`` squared, or from a column of standard deviations."""
    if column is None and table.has("variance"):
        if table.has("S"):
            raise StudyError(f"{table.path}, line 1: there are columns for S and for the variance; delete one of them.")
        return np.array(_not_negative(table, "variance"))
    return np.square(_not_negative(table, column or "S", "nor 'variance', one of which says how much the answers vary"))


def _not_negative(table: Table, column: str, why: str = "") -> list[float]:
    values = table.numbers(column, why)
    for i, x in enumerate(values):
        if x < 0:
            table.fail(i, column, f"{x!r} is negative; give a number of at least 0")
        if x > SQUARABLE:
            table.fail(i, column, f"{x!r} is too large to be squared; give values in a larger unit")
    return values


def load(path: str | os.PathLike[str]) -> StudySpec:
    """Read a study file.

    Raises
    ------
    StudyError
        Names the file, the key (or the line and the column of a CSV table) and what to do.
    """
    path = file(path, StudyError)
    try:
        data = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        hint = (
            "Explorer.load reads what Explorer.save wrote"
            if path.suffix == ".json"
            else "Texts need quotes, tables a [name] line"
        )
        raise StudyError(f"{path}: this is not TOML: {error}. {hint}.") from None
    return StudySpec.from_dict(data, path.parent, source=str(path))
