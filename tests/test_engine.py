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


def test_the_allocation_kernel_equals_the_exact_test() -> None:
    """Random boxes, many of them with ties: where the kernel is sure it agrees with fractions, and it is sure of most."""
    from surepick.engine import kernels

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
        kernel = problem.kernel()
        if kernels("allocation").allocation_undecided(lower, upper, kernel.floats, problem.lower, problem.upper, *warm, out):
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
