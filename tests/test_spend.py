"""Joint stopping in compiled code: ties in batches, and budgets that are spent also after the certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import surepick as sp
from surepick.engine.loops import find
from surepick.errors import SettingError
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


def test_what_is_left_is_spent_on_arms_that_have_not_ended() -> None:
    explorer = sp.Explorer(sp.BestArm(["a", "b", "c"]), budget=400, spend=True)
    explorer.tell_many([("a", [1.0] * 100), ("b", [0.0] * 100), ("c", [0.0] * 100)])
    explorer.end("c")
    assert not explorer.done
    while arms := explorer.ask(30):
        assert 2 not in arms
        explorer.tell_many([(arm, 1.0 - arm) for arm in arms])
    assert explorer.samples == 400
    assert explorer.certified
    assert explorer.counts[2] == 100


def test_a_budget_is_judged_when_no_arm_can_be_sampled_any_more() -> None:
    explorer = sp.Explorer(sp.BestArm(["a", "b"]), budget=400, spend=True)
    explorer.tell_many([("a", [1.0] * 50), ("b", [0.0] * 50)])
    assert not explorer.certified
    explorer.end("a")
    assert not explorer.done
    explorer.end("b")
    assert explorer.done
    assert explorer.certified


def test_a_sampler_that_ends_an_arm_leaves_the_rest_of_the_budget_to_others() -> None:
    def given(arm: int, n: int, rng: np.random.Generator) -> list[float]:
        if arm == 2 and counts[2] >= 30:
            raise StopIteration
        counts[arm] += n
        return [1.0 - arm / 2] * n

    counts = [0, 0, 0]
    outcome = sp.explore(sp.BestArm(3), given, budget=500, spend=True)
    assert outcome.samples == 500
    assert outcome.certified
    assert outcome.counts[2] <= 30


def test_half_a_pair_is_named_where_it_keeps_a_certificate_away() -> None:
    world = sp.Beta([0.5] * 3, [0.05, 50, 50])
    problem = sp.TopK(3, 1, parameter="variance")
    for budget in (2000, 2001):
        certificate = sp.explore(problem, world, policy="joint", budget=budget, spend=True, seed=1).certificate
        assert certificate.certified == (budget == 2000)
        assert len(certificate.waiting) == (budget == 2001)
        assert ("variances come from pairs" in str(certificate)) == (budget == 2001)
        assert "not spent yet" not in str(certificate)
    assert certificate.to_dict()["waiting"] == list(map(str, certificate.waiting))


@pytest.mark.parametrize("spend", [False, True])
def test_what_is_on_its_way_counts_as_planned(spend: bool) -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        m = int(rng.integers(2, 6))
        problem = (sp.TopK(m, int(rng.integers(1, m))), sp.SampleAllocation([50] * m, 2 * m))[int(rng.integers(2))]
        explorer = sp.Explorer(problem, budget=500, spend=spend, policy="joint")
        explorer.tell_many([(i, rng.integers(0, 2, 2 * int(rng.integers(2, 20))).astype(float)) for i in range(m)])
        arms = explorer.ask(12)
        for k in range(len(arms)):
            pending: dict[Any, int] = {i: arms[:k].count(i) for i in range(m)}
            assert explorer.ask(12 - k, pending) == arms[k:]


def test_what_is_not_certified_does_not_attain_delta_with_an_epsilon_either() -> None:
    rng, doubtful = np.random.default_rng(9), 0
    for _ in range(300):
        explorer = sp.Explorer(sp.BestArm([sp.Arm(name, kind="bernoulli") for name in "ab"]), epsilon=0.5)
        explorer.tell_many([(i, rng.integers(0, 2, int(rng.integers(4, 80))).astype(float)) for i in range(2)])
        doubtful += not explorer.certified
        assert explorer.certified == (explorer.attained() <= 0.05)
    explorer = sp.Explorer(sp.BestArm([sp.Arm(name, kind="bernoulli") for name in "ab"]), epsilon=0.5)
    explorer.tell_many([("a", [1.0] * 4 + [0.0] * 5), ("b", [1.0] * 26 + [0.0] * 44)])
    assert explorer.certified == (explorer.attained() <= 0.05)
    assert 0 < doubtful < 300


class Careless(sp.policies.COCI):
    """Returns what it is made with."""

    name = "careless"

    def __init__(self, given: Any = None) -> None:
        self.given = given

    def choose(self, view: Any, planned: Any, n: int) -> Any:
        return self.given


@pytest.mark.parametrize("given", [None, 0, [], [3], [-1], ["a"], [0, 1, 2, 0, 1], [True], np.array([0])], ids=str)
def test_what_a_policy_must_not_return_is_refused(given: Any) -> None:
    explorer = sp.Explorer(sp.BestArm(3), policy=Careless(given))
    explorer.tell_many([(i, 0.5) for i in range(3)])
    with pytest.raises(SettingError, match="'careless' was asked for at most 4 arms, and its choose returned") as refused:
        explorer.ask(4)
    assert refused.value.key == "policy"


def test_gap_per_arm_is_for_classes_with_ranks() -> None:
    found = sp.explore(sp.SampleAllocation([10, 20], 6), sp.Bernoulli([0.5, 0.01])).certificate
    assert found.certified
    assert found.gap_per_arm is None


@pytest.mark.parametrize("spend", [False, True])
@pytest.mark.parametrize("batch", [2, 7, 40])
def test_many_exchanges_side_by_side_are_foreseen_as_in_python(batch: int, spend: bool) -> None:
    """Rows of more than 64 of them, and of no multiple of that, are passed over in blocks."""
    for m, k, world in ((150, 2, np.linspace(0.2, 0.9, 150)), (133, 1, np.repeat([0.3, 0.6], [130, 3]))):
        plain, fast = both(sp.TopK(m, k), sp.Bernoulli(world), batch, budget=1200, spend=spend, delta=0.3)
        assert plain == fast
