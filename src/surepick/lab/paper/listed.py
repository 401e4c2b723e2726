"""Random decision classes written out decision by decision, with phi by looking at all of them: what claims are checked against.

Every reward of the paper is affine in theta: row y of ``slopes`` and ``offsets`` is r(theta; y) = slopes . theta + offset.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...arms import Floats, Ints


@dataclass(frozen=True, eq=False)
class Listed:
    """All decisions, one a row, and their rewards. ``what`` describes the class in words."""

    Y: Ints
    slopes: Floats
    offsets: Floats
    what: str = ""

    @property
    def m(self) -> int:
        return int(self.Y.shape[1])

    def best_rows(self, thetas: Floats) -> Ints:
        """phi of every row of thetas, as a row of Y; ties, which random parameters do not have, go to the first."""
        return np.asarray(np.argmax(thetas @ self.slopes.T + self.offsets, axis=1))

    def best(self, theta: Floats) -> int:
        return int(self.best_rows(theta[None, :])[0])


def linear(rows: list[tuple[int, ...]], what: str) -> Listed:
    """0/1 decisions with reward theta . y."""
    Y = np.array(rows, dtype=np.int64)
    return Listed(Y, Y.astype(np.float64), np.zeros(len(Y)), what)


def top_k(rng: np.random.Generator) -> Listed:
    m = int(rng.integers(3, 7))
    k = int(rng.integers(1, m))
    return linear([y for y in _binary(m) if sum(y) == k], f"top {k} of {m}")


def best_of_each(rng: np.random.Generator) -> Listed:
    """A partition matroid."""
    m = int(rng.integers(4, 8))
    group = np.arange(m) % 2
    return linear([y for y in _binary(m) if (np.bincount(group, weights=y) == 1).all()], f"one of each of 2 groups, {m} arms")


def spanning_tree(rng: np.random.Generator) -> Listed:
    edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    if rng.random() < 0.5:
        edges = edges[:5]
    return linear([y for y in _binary(len(edges)) if sum(y) == 3 and _joined(edges, y)], f"spanning trees, edges {edges}")


def matching(rng: np.random.Generator) -> Listed:
    n = 3
    cells = list(itertools.product(range(n), range(n)))
    rows = [tuple(int(p[i] == j) for i, j in cells) for p in itertools.permutations(range(n))]
    return linear(rows, "perfect matchings of 3 with 3, cells row by row")


def path(rng: np.random.Generator) -> Listed:
    """The longest path from the first to the last of five nodes, forward only."""
    edges = [pair for pair in itertools.combinations(range(5), 2) if rng.random() < 0.75 or pair[1] == pair[0] + 1]
    rows = []
    for between in itertools.chain.from_iterable(itertools.combinations((1, 2, 3), r) for r in range(4)):
        steps = list(itertools.pairwise((0, *between, 4)))
        if all(step in edges for step in steps):
            rows.append(tuple(int(edge in steps) for edge in edges))
    return linear(rows, f"paths from 0 to 4, edges {edges}")


def knapsack(rng: np.random.Generator) -> Listed:
    m = int(rng.integers(4, 7))
    weights = rng.integers(1, 6, m)
    room = int(rng.integers(weights.max(), weights.sum()))
    return linear([y for y in _binary(m) if weights @ y <= room], f"knapsack of {room} for weights {weights.tolist()}")


def any_list(rng: np.random.Generator) -> Listed:
    m = int(rng.integers(4, 8))
    rows = sorted({tuple(row) for row in rng.integers(0, 2, (int(rng.integers(4, 13)), m)).tolist()})
    return linear(rows, f"a list of {len(rows)} subsets")


def allocation(rng: np.random.Generator) -> Listed:
    """Interviews: reward -sum n_i^2 theta_i / y_i."""
    m = int(rng.integers(2, 5))
    n, k = rng.integers(1, 10, m), m + int(rng.integers(1, 6))
    Y = np.array([y for y in itertools.product(range(1, k - m + 2), repeat=m) if sum(y) == k])
    return Listed(Y, -(n**2) / Y, np.zeros(len(Y)), f"{k} interviews, sizes {n.tolist()}")


def convex_plan(rng: np.random.Generator) -> Listed:
    """Units at sites, at least so many in all; increasing marginal cost."""
    return _plan(rng, lambda y, factor: factor * y**2.0, tight=False)


def convex_tight(rng: np.random.Generator) -> Listed:
    return _plan(rng, lambda y, factor: factor * y**2.0 + y, tight=True)


def concave_tight(rng: np.random.Generator) -> Listed:
    """Decreasing marginal cost, never below 1: more than required is never worth it, so the requirement is tight."""
    return _plan(rng, lambda y, factor: 2 * factor * np.sqrt(y) + y, tight=True)


def _plan(rng: np.random.Generator, cost: Callable[[Ints, Floats], Floats], tight: bool) -> Listed:
    m = 3
    caps = rng.integers(1, 5, m)
    require = int(rng.integers(1, caps.sum()))
    Y = np.array(list(itertools.product(*[range(c + 1) for c in caps])))
    Y = Y[Y.sum(axis=1) == require] if tight else Y[Y.sum(axis=1) >= require]
    factor = rng.uniform(0.1, 0.9, m)
    what = f"{require} units{'' if tight else ' at least'}, caps {caps.tolist()}, cost factors {factor.round(2).tolist()}"
    return Listed(Y, Y.astype(np.float64), -cost(Y, factor).sum(axis=1), what)


def _binary(m: int) -> list[tuple[int, ...]]:
    return list(itertools.product((0, 1), repeat=m))


def _joined(edges: list[tuple[int, int]], used: tuple[int, ...]) -> bool:
    part = list(range(4))
    for (u, v), taken in zip(edges, used, strict=True):
        if taken:
            part = [part[u] if p == part[v] else p for p in part]
    return len(set(part)) == 1


KINDS: dict[str, Callable[[np.random.Generator], Listed]] = {
    "top-k": top_k,
    "best of each group": best_of_each,
    "spanning tree": spanning_tree,
    "matching": matching,
    "path": path,
    "knapsack": knapsack,
    "any list": any_list,
    "sample allocation": allocation,
    "plan, increasing marginal cost, not tight": convex_plan,
    "plan, increasing marginal cost, tight": convex_tight,
    "plan, decreasing marginal cost, tight": concave_tight,
}
