"""How fast the compiled loops are, compared with another commit: both run side by side, turn by turn, in one go.

    python benchmarks/before_after.py REV [--turns 7] [--only NAME]

REV is checked out into a folder of its own. A turn is the same explorations in both, in processes that stay, after one that
compiles; figures are the best of all turns in samples a second of processor time, and their ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def instances() -> dict[str, tuple[object, object, dict[str, object]]]:
    """A problem, a world and settings for every loop."""
    import surepick as sp

    rng = np.random.default_rng(7)
    edges = [(a, b) for a in range(12) for b in range(a)]
    table = [(f"row {i}", f"column {j}") for i in range(6) for j in range(6)]
    steep = [lambda y, c=c: c * y * y for c in np.linspace(0.05, 0.3, 20)]
    few, many = np.linspace(0.3, 0.7, 10), np.linspace(0.2, 0.8, 200)
    strata = {"sizes": [100 * (i % 7 + 1) for i in range(20)], "budget": 200}
    top, wide = sp.TopK(10, 3), sp.TopK(200, 10)
    groups = sp.BestOfEach(60, [i % 6 for i in range(60)])
    coins = rng.uniform(0.3, 0.7, 66)
    spread = sp.Bernoulli(rng.uniform(0.05, 0.95, 20))
    found: dict[str, tuple[object, object, dict[str, object]]] = {}

    def add(name: str, problem: object, world: object, budget: int, **settings: object) -> None:
        found[name] = problem, world, {"delta": 1e-6, "budget": budget, **settings}

    for policy in ("joint", "coci", "uniform", "clucb", "unified"):
        add(f"top-3 of 10, {policy}", top, sp.Bernoulli(few), 60_000, policy=policy)
        add(f"top-10 of 200, {policy}", wide, sp.Bernoulli(many), 60_000, policy=policy)
        add(f"best of each of 6 groups, {policy}", groups, sp.Bernoulli(many[:60]), 60_000, policy=policy)
        add(f"spanning tree, {policy}", sp.SpanningTree(edges), sp.Bernoulli(coins), 10_000, policy=policy)
    for policy in ("coci", "uniform", "clucb"):
        add(f"top-10 of 200, {policy}, paper", wide, sp.Bernoulli(many), 600_000, policy=policy, confidence="paper")
        add(f"matching, {policy}", sp.Matching(table), sp.Bernoulli(coins[:36]), 10_000, policy=policy)
    add("spanning tree, coci, paper", sp.SpanningTree(edges), sp.Bernoulli(coins), 600_000, policy="coci", confidence="paper")
    for policy in ("joint", "coci", "uniform"):
        add(f"20 strata, {policy}", sp.SampleAllocation(**strata), spread, 10_000, policy=policy)
    for policy in ("coci", "uniform"):
        add(f"resource plan, {policy}", sp.ResourcePlan(steep, [5] * 20, 30), spread, 60_000, policy=policy)
    add("20 strata, coci, paper", sp.SampleAllocation(**strata), spread, 600_000, policy="coci", confidence="paper")
    halves = sp.Subsets(20, [[1] * 10 + [0] * 10, [0] * 10 + [1] * 10])
    cells = [(i, j) for i in range(4) for j in range(4)]
    diagonal = sp.Bernoulli([0.55 if i == j else 0.45 for i, j in cells])
    streets = [(5 * r + c, 5 * r + c + 1) for r in range(5) for c in range(4)] + [(c, c + 5) for c in range(20)]
    for name, settings in (("", {}), (", within 0.01", {"epsilon": 0.01})):
        add(f"two listed sets{name}", halves, sp.Bernoulli([0.6] * 10 + [0.5] * 10), 10_000, **settings)
        add(f"4 × 4 matching{name}", sp.Matching(cells), diagonal, 10_000, **settings)
        add(f"path on a grid{name}", sp.Path(streets, 0, 24), sp.Bernoulli(coins[:40]), 10_000, **settings)
    return found


def serve() -> None:
    """Run the instances whose names come in, a line each; answer with samples a second, and how often every arm was sampled."""
    import surepick as sp
    from surepick.engine import start

    try:
        from surepick.run.drive import drive
    except ImportError:  # as it was once
        from surepick.loop import drive

    start.patience = 0.0
    known = instances()
    for line in sys.stdin:
        problem, world, settings = known[line.strip()]
        explorer = sp.Explorer(problem, **settings)
        began = time.process_time()
        drive(explorer, world, seed=1)
        took = time.process_time() - began
        print(json.dumps([explorer.samples / took, explorer.counts.tolist()]), flush=True)


class Side:
    """A process that runs instances with the package of one checkout."""

    def __init__(self, source: Path) -> None:
        env = {**os.environ, "PYTHONPATH": str(source)}
        command = [sys.executable, str(Path(__file__).resolve()), "--serve"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def run(self, name: str) -> tuple[float, list[int]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(name, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"The process ended at {name!r}.")
        pace, counts = json.loads(line)
        return pace, counts

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)


def compare(rev: str, turns: int, only: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", folder, rev], cwd=ROOT, check=True)
        sides = Side(Path(folder) / "src"), Side(ROOT / "src")
        try:
            print(f"| loop | {rev[:10]} | now | ratio |\n|---|---|---|---|")
            for name in instances():
                if only not in name:
                    continue
                paces: list[list[float]] = [[], []]
                for turn in range(turns + 1):
                    found = [side.run(name) for side in sides]
                    if found[0][1] != found[1][1]:
                        raise SystemExit(f"{name}: not the same samples.")
                    for own, (pace, _) in zip(paces, found, strict=True):
                        own += [pace] if turn else []  # the first compiles
                before, now = map(max, paces)
                print(f"| {name} | {before:,.0f} | {now:,.0f} | {now / before:.2f} |", flush=True)
        finally:
            for side in sides:
                side.close()
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rev", nargs="?", help="the commit to compare with")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--only", default="", help="loops whose name contains this")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    serve() if chosen.serve else compare(chosen.rev or "HEAD", chosen.turns, chosen.only)
