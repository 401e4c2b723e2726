"""A claim of the paper, what came out when it was measured, and the laboratory that measures it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ...environments import Environment
from ...problems import Problem

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ..simulation import Simulation

Cell: TypeAlias = str | int | float | bool | None
Standing = Literal["holds", "wrong as stated", "not confirmed"]
Worlds: TypeAlias = Mapping[str, tuple[Problem, Environment]]

HOLDS: Standing = "holds"
WRONG: Standing = "wrong as stated"
OPEN: Standing = "not confirmed"


@dataclass(frozen=True)
class Verdict:
    """What the measurements say about a claim: where it stands, and a remark such as the slack or the correction."""

    standing: Standing
    remark: str = ""

    def __str__(self) -> str:
        return f"{self.standing}{', ' if self.standing == HOLDS else ': '}{self.remark}" if self.remark else self.standing


@dataclass(frozen=True)
class Table:
    """Rows of plain values. Every column is a pair of its name and the format of its numbers, "" for text."""

    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.rows), "a cell for every column"
        plain = [[x.item() if isinstance(x, np.generic) else x for x in row] for row in self.rows]
        object.__setattr__(self, "rows", plain)

    def text(self, row: int, column: int) -> str:
        value, form = self.rows[row][column], self.columns[column][1]
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            return "–"
        if isinstance(value, bool):
            return "yes" if value else "no"
        return value if isinstance(value, str) else format(value, form)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: numbers in full, None for what is unknown or infinite."""
        plain = [[None if isinstance(x, float) and not math.isfinite(x) else x for x in row] for row in self.rows]
        return {"caption": self.caption, "columns": [name for name, _ in self.columns], "rows": plain}


@dataclass(frozen=True, eq=False)
class Result:
    """What was measured for a claim.

    Attributes
    ----------
    verdict : Verdict
    ran : str
        What was run, in words.
    tables : sequence of Table
    figure : Figure
    alt : str
        What the picture shows, for people who cannot see it.
    text : str
        What there is to say about the numbers; paragraphs are apart by an empty line.
    """

    verdict: Verdict
    ran: str
    tables: Sequence[Table]
    figure: Figure
    alt: str
    text: str = ""


@dataclass(frozen=True)
class Claim:
    """A statement of the paper and the function that measures it."""

    name: str
    where: str
    title: str
    says: str
    measure: Callable[[Lab], Result]


@dataclass
class Lab:
    """Seed, size of the runs and who does them; simulations that several claims look at are run once.

    ``step`` is told how much of the present claim is done, from 0 to 1.
    """

    seed: int = 0
    quick: bool = False
    executor: Executor | int | None = 1
    step: Callable[[float], object] = lambda share: None
    _done: dict[str, Simulation] = field(default_factory=dict, repr=False)

    def size(self, full: int, quick: int) -> int:
        """How many runs, instances or points."""
        return quick if self.quick else full

    def rng(self, name: str) -> np.random.Generator:
        """Random numbers of a claim's own."""
        return np.random.default_rng([self.seed, *name.encode()])

    def simulate(
        self, name: str, worlds: Worlds, policies: str | Sequence[str], *, delta: float | Sequence[float] = 0.05, runs: int,
        begin: float = 0.0, end: float = 1.0,
    ) -> Simulation:  # fmt: skip
        """:func:`surepick.simulate`, kept by name; ``begin`` and ``end`` are the share of the claim that this is."""
        from ..simulate import simulate

        if name not in self._done:
            self._done[name] = simulate(
                dict(worlds), policies=policies, delta=delta, runs=runs, seed=self.seed, executor=self.executor,
                progress=lambda s: self.step(begin + (end - begin) * s.done / max(s.total, 1)),
            )  # fmt: skip
        self.step(end)
        return self._done[name]


def samples_by(table: pd.DataFrame, **which: Cell) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The samples of every run in the rows where the columns have these values, in the order of the runs."""
    for column, value in which.items():
        table = table[table[column] == value]
    return np.asarray(table.sort_values("run")["samples"], dtype=np.float64)
