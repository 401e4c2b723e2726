"""What a simulation found: a row a run, and a row a policy."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import display
from ..arms import Floats
from ..checks import file
from ..errors import SettingError
from ..problems.base import Problem
from .decisions import Decision, text_of

if TYPE_CHECKING:
    import pandas as pd

    from .work import Cell

SURE = 0.95  # of the intervals of error rates
QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
BOUNDED = {"matching": 50, "path": 50}  # arms up to which the lower bound is worked out; beyond, it may take minutes
ELSE_BOUNDED = 200


@dataclass(frozen=True, eq=False)
class Simulation:
    """The results of :func:`surepick.simulate`.

    Attributes
    ----------
    table : pandas.DataFrame
        A row a run: ``problem``, ``policy`` (its label), ``confidence`` (the sequence that was used), ``delta``, ``run``,
        ``samples``, ``certified``, ``correct`` and ``decision``. A decision is ``{0 3}`` for a choice of arms, by their numbers,
        and ``(2 0 1)`` for any other vector. It is correct if it is optimal at the truth or, with an epsilon, near enough. If an
        arm has a cost of its own, there is also ``cost``, what the samples cost.
    problems : dict
        The problem and its true parameters, by name.
    settings : dict
        ``runs``, ``seed``, ``epsilon``, ``relative``, ``per_arm``, ``dependent``, ``budget`` and ``cost_budget``.
    decisions : sequence of arrays
        The decision of every row of the table, as a vector; equal ones are the same array.
    """

    table: pd.DataFrame
    problems: dict[str, tuple[Problem, Floats]]
    settings: dict[str, Any]
    decisions: Sequence[Decision] = ()

    @classmethod
    def of(cls, cells: Sequence[Cell], problems: Mapping[str, tuple[Problem, Floats]], **settings: Any) -> Simulation:
        """The table of all cells."""
        import pandas as pd

        def one(value: Callable[[Cell], object]) -> np.ndarray[Any, Any]:
            return np.repeat(np.array([value(cell) for cell in cells]), [len(cell.samples) for cell in cells])

        table = pd.DataFrame(
            {
                "problem": one(lambda cell: cell.problem).astype(object),
                "policy": one(lambda cell: cell.policy).astype(object),
                "confidence": one(lambda cell: str(cell.settings.confidence)).astype(object),
                "delta": one(lambda cell: cell.settings.delta),
                "run": np.concatenate([np.arange(len(cell.samples)) for cell in cells]),
                "samples": np.concatenate([cell.samples for cell in cells]),
                "certified": np.concatenate([cell.certified for cell in cells]),
                "correct": np.concatenate([cell.correct for cell in cells]),
                "decision": [text_of(decision, cell.world.problem) for cell in cells for decision in cell.decisions],
            }
        )
        if any(cell.world.problem.priced for cell in cells):
            table.insert(6, "cost", np.concatenate([cell.costs for cell in cells]))
        texts = ["problem", "policy", "confidence", "decision"]
        decisions = [decision for cell in cells for decision in cell.decisions]
        return cls(table.astype(dict.fromkeys(texts, "str")), dict(problems), settings, decisions)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """A row a problem, policy and delta.

        ``m`` arms; ``runs``; ``certified`` runs; ``errors``, certified decisions that are not correct; ``error_rate``, their
        share of all runs, with an exact 95 % interval from ``error_low`` to ``error_high`` (Clopper and Pearson); of the samples
        of all runs the ``mean``, its standard error ``se`` and quantiles ``q05``, ``q25``, ``median``, ``q75``, ``q95``;
        ``lower_bound``, the mean below which no policy can be; and ``ratio``, the mean as a multiple of it.

        If an arm has a cost of its own, also ``cost``, the mean of what a run costs, its standard error ``cost_se``,
        ``cost_lower_bound``, below which no policy can be, and ``cost_ratio``, the mean as a multiple of it.

        The lower bound is NaN where it is not known, with an epsilon, and for more than 200 arms (50 for matchings and paths),
        where it may take minutes; ``hardness(problem, theta).lower_bound(delta)`` works it out. The ratio is NaN also
        if a run was not certified.
        """
        import pandas as pd

        rows = []
        for (name, policy, delta), group in self.table.groupby(["problem", "policy", "delta"], sort=False):
            samples = group["samples"].to_numpy()
            errors = int((group["certified"] & ~group["correct"]).sum())
            low, high = clopper_pearson(errors, len(group))
            mean, bound = float(samples.mean()), self._lower_bound(name, delta)
            rows.append(
                {
                    "problem": name,
                    "policy": policy,
                    "delta": delta,
                    "m": self.problems[name][0].m,
                    "runs": len(group),
                    "certified": int(group["certified"].sum()),
                    "errors": errors,
                    "error_rate": errors / len(group),
                    "error_low": low,
                    "error_high": high,
                    "mean": mean,
                    "se": float(samples.std(ddof=1)) / len(group) ** 0.5 if len(group) > 1 else math.nan,
                    **{key: float(np.quantile(samples, q)) for key, q in QUANTILES.items()},
                    "lower_bound": bound,
                    "ratio": mean / bound if 0 < bound < math.inf and group["certified"].all() else math.nan,
                    **(self._in_cost(name, delta, group) if "cost" in group else {}),
                }
            )
        return pd.DataFrame(rows).astype({"problem": "str", "policy": "str"})

    def _in_cost(self, name: str, delta: float, group: pd.DataFrame) -> dict[str, float]:
        costs, bound = group["cost"].to_numpy(), self._lower_bound(name, delta, in_cost=True)
        mean = float(costs.mean())
        return {
            "cost": mean,
            "cost_se": float(costs.std(ddof=1)) / len(group) ** 0.5 if len(group) > 1 else math.nan,
            "cost_lower_bound": bound,
            "cost_ratio": mean / bound if 0 < bound < math.inf and group["certified"].all() else math.nan,
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the table, as ``.parquet`` or ``.csv``. The file is there as a whole or not at all."""
        path = check_path(path)
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            if path.suffix == ".csv":
                self.table.to_csv(part, index=False, lineterminator="\n")
            else:
                self.table.to_parquet(part, index=False)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        return path

    def _lower_bound(self, name: str, delta: float, in_cost: bool = False) -> float:
        """T* kl(delta, 1 - delta), or with C* in place of T*, as :class:`surepick.Hardness` has it, without the radii."""
        problem, theta = self.problems[name]
        if self.settings["epsilon"] > 0 or problem.m > BOUNDED.get(problem.kind, ELSE_BOUNDED):
            return math.nan
        if (name, in_cost) not in self._times:
            from ..difficulty.lower_bound import characteristic_time  # workers do without it

            found = characteristic_time(problem, theta, problem.costs if in_cost else None)
            self._times[name, in_cost] = math.nan if found is None else found[0]
        return self._times[name, in_cost] * (1 - 2 * delta) * math.log((1 - delta) / delta) if delta < 0.5 else 0.0

    @cached_property
    def _times(self) -> dict[tuple[str, bool], float]:
        return {}

    def to_frame(self) -> pd.DataFrame:
        """A row a run: a copy of ``table``. For a row a problem, policy and delta see ``summary``."""
        return self.table.copy()

    def __repr__(self) -> str:
        few = self.summary[["problem", "policy", "delta", "runs", "certified", "errors", "mean", "ratio"]]
        return f"<Simulation: {len(self.table):,} runs>\n{few.to_string(index=False, max_rows=display.ROWS)}"

    def _repr_html_(self) -> str:
        header = ["problem", "policy", "delta", "runs", "certified", "errors", "mean samples", "± se", "lower bound", "ratio"]
        numbers = ["delta", "runs", "certified", "errors", "mean", "se", "lower_bound", "ratio"]
        rows = [
            [display.name(row["problem"]), display.name(row["policy"]), *(display.figure(row[key]) for key in numbers)]
            for row in self.summary.head(display.ROWS).to_dict("records")
        ]
        return display.page(f"{len(self.table):,} runs", display.table(header, rows, len(self.summary), "row", names=2))


def check_path(path: str | os.PathLike[str]) -> Path:
    """Where a table is to be saved, if it can be."""
    path = file(path)
    if path.suffix not in (".parquet", ".csv"):
        raise SettingError(f"{path}: the table is saved as .parquet or .csv; give the file one of these endings.")
    if not path.parent.is_dir():
        raise SettingError(f"{path}: there is no folder {path.parent}; create it first.")
    return path


def clopper_pearson(errors: int, runs: int, sure: float = SURE) -> tuple[float, float]:
    """The exact interval of a rate: what is outside it would give so few, or so many, with at most half of 1 - sure.

    Examples
    --------
    >>> [round(x, 4) for x in clopper_pearson(0, 100)]
    [0.0, 0.0362]
    """
    from scipy.special import betaincinv

    tail = (1 - sure) / 2
    low = float(betaincinv(errors, runs - errors + 1, tail)) if errors else 0.0
    high = float(betaincinv(errors + 1, runs - errors, 1 - tail)) if errors < runs else 1.0
    return low, high
