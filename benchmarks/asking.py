"""One ask and one tell of a full explorer with 1,000 arms, and of one with 10,000 arms and an epsilon."""

from __future__ import annotations

import time

import numpy as np
from clock import Row, sort_seconds

import surepick as sp

M, PAIRS = 1_000, 500
MANY, FEW = 10_000, 50


def rows() -> list[Row]:
    rng = np.random.default_rng(3)
    sort = sort_seconds(M)
    edges = [(int(rng.integers(0, v)), v) for v in range(1, 251)]
    edges += [(int(u), int(v)) for u, v in rng.integers(0, 251, (2 * M, 2)) if u != v][: M - len(edges)]
    found = []
    for problem in (
        sp.TopK(M, 10),
        sp.SpanningTree(edges),
        sp.SampleAllocation(rng.integers(1, 100, M), 20 * M),
        sp.ResourcePlan(lambda y: 0.05 * y * y, [10] * M, 3 * M),
    ):
        explorer = sp.Explorer(problem)
        means = rng.random(M)
        for arm in range(M):
            explorer.tell(arm, (rng.random(50) < means[arm]).astype(float))
        for _ in range(20):
            explorer.tell(explorer.ask()[0], 1.0)
        start = time.perf_counter()
        for _ in range(PAIRS):
            arm = explorer.ask()[0]
            explorer.tell(arm, float(rng.random() < means[arm]))
        pair = (time.perf_counter() - start) / PAIRS
        name = type(problem).__name__
        found.append(
            Row(
                f"`Explorer` ask + tell, {name}, m = {M:,}",
                f"{1e3 * pair:.2f} ms ({pair / sort:.0f} sorts)",
                "< 1 ms",
                pair < 1e-3,
            )
        )
    return found + [near_enough(k, rng) for k in (1, 10)]


def near_enough(k: int, rng: np.random.Generator) -> Row:
    """An epsilon that is nearly reached, so that what the exchanges could gain is weighed at every look."""
    explorer = sp.Explorer(sp.TopK(MANY, k), epsilon=0.3)
    means = np.r_[[0.6] * k, np.linspace(0.55, 0.1, MANY - k)]
    for arm in range(MANY):
        explorer.tell(arm, (rng.random(100) < means[arm]).astype(float))
    for _ in range(2):
        explorer.tell(explorer.ask()[0], 1.0)
    took: list[float] = []
    while len(took) < FEW and not explorer.done:
        start = time.perf_counter()
        arm = explorer.ask()[0]
        explorer.tell(arm, float(rng.random() < means[arm]))
        took.append(time.perf_counter() - start)
    last = took.pop() if explorer.certified else None  # with all that a certificate says
    pair, policy = sum(took) / len(took), explorer.policy.name
    end = "" if last is None else f"; the last, with the certificate, {last:.1f} s"
    return Row(
        f"`Explorer` ask + tell, top-{k}, ε > 0, m = {MANY:,} (`{policy}`)", f"{1e3 * pair:.1f} ms{end}", "< 38 ms", pair < 38e-3
    )
