"""The best assignment of one side of a bipartite graph to the other; the edges are the arms."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..arms import Floats, Names, Sense
from ..checks import flag
from ..engine.data import Assignment
from ..errors import InfeasibleError, ProblemError
from ..estimators import Estimator, make_estimator
from .edges import EDGES, Edge, EdgeNames, edge_arms
from .keys import PARAMETER, SENSE, Key, Keys
from .oracle import OracleProblem


class Matching(EdgeNames, OracleProblem):
    """The bipartite matching of largest (or, with ``sense="min"``, smallest) total weight.

    Parameters
    ----------
    edges : sequence of (u, v) pairs
        The arms: u is on the left side, v on the right; the same label on both sides is two nodes.
    perfect : bool
        Every node of the smaller side must be matched (default), or nodes may stay alone.
    sense : {"max", "min"}
    arms : names or Arm objects, optional
    parameter : {"mean", "variance"} or Estimator

    Notes
    -----
    By ``scipy.optimize.linear_sum_assignment``. Of parallel edges with equal weights the first counts. Matchings are not
    bi-monotone; see :class:`OracleProblem` for the test of undecided arms.

    Examples
    --------
    >>> Matching([("Ann", "till"), ("Ann", "bar"), ("Bob", "till"), ("Bob", "bar")]).solve([0.9, 0.8, 0.7, 0.1])
    array([0, 1, 1, 0])
    """

    kind = "matching"
    edges: list[Edge]

    def __init__(
        self,
        edges: Sequence[tuple[Hashable, Hashable]],
        *,
        perfect: bool = True,
        sense: Sense = "max",
        arms: Names | None = None,
        parameter: str | Estimator = "mean",
    ) -> None:
        self.edges, made = edge_arms(edges, arms, loops=True)
        super().__init__(made, make_estimator(parameter), sense)
        self.perfect: bool = flag(perfect, "perfect", ProblemError)
        left = {node: i for i, node in enumerate(dict.fromkeys(u for u, _ in self.edges))}
        right = {node: i for i, node in enumerate(dict.fromkeys(v for _, v in self.edges))}
        if len(left) > len(right):  # rows are the smaller side
            self._row = np.array([right[v] for _, v in self.edges])
            self._column = np.array([left[u] for u, _ in self.edges])
            left, right = right, left
        else:
            self._row = np.array([left[u] for u, _ in self.edges])
            self._column = np.array([right[v] for _, v in self.edges])
        self._shape = len(left), len(right) + (0 if self.perfect else len(left))
        self._parallel = len(set(zip(self._row.tolist(), self._column.tolist(), strict=True))) < self.m
        self._edge = np.full(self._shape, -1)  # the arm of every cell; of parallel ones see maximise
        self._edge[self._row, self._column] = np.arange(self.m)
        self._cells = self._row * self._shape[1] + self._column
        self._complete = bool((self._edge >= 0).all())
        self._grid = self._cells.tolist() == list(range(self._shape[0] * self._shape[1]))  # every edge, row by row
        from scipy.optimize import linear_sum_assignment

        self._assign = linear_sum_assignment
        if self.perfect and self.maximise(np.zeros(self.m)).sum() < len(left):
            raise InfeasibleError(
                f"No matching covers all {len(left)} nodes of the smaller side: add edges, or let nodes stay alone "
                "with perfect=False.",
                key="edges",
            )

    def alternatives(self) -> tuple[float, float, int]:
        """Single cycles and paths, which alternate between two matchings: if no such change helps, the matching is optimal.

        With n rows and c columns a perfect matching has at most n^l cycles and (c - n) n^l paths through l rows, each of 2 l
        edges; with b = ln(2 n) / 2 the sum over l of (1 + c - n) n^l exp(-2 b l) is at most 1 + c - n. For n = c there are no
        more than n^l matchings at all that differ in l rows, so every one is an alternative; else a path takes a row or more.
        Small ones are counted: there are c! / (c - n)! at most, each an alternative, which is cheaper where n is small.
        """
        rows, columns = self._shape
        if not self.perfect or self._parallel:
            return super().alternatives()
        a, b = float(np.log(1 + columns - rows)), float(np.log(2 * rows)) / 2
        every = math.lgamma(columns + 1) - math.lgamma(columns - rows + 1)
        return (every, 0.0, 1) if every <= a + 4 * b else (a, b, 1 if rows == columns else rows)

    def admits(self, decision: Floats) -> bool:
        rows, columns = np.bincount(self._row, weights=decision), np.bincount(self._column, weights=decision)
        alone = bool((rows == 1).all()) or not self.perfect
        return bool(np.isin(decision, (0.0, 1.0)).all() and rows.max() <= 1 and columns.max() <= 1 and alone)

    @classmethod
    def study_keys(cls) -> Keys:
        return {"edges": EDGES, "perfect": Key(bool, "true or false", True), "sense": SENSE, "parameter": PARAMETER}

    def keys(self) -> dict[str, Any]:
        return {"edges": self.edges, "perfect": self.perfect, "sense": self.sense}

    def maximise(self, weights: Floats) -> np.ndarray[Any, Any]:
        decision = np.zeros(self.m, dtype=np.int64)
        if self._grid:
            rows, columns = self._assign(weights.reshape(self._shape), maximize=True)
            decision[rows * self._shape[1] + columns] = 1
            return decision
        edge, table = self._edge, np.empty(self._shape)
        if not self._complete:  # a missing edge is so bad that it is taken only if nothing else covers the row
            table.fill(-1.0 - 2.0 * self._shape[0] * float(np.abs(weights).max()))
        if not self.perfect:
            table[:, self._shape[1] - self._shape[0] :] = 0.0  # to stay alone
        if self._parallel:  # the best of parallel edges, the first of equal ones, is written last
            order = np.lexsort((-np.arange(self.m), weights))
            edge = edge.copy()
            edge.ravel()[self._cells[order]] = order
            table.ravel()[self._cells[order]] = weights[order]
        else:
            table.ravel()[self._cells] = weights
        taken = edge[self._assign(table, maximize=True)]
        decision[taken if self._complete else taken[taken >= 0]] = 1
        return decision

    def branches(self, decision: np.ndarray[Any, Any]) -> list[int]:
        chosen: list[int] = np.flatnonzero(decision).tolist()
        return chosen if self.perfect else super().branches(decision)  # no perfect matching holds another one

    def lower(self) -> Assignment:
        rows, columns = self._shape
        return Assignment(rows, columns, columns if self.perfect else columns - rows, self._cells, self.sign)
