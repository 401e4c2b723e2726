"""How many samples certificates cost on measurements, amounts and shares: by the beta mixture, which is ``auto``, and by betting,
side by side in the same runs; ``--write FILE`` puts the table there.

    python benchmarks/real_data.py --runs 200 --write docs/real-data.md
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import clock  # noqa: F401 - compiles from the first call on
import numpy as np
from marks import write

import surepick as sp
from surepick.estimators import Estimator
from surepick.run.drive import drive

BEST = [0.75, *np.round(np.arange(0.60, 0.19, -0.05), 2)]
TOP3 = [0.75, 0.70, 0.65, 0.55, 0.50, 0.45, 0.40, 0.35, 0.30, 0.25]
WAYS = ("auto", "betting")


class Amounts(sp.Environment):
    """Lognormal amounts around these means, cut off at 1,000."""

    def __init__(self, means: list[float], sd: float) -> None:
        self.means, self.sd = np.array(means), sd

    @property
    def m(self) -> int:
        return len(self.means)

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        center = math.log(self.means[arm]) - 0.5 * self.sd**2
        return np.minimum(np.exp(center + self.sd * rng.standard_normal(n)), 1000.0)

    def truth(self, parameter: Estimator) -> np.ndarray[Any, Any]:
        return self.means


def survey() -> tuple[sp.Problem, sp.Environment]:
    study = sp.load(Path(__file__).parent.parent / "examples" / "survey.toml")
    assert study.environment is not None
    return study.problem, study.environment


@dataclass(frozen=True)
class Instance:
    name: str
    make: Callable[[], tuple[sp.Problem, sp.Environment]]
    target: float = math.inf  # mean samples by betting, at most
    share: float = math.inf  # of what ``auto`` takes, at most
    settings: dict[str, Any] = field(default_factory=dict)


def best(world: sp.Environment) -> Callable[[], tuple[sp.Problem, sp.Environment]]:
    return lambda: (sp.BestArm(10), world)


def three(world: sp.Environment) -> Callable[[], tuple[sp.Problem, sp.Environment]]:
    return lambda: (sp.TopK(10, 3), world)


def amounts() -> tuple[sp.Problem, sp.Environment]:
    return sp.BestArm([sp.Arm(f"shop {i}", 0, 1000) for i in range(5)]), Amounts([40, 30, 27, 24, 20], 0.6)


def two_sets() -> tuple[sp.Problem, sp.Environment]:
    return sp.Subsets(20, [[1] * 10 + [0] * 10, [0] * 10 + [1] * 10]), sp.Bernoulli([0.06] * 10 + [0.03] * 10)


def matching() -> tuple[sp.Problem, sp.Environment]:
    cells = [(i, j) for i in range(4) for j in range(4)]
    return sp.Matching(cells), sp.Beta([0.6 if i == j else 0.4 for i, j in cells], 50.0)


INSTANCES = [
    Instance("best of 10, Beta, concentration 8", best(sp.Beta(BEST, 8.0)), 230),
    Instance("best of 10, Beta, concentration 50", best(sp.Beta(BEST, 50.0)), 190),
    Instance("best of 10, Beta, concentration 400", best(sp.Beta(BEST, 400.0)), 180),
    Instance("top-3 of 10, Beta, concentration 8", three(sp.Beta(TOP3, 8.0)), 480),
    Instance("top-3 of 10, Beta, concentration 50", three(sp.Beta(TOP3, 50.0)), 330),
    Instance("best of 10, 0/1 values declared bounded", best(sp.Bernoulli(BEST)), 1040, 1.1),
    Instance("top-3 of 10, 0/1 values declared bounded", three(sp.Bernoulli(TOP3)), 2640, 1.1),
    Instance("best of 5 amounts around 20 to 40 in [0, 1000]", amounts, 3600),
    Instance("examples/survey.toml, exact", survey, 5000),
    # targets: a fifth and a sixth of what half the range takes with normal mixtures arm by arm, 89,431 and 3,484
    Instance("two sets of 10, 0/1 values, means .06 and .03", two_sets, 17_900),
    Instance("4 × 4 matching, Beta, concentration 50", matching, 580),
]


def run(i: int, way: str, seeds: range) -> list[tuple[int, bool]]:
    instance, out = INSTANCES[i], []
    problem, world = instance.make()
    truth = problem.solve(world.truth(problem.parameter))
    for seed in seeds:
        explorer = sp.Explorer(problem, confidence=way, **instance.settings)
        drive(explorer, world, seed=seed)
        out.append((explorer.samples, bool((explorer.decision == truth).all())))
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the table into this Markdown file")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", default="", help="instances whose name matches this")
    options = parser.parse_args()
    lines = ["| instance | `auto` | `betting` | share | wrong | target |", "|---|---|---|---|---|---|"]
    met, parts = True, [range(options.first + a, options.first + min(a + 20, options.runs)) for a in range(0, options.runs, 20)]
    with ProcessPoolExecutor(2) as pool:
        for i, instance in enumerate(INSTANCES):
            if not re.search(options.only, instance.name):
                continue
            found = {way: list(chain(*pool.map(run, [i] * len(parts), [way] * len(parts), parts))) for way in WAYS}
            plain, bets = (float(np.mean([samples for samples, _ in found[way]])) for way in WAYS)
            error = np.std([samples for samples, _ in found["betting"]]) / math.sqrt(options.runs)
            wrong = [sum(not good for _, good in found[way]) for way in WAYS]
            good = bets <= instance.target and bets <= instance.share * plain
            met &= good
            asked = f"≤ {instance.target:,.0f}" + ("" if good else " **missed**")
            row = f"| {instance.name} | {plain:,.0f} | {bets:,.0f} ± {error:,.0f} | {bets / plain:.2f} | {wrong[0]}, {wrong[1]} |"
            lines.append(f"{row} {asked} |")
            print(lines[-1], flush=True)
    if options.write:
        write(options.write, {"real-data": "\n".join(lines) + f"\n\nMeans of {options.runs} seeded runs, δ = 0.05.\n"})
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
