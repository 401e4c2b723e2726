"""Edges as arms: what the graph problems share."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from ..arms import Arm, make_arms
from ..errors import InfeasibleError, ProblemError

Edge = tuple[Hashable, Hashable]


def edge_arms(
    edges: Sequence[Edge], arms: Sequence[str] | Sequence[Arm] | None, *, loops: bool
) -> tuple[list[Edge], tuple[Arm, ...]]:
    """The edges as pairs, and an arm for each: the user's own, or one called "u-v" (parallel ones "u-v #2" and so on)."""
    pairs: list[Edge] = []
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise ProblemError(f"edges must be a list of pairs (u, v), not {edges!r}.")
    for i, edge in enumerate(edges):
        try:
            u, v = edge
            hash((u, v))
        except (TypeError, ValueError):
            raise ProblemError(f"Edge {i} is {edge!r}; give every edge as a pair (u, v) of texts or numbers.") from None
        if u == v and not loops:
            raise ProblemError(f"Edge {i} joins {u!r} to itself and is of no use: leave it out.")
        pairs.append((u, v))
    if not pairs:
        raise InfeasibleError("The graph has no edges; give at least one.")
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
        raise ProblemError(f"There are {len(pairs)} edges but {len(made)} arms: give one arm an edge, or leave arms out.")
    return pairs, made
