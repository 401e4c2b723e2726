"""Count wrong certificates, on instances that invite them; ``--write FILE`` puts the tables there, between marks.

Every class with its default policy, and every policy with every confidence sequence that it accepts, see hard.py. A row fails if
it has more errors than a true rate of exactly delta would have with probability 1e-6 over all rows together: then the exit code
is 1. Results are kept as they come, and the next call goes on from there as long as the code is the same. Ctrl-C stops in order.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import signal
import sys
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from hard import DELTAS, Count, Row, count, rows
from marks import write
from rich.console import Console
from rich.progress import Progress
from scipy.stats import beta, binom

import surepick

CHUNK = 200  # runs of one task
ALARM = 1e-6  # the probability that any row fails although all true rates are delta
SURE = 0.999  # of the upper limits


def task(row: Row, first: int, runs: int) -> Count:
    began = time.process_time()
    found = count(row, first, runs)
    found.seconds = time.process_time() - began
    return found


def begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent


def fingerprint() -> str:
    """Of the code whose errors are counted, and of what counts them."""
    here, package = Path(__file__).parent, Path(surepick.__file__).parent
    files = [here / "errors.py", here / "hard.py", *sorted(package.rglob("*.py"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


class Kept:
    """Results in a file of JSON lines, one a chunk of runs."""

    def __init__(self, file: Path) -> None:
        self.file, self.code = file, fingerprint()
        self.counts: dict[tuple[str, int, int], Count] = {}
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        for line in lines:
            try:
                found = json.loads(line)
            except json.JSONDecodeError:
                continue  # cut off when the machine stopped
            if found["code"] == self.code:
                self.counts[found["row"], found["first"], found["count"]["runs"]] = Count(**found["count"])
        if lines and not self.counts:
            print(f"{file} holds results of other code; they are not used.", file=sys.stderr)

    def add(self, row: Row, first: int, found: Count) -> None:
        self.counts[row.key, first, found.runs] = found
        line = {"code": self.code, "row": row.key, "first": first, "count": asdict(found)}
        with self.file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")

    def of(self, row: Row) -> Count:
        """All chunks of a row together."""
        total = Count()
        for first, runs in chunks(row):
            total += self.counts[row.key, first, runs]
        return total


def chunks(row: Row) -> list[tuple[int, int]]:
    return [(first, min(CHUNK, row.runs - first)) for first in range(0, row.runs, CHUNK)]


def run(todo: list[Row], kept: Kept, processes: int) -> None:
    """Do what is missing; the order is mixed, so that the time left can be told."""
    parts = [(row, *part) for row in todo for part in chunks(row) if (row.key, *part) not in kept.counts]
    order = np.random.default_rng(0).permutation(len(parts))
    fresh = get_context("spawn")  # a copy of this process would have its threads but not their locks
    with ProcessPoolExecutor(processes, fresh, begin) as pool, Progress(console=Console(stderr=True)) as bar:
        shown = bar.add_task("runs", total=sum(runs for _, _, runs in parts))
        futures = {pool.submit(task, *parts[i]): parts[i] for i in order}
        try:
            for future in as_completed(futures):
                row, first, runs = futures[future]
                kept.add(row, first, future.result())
                bar.advance(shown, runs)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


# -- judging --------------------------------------------------------------------------------------------------------------


def most(runs: int, delta: float, tests: int) -> int:
    """Errors that so many runs may have."""
    return int(binom.isf(ALARM / tests, runs, delta))


def limit(wrong: int, runs: int) -> float:
    """The upper Clopper-Pearson limit of a rate."""
    return 1.0 if wrong == runs else float(beta.ppf(SURE, wrong + 1, runs - wrong))


def failures(results: dict[Row, Count]) -> list[str]:
    """A sentence for every row with too many errors."""
    found, tests = [], 2 * len(results)
    for row, c in results.items():
        for wrong, runs, what in ((c.wrong, c.runs, "certified wrongly"), (c.untrue, c.full, "said something untrue")):
            allowed = most(runs, row.delta, tests) if runs else 0
            if wrong > allowed:
                found.append(f"{row.key}: {wrong:,} of {runs:,} runs {what}; at most {allowed:,} are allowed.")
    return found


# -- tables ---------------------------------------------------------------------------------------------------------------


def rate(x: float) -> str:
    return "0" if x == 0 else f"{100 * x:.2g} %" if x < 0.095 else f"{100 * x:.0f} %"


def worst(found: list[tuple[Row, Count]]) -> str:
    """The instance with the highest rate: which it is, its errors, their rate and its upper limit; all together if none errs."""
    row, c = max(found, key=lambda pair: pair[1].wrong / pair[1].runs)
    name, wrong, runs = (row.kind, c.wrong, c.runs) if c.wrong else ("all", 0, sum(c.runs for _, c in found))
    return f"{name}: {wrong:,} of {runs:,} | {rate(wrong / runs)} | {rate(limit(wrong, runs))}"


def table(results: dict[Row, Count], name: str) -> str:
    """One line a class, or a policy with a sequence: the worst instance for every delta, and what was untrue otherwise."""
    groups: dict[tuple[str, ...], list[tuple[Row, Count]]] = defaultdict(list)
    for row, c in results.items():
        if row.table == name and c.runs:
            groups[(row.group,) if name == "classes" else (row.policy, row.confidence)].append((row, c))
    head = [*(("class", "policy") if name == "classes" else ("policy", "sequence")), "runs"]
    for delta in DELTAS:
        head += [f"δ = {delta:g}: worst instance", "rate", "at most"]
    lines = [f"| {' | '.join([*head, 'gaps'])} |", "|---" * (len(head) + 1) + "|"]
    for names, found in groups.items():
        policies = sorted({row.explorer().policy.name for row, _ in found})
        cells = [names[0], ", ".join(policies) if name == "classes" else names[1], f"{sum(c.runs for _, c in found):,}"]
        for delta in DELTAS:
            cells.append(worst([pair for pair in found if pair[0].delta == delta]))
        cells.append(f"{sum(c.untrue for _, c in found):,} of {sum(c.full for _, c in found):,}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def times(results: dict[Row, Count]) -> str:
    """Where the time went: the classes, and the policies, by what they took."""
    spent: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row, c in results.items():
        name = row.group if row.table == "classes" else row.policy
        spent[f"{row.table}: {name}"][0] += c.seconds
        spent[f"{row.table}: {name}"][1] += c.runs
    lines = [f"{name:45} {s:8,.1f} s, {1000 * s / n:6.2f} ms a run" for name, (s, n) in spent.items()]
    return "\n".join([*lines, f"{'all':45} {sum(s for s, _ in spent.values()):8,.1f} s of processor time"])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables into this Markdown file")
    parser.add_argument("--runs", type=float, default=1.0, metavar="SHARE", help="this share of the runs, such as 0.01")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose name matches this; see --list")
    parser.add_argument("--list", action="store_true", help="list the rows and their runs, and do nothing")
    parser.add_argument("--keep", type=Path, default=Path("surepick-errors.jsonl"), metavar="FILE", help="where results are kept")
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--times", action="store_true", help="also print the processor time of every class and policy")
    options: Any = parser.parse_args(arguments)
    if not (math.isfinite(options.runs) and options.runs > 0):
        parser.error(f"--runs must be a positive share of the runs, such as 0.01, not {options.runs}.")
    todo = [row for row in rows(1e5 * options.runs, 2e4 * options.runs) if re.search(options.only, row.key)]
    if not todo:
        parser.error(f"--only {options.only!r} matches no row; --list shows them.")
    if options.write and options.only:
        parser.error("--write needs all rows; leave out --only.")
    if options.list:
        print("\n".join(f"{row.runs:7,}  {row.key}" for row in todo))
        return 0
    kept = Kept(options.keep)
    try:
        run(todo, kept, options.processes)
    except KeyboardInterrupt:
        print(f"Stopped. What was done is kept in {options.keep}; the next call goes on from there.", file=sys.stderr)
        return 130
    results = {row: kept.of(row) for row in todo}
    total = f"\n{sum(c.runs for c in results.values()):,} runs; `make errors` repeats them.\n"
    tables = {name: table(results, name) + total for name in ("classes", "policies") if any(r.table == name for r in results)}
    print("\n".join(tables.values()))
    if options.times:
        print(times(results))
    if options.write:
        write(options.write, tables)
    bad = failures(results)
    print("\n".join(bad) if bad else f"No row of {len(results):,} has too many errors.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
