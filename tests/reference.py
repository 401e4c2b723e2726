"""The slow and plain versions that the real ones are judged by."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import singledispatch

import numpy as np

import surepick as sp


def undecided_by_calls(problem: sp.Problem, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Theorem 3 of the paper to the letter: two oracle calls an arm (right for bi-monotone classes)."""
    out = np.zeros(problem.m, dtype=bool)
    for i in range(problem.m):
        one, other = lower.copy(), upper.copy()
        one[i], other[i] = upper[i], lower[i]
        out[i] = problem.solve(one)[i] != problem.solve(other)[i]
    return out


def corners(lower: np.ndarray, upper: np.ndarray) -> Iterator[np.ndarray]:
    for ends in itertools.product(*[(a,) if a == b else (a, b) for a, b in zip(lower, upper, strict=True)]):
        yield np.array(ends)


def varies(problem: sp.Problem, points: Iterable[np.ndarray]) -> np.ndarray:
    """Arms whose entry of phi is not the same at all of the points."""
    decisions = np.array([problem.solve(point) for point in points])
    return (decisions != decisions[0]).any(axis=0)


def points_of(lower: np.ndarray, upper: np.ndarray, rng: np.random.Generator, n: int) -> Iterator[np.ndarray]:
    """Random points of a box: inside it, and on random corners."""
    for j in range(n):
        share = rng.random(len(lower)) if j % 2 else rng.integers(0, 2, len(lower))
        yield np.clip(lower + share * (upper - lower), lower, upper)


# -- every decision of a class, by its definition -------------------------------------------------------------------------


Decisions = list[tuple[float, ...]]


@singledispatch
def decisions_of(problem: sp.Problem) -> Decisions:
    """All decisions; a class without a line below has no reference yet."""
    raise TypeError(type(problem))


@decisions_of.register
def _(problem: sp.Separable) -> Decisions:
    return problem.decisions


@decisions_of.register
def _(problem: sp.Ranking) -> Decisions:
    return list(itertools.permutations(range(1, problem.m + 1)))


@decisions_of.register
def _(problem: sp.SpanningTree) -> Decisions:
    return [y for y in itertools.product((0, 1), repeat=problem.m) if _is_tree(problem, y)]


@decisions_of.register
def _(problem: sp.Matching) -> Decisions:
    return [y for y in itertools.product((0, 1), repeat=problem.m) if _is_matching(problem, y)]


@decisions_of.register
def _(problem: sp.Program) -> Decisions:
    whole = itertools.product(*[range(c + 1) for c in problem.levels.tolist()])
    return [y for y in whole if (problem.least <= problem.A @ y).all() and (problem.A @ y <= problem.most).all()]


@decisions_of.register
def _(problem: sp.BestOfEach) -> Decisions:
    labels = set(problem.group.tolist())
    return [
        y
        for y in itertools.product((0, 1), repeat=problem.m)
        if all(sum(y[i] for i in range(problem.m) if problem.group[i] == g) == problem.k for g in labels)
    ]


@decisions_of.register
def _(problem: sp.Subsets) -> Decisions:
    return [tuple(row) for row in problem.decisions.tolist()]


@decisions_of.register
def _(problem: sp.SampleAllocation) -> Decisions:
    ranges = [range(lo, hi + 1) for lo, hi in zip(problem.least.tolist(), problem.most.tolist(), strict=True)]
    return [y for y in itertools.product(*ranges) if sum(y) <= problem.budget]


@decisions_of.register
def _(problem: sp.ResourcePlan) -> Decisions:
    return [y for y in itertools.product(*[range(c + 1) for c in problem.caps.tolist()]) if sum(y) >= problem.require]


def _is_tree(problem: sp.SpanningTree, y: tuple[int, ...]) -> bool:
    if sum(y) != len(problem.nodes) - 1:
        return False
    component = {node: node for node in problem.nodes}
    for (u, v), used in zip(problem.edges, y, strict=True):
        if used and component[u] != component[v]:
            old, new = component[u], component[v]
            component = {node: new if c == old else c for node, c in component.items()}
    return len(set(component.values())) == 1


def _is_matching(problem: sp.Matching, y: tuple[int, ...]) -> bool:
    used = [edge for edge, n in zip(problem.edges, y, strict=True) if n]
    left, right = {u for u, _ in used}, {v for _, v in used}
    if len(left) < len(used) or len(right) < len(used):
        return False
    smaller = min(len({u for u, _ in problem.edges}), len({v for _, v in problem.edges}))
    return len(used) == smaller or not problem.perfect


@decisions_of.register
def _(problem: sp.Path) -> Decisions:
    """All ways from source to target that pass no node twice."""
    found = []

    def walk(node: object, seen: set[object], used: list[int]) -> None:
        if node == problem.target:
            found.append(tuple(int(i in used) for i in range(problem.m)))
            return
        for i, (u, v) in enumerate(problem.edges):
            if u == node and v not in seen:
                walk(v, seen | {v}, [*used, i])

    walk(problem.source, {problem.source}, [])
    return found


# -- its reward in exact arithmetic, from its definition ----------------------------------------------------------------------


@singledispatch
def exact_reward(problem: sp.Problem, theta: np.ndarray, y: tuple[float, ...]) -> Fraction:
    """r(theta; y) = (plus or minus) theta . y, unless a class has a line below."""
    total = sum((Fraction(t) * Fraction(v) for t, v in zip(theta.tolist(), y, strict=True)), Fraction(0))
    return -total if getattr(problem, "sense", "max") == "min" else total


@exact_reward.register
def _(problem: sp.Separable, theta: np.ndarray, y: tuple[float, ...]) -> Fraction:
    parts = zip(problem.rewards, theta.tolist(), y, strict=True)
    return sum((Fraction(reward(Fraction(t), Fraction(v))) for reward, t, v in parts), Fraction(0))


@exact_reward.register
def _(problem: sp.Ranking, theta: np.ndarray, y: tuple[float, ...]) -> Fraction:
    """Over all pairs, the parameter of the one that is ranked above the other."""
    pairs = itertools.permutations(range(problem.m), 2)
    return sum((Fraction(float(problem.sign * theta[i])) for i, j in pairs if y[i] < y[j]), Fraction(0))


@exact_reward.register
def _(problem: sp.SampleAllocation, theta: np.ndarray, y: tuple[float, ...]) -> Fraction:
    n = [Fraction(x) for x in problem.sizes.tolist()]
    return -sum((n[i] / sum(n)) ** 2 * Fraction(float(theta[i])) / y[i] for i in range(problem.m))


@exact_reward.register
def _(problem: sp.ResourcePlan, theta: np.ndarray, y: tuple[float, ...]) -> Fraction:
    worth = sum((Fraction(float(theta[i])) * Fraction(y[i]) for i in range(problem.m)), Fraction(0))
    return worth - sum(Fraction(problem.cost_table(i)[int(y[i])]) for i in range(problem.m))


# -- which of equally good decisions its documentation promises ---------------------------------------------------------------


@singledispatch
def leading(problem: sp.Problem, best: Decisions) -> tuple[float, ...] | None:
    """None where the class leaves it to a solver."""
    return None


@leading.register
def _(problem: sp.Separable, best: Decisions) -> tuple[float, ...]:
    return max(best, key=lambda y: (-sum(y), [-v for v in y]))


@leading.register
def _(problem: sp.Subsets, best: Decisions) -> tuple[float, ...]:
    return best[0]


@leading.register
def _(problem: sp.Ranking, best: Decisions) -> tuple[float, ...]:
    return min(best)  # ties to the lower index


@leading.register(sp.BestOfEach)
@leading.register(sp.SpanningTree)
def _(problem: sp.Problem, best: Decisions) -> tuple[float, ...]:
    return max(best)  # ties to the lower index


@leading.register
def _(problem: sp.SampleAllocation, best: Decisions) -> tuple[float, ...]:
    most = max(sum(y) for y in best)
    return min(y for y in best if sum(y) == most)  # the whole budget, extra units to the larger index


@leading.register
def _(problem: sp.ResourcePlan, best: Decisions) -> tuple[float, ...]:
    least = min(sum(y) for y in best)
    return min(y for y in best if sum(y) == least or not problem.convex)


def brute_solve(problem: sp.Problem, theta: np.ndarray) -> tuple[tuple[float, ...] | None, list[tuple[float, ...]]]:
    """The leading decision and all optimal ones."""
    rewards = {y: exact_reward(problem, theta, y) for y in decisions_of(problem)}
    top = max(rewards.values())
    best = [y for y, r in rewards.items() if r == top]
    return leading(problem, best), best
