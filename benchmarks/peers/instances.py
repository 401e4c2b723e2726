"""What is compared: the same arms with the same luck, and the same strata, for surepick and for its peers."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import surepick as sp
from surepick.environments.base import stream

ROOT = Path(__file__).parents[2]
SEED, DELTA = 0, 0.05
CHUNK = 4096  # values of one arm drawn ahead


# -- the k best arms --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """Find the k best of these Bernoulli arms; the best come first."""

    name: str
    means: tuple[float, ...]
    k: int

    def problem(self) -> sp.Problem:
        return sp.BestArm(len(self.means)) if self.k == 1 else sp.TopK(len(self.means), self.k)

    def wrong(self, chosen: tuple[int, ...], epsilon: float) -> bool:
        """Whether an arm was chosen that is more than epsilon below the k-th best, which is what the peers promise."""
        return len(set(chosen)) != self.k or min(self.means[i] for i in chosen) < self.means[self.k - 1] - epsilon - 1e-12


TASKS = {
    "top-3 of 10": Task("top-3 of 10", (0.75, 0.70, 0.65, 0.55, 0.50, 0.45, 0.40, 0.35, 0.30, 0.25), 3),
    "best of 10": Task("best of 10", (0.75, 0.60, 0.55, 0.50, 0.45, 0.40, 0.35, 0.30, 0.25, 0.20), 1),
    "best of 50": Task("best of 50", (0.75, *(round(0.60 - 0.01 * i, 2) for i in range(49))), 1),
}


class Tape:
    """The values of every arm in one run, in the order in which surepick's own runs take them."""

    def __init__(self, task: Task, run: int) -> None:
        self.world = sp.Bernoulli(task.means)
        self.rngs = [stream(SEED, run, i) for i in range(len(task.means))]
        self.values: list[list[float]] = [[] for _ in task.means]
        self.counts = [0] * len(task.means)

    def __call__(self, arm: int) -> float:
        """The next value of an arm."""
        s = self.counts[arm]
        if s == len(self.values[arm]):
            self.values[arm] += self.world.sample(arm, CHUNK, self.rngs[arm]).tolist()
        self.counts[arm] = s + 1
        return self.values[arm][s]

    @property
    def samples(self) -> int:
        return sum(self.counts)


@dataclass(frozen=True)
class Rule:
    """One way to find the k best arms. ``find(task, run)`` gives the samples taken and the arms chosen."""

    name: str
    package: str
    needs: str  # is imported before anything is timed
    promises: str
    runs: dict[str, int]  # of every task that it is measured on
    find: Callable[[Task, int], tuple[int, tuple[int, ...]]]
    epsilon: float = 0.0
    reference: bool = False  # the row that others of the same epsilon are compared with
    prepare: Callable[[Task, int], object] | None = None  # what is not the peer's time


# -- interviews over strata -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Survey:
    """Split k interviews over strata of these sizes and standard deviations."""

    name: str
    sizes: NDArray[np.int64]
    sds: NDArray[np.float64]
    k: int
    lower: int = 1
    capped: bool = False  # nobody is asked twice
    variances: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "variances", self.sds**2)

    @property
    def upper(self) -> NDArray[np.int64] | None:
        return self.sizes if self.capped else None

    @property
    def shares(self) -> NDArray[np.float64]:
        """Neyman's shares, in fractions of an interview and without bounds."""
        weight = self.sizes * self.sds
        return np.asarray(self.k * weight / weight.sum())

    def variance(self, y: NDArray[np.int64]) -> float:
        """What is minimised: the sum of n^2 theta / y."""
        return float((self.sizes.astype(float) ** 2 * self.variances / y).sum())

    def within_bounds(self, y: NDArray[np.int64]) -> bool:
        return bool((y >= self.lower).all() and (not self.capped or (y <= self.sizes).all()))

    def is_best(self, y: NDArray[np.int64]) -> bool:
        """Whether no interview can move to another stratum with a gain, in exact fractions; then y is the optimum."""
        if y.sum() != self.k or not self.within_bounds(y):
            return False
        weight = [Fraction(int(n)) ** 2 * Fraction(float(v)) for n, v in zip(self.sizes, self.variances, strict=True)]
        top = self.sizes if self.capped else np.full(len(y), self.k)
        gains = (w / (a * (a + 1)) for w, a, b in zip(weight, y.tolist(), top.tolist(), strict=True) if a < b)
        losses = (w / (a * (a - 1)) for w, a in zip(weight, y.tolist(), strict=True) if a > self.lower)
        return max(gains, default=Fraction(0)) <= min(losses, default=Fraction(2) ** 1100)


def town() -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sizes and standard deviations of examples/strata.csv."""
    with (ROOT / "examples" / "strata.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return np.array([int(row["N"]) for row in rows]), np.array([float(row["S"]) for row in rows])


def drawn(m: int, largest: int = 5000) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sizes and standard deviations of m random strata."""
    rng = np.random.default_rng(m)
    return rng.integers(largest // 20, largest, m), rng.uniform(0.05, 0.5, m)


def surveys() -> list[Survey]:
    """From small to large: what a method cannot do in time it is not asked to do at a larger size."""
    few = drawn(50, 60)
    found = [
        Survey("strata.csv, k = 400", *town(), 400),
        Survey("50 strata, k = 900, 2 ≤ y ≤ N", *few, 900, lower=2, capped=True),
    ]
    for m, k, name in (
        (10, 100, "10 strata, k = 100"),
        (100, 1000, "100 strata, k = 1,000"),
        (1000, 10_000, "1,000 strata, k = 10⁴"),
        (10_000, 10**6, "10⁴ strata, k = 10⁶"),
        (100_000, 10**7, "10⁵ strata, k = 10⁷"),
    ):
        found.append(Survey(name, *drawn(m), k))
    return found


@dataclass(frozen=True)
class Method:
    """One way to split interviews. ``prepare(survey)`` puts the survey into the form that the method takes, untimed, and
    returns the call that is timed."""

    name: str
    package: str
    needs: str
    promises: str
    prepare: Callable[[Survey], Callable[[], NDArray[np.int64]]]
