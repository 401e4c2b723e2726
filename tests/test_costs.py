"""Observations that do not cost the same: declared, spent where they tell most, and never beyond a budget."""

from __future__ import annotations

import copy
import json
import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surepick as sp
from surepick import saving
from surepick.difficulty.lower_bound import characteristic_time
from surepick.engine import start
from surepick.engine.loops import find
from surepick.errors import ProblemError, SettingError, StudyError
from surepick.run.drive import drive
from surepick.study import StudySpec
from surepick.testing.chance import most_errors

from .test_lower_bound import judged_value

TOP3 = [0.75, 0.70, 0.65, 0.55, 0.50, 0.45, 0.40, 0.35, 0.30, 0.25]


def arms_of(costs: list[float], kind: Any = "bernoulli") -> list[sp.Arm]:
    return [sp.Arm(f"arm {i}", kind=kind, cost=cost) for i, cost in enumerate(costs)]


def exactly(explorer: sp.Explorer) -> Fraction:
    """What an explorer's observations cost, in decimals as they were written."""
    costs = [Fraction(repr(arm.cost)) for arm in explorer.problem.arms]
    return sum((int(n) * c for n, c in zip(explorer.counts, costs, strict=True)), Fraction(0))


# -- declared ---------------------------------------------------------------------------------------------------------------


def test_an_arm_has_a_cost() -> None:
    assert sp.Arm("a").cost == 1.0
    assert sp.Arm("a", cost=3.5).cost == 3.5
    assert "cost" not in repr(sp.Arm("a"))
    assert "cost=3.5" in repr(sp.Arm("a", cost=3.5))
    assert sp.Arm("a", cost=2) != sp.Arm("a")
    assert pickle.loads(pickle.dumps(sp.Arm("a", cost=2))) == sp.Arm("a", cost=2)
    assert copy.deepcopy(sp.Arm("a", cost=2)) == sp.Arm("a", cost=2)


@pytest.mark.parametrize("cost", [0, -1, math.nan, math.inf, 1e-13, 1e13, "3", None, [1.0], True])
def test_a_bad_cost_is_refused(cost: Any) -> None:
    with pytest.raises(ProblemError, match="Arm 'a' needs a cost that is a positive number") as caught:
        sp.Arm("a", cost=cost)
    assert caught.value.key == "cost"


def test_a_study_has_costs(tmp_path: Path) -> None:
    data = {"arms": [{"name": "a", "cost": 3}, {"name": "b"}], "problem": {"kind": "best-arm"}, "cost_budget": 50}
    spec = StudySpec.from_dict(data)
    assert spec.problem.costs.tolist() == [3, 1]
    assert spec.explorer().cost_budget == 50
    with pytest.raises(StudyError, match=r"arms\[0\].*cost"):
        StudySpec.from_dict({**data, "arms": [{"name": "a", "cost": -3}, {"name": "b"}]})
    (tmp_path / "arms.csv").write_text("arm,cost\na,0.5\nb,\n")
    assert StudySpec.from_dict({**data, "arms": "arms.csv"}, tmp_path).problem.costs.tolist() == [0.5, 1]
    (tmp_path / "bad.csv").write_text("arm,cost\na,0.5\nb,0\n")
    with pytest.raises(StudyError, match="line 3, column 'cost'"):
        StudySpec.from_dict({**data, "arms": "bad.csv"}, tmp_path)


def test_a_column_that_the_problem_uses_is_no_cost_of_observations(tmp_path: Path) -> None:
    (tmp_path / "arms.csv").write_text("arm,cost\na,2\nb,3\n")
    program = {"kind": "program", "A": ["cost"], "upper": 4}
    found = StudySpec.from_dict({"arms": "arms.csv", "problem": program}, tmp_path).problem
    assert found.costs.tolist() == [1, 1]


# -- a budget in cost -------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    costs=st.lists(st.sampled_from([0.1, 0.3, 1.0, 2.5, 10.0, 1e-12, 1e12]), min_size=3, max_size=5),
    budget=st.sampled_from([0, 0.3, 1, 7.7, 40, 333.3, 1e12]),
    batch=st.sampled_from([1, 3, 50]),
    policy=st.sampled_from(["auto", "coci", "unified", "ts-explore", "gap", "lucb"]),
    spend=st.booleans(),
    limit=st.integers(0, 90),
)
def test_a_budget_in_cost_is_never_exceeded(
    costs: list[float], budget: float, batch: int, policy: str, spend: bool, limit: int
) -> None:
    problem = sp.TopK(arms_of(costs), 2) if policy != "lucb" else sp.TopK(arms_of(costs), 1)
    explorer = sp.Explorer(problem, cost_budget=budget, budget=limit, policy=policy, spend=spend)
    drive(explorer, sp.Bernoulli(np.linspace(0.8, 0.3, len(costs))), batch=batch, compiled=False)
    assert exactly(explorer) <= Fraction(repr(float(budget)))
    assert explorer.samples <= limit
    assert explorer.done
    assert explorer.ask(5) == []
    left = Fraction(repr(float(budget))) - exactly(explorer)
    if spend and explorer.samples < limit:  # nothing more fits
        assert all(Fraction(repr(cost)) > left for cost in costs)


def test_what_was_written_is_what_counts() -> None:
    """Three times 0.1 is 0.3, whatever floating point says."""
    explorer = sp.Explorer(sp.BestArm(arms_of([0.1, 0.1])), cost_budget=0.3)
    assert len(explorer.ask(10)) == 3
    assert 3 * 0.1 > 0.3


def test_arms_that_no_longer_fit_are_not_asked_for() -> None:
    explorer = sp.Explorer(sp.BestArm(arms_of([1, 10, 1])), cost_budget=40, spend=True)
    explorer.tell_many([("arm 0", [1.0] * 8), ("arm 1", [0.0, 1.0]), ("arm 2", [1.0] * 7)])
    assert set(explorer.ask(50)) == {0, 2}
    assert len(explorer.ask(50)) == 5
    assert explorer.ask(50, pending={"arm 0": 5}) == []
    explorer.cost_budget = 100
    assert 1 in explorer.ask(50)
    assert not explorer.certified  # it is to be spent first
    with pytest.raises(SettingError, match="cost_budget must be a number of at least 0"):
        explorer.cost_budget = -1


def test_it_ends_when_only_decided_arms_fit() -> None:
    """What is certain of an arm that fits does not change what is not of those that do not."""
    explorer = sp.Explorer(sp.TopK(arms_of([100, 100, 1]), 2), cost_budget=100 * 20 + 600)
    rng = np.random.default_rng(0)
    for i, p in enumerate([0.5, 0.5, 0.02]):
        explorer.tell(i, (rng.random(600 if i == 2 else 10) < p).astype(float))
    assert explorer.cost == 2600
    assert explorer.done


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf, "5", [5]])
def test_a_bad_budget_in_cost_is_refused(bad: Any) -> None:
    problem = sp.BestArm(arms_of([1, 2]))
    with pytest.raises(SettingError, match="cost_budget must be a number of at least 0"):
        sp.Explorer(problem, cost_budget=bad)
    with pytest.raises(SettingError, match="cost must be a number of at least 0"):
        sp.Explorer(problem).plan(cost=bad)


def test_a_plan_in_cost() -> None:
    explorer = sp.Explorer(sp.BestArm(arms_of([1, 10, 2.5])))
    plan = explorer.plan(cost=60)
    paid = sum(n * {"arm 0": 1, "arm 1": 10, "arm 2": 2.5}[name] for name, n in plan.items())
    assert 60 - 1 < paid <= 60
    assert set(plan) == {"arm 0", "arm 1", "arm 2"}
    assert explorer.plan(cost=0.5) == {}
    assert explorer.plan(cost=1e9, pending={"arm 0": 1})  # cut at ten million
    explorer.cost_budget = 30
    bounded = explorer.plan(cost=60)
    assert sum(n * {"arm 0": 1, "arm 1": 10, "arm 2": 2.5}[name] for name, n in bounded.items()) <= 30
    explorer.budget = 3
    assert sum(explorer.plan(cost=60).values()) == 3
    for asked in ({}, {"n": 3, "cost": 5.0}):
        with pytest.raises(SettingError, match="plan takes either n"):
            explorer.plan(**asked)  # type: ignore[arg-type]


# -- compiled loops ---------------------------------------------------------------------------------------------------------

COSTS6 = [1.0, 10.0, 2.5, 1.0, 0.5, 4.0]
EDGES = [("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d"), ("a", "d")]
MEANS = [0.8, 0.65, 0.6, 0.5, 0.35, 0.3]


PROBLEMS = {
    "top-k": lambda: sp.TopK(arms_of(COSTS6), 2),
    "smallest": lambda: sp.TopK(arms_of(COSTS6, "bounded"), 2, sense="min"),
    "best of each": lambda: sp.BestOfEach(arms_of(COSTS6), [0, 0, 0, 1, 1, 1]),
    "tree": lambda: sp.SpanningTree(EDGES, arms=arms_of(COSTS6)),
    "allocation": lambda: sp.SampleAllocation([1] * 6, 14, arms=arms_of(COSTS6)),
    "pairs": lambda: sp.SampleAllocation([1] * 6, 14, arms=arms_of(COSTS6, "bounded")),
    "list": lambda: sp.Subsets(arms_of(COSTS6), [[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1]]),
    "matching": lambda: sp.Matching([(i, j) for i in range(3) for j in range(2)], arms=arms_of(COSTS6)),
}
WAYS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in PROBLEMS),
    ("top-k", {"epsilon": 0.1}),
    ("tree", {"epsilon": 0.1}),
    ("top-k", {"confidence": "betting", "policy": "joint"}),
    ("allocation", {"epsilon": 0.1, "relative": True}),
    ("top-k", {"policy": "coci"}),
    ("top-k", {"policy": "uniform"}),
    ("top-k", {"policy": "unified"}),
    ("tree", {"policy": "coci"}),
    ("tree", {"policy": "unified"}),
    ("allocation", {"policy": "coci"}),
]


@pytest.mark.parametrize(("name", "asked"), WAYS, ids=[f"{name} {asked}" for name, asked in WAYS])
def test_compiled_loops_take_the_same_samples(name: str, asked: dict[str, Any]) -> None:
    problem, world = PROBLEMS[name](), sp.Bernoulli(MEANS)
    compiled = 0
    for batch in (1, 4):
        for end in ({"budget": 300}, {"cost_budget": 777.5}, {"cost_budget": 600, "spend": True}):
            found = []
            for how in (True, False):
                explorer = sp.Explorer(problem, 0.1, **asked, **end)
                compiled += how and find(explorer, batch) is not None
                with start.at_once():
                    drive(explorer, world, batch=batch, seed=5, compiled=how)
                found.append((explorer.counts.tolist(), explorer.certified, explorer.decision.tolist(), explorer.done))
            assert found[0] == found[1], (batch, end)
    assert compiled > 0


# -- where evidence is cheap ------------------------------------------------------------------------------------------------


def test_equal_costs_change_nothing() -> None:
    """Whatever the unit, as only ratios count."""
    counts = []
    for cost in (1.0, 3.5):
        explorer = sp.Explorer(sp.TopK(arms_of([cost] * 6), 2))
        drive(explorer, sp.Bernoulli([0.9, 0.8, 0.5, 0.4, 0.3, 0.2]), seed=1)
        counts.append(explorer.counts.tolist())
    assert counts[0] == counts[1]


@pytest.mark.parametrize("turn", [[1.0, 10.0], [10.0, 1.0]])
def test_what_costs_are_declared_for(turn: list[float]) -> None:
    """Top-3 of 10: a run costs less than one that ignores costs, by far more than luck explains."""
    costs, spent = np.array(turn * 5), []
    for declared in (costs.tolist(), [1.0] * 10):
        problem, found = sp.TopK(arms_of(declared), 3), []
        for run in range(100):
            explorer = sp.Explorer(problem)
            drive(explorer, sp.Bernoulli(TOP3), seed=run)
            found.append(float(explorer.counts @ costs))
        spent.append(np.array(found))
    gained = spent[1] - spent[0]  # run by run, as they share their luck
    assert spent[0].mean() < 0.9 * spent[1].mean()
    assert gained.mean() > 4.75 * gained.std(ddof=1) / len(gained) ** 0.5


@pytest.mark.parametrize("policy", ["coci", "unified", "gap"])
def test_other_policies_sample_dear_arms_less(policy: str) -> None:
    explorer = sp.Explorer(sp.TopK(arms_of([1, 16, 1, 16]), 2), policy=policy, budget=400)
    drive(explorer, sp.Bernoulli([0.6, 0.6, 0.4, 0.4]), seed=1)
    assert explorer.counts[[0, 2]].sum() > 2 * explorer.counts[[1, 3]].sum()


def wrong(problem: sp.Problem, world: sp.Environment, runs: int, delta: float) -> int:
    best = problem.solve(world.truth(problem.parameter))
    count = 0
    for run in range(runs):
        explorer = sp.Explorer(problem, delta, budget=3000)
        drive(explorer, world, seed=run)
        count += explorer.certified and bool((explorer.decision != best).any())
    return count


def test_certificates_are_rarely_wrong() -> None:
    """Close arms and costs that are far apart, in favour of either side."""
    delta, runs = 0.3, 400
    for costs in ([1, 100, 1, 100], [100, 1, 1, 1], [1, 1, 100, 100]):
        assert wrong(sp.TopK(arms_of([float(c) for c in costs]), 2), sp.Bernoulli([0.55, 0.55, 0.45, 0.45]), runs, delta) <= (
            most_errors(runs, delta, 3)
        )


def test_a_planted_bug_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence that is multiplied by what an observation costs."""
    from surepick.policies import joint

    weigh = joint.Joint.weigh
    monkeypatch.setattr(joint.Joint, "weigh", lambda self, view: (lambda a: a._replace(n=a.n * a.costs))(weigh(self, view)))
    means, runs = np.array([0.51, 0.49, 0.1]), 100
    problem, world = sp.BestArm(arms_of([100.0, 100.0, 1.0])), sp.Bernoulli(means)
    best, count = problem.solve(means), 0
    for run in range(runs):
        explorer = sp.Explorer(problem, 0.1, budget=500)
        drive(explorer, world, seed=run, compiled=False)
        count += explorer.certified and bool((explorer.decision != best).any())
    assert count > most_errors(runs, 0.1)


# -- the lower bound --------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    theta=st.lists(st.sampled_from([0.15, 0.3, 0.42, 0.55, 0.7, 0.85]), min_size=3, max_size=4, unique=True),
    costs=st.lists(st.sampled_from([0.1, 1.0, 5.0, 20.0]), min_size=4, max_size=4),
    seed=st.integers(0, 1000),
)
def test_the_lower_bound_in_cost_is_what_brute_force_finds(theta: list[float], costs: list[float], seed: int) -> None:
    """1 / C* is the largest value that any shares of the cost have, by enumeration and bisection: that of the shares found."""
    problem, truth = sp.BestArm(arms_of(costs[: len(theta)])), np.array(theta)
    hardness = sp.hardness(problem, truth)
    shares, best = hardness.cost_proportions, 1 / hardness.characteristic_cost
    assert judged_value(problem, truth, shares / problem.costs) == pytest.approx(best, rel=1e-4)
    rng = np.random.default_rng(seed)
    others = [*rng.dirichlet(np.ones(problem.m), 10), *(shares * np.exp(0.1 * rng.standard_normal((10, problem.m))))]
    for other in others:
        assert judged_value(problem, truth, other / other.sum() / problem.costs) <= best * (1 + 1e-5)


def test_the_lower_bound_of_two_normal_arms() -> None:
    """C* = 2 (s_1 sqrt(c_1) + s_2 sqrt(c_2))^2 / gap^2."""
    arms = [sp.Arm("a", kind="subgaussian", scale=1.5, cost=9), sp.Arm("b", kind="subgaussian", scale=0.5, cost=4)]
    hardness = sp.hardness(sp.BestArm(arms), [1.0, 0.2])
    assert hardness.characteristic_cost == pytest.approx(2 * (1.5 * 3 + 0.5 * 2) ** 2 / 0.8**2, rel=1e-5)
    assert hardness.lower_bound_cost(0.05) == pytest.approx(hardness.characteristic_cost * 0.9 * math.log(19))
    assert hardness.lower_bound_cost(0.6) == 0
    assert hardness.cost_proportions == pytest.approx(np.array([4.5, 1]) / 5.5, rel=1e-3)


def test_without_costs_the_two_bounds_are_one() -> None:
    hardness = sp.hardness(sp.TopK(4, 2), [0.9, 0.7, 0.4, 0.2])
    assert hardness.lower_bound_cost(0.1) == hardness.lower_bound(0.1)
    scaled = sp.hardness(sp.TopK(arms_of([7.0] * 4), 2), [0.9, 0.7, 0.4, 0.2])
    assert scaled.characteristic_cost == pytest.approx(7 * scaled.characteristic_time, rel=1e-5)


def test_no_run_of_ours_is_below_the_bound_on_average() -> None:
    problem, truth = sp.TopK(arms_of([1.0, 10.0] * 5), 3), np.array(TOP3)
    bound = characteristic_time(problem, truth, problem.costs)[0] * 0.9 * math.log(19)  # type: ignore[index]
    simulation = sp.simulate(problem, sp.Bernoulli(TOP3), runs=20, executor=1)
    row = simulation.summary.iloc[0]
    assert row["cost_lower_bound"] == pytest.approx(bound)
    assert row["cost"] > bound
    assert row["cost_ratio"] == pytest.approx(row["cost"] / bound)


# -- what is said -----------------------------------------------------------------------------------------------------------


def test_a_certificate_says_what_was_spent() -> None:
    explorer = sp.Explorer(sp.BestArm(arms_of([2.5, 1])))
    explorer.tell_many([("arm 0", [1.0] * 200), ("arm 1", [0.0] * 100)])
    certificate = explorer.certificate()
    assert explorer.certified
    assert certificate.cost == explorer.cost == 600
    assert str(certificate).startswith("Certified after 300 samples at a cost of 600: ")
    assert json.loads(json.dumps(certificate.to_dict()))["cost"] == 600
    plain = sp.Explorer(sp.BestArm(2)).certificate()
    assert plain.cost is None
    assert "cost" not in str(plain)
    assert "cost" not in plain.to_dict()


def test_a_simulation_says_what_was_spent(tmp_path: Path) -> None:
    problem, world = sp.BestArm(arms_of([1, 4])), sp.Bernoulli([0.9, 0.2])
    asked = {"runs": 4, "executor": 1, "store": tmp_path / "runs.db"}
    first = sp.simulate(problem, world, **asked)
    again = sp.simulate(problem, world, **asked)  # from the store
    table = first.table
    assert (table["cost"] > table["samples"]).all()
    assert (table["cost"] < 4 * table["samples"]).all()
    assert table.equals(again.table)
    assert first.summary["cost"].iloc[0] == table["cost"].mean()
    assert "cost" not in sp.simulate(sp.BestArm(2), world, runs=2, executor=1).table
    capped = sp.simulate(problem, world, cost_budget=9.5, runs=3, executor=1)
    assert (capped.table["cost"] <= 9.5).all()
    assert capped.settings["cost_budget"] == 9.5


# -- files ------------------------------------------------------------------------------------------------------------------


def test_saving_keeps_costs(tmp_path: Path) -> None:
    explorer = sp.Explorer(sp.TopK(arms_of([1, 10, 2.5, 1]), 2), cost_budget=1234.5)
    drive(explorer, sp.Bernoulli([0.8, 0.7, 0.3, 0.2]), seed=2, run=0)
    explorer.save(tmp_path / "study.json")
    loaded = sp.Explorer.load(tmp_path / "study.json")
    assert loaded.problem.arms == explorer.problem.arms
    assert loaded.cost_budget == 1234.5
    assert loaded.cost == explorer.cost
    assert str(loaded.certificate()) == str(explorer.certificate())
    assert loaded.ask(20) == explorer.ask(20)
    unbounded = sp.Explorer(sp.BestArm([sp.Arm("a", kind="subgaussian", scale=1, cost=3), sp.Arm("b", kind="bernoulli")]))
    unbounded.save(tmp_path / "study.json")
    assert sp.Explorer.load(tmp_path / "study.json").problem.costs.tolist() == [3, 1]


def test_files_from_before_there_were_costs_load(tmp_path: Path) -> None:
    """They lack the setting, the cost of a certificate, and that of every arm."""
    problem = sp.BestArm(["a", "b"])
    explorer = sp.Explorer(problem)
    explorer.tell_many([("a", [1.0] * 100), ("b", [0.0] * 100)])
    explorer.save(tmp_path / "study.json")
    data = json.loads((tmp_path / "study.json").read_text())
    del data["checksum"], data["settings"]["cost_budget"], data["certificate"]["cost"]
    assert all("cost" not in arm for arm in data["problem"]["arms"])
    (tmp_path / "old.json").write_text(json.dumps({**data, "checksum": saving.checksum(data)}))
    for known in (None, problem):
        loaded = sp.Explorer.load(tmp_path / "old.json", known)
        assert loaded.certified
        assert loaded.cost == 200
        assert loaded.certificate().cost is None


# -- the command line -------------------------------------------------------------------------------------------------------


def test_the_command_line_counts_in_cost(tmp_path: Path, cli: Any) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        'arms = [{name = "a", cost = 1}, {name = "b", cost = 10}]\n[problem]\nkind = "best-arm"\n'
        '[simulate]\nkind = "bernoulli"\np = [0.6, 0.5]\n'
    )
    code, said, _ = cli("run", study, "--cost-budget", 50, "--json")
    assert code == 0
    assert 49 < json.loads(said)["certificate"]["cost"] <= 50
    data = tmp_path / "data.csv"
    data.write_text("arm,value\na,1\nb,0\n")
    _, said, _ = cli("check", study, data, "--next-cost", 45, "--json")
    planned = json.loads(said)["next"]
    assert 44 < planned["a"] + 10 * planned["b"] <= 45
    _, said, _ = cli("check", study, data, "--next-cost", 0.5)
    assert "A cost of 0.5 pays for no sample." in said
    _, said, _ = cli("hardness", study)
    assert "no algorithm spends less than" in said
    _, said, _ = cli("simulate", study, "--runs", 2, "--processes", 1, "--cost-budget", 30)
    assert "cost ± se" in said
