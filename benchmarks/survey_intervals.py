"""How often the intervals of survey.estimate are right, and how wide they are: the 486 municipalities of examples/wooded.csv as a
whole population, its seven regions as strata. A minute and a half on one core.

Prints the table of docs/survey-estimating.md.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

from surepick import allocate
from surepick.survey import estimate

RUNS, LOOKS = 200, (0.25, 0.5, 0.75, 1.0)
PEOPLE = Path(__file__).parent.parent / "examples" / "wooded.csv"


def main() -> None:
    towns = defaultdict(list)
    with PEOPLE.open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            towns[row["stratum"]].append(float(row["value"]))
    values = {"wooded share": [np.array(x) for x in towns.values()]}
    values["more than 40 % wooded"] = [x > 0.4 for x in values["wooded share"]]
    print("| figure | interviews | classical, one look | classical, 4 looks | at every moment, 4 looks | width, over classical |")
    print("|---|---|---|---|---|---|")
    for name, people in values.items():
        N = np.array([len(x) for x in people])
        for budget in (60, 150):
            n = allocate(N, [x.var(ddof=1) for x in people], budget, lower=4, upper=N)
            print(f"| {name} | {budget} | " + " | ".join(measure(list(towns), people, N, n)) + " |")


def measure(names, people, N, n):
    frame = {"stratum": names, "N": N, "n": n}
    truth = sum(x.sum() for x in people) / N.sum()
    right, widths = np.zeros(3), []
    for run in range(RUNS):
        rng = np.random.default_rng(run)
        order = [rng.permutation(x) for x in people]
        ever, always = True, True
        for part in LOOKS:
            k = np.maximum(np.ceil(part * n), 2).astype(int)
            told = {"stratum": np.repeat(names, k), "y": np.concatenate([x[:j] for x, j in zip(order, k, strict=True)])}
            row = estimate(frame, told, bounds=(0, 1)).find("y")
            now = row.lower <= truth <= row.upper
            ever &= now
            always &= row.always_lower <= truth <= row.always_upper
        right += [now, ever, always]
        widths.append((row.always_upper - row.always_lower) / (row.upper - row.lower))
    return [*(f"{100 * x / RUNS:.1f} %" for x in right), f"{np.mean(widths):.2f}"]


if __name__ == "__main__":
    main()
