"""Simulations: two processes against one, and the memory that many runs take."""

from __future__ import annotations

import os
import time
from pathlib import Path

from clock import Row
from engine import steps
from sampling import TOP3

import surepick as sp

RUNS, MANY = 6_000, 1_000


def seconds(executor: int) -> float:
    start = time.perf_counter()
    sp.simulate(sp.TopK(10, 3), sp.Bernoulli(TOP3), "coci/paper", runs=RUNS, executor=executor)
    return time.perf_counter() - start


def megabytes() -> float:
    """Resident memory of this process and its children, pages that they share counted once each time."""
    total, me = 0, str(os.getpid())
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = dict(line.split(":\t", 1) for line in (folder / "status").read_text().splitlines() if ":\t" in line)
        except OSError:
            continue
        if folder.name == me or status.get("PPid") == me:
            total += int(status.get("VmRSS", "0 kB").split()[0])
    return total / 1024


def rows() -> list[Row]:
    ratio = seconds(1) / seconds(2)
    found = [
        Row(f"simulate, {RUNS:,} runs of COCI, top-3 of 10, two processes against one", f"{ratio:.2f} ×", "≥ 1.8 ×", ratio >= 1.8)
    ]
    if Path("/proc/self/status").exists():
        peak = 0.0

        def look(_: object) -> None:
            nonlocal peak
            peak = max(peak, megabytes())

        world = steps(1000, 10)
        sp.simulate(sp.TopK(1000, 10), world, "coci/paper", runs=MANY, budget=3_000, executor=2, progress=look)
        found.append(Row(f"— memory, {MANY:,} runs of top-10 of 1,000, two processes", f"{peak:.0f} MB", "< 500 MB", peak < 500))
    return found


if __name__ == "__main__":
    for row in rows():
        print(row)
