"""Finite populations: how many of their values it takes to find the best arm, and how fast.

    python benchmarks/finite.py [RUNS]

Printed are the mean and the largest number of samples, and how many answers were wrong at delta = 0.05.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import surepick as sp
from surepick.engine import start
from surepick.environments.base import Environment
from surepick.run.drive import drive

MEANS = (0.75, 0.60, 0.55, 0.50, 0.45, 0.40, 0.35, 0.30, 0.25, 0.20)
NEAR = (0.70, 0.68, 0.60, 0.55, 0.50, 0.45, 0.40, 0.35, 0.30, 0.25)
TOP = (0.75, 0.70, 0.65, 0.55, 0.50, 0.45, 0.40, 0.35, 0.30, 0.25)


class Endless(Environment):
    """0/1 values as a population of millions has them, where nobody notices what is gone."""

    def __init__(self, means: tuple[float, ...]) -> None:
        self.means = np.array(means)

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> np.ndarray:
        return (rng.random(n) < self.means[arm]).astype(float)


def arms(population: int | None, kind: str) -> list[sp.Arm]:
    return [sp.Arm(f"arm {i}", kind=kind, population=population) for i in range(10)]  # type: ignore[arg-type]


def coins(means: tuple[float, ...], size: int) -> sp.Replay:
    return sp.Replay([np.repeat([1.0, 0.0], [round(p * size), size - round(p * size)]) for p in means], replace=False)


def narrow(size: int, seed: int) -> list[np.ndarray]:
    """Beta values of concentration 50, whose means are as wished."""
    rng = np.random.default_rng(seed)
    return [np.clip(x - x.mean() + p, 0, 1) for p in MEANS for x in [rng.beta(50 * p, 50 * (1 - p), size)]]


def measure(title: str, problem: sp.Problem, world: Environment, runs: int, best: list[int], **settings: str) -> None:
    counts, wrong, began = [], 0, time.perf_counter()
    for seed in range(runs):
        ex = sp.Explorer(problem, **settings)  # type: ignore[arg-type]
        with start.at_once():
            drive(ex, world, seed=seed)
        assert ex.certified
        counts.append(ex.samples)
        wrong += sorted(np.flatnonzero(ex.decision).tolist()) != best
    took = time.perf_counter() - began
    print(f"{title:58s} {np.mean(counts):9.1f} {max(counts):8d} {wrong:4d}  {sum(counts) / took:10,.0f} samples/s", flush=True)


def main(runs: int) -> None:
    drive(sp.Explorer(sp.BestArm(arms(30, "bounded"))), coins(NEAR, 30))  # compiles
    for kind in ("bounded", "bernoulli"):
        measure(f"best of 10, 0/1, population 500, {kind}", sp.BestArm(arms(500, kind)), coins(NEAR, 500), runs, [0])
    for kind in ("bounded", "bernoulli"):
        for population in (10**6, None):
            title = f"top-3 of 10, 0/1, population {population}, {kind}"
            confidence = "auto" if population or kind == "bernoulli" else "betting"
            measure(title, sp.TopK(arms(population, kind), 3), Endless(TOP), runs, [0, 1, 2], confidence=confidence)
    for size in (200, 2000):
        values = narrow(size, 3)
        world, endless = sp.Replay(values, replace=False), sp.Replay(values)
        for confidence in ("auto", "beta"):
            title = f"best of 10, concentration 50, population {size}, {confidence}"
            measure(title, sp.BestArm(arms(size, "bounded")), world, runs, [0], confidence=confidence, policy="joint")
        measure(
            f"as if there were no end of {size}, betting",
            sp.BestArm(arms(None, "bounded")),
            endless,
            runs,
            [0],
            confidence="betting",
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
