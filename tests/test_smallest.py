"""The smallest parameters instead of the largest: the mirror image of the problem of the largest, for every policy and loop."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import surepick as sp
from surepick.engine.data import Partition
from surepick.engine.loops import find, loops
from surepick.errors import ProblemError
from surepick.policies import POLICIES
from surepick.run.drive import drive

from .test_engine import sequences

PARTITIONS = ("best-arm", "top-k", "best-of-each")
M = 6
SEED = 7  # without ties between the next samples: means are counted from low, so opposites round otherwise, which decides a tie
ARMS = {
    "bounded": [sp.Arm(f"{i}", low=-1.0 - i % 2, high=1.0 + i % 2) for i in range(M)],
    "unbounded": [sp.Arm(f"{i}", kind="subgaussian", scale=0.5 + 0.25 * (i % 2)) for i in range(M)],
}


def problem_of(kind: str, arms: list[sp.Arm], sense: str) -> sp.Problem:
    if kind == "best-arm":
        return sp.BestArm(arms, sense=sense)
    if kind == "best-of-each":
        return sp.BestOfEach(arms, list("ababab"), sense=sense)
    return sp.TopK(arms, 2, sense=sense, parameter="variance" if kind == "variance" else "mean")


class Sampler:
    """Values around -0.4, ..., 0.4, or their opposites."""

    def __init__(self, sign: float) -> None:
        self.sign = sign

    def __call__(self, arm: int, n: int, rng: np.random.Generator) -> np.ndarray:
        return self.sign * (np.linspace(0.4, -0.4, M)[(5 * arm) % M] + 0.5 * rng.random(n) - 0.25)


def run(problem: sp.Problem, sign: float, compiled: bool, **settings: object) -> sp.Certificate:
    explorer = sp.Explorer(problem, **settings)
    drive(explorer, Sampler(sign), seed=SEED, compiled=compiled)
    return explorer.certificate()


@pytest.mark.parametrize("policy", [name for name in POLICIES if name != "ts-explore"])  # which draws noise of its own
@pytest.mark.parametrize("kind", ["best-arm", "top-k", "best-of-each"])
@pytest.mark.parametrize("arms", ARMS)
def test_the_smallest_are_the_largest_of_the_opposites(arms: str, kind: str, policy: str) -> None:
    """Sample for sample, with every sequence."""
    least, most = problem_of(kind, ARMS[arms], "min"), problem_of(kind, ARMS[arms], "max")
    if POLICIES[policy].needs(most):
        assert POLICIES[policy].needs(least)
        return
    for confidence in sequences(most, policy):
        for epsilon in (0.0, 0.3):
            settings = {"delta": 0.3, "policy": policy, "confidence": confidence, "epsilon": epsilon, "budget": 300}
            for compiled in (False, True) if find(sp.Explorer(least, **settings)) else (False,):
                one, other = run(least, 1.0, compiled, **settings), run(most, -1.0, compiled, **settings)
                assert one.counts.tolist() == other.counts.tolist(), settings
                assert one.decision.tolist() == other.decision.tolist()
                assert one.undecided.tolist() == other.undecided.tolist()
                assert one.certified == other.certified
                assert one.gap == pytest.approx(other.gap, rel=3e-3, abs=1e-9)  # bisection ends at 1e-3
                assert one.lower == pytest.approx(-other.upper, abs=1e-9)
                if one.rival is not None:
                    assert one.rival.tolist() == other.rival.tolist()


def test_every_loop_of_groups_finds_the_smallest() -> None:
    """Each compiled loop that takes these classes, to the certificate and to a decision that is right."""
    own = [loop for loop in loops() if loop.data is Partition]
    assert {policy for loop in own for policy in loop.policies} >= {"joint", "coci", "uniform", "clucb", "unified"}
    for loop in own:
        for policy, kind in itertools.product(loop.policies, PARTITIONS):
            problem = problem_of(kind, ARMS["bounded"], "min")
            explorer = sp.Explorer(problem, 0.3, policy=policy)
            if not loop.fits(explorer):
                continue
            assert find(explorer) is loop
            drive(explorer, Sampler(1.0), seed=2)
            assert explorer.certified
            truth = np.linspace(0.4, -0.4, M)[(5 * np.arange(M)) % M]
            assert explorer.decision.tolist() == problem.solve(truth).tolist()


@pytest.mark.parametrize("kind", ["best-arm", "top-k", "best-of-each", "variance"])
def test_every_policy_finds_the_smallest(kind: str) -> None:
    problem = problem_of(kind, [sp.Arm(f"{i}") for i in range(M)], "min")
    world = sp.Bernoulli([1.0, 0.5, 0.5, 0.5, 0.5, 0.0] if kind == "variance" else [0.98, 0.1, 0.03, 0.9, 0.95, 0.99])
    truth = world.truth(problem.parameter)
    best = min(itertools.product((0, 1), repeat=M), key=lambda y: np.dot(y, truth) if problem.contains(np.array(y)) else 99.0)
    for policy, cls in POLICIES.items():
        if cls.needs(problem) is None:
            outcome = sp.explore(problem, world, 0.2, policy=policy, batch=100, seed=3, budget=5000)
            assert outcome.certified or policy == "ts-explore", policy  # its test of agreement takes long
            assert tuple(outcome.decision.tolist()) == best, policy


def test_the_default_policy_is_compiled_in_both_senses() -> None:
    for sense in ("max", "min"):
        for kind in (*PARTITIONS, "variance"):
            explorer = sp.Explorer(problem_of(kind, ARMS["bounded"], sense))
            assert explorer.policy.name == "joint"
            assert find(explorer) is not None


def test_the_least_variance() -> None:
    outcome = sp.explore(sp.TopK(4, 2, sense="min", parameter="variance"), sp.Bernoulli([0.5, 0.02, 0.4, 0.99]), seed=1)
    assert outcome.certified
    assert outcome.decision.tolist() == [0, 1, 0, 1]


def test_reward_and_ties() -> None:
    problem = sp.TopK(4, 2, sense="min")
    assert problem.solve([0.5, 0.2, 0.2, 0.2]).tolist() == [0, 1, 1, 0]
    assert problem.reward([0.5, 0.2, 0.2, 0.2], [0, 1, 1, 0]) == pytest.approx(-0.4)
    with pytest.raises(ProblemError, match="'max' or 'min'"):
        sp.BestArm(3, sense="least")


def test_hardness_and_lower_bound_are_those_of_the_mirror_image() -> None:
    theta = np.array([0.15, 0.3, 0.45, 0.7, 0.8])
    for least, most in (
        (sp.TopK(5, 2, sense="min"), sp.TopK(5, 2)),
        (sp.BestArm(5, sense="min"), sp.BestArm(5)),
        (sp.BestOfEach(5, list("abaab"), sense="min"), sp.BestOfEach(5, list("abaab"))),
    ):
        one, other = sp.hardness(least, theta), sp.hardness(most, 1 - theta)
        assert one.radius == pytest.approx(other.radius)
        assert one.gap == pytest.approx(other.gap)
        assert one.width == other.width == 2
        assert one.upper_bound(0.05) == pytest.approx(other.upper_bound(0.05))
        assert one.lower_bound(0.05) == pytest.approx(other.lower_bound(0.05), rel=1e-4)


def test_simulations_judge_by_the_smallest() -> None:
    world = sp.Bernoulli([0.9, 0.2, 0.6, 0.1])
    table = sp.simulate(sp.TopK(4, 2, sense="min"), world, ["auto", "lucb", "ugape", "coci"], runs=20, executor=1).table
    assert table.certified.all()
    assert table.correct.all()
    assert set(table.decision) == {"{1 3}"}
