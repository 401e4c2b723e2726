"""How many samples certificates cost on measurements, amounts and shares: by default, and by what knows the bounds alone (the
beta mixture, or the same of pairs), side by side in the same runs; ``--write FILE`` puts the table there.

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
from scipy.stats import norm

import surepick as sp
from surepick.estimators import Estimator
from surepick.run.drive import drive

BEST = [0.75, *np.round(np.arange(0.60, 0.19, -0.05), 2)]
TOP3 = [0.75, 0.70, 0.65, 0.55, 0.50, 0.45, 0.40, 0.35, 0.30, 0.25]
MOST = 2_000_000  # samples of a run at most
BATCH = 50  # samples between two looks, where that is what takes time
COIN: dict[str, Any] = {"policy": "joint", "confidence": "beta"}  # every value as if it were a coin
LINEAR: dict[str, Any] = {"policy": "joint-linear"}
COIN_PAIRS: dict[str, Any] = {"policy": "joint", "confidence": "pairs"}


class Lognormal(sp.Environment):
    """Lognormal values, cut off at a cap."""

    def __init__(self, logs: Any, spreads: Any, cap: float) -> None:
        self.logs, self.spreads, self.cap = np.array(logs), np.array(spreads), cap

    @property
    def m(self) -> int:
        return len(self.logs)

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        return np.minimum(np.exp(self.logs[arm] + self.spreads[arm] * rng.standard_normal(n)), self.cap)

    def truth(self, parameter: Estimator) -> np.ndarray[Any, Any]:
        first, second = (self._moment(k) for k in (1, 2))
        return first if parameter.name == "mean" else second - first**2

    def _moment(self, k: int) -> np.ndarray[Any, Any]:
        """The mean of min(X, cap)^k."""
        z = (math.log(self.cap) - self.logs) / self.spreads
        below = np.exp(k * self.logs + 0.5 * (k * self.spreads) ** 2) * norm.cdf(z - k * self.spreads)
        return below + self.cap**k * norm.sf(z)


def survey() -> tuple[sp.Problem, sp.Environment]:
    study = sp.load(Path(__file__).parent.parent / "examples" / "survey.toml")
    assert study.environment is not None
    return study.problem, study.environment


@dataclass(frozen=True)
class Instance:
    name: str
    make: Callable[[], tuple[sp.Problem, sp.Environment]]
    target: float = math.inf  # mean samples, at most
    share: float = math.inf  # of what is taken before, at most
    before: dict[str, Any] = field(default_factory=lambda: COIN)  # the settings to compare with
    settings: dict[str, Any] = field(default_factory=dict)
    known: Callable[[], tuple[sp.Problem, sp.Environment]] | None = None  # the problem to compare with, if it is another one


def best(world: sp.Environment) -> Callable[[], tuple[sp.Problem, sp.Environment]]:
    return lambda: (sp.BestArm(10), world)


def three(world: sp.Environment) -> Callable[[], tuple[sp.Problem, sp.Environment]]:
    return lambda: (sp.TopK(10, 3), world)


def amounts() -> tuple[sp.Problem, sp.Environment]:
    return sp.BestArm([sp.Arm(f"shop {i}", 0, 1000) for i in range(5)]), Lognormal(
        np.log([40, 30, 27, 24, 20]) - 0.18, [0.6] * 5, 1000.0
    )


def incomes() -> tuple[sp.Problem, sp.Environment]:
    """Ten strata of incomes, skewed and capped, of which nobody knows how much they vary."""
    sizes, means = [900, 1400, 700, 2100, 300, 1800, 500, 1200, 800, 300], np.linspace(28_000, 64_000, 10)
    spreads = np.linspace(0.9, 0.45, 10)
    arms = [sp.Arm(f"district {i}", 0, 1_000_000) for i in range(10)]
    world = Lognormal(np.log(means) - spreads**2 / 2, spreads, 1_000_000.0)
    return sp.SampleAllocation(sizes, 1000, arms=arms), world


def normal(sd: float, declared: bool) -> Callable[[], tuple[sp.Problem, sp.Environment]]:
    """The standard deviation is declared, or to be learnt."""

    def make() -> tuple[sp.Problem, sp.Environment]:
        kind: dict[str, Any] = {"kind": "subgaussian", "scale": sd} if declared else {"kind": "normal"}
        return sp.BestArm([sp.Arm(f"arm {i}", **kind) for i in range(10)]), sp.Gaussian(BEST, sd)

    return make


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
    Instance("normal, best of 10, deviation .5", normal(0.5, False), 2000, before={}, known=normal(0.5, True)),
    Instance("normal, best of 10, deviation .144", normal(0.144, False), 245, before={}, known=normal(0.144, True)),
    Instance("normal, best of 10, deviation .061", normal(0.061, False), 110, before={}, known=normal(0.061, True)),
    Instance("examples/survey.toml, exact", survey, 5000, before=COIN_PAIRS),
    # "before" is joint-linear as if values were coins; targets are shares of what half the range took with normal mixtures arm by
    # arm, 89,431 and 3,484 samples: a half and a third
    Instance("two sets of 10, 0/1 values, means .06 and .03", two_sets, 44_715, before={"confidence": "normal"} | LINEAR),
    Instance("4 × 4 matching, Beta, concentration 50", matching, 1_161, before={"confidence": "beta"} | LINEAR),
    Instance(
        "survey of incomes in [0, 1,000,000], 10 strata, 1,000 interviews, within 10 %",
        incomes,
        share=0.25,
        before={"policy": "pac", "confidence": "pairs"},
        settings={"epsilon": 0.1, "relative": True},
    ),
]


def run(i: int, plain: bool, seeds: range) -> list[tuple[int, bool]]:
    """The samples of every run, and whether its decision is as good as was promised; no run goes on beyond ``MOST``."""
    instance, out = INSTANCES[i], []
    problem, world = (instance.known if plain and instance.known else instance.make)()
    theta = world.truth(problem.parameter)
    best = problem.reward(theta, problem.solve(theta))
    chosen = instance.settings | (instance.before if plain else {})
    for seed in seeds:
        explorer = sp.Explorer(problem, budget=MOST, **chosen)
        drive(explorer, world, seed=seed, batch=BATCH if chosen.get("epsilon") else 1)
        allowed = chosen.get("epsilon", 0.0) * (abs(best) if chosen.get("relative") else 1.0)
        good = problem.reward(theta, explorer.decision) >= best - allowed - 1e-12 * abs(best)
        out.append((explorer.samples, bool(good or not explorer.certified)))
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the table into this Markdown file")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", default="", help="instances whose name matches this")
    options = parser.parse_args()
    lines = ["| instance | before | now | share | wrong | target |", "|---|---|---|---|---|---|"]
    met, parts = True, [range(options.first + a, options.first + min(a + 20, options.runs)) for a in range(0, options.runs, 20)]
    with ProcessPoolExecutor(2) as pool:
        for i, instance in enumerate(INSTANCES):
            if not re.search(options.only, instance.name):
                continue
            runs = {way: list(chain(*pool.map(run, [i] * len(parts), [way] * len(parts), parts))) for way in (True, False)}
            plain, now = (float(np.mean([samples for samples, _ in runs[way]])) for way in (True, False))
            error = np.std([samples for samples, _ in runs[False]]) / math.sqrt(options.runs)
            wrong = [sum(not good for _, good in runs[way]) for way in (True, False)]
            good = now <= instance.target and now <= instance.share * plain
            met &= good
            asked = [f"≤ {instance.target:,.0f}"] if instance.target < math.inf else []
            asked += [f"share ≤ {instance.share:g}"] if instance.share < math.inf else []
            capped = "> " if max(samples for samples, _ in runs[True]) >= MOST else ""
            row = f"| {instance.name} | {capped}{plain:,.0f} | {now:,.0f} ± {error:,.0f} | {now / plain:.2f} |"
            row += f" {wrong[0]}, {wrong[1]} |"
            lines.append(f"{row} {', '.join(asked)}{'' if good else ' **missed**'} |")
            print(lines[-1], flush=True)
    if options.write:
        write(options.write, {"real-data": "\n".join(lines) + f"\n\nMeans of {options.runs} seeded runs, δ = 0.05.\n"})
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
