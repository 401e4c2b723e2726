"""Undecided arms all at once, against two oracle calls an arm (the paper's way).

The reference is timed whole at m = 300 and m = 600; the growth between the two gives its time at m = 10,000. As a check of that
extrapolation a share of the calls is also timed at m = 10,000 itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from clock import Row, best, sort_seconds

import surepick as sp

M, SMALL, SHARE = 10_000, 300, 20


def graph(m: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    nodes = max(2, m // 4)
    edges = [(int(rng.integers(0, v)), v) for v in range(1, nodes)]
    while len(edges) < m:
        u, v = (int(x) for x in rng.integers(0, nodes, 2))
        if u != v:
            edges.append((u, v))
    return edges


def plan(m: int, rng: np.random.Generator) -> sp.Problem:
    tables = [np.concatenate(([0], np.cumsum(np.sort(rng.random(10))))) for _ in range(m)]
    return sp.ResourcePlan(tables, [10] * m, 6 * m)


CLASSES: dict[str, Callable[[int, np.random.Generator], sp.Problem]] = {
    "TopK": lambda m, rng: sp.TopK(m, m // 10),
    "SpanningTree": lambda m, rng: sp.SpanningTree(graph(m, rng)),
    "SampleAllocation": lambda m, rng: sp.SampleAllocation(rng.integers(1, 1000, m), 100 * m),
    "ResourcePlan": plan,
}


def calls(problem: sp.Problem, lower: np.ndarray, upper: np.ndarray, arms: range) -> np.ndarray:
    """Theorem 3 to the letter, for some of the arms."""
    out = np.zeros(problem.m, dtype=bool)
    for i in arms:
        one, other = lower.copy(), upper.copy()
        one[i], other[i] = upper[i], lower[i]
        out[i] = problem.solve(one)[i] != problem.solve(other)[i]
    return out


def box(problem: sp.Problem, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    middle = rng.random(problem.m)
    return np.clip(middle - 0.02, 0, 1) * problem.high, np.clip(middle + 0.02, 0, 1) * problem.high


def rows() -> list[Row]:
    sort = sort_seconds(M)
    found = []
    for name, make in CLASSES.items():
        rng = np.random.default_rng(2)
        seconds = {}
        for m in (SMALL, 2 * SMALL):
            problem = make(m, rng)
            lower, upper = box(problem, rng)
            assert (calls(problem, lower, upper, range(m)) == problem.undecided(lower, upper)).all()
            seconds[m] = best(partial(calls, problem, lower, upper, range(m)), 3)
        growth = math.log2(seconds[2 * SMALL] / seconds[SMALL])
        scaled = seconds[SMALL] * (M / SMALL) ** growth
        problem = make(M, rng)
        lower, upper = box(problem, rng)
        ours = best(partial(problem.undecided, lower, upper))
        direct = best(partial(calls, problem, lower, upper, range(SHARE)), 2) * M / SHARE
        what = f"`{name}.undecided`, m = {M:,}"
        found.append(Row(what, f"{ours / sort:.1f} sorts", "≤ 50", ours / sort <= 50))
        found.append(
            Row(
                f"— than 2m calls at m = {SMALL}, scaled (× m^{growth:.2f})",
                f"{scaled / ours:,.0f} ×",
                "≥ 500",
                scaled >= 500 * ours,
            )
        )
        found.append(Row(f"— than 2m calls at m = {M:,}", f"{direct / ours:,.0f} ×", "", True))
    return found
