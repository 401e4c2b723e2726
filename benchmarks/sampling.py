"""Whole explorations to the certificate: samples a second, compiled against the plain loop, and COCI against uniform."""

from __future__ import annotations

import time

import numpy as np
from clock import Row

import surepick as sp
from surepick.loop import drive

TOP3 = [0.75, 0.70, 0.65, 0.55, 0.50, 0.45, 0.40, 0.35, 0.30, 0.25]


def explore(
    problem: sp.Problem, world: sp.Environment, policy: str, runs: int, budget: int | None, compiled: bool
) -> tuple[float, float]:
    """Mean samples and samples a second."""
    samples = []
    start = time.perf_counter()
    for run in range(runs):
        explorer = sp.Explorer(problem, policy=policy, confidence="paper", budget=budget)
        drive(explorer, world, run=run, compiled=compiled)
        samples.append(explorer.samples)
    return float(np.mean(samples)), sum(samples) / (time.perf_counter() - start)


def rows() -> list[Row]:
    found = []
    for what, problem, world in (
        ("top-3 of 10", sp.TopK(10, 3), sp.Bernoulli(TOP3)),
        ("allocation, 5 strata, k = 12", sp.SampleAllocation([1] * 5, 12), sp.Bernoulli([0.5, 0.3, 0.2, 0.1, 0.05])),
    ):
        explore(problem, world, "coci", 1, 2000, True)  # compile
        _, plain = explore(problem, world, "coci", 1, 3000, False)
        _, fast = explore(problem, world, "coci", 8, 500_000, True)
        found.append(
            Row(f"compiled loop, {what}", f"{fast / 1e6:.1f} M samples/s, {fast / plain:,.0f} × the plain loop", "", True)
        )
    coci, _ = explore(sp.TopK(10, 3), sp.Bernoulli(TOP3), "coci", 200, None, True)
    uniform, _ = explore(sp.TopK(10, 3), sp.Bernoulli(TOP3), "uniform", 200, None, True)
    found.append(
        Row(
            "samples to certify top-3 of 10, COCI (mean of 200 runs)",
            f"{coci:,.0f}",
            "26,146 ± 3 %",
            abs(coci / 26_146 - 1) <= 0.03,
        )
    )
    found.append(Row("— uniform sampling", f"{uniform:,.0f}", "76,204 ± 4 %", abs(uniform / 76_204 - 1) <= 0.04))
    return found
