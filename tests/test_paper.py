"""What the paper claims, and what it gets wrong."""

from __future__ import annotations

import numpy as np
import pytest

import surepick as sp
from surepick.run.drive import drive

from .reference import brute_solve

TOP3 = [0.75, 0.70, 0.65, 0.55, 0.50, 0.45, 0.40, 0.35, 0.30, 0.25]


def mean_samples(problem: sp.Problem, world: sp.Environment, policy: str, runs: int = 200) -> float:
    total = 0
    best = problem.solve(world.truth(problem.parameter))
    for run in range(runs):
        explorer = sp.Explorer(problem, 0.05, policy=policy, confidence="paper")
        drive(explorer, world, seed=0, run=run)
        assert (explorer.decision == best).all()
        total += explorer.samples
    return total / runs


def test_coci_on_the_reference_instance() -> None:
    assert mean_samples(sp.TopK(10, 3), sp.Bernoulli(TOP3), "coci") == pytest.approx(26_146, rel=0.03)


def test_uniform_on_the_reference_instance() -> None:
    assert mean_samples(sp.TopK(10, 3), sp.Bernoulli(TOP3), "uniform") == pytest.approx(76_204, rel=0.04)


@pytest.mark.slow
def test_coci_on_the_reference_allocation() -> None:
    problem, world = sp.SampleAllocation([1] * 5, 12), sp.Bernoulli([0.5, 0.3, 0.2, 0.1, 0.05])
    assert problem.solve(world.variances).tolist() == [3, 3, 3, 2, 1]
    assert mean_samples(problem, world, "coci") == pytest.approx(2.60e6, rel=0.05)


def random_instance(name: str, rng: np.random.Generator) -> tuple[sp.Problem, sp.Environment]:
    m = int(rng.integers(3, 7))
    mean = rng.random(m)
    if name == "best-arm":
        return sp.BestArm(m), sp.Beta(mean, 3)
    if name == "top-k":
        return sp.TopK(m, int(rng.integers(1, m))), sp.Beta(mean, 3)
    if name == "best-of-each":
        return sp.BestOfEach(m, [i % 2 for i in range(m)]), sp.Beta(mean, 3)
    if name == "spanning-tree":
        return sp.SpanningTree([(0, 1), (1, 2), (0, 2), (2, 3), (1, 3), (0, 3)][: max(m, 5)]), sp.Beta(rng.random(max(m, 5)), 3)
    if name == "subsets":
        rows = {tuple(row) for row in rng.integers(0, 2, (6, m)).tolist()}
        return sp.Subsets(m, sorted(rows)), sp.Beta(mean, 3)
    if name == "sample-allocation":
        return sp.SampleAllocation(rng.integers(1, 4, m), m + 2), sp.Bernoulli(mean)
    if name == "separable":  # the same as top-1, by the user's own hand
        pick = lambda theta: np.eye(len(theta), dtype=int)[int(np.argmax(theta))]
        return sp.Separable(lambda t, y: t * y, [[0, 1]] * m, pick, bimonotone=True), sp.Beta(mean, 3)
    if name == "convex-plan":
        return sp.ResourcePlan(lambda y: 0.2 * y * y, [2] * m, m), sp.Beta(mean, 3)
    return sp.ResourcePlan(lambda y: 0.6 * y**0.5, [2, 2, 2], 3), sp.Beta(rng.random(3), 3)


@pytest.mark.parametrize(
    "name",
    [
        "best-arm",
        "top-k",
        "best-of-each",
        "spanning-tree",
        "subsets",
        "sample-allocation",
        "convex-plan",
        "concave-plan",
        "separable",
    ],
)
def test_theorem_1_on_random_instances(name: str) -> None:
    """Every run ends with the optimum, within the theorem's number of samples (delta = 0.001: no failure in a few runs)."""
    rng = np.random.default_rng(11)
    done = 0
    while done < 8:
        problem, world = random_instance(name, rng)
        truth = world.truth(problem.parameter)
        hard = sp.hardness(problem, truth)
        if hard.H > (3000 if problem.lower() is not None else 250):
            continue
        outcome = sp.explore(problem, world, 0.001, seed=done)
        best = problem.solve(truth).tolist() if name == "separable" else list(brute_solve(problem, truth)[0])
        assert outcome.decision.tolist() == best
        assert outcome.samples <= hard.upper_bound(0.001)
        done += 1


@pytest.mark.parametrize("second", [0, 2])
def test_the_example_of_uniform_sampling(second: int) -> None:
    """Appendix A.5: radii epsilon / 2 for two arms, about 1/4 for the others; uniform sampling pays for all m."""
    eps = 0.05
    ratios = []
    for m in (4, 12, 36):
        p = [0.5 + eps, 0.5 + second * eps, *[eps] * (m - 2)]
        problem, world = sp.BestArm(m), sp.Bernoulli(p)
        hard = sp.hardness(problem, p)
        assert hard.radius[:2] == pytest.approx([eps / 2] * 2)
        assert hard.radius[2:] == pytest.approx([0.25 + (eps / 2 if second else 0)] * (m - 2))
        assert hard.H_uniform == pytest.approx(m / (eps / 2) ** 2)
        coci, uniform = (mean_samples(problem, world, policy, runs=4) for policy in ("coci", "uniform"))
        assert uniform <= hard.upper_bound(0.05, "uniform")
        ratios.append(uniform / coci)
    assert ratios[0] < ratios[1] < ratios[2]
    assert ratios[2] > 5


def test_erratum_3_hardness_is_a_sum_of_squares() -> None:
    """The instance of the lower bound's proof: H = sum 1/Lambda^2 is 4 m / Delta^2; with sum 1/Lambda it would not be."""
    m, delta = 10, 0.08
    problem = sp.Subsets(m, [[1] * 5 + [0] * 5, [0] * 5 + [1] * 5])
    hard = sp.hardness(problem, [delta] * 5 + [0.0] * 5)
    assert hard.radius == pytest.approx([delta / 2] * m)
    assert hard.H == pytest.approx(4 * m / delta**2)
    assert (1 / hard.radius).sum() == pytest.approx(2 * m / delta)


def test_water_planning_end_to_end() -> None:
    """Section 4.1: tests at every source, then the plan."""
    quality = [0.8, 0.55, 0.3]
    plan = sp.ResourcePlan(lambda y: 0.08 * y * y, caps=[4, 4, 4], require=6, arms=["north", "lake", "south"])
    outcome = sp.explore(plan, sp.Beta(quality, 10), 0.05)
    assert outcome.certified
    assert outcome.decision.tolist() == list(brute_solve(plan, np.array(quality))[0])
    assert outcome.decision.sum() >= 6


def test_partitioned_opinion_sampling_end_to_end() -> None:
    """Section 4.2: groups on a network in the steady state of a voter model, then the interviews."""
    town = sp.VoterModel.random([300, 200, 100], share=[0.5, 0.2, 0.02], seed=3)
    survey = sp.SampleAllocation(town.sizes, budget=9, arms=town.names)
    outcome = sp.explore(survey, town, 0.05)
    assert outcome.certified
    assert outcome.decision.tolist() == list(brute_solve(survey, town.variances)[0])
    assert outcome.decision.sum() == 9
