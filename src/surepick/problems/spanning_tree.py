"""The best spanning tree of a graph whose edges are the arms (a graphic matroid)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..arms import Bools, Floats, Names, Sense
from ..engine import compiled
from ..engine.data import Exchanges, Tree
from ..errors import InfeasibleError
from ..estimators import Estimator, make_estimator
from .base import LinearProblem, exchange_list
from .edges import EDGES, EdgeNames, edge_arms
from .keys import PARAMETER, SENSE, Keys


class SpanningTree(EdgeNames, LinearProblem):
    """The spanning tree of largest (or, with ``sense="min"``, smallest) total weight.

    Parameters
    ----------
    edges : sequence of (u, v) pairs
        The arms, in this order. Parallel edges are allowed, loops are not; the graph must be connected.
    sense : {"max", "min"}
    arms : names or Arm objects, optional
        One an edge; by default ``"u-v"``.
    parameter : {"mean", "variance"} or Estimator

    Notes
    -----
    Every matroid is bi-monotone: i is in the best basis iff i is not spanned by the elements that beat it.

    *Can be in*: i is not in span{e : L_e beats U_i}. One sweep in Kruskal's order inserts edges by L and asks for
    edges by U.

    *Can be out*: i is in span{e != i : U_e beats L_i}. Edges outside the best tree at U always can; an edge of that
    tree can iff its best replacement (the first edge outside the tree, by U, whose cycle contains it) beats L_i. Edges
    outside the tree, taken in order, each cover the path between their ends once, with a second union-find.

    Ties go to the lower index.

    Examples
    --------
    >>> SpanningTree([("a", "b"), ("b", "c"), ("a", "c")]).solve([0.9, 0.1, 0.5])
    array([1, 0, 1])
    """

    kind = "spanning-tree"
    exchangeable = True

    def __init__(
        self,
        edges: Sequence[tuple[Hashable, Hashable]],
        *,
        sense: Sense = "max",
        arms: Names | None = None,
        parameter: str | Estimator = "mean",
    ) -> None:
        pairs, made = edge_arms(edges, arms, loops=False)
        super().__init__(made, make_estimator(parameter), sense)
        nodes = {node: i for i, node in enumerate(dict.fromkeys(node for pair in pairs for node in pair))}
        self.edges = pairs
        self.nodes: list[Hashable] = list(nodes)
        self._u = np.array([nodes[u] for u, _ in pairs], dtype=np.int64)
        self._v = np.array([nodes[v] for _, v in pairs], dtype=np.int64)
        if self.maximise(np.zeros(self.m)).sum() < len(nodes) - 1:
            raise InfeasibleError(
                f"The graph is not connected, so no tree spans its {len(nodes)} nodes: "
                "add the missing edges, or set up one problem a component.",
                key="edges",
            )

    def admits(self, decision: Floats) -> bool:
        # A tree is the best one when its own edges come first.
        return bool(np.isin(decision, (0.0, 1.0)).all() and (self.maximise(decision) == decision).all())

    @classmethod
    def study_keys(cls) -> Keys:
        return {"edges": EDGES, "sense": SENSE, "parameter": PARAMETER}

    def keys(self) -> dict[str, Any]:
        return {"edges": self.edges, "sense": self.sense}

    def maximise(self, weights: Floats) -> np.ndarray[Any, Any]:
        order = np.argsort(-weights, kind="stable")
        decision = np.zeros(self.m, dtype=np.int64)
        parent = np.empty(len(self.nodes), dtype=np.int64)
        compiled("trees").grow(order, self._u, self._v, parent, decision)
        return decision

    def open_on(self, lower: Floats, upper: Floats) -> Bools:
        out = np.empty(self.m, dtype=np.bool_)
        by_lower = np.argsort(-lower, kind="stable")
        by_upper = np.argsort(-upper, kind="stable")
        compiled("trees").undecided(self.lower(), lower, upper, by_lower, by_upper, out)
        return out

    def lower(self) -> Tree:
        return Tree(len(self.nodes), self._u, self._v, self.sign)

    def width(self) -> int:
        return 2

    @property
    def most_exchanges(self) -> int:
        return (len(self.nodes) - 1) * (self.m - len(self.nodes) + 1)

    def exchanges(self, decision: np.ndarray[Any, Any]) -> Exchanges:
        return exchange_list(
            self.most_exchanges, lambda high, low: compiled("trees").exchanges(self.lower(), decision, high, low)
        )
