"""The width of a decision class: how many arms one step of exchange may have to touch."""

from __future__ import annotations

from ..problems import BestOfEach, Problem, SpanningTree, Subsets

LARGEST = 80  # decisions up to which the width is found by enumeration


def width(problem: Problem) -> int | None:
    """width(Y) of Chen et al. (2014): 2 for matroids, by enumeration for short lists of subsets, None if unknown.

    An exchange set b = (in, out) leads from S towards S' if it takes out some i of S - S', stays between the two, and
    both S with b and S' against b are decisions. The width is the largest, over S, S' and i, of the smallest such |b|.
    """
    if isinstance(problem, (BestOfEach, SpanningTree)):
        return 2
    if isinstance(problem, Subsets) and problem.linear and len(problem.decisions) <= LARGEST:
        return _enumerate([frozenset(row.nonzero()[0].tolist()) for row in problem.decisions])
    return None


def _enumerate(sets: list[frozenset[int]]) -> int:
    known = set(sets)
    widest = 0
    for s in sets:
        for other in sets:
            smallest: dict[int, int] = {}
            for t in sets:
                into, out = t - s, s - t
                if not (into <= other and not out & other) or (other - into) | out not in known:
                    continue
                for i in out:
                    smallest[i] = min(smallest.get(i, len(into) + len(out)), len(into) + len(out))
            for i in s - other:
                widest = max(widest, smallest[i])
    return widest
