"""Edges as arms: what the graph problems share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ..arms import Arm, Names, make_arms
from ..checks import entries, label, short
from ..errors import InfeasibleError, ProblemError

Edge = tuple[Hashable, Hashable]


def edge_arms(edges: Sequence[Edge], arms: Names | None, *, loops: bool) -> tuple[list[Edge], tuple[Arm, ...]]:
    """The edges as pairs, and an arm for each: the user's own, or one called "u-v" (parallel ones "u-v #2" and so on)."""
    pairs: list[Edge] = []
    given = None if isinstance(edges, (str, bytes)) else entries(edges)
    if given is None:
        raise ProblemError(f"edges must be a list of pairs (u, v), not {short(edges)}.")
    for i, edge in enumerate(given):
        pair = entries(edge)
        if pair is None or len(pair) != 2 or not all(map(label, pair)):
            raise ProblemError(f"Edge {i} is {short(edge)}; give every edge as a pair (u, v) of texts or numbers.")
        u, v = pair
        if not loops and u == v:
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
