"""What waves cost: the variance of the mean in the end over that of the best split of the same budget, on real and made
populations, with the bias of the estimate and how often its intervals are right. Some minutes on one core.

Writes the tables of docs/survey-waves.md between their marks.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import marks
import numpy as np

from surepick.survey import Waves, rehearse

ROOT = Path(__file__).parent.parent
RUNS = 400
FEW, MORE = (0, 500, 1000, 2000, 5000, np.inf), (0, 250, 500, 1000, 2500, 10000, np.inf)
SHOWN = ("proportional", "equal", "plug-in, one wave", "plug-in", "optimistic", "shrunk")


def towns():
    with (ROOT / "examples" / "municipalities.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    table = {key: np.array([float(row[key]) for row in rows]) for key in rows[0] if key != "region"}
    return table | {"region": np.array([row["region"] for row in rows])}


def strata(values, labels):
    """A population by stratum; strata of fewer than five people are left out."""
    found = [values[labels == label] for label in np.unique(labels)]
    return [x for x in found if len(x) >= 5]


def by_size(t, key, regions, classes, sizes="people"):
    here = np.isin(t["region"], regions)
    return strata(t[key][here], np.digitize(t[sizes][here], classes))


def populations():
    t = towns()
    alp = ["Central", "Ticino"]
    everywhere = np.unique(t["region"])
    t["built size"] = 20 * t["built"]
    wooded, old = t["wood"] / t["area"], t["over_65"] / t["people"]
    rng = np.random.default_rng(1)
    sizes = (400, 300, 250, 200, 150, 100, 60, 40)
    rare = np.where(np.arange(300) < 15, rng.normal(300, 50, 300), 0.0)
    firms = (600, 0.8), (400, 0.8), (300, 0.7), (200, 0.9), (120, 0.8), (60, 1.0)
    skewed = {
        "built-up area by size, East": (by_size(t, "built", ["East"], FEW), 0.2),
        "built-up area by size, Lake Geneva": (by_size(t, "built", ["Lake Geneva"], FEW), 0.2),
        "built-up area by size, a quarter of all": (strata(t["built"][1::4], np.digitize(t["people"][1::4], FEW)), 0.2),
        "people by built-up area, East": (by_size(t, "people", ["East"], MORE, "built size"), 0.2),
        "people by built-up area, Lake Geneva": (by_size(t, "people", ["Lake Geneva"], MORE, "built size"), 0.2),
        "people by built-up area, Central and Ticino": (by_size(t, "people", alp, FEW, "built size"), 0.2),
        "over 65 by built-up area, Central and Ticino": (by_size(t, "over_65", alp, MORE, "built size"), 0.3),
        "over 65 by built-up area, Northwest": (by_size(t, "over_65", ["Northwest"], MORE, "built size"), 0.3),
        "firms, a long tail in every class": (
            [rng.lognormal(a + 1, s, n) for a, (n, s) in enumerate(firms)], 0.18,
        ),
        "firms, one stratum of 20 giants": (
            [rng.lognormal(3, 1, n) for n in (500, 400, 300, 200)] + [rng.lognormal(8, 1, 20)], 0.18,
        ),
    }  # fmt: skip
    shares = {
        "more than 30 % wooded, by region": (strata((wooded > 0.3) * 1.0, t["region"]), 0.1),
        "more than 3,000 people, by region": (strata((t["people"] > 3000) * 1.0, t["region"]), 0.1),
        "more than 18 % over 65, by size": (strata((old > 0.18) * 1.0, np.digitize(t["people"], MORE)), 0.1),
        "made, shares from 10 to 50 %": (_shares(sizes, (0.3, 0.2, 0.5, 0.15, 0.4, 0.1, 0.25, 0.35)), 0.2),
        "made, shares from 2 to 50 %": (_shares(sizes, (0.02, 0.05, 0.1, 0.03, 0.2, 0.3, 0.5, 0.08)), 0.2),
    }
    hard = {
        "wooded share by region": (strata(wooded, t["region"]), 0.1),
        "normal values, all S alike": ([rng.normal(m, 10, n) for m, n in zip(range(50, 90, 5), sizes, strict=True)], 0.2),
        "area by size": (by_size(t, "area", everywhere, MORE), 0.1),
        "people by region": (by_region(t, "people"), 0.2),
        "built-up area by deciles of area": (deciles(t), 0.1),
        "19 of 20 are 0 in one stratum": ([*(rng.normal(50, 10, n) for n in (400, 300, 250, 200, 150, 100)), rare], 0.18),
    }
    return {"skewed": skewed, "shares": shares, "hard": hard}


def by_region(t, key):
    return strata(t[key], t["region"])


def deciles(t):
    return strata(t["built"], np.digitize(t["area"], np.quantile(t["area"], np.linspace(0.1, 0.9, 9))))


def _shares(sizes, p):
    return [(np.arange(n) < q * n) * 1.0 for n, q in zip(sizes, p, strict=True)]


def table(people):
    names = [f"{h:02d}" for h in range(len(people))]
    N = [len(x) for x in people]
    return {"stratum": names, "N": N}, {"stratum": np.repeat(names, N), "y": np.concatenate(people)}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    costs, right, chances = [], [], []
    for group, members in populations().items():
        for name, (people, part) in members.items():
            frame, values = table(people)
            budget = int(part * sum(frame["N"]))
            found = rehearse(frame, budget, values, runs=runs, waves=5)
            row = [found[method].ratio for method in SHOWN]
            more = rehearse(frame, budget, values, runs=runs, rules=["shrunk"], waves=9)["shrunk"].ratio
            costs.append(
                [
                    name,
                    f"{sum(frame['N']):,} in {len(people)}",
                    f"{budget}",
                    *(f"{x:.2f}" if x > 2 else f"{x:.3f}" for x in [*row, more]),
                ]
            )
            one = found["shrunk"]
            bounds = (0.0, 1.0) if group == "shares" else (min(map(np.min, people)), max(map(np.max, people)))
            bounds = (min(0.0, float(bounds[0])), float(bounds[1]))
            seen = rehearse(frame, budget, values, runs=runs // 8, rules=["shrunk"], waves=5, watch=True, bounds=bounds)["shrunk"]
            right.append([
                name, f"{one.ratio:.3f} ± {one.ratio_se:.3f}", f"{one.worst:.3f}", f"{one.bias:+.2f} ± {one.bias_se:.2f}",
                f"{100 * one.covered:.1f} %", f"{100 * found['proportional'].covered:.1f} %",
                f"{100 * seen.always_covered:.0f} %", f"{seen.width:.2f}",
            ])  # fmt: skip
            chances.append([name, *judged(frame, people, budget, runs // 4)])
            print(*costs[-1], *right[-1][1:], *chances[-1][1:], sep="  ", flush=True)
    checked = ["population", "variance", "19 of 20 below", "bias", "classical", "proportional", "every moment", "width"]
    marks.write(
        ROOT / "docs" / "survey-waves.md",
        {
            "costs": lines(["population", "people, strata", "budget", *SHOWN, "shrunk, nine waves"], costs),
            "right": lines(checked, right),
            "chances": lines(["population", "said", "came true", "said where it did", "said where it did not"], chances),
        },
    )


def judged(frame, people, budget, runs):
    """The chance that is said after two of five waves, and how often it came true, for the CV that half of the surveys reach."""
    names, N = frame["stratum"], np.array(frame["N"])
    S2, W, mean = np.array([x.var(ddof=1) for x in people]), N / N.sum(), sum(x.sum() for x in people) / N.sum()
    cvs, early = [], []
    for run in range(runs):
        rng = np.random.default_rng([9, run])
        order = [rng.permutation(x) for x in people]
        waves, n = Waves(frame, budget), np.zeros(len(N), dtype=int)
        for step in range(5):
            wave = waves.next(budget // 5 if step < 4 else budget)
            waves.tell(answers(names, order, n, n + wave.n))
            n = n + wave.n
            if step == 1:
                early.append(Waves(frame, budget))
                early[-1].tell(answers(names, order, 0 * n, n))
        cvs.append(np.sqrt((W**2 * S2 * (1 / n - 1 / N)).sum()) / mean)
    goal = float(np.median(cvs))
    said = np.array([one.chance(cv=goal, draws=1000) for one in early])
    true = np.array(cvs) <= goal * (1 + 1e-12)
    parts = [said.mean(), true.mean(), said[true].mean(), said[~true].mean() if (~true).any() else np.nan]
    return [f"{100 * x:.0f} %" for x in parts]


def answers(names, order, start, end):
    told = [x[a:b] for x, a, b in zip(order, start, end, strict=True)]
    return {"stratum": np.repeat(names, end - start), "y": np.concatenate(told)}


def lines(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *("| " + " | ".join(row) + " |" for row in rows)])


if __name__ == "__main__":
    main()
