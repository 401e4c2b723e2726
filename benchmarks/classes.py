"""Samples a second of every decision class with its default policy, one core: exact, within an epsilon, in batches, and to
the end of a budget.

Differences are small, so that runs are long: what is timed is sampling, and not setting up. A class of the registry without a
case is an error, so that none is left out.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import clock  # noqa: F401 - compiles from the first call on
import numpy as np
from engine import steps

import surepick as sp
from surepick.engine.loops import find
from surepick.problems import PROBLEMS
from surepick.run.drive import drive

LEAST = 0.5  # seconds of work that a figure is from, at least
BATCH = 20


class Case(NamedTuple):
    """An example of a class; ``near`` is the epsilon that its users ask for, ``why`` what keeps it in Python.

    The best is looked for at delta = 1e-6, mostly among arms that are hard to tell apart, so that it is the rounds that count.
    Within epsilon delta is 0.05, and the certificate counts as well.
    """

    what: str
    problem: sp.Problem
    worlds: tuple[sp.Environment, sp.Environment]  # to look for the best, and within epsilon
    near: dict[str, Any]
    least: tuple[float, float]  # samples a second to reach: exact, and within epsilon; 0 where no figure was set
    why: str = ""


def coins(m: int, gap: float = 0.0005) -> sp.Bernoulli:
    """Arms around one half, each a little better than the next: hard to tell apart, so that runs are long."""
    return sp.Bernoulli(0.5 + gap * (np.arange(m)[::-1] - m / 2))


def apart(m: int) -> sp.Bernoulli:
    """Arms from 3/4 to 1/4, as people have them who ask for an epsilon: runs are short, and their ends count."""
    return sp.Bernoulli(np.linspace(0.75, 0.25, m))


def grid(side: int) -> list[tuple[int, int]]:
    """The edges of a grid of so many nodes a side, all to the right or down."""
    across = [(side * i + j, side * i + j + 1) for i in range(side) for j in range(side - 1)]
    return across + [(side * i + j, side * (i + 1) + j) for i in range(side - 1) for j in range(side)]


def knapsack(tables: list[np.ndarray]) -> list[int]:
    """The best two of some arms, from a table of gains an arm."""
    gains = [float(table[1] - table[0]) for table in tables]
    best = sorted(range(len(gains)), key=gains.__getitem__)[-2:]
    return [int(i in best) for i in range(len(gains))]


SHARE = {"epsilon": 0.05, "relative": True}
COMPLETE = [(i, j) for i in range(7) for j in range(i)]
SURVEY = sp.SampleAllocation([589, 913, 321, 171, 471, 186, 245], 30)
LARGE = sp.SampleAllocation(np.linspace(50, 400, 50).astype(int), 1000)
WOODED = sp.Beta([0.27, 0.32, 0.34, 0.28, 0.33, 0.31, 0.5], 6.0)

CASES = (
    Case("best of 10 arms", sp.BestArm(10), (coins(10), apart(10)), {"epsilon": 0.05}, (0, 0)),
    Case("top-3 of 10", sp.TopK(10, 3), (coins(10), apart(10)), {"epsilon": 0.1}, (0, 50_000)),
    Case("top-5 of 50", sp.TopK(50, 5), (coins(50), apart(50)), {"epsilon": 0.1}, (0, 10_000)),
    Case("top-10 of 2,000", sp.TopK(2000, 10), (steps(2000, 10),) * 2, {"epsilon": 0.1}, (400_000, 0)),
    Case(
        "best of each of 5 groups of 4",
        sp.BestOfEach(20, [i % 5 for i in range(20)]),
        (coins(20), apart(20)),
        {"epsilon": 0.1},
        (0, 0),
    ),
    Case("spanning tree, 21 edges", sp.SpanningTree(COMPLETE), (coins(21), apart(21)), {"epsilon": 0.1}, (0, 0)),
    Case(
        "4 × 4 matching",
        sp.Matching([(i, j) for i in range(4) for j in range(4)]),
        (coins(16), apart(16)),
        {"epsilon": 0.1},
        (50_000, 0),
    ),
    Case("path in a 4 × 4 grid, 24 edges", sp.Path(grid(4), 0, 15), (coins(24), apart(24)), {"epsilon": 0.1}, (50_000, 0)),
    Case(
        "two listed sets of 3",
        sp.Subsets(6, [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]]),
        (coins(6), apart(6)),
        {"epsilon": 0.1},
        (200_000, 0),
    ),
    Case("survey, 7 strata, k = 30", SURVEY, (WOODED,) * 2, SHARE, (0, 30_000)),
    Case("50 strata, k = 1,000", LARGE, (sp.Bernoulli(np.linspace(0.05, 0.5, 50)),) * 2, SHARE, (0, 3_000)),
    Case(
        "100 strata, k = 5,000",
        sp.SampleAllocation(np.linspace(50, 400, 100).astype(int), 5000),
        (sp.Bernoulli(np.random.default_rng(100).uniform(0.05, 0.95, 100)),) * 2,
        SHARE,
        (150_000, 0),
    ),
    Case("plan, 20 sites", sp.ResourcePlan(lambda y: 0.05 * y * y, [6] * 20, 40), (coins(20), apart(20)), SHARE, (0, 0)),
    Case(
        "knapsack of 6 as a program",
        sp.Program(6, [[3, 4, 2, 5, 4, 1]], upper=[10]),
        (coins(6), apart(6)),
        {"epsilon": 0.1},
        (0, 0),
        "a solver of integer programs is called in every round",
    ),
    Case(
        "separable, 6 arms",
        sp.Separable(lambda theta, y: (theta - 0.3) * y, levels=[[0, 1]] * 6, oracle=knapsack, table=True),
        (coins(6), apart(6)),
        {"epsilon": 0.1},
        (0, 0),
        "reward and maximiser are functions of the user's",
    ),
)


class Way(NamedTuple):
    """A way to sample, a column of the table."""

    title: str
    batch: int = 1
    near: bool = False  # within epsilon
    spend: bool = False  # to the end of the budget, also when all is certain
    short: bool = False  # in the README, too


WAYS = (
    Way("the best", short=True),
    Way("within ε", near=True, short=True),
    Way(f"the best, batches of {BATCH}", BATCH, short=True),
    Way(f"within ε, batches of {BATCH}", BATCH, near=True),
    Way("a budget spent", spend=True),
    Way(f"a budget spent, batches of {BATCH}", BATCH, spend=True),
)


def settings_of(case: Case, way: Way) -> dict[str, Any]:
    """What an explorer is asked for, but for its budget."""
    if way.near:
        return {"delta": 0.05, **case.near}
    return {"delta": 0.05 if way.spend else 1e-6, "spend": way.spend}


def speed(case: Case, way: Way) -> float:
    """Samples a second, after a run that compiles what is not yet: of a run that is long enough, or of several shorter ones."""
    world, settings = case.worlds[way.near or way.spend], settings_of(case, way)
    first = 50_000 if compiled(case, way) else 100
    drive(sp.Explorer(case.problem, **settings, budget=first), world, batch=way.batch)
    budget, samples, took, run = 20 * case.problem.m, 0, 0.0, 0
    while took < LEAST:
        explorer = sp.Explorer(case.problem, **settings, budget=budget)
        began = time.process_time()
        drive(explorer, world, batch=way.batch, run=run)
        seconds = time.process_time() - began
        if explorer.samples == budget:  # the next one takes longer
            samples, took, budget = explorer.samples, seconds, 4 * budget
        else:
            samples, took, run = samples + explorer.samples, took + seconds, run + 1
    return samples / took


def compiled(case: Case, way: Way) -> bool:
    """Whether there is a compiled loop."""
    return find(sp.Explorer(case.problem, **settings_of(case, way), budget=1000), way.batch) is not None


def measured(case: Case) -> tuple[list[str], bool]:
    """A row: the class, the example, a figure a way, and what keeps it in Python; and whether what was to be reached is."""
    figures = [speed(case, way) for way in WAYS]
    met = figures[0] >= case.least[0] and figures[1] >= case.least[1]
    cells = [f"{rounded(x)}{'' if compiled(case, way) else ' (Python)'}" for x, way in zip(figures, WAYS, strict=True)]
    for k in range(2):
        cells[k] += f" `{sp.Explorer(case.problem, **settings_of(case, WAYS[k])).policy.name}`"
    return [f"`{type(case.problem).__name__}`", case.what, *cells, case.why], met


def rounded(x: float) -> str:
    """Two digits, in thousands."""
    return f"{float(f'{x:.2g}'):,.0f}"


def tables() -> tuple[str, str, bool]:
    """For the README an example a class, in the ways that most people use; all examples in all ways; whether what was to be
    reached is."""
    missing = set(PROBLEMS) - {case.problem.kind for case in CASES}
    if missing:
        raise SystemExit(f"Classes without a case: {', '.join(sorted(missing))}.")
    found = [measured(case) for case in CASES]
    first: dict[str, list[str]] = {}  # example of each class
    for case, (row, _) in zip(CASES, found, strict=True):
        first.setdefault(case.problem.kind, row)
    shown = [0, 1, *(2 + k for k, way in enumerate(WAYS) if way.short), 2 + len(WAYS)]
    everything = [row for row, _ in found]
    return markdown(list(first.values()), shown), markdown(everything, range(3 + len(WAYS))), all(met for _, met in found)


def markdown(rows: list[list[str]], columns: Iterable[int]) -> str:
    titles = ["class", "example", *(way.title for way in WAYS), "in Python because"]
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(line[k] for k in columns) + " |" for line in lines)


if __name__ == "__main__":
    print(*tables()[:2], sep="\n\n")
