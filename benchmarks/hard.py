"""Instances on which wrong certificates are likeliest, and runs that count them.

Three ways to be hard. *Lopsided*: many small arms against few large ones, so that errors add up on one side. *Nearly tied*: the
best decision leads by 0.0001 of one arm, so that a certificate, if there is one, is a coin flip. *End of range*: parameters near
the ends of their range, and a pilot that knows one arm far better than the other, so that one success meets hundreds of zeros.
A fourth is certified *within epsilon*, where the second best decision is just worse than that. A fifth has *skewed* values in
between, nearly tied: steady but for a rare 0, steady but for a rare large one, or hardly any spread.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

import surepick as sp
from surepick.confidence import CONFIDENCES
from surepick.engine.loops import find
from surepick.errors import SettingError
from surepick.lab.trials import World
from surepick.policies import POLICIES
from surepick.run.drive import drive

DELTAS = (0.3, 0.05)
LOOKS = 5  # at the data in one run, between which samples grow by a factor that is the run's own
GROWTH = (1.2, 4.5)
FULL = 41  # one run in so many looks at gaps too, about every other time, and once at what a wrong decision attains
# Runs in compiled code look after every sample: one run in so many, and its samples.
JOINT = 2, 800  # for joint stopping of 0/1 decisions, which is quick
COMPILED = 8, 250

FEWER, SOME = 0.1, 0.3  # weights of instances that take time


class Instance(NamedTuple):
    problem: Callable[[], sp.Problem]
    truth: list[float]
    pilot: tuple[int, ...] = ()  # samples that are told before the policy is asked, an arm
    epsilon: float = 0.0
    relative: bool = False
    world: Callable[[list[float]], sp.Environment] = sp.Bernoulli
    weight: float = 1.0  # how many runs it gets, beside the others of its class


RING = [(0, 10), *((i, i + 1) for i in range(10))]
TRIANGLE = [(0, 1), (1, 2), (0, 2)]
CYCLE = [(i, (i + 1) % 7) for i in range(7)]
SQUARE = [(u, v) for u in "ab" for v in "xy"]
DIAMOND = [(0, 1), (1, 3), (0, 2), (2, 3)]
FEW_MANY = [[1, *[0] * 10], [0, *[1] * 10]]
PAIRS = [[1, 1, 0, 0], [0, 0, 1, 1]]


def coins(m: int) -> list[sp.Arm]:
    return [sp.Arm(f"coin {i}", kind="bernoulli") for i in range(m)]


def normal(means: list[float]) -> sp.Environment:
    return sp.Gaussian(means, 1.0)


def normals(m: int) -> list[sp.Arm]:
    """Of unknown variance."""
    return [sp.Arm(f"normal {i}", kind="normal") for i in range(m)]


def unlike(means: list[float]) -> sp.Environment:
    return sp.Gaussian(means, np.geomspace(0.01, 1.0, len(means)))


def skewed(means: list[float]) -> sp.Environment:
    """One value in twenty is 0, or is 1, or none is far away; by turns."""
    laws = []
    for i, mean in enumerate(means):
        rare, steady = (0.0, mean * 20 / 19) if i % 3 == 0 else (1.0, (20 * mean - 1) / 19) if i % 3 == 1 else (None, mean)
        laws.append([steady - 0.002, steady + 0.002] * 10 if rare is None else [rare, *[steady] * 19])
    return sp.Replay(laws)


def uneven(variances: list[float]) -> sp.Environment:
    """One value in twenty is far from the others, or values lie on either side of the middle; by turns."""
    laws = []
    for i, variance in enumerate(variances):
        near, far = 0.5 - math.sqrt(variance), 0.5 + math.sqrt(variance)
        laws.append([near, far] * 10 if i % 2 == 0 else [math.sqrt(variance / (0.05 * 0.95)), *[0.0] * 19])
    return sp.Replay(laws)


def largest(theta: np.ndarray) -> np.ndarray:
    return np.eye(len(theta), dtype=int)[int(np.argmax(theta))]


def own(m: int) -> sp.Problem:
    return sp.Separable(lambda t, y: t * y, [[0, 1]] * m, largest, bimonotone=True)


def plan(price: float, power: float, caps: list[int], require: int) -> sp.Problem:
    return sp.ResourcePlan(lambda y: price * y**power, caps, require)


CLASSES: dict[str, dict[str, Instance]] = {
    "best arm": {
        "lopsided": Instance(lambda: sp.BestArm(8), [0.2] + [0.19] * 7),
        "nearly tied": Instance(lambda: sp.BestArm(2), [0.5, 0.4999]),
        "end of range": Instance(lambda: sp.BestArm(2), [0.005, 0.0049], (200, 2)),
        "within epsilon": Instance(lambda: sp.BestArm(2), [0.5, 0.45], epsilon=0.0499, weight=FEWER),
        "sub-Gaussian": Instance(
            lambda: sp.BestArm([sp.Arm(name, -math.inf, math.inf, kind="subgaussian", scale=1.0) for name in "ab"]),
            [0.0001, 0.0],
            world=normal,
        ),
        "normal": Instance(lambda: sp.BestArm(normals(3)), [0.0001, 0.0, 0.0], world=unlike, weight=SOME),
        "skewed": Instance(lambda: sp.BestArm(3), [0.5, 0.4999, 0.4999], world=skewed),
    },
    "top-k": {
        "lopsided": Instance(lambda: sp.TopK(8, 2), [0.9, 0.2] + [0.19] * 6),
        "nearly tied": Instance(lambda: sp.TopK(4, 2), [0.9, 0.5, 0.4999, 0.1]),
        "end of range": Instance(lambda: sp.TopK(4, 2), [0.995, 0.005, 0.0049, 0.0049], (2, 200, 2, 20)),
        "within epsilon": Instance(lambda: sp.TopK(4, 2), [0.9, 0.5, 0.45, 0.1], epsilon=0.0499, weight=FEWER),
        "skewed": Instance(lambda: sp.TopK(4, 2), [0.9, 0.5, 0.4999, 0.1], world=skewed),
    },
    "best of each": {
        "lopsided": Instance(lambda: sp.BestOfEach(9, list("aaaaaaabb")), [0.2] + [0.19] * 6 + [0.9, 0.8]),
        "nearly tied": Instance(lambda: sp.BestOfEach(4, list("aabb")), [0.5, 0.4999] * 2),
        "end of range": Instance(lambda: sp.BestOfEach(4, list("aabb")), [0.005, 0.0049, 0.995, 0.9949], (200, 2, 2, 200)),
        "within epsilon": Instance(lambda: sp.BestOfEach(4, list("aabb")), [0.5, 0.45] * 2, epsilon=0.0499, weight=FEWER),
        "skewed": Instance(lambda: sp.BestOfEach(4, list("aabb")), [0.5, 0.4999] * 2, world=skewed),
    },
    "spanning tree": {
        "lopsided": Instance(lambda: sp.SpanningTree(CYCLE), [0.19] + [0.2] * 6),
        "nearly tied": Instance(lambda: sp.SpanningTree(TRIANGLE), [0.9, 0.5, 0.4999]),
        "end of range": Instance(lambda: sp.SpanningTree(TRIANGLE), [0.995, 0.005, 0.0049], (2, 200, 2)),
        "within epsilon": Instance(lambda: sp.SpanningTree(TRIANGLE), [0.9, 0.5, 0.45], epsilon=0.0499, weight=FEWER),
        "skewed": Instance(lambda: sp.SpanningTree(TRIANGLE), [0.9, 0.5, 0.4999], world=skewed),
    },
    "matching": {
        "lopsided": Instance(lambda: sp.Matching([("a", "x"), ("a", "y"), ("b", "x")], perfect=False), [0.95, 0.4, 0.5]),
        "nearly tied": Instance(lambda: sp.Matching(SQUARE), [0.5, 0.5, 0.5, 0.4999]),
        "end of range": Instance(lambda: sp.Matching(SQUARE), [0.005, 0.005, 0.0049, 0.005], (200, 2, 2, 200)),
        "within epsilon": Instance(lambda: sp.Matching(SQUARE), [0.5, 0.45, 0.5, 0.5], epsilon=0.0499, weight=FEWER),
        "skewed": Instance(lambda: sp.Matching(SQUARE), [0.5, 0.5, 0.5, 0.4999], world=skewed),
    },
    "path": {
        "lopsided": Instance(lambda: sp.Path(RING, 0, 10), [0.95] + [0.09] * 10),
        "nearly tied": Instance(lambda: sp.Path(DIAMOND, 0, 3), [0.5, 0.5, 0.5, 0.5001]),
        "end of range": Instance(lambda: sp.Path(DIAMOND, 0, 3), [0.005, 0.005, 0.005, 0.0051], (2, 2, 200, 200)),
        "within epsilon": Instance(lambda: sp.Path(DIAMOND, 0, 3), [0.5, 0.5, 0.5, 0.55], epsilon=0.0499, weight=FEWER),
        "skewed": Instance(lambda: sp.Path(DIAMOND, 0, 3), [0.5, 0.5, 0.5, 0.5001], world=skewed),
    },
    "subsets, 0/1": {
        "lopsided": Instance(lambda: sp.Subsets(11, FEW_MANY), [0.95] + [0.09] * 10),
        "nearly tied": Instance(lambda: sp.Subsets(4, PAIRS), [0.5, 0.5, 0.5, 0.4999]),
        "end of range": Instance(lambda: sp.Subsets(4, PAIRS), [0.005, 0.005, 0.005, 0.0049], (200, 200, 2, 2)),
        "within epsilon": Instance(lambda: sp.Subsets(4, PAIRS), [0.5, 0.5, 0.5, 0.45], epsilon=0.0499, weight=FEWER),
        "skewed": Instance(lambda: sp.Subsets(4, PAIRS), [0.5, 0.5, 0.5, 0.4999], world=skewed),
    },
    "subsets, real": {
        "lopsided": Instance(lambda: sp.Subsets(7, [[5.5, *[0] * 6], [0, *[0.5] * 6]]), [0.1] + [0.18] * 6),
        "nearly tied": Instance(lambda: sp.Subsets(3, [[2.5, 0, 0], [0, 1, 1.5]]), [0.5, 0.5, 0.4999]),
        "end of range": Instance(lambda: sp.Subsets(3, [[2.5, 0, 0], [0, 1, 1.5]]), [0.005, 0.005, 0.0049], (200, 2, 2)),
        "within epsilon": Instance(
            lambda: sp.Subsets(3, [[2.5, 0, 0], [0, 1, 1.5]]), [0.5, 0.45, 0.5], epsilon=0.0499, weight=FEWER
        ),
        "skewed": Instance(lambda: sp.Subsets(3, [[2.5, 0, 0], [0, 1, 1.5]]), [0.5, 0.5, 0.4999], world=skewed),
    },
    "program": {
        "lopsided": Instance(lambda: sp.Program(4, [[3, 1, 1, 1]], upper=3), [0.95] + [0.3] * 3, weight=SOME),
        "nearly tied": Instance(lambda: sp.Program(2, [[3, 4]], upper=6), [0.5, 0.4999]),
        "end of range": Instance(lambda: sp.Program(2, [[3, 4]], upper=6), [0.005, 0.0049], (200, 2)),
        "within epsilon": Instance(lambda: sp.Program(2, [[3, 4]], upper=6), [0.5, 0.45], epsilon=0.0499, weight=FEWER / 4),
        "skewed": Instance(lambda: sp.Program(2, [[3, 4]], upper=6), [0.5, 0.4999], world=skewed, weight=SOME),
    },
    "sample allocation, bounded": {
        "lopsided": Instance(lambda: sp.SampleAllocation([4, 1, 1, 1], 6), [0.05, 0.5, 0.3, 0.2], weight=SOME),
        "nearly tied": Instance(lambda: sp.SampleAllocation([1, 1], 3), [0.5, 0.49]),
        "end of range": Instance(lambda: sp.SampleAllocation([1, 1], 3), [0.005, 0.0049], (200, 2)),
        "within epsilon": Instance(lambda: sp.SampleAllocation([1, 1], 3), [0.5, 0.2], epsilon=0.12, relative=True, weight=FEWER),
        "skewed": Instance(lambda: sp.SampleAllocation([1, 1], 3), [0.02, 0.0199], world=uneven),
    },
    "sample allocation, Bernoulli": {
        "lopsided": Instance(lambda: sp.SampleAllocation([4, 1, 1, 1], 6, arms=coins(4)), [0.05, 0.5, 0.3, 0.2], weight=SOME),
        "nearly tied": Instance(lambda: sp.SampleAllocation([1, 1], 3, arms=coins(2)), [0.5, 0.49]),
        "end of range": Instance(lambda: sp.SampleAllocation([1, 1], 3, arms=coins(2)), [0.005, 0.0049], (200, 2)),
        "within epsilon": Instance(
            lambda: sp.SampleAllocation([1, 1], 3, arms=coins(2)), [0.5, 0.2], epsilon=0.12, relative=True, weight=FEWER
        ),
    },
    "resource plan, convex": {
        "lopsided": Instance(lambda: plan(0.1, 2.0, [4, 1, 1, 1, 1], 4), [0.5] + [0.09] * 4),
        "nearly tied": Instance(lambda: plan(0.3, 2.0, [1, 1], 0), [0.3001, 0.3001]),
        "end of range": Instance(lambda: plan(0.3, 2.0, [1, 1], 1), [0.005, 0.0049], (200, 2)),
        "within epsilon": Instance(lambda: plan(0.3, 2.0, [1, 1], 1), [0.1, 0.05], epsilon=0.0499, weight=FEWER),
        "skewed": Instance(lambda: plan(0.3, 2.0, [1, 1], 0), [0.3001, 0.3001], world=skewed),
    },
    "resource plan, concave": {
        "lopsided": Instance(lambda: plan(0.3, 0.5, [4, 1, 1, 1, 1], 4), [0.1] + [0.24] * 4),
        "nearly tied": Instance(lambda: plan(0.3, 0.5, [2, 2], 2), [0.1, 0.0999]),
        "end of range": Instance(lambda: plan(0.3, 0.5, [2, 2], 2), [0.005, 0.0049], (200, 2)),
        "within epsilon": Instance(lambda: plan(0.3, 0.5, [2, 2], 2), [0.1, 0.075], epsilon=0.0499, weight=FEWER),
        "skewed": Instance(lambda: plan(0.3, 0.5, [2, 2], 2), [0.1, 0.0999], world=skewed),
    },
    "separable": {
        "lopsided": Instance(lambda: own(5), [0.2] + [0.19] * 4, weight=SOME),
        "nearly tied": Instance(lambda: own(2), [0.5, 0.4999]),
        "end of range": Instance(lambda: own(2), [0.005, 0.0049], (200, 2)),
        "skewed": Instance(lambda: own(2), [0.5, 0.4999], world=skewed),
    },
}

# For every policy with every sequence: the first that the policy accepts, of each kind of hardness; fewer runs of many arms.
WEIGHTS = {"lopsided": SOME}
MEANS = {
    "lopsided": [CLASSES[name]["lopsided"] for name in ("path", "subsets, 0/1", "best arm")],
    "nearly tied": [CLASSES["best arm"]["nearly tied"]],
    "end of range": [CLASSES["best arm"]["end of range"]],
}
VARIANCES = {
    "nearly tied": [Instance(lambda: sp.BestArm(coins(2), parameter="variance"), [0.5, 0.49])],
    "end of range": [Instance(lambda: sp.BestArm(coins(2), parameter="variance"), [0.005, 0.0049], (200, 2))],
}
NORMALS = {
    "nearly tied": [Instance(lambda: sp.BestArm(normals(2)), [0.0001, 0.0], world=normal)],
    "unlike": [Instance(lambda: sp.BestArm(normals(3)), [0.0, 0.0001, 0.0], (5, 50, 5), world=unlike)],
}
GROUPS = {"mean": MEANS, "variance": VARIANCES, "normal mean": NORMALS}


@dataclass(frozen=True)
class Row:
    """What is counted together."""

    table: str  # "classes" or "policies"
    group: str  # the class, or the parameter
    kind: str  # of hardness
    policy: str
    confidence: str
    delta: float
    runs: int

    @property
    def looks(self) -> int:
        """Fewer where one takes milliseconds."""
        return 2 if self.policy == "ts-explore" else 4 if self.group == "program" else LOOKS

    @property
    def full(self) -> int:
        """One run in so many is a full one."""
        return FULL if self.looks == LOOKS else 5 * FULL

    @property
    def key(self) -> str:
        return f"{self.table}: {self.group}, {self.kind}, {self.policy}, {self.confidence}, {self.delta}"

    @property
    def instance(self) -> Instance:
        return instance_of(self)

    def explorer(self) -> sp.Explorer:
        i = self.instance
        settings = {"policy": self.policy, "confidence": self.confidence, "epsilon": i.epsilon, "relative": i.relative}
        return sp.Explorer(problem_of(i), self.delta, **settings)


def rows(of_classes: float = 1e5, of_policies: float = 2e4) -> list[Row]:
    """All of them; so many runs for every class, and for every policy with every sequence."""
    found = []
    for name, instances in CLASSES.items():
        share = of_classes / len(DELTAS) / sum(instance.weight for instance in instances.values())
        for kind, instance in instances.items():
            runs = math.ceil(share * instance.weight)
            found += [Row("classes", name, kind, "auto", "auto", delta, runs) for delta in DELTAS]
    groups = [(group, kind) for group, instances in GROUPS.items() for kind in instances]
    for policy, confidence in itertools.product(POLICIES, ("auto", *CONFIDENCES)):
        pair = [Row("policies", *where, policy, confidence, delta, 0) for where in groups for delta in DELTAS]
        weights = {row: WEIGHTS.get(row.kind, 1.0) for row in pair if accepted(row)}
        found += [replace(row, runs=math.ceil(of_policies * w / sum(weights.values()))) for row, w in weights.items()]
    return found


@cache
def instance_of(row: Row) -> Instance:
    if row.table == "classes":
        return CLASSES[row.group][row.kind]
    choice = GROUPS[row.group][row.kind]
    return next((i for i in choice if POLICIES[row.policy].needs(problem_of(i)) is None), choice[0])


def accepted(row: Row) -> bool:
    try:
        row.explorer()
    except SettingError:
        return False
    return True


@cache
def _made(make: Callable[[], sp.Problem]) -> sp.Problem:
    return make()


def problem_of(instance: Instance) -> sp.Problem:
    return _made(instance.problem)


# -- runs -----------------------------------------------------------------------------------------------------------------


@dataclass
class Count:
    """What came of some runs."""

    runs: int = 0
    certified: int = 0
    wrong: int = 0  # certified a decision that is not good enough
    full: int = 0  # runs that looked at gaps and attained confidences too
    untrue: int = 0  # of those: a wrong certificate, a gap that is too small, or a wrong decision that attains delta
    seconds: float = 0.0

    def __iadd__(self, other: Count) -> Count:
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


def count(row: Row, first: int, runs: int) -> Count:
    """Do these runs; a run depends on the row and its number alone."""
    instance, found, seed = row.instance, Count(), zlib.crc32(row.key.encode())
    world = instance.world(instance.truth)
    judge = World.of(problem_of(instance), world)
    for number in range(first, first + runs):
        full = number % row.full == 0
        explorer, rng = row.explorer(), np.random.default_rng((seed, number))
        explorer.policy.seed(seed, number)
        for arm, n in enumerate(instance.pilot):
            take(explorer, world, arm, n, rng)
        every, samples = JOINT if explorer.policy.name == "joint" and explorer.problem.linear else COMPILED
        if number % every == 1 and find(explorer) is not None:
            looks = every_sample(explorer, world, seed, number, samples)
        else:
            looks = look_by_look(explorer, world, rng, row.looks, asks=number % 4 > 1)
        certified, wrong, untrue = follow(explorer, judge, looks, full, int(rng.integers(row.looks)))
        found += Count(1, certified, wrong, full, full and untrue)
    return found


def follow(explorer: sp.Explorer, judge: World, looks: Iterator[int], full: bool, which: int) -> tuple[bool, bool, bool]:
    """Certified, and wrongly; and, for a full look, whether anything that was said is untrue."""
    untrue = False
    for look in looks:
        decision = explorer.policy.decision(explorer.view)
        if explorer.certified:
            good = judge.correct(decision, explorer.epsilon, explorer.relative)
            return True, not good, untrue or not good or (full and too_small(explorer, judge))
        if full and not judge.correct(decision, 0.0, False):  # an optimal one is within every gap
            if (look + which) % 2 == 0:
                untrue |= too_small(explorer, judge)
            if look == which and not judge.correct(decision, explorer.epsilon, explorer.relative):
                untrue |= explorer.attained() <= explorer.delta
    return False, False, untrue


def too_small(explorer: sp.Explorer, judge: World) -> bool:
    """The gap is below what the decision falls short by."""
    certificate = explorer.certificate()
    return not judge.correct(certificate.decision, certificate.gap, explorer.relative)


def every_sample(explorer: sp.Explorer, world: sp.Environment, seed: int, number: int, samples: int) -> Iterator[int]:
    """One look, at the end: the compiled loop ends as soon as it is certified."""
    explorer.budget = explorer.samples + samples
    drive(explorer, world, seed=seed, run=number)
    yield 0


def look_by_look(explorer: sp.Explorer, world: sp.Environment, rng: np.random.Generator, looks: int, asks: bool) -> Iterator[int]:
    """Ever more samples between two looks: of all arms, or of those that the policy asks for."""
    problem = explorer.problem
    minimum, variance = problem.parameter.minimum, problem.parameter.name == "variance"
    factor = math.exp(rng.uniform(*np.log(GROWTH)) * LOOKS / looks)
    step, arms = float(minimum), list(range(problem.m))
    for look in range(looks):
        for arm in arms:
            missing = minimum - int(explorer.record.counts[arm])
            n = max(int(step), missing)
            take(explorer, world, arm, n + (n % 2 if variance else 0), rng)
        yield look
        step = max(step * factor, step + 1)
        if asks:
            arms = sorted(set(explorer.ask(max(2, problem.m // 4))))


def take(explorer: sp.Explorer, world: sp.Environment, arm: int, n: int, rng: np.random.Generator) -> None:
    explorer.record.update(arm, world.sample(arm, n, rng))
    explorer.forget()
