"""Joint stopping in compiled code: ties in batches, and budgets that are spent also after the certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surepick as sp
from surepick.engine.loops import find
from surepick.run.drive import drive


def both(problem: sp.Problem, world: sp.Environment, batch: int, told: Any = (), **settings: Any) -> list[dict[str, Any]]:
    """The certificates of the Python loop and of the compiled one."""
    found = []
    for in_code in (False, True):
        explorer = sp.Explorer(problem, **{"policy": "joint", "delta": 0.1, **settings})
        if told:
            explorer.tell_many(told)
        assert find(explorer, batch) is not None
        drive(explorer, world, batch=batch, seed=1, compiled=in_code)
        found.append(explorer.certificate().to_dict())
    return found


V = [0.5, 0.3, 0.9, 0.9, 0.02, 0.5, 0.05, 0.02]
TIES = {
    "strata": (sp.SampleAllocation([100] * 8, 24), sp.Bernoulli([0.4, 0.4, 0.6, 0.6, 0.6, 0.4, 0.4, 0.5]), 50, {"budget": 2000}),
    "constants": (sp.TopK(6, 3), sp.Bernoulli([0, 1, 1, 1, 1, 1]), 100, {"budget": 2000}),
    "variances": (sp.TopK(8, 5, parameter="variance"), sp.Bernoulli(V), 64, {"budget": 800, "epsilon": 1e-6}),
    "rounding": (sp.SampleAllocation([100] * 9, 27), sp.Bernoulli([0.03] * 9), 10, {"budget": 780}),
}


@pytest.mark.parametrize("name", TIES)
def test_batches_break_ties_as_python_does(name: str) -> None:
    """Also where planned samples count, and where no evidence is 0 by rounding alone."""
    problem, world, batch, settings = TIES[name]
    plain, fast = both(problem, world, batch, **settings)
    assert plain == fast


def test_batches_break_ties_among_arms_told_before() -> None:
    told = [(i, [1.0] * n) for i, n in enumerate([16, 22, 10, 34, 14])]
    plain, fast = both(sp.BestArm(5), sp.Bernoulli([1] * 5), 14, told, budget=124)
    assert plain == fast


@pytest.mark.parametrize("batch", [1, 7, 20])
def test_budgets_are_spent_as_in_python_long_after_the_certificate(batch: int) -> None:
    rng = np.random.default_rng(batch)
    cycle = [(i, j) for i in range(4) for j in range(i)]
    for k in range(12):
        m = int(rng.integers(3, 8))
        problem, world = (
            (sp.SampleAllocation([100] * m, 2 * m), sp.Bernoulli(rng.uniform(0.02, 0.98, m))),
            (sp.TopK(m, int(rng.integers(1, m))), sp.Bernoulli(rng.uniform(0.02, 0.98, m))),
            (sp.SpanningTree(cycle), sp.Beta(rng.uniform(0.02, 0.98, 6), 3)),
            (sp.TopK([sp.Arm(f"{i}", kind="subgaussian", scale=0.5) for i in range(m)], 1), sp.Gaussian(rng.random(m), 0.5)),
        )[k % 4]
        settings: dict[str, Any] = {"budget": int(rng.integers(1500, 3000)), "spend": True, "delta": (0.05, 0.9, 1e-6)[k % 3]}
        if k % 4 and k % 5 == 1:
            settings["epsilon"] = 0.05
        plain, fast = both(problem, world, batch, **settings)
        assert plain == fast, (k, settings)


def test_attained_is_never_zero() -> None:
    outcome = sp.explore(sp.BestArm(2), sp.Bernoulli([0.99, 0.01]), budget=10_000, spend=True)
    assert outcome.certificate.attained == 1e-300
