"""An epsilon for every arm: each chosen arm is within epsilon of the k-th best of its group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import surepick as sp
from surepick.engine import compiled
from surepick.errors import ProblemError, SettingError
from surepick.lab.trials import World
from surepick.policies import POLICIES, Joint
from surepick.run.drive import drive
from surepick.study import StudySpec

from .cases import CASES, boxes
from .reference import corners, decisions_of

DELTA, RUNS = 0.3, 2000
THRESHOLD = binom.isf(1e-6, RUNS, DELTA)
RANKED = ["best-arm", "top-k", "best-of-each", "unequal-arms"]


def falls_short(problem: sp.Problem, theta: np.ndarray, decision: np.ndarray) -> float:
    """The definition: how far the worst chosen arm is from the k-th best of its group."""
    worth = problem.sign * theta
    falls = [
        np.sort(worth[problem.group == g])[-problem.k] - worth[(problem.group == g) & (np.asarray(decision) > 0)].min()
        for g in set(problem.group.tolist())
    ]
    return max(0.0, *falls)


# -- on a box -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RANKED)
@given(data=st.data())
def test_the_shortfall_is_the_largest_over_the_box(name: str, data: st.DataObject) -> None:
    problem = data.draw(CASES[name])
    lower, upper = data.draw(boxes(problem))
    y = data.draw(st.sampled_from(decisions_of(problem)))
    rival, shortfall = problem.shortfall(lower, upper, y)
    assert shortfall == pytest.approx(max(falls_short(problem, theta, y) for theta in corners(lower, upper)), abs=1e-12)
    assert tuple(rival.tolist()) in decisions_of(problem)
    assert (rival == y).all() == (shortfall == 0)
    gap = problem.rival(lower, upper, y)[1]
    assert shortfall <= gap + 1e-12
    if problem.m and int(np.sum(y)) == 1:
        assert shortfall == pytest.approx(gap, abs=1e-12)


def test_other_classes_have_none() -> None:
    with pytest.raises(ProblemError, match="do not fall short one by one"):
        sp.SpanningTree([(0, 1), (1, 2), (0, 2)]).shortfall([0] * 3, [1] * 3, [1, 1, 0])


# -- by evidence ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sense", ["max", "min"])
def test_the_reported_gaps_and_the_stop(sense: str) -> None:
    """At many moments: the gap of every arm is the largest lead, exchange by exchange; it stops as soon as that is epsilon."""
    rng, stopped = np.random.default_rng(3), 0
    lead = compiled("leads").lead
    for trial in range(60):
        m = int(rng.integers(2, 6))
        k, arms = int(rng.integers(1, m)), [sp.Arm(f"coin {i}", kind="bernoulli") for i in range(m if trial % 2 == 0 else 2 * m)]
        problem = sp.BestOfEach(arms, [0, 1] * m, k, sense=sense) if trial % 2 else sp.TopK(arms, k, sense=sense)
        epsilon = float(rng.choice([0.1, 0.3]))
        explorer = sp.Explorer(problem, epsilon=epsilon, per_arm=True)
        n = int(10 ** rng.uniform(1, 3.5))
        for arm in range(problem.m):
            explorer.tell(arm, (rng.random(n) < rng.choice([0.2, 0.5, 0.55])).astype(float))
        certificate, policy, view = explorer.certificate(), explorer.policy, explorer.view
        lower, upper, y = certificate.lower, certificate.upper, certificate.decision
        leads = [0.0]
        for h in np.flatnonzero(y):
            for other in np.flatnonzero((y == 0) & (problem.group == problem.group[h])):
                i, j = (int(h), int(other)) if sense == "max" else (int(other), int(h))
                by_evidence = lead(i, j, 1.0, 1.0, policy.weigh(view), policy.threshold(0.05))
                leads.append(min(by_evidence, upper[j] - lower[i]))
        wanted = min(max(leads), problem.shortfall(lower, upper, y)[1])
        if certificate.undecided.any():
            assert certificate.gap_per_arm == pytest.approx(wanted, rel=2e-3, abs=1e-9)
        else:
            assert certificate.gap_per_arm == 0.0
        assert certificate.gap_per_arm <= certificate.gap * (1 + 2e-3) + 1e-9
        assert certificate.certified == (wanted <= epsilon) or abs(wanted - epsilon) < 2e-3 * epsilon
        assert not certificate.certified or certificate.gap_per_arm <= epsilon
        stopped += certificate.certified
    assert 10 < stopped < 50


@pytest.mark.parametrize("policy", [name for name, cls in POLICIES.items() if cls.needs(sp.TopK(3, 1)) is None])
def test_every_policy_stops_by_it(policy: str) -> None:
    problem, world = sp.TopK(5, 2), sp.Bernoulli([0.9, 0.85, 0.8, 0.2, 0.1])
    runs = [sp.explore(problem, world, 0.1, policy=policy, epsilon=0.3, per_arm=each, batch=20, seed=2) for each in (True, False)]
    one, other = (run.certificate for run in runs)
    assert one.certified
    assert one.gap_per_arm <= 0.3 or not one.undecided.any()
    assert falls_short(problem, world.means, one.decision) <= 0.3
    assert one.samples <= other.samples
    assert one.per_arm
    assert not other.per_arm


def test_the_same_samples_and_an_earlier_stop() -> None:
    problem, world = sp.TopK(6, 3), sp.Bernoulli([0.6, 0.58, 0.56, 0.54, 0.3, 0.2])
    one, other = (sp.explore(problem, world, epsilon=0.1, per_arm=each, seed=3) for each in (True, False))
    assert one.samples < 0.6 * other.samples
    again = sp.explore(problem, world, epsilon=0.1, budget=one.samples, seed=3)
    assert again.counts.tolist() == one.counts.tolist()
    best = sp.BestArm(5), sp.Bernoulli([0.6, 0.58, 0.4, 0.3, 0.2])
    alone = [sp.explore(*best, epsilon=0.1, per_arm=each, seed=3) for each in (True, False)]
    assert alone[0].counts.tolist() == alone[1].counts.tolist()
    assert alone[0].certificate.gap_per_arm == pytest.approx(alone[0].certificate.gap, rel=2e-3)


# -- what is said ---------------------------------------------------------------------------------------------------------


def test_the_statement_says_which_one_holds() -> None:
    world = sp.Bernoulli([0.9, 0.85, 0.84, 0.8, 0.2])
    said = {
        (kind, each): str(sp.explore(problem, world, epsilon=0.2, per_arm=each, seed=1))
        for kind, problem in (("one", sp.BestArm(5)), ("two", sp.TopK(5, 2)), ("groups", sp.BestOfEach(5, list("aabba"))))
        for each in (False, True)
    }
    assert said["one", False] == said["one", True]
    assert said["one", True].endswith("this decision is within 0.2 of the best, if arms are independent.")
    assert said["two", False].endswith("the sum of these arms is within 0.2 of the best sum, if arms are independent.")
    assert said["two", True].endswith("each of these arms is within 0.2 of the 2nd best, if arms are independent.")
    assert said["groups", True].endswith("each of these arms is within 0.2 of the best of its group, if arms are independent.")
    assert [sp.TopK(30, k).yardstick.split()[1] for k in (3, 4, 11, 12, 13, 21, 22)] == [
        "3rd", "4th", "11th", "12th", "13th", "21st", "22nd",
    ]  # fmt: skip


def test_before_the_end_both_gaps_are_reported() -> None:
    explorer = sp.Explorer(sp.TopK(4, 2))
    assert explorer.certificate().gap_per_arm == np.inf
    assert explorer.certificate().to_dict()["gap_per_arm"] is None
    for arm in range(4):
        explorer.tell(arm, [0, 1] * 50)
    certificate = explorer.certificate()
    assert 0 < certificate.gap_per_arm < certificate.gap
    both = f"{certificate.gap:.3g} of the best sum, each of them within {certificate.gap_per_arm:.3g} of the 2nd best"
    assert str(certificate).endswith(f"{both}, if arms are independent.")
    assert certificate.to_dict()["gap_per_arm"] == certificate.gap_per_arm
    assert certificate.to_dict()["per_arm"] is False
    assert sp.Explorer(sp.SpanningTree([(0, 1)])).certificate().gap_per_arm is None


@pytest.mark.parametrize(
    ("problem", "settings", "said"),
    [
        (sp.TopK(3, 2), {"per_arm": 1}, "per_arm must be True or False, not 1"),
        (sp.TopK(3, 2), {"per_arm": True, "relative": True}, "leave out relative=True"),
        (sp.SpanningTree([(0, 1), (1, 2)]), {"per_arm": True}, "needs best-arm, top-k or best-of-each"),
        (sp.SampleAllocation([1, 2], 5), {"per_arm": True}, "for sample-allocation leave it out"),
    ],
)
def test_what_is_refused(problem: sp.Problem, settings: dict, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        sp.Explorer(problem, epsilon=0.1, **settings)


@pytest.mark.parametrize("sense", ["max", "min"])
def test_an_epsilon_as_wide_as_the_range_is_certain_at_once(sense: str) -> None:
    for settings in ({"epsilon": 2.0}, {"epsilon": 1.0, "per_arm": True}):
        explorer = sp.Explorer(sp.TopK(5, 2, sense=sense), **settings)
        explorer.tell_many([(arm, [0.0, 1.0]) for arm in range(5)])
        assert explorer.certified


def test_study_files_and_simulations() -> None:
    spec = StudySpec.from_dict(
        {"arms": 4, "epsilon": 0.1, "per_arm": True, "problem": {"kind": "top-k", "k": 2, "sense": "min"},
         "simulate": {"kind": "bernoulli", "p": [0.5, 0.2, 0.28, 0.3]}}
    )  # fmt: skip
    assert spec.explorer().per_arm
    assert not spec.replace(per_arm=False).explorer().per_arm
    world = World.of(spec.problem, spec.environment)
    assert world.correct(np.array([0, 1, 0, 1]), 0.03, False, per_arm=True)
    assert not world.correct(np.array([0, 1, 0, 1]), 0.01, False, per_arm=True)
    assert not world.correct(np.array([1, 1, 0, 0]), 0.1, False, per_arm=True)
    assert world.correct(np.array([1, 1, 0, 0]), 0.3, False, per_arm=True)
    found = sp.simulate(spec.problem, spec.environment, epsilon=0.1, per_arm=True, runs=5, executor=1)
    assert found.settings["per_arm"]
    assert found.table.certified.all()
    assert found.table.correct.all()
    sums = sp.simulate(spec.problem, spec.environment, epsilon=0.1, runs=5, executor=1)
    assert found.table.samples.mean() < sums.table.samples.mean()


# -- the guarantee ----------------------------------------------------------------------------------------------------------

# Arms just more than epsilon apart, so that a wrong answer is possible.
HARD = {
    "top-k": (sp.TopK(6, 3), sp.Bernoulli([0.75, 0.75, 0.75, 0.4, 0.4, 0.4]), {"policy": "joint"}),
    "smallest": (sp.TopK(6, 2, sense="min"), sp.Bernoulli([0.75, 0.75, 0.4, 0.75, 0.4, 0.75]), {"policy": "joint"}),
    "groups": (sp.BestOfEach(6, list("aabbcc")), sp.Bernoulli([0.75, 0.4, 0.4, 0.75, 0.75, 0.4]), {"policy": "joint"}),
    "box": (sp.TopK(6, 3), sp.Bernoulli([0.75, 0.75, 0.75, 0.4, 0.4, 0.4]), {"policy": "pac"}),
}


def errors(name: str) -> int:
    problem, world, settings = HARD[name]
    wrong = 0
    for run in range(RUNS):
        explorer = sp.Explorer(problem, DELTA, epsilon=0.3, per_arm=True, **settings)
        drive(explorer, world, batch=12, seed=77, run=run)
        assert explorer.certified
        wrong += falls_short(problem, world.means, explorer.decision) > 0.3
    return int(wrong)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in ("top-k", "box") else pytest.mark.slow) for name in HARD]
)
def test_chosen_arms_are_within_epsilon(name: str) -> None:
    """With error probability exactly delta more than the threshold have probability below 1e-6."""
    assert errors(name) <= THRESHOLD


@pytest.mark.parametrize("name", ["top-k", "smallest", "groups"])
def test_planted_bug_no_evidence_is_asked_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Joint, "threshold", lambda self, delta: 0.0)
    assert errors(name) > THRESHOLD


def test_planted_bug_a_shortfall_of_a_hundredth(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = sp.BestOfEach.shortfall_on

    def bold(self: sp.BestOfEach, *given: np.ndarray) -> tuple[np.ndarray, float]:
        rival, shortfall = plain(self, *given)
        return rival, 0.01 * shortfall

    monkeypatch.setattr(sp.BestOfEach, "shortfall_on", bold)
    assert errors("box") > THRESHOLD
