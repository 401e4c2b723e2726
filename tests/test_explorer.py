"""Ask, tell, stop: the contract of the explorer and of explore()."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import surepick as sp
from surepick.errors import ObservationError, SettingError
from surepick.run.drive import Progress


def test_first_every_arm_then_the_undecided() -> None:
    ex = sp.Explorer(sp.SampleAllocation([1, 1, 1], 7), 0.1, policy="coci")
    assert ex.ask(4) == [0, 0, 1, 1]
    assert ex.ask(4) == [0, 0, 1, 1]  # asking changes nothing
    assert ex.ask(8) == [0, 0, 1, 1, 2, 2, 0, 1]
    for arm in (0, 1, 2):
        ex.tell(arm, [0, 1])
    assert ex.started
    assert ex.ask(5) == [0, 1, 2, 0, 1]


def test_a_batch_is_what_the_policy_would_do_one_by_one() -> None:
    """With equal ranges the arm with fewest samples, planned ones counted; ties to the lowest index."""
    ex = sp.Explorer(sp.TopK(4, 2), 0.1, policy="coci")
    ex.tell(0, np.full(10, 0.5))
    ex.tell(1, np.full(8, 0.5))
    ex.tell(2, np.full(9, 0.5))
    ex.tell(3, np.full(12, 0.5))
    assert ex.undecided.all()
    assert ex.ask(7) == [1, 1, 2, 0, 1, 2, 0]
    assert ex.ask(7)[:3] == ex.ask(3)


def test_a_batch_with_unequal_ranges_follows_the_radius() -> None:
    ex = sp.Explorer(sp.TopK([sp.Arm("wide", high=2), sp.Arm("narrow")], 1), 0.1, policy="coci")
    ex.tell(0, [1.0])
    ex.tell(1, [0.5])
    assert ex.ask(10).count(0) == 8  # radius 2 sqrt(c/2T): four times the samples for the same radius


def test_uniform_asks_for_all_arms() -> None:
    ex = sp.Explorer(sp.BestArm(3), 0.1, policy="uniform", confidence="paper")
    ex.tell(0, np.ones(300))
    ex.tell(1, np.full(300, 0.9))
    ex.tell(2, np.zeros(300))
    assert ex.undecided.tolist() == [True, True, False]
    assert ex.ask(3) == [0, 1, 2]
    assert sorted(set(_coci_like(ex).ask(6))) == [0, 1]


def _coci_like(ex: sp.Explorer) -> sp.Explorer:
    other = sp.Explorer(ex.problem, ex.delta, policy="coci", confidence="paper")
    other.tell(0, np.ones(300))
    other.tell(1, np.full(300, 0.9))
    other.tell(2, np.zeros(300))
    return other


def test_order_and_grouping_of_tells_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    data = [(int(i), float(x)) for i, x in zip(rng.integers(0, 3, 500), rng.random(500), strict=True)]
    one = sp.Explorer(sp.BestArm(3), 0.1, confidence="beta")
    for i, x in data:
        one.tell(i, x)
    many = sp.Explorer(sp.BestArm(3), 0.1, confidence="beta")
    for i in (2, 0, 1):
        many.tell(i, [x for j, x in reversed(data) if j == i])
    a, b = one.certificate(), many.certificate()
    assert a.counts.tolist() == b.counts.tolist()
    assert a.estimate == pytest.approx(b.estimate, abs=1e-14)
    assert a.lower == pytest.approx(b.lower, abs=1e-12)
    assert (a.undecided == b.undecided).all()


def test_once_certified_it_stays_so() -> None:
    ex = sp.Explorer(sp.BestArm(["a", "b"]), 0.1)
    ex.tell("a", np.full(400, 0.9))
    ex.tell("b", np.full(400, 0.1))
    assert ex.done
    assert ex.ask(5) == []
    before = ex.certificate().to_dict()
    ex.tell("b", np.ones(5000))  # late and contrary observations are kept, the certificate is not taken back
    assert ex.samples == 5800
    assert ex.done
    assert ex.certificate().to_dict() == before


def test_budget_that_runs_out_is_not_an_error() -> None:
    outcome = sp.explore(sp.TopK(4, 2), sp.Bernoulli([0.5, 0.5, 0.5, 0.5]), budget=500)
    assert not outcome.certified
    assert outcome.samples == 500
    c = outcome.certificate
    assert c.undecided.all()
    assert (c.lower < 0.5).all() and (c.upper > 0.5).all()  # noqa: PT018
    assert 0 < c.gap <= 2
    assert str(c).startswith("Not certified after 500 samples: 4 arms undecided. So far, with probability at least 0.95")


@pytest.mark.parametrize("budget", [0, 1, 3, 4, 7])
def test_a_budget_too_small_to_begin(budget: int) -> None:
    """Fewer samples than first estimates need: still a guess, the whole range as the box, and no certificate."""
    outcome = sp.explore(sp.SampleAllocation([1, 2, 3, 4], 8), sp.Bernoulli([0.5] * 4), budget=budget)
    assert not outcome.certified
    assert outcome.samples == budget
    c = outcome.certificate
    assert c.undecided.all()
    assert c.gap == math.inf
    assert c.lower.tolist()[-1] == 0.0 and c.upper.tolist()[-1] == 0.25  # noqa: PT018
    assert np.isnan(c.estimate[-1])
    assert json.loads(json.dumps(c.to_dict(), allow_nan=False))["estimate"][-1] is None
    assert outcome.decision.sum() == 8


def test_unbounded_arms_without_observations() -> None:
    arms = [sp.Arm("a", kind="subgaussian", scale=1.0), sp.Arm("b", kind="subgaussian", scale=1.0)]
    ex = sp.Explorer(sp.BestArm(arms), 0.1)
    assert ex.certificate().lower.tolist() == [-math.inf, -math.inf]
    json.dumps(ex.certificate().to_dict(), allow_nan=False)
    outcome = sp.explore(sp.BestArm(arms), sp.Gaussian([5.0, 3.0], [1.0, 1.0]), 0.1)
    assert outcome.certified
    assert outcome.decision.tolist() == [1, 0]


def test_epsilon_stops_earlier_and_says_so() -> None:
    problem, world = sp.TopK(10, 3), sp.Bernoulli([0.75, 0.70, 0.65, 0.55, 0.50, 0.45, 0.40, 0.35, 0.30, 0.25])
    exact = sp.explore(problem, world, batch=200)
    near = sp.explore(problem, world, epsilon=0.3, batch=200)
    share = sp.explore(problem, world, epsilon=0.2, relative=True, batch=200)
    assert exact.certified and near.certified and share.certified  # noqa: PT018
    assert near.samples < exact.samples
    assert near.certificate.gap <= 0.3
    assert near.certificate.undecided.any()
    assert "the sum of these arms is within 0.3 of the best sum" in str(near)
    assert "the sum of these arms is within 20 % of the best sum" in str(share)
    best = problem.reward(world.means, problem.solve(world.means))
    assert best - problem.reward(world.means, near.decision) <= 0.3


def test_relative_epsilon_for_a_variance() -> None:
    """At most (1 + g) times the least variance."""
    p = np.array([0.5, 0.3, 0.05])
    problem = sp.SampleAllocation([100, 200, 300], 30)
    outcome = sp.explore(problem, sp.Bernoulli(p), epsilon=0.3, relative=True, batch=500, seed=2)
    assert outcome.certified
    truth = p * (1 - p)
    best = -problem.reward(truth, problem.solve(truth))
    assert -problem.reward(truth, outcome.decision) <= 1.3 * best


def test_ties_never_certify_without_epsilon() -> None:
    problem, world = sp.BestArm(2), sp.Bernoulli([1.0, 1.0])
    assert not sp.explore(problem, world, budget=3000).certified
    assert sp.explore(problem, world, epsilon=0.2, budget=3000).certified


def test_the_same_seed_is_the_same_run_and_policies_share_their_luck() -> None:
    problem, world = sp.TopK(4, 2), sp.Bernoulli([0.9, 0.7, 0.4, 0.2])
    a, b, other = (sp.explore(problem, world, seed=s) for s in (1, 1, 2))
    assert a.certificate.to_dict() == b.certificate.to_dict()
    assert a.certificate.to_dict() != other.certificate.to_dict()
    seen: dict[str, dict[tuple[int, int], float]] = {"coci": {}, "uniform": {}}
    for policy, values in seen.items():

        def sampler(arm: int, n: int, rng: np.random.Generator, values: dict[tuple[int, int], float] = values) -> np.ndarray:
            drawn = world.sample(arm, n, rng)
            for x in drawn:
                values[arm, sum(1 for a, _ in values if a == arm)] = float(x)
            return drawn

        sp.explore(problem, sampler, policy=policy, budget=120, seed=7)
    common = seen["coci"].keys() & seen["uniform"].keys()
    assert len(common) > 60
    assert all(seen["coci"][key] == seen["uniform"][key] for key in common)


def test_a_users_sampler_is_asked_for_what_is_needed_only() -> None:
    asked = []

    def sampler(arm: int, n: int, rng: np.random.Generator) -> list[float]:
        asked.append((arm, n))
        return [[0.9, 0.1][arm]] * n

    outcome = sp.explore(sp.BestArm(2), sampler, 0.1)
    assert outcome.certified
    assert len(asked) == outcome.samples
    assert {n for _, n in asked} == {1}
    asked.clear()
    outcome = sp.explore(sp.BestArm(2), sampler, 0.1, batch=50)
    assert sum(n for _, n in asked) == outcome.samples
    assert len(asked) < outcome.samples / 10


def test_a_broken_sampler_is_named() -> None:
    with pytest.raises(ObservationError, match="2 values of arm 'arm 0' when asked for 1"):
        sp.explore(sp.BestArm(2), lambda arm, n, rng: [0.5, 0.5])
    with pytest.raises(ObservationError, match="outside"):
        sp.explore(sp.BestArm(2), lambda arm, n, rng: [5.0])


@pytest.mark.parametrize("batch", [1, 100])
def test_progress_is_called(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Progress] = []
    monkeypatch.setattr("surepick.run.drive.REPORT", 0.0)
    monkeypatch.setattr("surepick.run.drive.ROUNDS", 100 // batch)
    sp.explore(sp.TopK(4, 2), sp.Bernoulli([0.6, 0.5, 0.5, 0.4]), budget=4000, batch=batch, progress=seen.append)
    samples = [p.samples for p in seen]
    assert samples == sorted(samples)
    assert samples[-1] == 4000
    assert len(samples) > 4
    assert all(1 <= p.undecided <= 4 for p in seen)


@pytest.mark.parametrize("batch", [1, 3, 700, 5000])
def test_batches_take_the_same_values_of_every_arm(batch: int) -> None:
    """However many are drawn at once, the s-th value of an arm is the same."""
    seen: dict[int, list[float]] = {0: [], 1: []}

    class Watched(sp.Bernoulli):
        def sample(self, arm: int, n: int, rng: np.random.Generator) -> np.ndarray:
            values = super().sample(arm, n, rng)
            seen[arm].extend(values.tolist())
            return values

    ex = sp.explore(sp.BestArm(2), Watched([0.5, 0.5]), batch=batch, budget=9000)
    rng = [sp.environments.stream(0, 0, i) for i in range(2)]
    for i in (0, 1):
        truth = (rng[i].random(10_000) < 0.5).astype(float)
        assert seen[i] == truth[: len(seen[i])].tolist()
        n = ex.counts[i]
        assert ex.certificate.estimate[i] == pytest.approx(truth[:n].mean(), abs=1e-12)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"delta": -0.1}, "delta"),
        ({"delta": math.nan}, "delta"),
        ({"delta": "0.05"}, "delta"),
        ({"delta": True}, "delta"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"budget": -1}, "budget"),
        ({"budget": 10.5}, "budget"),
        ({"policy": "cosi"}, "did you mean 'coci'"),
        ({"policy": "the best"}, "coci, uniform"),
        ({"policy": ["coci"]}, "coci, uniform"),
        ({"confidence": ["paper"]}, "'auto', 'own' or one of paper"),
        ({"confidence": "papers"}, "did you mean 'paper'"),
        ({"confidence": "sharp"}, "'auto', 'own' or one of paper"),
        ({"batch": 0}, "batch"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
    ],
)
def test_bad_settings(how: dict[str, object], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        sp.explore(sp.BestArm(2), sp.Bernoulli([0.1, 0.9]), **how)


def test_more_bad_settings() -> None:
    with pytest.raises(SettingError, match="first argument"):
        sp.Explorer([0.1, 0.2])
    with pytest.raises(SettingError, match="3 arms but the problem has 2"):
        sp.explore(sp.BestArm(2), sp.Bernoulli([0.1, 0.9, 0.5]))
    with pytest.raises(SettingError, match="whole number"):
        sp.Explorer(sp.BestArm(2)).ask(0)


def test_ask_never_exceeds_the_budget() -> None:
    ex = sp.Explorer(sp.TopK(4, 2), budget=10)
    assert len(ex.ask(50)) == 10
    for arm in range(4):
        ex.tell(arm, [0.4, 0.6])
    assert len(ex.ask(50)) == 2


def test_ask_evens_out_uneven_starts() -> None:
    ex = sp.Explorer(sp.BestArm(3))
    ex.tell(1, np.full(5, 0.5))
    assert ex.ask(8) == [0, 2, 0, 2, 0, 2, 0, 2]


def test_the_certificate_follows_the_observations() -> None:
    ex = sp.Explorer(sp.BestArm(2))
    ex.tell(0, [0.2, 0.4])
    ex.tell(1, [0.9])
    first = ex.certificate()
    ex.tell(1, [0.1] * 20)
    second = ex.certificate()
    assert (first.samples, second.samples) == (3, 23)
    assert first.decision.tolist() == [0, 1]
    assert second.decision.tolist() == [1, 0]


def test_an_uncertified_decision_is_the_best_guess() -> None:
    """Both intervals are clipped to [0, 1], so their middles tie; the estimates do not."""
    ex = sp.Explorer(sp.BestArm(2), policy="coci", confidence="paper")
    ex.tell(0, [0.3, 0.3])
    ex.tell(1, [0.6, 0.6])
    c = ex.certificate()
    assert (c.lower + c.upper).tolist() == [1, 1]
    assert c.decision.tolist() == [0, 1]


def test_relative_gaps_are_shares_of_the_best_at_its_smallest() -> None:
    """Rewards: the share of the best one's that may be missing. Variances: the largest ratio to the best one's."""
    ex = sp.Explorer(sp.BestArm(2), epsilon=0.1, relative=True, policy="pac", confidence="beta")
    ex.tell(0, np.full(4000, 0.8))
    ex.tell(1, np.full(4000, 0.78))
    c = ex.certificate()
    gap = c.upper[1] - c.lower[0]
    assert c.gap == pytest.approx(gap / (c.lower[0] + gap))
    assert (1 - c.gap) * c.upper[1] == pytest.approx(c.lower[0])
    arms = [sp.Arm("a", kind="bernoulli"), sp.Arm("b", kind="bernoulli")]
    problem = sp.SampleAllocation([1, 1], 9, arms=arms)
    ex = sp.Explorer(problem, epsilon=0.001, relative=True)
    for arm in (0, 1):
        ex.tell(arm, np.tile([0.0, 1.0, 0.0], 1000)[: 3000 - 1000 * arm])
    c = ex.certificate()
    ratios = [
        problem.reward([a, b], c.decision) / problem.reward([a, b], [y, 9 - y]) - 1
        for a in (c.lower[0], c.upper[0])
        for b in (c.lower[1], c.upper[1])
        for y in range(1, 9)
    ]
    assert c.gap == pytest.approx(max(ratios))
    assert c.gap > 0


def test_compiled_boxes_are_clipped() -> None:
    outcome = sp.explore(sp.BestArm(2), sp.Bernoulli([0.5, 0.5]), budget=50)
    assert outcome.certificate.lower.min() >= 0
    assert outcome.certificate.upper.max() <= 1


def test_tiny_deltas_are_said_in_full() -> None:
    ex = sp.Explorer(sp.BestArm(2), delta=1e-13)
    ex.tell(0, np.ones(3000))
    ex.tell(1, np.zeros(3000))
    assert "with probability at least 1 - 1e-13" in str(ex.certificate())


def test_the_decision_by_name() -> None:
    ex = sp.Explorer(sp.TopK(["a", "b", "c"], 2))
    for arm, mean in (("a", 0.9), ("b", 0.1), ("c", 0.8)):
        ex.tell(arm, np.full(500, mean))
    assert ex.certificate().chosen == {"a": 1, "c": 1}
