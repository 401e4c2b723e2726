"""CLUCB and the unified rule in compiled code: the samples of a loop that sorts all arms in every round, over long runs."""

from __future__ import annotations

import numpy as np
import pytest

import surepick as sp
from surepick.engine.enums import State
from surepick.engine.loops import rival_partition as room
from surepick.engine.loops.contests import Contest, Note
from surepick.run.drive import drive

from .plain import same
from .test_engine import K5, Fixed, grid, sequences

CHANCE = np.random.default_rng(5)
LONG = {
    "best-arm": (sp.BestArm(25), sp.Bernoulli(np.r_[0.6, np.linspace(0.57, 0.1, 24)])),
    "top-k": (sp.TopK(100, 10), sp.Bernoulli(np.r_[np.linspace(0.95, 0.8, 10), np.linspace(0.7, 0.02, 90)])),
    "half": (sp.TopK(60, 30), sp.Beta(CHANCE.permutation(np.linspace(0.02, 0.98, 60)), 4)),
    "equal": (sp.TopK(30, 12), sp.Bernoulli([0.5] * 30)),
    "few-values": (sp.TopK(12, 4), sp.Replay([[0.0, 0.5, 1.0], [0.5, 0.5, 0.25], [1.0, 0.0]] * 4)),
    "constant": (sp.TopK(8, 3), sp.Bernoulli([1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.5, 1.0])),
    "groups": (
        sp.BestOfEach(40, CHANCE.permutation([i % 7 for i in range(33)] + [0] * 7).tolist(), 2),
        sp.Beta(CHANCE.permutation(np.linspace(0.02, 0.98, 40)), 4),
    ),
    "whole-groups": (sp.BestOfEach(9, list("abbabbbbb"), 2), sp.Bernoulli([0.5, 0.9, 0.8, 0.5, 0.75, 0.4, 0.7, 0.2, 0.1])),
    "all": (sp.TopK(3, 3), sp.Bernoulli([0.5, 0.9, 0.8])),
    "unequal-arms": (
        sp.TopK([sp.Arm(f"{i}", high=1 + i % 3, low=-(i % 2)) for i in range(12)], 4),
        sp.Beta(np.linspace(0.95, 0.05, 12), 5),
    ),
    "unbounded-arms": (
        sp.TopK([sp.Arm(f"{i}", kind="subgaussian", scale=0.3 + 0.2 * (i % 2)) for i in range(10)], 3),
        sp.Gaussian(np.linspace(30, 29.4, 10), 0.3),
    ),
    "variances": (sp.TopK(10, 3, parameter="variance"), sp.Bernoulli(np.linspace(0.5, 0.1, 10))),
    "lowest": (sp.TopK(60, 7, sense="min"), sp.Bernoulli(np.random.default_rng(6).permutation(np.linspace(0.02, 0.98, 60)))),
    "lowest-constant": (sp.TopK(8, 3, sense="min"), sp.Bernoulli([1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.5, 1.0])),
    "lowest-groups": (
        sp.BestOfEach([sp.Arm(f"{i}", -(i % 2), 1 + i % 3) for i in range(24)], [i % 5 for i in range(24)], 2, sense="min"),
        sp.Beta(np.linspace(0.95, 0.05, 24), 5),
    ),
    "lowest-unbounded": (
        sp.TopK([sp.Arm(f"{i}", kind="subgaussian", scale=0.3 + 0.2 * (i % 2)) for i in range(10)], 3, sense="min"),
        sp.Gaussian(np.linspace(30, 29.4, 10), 0.3),
    ),
    "lowest-variances": (sp.TopK(10, 3, sense="min", parameter="variance"), sp.Bernoulli(np.linspace(0.5, 0.1, 10))),
}  # fmt: skip
TREES = {
    "tree": (sp.SpanningTree(grid(4, 5)), sp.Bernoulli(CHANCE.permutation(np.linspace(0.02, 0.98, 31)))),
    "smallest-tree": (sp.SpanningTree(K5 + K5[:4], sense="min"), sp.Beta(CHANCE.permutation(np.linspace(0.05, 0.95, 14)), 3)),
    "equal-tree": (sp.SpanningTree(K5 + K5[:4]), sp.Bernoulli([0.5] * 14)),
}


@pytest.mark.parametrize("policy", ["clucb", "unified"])
@pytest.mark.parametrize("name", [*LONG, *TREES])
def test_long_runs_equal_those_that_sort_all_arms_in_every_round(name: str, policy: str) -> None:
    problem, world = {**LONG, **TREES}[name]
    budget = min(4_000_000 // problem.m, 100_000)
    for delta, run in ((0.05, 0), (0.9, 1)):
        same(problem, world, budget, run, delta=delta, policy=policy, confidence="paper")


@pytest.mark.parametrize(("name", "policy"), [(name, ("clucb", "unified")[i % 2]) for i, name in enumerate(LONG)])
def test_every_sequence(name: str, policy: str) -> None:
    problem, world = LONG[name]
    for confidence in sequences(problem, policy):
        if confidence not in ("paper", "elimination"):
            same(problem, world, 6 * problem.m + 300, 2, delta=0.5, policy=policy, confidence=confidence)


@pytest.mark.parametrize("horizon", ["near", "far", "any"])
@pytest.mark.parametrize("name", ["best-arm", "equal", "constant", "groups", "unequal-arms", "variances", "lowest-groups"])
def test_how_far_the_first_horizons_are_does_not_matter(name: str, horizon: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, world = LONG[name]
    rng, begun = np.random.default_rng(3), room.contest_of

    def contest_of(*given: object) -> Contest:
        found = begun(*given)
        most = found.state[State.MOST]
        found.notes[Note.POWER_OF] = {"near": 0, "far": most, "any": rng.integers(0, most + 1, problem.m)}[horizon]
        return found

    monkeypatch.setattr(room, "contest_of", contest_of)
    for policy, confidence, budget in (("clucb", "paper", 20_000), ("unified", "auto", 800), ("unified", "paper", 20_000)):
        same(problem, world, budget, 3, delta=0.9, policy=policy, confidence=confidence)


@pytest.mark.parametrize("policy", ["clucb", "unified"])
@pytest.mark.parametrize("name", ["equal", "groups", "variances", "lowest-groups", "tree"])
def test_a_radius_that_does_not_widen(name: str, policy: str) -> None:
    problem, world = {**LONG, **TREES}[name]
    runs = []
    for compiled in (False, True):
        explorer = sp.Explorer(problem, 0.1, policy=policy, budget=1000)
        explorer.confidence = Fixed().bound(problem, 0.1)
        drive(explorer, world, seed=1, compiled=compiled)
        runs.append(explorer.certificate().to_dict())
    assert runs[0] == runs[1]


@pytest.mark.parametrize("policy", ["clucb", "unified"])
@pytest.mark.parametrize("name", ["equal", "few-values", "groups", "lowest-constant", "tree"])
def test_the_same_arms_in_the_same_order(name: str, policy: str) -> None:
    """The loop that looks at every arm, stopped after any number of samples."""
    problem, world = {**LONG, **TREES}[name]
    for budget in range(problem.m, problem.m + 80):
        same(problem, world, budget, 4, delta=0.9, policy=policy, confidence="paper")


def test_random_instances() -> None:
    """Small ones, most of them with ties, with every sequence that fits."""
    rng = np.random.default_rng(11)
    for trial in range(60):
        m, k = int(rng.integers(2, 16)), int(rng.integers(1, 4))
        labels = np.r_[np.arange(m) % max(m // (k + 2), 1), np.zeros(k, dtype=np.int64)]
        parameter = "variance" if trial % 5 == 0 else "mean"
        sense = "min" if trial % 7 < 3 else "max"
        problem = sp.BestOfEach(m + k, rng.permutation(labels).tolist(), k, sense=sense, parameter=parameter)
        means = (rng.choice([0.2, 0.5, 0.8], m + k), rng.random(m + k), rng.choice([0.0, 0.5, 1.0], m + k))[trial % 3]
        world = sp.Beta(np.clip(means, 0.1, 0.9), 3) if trial % 4 == 0 else sp.Bernoulli(means)
        policy = ("clucb", "unified")[trial % 2]
        for confidence in {"paper", str(rng.choice(sequences(problem, policy)))} - {"elimination"}:
            budget = int(rng.integers(2 * problem.m, 3000 if confidence == "paper" else 400))
            delta = float(rng.choice([0.05, 0.5, 0.95]))
            same(problem, world, budget, trial, delta=delta, policy=policy, confidence=confidence)
