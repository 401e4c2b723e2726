"""How fast compiled loops are with several samples between two looks, and where a budget is spent after the certificate: as
multiples of single samples in the same world, side by side.

    python benchmarks/looks.py

Figures are the best of some turns, for what processors make of the same code differs by some per cent from process to process.
"""

from __future__ import annotations

import time
from typing import Any

import clock  # noqa: F401 - compiles from the first call on
from classes import CASES, Case

import surepick as sp
from surepick.run.drive import drive

BATCHES = (2, 3, 5, 20)
TURNS, SECONDS = 6, 0.1
SAMPLES = 100_000  # of a run
NEVER = 1e-300  # a delta at which nothing is certified by then


def pace(case: Case, world: sp.Environment, batch: int = 1, **settings: Any) -> float:
    """Samples a second."""
    samples, took, run = 0, 0.0, 0
    while took < SECONDS:
        explorer = sp.Explorer(case.problem, budget=SAMPLES, **settings)
        began = time.process_time()
        drive(explorer, world, batch=batch, run=run)
        took += time.process_time() - began
        samples, run = samples + explorer.samples, run + 1
    return samples / took


def row(case: Case) -> str:
    """In a world where all is hard to tell apart single samples and batches; in one where little is, a budget with and without
    ``spend``: at a delta at which nothing is certified, and at one where most of the budget is spent after the certificate."""
    hard, apart = case.worlds
    ways: list[dict[str, Any]] = [{"world": hard, "batch": batch, "delta": 1e-6} for batch in (1, *BATCHES)]
    ways += [{"world": apart, "delta": delta, "spend": spend} for delta in (NEVER, 0.05) for spend in (False, True)]
    best = [0.0] * len(ways)
    for turn in range(TURNS + 1):  # the first compiles
        for k, way in enumerate(ways):
            found = pace(case, **way)
            best[k] = max(best[k], found) if turn else 0.0
    batches = [f"{best[1 + k] / best[0]:.2f}" for k in range(len(BATCHES))]
    never, spent, certified, through = best[-4:]
    budgets = [f"{never:,.0f}", f"{spent / never:.2f}", f"{certified:,.0f}", f"{through / certified:.2f} |"]
    return " | ".join([f"| {case.what}", f"{best[0]:,.0f}", *batches, *budgets])


if __name__ == "__main__":
    titles = ["example", "one by one", *(f"batches of {batch}" for batch in BATCHES), "never certified", "spent"]
    titles += ["to the certificate", "spent"]
    print("| " + " | ".join(titles) + " |\n|" + "---|" * len(titles))
    for case in CASES:
        if not case.why:  # no compiled loop
            print(row(case), flush=True)
