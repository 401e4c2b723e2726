"""The compiled loop takes the same samples, in the same order, as the plain one."""

from __future__ import annotations

import contextlib
import math
import signal
from fractions import Fraction
from importlib import import_module
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import surepick as sp
import surepick.engine
from surepick.confidence import CONFIDENCES, Paper
from surepick.engine import compiled as room_of
from surepick.engine.data import Partition, Sequence
from surepick.engine.enums import Form, State
from surepick.engine.loops import coci_partition, coci_tree, find
from surepick.errors import SettingError
from surepick.estimators import Moments
from surepick.policies import POLICIES
from surepick.problems import PROBLEMS
from surepick.run.drive import drive

from .plain import drive_plainly

K5 = [(i, j) for i in range(5) for j in range(i)]
SQUARE = [(u, v) for u in "ab" for v in "xy"]
GRID = [(3 * r + c, 3 * r + c + 1) for r in range(3) for c in range(2)] + [(e, e + 3) for e in range(6)]
WORLDS = {
    "best-arm": (sp.BestArm(4), sp.Bernoulli([0.6, 0.5, 0.2, 0.1])),
    "top-k": (sp.TopK(10, 3), sp.Bernoulli([0.9, 0.8, 0.7, 0.5, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25])),
    "top-many": (sp.TopK(60, 30), sp.Beta(np.linspace(0.1, 0.9, 60), 5)),
    "best-of-each": (sp.BestOfEach(7, list("abababb"), 2), sp.Beta([0.9, 0.8, 0.7, 0.5, 0.3, 0.2, 0.1], 3)),
    "lowest-arm": (sp.BestArm(4, sense="min"), sp.Bernoulli([0.6, 0.5, 0.2, 0.3])),
    "lowest-k": (sp.TopK(10, 3, sense="min"), sp.Bernoulli([0.9, 0.8, 0.7, 0.5, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25])),
    "lowest-of-each": (sp.BestOfEach(7, list("abababb"), 2, sense="min"), sp.Beta([0.9, 0.8, 0.7, 0.5, 0.3, 0.2, 0.1], 3)),
    "spanning-tree": (sp.SpanningTree(K5), sp.Beta(np.linspace(0.1, 0.9, 10), 4)),
    "smallest-tree": (sp.SpanningTree(K5, sense="min"), sp.Beta(np.linspace(0.1, 0.9, 10), 4)),
    "sample-allocation": (sp.SampleAllocation([5, 5, 5, 8], 9), sp.Bernoulli([0.5, 0.5, 0.1, 0.02])),
    "bounded-allocation": (
        sp.SampleAllocation(
            [3, 1, 2], 12, lower=[2, 1, 1], upper=[5, 9, 9], arms=[sp.Arm("a", high=4), sp.Arm("b"), sp.Arm("c")]
        ),
        sp.Beta([0.5, 0.3, 0.7], [0.2, 1, 3]),
    ),
    "convex-plan": (sp.ResourcePlan(lambda y: 0.1 * y * y, [3, 4, 5], 4), sp.Beta([0.9, 0.35, 0.1], 2)),
    "unequal-arms": (
        sp.TopK([sp.Arm("a", high=3), sp.Arm("b"), sp.Arm("c", low=-1), sp.Arm("d", kind="subgaussian", scale=0.3)], 2),
        sp.Beta([0.9, 0.7, 0.3, 0.1], 2),
    ),
    "lowest-unequal-arms": (
        sp.TopK(
            [sp.Arm("a", high=3), sp.Arm("b"), sp.Arm("c", low=-1), sp.Arm("d", kind="subgaussian", scale=0.3)], 2, sense="min"
        ),
        sp.Beta([0.9, 0.7, 0.3, 0.1], 2),
    ),
    "lowest-variance": (sp.BestArm(3, sense="min", parameter="variance"), sp.Bernoulli([0.5, 0.2, 0.1])),
    "variance-arms": (sp.BestArm(3, parameter="variance"), sp.Bernoulli([0.5, 0.2, 0.1])),
    "matching": (
        sp.Matching([(u, v) for u in range(5) for v in range(10)]),
        sp.Bernoulli([0.6 if u == v else 0.4 for u in range(5) for v in range(10)]),
    ),
    "easy-matching": (sp.Matching(SQUARE), sp.Bernoulli([0.9, 0.3, 0.2, 0.9])),
    "smallest-matching": (sp.Matching([(v, u) for u in range(3) for v in range(4)], sense="min"), sp.Beta([0.7, 0.2] * 6, 4)),
    "loose-matching": (
        sp.Matching([(0, 0), (0, 1), (1, 1), (2, 0)], perfect=False, arms=[sp.Arm(f"{e}", low=-1, high=1) for e in range(4)]),
        sp.Replay([[0.5, -0.2], [-0.5, -0.1], [1.0, -1.0], [0.2, 0.1]]),
    ),
    "partial-matching": (
        sp.Matching([(2, 3), (0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 0)]),
        sp.Bernoulli([0.4, 0.7, 0.5, 0.2, 0.8, 0.6, 0.6]),
    ),
    "parallel-matching": (
        sp.Matching([("a", 1), ("a", 1), ("a", 2), ("b", 2), ("b", 2), ("b", 3)], sense="min", perfect=True),
        sp.Bernoulli([0.4, 0.5, 0.2, 0.2, 0.2, 0.6]),
    ),
    "parallel-loose-matching": (
        sp.Matching([("a", 1), ("a", 1), ("a", 2), ("b", 2), ("b", 2), ("b", 1)], perfect=False, parameter="variance"),
        sp.Bernoulli([0.4, 0.5, 0.2, 0.2, 0.2, 0.02]),
    ),
    "path": (sp.Path(GRID, 0, 8), sp.Bernoulli(np.linspace(0.2, 0.8, 12))),
    "tied-paths": (sp.Path(GRID + GRID[:2], 0, 8), sp.Bernoulli([0.5] * 12 + [0.9, 0.5])),
    "longest-path": (
        sp.Path(
            [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t"), ("x", "a"), ("s", "t")], "s", "t", sense="max",
            arms=[sp.Arm(f"{e}", low=-e, high=1) for e in range(5)] + [sp.Arm("5", kind="subgaussian", scale=0.3), sp.Arm("6")],
        ),
        sp.Beta([0.5, 0.6, 0.1, 0.4, 0.5, 0.5, 0.9], 3),
    ),
    "two-lists": (sp.Subsets(6, [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]]), sp.Bernoulli([0.6, 0.5, 0.6, 0.4, 0.5, 0.4])),
    "tied-lists": (sp.Subsets(4, [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 1, 0]]), sp.Bernoulli([0.5] * 4)),
    "real-lists": (
        sp.Subsets(
            [sp.Arm("a", high=3), sp.Arm("b"), sp.Arm("c", low=-1), sp.Arm("d", kind="subgaussian", scale=0.3)],
            [[1.5, -1, 0, 0.1], [0, 0.3, 1, 1 / 3], [0.7, 0, 0, 0.2], [0, 0, 0, 0]], sense="min",
        ),
        sp.Beta([0.5, 0.3, 0.2, 0.9], 3),
    ),
    "long-list": (
        sp.Subsets(12, [[int(i in pick) for i in range(12)] for pick in combinations(range(12), 3)]),
        sp.Bernoulli(np.linspace(0.1, 0.9, 12)),
    ),
    "path-of-variances": (sp.Path(GRID[::-1], 0, 8, parameter="variance"), sp.Bernoulli(np.linspace(0.05, 0.5, 12))),
}  # fmt: skip


def test_every_class_with_a_kernel_is_here() -> None:
    lowered = {problem.kind for problem, _ in WORLDS.values() if problem.lower() is not None}
    own = {kind for kind, cls in PROBLEMS.items() if cls.__module__.startswith("surepick.")}
    assert lowered == own - {"separable", "program", "ranking"}


SIMPLE = ("best-arm", "top-k", "best-of-each", "spanning-tree")
COMPILED = {
    **dict.fromkeys(SIMPLE, ("coci", "uniform", "clucb", "unified", "joint")),
    "sample-allocation": ("coci", "uniform", "joint", "pac"),
    "resource-plan": ("coci", "uniform", "pac"),
    "subsets": ("joint-linear",),
    **dict.fromkeys(("matching", "path"), ("coci", "uniform", "clucb", "unified", "joint-linear")),
}
LINEAR = [name for name, (problem, _) in WORLDS.items() if "clucb" in COMPILED[problem.kind]]


def compiled_policies(problem: sp.Problem) -> list[str]:
    """Those that have a compiled loop for a problem, and do not refuse it."""
    return [policy for policy in COMPILED[problem.kind] if POLICIES[policy].needs(problem) is None]


def sequences(problem: sp.Problem, policy: str) -> list[str]:
    """The confidence sequences that a policy can use for a problem, "auto" first."""
    found = []
    for name in ("auto", *CONFIDENCES):
        with contextlib.suppress(SettingError):
            sp.Explorer(problem, policy=policy, confidence=name)
            found.append(name)
    return found


def pair(name: str, delta: float, policy: str, confidence: str, budget: int, seed: int) -> list[dict[str, object]]:
    """The certificates of the plain loop and of the compiled one."""
    (problem, world), found = WORLDS[name], []
    for compiled in (False, True):
        explorer = sp.Explorer(problem, delta, policy=policy, confidence=confidence, budget=budget)
        assert find(explorer) is not None
        drive(explorer, world, seed=seed, compiled=compiled)
        found.append(explorer.certificate().to_dict())
    return found


def test_what_runs_in_compiled_code() -> None:
    """Said here once more, so that no combination gets lost: these policies, with every sequence but that of elimination."""
    for problem, _ in WORLDS.values():
        for policy, cls in POLICIES.items():
            if cls.needs(problem) is not None:
                continue
            for confidence in sequences(problem, policy):
                runs = find(sp.Explorer(problem, policy=policy, confidence=confidence)) is not None
                wanted = policy in COMPILED[problem.kind] and confidence != "elimination"
                assert runs == wanted, (problem.kind, policy, confidence)
    assert find(sp.Explorer(sp.TopK(3, 1), policy="clucb", epsilon=0.1)) is None


@pytest.mark.parametrize(
    ("name", "policy"), [(name, p) for name, (problem, _) in WORLDS.items() for p in compiled_policies(problem)]
)
def test_same_trajectory_with_every_sequence(name: str, policy: str) -> None:
    """To a budget, and to the certificate or far beyond what the intervals of delta = 0.9 leave open."""
    problem, _ = WORLDS[name]
    for confidence in sequences(problem, policy):
        if confidence != "elimination":
            for delta, budget, seed in ((0.1, 300, 3), (0.9, 900, 4)):
                plain, compiled = pair(name, delta, policy, confidence, budget, seed)
                assert plain == compiled, confidence


IN_BATCHES = [(n, p) for n, (problem, _) in WORLDS.items() for p in compiled_policies(problem) if p != "joint-linear"]


@pytest.mark.parametrize(("name", "policy"), IN_BATCHES)
def test_same_trajectory_in_batches_and_to_the_end_of_the_budget(name: str, policy: str) -> None:
    """With intervals that widen in time, and with the default ones; the decision is soon certain with delta = 0.9."""
    problem, world = WORLDS[name]
    for confidence in {"auto", *sequences(problem, policy)} & {"auto", "paper"}:
        for batch, spend, delta, budget in (
            (7, False, 0.1, 300),
            (33, False, 0.9, 900),
            (1, True, 0.9, 700),
            (20, True, 0.9, 900),
        ):
            found = []
            for compiled in (False, True):
                explorer = sp.Explorer(problem, delta, policy=policy, confidence=confidence, budget=budget, spend=spend)
                assert find(explorer, batch) is not None
                drive(explorer, world, batch=batch, seed=5, compiled=compiled)
                found.append(explorer.certificate().to_dict())
            assert found[0] == found[1], (confidence, batch, spend)


def test_a_function_is_asked_for_a_batch_at_once() -> None:
    """Also where a loop could take its values one by one: a batch may be a day in the field."""
    asked = []

    def sampler(arm: int, n: int, rng: np.random.Generator) -> list[float]:
        asked.append(n)
        return list(rng.random(n) * (1.0 - 0.5 * arm))

    explorer = sp.Explorer(sp.BestArm(2), budget=200)
    drive(explorer, sampler, batch=50)
    assert max(asked) > 1


def test_a_sequence_from_elsewhere_is_left_to_the_plain_loop() -> None:
    """It may have other intervals than the class that it derives from."""

    class Half(Paper):
        def radius(self, counts: np.ndarray) -> np.ndarray:
            return 0.5 * super().radius(counts)

    explorer = sp.Explorer(sp.TopK(3, 1), policy="coci", confidence="paper")
    assert find(explorer) is not None
    explorer.confidence = Half().bound(explorer.problem, 0.05)
    assert find(explorer) is None


def test_a_problem_from_elsewhere_is_left_to_the_plain_loop() -> None:
    """It may decide otherwise than the class that it derives from; by its own word it may still be compiled."""

    class Worst(sp.TopK):
        def maximise(self, weights: np.ndarray) -> np.ndarray:
            return 1 - super().maximise(weights)

    class Same(sp.TopK):
        def lower(self) -> Partition:
            return super().lower()

    assert find(sp.Explorer(Worst(4, 2), policy="clucb")) is None
    assert sp.Explorer(Worst(4, 2)).policy.name != "joint"
    assert find(sp.Explorer(Same(4, 2), policy="clucb")) is not None


class Fixed(Paper):
    """The radius of a fixed number of samples: it does not widen while an arm rests."""

    name = "fixed"

    def log_term(self, t: int) -> float:
        return math.log(4.0) + 0.0 * math.log(t) - 0.0 - math.log(self.delta)

    def lower(self, record: Moments) -> Sequence:
        return self.sequence(record, Form.RADIUS, (math.log(4.0), 0.0, 0.0, math.log(self.delta)))


@pytest.mark.parametrize("name", ["close-top-k", "lowest-k", "tree", "allocation", "plan"])
def test_a_radius_that_does_not_widen(name: str) -> None:
    problem, world = LONG[name]
    for policy in ("coci", "uniform"):
        runs = []
        for compiled in (False, True):
            explorer = sp.Explorer(problem, 0.1, policy=policy, budget=600)
            explorer.confidence = Fixed().bound(problem, 0.1)
            drive(explorer, world, seed=1, compiled=compiled)
            runs.append(explorer.certificate().to_dict())
        assert runs[0] == runs[1]


def grid(rows: int, columns: int) -> list[tuple[int, int]]:
    """The edges of a grid of nodes."""
    across = [(columns * r + c, columns * r + c + 1) for r in range(rows) for c in range(columns - 1)]
    return across + [(columns * r + c, columns * (r + 1) + c) for r in range(rows - 1) for c in range(columns)]


CHANCE = np.random.default_rng(12)
LONG = {
    "top-k": (sp.TopK(200, 10), sp.Bernoulli(np.r_[np.linspace(0.95, 0.8, 10), np.linspace(0.6, 0.02, 190)])),
    "flat-top-k": (sp.TopK(60, 30), sp.Bernoulli([0.8] * 30 + [0.2] * 30)),
    "close-top-k": (sp.TopK(20, 4), sp.Beta(np.linspace(0.9, 0.1, 20), 2)),
    "best-of-each": (
        sp.BestOfEach(40, [i % 7 for i in range(40)], 2), sp.Beta(CHANCE.permutation(np.linspace(0.02, 0.98, 40)), 4),
    ),
    "whole-groups": (sp.BestOfEach(9, list("aabbbbbbb"), 2), sp.Bernoulli([0.5, 0.5, 0.9, 0.8, 0.5, 0.4, 0.3, 0.2, 0.1])),
    "unequal-arms": (
        sp.TopK([sp.Arm(f"{i}", high=1 + i % 3, low=-(i % 2)) for i in range(12)], 4),
        sp.Beta(np.linspace(0.95, 0.05, 12), 5),
    ),
    "lowest-k": (sp.TopK(50, 8, sense="min"), sp.Beta(CHANCE.permutation(np.linspace(0.02, 0.98, 50)), 2)),
    "lowest-of-each": (
        sp.BestOfEach(
            [sp.Arm(f"{i}", high=1 + i % 3, low=-(i % 2)) for i in range(24)], [i % 5 for i in range(24)], 2, sense="min"
        ),
        sp.Beta(np.random.default_rng(7).permutation(np.linspace(0.02, 0.98, 24)), 4),
    ),
    "tree": (sp.SpanningTree(grid(4, 5)), sp.Bernoulli(CHANCE.permutation(np.linspace(0.02, 0.98, 31)))),
    "smallest-tree": (sp.SpanningTree(K5 + K5[:4], sense="min"), sp.Beta(CHANCE.permutation(np.linspace(0.05, 0.95, 14)), 3)),
    "allocation": (sp.SampleAllocation([3, 5, 8, 13, 21, 34], 40), sp.Bernoulli([0.5, 0.4, 0.3, 0.2, 0.1, 0.05])),
    "plan": (
        sp.ResourcePlan(lambda y: 0.03 * y * y, [6, 5, 4, 6, 7], 9), sp.Beta([0.9, 0.6, 0.47, 0.22, 0.05], 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("policy", ["coci", "uniform"])
@pytest.mark.parametrize("name", LONG)
def test_long_runs_equal_those_that_look_at_every_arm_in_every_round(name: str, policy: str) -> None:
    """Some hundred thousand samples, in which arms are decided, become undecided again, and are too close to call."""
    problem, world = LONG[name]
    for confidence, delta, run in (("paper", 0.05, 0), ("paper", 0.9, 1), ("lucb", 0.5, 2), ("auto", 0.9, 3)):
        if confidence == "lucb" and problem.parameter.name == "variance":
            confidence = "u-statistic"
        budget = 1_500 if confidence == "auto" else 30_000_000 // (problem.m + 50)
        runs = []
        for how in (drive_plainly, drive):
            explorer = sp.Explorer(problem, delta, policy=policy, confidence=confidence, budget=budget)
            how(explorer, world, seed=6, run=run)
            runs.append((explorer.counts.tolist(), explorer.certified, explorer.decision.tolist()))
        assert runs[0] == runs[1]


@pytest.mark.parametrize("stretch", [1, 10**6])
@pytest.mark.parametrize("name", ["close-top-k", "whole-groups", "unequal-arms", "lowest-of-each", "tree", "smallest-tree"])
def test_how_long_a_stretch_is_does_not_matter(name: str, stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too short a stretch cannot be shortened, so arms that are too close to call are tested; too long a one must be."""
    problem, world = LONG[name]
    room, name = (coci_tree, "proofs_of") if problem.kind == "spanning-tree" else (coci_partition, "ranks_of")
    begun = getattr(room, name)

    def first(*given: object) -> object:
        found = begun(*given)
        found.state[State.LENGTH] = stretch
        return found

    monkeypatch.setattr(room, name, first)
    for policy in ("coci", "uniform"):
        runs = []
        for how in (drive_plainly, drive):
            explorer = sp.Explorer(problem, 0.9, policy=policy, confidence="paper", budget=150_000)
            how(explorer, world, seed=7)
            runs.append((explorer.counts.tolist(), explorer.certified))
        assert runs[0] == runs[1]


@pytest.mark.parametrize("name", [name for name, (problem, _) in WORLDS.items() if problem.exchangeable])
def test_same_trajectory_by_exchanges(name: str) -> None:
    problem, world = WORLDS[name]
    for seed, budget, delta in ((0, 1200, 0.1), (1, 1500, 0.9), (2, problem.m * problem.parameter.minimum + 1, 0.1)):
        certificates = []
        for compiled in (False, True):
            explorer = sp.Explorer(problem, delta, policy="joint", budget=budget)
            drive(explorer, world, seed=seed, compiled=compiled)
            certificates.append(explorer.certificate().to_dict())
        assert certificates[0] == certificates[1]


def test_same_certificate_by_exchanges() -> None:
    """To the end, with arms declared Bernoulli, whose variances have a kernel path of their own."""
    arms = [sp.Arm(str(i), kind="bernoulli") for i in range(3)]
    worlds = [
        (sp.SampleAllocation([1, 2, 3], 9, arms=arms), sp.Bernoulli([0.5, 0.3, 0.02])),
        (sp.TopK(4, 2), sp.Bernoulli([0.8, 0.7, 0.4, 0.2])),
        (sp.SpanningTree(K5, sense="min"), sp.Beta(np.linspace(0.1, 0.9, 10), 4)),
    ]
    for problem, world in worlds:
        runs = []
        for compiled in (False, True):
            explorer = sp.Explorer(problem, 0.2)
            drive(explorer, world, seed=3, compiled=compiled)
            assert explorer.certified
            runs.append(explorer.certificate().to_dict())
        assert runs[0] == runs[1]


@pytest.mark.parametrize("confidence", ["paper", "clucb"])
@pytest.mark.parametrize("policy", ["clucb", "unified", "coci", "uniform"])
@pytest.mark.parametrize("name", LINEAR)
def test_same_trajectory_against_the_rival(name: str, policy: str, confidence: str) -> None:
    """To a budget or to the certificate; narrow intervals make every instance end within the budget, some of them at ties."""
    problem, world = WORLDS[name]
    for seed, budget, delta in ((0, 700, 0.1), (1, 1500, 0.9), (2, problem.m * problem.parameter.minimum + 1, 0.1)):
        certificates = []
        for compiled in (False, True):
            explorer = sp.Explorer(problem, delta, policy=policy, confidence=confidence, budget=budget)
            drive(explorer, world, seed=seed, compiled=compiled)
            certificates.append(explorer.certificate().to_dict())
        assert certificates[0] == certificates[1]


@pytest.mark.parametrize("policy", ["clucb", "unified"])
@pytest.mark.parametrize("name", ["easy-matching", "partial-matching", "smallest-tree", "top-k"])
def test_same_certificate_against_the_rival(name: str, policy: str) -> None:
    problem, world = WORLDS[name]
    world = sp.Bernoulli(
        np.where(problem.solve(world.means) > 0, 0.95, 0.05) if problem.sign > 0 else 1 - problem.solve(world.means)
    )
    runs = []
    for compiled in (False, True):
        explorer = sp.Explorer(problem, 0.1, policy=policy, confidence="own")
        drive(explorer, world, seed=6, compiled=compiled)
        assert explorer.certified
        runs.append(explorer.certificate().to_dict())
    assert runs[0] == runs[1]


def test_a_gap_of_exactly_zero_is_left_to_the_plain_loop() -> None:
    """The bounds of "a" and "b" touch at 1/2 as long as they are clipped: CLUCB may stop there, the unified rule may not."""
    arms = [sp.Arm("a", high=0.5), sp.Arm("b", low=0.5), sp.Arm("c"), sp.Arm("d")]
    problem = sp.BestOfEach(arms, groups="xxyy")
    world = sp.Replay([[0.4, 0.5], [0.5, 0.6], [0.7, 0.9], [0.3, 0.1]])
    samples = {}
    for policy in ("clucb", "unified"):
        runs = []
        for compiled in (False, True):
            explorer = sp.Explorer(problem, 0.1, policy=policy, confidence="paper", budget=20_000)
            drive(explorer, world, compiled=compiled)
            assert explorer.certified
            runs.append(explorer.certificate().to_dict())
        assert runs[0] == runs[1]
        samples[policy] = runs[0]["samples"]
    assert samples["clucb"] < samples["unified"]


def test_a_function_is_asked_for_no_more_than_is_needed() -> None:
    asked = []

    def sampler(arm: int, n: int, rng: np.random.Generator) -> np.ndarray:
        asked.append(n)
        return rng.random(n)

    explorer = sp.Explorer(sp.Matching(SQUARE), policy="clucb", budget=300)
    drive(explorer, sampler)
    assert sum(asked) == explorer.samples == 300


def test_assignments_equal_those_of_scipy() -> None:
    """Ties, and sums that differ in their last bit only, included; also with the cost of a missing edge."""
    from scipy.optimize import linear_sum_assignment

    assign, rng = room_of("assignment").assign, np.random.default_rng(3)
    for trial in range(6000):
        rows = int(rng.integers(1, 8))
        shape = rows, rows + int(rng.integers(0, 6))
        weights = (
            rng.integers(0, 4, shape).astype(float),
            rng.integers(-9, 10, shape) / 10,
            rng.random(shape),
            rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape),
        )[trial % 4]
        if trial % 3 == 0:
            missing = rng.random(shape) < 0.4
            weights[missing] = -1.0 - 2.0 * rows * np.abs(weights[~missing]).max(initial=0.0)
        columns = np.empty(rows, dtype=np.int64)
        assert assign(-weights.ravel(), *shape, columns)
        assert columns.tolist() == linear_sum_assignment(weights, maximize=True)[1].tolist()
    assert not assign(np.array([1.0, np.inf, 1.0, np.inf]), 2, 2, np.empty(2, dtype=np.int64))


def test_the_compiled_maximisers_equal_the_plain_ones() -> None:
    rng = np.random.default_rng(9)
    grid = [(u, v) for u in range(4) for v in range(5)]
    for trial in range(1500):
        pairs = [grid[e] for e in rng.integers(0, 20, 12)] + [(u, u) for u in range(5)][: 4 + trial % 2]
        problem = (
            sp.Matching(pairs[12:] + pairs[:12], perfect=bool(trial % 3)),
            sp.Matching(grid, perfect=bool(trial % 3)),
            sp.BestOfEach(12, rng.permutation(np.repeat([0, 1, 2], 4)).tolist(), k=1 + trial % 4),
            sp.TopK(60, 30),
            sp.SpanningTree(K5),
            sp.Path(GRID + GRID[3:5], 0, 8, sense="max"),
        )[trial % 6]
        weights = rng.integers(-9, 10, problem.m) / 10 if trial % 2 else rng.normal(size=problem.m)
        decision = np.empty(problem.m, dtype=np.int64)
        rooms = {"matching": "assignment", "spanning-tree": "trees", "path": "paths"}
        best = room_of(rooms.get(problem.kind, "partitions")).best
        assert best(problem.lower(), weights, decision) in (True, None)
        assert decision.tolist() == problem.maximise(weights).tolist()


def test_the_better_of_two_listed_decisions_is_known_exactly() -> None:
    """Sums that rounding cannot tell apart, by tenths and thirds; what is too small to multiply exactly is left alone."""
    better, rng = room_of("lists").better, np.random.default_rng(5)
    for _ in range(2000):
        listed = rng.integers(-3, 4, (2, 6)) / rng.choice([1, 2, 3, 10])
        theta = rng.integers(0, 4, 6) / rng.choice([3, 7, 10]) * 10.0 ** rng.choice([0, 0, -9, 9])
        rewards = [sum(Fraction(x) * Fraction(t) for x, t in zip(row, theta, strict=True)) for row in listed.tolist()]
        assert better(0, 1, listed, theta) == (rewards[0] > rewards[1]) - (rewards[0] < rewards[1])
    assert better(0, 1, np.eye(2), np.array([0.1, 0.1])) == 0
    assert better(0, 1, np.eye(2) / 3, np.array([1e-290, 1e-290])) == 2


@pytest.mark.parametrize("name", [name for name, (problem, _) in WORLDS.items() if "joint-linear" in COMPILED[problem.kind]])
def test_same_trajectory_of_linear_rewards(name: str) -> None:
    """To the certificate or beyond the rounds after which sums are worked out anew."""
    if POLICIES["joint-linear"].needs(WORLDS[name][0]) is None:
        for delta, seed in ((0.05, 0), (0.9, 1)):
            plain, compiled = pair(name, delta, "joint-linear", "auto", 2500, seed)
            assert plain == compiled


@pytest.mark.parametrize("name", ["two-lists", "real-lists", "partial-matching", "longest-path"])
@pytest.mark.parametrize("settings", [{}, {"spend": True}, {"epsilon": 0.5}, {"epsilon": 0.5, "spend": True}], ids=str)
def test_same_batches_of_linear_rewards(name: str, settings: dict[str, object]) -> None:
    """Several samples between two looks, and samples after the decision is certified, which every arm gets."""
    problem, world = WORLDS[name]
    for batch, budget, delta in ((1, 2000, 0.9), (7, 800, 0.1), (60, 1001, 0.9)):
        runs = []
        for compiled in (False, True):
            explorer = sp.Explorer(problem, delta, policy="joint-linear", budget=budget, **settings)
            assert find(explorer, batch) is not None
            drive(explorer, world, batch=batch, seed=8, compiled=compiled)
            runs.append(explorer.certificate().to_dict())
        assert runs[0] == runs[1]


NEAR = [
    ("two-lists", 0.2, False), ("tied-lists", 0.1, True), ("real-lists", 0.4, False), ("two-lists", 0.1, True),
    ("long-list", 0.3, False), ("easy-matching", 0.7, False), ("parallel-matching", 0.75, True), ("loose-matching", 0.5, False),
    ("path", 0.5, False), ("tied-paths", 0.5, True), ("longest-path", 0.5, False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "epsilon", "relative"), NEAR)
def test_same_stop_near_enough(name: str, epsilon: float, relative: bool) -> None:
    """Within epsilon of the best, by the joint bound or by the box, whose radius may widen with the samples of other arms."""
    (problem, world), near = WORLDS[name], 0
    for confidence, delta, seed in (("auto", 0.1, 0), ("auto", 0.5, 1), ("paper", 0.9, 2)):
        runs = []
        for compiled in (False, True):
            explorer = sp.Explorer(
                problem, delta, policy="joint-linear", confidence=confidence, epsilon=epsilon, relative=relative, budget=2500
            )
            assert find(explorer) is not None
            drive(explorer, world, seed=seed, compiled=compiled)
            runs.append(explorer.certificate().to_dict())
        assert runs[0] == runs[1]
        near += explorer.certified and not explorer.policy.certified(explorer.view)
    assert near > 0


def test_losses_equal_those_of_one_call_an_arm() -> None:
    """How much worse the best decision with another entry for an arm is: all arms at once, and one by one."""
    rng = np.random.default_rng(11)
    for trial in range(400):
        problem = (
            WORLDS["partial-matching"][0],
            WORLDS["parallel-matching"][0],
            WORLDS["loose-matching"][0],
            WORLDS["smallest-matching"][0],
            sp.Path(GRID + GRID[3:5] + [(0, 8), (9, 4)], 0, 8, sense="max"),
        )[trial % 5]
        weights = rng.integers(-9, 10, problem.m) / 10 if trial % 2 else rng.normal(size=problem.m)
        decision, loss = np.empty(problem.m, dtype=np.int64), np.empty(problem.m)
        assert room_of("paths" if problem.kind == "path" else "assignment").losses(problem.lower(), weights, decision, loss)
        best = problem.maximise(weights)
        assert decision.tolist() == best.tolist()
        for i in range(problem.m):
            bent = weights.copy()
            bent[i] += 100.0 if best[i] == 0 else -100.0
            other = problem.maximise(bent)
            assert loss[i] == (pytest.approx(weights @ (best - other)) if other[i] != best[i] else math.inf)


def test_same_stop_when_certified() -> None:
    problem, world = sp.TopK(5, 2), sp.Bernoulli([0.9, 0.85, 0.4, 0.3, 0.1])
    runs = []
    for compiled in (False, True):
        explorer = sp.Explorer(problem, 0.1)
        drive(explorer, world, seed=5, compiled=compiled)
        assert explorer.certified
        runs.append(explorer.certificate().to_dict())
    assert runs[0] == runs[1]


def test_sequence_of_arms_is_the_same_at_every_length() -> None:
    """Stopped after any number of samples, both have asked for the same arms: the trajectories agree sample for sample."""
    for name, policy in (("sample-allocation", "coci"), ("partial-matching", "clucb"), ("matching", "unified")):
        problem, world = WORLDS[name]
        for budget in [*range(8, 60), 200, 500]:
            counts = []
            for compiled in (False, True):
                explorer = sp.Explorer(problem, 0.1, policy=policy, budget=budget)
                drive(explorer, world, seed=3, compiled=compiled)
                counts.append(explorer.counts.tolist())
            assert counts[0] == counts[1]


def test_a_tie_that_needs_fractions_goes_through_the_exact_test() -> None:
    """While all upper bounds are clipped at 1/4, step 1 of size 1 and step 8 of size 6 gain the same: 1/2 = 36/72."""
    problem = sp.SampleAllocation([1, 6, 1], 11)
    world = sp.Bernoulli([0.5, 0.5, 0.5])
    counts = []
    for compiled in (False, True):
        explorer = sp.Explorer(problem, 0.1, budget=800)
        drive(explorer, world, seed=0, compiled=compiled)
        counts.append((explorer.counts.tolist(), explorer.undecided.tolist()))
    assert counts[0] == counts[1]


def test_the_allocation_kernel_equals_the_exact_test() -> None:
    """Random boxes, many of them with ties: where the kernel is sure it agrees with fractions, and it is sure of most."""
    rng = np.random.default_rng(8)
    sure = 0
    for _ in range(1500):
        m = int(rng.integers(2, 6))
        problem = sp.SampleAllocation(
            rng.choice([1, 1, 2, 3, 6], m), m + int(rng.integers(0, 15)), upper=int(rng.integers(3, 12))
        )
        grid = rng.choice([4, 16, 10**6])
        a, b = (np.round(rng.random(m) * grid) / grid / 4 for _ in range(2))
        lower, upper = np.minimum(a, b), np.maximum(a, b)
        warm = [problem.solve(rng.random(m) / 4) for _ in range(2)]
        out = np.empty(m, dtype=np.bool_)
        if room_of("allocation").undecided(problem.lower(), lower, upper, *warm, out):
            sure += 1
            assert out.tolist() == problem.undecided(lower, upper).tolist()
    assert sure > 1000


def test_huge_budgets_do_not_stall_the_compiled_loop() -> None:
    """When a lower bound leaves 0 half of all units move at once; they must not be moved one by one."""
    problem, world = sp.SampleAllocation([1, 1, 1], 10**8), sp.Bernoulli([0.5, 0.5, 0.3])
    ends = []
    for compiled in (False, True):
        explorer = sp.Explorer(problem, budget=1000)
        drive(explorer, world, compiled=compiled)
        ends.append(explorer.certificate().to_dict())
    assert ends[0] == ends[1]


def test_a_records_subclass_is_left_to_the_plain_loop() -> None:
    from surepick.estimators import Moments, Variance

    class Doubled(Moments):
        def refresh(self, arm: int | slice = slice(None)) -> None:
            super().refresh(arm)
            self.estimates[arm] *= 0.5

    class Half(Variance):
        def record(self, m: int) -> Moments:
            return Doubled(m, variance=True)

    problem = sp.BestArm(2, parameter=Half())
    outcome = sp.explore(problem, sp.Bernoulli([0.5, 0.5]), budget=2000)
    assert outcome.certificate.estimate == pytest.approx([0.125, 0.125], abs=0.02)


def test_ties_of_many_arms() -> None:
    """The k-th of more than 24 arms, with many equal values."""
    from .reference import undecided_by_calls

    rng = np.random.default_rng(4)
    for k in (24, 25, 30, 45):
        problem = sp.TopK(60, k)
        for _ in range(20):
            a, b = rng.integers(0, 5, (2, 60)) / 4
            lower, upper = np.minimum(a, b), np.maximum(a, b)
            assert problem.undecided(lower, upper).tolist() == undecided_by_calls(problem, lower, upper).tolist()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that interrupts")
@pytest.mark.parametrize("policy", ["coci", "clucb", "auto"])
def test_what_an_interrupt_leaves_is_what_was_recorded(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of a stretch: the explorer answers for the samples it has, not for those before the stretch."""
    problem = sp.TopK(4, k=2)
    explorer = sp.Explorer(problem, 0.1, policy=policy)
    monkeypatch.setattr("surepick.run.drive.REPORT", 0.0)  # progress looks at the explorer before every stretch

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        drive(sp.Explorer(problem, 0.1, policy=policy, budget=100), sp.Bernoulli([0.5] * 4))  # compile first
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            drive(explorer, sp.Bernoulli([0.5] * 4), seed=1, progress=lambda _: None)  # never certified
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    fresh = sp.Explorer(problem, 0.1, policy=policy)
    fresh.record = explorer.record
    assert explorer.samples > 1000
    assert explorer.ask(4) == fresh.ask(4)
    assert repr(explorer.certificate()) == repr(fresh.certificate())


def calls(kernel: Dispatcher) -> list[Dispatcher]:
    """The kernels that one calls, by itself or by those that are part of it before types are known."""
    found = []
    for name in kernel.py_func.__code__.co_names:
        called = kernel.py_func.__globals__.get(name)
        if isinstance(called, Dispatcher):
            found += calls(called) if called.targetoptions.get("inline") == "always" else [called]
    return found


def test_kernels_become_part_of_others_only_where_that_is_said() -> None:
    """numba would hand it on to what is compiled for the first time: speeds would depend on what ran before."""
    folder = Path(surepick.engine.__path__[0])
    rooms = [
        import_module(f"surepick.engine.{part}.{path.stem}")
        for part in ("kernels", "loops")
        for path in (folder / part).glob("[a-z]*.py")
    ]
    inlined = {
        kernel for room in rooms for kernel in vars(room).values()
        if isinstance(kernel, Dispatcher) and kernel.targetoptions.get("forceinline")
    }  # fmt: skip
    assert len(inlined) > 20
    for kernel in inlined:
        for called in calls(kernel):
            assert "forceinline" in called.targetoptions, (kernel, called)
