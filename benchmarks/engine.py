"""Samples a second on one core: exact COCI with the paper's radius against the paper's way in Python, and how m matters."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import reference
from clock import Row
from sampling import TOP3
from undecided import graph

import surepick as sp
from surepick.lab import save
from surepick.run.drive import drive

ARMS = (100, 300, 1_000, 3_000, 10_000)
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "cost.png"


def steps(m: int, k: int) -> sp.Bernoulli:
    """k good arms, the others spread below them."""
    return sp.Bernoulli(np.r_[np.linspace(0.8, 0.6, k), np.linspace(0.5, 0.1, m - k)])


def tree(m: int = 200) -> sp.SpanningTree:
    return sp.SpanningTree(graph(m, np.random.default_rng(0)))


def strata(m: int) -> sp.SampleAllocation:
    return sp.SampleAllocation(np.linspace(50, 400, m).astype(int), 50 * m)


def sites(m: int) -> sp.ResourcePlan:
    return sp.ResourcePlan(lambda y: 0.05 * y * y, [6] * m, 2 * m)


def random(m: int) -> sp.Bernoulli:
    return sp.Bernoulli(np.random.default_rng(m).uniform(0.05, 0.95, m))


CHANCE = np.random.default_rng(1)
SPREAD = np.linspace(0.05, 0.5, 20)
SIZES = np.linspace(50, 400, 20).astype(int)
# what, problem, world, samples at most, rounds of the reference, samples a second to reach
INSTANCES = (
    ("top-3 of 10", sp.TopK(10, 3), sp.Bernoulli(TOP3), None, 1500, 5.0),
    ("top-5 of 50", sp.TopK(50, 5), steps(50, 5), None, 150, 4.0),
    ("top-10 of 1,000", sp.TopK(1000, 10), steps(1000, 10), None, 4, 2.0),
    ("allocation, m = 20, k = 1,000", sp.SampleAllocation(SIZES, 1000), sp.Bernoulli(SPREAD), 3_000_000, 100, 1.0),
    ("spanning tree, 200 edges", tree(), sp.Bernoulli(CHANCE.uniform(0.1, 0.9, 200)), 1_000_000, 5, 0.3),
)  # fmt: skip


# what, problem and world by the number of arms, those numbers, policy, confidence, samples an arm at most
GROWTH = (
    ("CLUCB, top-10", lambda m: sp.TopK(m, 10), lambda m: steps(m, 10), (100, 1_000, 10_000), "clucb", "paper", 1000),
    ("auto, top-10", lambda m: sp.TopK(m, 10), lambda m: steps(m, 10), (20, 200, 2_000), "auto", "auto", 100),
    ("auto, strata", strata, random, (10, 30, 100), "auto", "auto", 1000),
    ("COCI, strata", strata, random, (20, 200, 2_000), "coci", "paper", 2000),
    ("COCI, sites of a plan", sites, random, (20, 200, 2_000), "coci", "paper", 400),
    ("COCI, edges of a tree", tree, random, (200, 800, 3_200), "coci", "paper", 200),
)  # fmt: skip


def speed(
    problem: sp.Problem,
    world: sp.Environment,
    budget: int | None,
    policy: str = "coci",
    confidence: str = "paper",
    least: float = 1.0,
) -> float:
    """Samples a second, of whole explorations that take at least so many seconds together."""
    drive(sp.Explorer(problem, policy=policy, confidence=confidence, budget=2 * problem.m + 300), world)  # compile
    samples, run, start = 0, 0, time.process_time()
    while time.process_time() - start < least:
        explorer = sp.Explorer(problem, policy=policy, confidence=confidence, budget=budget)
        drive(explorer, world, run=run)
        samples += explorer.samples
        run += 1
    return samples / (time.process_time() - start)


def paper_speed(problem: sp.Problem, world: sp.Environment, rounds: int) -> float:
    first = problem.m * problem.parameter.minimum
    start = time.process_time()
    counts = reference.explore(problem, world, 0.05, first + rounds)
    return float(counts.sum() - first) / (time.process_time() - start)


def nanoseconds(m: int) -> float:
    """Per sample of top-10 of m arms, 1,000 samples an arm, less what setting up costs; the best of three runs."""
    problem, world, times = sp.TopK(m, 10), steps(m, 10), []
    for budget in (m + 1, 1000 * m):
        tries = []
        for _ in range(3):
            start = time.process_time()
            explorer = sp.Explorer(problem, policy="coci", confidence="paper", budget=budget)
            drive(explorer, world)
            tries.append(time.process_time() - start)
        times.append(min(tries))
    return 1e9 * (times[1] - times[0]) / (explorer.samples - m)


def curve(costs: dict[int, float]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.4), layout="constrained")
    axes = figure.add_subplot()
    m, cost = np.array(list(costs)), np.array(list(costs.values()))
    slope, level = np.polyfit(np.log10(m), cost, 1)
    axes.plot(m, level + slope * np.log10(m), "--", color="#7A7A7A", linewidth=1.3, label=f"{level:.0f} + {slope:.0f} log₁₀ m")
    axes.plot(m, cost, "o-", color="#0072B2", linewidth=2, label="measured")
    fine = np.geomspace(m[0], m[-1], 200)
    axes.plot(fine, cost[0] * fine / m[0], ":", color="#D55E00", linewidth=1.6, label="growing with m, from the first point")
    axes.set_xscale("log")
    axes.set_ylim(0, 2.6 * cost.max())
    axes.set_xticks(m, [f"{x:,}" for x in m])
    axes.minorticks_off()
    axes.set_xlabel("arms, of which the best ten are looked for")
    axes.set_ylabel("nanoseconds a sample")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, fontsize=8.5)
    save(figure, PICTURE)


def rows() -> list[Row]:
    found = []
    for what, problem, world, budget, rounds, wanted in INSTANCES:
        fast, slow = speed(problem, world, budget), paper_speed(problem, world, rounds)
        ratio, times = fast / slow, 1000 if what == "top-3 of 10" else 0
        target = f"{wanted:g} M samples/s" + (f", {times:,} ×" if times else "")
        figure = f"{fast / 1e6:.1f} M samples/s, {ratio:,.0f} × the paper's way in Python"
        found.append(Row(f"COCI, {what}", figure, target, fast >= wanted * 1e6 and ratio >= times))
    nanoseconds(ARMS[0])
    costs = {m: nanoseconds(m) for m in ARMS}
    curve(costs)
    growth = costs[ARMS[-1]] / costs[ARMS[0]]
    shown = ", ".join(f"{cost:.0f}" for cost in costs.values())
    found.append(
        Row(
            f"ns a sample, top-10 of {', '.join(f'{m:,}' for m in ARMS)}",
            f"{shown}: {growth:.1f} × for 100 × the arms",
            "logarithmic: 2 ×",
            growth <= 2.0,
        )
    )
    for what, problem, world, arms, policy, confidence, samples in GROWTH:
        speeds = [speed(problem(m), world(m), samples * m, policy, confidence) for m in arms]
        growth, more = speeds[0] / speeds[-1], arms[-1] / arms[0]
        shown = f"{', '.join(f'{x / 1e6:.2g}' for x in speeds)} M samples/s: {growth:.1f} × for {more:.0f} × the arms"
        what = f"{what}, {', '.join(f'{m:,}' for m in arms)}"
        # With `auto` a round bounds all exchanges of an arm, so that it does grow.
        found.append(
            Row(what, shown, "", True) if policy == "auto" else Row(what, shown, f"≤ {more / 4:.0f} ×", growth <= more / 4)
        )
    return found


if __name__ == "__main__":
    for row in rows():
        print(row)
