"""Candidates on shared items: how many of their scores it takes, on tables as item response theory makes them.

    python benchmarks/pool.py [TABLES]           the tables of docs/benchmarks.md, 100 tables an instance
    python benchmarks/pool.py --errors [TABLES]  wrong certificates on near ties, 10,000 tables
    python benchmarks/pool.py --ranking [TABLES]  whole rankings alone, 100 tables
    python benchmarks/pool.py --prices [TABLES]  what it saves to say what candidates cost, 60 tables
    python benchmarks/pool.py --ranking-prices [TABLES]  the same for whole rankings, 20 tables

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
        for seed in range(tables):
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
    ranking(tables)
    prices(max(1, 3 * tables // 5))
    ranking_prices(max(1, tables // 5))


PRICES = {
    "1 and 10 in turn": np.tile([1.0, 10.0], 10),
    "10 and 1 in turn": np.tile([10.0, 1.0], 10),
    "1 and 30 in turn": np.tile([1.0, 30.0], 10),
    "30 and 1 in turn": np.tile([30.0, 1.0], 10),
    "from 30 for the best to 1": np.geomspace(30.0, 1.0, 20),
    "from 1 for the best to 30": np.geomspace(1.0, 30.0, 20),
}


def prices(tables: int) -> None:
    """Total costs, as shares of those where nobody says what candidates cost."""
    lines = ["| prices | k | share of the cost | wrong |", "|---|---|---|---|"]
    for name, price in PRICES.items():
        for k in (1, 3):
            told, untold, wrong = [], [], 0
            for seed in range(tables):
                table = responses(seed, 20, 2000, 0.12)
                arms = [sp.Arm(f"model {i}", cost=float(cost)) for i, cost in enumerate(price)]
                for costs, candidates in ((told, arms), (untold, [arm.name for arm in arms])):
                    explorer = sp.Explorer(sp.TopK(candidates, k), pool=sp.Pool(2000, seed))
                    outcome = sp.explore(explorer, sp.Scores(table), batch=20)
                    costs.append(float((outcome.counts * price).sum()))
                    wrong += costs is told and not right(table.mean(axis=1), outcome.decision)
            share = np.array(told) / np.mean(untold)
            error = float(np.std(share - np.array(untold) / np.mean(untold)) / tables**0.5)
            lines.append(f"| {name} | {k} | {share.mean():.3f} ± {error:.3f} | {wrong} of {tables} |")
            print(lines[-1], flush=True)
    write(ROOT / "docs" / "benchmarks.md", {"prices": "\n".join(lines) + "\n"})


def ranking_prices(tables: int) -> None:
    """What is certain of the whole order where half of what all scores cost is spent."""
    lines = ["| prices | told | groups | ranks that a model may have, on average | rank certain | until certain |"]
    lines.append("|---|---|---|---|---|---|")
    for name, price in PRICES.items():
        for told in (False, True):
            found = []
            for seed in range(tables):
                table = responses(seed, 20, 2000, 0.12)
                arms = [sp.Arm(f"model {i}", cost=float(cost) if told else 1.0) for i, cost in enumerate(price)]
                explorer, row = sp.Explorer(sp.Ranking(arms), pool=sp.Pool(2000, seed)), None
                while pairs := explorer.ask(20):
                    explorer.tell_many([((i, q), table[i, q]) for i, q in pairs])
                    share = (explorer.counts * price).sum() / (2000 * price.sum())
                    if row is None and share >= 0.5:
                        certificate = explorer.certificate()
                        best, worst = certificate.ranks
                        row = [len(certificate.groups), (worst - best + 1).mean(), (worst == best).sum()]
                found.append([*(row or [20, 1, 20]), 100 * share])
            groups, width, sure, share = np.mean(found, axis=0)
            cells = [name, "yes" if told else "no", f"{groups:.1f}", f"{width:.1f}", f"{sure:.1f} of 20", f"{share:.1f} %"]
            lines.append(f"| {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    write(ROOT / "docs" / "benchmarks.md", {"ranking-prices": "\n".join(lines) + "\n"})


def false(certificate: sp.Certificate, means: np.ndarray) -> bool:
    """Any claim about two candidates is wrong."""
    apart = np.subtract.outer(means, means)
    wrong = (certificate.above & (apart < -1e-9)) | (certificate.close & (np.abs(apart) > certificate.epsilon + 1e-9))
    return bool(wrong.any())


def ranking(tables: int) -> None:
    """What is certain of the whole order of 20 models on 2,000 items, at these shares of all scores, and at the end."""
    found: dict[str, list[tuple[float, ...]]] = {"a quarter": [], "half": [], "three quarters": [], "certain": []}
    wrong = dict.fromkeys(found, 0)
    for seed in range(tables):
        table = responses(seed, 20, 2000, 0.12)
        explorer = sp.Explorer(sp.Ranking(20), pool=sp.Pool(2000, seed), budget=1)
        for name, share in zip(found, (0.25, 0.5, 0.75, 1.0), strict=True):
            explorer.budget = int(share * table.size)
            certificate = sp.explore(explorer, sp.Scores(table), batch=20).certificate
            best, worst = certificate.ranks
            groups = len(certificate.groups)
            found[name].append((certificate.samples, groups, (worst - best + 1).mean(), (worst == best).sum()))
            wrong[name] += false(certificate, table.mean(axis=1))
    lines = ["| scores | groups | ranks that a model may have, on average | models whose rank is certain | a wrong claim |"]
    lines.append("|---|---|---|---|---|")
    for name, rows in found.items():
        samples, groups, width, sure = np.mean(rows, axis=0)
        cells = [f"{name} ({samples:,.0f})" if name != "certain" else f"until certain: {samples:,.0f}"]
        cells += [f"{groups:.1f}", f"{width:.1f}", f"{sure:.1f} of 20", f"{wrong[name]} of {tables}"]
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    write(ROOT / "docs" / "benchmarks.md", {"ranking": "\n".join(lines) + "\n"})


NEAR = {
    "best of 3": (lambda: sp.BestArm(3), 0.0),
    "top 2 of 4": (lambda: sp.TopK(4, 2), 0.0),
    "best of 3, within .02": (lambda: sp.BestArm(3), 0.02),
    "best of two groups of 2": (lambda: sp.BestOfEach(4, [0, 0, 1, 1]), 0.0),
    "ranking of 4, any claim": (lambda: sp.Ranking(4), 0.0),
    "ranking of 4, any claim, within .02": (lambda: sp.Ranking(4), 0.02),
}


def errors(tables: int) -> int:
    """At delta = 0.1, with candidates that differ by next to nothing."""
    failed, most = 0, int(binom.isf(1e-6, tables, 0.1))
    lines = ["| on 60 items | wrong | certified before the last score | mean share of the scores |", "|---|---|---|---|"]
    for name, (made, epsilon) in NEAR.items():
        wrong = early = samples = 0
        for seed in range(tables):
            problem = made()
            table = responses(10**6 + seed, problem.m, 60, 0.02)
            explorer = sp.Explorer(problem, 0.1, epsilon=epsilon, pool=sp.Pool(60, seed))
            certificate = sp.explore(explorer, sp.Scores(table), batch=problem.m).certificate
            means = table.mean(axis=1)
            samples += certificate.samples
            early += certificate.samples < table.size
            wrong += false(certificate, means) if certificate.above is not None else short(problem, means, certificate)
        failed += wrong > most
        cells = [name, f"{wrong:,} of {tables:,}", f"{early:,}", f"{100 * samples / tables / table.size:.0f} %"]
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], f"at most {most:,} allowed", flush=True)
    if tables >= 10_000:
        write(ROOT / "docs" / "benchmarks.md", {"errors": "\n".join(lines) + "\n"})
    return failed


def short(problem: sp.Problem, means: np.ndarray, certificate: sp.Certificate) -> bool:
    """Somebody who is left out is better, by more than epsilon, than somebody who is chosen, of the same group."""
    chosen = certificate.decision > 0
    return any(
        means[left_out].max() > means[taken].min() + certificate.epsilon + 1e-9
        for group in np.unique(problem.group)
        if (left_out := ~chosen & (problem.group == group)).any() and (taken := chosen & (problem.group == group)).any()
    )


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:] if word.isdigit()]
    if "--errors" in sys.argv:
        sys.exit(errors(*given or [10_000]))
    if "--prices" in sys.argv:
        sys.exit(prices(*given or [60]))
    if "--ranking-prices" in sys.argv:
        sys.exit(ranking_prices(*given or [20]))
    if "--ranking" in sys.argv:
        sys.exit(ranking(*given or [100]))
    main(*given or [100])
