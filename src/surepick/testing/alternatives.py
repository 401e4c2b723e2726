"""What a class promises of the alternatives to a decision, by brute force over all of its decisions."""

from __future__ import annotations

from math import exp
from typing import Any

from ..problems.base import Problem
from .cases import NEAR, Listed

TRIPLES = 10_000_000  # of decisions that are compared, about; with more of them the alternatives to some only
SHOWN = 4  # alternatives in a message


def pays_for_alternatives(problem: Problem, listed: Listed) -> tuple[str, dict[str, Any]] | None:
    """alternatives returns a, b and k such that the sum of exp(-a - b s) over the alternatives to any decision is at most 1, s
    being the number of arms that differ; alternatives are enough decisions for at most k to make up any other, with no arm in
    common."""
    if not problem.linear:
        return None
    a, b, k = problem.alternatives()
    if k > 1 and not listed.complete:  # what makes up a decision may not be listed
        return None
    sets = list({_as_bits(y) for y in listed.decisions.tolist()})
    for y in sets[:: 1 + len(sets) ** 3 // TRIPLES]:
        needed = steps([y ^ other for other in sets if other != y], k)
        total = sum(exp(-a - b * step.bit_count()) for step in needed)
        if total > 1 + NEAR:
            found = f"It returns {(a, b, k)!r}, and for the {len(needed)} alternatives to the decision the sum is {total:g}."
            shown = [_as_entries(y ^ step, problem.m) for step in needed[:SHOWN]]
            return found, {"decision": _as_entries(y, problem.m), "alternatives": shown}
    return None


def steps(changes: list[int], k: int) -> list[int]:
    """Of the changes that lead from one decision to others, each a set of arms, those that are not made up of at most k smaller
    ones."""
    ordered = sorted(changes, key=int.bit_count)
    if k == 1:
        return ordered
    found: list[int] = []
    for change in ordered:
        if not _made_up(change, [step for step in found if step & change == step], k):
            found.append(change)
    return found


def _made_up(change: int, parts: list[int], k: int) -> bool:
    """The arms of a change are those of at most k of the parts, each arm in one of them."""
    if change == 0 or k == 0:
        return change == 0
    first = change & -change
    return any(_made_up(change ^ part, [other for other in parts if not other & part], k - 1) for part in parts if part & first)


def _as_bits(decision: list[float]) -> int:
    return sum(1 << i for i, entry in enumerate(decision) if entry)


def _as_entries(bits: int, m: int) -> list[int]:
    return [bits >> i & 1 for i in range(m)]
