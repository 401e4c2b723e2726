"""The best path between two nodes of a directed graph whose edges are the arms."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np

from ..arms import Arm, Floats, Ints, Names, Sense
from ..checks import label, short
from ..engine import compiled
from ..engine.data import Ways
from ..errors import InfeasibleError, ParameterError, ProblemError
from ..estimators import Estimator, make_estimator
from .base import Problem
from .edges import EDGES, Edge, EdgeNames, edge_arms
from .keys import PARAMETER, Columns, Key, Keys, Label
from .oracle import OracleProblem


class Path(EdgeNames, OracleProblem):
    """The shortest path (``sense="min"``, the default) or, on a graph without cycles, the longest one.

    Parameters
    ----------
    edges : sequence of (u, v) pairs
        The arms, each from u to v.
    source, target
        Nodes of the graph.
    sense : {"min", "max"}
        ``"min"`` on a graph with cycles needs arms whose parameters are never negative. ``"max"`` needs a graph without cycles.
    arms : names or Arm objects, optional
    parameter : {"mean", "variance"} or Estimator

    Notes
    -----
    Without cycles by dynamic programming in topological order, ties to the lower edge; with cycles by
    ``scipy.sparse.csgraph.dijkstra``. Edges that are on no path from source to target are never picked. For the test of
    undecided arms see :class:`OracleProblem`; the best path through every edge comes from two searches.

    Examples
    --------
    >>> Path([("a", "b"), ("b", "c"), ("a", "c")], "a", "c").solve([0.3, 0.4, 0.8])
    array([1, 1, 0])
    """

    kind = "path"
    edges: list[Edge]
    source: Hashable
    target: Hashable

    def __init__(
        self,
        edges: Sequence[tuple[Hashable, Hashable]],
        source: Hashable,
        target: Hashable,
        *,
        sense: Sense = "min",
        arms: Names | None = None,
        parameter: str | Estimator = "mean",
    ) -> None:
        self.edges, made = edge_arms(edges, arms, loops=False)
        super().__init__(made, make_estimator(parameter), sense)
        nodes = {node: i for i, node in enumerate(dict.fromkeys(node for pair in self.edges for node in pair))}
        for what, node in (("source", source), ("target", target)):
            if not label(node) or node not in nodes:
                raise ProblemError(
                    f"The {what} {short(node)} is on no edge; the nodes are {', '.join(map(short, list(nodes)[:8]))}.", key=what
                )
        if source == target:
            raise ProblemError(f"Source and target are both {source!r}: the path would be empty.", key="target")
        self.nodes: list[Hashable] = list(nodes)
        self.source, self.target = source, target
        self._s, self._t = nodes[source], nodes[target]
        u = np.array([nodes[a] for a, _ in self.edges], dtype=np.int64)
        v = np.array([nodes[b] for _, b in self.edges], dtype=np.int64)
        self._useful = _reached(u, v, self._s, len(nodes))[u] & _reached(v, u, self._t, len(nodes))[v]
        if not self._useful.any():
            raise InfeasibleError(f"No path leads from {source!r} to {target!r}: add the missing edges.", key="edges")
        self._u, self._v = u, v
        # Edges that leave the target or enter the source are on no path without cycles.
        self._useful &= (u != self._t) & (v != self._s)
        self._kept: Ints = np.flatnonzero(self._useful)
        self._order = _topological(u[self._kept], v[self._kept], len(nodes))
        self.acyclic: bool = len(self._order) == len(nodes)
        self.any_weights: bool = self.acyclic  # Dijkstra's algorithm takes none below 0
        if self.acyclic:
            rank = np.empty(len(nodes), dtype=np.int64)
            rank[self._order] = np.arange(len(nodes))
            self._backward = self._kept[np.argsort(-rank[v[self._kept]], kind="stable")]
            self._kept = self._kept[np.argsort(rank[u[self._kept]], kind="stable")]
        elif sense == "max":
            raise ProblemError(
                "The graph has a cycle, and the longest path in such a graph cannot be found: use sense='min'.", key="sense"
            )
        elif (self.low < 0).any():
            i = int(np.flatnonzero(self.low < 0)[0])
            raise ProblemError(
                f"The graph has a cycle, and arm {self.names[i]!r} may be negative: shortest paths then need low >= 0 "
                "for every arm.",
                key="arms",
            )

    def alternatives(self) -> tuple[float, float, int]:
        """All other paths, if there is no cycle and few enough of them: they can be counted."""
        a, b, k = super().alternatives()
        if not self.acyclic:
            return a, b, k
        count = [0] * len(self.nodes)
        count[self._s] = 1
        for e in self._kept.tolist():
            count[self._v[e]] += count[self._u[e]]
        every = math.log(max(count[self._t], 2) - 1)
        return (every, 0.0, 1) if every <= a + 4 * b else (a, b, k)

    def admits(self, decision: Floats) -> bool:
        if not np.isin(decision, (0.0, 1.0)).all():
            return False
        after = {int(self._u[e]): int(self._v[e]) for e in np.flatnonzero(decision)}
        node, steps = self._s, 0
        while node in after and node != self._t and steps <= len(after):
            node, steps = after[node], steps + 1
        return bool(node == self._t and steps == decision.sum())

    @classmethod
    def study_keys(cls) -> Keys:
        return {
            "edges": EDGES,
            "source": Key(Label, "the node where the path begins, a text or a whole number"),
            "target": Key(Label, "the node where the path ends, a text or a whole number"),
            "sense": Key(Literal["min", "max"], "'min' or 'max'", "min"),
            "parameter": PARAMETER,
        }

    @classmethod
    def from_study(cls, arms: Sequence[Arm] | None, keys: dict[str, Any], table: Columns | None) -> Problem:
        nodes = {node for pair in keys["edges"] for node in pair}
        for end in ("source", "target"):  # the nodes of a CSV table are texts
            if keys[end] not in nodes and str(keys[end]) in nodes:
                keys = {**keys, end: str(keys[end])}
        return super().from_study(arms, keys, table)

    def keys(self) -> dict[str, Any]:
        return {"edges": self.edges, "source": self.source, "target": self.target, "sense": self.sense}

    def lower(self) -> Ways | None:
        if not self.acyclic:
            return None
        return Ways(len(self.nodes), self._s, self._t, self._u, self._v, self._kept, self.sign)

    def maximise(self, weights: Floats) -> np.ndarray[Any, Any]:
        decision = np.zeros(self.m, dtype=np.int64)
        if self.acyclic:
            edge = compiled("paths").longest(weights, self._u, self._v, self._kept, self._s, len(self.nodes))[1]
        else:
            edge = self._dijkstra(-weights, self._u, self._v, self._s)[1]
        node = self._t
        while node != self._s:
            e = int(edge[node])
            decision[e] = 1
            node = int(self._u[e])
        return decision

    @property
    def splits(self) -> bool:
        return True

    def maximise_within(self, weights: Floats, taken: list[int], left: list[int]) -> np.ndarray[Any, Any] | None:
        # ``taken`` is the beginning of a path. To go on along an edge is to leave out the others from its node, which also
        # works with cycles, where no weight may be above 0.
        for e in taken:
            left = left + [i for i in np.flatnonzero(self._u == self._u[e]).tolist() if i != e]
        bent = weights.copy() if self.acyclic else np.minimum(weights, 0.0)
        bent[left] = -1.0 - 2.0 * float(np.abs(weights).sum())
        decision = self.maximise(bent)
        return None if decision[left].any() or not decision[taken].all() else decision

    def branches(self, decision: np.ndarray[Any, Any]) -> list[int]:
        """The edges of the path from the source on: no path holds another one."""
        after = {int(self._u[e]): e for e in np.flatnonzero(decision).tolist()}
        node, edges = self._s, []
        while node != self._t:
            edges.append(after[node])
            node = int(self._v[after[node]])
        return edges

    def _dijkstra(self, lengths: Floats, u: Ints, v: Ints, start: int) -> tuple[Floats, Ints]:
        """Distances from a node, and the last edge of the way to every node (-1 where there is none)."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        if (lengths[self._kept] < 0).any():
            raise ParameterError(
                "A length is negative, and the graph has a cycle: shortest paths need lengths of at least 0.", key="theta"
            )
        n = len(self.nodes)
        # Of parallel edges the shortest, then the first, is the one that counts.
        kept = self._kept[np.lexsort((self._kept, lengths[self._kept], v[self._kept], u[self._kept]))]
        first = np.ones(len(kept), dtype=bool)
        first[1:] = (u[kept[1:]] != u[kept[:-1]]) | (v[kept[1:]] != v[kept[:-1]])
        kept = kept[first]
        # csgraph takes a stored 0 for no edge in some of its algorithms; the smallest number keeps it an edge.
        graph = csr_array((np.maximum(lengths[kept], 5e-324), (u[kept], v[kept])), shape=(n, n))
        distance, before = dijkstra(graph, indices=start, return_predecessors=True)
        edge = np.full(n, -1)
        ends = before >= 0
        place = np.searchsorted(u[kept] * n + v[kept], before[ends].astype(np.int64) * n + np.flatnonzero(ends))
        edge[ends] = kept[place]
        return distance, edge

    def _with(self, weights: Floats, best: np.ndarray[Any, Any]) -> Floats:
        """The best way through every edge, from two searches (with cycles it may pass a node twice: still a bound)."""
        if self.acyclic:
            k = compiled("paths")
            ahead = k.longest(weights, self._u, self._v, self._kept, self._s, len(self.nodes))[0]
            back = k.longest(weights, self._v, self._u, self._backward, self._t, len(self.nodes))[0]
        else:
            ahead = -self._dijkstra(-weights, self._u, self._v, self._s)[0]
            back = -self._dijkstra(-weights, self._v, self._u, self._t)[0]
        values: Floats = np.where(self._useful, ahead[self._u] + weights + back[self._v], -np.inf)
        return values


def _reached(u: Ints, v: Ints, start: int, nodes: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Nodes that can be reached from the start."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    graph = csr_array((np.ones(len(u)), (u, v)), shape=(nodes, nodes))
    out = np.zeros(nodes, dtype=np.bool_)
    out[breadth_first_order(graph, start, return_predecessors=False)] = True
    return out


def _topological(u: Ints, v: Ints, nodes: int) -> Ints:
    """Nodes in an order in which edges lead forward; fewer than all of them if there is a cycle."""
    waiting = np.bincount(v, minlength=nodes)
    after: list[list[int]] = [[] for _ in range(nodes)]
    for a, b in zip(u.tolist(), v.tolist(), strict=True):
        after[a].append(b)
    order = np.flatnonzero(waiting == 0).tolist()
    for node in order:
        for other in after[node]:
            waiting[other] -= 1
            if waiting[other] == 0:
                order.append(other)
    return np.array(order, dtype=np.int64)
