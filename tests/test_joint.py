"""Joint stopping: exchanges and alternatives by brute force, the guarantee of the default, and bugs that must be noticed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom

import surepick as sp
from surepick.arms import Floats, Ints
from surepick.confidence import Mixture, make_confidence
from surepick.engine import compiled
from surepick.errors import SettingError
from surepick.estimators import Record
from surepick.policies import Joint, View, make_policy
from surepick.run.drive import drive

from .cases import CASES
from .reference import brute_solve, decisions_of
from .weighed import arms_of

EXCHANGEABLE = ["best-arm", "top-k", "best-of-each", "spanning-tree", "sample-allocation"]
K4 = [(i, j) for i in range(4) for j in range(i)]
SQUARE = [(u, v) for u in "abc" for v in "xyz"]


def listed(problem: sp.Problem, decision: np.ndarray) -> list[tuple[int, int, float, float]]:
    policy = Joint().bound(problem)
    arrays = problem.exchanges(decision.astype(np.int64))
    assert len(arrays.high) <= policy.pairs
    return list(zip(*(array.tolist() for array in arrays), strict=True))


def drawn(name: str, data: st.DataObject, unit: int = 64) -> tuple[sp.Problem, np.ndarray]:
    problem = data.draw(CASES[name])
    theta = np.array(data.draw(st.lists(st.integers(1, unit), min_size=problem.m, max_size=problem.m))) / unit
    return problem, theta * np.minimum(problem.high, 1.0)


@pytest.mark.parametrize("name", EXCHANGEABLE)
@given(data=st.data())
def test_optimal_iff_no_exchange_helps(name: str, data: st.DataObject) -> None:
    problem, theta = drawn(name, data)
    optimal = brute_solve(problem, theta)[1]
    for y in decisions_of(problem):
        if name == "sample-allocation" and sum(y) < min(problem.budget, int(problem.most.sum())):
            continue  # leaves interviews unused, which no exchange tells
        holds = all(a * theta[h] >= b * theta[j] * (1 - 1e-12) for h, j, a, b in listed(problem, np.array(y)))
        assert holds == any(np.allclose(problem.reward(theta, y), problem.reward(theta, o), rtol=1e-12) for o in optimal)


@pytest.mark.parametrize("name", EXCHANGEABLE)
@given(data=st.data())
def test_a_wrong_decision_has_a_false_exchange_of_the_union(name: str, data: st.DataObject) -> None:
    """The union of the theorem is over pairs that the truth fixes: one arm that the optimum lacks, one that it has."""
    problem, theta = drawn(name, data, 9973)
    optimal = brute_solve(problem, theta)[1]
    assume(len(optimal) == 1)
    truth = np.array(optimal[0])
    sign = getattr(problem, "sign", 1.0)
    for y in decisions_of(problem):
        change = np.array(y) - truth
        if (name == "sample-allocation" and sum(y) < truth.sum()) or not change.any():
            continue
        false = [(h, j) for h, j, a, b in listed(problem, np.array(y)) if a * theta[h] < b * theta[j]]
        assert any(sign * change[h] > 0 > sign * change[j] for h, j in false)


def told(problem: sp.Problem, rng: np.random.Generator, most: int, **settings: object) -> sp.Explorer:
    explorer = sp.Explorer(problem, 0.2, **settings)
    for i in range(problem.m):
        explorer.tell(i, (rng.random(int(rng.integers(2, most))) < rng.random()).astype(float))
    return explorer


# -- any other linear class ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["matching", "path", "program", "top-k", "spanning-tree"])
@given(data=st.data())
def test_the_union_over_alternatives_costs_no_more_than_is_paid(name: str, data: st.DataObject) -> None:
    problem = data.draw(CASES[name])
    assume(problem.linear)
    a, b, most = problem.alternatives()
    every = [np.array(y) for y in decisions_of(problem)]
    for truth in every[:4]:
        total = 0.0
        for y in every:
            moved = int((y != truth).sum())
            count = len(parts(problem, truth, y)) if most > 1 else 1
            assert count <= most
            if moved and count == 1:
                total += math.exp(-a - b * moved)
        assert total <= 1.0 + 1e-12


def parts(problem: sp.Matching, one: np.ndarray, other: np.ndarray) -> list[np.ndarray]:
    """The difference of two matchings, cycle by cycle and path by path."""
    groups: list[tuple[set[object], list[int]]] = []
    for e in np.flatnonzero(one != other).tolist():
        u, v = problem.edges[e]
        nodes, edges = {("left", u), ("right", v)}, [e]
        for group in [g for g in groups if g[0] & nodes]:
            nodes, edges = nodes | group[0], edges + group[1]
            groups.remove(group)
        groups.append((nodes, edges))
    return [np.where(np.isin(np.arange(problem.m), edges), other - one, 0) for _, edges in groups]


@given(seed=st.integers(0, 10**6), n=st.integers(2, 4), extra=st.integers(0, 2))
def test_a_matching_is_optimal_if_no_single_cycle_or_path_helps(seed: int, n: int, extra: int) -> None:
    rng = np.random.default_rng(seed)
    problem = sp.Matching([(u, v) for u in range(n) for v in range(n + extra)][:16])
    every = [np.array(y) for y in decisions_of(problem)] if problem.m <= 12 else []
    theta = rng.random(problem.m)
    best = problem.solve(theta)
    for y in every:
        if (y != best).any():
            assert any(len(parts(problem, y, z)) == 1 and theta @ z > theta @ y for z in every)


# -- the default and its guarantee -----------------------------------------------------------------------------------------

DELTA = 0.1
BERNOULLI = [sp.Arm(str(i), kind="bernoulli") for i in range(3)]
HARD = {
    "best-arm": (lambda: sp.BestArm(2), sp.Bernoulli([0.65, 0.5]), "joint"),
    "top-k": (lambda: sp.TopK(4, 2), sp.Bernoulli([0.9, 0.65, 0.4, 0.2]), "joint"),
    "top-k of normal arms": (
        lambda: sp.TopK([sp.Arm(str(i), kind="subgaussian", scale=1) for i in range(3)], 1),
        sp.Gaussian([1.0, 0.0, -0.5], 1),
        "joint",
    ),
    "best-of-each": (lambda: sp.BestOfEach(4, list("aabb")), sp.Beta([0.65, 0.4, 0.4, 0.65], 1), "joint"),
    "spanning-tree": (lambda: sp.SpanningTree(K4), sp.Bernoulli([0.85, 0.8, 0.4, 0.75, 0.25, 0.35]), "joint"),
    "sample-allocation": (lambda: sp.SampleAllocation([1, 1], 4), sp.Bernoulli([0.5, 0.03]), "joint"),
    "Bernoulli allocation": (lambda: sp.SampleAllocation([1, 1, 1], 6, arms=BERNOULLI), sp.Bernoulli([0.5, 0.2, 0.02]), "joint"),
    "subsets": (
        lambda: sp.Subsets(4, [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]),
        sp.Bernoulli([0.8, 0.7, 0.4, 0.5]),
        "joint-linear",
    ),
    "matching": (lambda: sp.Matching(SQUARE[:2] + SQUARE[3:5]), sp.Bernoulli([0.8, 0.5, 0.5, 0.7]), "joint-linear"),
    "path": (
        lambda: sp.Path([("s", "a"), ("a", "t"), ("s", "b"), ("b", "t")], "s", "t"),
        sp.Bernoulli([0.2, 0.3, 0.6, 0.5]),
        "joint-linear",
    ),
    "program": (lambda: sp.Program(3, [[3, 4, 2]], upper=6), sp.Bernoulli([0.2, 0.9, 0.7]), "joint-linear"),
    "convex-plan": (lambda: sp.ResourcePlan(lambda y: 0.1 * y * y, [2, 2], 2), sp.Bernoulli([0.75, 0.2]), "coci"),
    "concave-plan": (lambda: sp.ResourcePlan(lambda y: 1.3 * y**0.5, [2, 2], 2), sp.Bernoulli([0.2, 0.7]), "coci"),
    "separable": (
        lambda: sp.Separable(
            lambda t, y: t * y, [[0, 1]] * 2, lambda theta: np.eye(2, dtype=int)[int(np.argmax(theta))], bimonotone=True
        ),
        sp.Bernoulli([0.75, 0.5]),
        "coci",
    ),
}
FAST = [name for name, (_, _, policy) in HARD.items() if policy == "joint"]


def errors(problem: sp.Problem, world: sp.Environment, runs: int, batch: int = 1, budget: int | None = None) -> int:
    best = problem.solve(world.truth(problem.parameter))
    wrong = 0
    for run in range(runs):
        explorer = sp.Explorer(problem, DELTA, budget=budget)
        drive(explorer, world, batch=batch, seed=4711, run=run)
        assert explorer.certified or budget is not None
        wrong += explorer.certified and (explorer.decision != best).any()
    return wrong


@pytest.mark.parametrize("name", HARD)
def test_errors_of_the_default_stay_below_delta(name: str) -> None:
    """2,000 runs in compiled code, 200 in Python; ten thousand and two thousand behind the slow mark."""
    make, world, policy = HARD[name]
    assert sp.Explorer(make()).policy.name == policy
    runs, batch = (2000, 1) if name in FAST else (200, 8)
    assert errors(make(), world, runs, batch) <= binom.isf(1e-6, runs, DELTA)


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD)
def test_errors_of_the_default_in_many_runs(name: str) -> None:
    make, world, _ = HARD[name]
    runs, batch = (10_000, 1) if name in FAST else (2000, 8)
    assert errors(make(), world, runs, batch) <= binom.isf(1e-6, runs, DELTA)


@pytest.mark.parametrize("name", FAST)
def test_planted_bug_too_little_evidence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the logarithm of 1 / delta, a decision is certain as soon as it looks better than the others."""
    monkeypatch.setattr(Joint, "threshold", lambda self, delta: -1.5)
    make, world, _ = HARD[name]
    assert errors(make(), world, 400, budget=5000) > binom.isf(1e-6, 400, DELTA)


@pytest.mark.parametrize("name", ["subsets", "matching", "path"])
def test_planted_bug_values_of_linear_classes_that_count_many_times(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence that is raised to a power, where the means are so close that a few samples mislead."""
    make, world, _ = HARD[name]
    seen = Mixture.seen

    def many(self: Mixture, record: Record) -> tuple[Ints, Floats]:
        families, numbers = seen(self, record)
        return families, numbers * np.where(np.arange(len(numbers)) == 0, 40.0, 1.0)[:, None]

    monkeypatch.setattr(Mixture, "seen", many)
    problem, close, wrong = make(), sp.Bernoulli(0.5 + 0.3 * (world.means - 0.5)), 0
    for run in range(100):
        explorer = sp.Explorer(problem, DELTA, budget=400)
        drive(explorer, close, batch=4, seed=4711, run=run, compiled=False)
        wrong += explorer.certified and (explorer.decision != problem.solve(close.means)).any()
    assert wrong > binom.isf(1e-6, 100, DELTA)


# -- what the default is -----------------------------------------------------------------------------------------------------


def test_what_auto_is() -> None:
    arms = [sp.Arm("a", kind="subgaussian", scale=1), sp.Arm("b")]
    assert sp.Explorer(sp.BestArm(arms)).policy.name == "joint"
    assert sp.Explorer(sp.BestArm(3), epsilon=0.1).policy.name == "joint"
    assert sp.Explorer(sp.SampleAllocation([1, 1], 5), epsilon=0.1).policy.name == "pac"
    assert sp.Explorer(sp.BestArm(3), epsilon=0.1, confidence="paper").policy.name == "pac"
    assert sp.Explorer(sp.BestArm(3), confidence="paper").policy.name == "coci"
    assert sp.Explorer(sp.TopK(1000, 500)).policy.name == "coci"  # a quarter of a million exchanges
    assert sp.Explorer(sp.Matching(SQUARE)).policy.name == "joint-linear"
    assert sp.Explorer(sp.Matching(SQUARE, parameter="variance")).policy.name == "coci"
    cycle = sp.Path([("s", "a"), ("a", "b"), ("b", "a"), ("b", "t"), ("a", "t")], "s", "t")
    assert sp.Explorer(cycle).policy.name == "coci"
    with pytest.raises(SettingError, match="policy='joint' needs evidence, which mixture martingales have"):
        sp.Explorer(sp.BestArm(3), policy="joint", confidence="paper")
    with pytest.raises(SettingError, match="policy='joint' needs a class in which single exchanges"):
        sp.Explorer(sp.Matching(SQUARE), policy="joint")


def test_one_decision_is_certain_at_once() -> None:
    outcome = sp.explore(sp.TopK(3, 3), sp.Bernoulli([0.5, 0.5, 0.5]))
    assert outcome.certified
    assert outcome.samples == 3


def test_what_blocks_is_named() -> None:
    outcome = sp.explore(sp.TopK(list("abcd"), 2), sp.Bernoulli([0.95, 0.5, 0.5, 0.05]), budget=2000)
    certificate = outcome.certificate
    assert certificate.undecided.tolist() == [False, True, True, False]
    assert certificate.blocking in ("b instead of c", "c instead of b")
    assert certificate.to_dict()["blocking"] == certificate.blocking
    assert sp.TopK(4, 2).contains(certificate.rival.astype(float))
    tree = sp.SpanningTree([("a", "b"), ("b", "c"), ("a", "c")], sense="min")
    outcome = sp.explore(tree, sp.Bernoulli([0.1, 0.5, 0.5]), budget=600)
    assert outcome.certificate.blocking in ("b-c instead of a-c", "a-c instead of b-c")
    done = sp.explore(sp.BestArm(2), sp.Bernoulli([0.9, 0.1])).certificate
    assert done.rival is None
    assert done.blocking is None


def test_a_tie_leaves_the_other_arms_known() -> None:
    """The exchange of two equal arms is never settled; the gap must fall all the same."""
    problem, world = sp.TopK(6, 2), sp.Bernoulli([0.9, 0.5, 0.5, 0.4, 0.3, 0.2])
    gaps = [sp.explore(problem, world, budget=n, seed=1).certificate.gap for n in (300, 3000, 30_000)]
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2] > 0


@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1e-6, 0.5, 40.0]), low=st.sampled_from([-7.0, 0.0, 3.0]))
def test_units_do_not_matter(seed: int, scale: float, low: float) -> None:
    """The same values in other units: the same samples and decision, and the gap in the new unit."""
    values = np.random.default_rng(seed).random((3, 400)) * np.array([[1.0], [0.7], [0.4]])
    found = []
    for a, b in ((0.0, 1.0), (low, scale)):
        explorer = sp.Explorer(sp.TopK([sp.Arm(n, low=a, high=a + b) for n in "xyz"], 1), 0.1)
        for i in range(3):
            explorer.tell(i, np.clip(a + b * values[i], a, a + b))
        found.append((explorer.ask(), explorer.decision.tolist(), explorer.certified, explorer.certificate().gap / b))
    assert found[0][:3] == found[1][:3]
    assert found[0][3] == pytest.approx(found[1][3], rel=1e-2, abs=1e-6)


def test_asking_for_many_plans_ahead() -> None:
    explorer = sp.Explorer(sp.TopK(4, 2))
    rng = np.random.default_rng(0)
    for i, p in enumerate([0.9, 0.6, 0.5, 0.1]):
        explorer.tell(i, (rng.random(40) < p).astype(float))
    one, many = explorer.ask(1), explorer.ask(50)
    assert many[0] == one[0]
    assert len(many) == 50
    assert explorer.plan(50) == {f"arm {i}": many.count(i) for i in sorted(set(many))}
    assert set(many) >= {1, 2}


# -- attained confidence and fixed budgets ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "world", "settings"),
    [
        (sp.TopK([sp.Arm(name, kind="bernoulli") for name in "abcd"], 2), sp.Bernoulli([0.9, 0.7, 0.4, 0.1]), {}),
        (sp.TopK(4, 2), sp.Beta([0.53, 0.51, 0.49, 0.47], 20.0), {}),
        (sp.Matching(SQUARE), sp.Bernoulli([0.9, 0.2, 0.3] * 3), {}),
        (sp.TopK(4, 2), sp.Bernoulli([0.9, 0.7, 0.4, 0.1]), {"policy": "coci"}),
        (sp.TopK(4, 2), sp.Bernoulli([0.9, 0.7, 0.4, 0.1]), {"policy": "coci", "confidence": "paper"}),
        (sp.TopK(4, 2), sp.Bernoulli([0.9, 0.7, 0.4, 0.1]), {"epsilon": 0.2}),
        (sp.SampleAllocation([1, 2, 3], 30), sp.Bernoulli([0.5, 0.2, 0.1]), {"epsilon": 0.1, "relative": True}),
    ],
)
def test_attained_is_the_smallest_delta_that_certifies(problem: sp.Problem, world: sp.Environment, settings: dict) -> None:
    explorer = sp.Explorer(problem, 0.05, budget=4000, spend=True, **settings)
    drive(explorer, world, batch=50)
    assert explorer.samples == 4000
    attained = explorer.certificate().attained
    assert attained == explorer.attained()
    assert (attained <= 0.05) == explorer.certified
    policy, view = explorer.policy, explorer.view

    def holds(delta: float) -> bool:
        box = view.confidence.at(delta * policy.box_share)
        other = View(problem, box, view.record, delta, view.epsilon, view.relative, view.fixed)
        return policy.certified(other) or (view.epsilon > 0 and policy.gap(other, explorer.decision) <= view.epsilon)

    if 1e-290 < attained < 0.9:
        assert holds(attained * 1.01)
        assert not holds(attained * 0.98)


def test_attained_says_when_it_is_certified_also_for_very_unlike_ranges() -> None:
    """Where the quick estimate, which has to be near before the exact evidence is looked at, is far too low."""
    rng, late = np.random.default_rng(2), 0
    for _ in range(40):
        wide = float(10 ** rng.integers(0, 6))
        explorer = sp.Explorer(sp.BestArm([sp.Arm("h", 0, wide), sp.Arm("l", 0, 1)]), float(10 ** -rng.uniform(0.5, 6)))
        for _ in range(12):
            explorer.tell_many([("h", [wide * rng.choice([0.5, 1.0])] * 2), ("l", [0.0] * 2)])
            assert (explorer.attained() <= explorer.delta) == explorer.certified
            exact = compiled("least").least_evidence(0, 1, 1.0, 1.0, explorer.policy.weigh(explorer.view))
            late += explorer.policy.threshold(explorer.delta) < exact and not explorer.certified
    assert late > 0  # else this shows nothing


def test_attained_is_a_p_value() -> None:
    """A wrong decision attains 0.2 or less, at a time that the data choose, in at most a fifth of the runs."""
    problem, world = sp.BestArm(2), sp.Bernoulli([0.55, 0.5])
    runs, wrong = 1000, 0
    for run in range(runs):
        explorer = sp.Explorer(problem, 0.01, budget=150)
        drive(explorer, world, batch=10, seed=5, run=run)
        wrong += explorer.attained() <= 0.2 and explorer.decision[0] == 0
    assert wrong <= binom.isf(1e-6, runs, 0.2)


def test_a_fixed_budget_is_spent() -> None:
    problem, world = sp.TopK(4, 2), sp.Bernoulli([0.95, 0.9, 0.1, 0.05])
    early, late = (sp.explore(problem, world, budget=2000, spend=spend) for spend in (False, True))
    assert early.certified
    assert early.samples < 500
    assert late.certified
    assert late.samples == 2000
    assert late.certificate.attained < early.certificate.attained / 1000
    explorer = sp.Explorer(problem, budget=2000, spend=True)
    for i, values in enumerate(([1] * 90, [1] * 90, [0] * 90, [0] * 90)):
        explorer.tell(i, values)
    assert not explorer.done
    assert "this decision is the best, if arms are independent. The budget is not spent yet." in str(explorer.certificate())
    for settings in ({"spend": True}, {"spend": 1, "budget": 5}):
        with pytest.raises(SettingError, match="spend"):
            sp.Explorer(problem, **settings)
    hard = sp.explore(problem, sp.Bernoulli([0.5, 0.5, 0.5, 0.5]), budget=400, spend=True)
    assert not hard.certified
    assert hard.certificate.attained > 0.05
    assert 0 < hard.certificate.gap < 1


def test_the_box_and_the_test_share_delta() -> None:
    explorer = sp.Explorer(sp.TopK(4, 2), 0.05)
    assert explorer.confidence.delta == pytest.approx(0.005)
    assert explorer.policy.threshold(0.05) == pytest.approx(math.log(4 / 0.045))
    assert make_policy("coci", sp.TopK(4, 2)).box_share == 1.0
    assert make_confidence("auto", sp.TopK(4, 2), 0.05).level == pytest.approx(math.log(4 / 0.05))


def test_every_pair_of_arms_at_every_grid_point_is_weighed_safely() -> None:
    """The quick estimate never says that an exchange is far from settled when the exact one says that it is settled."""
    quick = compiled("exchanges")
    rng = np.random.default_rng(1)
    low, high = np.zeros(2), np.ones(2)
    for kind, _ in itertools.product((0, 1), range(400)):
        n = rng.integers(3, 4000, 2).astype(float)
        p = rng.random(2)
        arms = arms_of(np.full(2, kind), n, p, low - 9 * kind, high + 9 * kind, np.zeros(2), np.ones(2), 76.0)
        threshold = float(rng.uniform(3, 9))
        exact = compiled("least").least_evidence(0, 1, 1.0, 1.0, arms)
        rough = compiled("glr").glr(0, 1, 1.0, 1.0, arms)
        if exact >= threshold:
            assert rough >= quick.need(0, 1, arms, threshold) - quick.SLACK


def least(problem: sp.Problem, explorer: sp.Explorer, points: int) -> float:
    """The evidence of the only exchange of two arms, over very many levels: dense around both arms' own."""
    arms = explorer.policy.weigh(explorer.view)
    high, low, a, b = (x[0] for x in explorer.policy._state(explorer.view).exchanges)
    centres, widths = explorer.view.estimates, np.logspace(-12, 1, points)
    levels = np.unique([c + side * widths for c in centres for side in (-1, 0, 1)])
    levels = levels[(levels >= max(problem.low)) & (levels <= min(problem.high))]
    at = compiled("least").evidence_at
    return min(at(g, high, low, a, b, arms, 0.0) for g in levels)


@pytest.mark.parametrize("ones", [6, 8, 12])
@pytest.mark.parametrize("precision", [1e-6, 1e-4, 1e-2, 1.0])
def test_an_arm_that_is_known_very_well_makes_a_narrow_valley(ones: int, precision: float) -> None:
    """The least evidence must be found there; a search that misses it certifies far too soon."""
    arms = [sp.Arm("tight", kind="subgaussian", scale=precision), sp.Arm("wide", kind="bernoulli")]
    explorer = sp.Explorer(sp.BestArm(arms), 0.05)
    explorer.tell("tight", [0.5772] * 30)
    explorer.tell("wide", [1] * ones + [0] * (30 - ones))
    found = -math.log(explorer.attained() * 0.9) if explorer.attained() < 1 else 0.0
    assert found <= max(least(explorer.problem, explorer, 2000), 0.0) + 0.02
    assert not explorer.certified


def test_half_a_pair_is_completed_first() -> None:
    """Whether to complete a pair must not depend on its first value, so nothing is certain until it is complete."""
    problem, world = sp.SampleAllocation([1, 1], 4), sp.Bernoulli([0.5, 0.02])
    explorer = sp.Explorer(problem, 0.2)
    drive(explorer, world, seed=1)
    assert explorer.certified
    assert not (explorer.counts % 2).any()
    again = sp.Explorer(problem, 0.2)
    rng = np.random.default_rng(0)
    for i, p in enumerate([0.5, 0.02]):
        again.tell(i, (rng.random(20_001) < p).astype(float))
    assert not again.certified
    assert again.attained() == 1.0
    assert again.ask(3)[:2] == [0, 1]
    again.tell(0, 1.0)
    again.tell(1, 0.0)
    assert again.certified


@pytest.mark.parametrize(
    "problem",
    [sp.TopK(3, 3), sp.SpanningTree([(0, 1), (1, 2)]), sp.SampleAllocation([5, 9], 2), sp.TopK(2, 2, parameter="variance")],
)
def test_where_there_is_but_one_decision_all_arms_are_sampled_alike(problem: sp.Problem) -> None:
    """There is no exchange to look at; pairs that have begun are completed first."""
    explorer = sp.Explorer(problem, 0.1, policy="joint", budget=40, spend=True)
    rng = np.random.default_rng(0)
    while arms := explorer.ask(6):
        assert set(arms) <= set(range(problem.m))
        for arm in arms:
            explorer.tell(arm, rng.random())
    assert explorer.certified
    assert explorer.counts.max() - explorer.counts.min() <= 2
    uneven = sp.Explorer(problem, 0.1, policy="joint")
    for arm in range(problem.m):
        uneven.tell(arm, [0.1, 0.7, 0.3][: 3 if arm == 0 else 2])
    if problem.parameter.name == "variance":
        assert not uneven.done
        assert uneven.ask(1) == [0]
    else:
        assert uneven.done
    assert (uneven.decision == problem.solve(np.full(problem.m, 0.1))).all()


@pytest.mark.parametrize("seed", range(30))
def test_half_a_pair_leaves_the_gap_to_the_box(seed: int) -> None:
    """While a pair is open nothing is certain by exchanges; the gap is that of the decision as it stands, over the box, and 0
    if the decision is the best one all over it."""
    rng = np.random.default_rng(seed)
    problem = sp.SampleAllocation(rng.integers(1, 9, 3), 8)
    explorer = sp.Explorer(problem, 0.3, policy="joint")
    for arm, wide in enumerate(rng.permutation([1.0, 0.3, 0.02])):
        explorer.tell(arm, 0.5 + wide * (rng.random(2 * int(rng.integers(1, 2000)) + 1) - 0.5))
    assert not explorer.certified
    certificate = explorer.certificate()
    lower, upper = explorer.box()
    if certificate.undecided.any():
        assert certificate.gap == pytest.approx(problem.rival(lower, upper, certificate.decision)[1], abs=1e-12)
    else:
        assert certificate.gap == 0
        for share in (*rng.random((200, 3)), *itertools.product((0, 1), repeat=3)):
            assert (problem.solve(lower + share * (upper - lower)) == certificate.decision).all()


def test_half_a_pair_of_an_arm_that_has_ended_does_not_wait() -> None:
    rng = np.random.default_rng(1)
    explorer = sp.Explorer(sp.SampleAllocation([1, 1], 4))
    explorer.tell(0, rng.integers(0, 2, 1001).astype(float))
    explorer.tell(1, 0.5 + 0.001 * rng.random(1000))
    assert not explorer.certified
    assert explorer.ask(1) == [0]
    explorer.pause(0)
    assert explorer.ask(3) == [1, 1, 1]
    assert not explorer.certified  # it may be completed yet
    explorer.end(0)
    assert explorer.certified
