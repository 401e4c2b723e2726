"""Nearly optimal answers: gaps by brute force, the guarantee, and the gap at any moment."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom

import surepick as sp
from surepick.engine import compiled
from surepick.policies import PAC, View
from surepick.run.drive import drive

from .cases import CASES, boxes
from .reference import corners, decisions_of

DELTA = 0.1
BERNOULLI = [sp.Arm(str(i), kind="bernoulli") for i in range(3)]


@given(data=st.data())
def test_relative_gap_of_an_allocation(data: st.DataObject) -> None:
    """The largest ratio of variances over all allocations and all corners of the box; the bound by a price is no less."""
    problem = data.draw(CASES["sample-allocation"])
    lower, upper = data.draw(boxes(problem))
    lower, upper = np.minimum(lower, 0.25), np.minimum(upper, 0.25)
    assume((upper > 0).any())
    y = problem.solve((lower + upper) / 2)
    ratios = []
    for theta in corners(lower, upper):
        mine = -problem.reward(theta, y)
        for other in decisions_of(problem):
            its = -problem.reward(theta, other)
            ratios.append(mine / its - 1 if its > 0 else (0.0 if mine == 0 else np.inf))
    rival, share = problem.relative_rival(lower, upper, y)
    assert share == pytest.approx(max(0.0, *ratios), rel=1e-9, abs=1e-12)
    assert problem.contains(rival.astype(float))
    out = np.empty(problem.m, dtype=np.int64)
    bound = compiled("allocation_ratio").ratio_bound(problem.lower(), lower, upper, y.astype(float), np.zeros(2), out)
    assert bound >= share * (1 - 1e-6) - 1e-12


def test_the_bound_by_a_price_is_tight_for_large_budgets() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        m = int(rng.integers(2, 6))
        problem = sp.SampleAllocation(rng.integers(1, 9, m), 150)
        middle = rng.random(m) * 0.2
        lower, upper = middle * 0.9, np.minimum(middle * 1.1, 0.25)
        y = problem.solve(middle)
        share = problem.relative_rival(lower, upper, y)[1]
        out = np.empty(m, dtype=np.int64)
        bound = compiled("allocation_ratio").ratio_bound(problem.lower(), lower, upper, y.astype(float), np.zeros(2), out)
        assert share * (1 - 1e-6) <= bound <= share + 1e-3
        assert out.sum() <= problem.budget


@pytest.mark.parametrize("name", sorted(set(CASES) - {"separable-theta", "sample-allocation"}))
@given(data=st.data())
def test_relative_gaps_of_every_class(name: str, data: st.DataObject) -> None:
    """No decision beats this one by a larger share, anywhere on the box where all rewards have one sign."""
    problem = data.draw(CASES[name])
    lower, upper = data.draw(boxes(problem))
    y = problem.solve((lower + upper) / 2)
    share = problem.relative_rival(lower, upper, y)[1]
    for theta in corners(lower, upper):
        mine = problem.reward(theta, y)
        for other in decisions_of(problem):
            its = problem.reward(theta, other)
            if np.isfinite(share):
                assert mine >= its - share * abs(its) - 1e-9


# -- the guarantee ------------------------------------------------------------------------------------------------------

# Problem, truth, settings: epsilon is below some of the gaps, so that a wrong answer is possible.
HARD = {
    "top-k": (lambda: sp.TopK(4, 2), sp.Bernoulli([0.8, 0.6, 0.45, 0.2]), {"epsilon": 0.1}),
    "top-k, relative": (lambda: sp.TopK(4, 2), sp.Bernoulli([0.8, 0.6, 0.45, 0.2]), {"epsilon": 0.08, "relative": True}),
    "top-k by the box": (lambda: sp.TopK(3, 1), sp.Bernoulli([0.7, 0.5, 0.4]), {"epsilon": 0.15, "policy": "pac"}),
    "matching": (
        lambda: sp.Matching([(u, v) for u in "ab" for v in "xy"]),
        sp.Bernoulli([0.8, 0.5, 0.5, 0.7]),
        {"epsilon": 0.3},
    ),
    "path, relative": (
        lambda: sp.Path([("s", "a"), ("a", "t"), ("s", "b"), ("b", "t")], "s", "t"),
        sp.Bernoulli([0.3, 0.4, 0.6, 0.5]),
        {"epsilon": 0.4, "relative": True},
    ),
    "sample-allocation": (
        lambda: sp.SampleAllocation([1, 2, 3], 24, arms=BERNOULLI),
        sp.Bernoulli([0.5, 0.1, 0.02]),
        {"epsilon": 0.1, "relative": True},
    ),
    "sample-allocation, absolute": (
        lambda: sp.SampleAllocation([1, 2, 3], 24),
        sp.Bernoulli([0.5, 0.1, 0.02]),
        {"epsilon": 0.001},
    ),
    "convex-plan": (
        lambda: sp.ResourcePlan(lambda y: 0.1 * y * y, [3, 3, 3], 4),
        sp.Bernoulli([0.65, 0.35, 0.45]),
        {"epsilon": 0.3},
    ),
    "levels": (lambda: sp.Program(2, [[3, 2]], upper=7, levels=3), sp.Bernoulli([0.9, 0.2]), {"epsilon": 0.5}),
}


def runs_of(name: str, runs: int, moments: int = 0) -> tuple[int, int]:
    """Runs that end more than epsilon from the best, and runs whose gap is false at one of some random moments."""
    make, world, settings = HARD[name]
    problem = make()
    theta = world.truth(problem.parameter)
    best = problem.reward(theta, problem.solve(theta))
    wrong = false = 0
    for run in range(runs):
        explorer = sp.Explorer(problem, DELTA, **settings)
        rng = np.random.default_rng((run, 1))
        missed = False
        for _ in range(moments):
            explorer.budget = explorer.samples + int(rng.integers(1, 200))
            drive(explorer, lambda arm, n, rng, w=world: w.sample(arm, n, rng), batch=10, seed=run, run=explorer.samples)
            certificate = explorer.certificate()
            missed |= short(problem, theta, best, certificate) > certificate.gap + 1e-9
            if explorer.certified:
                break
        false += missed
        explorer.budget = None
        drive(explorer, world, batch=10, seed=99, run=run)
        assert explorer.certified
        wrong += short(problem, theta, best, explorer.certificate()) > explorer.epsilon + 1e-9
    return wrong, false


def short(problem: sp.Problem, theta: np.ndarray, best: float, certificate: sp.Certificate) -> float:
    """By how much the decision falls short of the best one."""
    lost = best - problem.reward(theta, certificate.decision)
    return lost / abs(best) if certificate.relative else lost


@pytest.mark.parametrize("name", HARD)
def test_answers_are_within_epsilon_and_gaps_hold_at_random_moments(name: str) -> None:
    runs = 30
    wrong, false = runs_of(name, runs, moments=4)
    assert max(wrong, false) <= binom.isf(1e-6, runs, DELTA)


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD)
def test_answers_are_within_epsilon_in_many_runs(name: str) -> None:
    runs = 400
    wrong, false = runs_of(name, runs, moments=2)
    assert max(wrong, false) <= binom.isf(1e-6, runs, DELTA)


@pytest.mark.parametrize("name", ["top-k by the box", "sample-allocation", "convex-plan"])
def test_planted_bug_a_gap_of_a_tenth(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gap that is too small ends the run as soon as there is an estimate."""
    make, world, settings = HARD[name]
    weigh = PAC._weigh

    def bold(self: PAC, view: View, decision: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        y, rival, gap = weigh(self, view, decision)
        return y, rival, 0.01 * gap

    monkeypatch.setattr(PAC, "_weigh", bold)
    monkeypatch.setitem(HARD, name, (make, world, settings))
    assert max(runs_of(name, 100, moments=1)) > binom.isf(1e-6, 100, DELTA)


# -- the decision with the smallest gap ---------------------------------------------------------------------------------------


def test_the_decision_has_the_smallest_gap_of_its_options() -> None:
    """phi at the estimates forgets that some strata are known worse than others."""
    problem = sp.SampleAllocation([100, 200, 300, 150, 250], 30, arms=[sp.Arm(str(i), kind="bernoulli") for i in range(5)])
    rng = np.random.default_rng(0)
    better = []
    for _ in range(200):
        explorer = sp.Explorer(problem, epsilon=0.05, relative=True)
        for i, p in enumerate([0.5, 0.3, 0.15, 0.05, 0.02]):
            explorer.tell(i, (rng.random(int(rng.integers(50, 800))) < p).astype(float))
        view = explorer.view
        plain = view.gap(view.decision)
        chosen = explorer.policy.gap(view, explorer.policy.decision(view))
        assert chosen <= plain + 1e-12
        better.append(chosen / plain)
    assert np.mean(better) < 0.9


def test_the_gap_falls_to_nothing() -> None:
    problem = sp.SampleAllocation([1, 2, 3], 24, arms=BERNOULLI)
    gaps = []
    for n in (100, 1000, 10_000, 100_000):
        outcome = sp.explore(problem, sp.Bernoulli([0.5, 0.1, 0.02]), epsilon=1e-9, relative=True, budget=n, batch=200)
        gaps.append(outcome.certificate.gap)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.01


def test_a_prior_with_ties_ends_with_epsilon() -> None:
    """Ties never end at epsilon = 0; with an epsilon every class ends."""
    for problem, world in (
        (sp.TopK(4, 2), sp.Bernoulli([0.5] * 4)),
        (sp.Matching([(u, v) for u in "ab" for v in "xy"]), sp.Bernoulli([0.5] * 4)),
        (sp.Subsets(2, [[1, 0], [0, 1]]), sp.Bernoulli([0.5] * 2)),
        (sp.SpanningTree([(0, 1), (1, 2), (0, 2)]), sp.Bernoulli([0.5] * 3)),
    ):
        assert sp.explore(problem, world, epsilon=0.3, batch=20).certified
