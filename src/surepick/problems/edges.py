"""Edges as arms: what the graph problems share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..arms import Arm, Names, make_arms
from ..checks import entries, label, short
from ..errors import InfeasibleError, ProblemError
from .keys import Columns, Key, Label

Edge = tuple[Hashable, Hashable]


def table_edges(table: Columns, column: str = "u") -> list[tuple[str, str]]:
    return list(zip(table.texts(column), table.texts("v", "the other end of every edge"), strict=True))


EDGES = Key(list[list[Label]], "a list of pairs [u, v], one an arm", column="u", read=table_edges)


class EdgeNames:
    """The rows of an edge list need no names: edges are called after their ends."""

    noun = "edge"

    @classmethod
    def row_names(cls, table: Columns) -> list[str] | None:
        return [str(arm.name) for arm in edge_arms(table_edges(table), None, loops=True)[1]] if table.has("u") else None


def edge_arms(edges: Sequence[Edge], arms: Names | None, *, loops: bool) -> tuple[list[Edge], tuple[Arm, ...]]:
    """The edges as pairs, and an arm for each: the user's own, or one called "u-v" (parallel ones "u-v #2" and so on)."""
    pairs: list[Edge] = []
    given = None if isinstance(edges, (str, bytes)) else entries(edges)
    if given is None:
        raise ProblemError(f"edges must be a list of pairs (u, v), not {short(edges)}.", key="edges")
    for i, edge in enumerate(given):
        pair = entries(edge)
        if pair is None or len(pair) != 2 or not all(map(label, pair)):
            raise ProblemError(f"Edge {i} is {short(edge)}; give edges as pairs (u, v) of texts or numbers.", key=f"edges[{i}]")
        u, v = pair
        if not loops and u == v:
            raise ProblemError(f"Edge {i} joins {u!r} to itself and is of no use: leave it out.", key=f"edges[{i}]")
        pairs.append((u, v))
    if not pairs:
        raise InfeasibleError("The graph has no edges; give at least one.", key="edges")
    if arms is None:
        seen: dict[str, int] = {}
        names = []
        for u, v in pairs:
            name = f"{u}-{v}"
            seen[name] = seen.get(name, 0) + 1
            names.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
        arms = names
    made = make_arms(arms, "edge")
    if len(made) != len(pairs):
        raise ProblemError(
            f"There are {len(pairs)} edges but {len(made)} arms: give one arm an edge, or leave arms out.", key="edges"
        )
    return pairs, made
