"""Run the benchmarks and print one table; ``--write README.md`` also puts it there, between the benchmark marks.

A sort is np.sort of as many random floats as the problem has arms, timed in the same run.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import allocation
import asking
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

PARTS = (engine, laboratory, allocation, undecided, asking, sampling, graphs, programs, start)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the table into this Markdown file")
    options = parser.parse_args()
    rows = [row for part in track(PARTS, "benchmarks") for row in part.rows()]
    lines = ["| measured | figure | target |", "|---|---|---|"]
    lines += [f"| {row.what} | {row.figure} | {row.target}{'' if row.met else ' **missed**'} |" for row in rows]
    version = ".".join(map(str, sys.version_info[:2]))
    table = "\n".join(lines) + f"\n\nOne run on one machine, Python {version}, NumPy {np.__version__}; `make bench` repeats it.\n"
    print(table)
    if options.write:
        write(options.write, {"benchmarks": table})
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
