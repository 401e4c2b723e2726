"""The compiled loops of ``pac`` take the same samples as the plain loop, and stop at the same gap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import surepick as sp
from surepick.engine import compiled
from surepick.engine.loops import find
from surepick.run.drive import drive

MIXED = [sp.Arm("a", kind="bernoulli"), sp.Arm("b", low=-1, high=3), sp.Arm("c")]
WORLDS = {
    "survey": (sp.SampleAllocation([100, 200, 300, 150, 250], 30), sp.Bernoulli([0.5, 0.3, 0.15, 0.05, 0.02])),
    "equal-strata": (sp.SampleAllocation([5, 5, 5, 5], 10), sp.Bernoulli([0.5, 0.5, 0.2, 0.2])),
    "many-strata": (sp.SampleAllocation([30, 70, 20, 50] * 5, 200), sp.Bernoulli([0.02, 0.1, 0.3, 0.6] * 5)),
    "bounded-strata": (
        sp.SampleAllocation([3, 1, 2], 12, lower=[2, 1, 1], upper=[5, 9, 9], arms=MIXED), sp.Bernoulli([0.5, 0.3, 0.7])
    ),
    "no-choice": (sp.SampleAllocation([3, 1, 2], 3), sp.Bernoulli([0.5, 0.3, 0.7])),
    "constant-strata": (sp.SampleAllocation([3, 1, 2], 9), sp.Bernoulli([0.0, 1.0, 0.0])),
    "plan": (sp.ResourcePlan(lambda y: 0.1 * y * y, [4, 4, 4], 6), sp.Beta([0.8, 0.55, 0.3], 10)),
    "equal-sites": (sp.ResourcePlan(lambda y: 0.25 * y, [2] * 9, 7), sp.Bernoulli([0.5, 0.25, 0.75] * 3)),
    "unequal-sites": (
        sp.ResourcePlan([[0, 0.5, 2], [0, 0, 0.5, 3], lambda y: y * y], [2, 3, 2], 2, arms=MIXED), sp.Bernoulli([0.7, 0.3, 0.6])
    ),
    "free-sites": (
        sp.ResourcePlan(lambda y: y * y / 8, [3, 3, 3], 0, arms=MIXED, parameter="variance"), sp.Bernoulli([0.5, 0.1, 0.9])
    ),
}  # fmt: skip
EPSILON = {"survey": 0.1, "many-strata": 0.5}  # where it is not 0.05; of relative gaps


def pair(name: str, **settings: object) -> list[dict[str, object]]:
    """The certificates of the plain loop and of the compiled one."""
    (problem, world), found = WORLDS[name], []
    for fast in (False, True):
        explorer = sp.Explorer(problem, policy="pac", **settings)
        assert find(explorer) is not None
        drive(explorer, world, seed=3, compiled=fast)
        found.append(explorer.certificate().to_dict())
    return found


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("confidence", ["auto", "paper"])
@pytest.mark.parametrize("relative", [True, False])
def test_same_trajectory(name: str, confidence: str, relative: bool) -> None:
    """To a budget, or to an epsilon before it."""
    epsilon = EPSILON.get(name, 0.05)
    if not relative:  # in units of the reward at the middle of all parameters
        problem, _ = WORLDS[name]
        middle = (problem.low + problem.high) / 2
        epsilon *= abs(problem.reward(middle, problem.solve(middle))) / 2
    plain, fast = pair(name, delta=0.1, epsilon=epsilon, relative=relative, confidence=confidence, budget=600)
    assert plain == fast


def test_it_stops_at_the_gap() -> None:
    plain, fast = pair("survey", delta=0.1, epsilon=0.2, relative=True)
    assert plain == fast
    assert fast["certified"]
    assert fast["gap"] <= 0.2


# -- searches -------------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-2, 2)), min_size=1, max_size=5), st.floats(0.1, 3.0))
def test_brent_takes_the_steps_of_scipy(lines: list[tuple[float, float]], power: float) -> None:
    def bound(x: float) -> float:
        return max(slope * x + offset for slope, offset in lines) + abs(x - 0.7) ** power

    kernels = compiled("brent")
    state = np.empty(kernels.ENTRIES)
    asked, xs = kernels.begin(state, 0.0, 2.0, 1e-6), []
    while True:
        xs.append(asked)
        if not kernels.step(state, bound(asked)):
            break
        asked = state[kernels.Entry.ASKED]
    theirs: list[float] = []
    found = minimize_scalar(
        lambda x: (theirs.append(float(x)), bound(x))[1], bounds=(0.0, 2.0), method="bounded", options={"xatol": 1e-6}
    )
    assert xs == theirs
    assert state[kernels.Entry.BEST] == found.x
    assert state[kernels.Entry.VALUE] == found.fun


def golden(problem: sp.SampleAllocation, lower: np.ndarray, upper: np.ndarray, y: np.ndarray, g: float) -> bool:
    """Some price shows that the share is at most g; step by step."""
    rival, kernels = np.empty(problem.m, dtype=np.int64), compiled("allocation_ratio")

    def bound(root: float) -> float:
        return float(kernels.priced(problem.lower(), lower, upper, y, g, root * root, rival)[0])

    a, b = 0.0, math.sqrt((1 + g) * float((problem.lower().squares * upper / (problem.least * (problem.least + 1))).max()))
    least = bound(0.0)
    for _ in range(60):
        x1, x2 = a + 0.382 * (b - a), a + 0.618 * (b - a)
        f1, f2 = bound(x1), bound(x2)
        least = min(least, f1, f2)
        a, b = (a, x2) if f1 < f2 else (x1, b)
    return least <= 0


def test_the_bound_on_a_ratio_is_the_least_that_a_price_shows() -> None:
    """Whatever the search begins with."""
    rng, ratio_bound = np.random.default_rng(8), compiled("allocation_ratio").ratio_bound
    for _ in range(30):
        m = int(rng.integers(2, 30))
        problem = sp.SampleAllocation(rng.integers(1, 9, m), int(rng.integers(2 * m, 400)))
        middle = rng.random(m) * 0.2
        width = 10 ** rng.uniform(-2, 0)
        lower, upper = middle * (1 - width * rng.random(m)), np.minimum(middle * (1 + width * rng.random(m)), 0.25)
        y, out = problem.solve(middle).astype(float), np.empty((2, m), dtype=np.int64)
        share = ratio_bound(problem.lower(), lower, upper, y, np.zeros(2), out[0])
        near = np.array([10 ** rng.uniform(-3, 3), 10 ** rng.uniform(-6, 0)])
        assert share == ratio_bound(problem.lower(), lower, upper, y, near, out[1])
        assert (out[0] == out[1]).all()
        assert golden(problem, lower, upper, y, share * (1 + 1e-9) + 1e-12)
        assert share <= 1e-12 or not golden(problem, lower, upper, y, share * (1 - 2e-6))
