"""Mean and variance, one by one and in bulk, and a parameter of the user's own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

import surepick as sp
from surepick.confidence import Paper, make_confidence
from surepick.engine.data import Record
from surepick.engine.kernels.record import observe
from surepick.estimators import Estimator, Mean, Variance
from surepick.run.drive import drive

CLOCK = 1.7e15  # microseconds
values_in_parts = st.lists(st.lists(st.floats(0, 1), max_size=20), min_size=1, max_size=8)


@pytest.mark.parametrize("estimator", [Mean(), Variance()])
@given(parts=values_in_parts)
def test_one_by_one_equals_bulk(estimator: Estimator, parts: list[list[float]]) -> None:
    single, bulk = estimator.record(2), estimator.record(2)
    for part in parts:
        bulk.update(1, np.array(part))
        for x in part:
            single.update(1, np.array([x]))
    everything = np.array([x for part in parts for x in part])
    assert single.counts.tolist() == bulk.counts.tolist() == [0, len(everything)]
    assert np.isnan(bulk.estimates[0])
    if len(everything) < estimator.minimum:
        assert np.isnan(single.estimates[1])
        assert np.isnan(bulk.estimates[1])
        return
    direct = everything.mean() if isinstance(estimator, Mean) else everything.var(ddof=1)
    assert single.estimates[1] == pytest.approx(direct, abs=1e-14)
    assert bulk.estimates[1] == pytest.approx(direct, abs=1e-14)


@given(parts=values_in_parts)
def test_pairs_and_prediction_errors_do_not_depend_on_the_batches(parts: list[list[float]]) -> None:
    """Whole batches, one by one, and by the compiled loop, to the last bit there."""
    bulk, single, compiled = (Mean().record(2) for _ in range(3))
    for part in parts:
        bulk.update(1, np.array(part))
        for x in part:
            single.update(1, np.array([x]))
            observe(1, x, Record(compiled.counts, compiled.table, compiled.variance))
    for record in (single, compiled):
        assert record.table.tobytes() == bulk.table.tobytes()
    x = np.array([x for part in parts for x in part])
    even = len(x) // 2 * 2
    assert bulk.pairs.tolist() == single.pairs.tolist() == compiled.pairs.tolist() == [0, even // 2]
    differences = ((x[0:even:2] - x[1:even:2]) ** 2).sum()
    errors = sum((x[s] - x[:s].mean()) ** 2 for s in range(1, len(x)))
    for record in (bulk, single, compiled):
        assert record.differences[1] == pytest.approx(differences, abs=1e-12)
        assert record.prediction_errors[1] == pytest.approx(errors, abs=1e-12)
        waiting = record.origins[1] + record.waiting[1]
        assert waiting == pytest.approx(x[-1], abs=1e-15) if len(x) > even else np.isnan(waiting)
        assert np.isnan(record.waiting[0])
    for one, other in ((single.counts, compiled.counts), (single.table, compiled.table)):
        assert np.array_equal(one, other, equal_nan=True)


def test_variance_does_not_cancel() -> None:
    """Values around 1e9 that differ by 1: the textbook formula loses every digit, a stable one only what the
    condition number (1e9 / 0.5) costs, some 4e-7."""
    arm = sp.Arm("x", low=1e9 - 10, high=1e9 + 10)
    data = 1e9 + np.tile([0.0, 1.0], 5000)
    for chunk in (1, 7, 10_000):
        record = Variance().record(1)
        for start in range(0, len(data), chunk):
            record.update(0, arm.check(data[start : start + chunk]))
        assert record.estimates[0] == pytest.approx(data.var(ddof=1), rel=4e-7)
    assert abs((data**2).sum() - data.sum() ** 2 / len(data)) / (len(data) - 1) != pytest.approx(0.25, rel=1e-3)


@pytest.mark.parametrize("offset", [0.0, -3.0, 1e9, -1e12, 1e12])
@pytest.mark.parametrize("bounded", [True, False])
def test_means_do_not_drift_far_from_0(offset: float, bounded: bool) -> None:
    """10^7 values told one by one, compiled; 10^4 in Python and in batches. The mean of what was told, to the last digits."""
    arm = sp.Arm("x", offset, offset + 1) if bounded else sp.Arm("x", kind="subgaussian", scale=1.0)
    coin = (np.random.default_rng(4).random(10**7) < 0.3) + offset
    record = sp.BestArm([arm, sp.Arm("y")]).record()
    tell_all(Record(record.counts, record.table, False), coin)
    few, many = (sp.BestArm([arm, sp.Arm("y")]).record() for _ in range(2))
    for x in coin[:10_000]:
        few.update(0, np.array([x]))
    for part in np.array_split(coin[:10_000], 37):
        many.update(0, part)
    for told, n in ((record, 10**7), (few, 10_000), (many, 10_000)):
        truth = (coin[:n] - offset).mean()
        assert told.offsets[0] + (told.origins[0] - offset) == pytest.approx(truth, abs=1e-13)
        assert told.estimates[0] - offset == pytest.approx(truth, abs=1e-13 + 2e-16 * abs(offset))
        assert told.squares[0] == pytest.approx(n * truth * (1 - truth), rel=1e-9)


@njit
def tell_all(record, values):
    for x in values:
        observe(0, x, record)


@pytest.mark.parametrize("name", ["paper", "normal", "beta", "kt-kl", "bernstein", "clucb", "lucb", "kl-lucb", "elimination"])
@pytest.mark.parametrize("offset", [1e9, -1e12])
def test_boxes_hold_the_truth_far_from_0(name: str, offset: float) -> None:
    """A million values at an offset: the box is that of the same values without it, but for rounding outwards."""
    wide = 4e-16 * abs(offset)  # what double precision leaves of a bound there
    here, there = sp.BestArm(2), sp.BestArm([sp.Arm("a", offset, offset + 1), sp.Arm("b", offset, offset + 1)])
    for seed in range(5):
        coins = (np.random.default_rng(seed).random(10**6) < 0.3).astype(float)
        boxes = []
        for problem, shift in ((here, 0.0), (there, offset)):
            record = problem.record()
            tell_all(Record(record.counts, record.table, False), coins + shift)
            record.update(1, coins[:9] + shift)
            boxes.append(make_confidence(name, problem, 0.05).box(record))
        for plain, far, outwards in zip(*boxes, (-1, 1), strict=True):
            moved = outwards * ((far - offset) - plain)
            assert (moved >= -1e-9).all()
            assert (moved <= 3 * wide + 1e-9).all()
        assert boxes[1][0][0] <= offset + 0.3 <= boxes[1][1][0]


@pytest.mark.parametrize("offset", [1e9, 1e12])
def test_no_wrong_certificate_far_from_0(offset: float) -> None:
    """A coin of 0.1 against a constant that is a little better: a mean that drifts by its rounding certifies the coin."""
    step = 0.0005 if offset < 1e10 else 2.0**-12  # the constant must be a number of that size
    arms = [sp.Arm("coin", offset, offset + 1), sp.Arm("constant", offset, offset + 1)]

    def sampler(arm: int, n: int, rng: np.random.Generator) -> np.ndarray:
        return offset + ((rng.random(n) < 0.1) if arm == 0 else np.full(n, 0.1 + step))

    for seed in range(20):
        explorer = sp.Explorer(sp.BestArm(arms), budget=40_000)
        drive(explorer, sampler, batch=2000, seed=seed)
        assert not explorer.certified or explorer.decision.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("arms", "values", "groups"),
    [
        (
            [("t0", 1.7e15, 1.7e15 + 1e6), ("t1", 1.7e15, 1.7e15 + 1e6), ("r0", 0, 1), ("r1", 0, 1)],
            (0.9, 0.1, 0.37495, 0.37505),
            "ttrr",
        ),
        ([("wide", -1e15, 1e15), ("none", -1e15, 1e15), ("a", 0, 1), ("b", 0, 1)], (1.0, 0.0, 0.5624, 0.5626), "wwrr"),
    ],
)
def test_no_wrong_certificate_beside_arms_of_another_size(
    arms: list[tuple[str, float, float]], values: tuple[float, ...], groups: str
) -> None:
    """Timestamps in microseconds beside rates: levels of the rates must keep their digits, whichever arm comes first."""
    problem = sp.BestOfEach([sp.Arm(*arm) for arm in arms], groups=list(groups))
    for seed in range(8):
        rng, explorer = np.random.default_rng(seed), sp.Explorer(problem)
        for _ in range(20):
            explorer.tell_many(
                [(i, low + (high - low) * (rng.random(1000) < values[i])) for i, (_, low, high) in enumerate(arms)]
            )
        assert not explorer.certified or explorer.decision.tolist() == [1, 0, 0, 1]


def test_arms_too_far_from_0_are_refused() -> None:
    with pytest.raises(sp.SurepickError, match="few digits left to differ in: count them from another origin, such as low"):
        sp.Arm("clock", 1e15, 1e15 + 1)
    gauge = sp.Arm("gauge", kind="subgaussian", scale=1.0)
    with pytest.raises(sp.SurepickError, match=r"more than 4e\+12 times the scale 1 from 0"):
        gauge.check(1e15)
    far = [sp.Arm("a", 1e12, 1e12 + 1), sp.Arm("b", 1e12, 1e12 + 1)]
    with pytest.raises(sp.SurepickError, match="their sum would not show the latter"):
        sp.Path([("s", "t")] * 2, "s", "t", arms=far)
    with pytest.raises(sp.SurepickError, match="their sum would not show the latter"):
        sp.Subsets(far, [[1, 0], [0, 1]])


def test_the_paper_radius_to_the_letter() -> None:
    m, t, delta = 4, 1000, 0.05
    counts = np.array([100, 200, 300, 400])
    mean = Paper().bound(sp.BestArm(m), delta).radius(counts)
    assert mean == pytest.approx(np.sqrt(np.log(4 * t**3 / (1 * delta)) / (2 * counts)), rel=1e-14)
    variance = Paper().bound(sp.SampleAllocation([1] * m, 9), delta).radius(counts)
    assert variance == pytest.approx(np.sqrt(np.log(4 * t**3 / (2 * delta)) / (2 * counts)), rel=1e-14)


def test_radius_and_range_follow_the_bounds() -> None:
    arms = [sp.Arm("a", low=-3, high=7), sp.Arm("b"), sp.Arm("c", kind="subgaussian", scale=0.5)]
    counts = np.array([50, 50, 50])
    c = np.log(4 * 150**3 / 0.1)
    radius = Paper().bound(sp.BestArm(arms), 0.1).radius(counts)
    assert radius == pytest.approx([10 * math.sqrt(c / 100), math.sqrt(c / 100), 0.5 * math.sqrt(2 * c / 50)])
    allocation = sp.SampleAllocation([1, 1], 5, arms=arms[:2])
    assert allocation.high.tolist() == [25, 0.25]
    assert allocation.scales.tolist() == [100, 1]
    record = Variance().record(2)
    record.counts[:], record.estimates[:] = 10, [20.0, 0.2]
    lower, upper = Paper().bound(allocation, 0.1).box(record)
    assert lower.tolist() == [0, 0]
    assert upper.tolist() == [25, 0.25]


def test_the_log_does_not_overflow() -> None:
    """t^3 leaves 64 bits at 2.1 million samples; the radius must go on shrinking slowly and stay positive."""
    confidence = Paper().bound(sp.BestArm(2), 0.05)
    for t in (2_097_151, 2_097_152, 3_000_000, 10**12, 2**62):
        half = np.array([t // 2, t - t // 2])
        assert confidence.radius(half)[0] == pytest.approx(math.sqrt((math.log(80) + 3 * math.log(t)) / (2 * (t // 2))))


class GiniMeanDifference(Estimator):
    """E|X - X'|, a measure of spread, by its U-statistic.

    One of s observations is in s - 1 of the s(s-1)/2 pairs, each of which it moves by at most high - low, so it moves the
    estimate by at most 2 (high - low) / s.
    """

    name = "Gini's mean difference"
    minimum = 2

    def range(self, arm: sp.Arm) -> tuple[float, float]:
        return 0.0, (arm.high - arm.low) / 2  # largest for two equal masses at the ends

    def scale(self, arm: sp.Arm) -> float:
        return 2 * (arm.high - arm.low)

    def record(self, m: int) -> GiniRecord:
        return GiniRecord(m)


class GiniRecord:
    def __init__(self, m: int) -> None:
        self.counts = np.zeros(m, dtype=np.int64)
        self.estimates = np.full(m, np.nan)
        self.values: list[np.ndarray] = [np.empty(0)] * m

    def update(self, arm: int, values: np.ndarray) -> None:
        x = self.values[arm] = np.sort(np.concatenate((self.values[arm], values)))
        s = self.counts[arm] = len(x)
        if s >= 2:
            self.estimates[arm] = 2 * ((2 * np.arange(1, s + 1) - s - 1) * x).sum() / (s * (s - 1))


def test_a_parameter_of_the_users_own() -> None:
    """The most unequal of three arms with the same mean: beyond mean and variance, with the same guarantee."""
    gini = GiniMeanDifference()
    record = gini.record(1)
    record.update(0, np.array([0.0, 0.5, 1.0]))
    assert record.estimates[0] == pytest.approx((0.5 + 1.0 + 0.5) / 3)
    problem = sp.BestArm(["flat", "even", "split"], parameter=gini)
    world = sp.Beta([0.5, 0.5, 0.5], concentration=[20, 4, 0.2])
    outcome = sp.explore(problem, world, batch=500, seed=1)
    assert outcome.certified
    assert outcome.decision.tolist() == [0, 0, 1]
    # bounded differences, tried on the worst case: all mass at the ends
    for s in (2, 3, 10):
        base = np.array([0.0] * (s // 2) + [1.0] * (s - s // 2))
        before, after = gini.record(1), gini.record(1)
        before.update(0, base)
        after.update(0, np.concatenate(([1.0], base[1:])))
        assert abs(before.estimates[0] - after.estimates[0]) <= 2 / s + 1e-12


def test_unknown_parameters_are_refused() -> None:
    with pytest.raises(sp.SurepickError, match="'mean', 'variance'"):
        sp.BestArm(3, parameter="median")
    with pytest.raises(sp.SurepickError, match="unbounded"):
        sp.SampleAllocation([1, 1], 5, arms=[sp.Arm("a"), sp.Arm("b", kind="subgaussian", scale=1.0)])
