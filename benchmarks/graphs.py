"""Graph problems with 10,000 edges, and whole runs on a small matching."""

from __future__ import annotations

import time

import numpy as np
from clock import Row, best

import surepick as sp
from surepick.run.drive import drive

PUBLIC = 266  # samples a second of the one public Python CLUCB, on a matching of this size


def problems() -> dict[str, sp.Problem]:
    rng = np.random.default_rng(5)
    square = [(u, v) for u in range(100) for v in range(100)]
    layers = [(f"{a}.{i}", f"{a + 1}.{j}") for a in range(25) for i in range(20) for j in range(20)]
    layers += [("s", f"0.{i}") for i in range(20)] + [(f"25.{i}", "t") for i in range(20)]
    web = [(int(u), int(v)) for u, v in rng.integers(0, 2500, (11_000, 2)) if u != v]
    tree = [(int(rng.integers(0, v)), v) for v in range(1, 2500)] + [(u, v) for u, v in web if u < 2500]
    return {
        "Matching": sp.Matching(square),
        "Path, no cycles": sp.Path(layers, "s", "t"),
        "Path, cycles": sp.Path([*web, (0, 1), (1, 2), (2, 0)][:10_000], web[0][0], web[1][1]),
        "SpanningTree": sp.SpanningTree(tree[:10_000]),
    }


def rows() -> list[Row]:
    found = []
    for name, problem in problems().items():
        rng = np.random.default_rng(6)
        middle = rng.random(problem.m)
        lower, upper = np.clip(middle - 0.05, 0, 1), np.clip(middle + 0.05, 0, 1)
        decision = problem.solve(middle)
        oracle = best(lambda p=problem, theta=middle: p.solve(theta))
        rival = best(lambda p=problem, box=(lower, upper), y=decision: p.rival(*box, y))
        found.append(
            Row(f"`rival`, {name}, {problem.m:,} edges", f"{rival / oracle:.1f} oracle calls", "≤ 5", rival <= 5 * oracle)
        )
    matching = sp.Matching([(u, v) for u in range(5) for v in range(10)])
    world = sp.Bernoulli([0.6 if u == v else 0.4 for u in range(5) for v in range(10)])
    for policy in ("clucb", "unified"):
        speed = samples_a_second(matching, world, policy)
        what = f"`{policy}` on a 5 × 10 matching to the certificate, against {PUBLIC} samples/s of public code"
        found.append(Row(what, f"{speed:,.0f}/s, {speed / PUBLIC:,.0f} ×", "≥ 100 ×", speed >= 100 * PUBLIC))
    return found


def samples_a_second(problem: sp.Problem, world: sp.Environment, policy: str, runs: int = 3) -> float:
    """Of whole runs, drawing the values included, after a short one that loads the compiled code."""
    drive(sp.Explorer(problem, policy=policy, confidence="own", budget=1000), world)
    samples, start = 0, time.perf_counter()
    for run in range(runs):
        explorer = sp.Explorer(problem, policy=policy, confidence="own")
        drive(explorer, world, run=run)
        samples += explorer.samples
    return samples / (time.perf_counter() - start)
