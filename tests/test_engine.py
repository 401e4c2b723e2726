"""The compiled loop takes the same samples, in the same order, as the plain one."""

from __future__ import annotations

import numpy as np
import pytest

import surepick as sp
from surepick.loop import drive
from surepick.problems import PROBLEMS

K5 = [(i, j) for i in range(5) for j in range(i)]
WORLDS = {
    "best-arm": (sp.BestArm(4), sp.Bernoulli([0.6, 0.5, 0.2, 0.1])),
    "top-k": (sp.TopK(10, 3), sp.Bernoulli([0.9, 0.8, 0.7, 0.5, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25])),
    "top-many": (sp.TopK(60, 30), sp.Beta(np.linspace(0.1, 0.9, 60), 5)),
    "best-of-each": (sp.BestOfEach(7, list("abababb"), 2), sp.Beta([0.9, 0.8, 0.7, 0.5, 0.3, 0.2, 0.1], 3)),
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
    "variance-arms": (sp.BestArm(3, parameter="variance"), sp.Bernoulli([0.5, 0.2, 0.1])),
}


def test_every_class_with_a_kernel_is_here() -> None:
    compiled = {problem.kind for problem, _ in WORLDS.values() if problem.kernel() is not None}
    assert compiled == set(PROBLEMS) - {"subsets", "separable", "matching", "path", "program"}


@pytest.mark.parametrize("policy", ["coci", "uniform"])
@pytest.mark.parametrize("name", WORLDS)
def test_same_trajectory(name: str, policy: str) -> None:
    problem, world = WORLDS[name]
    for seed in (0, 1):
        certificates = []
        for compiled in (False, True):
            explorer = sp.Explorer(problem, 0.1, policy=policy, budget=1200)
            drive(explorer, world, seed=seed, compiled=compiled)
            certificates.append(explorer.certificate().to_dict())
        assert certificates[0] == certificates[1]


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
    problem, world = WORLDS["sample-allocation"]
    for budget in [*range(8, 60), 200, 500]:
        counts = []
        for compiled in (False, True):
            explorer = sp.Explorer(problem, 0.1, budget=budget)
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
