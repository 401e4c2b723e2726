"""How long the first result takes in a fresh process: with nothing compiled before, and later, with what the first one kept.

    python benchmarks/start.py                             this source tree
    python benchmarks/start.py --against ../other/src      and another one, in turn with it, as ratios

Every case runs in processes of its own, with a cache folder of its own; figures are the best of several, by the clock and as the
processor's seconds of work, which other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from clock import Row

HERE = Path(__file__).parents[1]
HEAD = 'import surepick as sp\nposters = ["harbour", "lantern", "bicycle", "owl", "teapot"]\nproblem = sp.TopK(posters, k=2)\n'
EXPLORE = HEAD + "print(sp.explore(problem, sp.Bernoulli([0.60, 0.50, 0.35, 0.25, 0.10]), delta=0.05, seed=1))"
ASK = (
    HEAD
    + """\
import random
chance, share = random.Random(7), [0.60, 0.50, 0.35, 0.25, 0.10]
ex = sp.Explorer(problem, delta=0.05)
while not ex.done:
    for arm in ex.ask(50):
        ex.tell(arm, int(chance.random() < share[arm]))
print(ex.certificate())
"""
)
COMMAND = "from surepick.cli import main; main({})"
CASES = {
    "`sp.explore`, the README's first example": EXPLORE,
    "ask and tell, the README's second": ASK,
    "`surepick run examples/top-k.toml`": COMMAND.format(["run", str(HERE / "examples" / "top-k.toml")]),
    "`surepick demo`": COMMAND.format(["demo", "--folder", "demo"]),
}


class Took(NamedTuple):
    """Seconds."""

    clock: float
    work: float


def once(code: str, source: Path, cache: Path, folder: Path) -> Took:
    env = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(cache)}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=env, cwd=folder, check=True, capture_output=True)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Took(took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def cold_and_warm(code: str, source: Path) -> tuple[Took, Took]:
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        return once(code, source, cache, Path(folder)), once(code, source, cache, Path(folder))


def least(found: list[tuple[Took, Took]]) -> list[Took]:
    """The best of several, each figure by itself."""
    return [Took(min(x.clock for x in runs), min(x.work for x in runs)) for runs in zip(*found, strict=True)]


def rows() -> list[Row]:
    found = []
    for what, most in (("`sp.explore`, the README's first example", 3.0), ("ask and tell, the README's second", 3.0)):
        cold, warm = least([cold_and_warm(CASES[what], HERE / "src") for _ in range(3)])
        figure = f"{cold.clock:.1f} s, later {warm.clock:.1f} s: {cold.work / warm.work:.1f} ×"
        found.append(Row(f"a new process, nothing compiled: {what}", figure, f"≤ {most:g} ×", cold.work <= most * warm.work))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, metavar="SRC", help="the src folder of another version")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="the best of so many (3)")
    parser.add_argument("--only", metavar="WORD", default="", help="only cases with this word in their name")
    options = parser.parse_args()
    sources = [HERE / "src", *([options.against.resolve()] if options.against else [])]
    heads = ["", "first", "later", *(["first, there", "later, there", "ratio", "ratio later"] if options.against else [])]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")  # seconds by the clock and of work
    for what, code in CASES.items():
        if options.only not in what:
            continue
        found: list[list[tuple[Took, Took]]] = [[] for _ in sources]
        for _ in range(options.repeat):
            for source, list_ in zip(sources, found, strict=True):  # in turn, because the machine changes
                list_.append(cold_and_warm(code, source))
        figures = [least(list_) for list_ in found]
        cells = [f"{took.clock:.1f}, {took.work:.1f} s" for pair in figures for took in pair]
        for here, there in zip(*figures, strict=True) if options.against else ():
            cells.append(f"{here.clock / there.clock:.2f}, {here.work / there.work:.2f}")
        print(f"| {what} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
