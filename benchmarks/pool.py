"""Candidates on shared items: how many of their scores it takes, on tables as item response theory makes them.

    python benchmarks/pool.py [TABLES]           the table of docs/benchmarks.md, 100 tables an instance
    python benchmarks/pool.py --errors [TABLES]  wrong certificates on near ties, 10,000 tables

Abilities fall by so much from candidate to candidate, difficulties are N(0, 1.2^2), discriminations lognormal(ln 1.6, 0.3).
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path

import numpy as np
from marks import write
from scipy.stats import binom

import surepick as sp

ROOT = Path(__file__).parents[1]


def responses(seed: int, models: int, items: int, spacing: float, twins: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    ability, difficulty = 1.0 - spacing * np.arange(models), rng.normal(0.0, 1.2, items)
    sharpness = np.exp(rng.normal(math.log(1.6), 0.3, items))
    table = (rng.random((models, items)) < 1 / (1 + np.exp(-sharpness * (ability[:, None] - difficulty)))).astype(float)
    if twins:
        table[1] = table[0]
    return table


INSTANCES = {
    "20 models, 2,000 items, best": (20, 2000, 0.12, 1, False, 1),
    "— in batches of 256": (20, 2000, 0.12, 1, False, 256),
    "20 models, 2,000 items, top 3": (20, 2000, 0.12, 3, False, 1),
    "20 models, 10,000 items, spacing .06, best": (20, 10_000, 0.06, 1, False, 1),
    "20 models, 2,000 items, two equal ones at the top": (20, 2000, 0.12, 1, True, 1),
    "100 models, 5,000 items, spacing .03, best": (100, 5000, 0.03, 1, False, 1),
}


def right(means: np.ndarray, decision: np.ndarray) -> bool:
    return bool(means[decision > 0].sum() >= np.sort(means)[-int(decision.sum()) :].sum() - 1e-9)


def main(tables: int) -> None:
    lines = ["| instance | all scores | taken | share | wrong | the dearest table |", "|---|---|---|---|---|---|"]
    for name, (models, items, spacing, k, twins, batch) in INSTANCES.items():
        taken, wrong, began = [], 0, time.perf_counter()
        for seed in range(tables if models < 100 else max(1, tables // 5)):
            table = responses(seed, models, items, spacing, twins)
            explorer = sp.Explorer(sp.TopK(models, k), pool=sp.Pool(items, seed))
            outcome = sp.explore(explorer, sp.Scores(table), batch=batch)
            assert outcome.certified
            taken.append(outcome.samples)
            wrong += not right(table.mean(axis=1), outcome.decision)
        mean, error = float(np.mean(taken)), float(np.std(taken)) / len(taken) ** 0.5
        each = (time.perf_counter() - began) / len(taken)
        share = 100 * mean / (models * items)
        cells = [name, f"{models * items:,}", f"{mean:,.0f} ± {error:,.0f}", f"{share:.1f} %", f"{wrong} of {len(taken)}"]
        lines.append(f"| {' | '.join(cells)} | {max(taken):,} at most |")
        print(lines[-1], f"{each:.1f} s a table", flush=True)
    write(ROOT / "docs" / "benchmarks.md", {"samples": "\n".join(lines) + "\n"})


def errors(tables: int) -> int:
    """At delta = 0.1, with candidates that differ by next to nothing."""
    failed = 0
    for name, k in (("best of 3", 1), ("top 2 of 4", 2)):
        wrong = certified = 0
        for seed in range(tables):
            table = responses(10**6 + seed, k + 2, 60, 0.02)
            explorer = sp.Explorer(sp.TopK(k + 2, k), 0.1, pool=sp.Pool(60, seed))
            outcome = sp.explore(explorer, sp.Scores(table), batch=k + 2)
            certified += outcome.certified
            wrong += outcome.certified and not right(table.mean(axis=1), outcome.decision)
        most = int(binom.isf(1e-6, tables, 0.1))
        failed += wrong > most
        print(f"{name}: {wrong:,} wrong of {tables:,} ({certified:,} certified), at most {most:,} allowed", flush=True)
    return failed


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:] if word.isdigit()]
    if "--errors" in sys.argv:
        sys.exit(errors(*given or [10_000]))
    main(*given or [100])
