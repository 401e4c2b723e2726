"""Run the benchmarks and print two tables; ``--write`` also puts them into the README (the classes) and docs/speed.md (all else).

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
    speeds, met = classes.table()
    rows = [row for part in track(PARTS, "benchmarks") for row in part.rows()]
    lines = ["| measured | figure | target |", "|---|---|---|"]
    lines += [f"| {row.what} | {row.figure} | {row.target}{'' if row.met else ' **missed**'} |" for row in rows]
    version = ".".join(map(str, sys.version_info[:2]))
    source = f"\n\nOne run on one machine, Python {version}, NumPy {np.__version__}; `make bench` repeats it.\n"
    tables = {"README.md": speeds + source, "docs/speed.md": "\n".join(lines) + source}
    for file, table in tables.items():
        print(table)
        if options.write:
            write(ROOT / file, {"benchmarks": table})
    return 0 if met and all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
