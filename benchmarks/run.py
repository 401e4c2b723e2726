"""Run the benchmarks and print their tables; ``--write`` also puts them into README.md (an example a class) and docs/speed.md.

A sort is np.sort of as many random floats as the problem has arms, timed in the same run.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import allocation
import asking
import classes
import engine
import graphs
import laboratory
import numpy as np
import programs
import sampling
import start
import undecided
from marks import write
from rich.progress import track

ROOT = Path(__file__).parents[1]
PARTS = (engine, laboratory, allocation, undecided, asking, sampling, graphs, programs, start)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into README.md and docs/speed.md")
    options = parser.parse_args()
    few, speeds, met = classes.tables()
    rows = [row for part in track(PARTS, "benchmarks") for row in part.rows()]
    lines = ["| measured | figure | target |", "|---|---|---|"]
    lines += [f"| {row.what} | {row.figure} | {row.target}{'' if row.met else ' **missed**'} |" for row in rows]
    version = ".".join(map(str, sys.version_info[:2]))
    source = f"\n\nOne run on one machine, Python {version}, NumPy {np.__version__}; `make bench` repeats it.\n"
    tables = {
        "README.md": {"benchmarks": few + source},
        "docs/speed.md": {"classes": speeds + "\n", "benchmarks": "\n".join(lines) + source},
    }
    for file, parts in tables.items():
        print(*parts.values(), sep="\n\n")
        if options.write:
            write(ROOT / file, parts)
    return 0 if met and all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
