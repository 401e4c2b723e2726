"""COCI and uniform sampling on allocations and plans, compiled: the samples of a loop that looks at every arm in every round."""

from __future__ import annotations

import numpy as np
import pytest

import surepick as sp
from surepick.engine.enums import Stop
from surepick.engine.loops import Loop, find, units
from surepick.run.source import Source

from .plain import drive_plainly, same

CHANCE = np.random.default_rng(9)


def strata(*, kind: str, m: int) -> list[sp.Arm]:
    return [sp.Arm(f"{i}", kind=kind) for i in range(m)]


def steep(slope: float):
    return lambda y: slope * y * y


HARD = {
    "allocation": (sp.SampleAllocation(CHANCE.uniform(1, 9, 15), 300), sp.Bernoulli(CHANCE.uniform(0.02, 0.5, 15))),
    "many units": (sp.SampleAllocation([3, 5, 8, 13, 21, 34], 20_000), sp.Bernoulli([0.5, 0.4, 0.3, 0.2, 0.1, 0.05])),
    "huge budget": (sp.SampleAllocation([3, 5, 8], 10**7), sp.Bernoulli([0.5, 0.3, 0.2])),
    "huge budget, no spread": (
        sp.SampleAllocation([3, 5, 8, 2], 10**7, upper=[10**7, 999, 10**7, 10**7]), sp.Bernoulli([0.0, 0.5, 0.0, 0.0]),
    ),
    "equal strata": (sp.SampleAllocation([4] * 8, 50), sp.Bernoulli([0.5] * 4 + [0.1] * 4)),
    "no spread": (sp.SampleAllocation([4, 4, 4, 7], 40), sp.Bernoulli([0.0, 1.0, 0.0, 0.3])),
    "declared": (sp.SampleAllocation([1, 2, 3, 4], 30, arms=strata(kind="bernoulli", m=4)), sp.Bernoulli([0.5, 0.3, 0.1, 0.02])),
    "bounded": (
        sp.SampleAllocation([3, 5, 8, 13, 4], 40, lower=[2, 2, 2, 3, 1], upper=[4, 12, 19, 20, 30]),
        sp.Beta([0.5, 0.4, 0.3, 0.6, 0.5], 3),
    ),
    "one stratum": (sp.SampleAllocation([3], 5), sp.Bernoulli([0.3])),
    "two strata": (sp.SampleAllocation([3, 4], 9), sp.Beta([0.3, 0.6], 2)),
    "all full": (sp.SampleAllocation([3, 4], 6, upper=[3, 3]), sp.Beta([0.3, 0.6], 2)),
    "plan": (sp.ResourcePlan(steep(0.03), [6, 5, 4, 6, 7], 9), sp.Beta([0.9, 0.6, 0.47, 0.22, 0.05], 2)),
    "free plan": (sp.ResourcePlan(steep(0.02), [6] * 20, 0), sp.Beta(CHANCE.uniform(0.05, 0.95, 20), 3)),
    "strict plan": (sp.ResourcePlan(steep(0.1), [6] * 12, 60), sp.Beta(CHANCE.uniform(0.05, 0.95, 12), 3)),
    "edge of a plan": (sp.ResourcePlan(steep(0.02), [6] * 20, 80), sp.Beta(CHANCE.uniform(0.1, 0.5, 20), 3)),
    "equal plan": (sp.ResourcePlan(steep(0.05), [5] * 10, 20), sp.Bernoulli([0.5] * 10)),
    "tied plan": (sp.ResourcePlan(lambda y: 0.5 * y, [3] * 6, 4), sp.Bernoulli([0.0, 0.5, 0.5, 0.5, 1.0, 1.0])),
    "whole plan": (sp.ResourcePlan(steep(0.1), [2, 3], 5), sp.Bernoulli([0.2, 0.9])),
    "variances": (sp.ResourcePlan(steep(0.01), [5] * 6, 8, parameter="variance"), sp.Bernoulli([0.5, 0.4, 0.3, 0.2, 0.1, 0.0])),
    "unequal ranges": (
        sp.ResourcePlan(steep(0.05), [6] * 6, 8, arms=[sp.Arm(f"{i}", low=-(i % 2), high=1 + i % 3) for i in range(6)]),
        sp.Beta(CHANCE.uniform(0.1, 0.9, 6), 3),
    ),
}  # fmt: skip


@pytest.mark.parametrize("policy", ["coci", "uniform"])
@pytest.mark.parametrize("name", HARD)
def test_long_runs_equal_those_that_look_at_every_arm_in_every_round(name: str, policy: str) -> None:
    problem, world = HARD[name]
    without_drift = "u-statistic" if problem.parameter.name == "variance" else "lucb"
    for confidence, delta, run in (("paper", 0.05, 0), ("paper", 0.9, 1), (without_drift, 0.5, 2), ("auto", 0.9, 3)):
        budget = 1_000 if confidence == "auto" else 600_000 // (problem.m + 5)
        if name == "equal strata" or "huge" in name:  # the plain loop often cannot tell, and asks Python
            budget = min(budget, 3_000)
        same(problem, world, budget, run, delta=delta, policy=policy, confidence=confidence)


def watched(explorer: sp.Explorer, found: list[units.Corners], patch: pytest.MonkeyPatch) -> Loop:
    """The explorer's loop; the corners that it is prepared with are noted."""
    loop = find(explorer)
    assert loop is not None
    patch.setitem(loop.prepare.__globals__, "corners_of", lambda *given: found.append(units.corners_of(*given)) or found[-1])
    return loop


@pytest.mark.parametrize("policy", ["coci", "uniform"])
@pytest.mark.parametrize("name", ["allocation", "equal strata", "edge of a plan", "tied plan"])
def test_how_far_horizons_are_does_not_matter(name: str, policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fences for one round only, and for far longer than the run, at any time."""
    problem, world = HARD[name]
    chance = np.random.default_rng(2)
    plain = sp.Explorer(problem, 0.9, policy=policy, confidence="paper", budget=6_000)
    drive_plainly(plain, world, seed=5)
    explorer = sp.Explorer(problem, 0.9, policy=policy, confidence="paper", budget=6_000)
    source = Source(explorer, world, 5, 0)
    while not explorer.started:
        source.take(explorer.ask(1)[0], 1)
    found: list[units.Corners] = []
    loop = watched(explorer, found, monkeypatch)
    stretch = loop.prepare(explorer, source)
    for _ in range(10_000):
        what, _ = stretch(explorer.budget, int(chance.integers(1, 40)))
        explorer.forget()
        if what <= Stop.SPENT:
            break
        if what == Stop.UNSURE:
            source.take(explorer.ask(1)[0], 1)
            stretch = loop.prepare(explorer, source)
        found[-1].notes[units.ArmNote.LEVEL] = chance.integers(0, 40, problem.m)  # what a fence gets when it is made anew
    assert explorer.counts.tolist() == plain.counts.tolist()


def test_the_units_are_those_of_the_problem() -> None:
    """At all four corners, after a thousand rounds."""
    for name in ("allocation", "bounded", "huge budget", "edge of a plan", "strict plan", "free plan"):
        problem, world = HARD[name]
        explorer = sp.Explorer(problem, 0.5, policy="coci", confidence="paper", budget=5_000)
        source = Source(explorer, world, 0, 0)
        while not explorer.started:
            source.take(explorer.ask(1)[0], 1)
        found: list[units.Corners] = []
        with pytest.MonkeyPatch.context() as patch:
            stretch = watched(explorer, found, patch).prepare(explorer, source)
        assert stretch(explorer.budget, 1000)[0] > Stop.SPENT
        for theta, held in zip(found[-1].theta, found[-1].piles.units, strict=True):
            assert problem.solve_at(theta).tolist() == held.tolist(), name
