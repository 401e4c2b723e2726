"""How many samples a certificate costs: 200 seeded runs an instance, on both cores; ``--write FILE`` puts the table there.

The paper's figures are measured here where that takes seconds, and else those of the reference (some minutes a run).
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from marks import write
from rich.progress import Progress

import surepick as sp
from surepick.policies import PAC, View
from surepick.run.drive import drive

TOP3 = [0.75, 0.70, 0.65, 0.55, 0.50, 0.45, 0.40, 0.35, 0.30, 0.25]
FIVE, SIZES = [0.5, 0.3, 0.15, 0.05, 0.02], [100, 200, 300, 150, 250]
K5 = [(i, j) for i in range(5) for j in range(i + 1, 5)]
CELLS = [(i, j) for i in range(4) for j in range(4)]
SHARE = 0.85  # of what ignoring costs spends, at most
PAPER = {"policy": "coci", "confidence": "paper"}


def bernoulli(m: int) -> list[sp.Arm]:
    return [sp.Arm(f"stratum {i}", kind="bernoulli") for i in range(m)]


class Plain(PAC):
    """Decides for phi at the estimates and nothing else, to see what the smallest gap is worth."""

    name = "plain"

    def _options(self, view: View) -> list[np.ndarray[Any, Any]]:
        return [view.decision]


@dataclass(frozen=True)
class Instance:
    name: str
    problem: Callable[[], sp.Problem]
    world: sp.Environment
    settings: dict[str, Any] = field(default_factory=dict)
    paper: float | None = None  # mean samples of the paper's rule; None: measured here
    target: float | None = None  # at most this many, or this share of the paper's if below 1
    batch: int = 1
    plain: bool = False  # also with phi at the estimates only


SURVEY = {"epsilon": 0.05, "relative": True}
INSTANCES = [
    Instance("top-3 of 10, δ = 0.05", lambda: sp.TopK(10, 3), sp.Bernoulli(TOP3), {}, 26_146, 3_200),
    Instance("top-3 of 10, δ = 0.001", lambda: sp.TopK(10, 3), sp.Bernoulli(TOP3), {"delta": 0.001}, 29_554, 4_400),
    Instance(
        "allocation, 5 strata, 12 interviews, exact, bounded arms",
        lambda: sp.SampleAllocation([1] * 5, 12),
        sp.Bernoulli([0.5, 0.3, 0.2, 0.1, 0.05]),
        {},
        2.60e6,
        140_000,
    ),
    Instance(
        "the same, arms declared Bernoulli",
        lambda: sp.SampleAllocation([1] * 5, 12, arms=bernoulli(5)),
        sp.Bernoulli([0.5, 0.3, 0.2, 0.1, 0.05]),
        {},
        2.60e6,
        90_000,
    ),
    Instance(
        "survey, 5 strata, 30 interviews, within 5 %, Bernoulli",
        lambda: sp.SampleAllocation(SIZES, 30, arms=bernoulli(5)),
        sp.Bernoulli(FIVE),
        SURVEY,
        9.2e6,
        5_800,
        plain=True,
    ),
    Instance(
        "the same, exact",
        lambda: sp.SampleAllocation(SIZES, 30, arms=bernoulli(5)),
        sp.Bernoulli(FIVE),
        {},
        9.2e6,
        260_000,
    ),
    Instance(
        "two disjoint sets of 10 arms, means 0.6 and 0.5",
        lambda: sp.Subsets(20, [[1] * 10 + [0] * 10, [0] * 10 + [1] * 10]),
        sp.Bernoulli([0.6] * 10 + [0.5] * 10),
        {},
        163_986,
        4_500,
    ),
    Instance(
        "4 × 4 matching, diagonal 0.6, else 0.4",
        lambda: sp.Matching(CELLS),
        sp.Bernoulli([0.6 if i == j else 0.4 for i, j in CELLS]),
        {},
        None,
        1 / 6,
    ),
    Instance(
        "spanning tree of K5, star 0.7, else 0.5",
        lambda: sp.SpanningTree(K5),
        sp.Bernoulli([0.7 if i == 0 else 0.5 for i, _ in K5]),
        {},
        None,
        1 / 6,
    ),
    Instance(
        "top-3 of 10, within 0.1",
        lambda: sp.TopK(10, 3),
        sp.Bernoulli(TOP3),
        {"epsilon": 0.1},
        None,
        None,
        batch=8,
    ),
]


def run(which: int, how: str, seeds: range) -> list[tuple[int, bool]]:
    """Samples of every run, and whether its decision is as good as was promised."""
    instance = INSTANCES[which]
    problem, world = instance.problem(), instance.world
    theta = world.truth(problem.parameter)
    best = problem.reward(theta, problem.solve(theta))
    settings = instance.settings | (PAPER if how == "paper" else {})
    found = []
    for seed in seeds:
        explorer = sp.Explorer(problem, **settings)
        if how == "plain":
            explorer.policy = Plain().bound(problem)
        drive(explorer, world, batch=instance.batch, seed=0, run=seed)
        reward = problem.reward(theta, explorer.decision)
        size = explorer.epsilon * (abs(best) if explorer.relative else 1.0)
        found.append((explorer.samples, bool(explorer.certified and reward >= best - size - 1e-12)))
    return found


def spent(declared: bool, turn: tuple[float, float], seeds: range) -> list[tuple[float, bool]]:
    """What runs of top-3 of 10 cost, where costs are declared or ignored, and whether the decision is right."""
    costs = np.array(turn * 5)
    arms = [sp.Arm(f"arm {i}", kind="bernoulli", cost=c if declared else 1.0) for i, c in enumerate(costs.tolist())]
    problem, world, found = sp.TopK(arms, 3), sp.Bernoulli(TOP3), []
    for seed in seeds:
        explorer = sp.Explorer(problem)
        drive(explorer, world, seed=0, run=seed)
        found.append((float(explorer.counts @ costs), bool(explorer.certified and explorer.decision[:3].all())))
    return found


def costs_table(pool: ProcessPoolExecutor, parts: list[range]) -> tuple[str, bool]:
    """What declared costs save, run by run against the same runs where they are ignored; whether that is as much as is asked."""
    lines = ["| costs | declared | ignored | share | lower bound | wrong | target |", "|---|---|---|---|---|---|---|"]
    met = True
    for turn in ((1.0, 10.0), (10.0, 1.0)):
        both = [
            [run for part in pool.map(spent, [way] * len(parts), [turn] * len(parts), parts) for run in part]
            for way in (True, False)
        ]
        (mean, error), (plain, _) = (
            (np.mean([c for c, _ in runs]), np.std([c for c, _ in runs]) / len(runs) ** 0.5) for runs in both
        )
        problem = sp.TopK([sp.Arm(f"arm {i}", kind="bernoulli", cost=turn[i % 2]) for i in range(10)], 3)
        bound = sp.hardness(problem, TOP3).lower_bound_cost(0.05)
        wrong, share = [sum(not good for _, good in runs) for runs in both], mean / plain
        met &= bool(share <= SHARE)
        verdict = f"≤ {SHARE:g}" + ("" if share <= SHARE else " **missed**")
        row = f"| {turn[0]:g} and {turn[1]:g} in turn | {mean:,.0f} ± {error:,.0f} | {plain:,.0f} | {share:.3f} | {bound:,.0f} |"
        lines.append(f"{row} {wrong[0]}, {wrong[1]} of {len(both[0])} | {verdict} |")
    return "\n".join(lines) + f"\n\nMean costs of {len(both[0])} seeded runs, ± their standard error, δ = 0.05.\n", met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the table into this Markdown file")
    parser.add_argument("--costs", type=Path, metavar="FILE", help="put the table of costs into this one")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--only", default="", help="instances whose name matches this")
    options = parser.parse_args()
    jobs = [
        (i, how)
        for i, instance in enumerate(INSTANCES)
        if re.search(options.only, instance.name)
        for how in ("auto", *(("paper",) if instance.paper is None else ()), *(("plain",) if instance.plain else ()))
    ]
    parts = [range(a, min(a + 5, options.runs)) for a in range(0, options.runs, 5)]
    results: dict[tuple[int, str], list[tuple[int, bool]]] = {job: [] for job in jobs}
    with ProcessPoolExecutor(2) as pool, Progress() as bar:
        task = bar.add_task("samples", total=len(jobs) * len(parts))
        for job in jobs:
            for part in pool.map(run, *zip(*[(*job, seeds) for seeds in parts], strict=True)):
                results[job] += part
                bar.advance(task)
        costs, cheap = costs_table(pool, parts) if re.search(options.only, "costs") else ("", True)
    lines = ["| instance | samples | paper's rule | ratio | lower bound | wrong | target |", "|---|---|---|---|---|---|---|"]
    met, notes = True, []
    for i, how in jobs:
        instance, samples = INSTANCES[i], np.array([s for s, _ in results[i, how]])
        mean, error = samples.mean(), samples.std() / len(samples) ** 0.5
        wrong = sum(not good for _, good in results[i, how])
        if how == "plain":
            ratio = mean / np.mean([s for s, _ in results[i, "auto"]])
            notes.append(f"{instance.name}: deciding for φ at the estimates takes {ratio:.3f} times as many samples.")
        if how != "auto":
            continue
        paper = instance.paper or float(np.mean([s for s, _ in results[i, "paper"]]))
        bound = "" if "epsilon" in instance.settings else lower_bound(instance, mean)
        limit = None if instance.target is None else instance.target * (paper if instance.target < 1 else 1)
        verdict = "" if limit is None else f"≤ {limit:,.0f}" + ("" if mean <= limit else " **missed**")
        met &= limit is None or mean <= limit
        lines.append(
            f"| {instance.name} | {mean:,.0f} ± {error:,.0f} | {paper:,.0f} | {paper / mean:.1f} × | {bound} | "
            f"{wrong} of {len(samples)} | {verdict} |"
        )
    table = (
        "\n".join(lines) + f"\n\nMeans of {options.runs} seeded runs, ± their standard error. The paper's rule was run for the "
    )
    table += "matching, the tree and top-3 within 0.1; its other figures are reference values.\n"
    table += "".join(f"\n{note}" for note in notes) + "\n"
    print(table)
    print(costs)
    if options.write:
        write(options.write, {"samples": table})
    if options.costs and costs:
        write(options.costs, {"costs": costs})
    return 0 if met and cheap else 1


def lower_bound(instance: Instance, mean: float) -> str:
    problem = instance.problem()
    hardness = sp.hardness(problem, instance.world.truth(problem.parameter))
    bound = hardness.lower_bound(instance.settings.get("delta", 0.05))
    return "" if bound is None else f"{bound:,.0f} ({mean / bound:.1f} ×)"


if __name__ == "__main__":
    sys.exit(main())
