"""Simulations: two processes against one, and the memory that many runs take."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from clock import Row
from engine import steps
from sampling import TOP3

import surepick as sp

RUNS, MANY, BUDGET = 12_000, 10_000, 1_100


def seconds(executor: int) -> float:
    start = time.perf_counter()
    sp.simulate(sp.TopK(10, 3), sp.Bernoulli(TOP3), "coci/paper", runs=RUNS, executor=executor)
    return time.perf_counter() - start


def megabytes() -> float:
    """Memory of this process and its children; pages that several share are counted once, in shares."""
    total, me = 0, str(os.getpid())
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if folder.name == me or f"\nPPid:\t{me}\n" in (folder / "status").read_text():
                found = re.search(r"^Pss:\s+(\d+) kB", (folder / "smaps_rollup").read_text(), re.MULTILINE)
                total += int(found[1]) if found else 0
        except OSError:
            continue  # it has ended
    return total / 1024


def memory() -> None:
    """Print the most that a simulation took; in a process of its own, in which nothing else has been loaded."""
    peak = 0.0

    def look(_: object) -> None:
        nonlocal peak
        peak = max(peak, megabytes())

    sp.simulate(sp.TopK(1000, 10), steps(1000, 10), "coci/paper", runs=MANY, budget=BUDGET, executor=2, progress=look)
    print(f"{peak:.0f}")


def rows() -> list[Row]:
    ratio = seconds(1) / seconds(2)
    what = f"simulate, {RUNS:,} runs of COCI, top-3 of 10, two processes against one"
    found = [Row(what, f"{ratio:.2f} ×", "≥ 1.8 ×", ratio >= 1.8)]
    if Path("/proc/self/smaps_rollup").exists():
        peak = int(subprocess.run([sys.executable, __file__], check=True, capture_output=True, text=True).stdout)
        what = f"— memory of both and their parent, {MANY:,} runs of {BUDGET:,} samples, top-10 of 1,000"
        found.append(Row(what, f"{peak} MB", "< 500 MB", peak < 500))
    return found


if __name__ == "__main__":
    memory()
