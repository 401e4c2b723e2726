"""Evidence by betting: what its three atoms promise, that it is a supermartingale along any path, and the compiled loops."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import surepick as sp
from surepick import saving
from surepick.confidence import make_confidence
from surepick.engine.data import Arms, Seen
from surepick.engine.enums import Family
from surepick.engine.kernels import bets, mixtures
from surepick.engine.kernels.least import floor_of, least_evidence
from surepick.engine.kernels.mixtures import ABOVE, BELOW, BOTH
from surepick.errors import SettingError, StudyError
from surepick.run.drive import drive
from surepick.undo import Undo

from .weighed import seen

BETS, COINS, LUMPS, SQUARES = int(Family.BETS), int(Family.COINS), int(Family.LUMPS), int(Family.SQUARES)
VALUES = hnp.arrays(float, st.integers(1, 40), elements=st.floats(0, 1))
LEVELS = st.floats(0.001, 0.999)
SETS = st.sampled_from([bets.VALUES, bets.SQUARES_ABOVE, bets.SQUARES_BELOW])


def capital(values: np.ndarray, u: float, of: bets.Bets = bets.VALUES) -> float:
    """Of the bets that the mean is above u, value by value."""
    return sum(part * float(np.prod(1 + c * (values - u) / u)) for c, part in zip(of.shares, of.parts, strict=True))


def atoms(values: np.ndarray) -> tuple[float, float]:
    return bets.atoms_of(float(len(values)), float((values**2 * (1 - values)).sum()), float((values * (1 - values) ** 2).sum()))


def log_capital(values: np.ndarray, u: float, of: bets.Bets = bets.VALUES) -> float:
    return float(bets.log_capital(float(len(values)), float(values.mean()), *atoms(values), u, of))


# -- three atoms ------------------------------------------------------------------------------------------------------------


def test_what_is_bet_is_no_more_than_there_is() -> None:
    for of in (bets.VALUES, bets.SQUARES_ABOVE, bets.SQUARES_BELOW):
        assert sum(of.parts) == pytest.approx(1, abs=1e-12)
        assert np.exp(of.log_parts) == pytest.approx(np.array(of.parts), abs=1e-12)
        assert np.exp(of.log_rest) == pytest.approx(1 - np.array(of.shares), abs=1e-12)
    assert math.exp(bets.LOG_ABOVE_PART) + math.exp(bets.LOG_BELOW_PART) == pytest.approx(1, abs=1e-12)
    assert mixtures.ALONE.sum(axis=-1) == pytest.approx(1, abs=1e-12)
    assert mixtures.TOGETHER.sum(axis=-1) == pytest.approx(1, abs=1e-12)
    turned = mixtures.TOGETHER.transpose(1, 0, 2)[:, :, [0, 1, 3, 2]]
    assert (mixtures.TOGETHER == turned).all()  # the same whichever arm comes first
    assert mixtures.TOGETHER.min() == mixtures.LEAST_PART == 0.02


@given(VALUES, LEVELS, SETS)
def test_atoms_never_promise_more_than_the_bets_have(values: np.ndarray, u: float, of: bets.Bets) -> None:
    with np.errstate(divide="ignore"):
        assert log_capital(values, u, of) <= np.log(capital(values, u, of)) + 1e-9 * len(values)


@given(VALUES, LEVELS)
def test_atoms_have_the_moments_of_the_values(values: np.ndarray, u: float) -> None:
    inner, share = atoms(values)
    none, all_ = bets.ends_of(float(values.mean()), inner, share)
    assert none + all_ + share == pytest.approx(1, abs=1e-9)
    for power in (1, 2, 3):
        assert all_ + share * inner**power == pytest.approx((values**power).mean(), abs=1e-9)


@given(st.lists(st.booleans(), min_size=1, max_size=40), LEVELS, SETS)
def test_atoms_lose_nothing_of_coins(values: list[bool], u: float, of: bets.Bets) -> None:
    coins = np.array(values, dtype=float)
    assert log_capital(coins, u, of) == pytest.approx(math.log(capital(coins, u, of)), rel=1e-9, abs=1e-9)


@given(st.floats(0.001, 0.999), st.integers(1, 40), LEVELS)
def test_atoms_lose_nothing_of_values_all_alike(value: float, n: int, u: float) -> None:
    values = np.full(n, value)
    assert log_capital(values, u) == pytest.approx(math.log(capital(values, u)), rel=1e-7, abs=1e-7)


def test_a_bound_without_the_third_moment_would_be_noticed() -> None:
    """The planted bug of an average that is bent the wrong way: all values at their mean, which no concave factor allows."""
    values = np.linspace(0, 1, 11)
    wrong = bets.log_capital(11.0, 0.5, 0.5, 1.0, 0.3, bets.VALUES)
    assert wrong > math.log(capital(values, 0.3)) + 1
    assert log_capital(values, 0.3) <= math.log(capital(values, 0.3))


@given(VALUES, LEVELS)
def test_the_growth_is_that_of_the_best_bet(values: np.ndarray, u: float) -> None:
    p, (inner, share) = float(values.mean()), atoms(values)
    none, all_ = bets.ends_of(p, inner, share)
    c = np.linspace(0, bets.LARGEST, 2001)
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = none * np.log1p(-c) + all_ * np.log1p(c * (1 - u) / u) + share * np.log1p(c * (inner - u) / u)
    found = bets.growth(p, inner, share, u)[0]
    assert growth.max() - 1e-9 <= found <= growth.max() + 1e-3 * (1 + abs(growth.max()))


@settings(max_examples=200)
@given(VALUES, st.floats(0.01, 0.99))
def test_the_slopes_of_the_growth(values: np.ndarray, u: float) -> None:
    p, step = float(values.mean()), 1e-5 * min(u, 1 - u)
    if abs(p - u) < 1e-3:
        return
    at = [bets.growth_from(p, *atoms(values), u + k * step) for k in (-1, 0, 1)]
    assert at[1][1] == pytest.approx((at[2][0] - at[0][0]) / (2 * step), rel=1e-2, abs=1e-2)
    assert at[1][2] >= 0  # it is convex


# -- supermartingales -------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 9)), min_size=1, max_size=5), VALUES)
def test_one_step_ahead_the_capital_is_on_average_what_it_is(law: list[tuple[float, int]], past: np.ndarray) -> None:
    x, weight = np.array([x for x, _ in law]), np.array([w for _, w in law]) / sum(w for _, w in law)
    u = float(weight @ x)
    if not 1e-3 < u < 1 - 1e-3:
        return
    after = sum(w * capital(np.append(past, value), u) for value, w in zip(x, weight, strict=True))
    assert after == pytest.approx(capital(past, u), rel=1e-9, abs=1e-300)


TWO = [  # values and probabilities of two arms with one and the same mean
    (((0, Fraction(1, 2)), (1, Fraction(1, 2))), ((Fraction(1, 2), Fraction(1)),)),
    (((Fraction(2, 5), Fraction(1, 2)), (Fraction(3, 5), Fraction(1, 2))), ((0, Fraction(1, 2)), (1, Fraction(1, 2)))),
    (((0, Fraction(9, 10)), (1, Fraction(1, 10))), ((Fraction(1, 20), Fraction(1, 2)), (Fraction(3, 20), Fraction(1, 2)))),
    (((Fraction(1, 5), Fraction(3, 4)), (1, Fraction(1, 4))), ((0, Fraction(3, 5)), (1, Fraction(2, 5)))),
]


def mean_of_product(laws: tuple, rule: Callable[[list, list], int], length: int, u: float, evidence: Callable) -> float:
    """The mean of e^evidence after so many values, over all that can happen, where the rule says which arm is next."""
    total = 0.0
    for path in itertools.product(range(2), repeat=length):
        told: tuple[list, list] = ([], [])
        chance = Fraction(1)
        for choice in path:
            arm = rule(*told)
            law = laws[arm]
            if choice >= len(law):
                chance = Fraction(0)
                break
            value, share = law[choice]
            chance *= share
            told[arm].append(float(value))
        if chance:
            total += float(chance) * math.exp(evidence(told, u))
    return total


def arm_of(values: list) -> Seen:
    """An arm after these values, as a record has it."""
    record = sp.BestArm(1).record()
    record.update(0, np.array(values, dtype=float))
    return bets.bets_seen(0, False, record.counts, record.table)


def together(told: tuple[list, list], u: float, rho: float = 20.0) -> float:
    given: list = []
    for values, side in zip(told, (ABOVE, BELOW), strict=True):
        arm = arm_of(values)
        given += [mixtures.sort_of(arm.family, math.inf), *mixtures.parts(arm, u, rho, side)]
    return float(mixtures.together(*given))


RULES: dict[str, Callable[[list, list], int]] = {
    "in turn": lambda first, second: int(len(first) > len(second)),
    "while it wins": lambda first, second: int(bool(first) and first[-1] < 0.5 and len(second) < 4),
    "the one that looks worse": lambda first, second: int(len(first) > 0 and (not second or sum(first) > sum(second))),
}


@pytest.mark.parametrize("laws", TWO, ids=range(len(TWO)))
@pytest.mark.parametrize("rule", RULES)
def test_two_arms_together_are_a_supermartingale_whatever_is_sampled(laws: tuple, rule: str) -> None:
    """By brute force over all paths of seven values: on average no more than 1, both arms being at the level."""
    u = float(sum(value * share for value, share in laws[0]))
    assert float(sum(value * share for value, share in laws[1])) == pytest.approx(u)
    for length in (1, 2, 4, 7):
        assert mean_of_product(laws, RULES[rule], length, u, together) <= 1 + 1e-9


def test_first_values_tell_the_sort_of_an_arm() -> None:
    for values, sort, n in (
        ([], BETS, 0), ([0.3], BETS, 0), ([1.0], COINS, 0), ([0.0, 1.0, 1.0], COINS, 2), ([0.0, 1.0, 0.4], LUMPS, 2),
        ([0.3, 1.0, 0.0], BETS, 2),
    ):  # fmt: skip
        arm = arm_of(values)
        assert arm.family == sort
        assert arm.n == pytest.approx(n, abs=1e-8)
        if n:
            assert arm.p == pytest.approx(np.mean(values[1:]))
            assert (arm.inner, arm.share) == pytest.approx(atoms(np.array(values[1:])))


def test_weights_that_see_later_values_would_be_noticed() -> None:
    """A planted bug: all of the capital counts as bet on what has won by now. On average it gains."""

    def hindsight(told: tuple[list, list], u: float) -> float:
        if len(told[0]) < 2:
            return 0.0
        arm = arm_of(told[0])
        return float(max(*mixtures.parts(arm, u, 20.0, ABOVE), *mixtures.parts(arm, u, 20.0, BELOW)))

    assert mean_of_product(TWO[3], lambda first, second: 0, 7, 0.4, hindsight) > 1.1


def test_bets_that_see_the_value_would_be_noticed() -> None:
    """A planted bug: the larger bet for values above the level. On average it gains."""

    def peeking(told: tuple[list, list], u: float) -> float:
        return sum(math.log1p((0.8 if x > u else 0.1) * (x - u) / u) for x in told[0])

    assert mean_of_product(TWO[0], RULES["in turn"], 7, 0.5, peeking) > 1.5


@given(VALUES, st.floats(0.02, 0.98), st.floats(5, 200), st.sampled_from([ABOVE, BELOW, BOTH]), st.sampled_from([BETS, SQUARES]))
def test_evidence_is_convex_on_either_side_of_what_is_seen(
    values: np.ndarray, u: float, rho: float, side: int, sort: int
) -> None:
    """And at most 0 there: so the parameters that it leaves are an interval."""
    arm = seen(sort, len(values), float(values.mean()), *atoms(values))
    if not 1 <= values.sum() <= len(values) - 1:
        return
    at = arm.p + (1e-12 if u > arm.p else -1e-12)
    levels = np.linspace(at, u, 40)
    bet = np.array([mixtures.by_bets(arm, level, side) for level in levels])
    assert (np.diff(bet, 2) >= -1e-7 * (1 + np.abs(bet).max())).all()
    if side == BOTH:
        found = np.array([mixtures.evidence(arm, level, rho, BOTH) for level in levels])
        assert (np.diff(found, 2) >= -1e-7 * (1 + np.abs(found).max())).all()
        assert found[0] <= 1e-6


def test_the_least_evidence_by_bets_is_never_overstated() -> None:
    """Against all pairs of parameters, on a grid, for which the claim is false; also whether it is enough."""
    rng = np.random.default_rng(4)
    for trial in range(150):
        told = [rng.beta(a, b, int(rng.integers(3, 200))) for a, b in rng.uniform(0.3, 30, (2, 2))]
        if trial % 3 == 0:
            told[trial % 2] = (told[trial % 2] < rng.random()).astype(float)
        told.sort(key=lambda values: -float(values.mean()))
        n, p = (np.array([f(values) for values in told], dtype=float) for f in (len, np.mean))
        two = np.array([atoms(values) for values in told]).T.copy()
        zero = np.zeros(2)
        sorts = rng.choice([BETS, COINS, LUMPS, SQUARES], 2)
        arms = Arms(sorts, n, p, zero, zero + 1, zero, zero + 1, zero + 70.0, two, zero + 1)
        found = least_evidence(0, 1, 1.0, 1.0, arms)
        levels = np.unique(np.concatenate((np.linspace(0.001, 0.999, 120), np.linspace(p[1], p[0], 60))))
        parts = [
            np.array([mixtures.parts(seen(sorts[i], n[i], p[i], *two[:, i]), u, 70.0, side) for u in levels])
            for i, side in ((0, ABOVE), (1, BELOW))
        ]
        both = [(a, b) for a in range(len(levels)) for b in range(a, len(levels), 3)] + [(a, a) for a in range(len(levels))]
        of = [mixtures.sort_of(sort, math.inf) for sort in sorts]
        least = min(mixtures.together(of[0], *parts[0][a], of[1], *parts[1][b]) for a, b in both)
        if found > 0:
            assert found <= least + 1e-6
            for enough in (0.5 * found, 0.97 * found, 1.001 * found, 2 * found):
                assert (least_evidence(0, 1, 1.0, 1.0, arms, 0.0, enough) >= enough) == (found >= enough)


@given(VALUES, LEVELS)
def test_on_both_sides_a_part_of_the_capital_is_bet(values: np.ndarray, u: float) -> None:
    """Half of it; of squares less that their mean is above u, more that it is below."""
    for sort, above in ((BETS, 0.5), (SQUARES, bets.ABOVE_PART)):
        arm = seen(sort, len(values), float(values.mean()), *atoms(values))
        side, part = (ABOVE, above) if u < arm.p else (BELOW, 1 - above)
        assert mixtures.by_bets(arm, u, BOTH) == pytest.approx(mixtures.by_bets(arm, u, side) + math.log(part), abs=1e-12)


@given(VALUES, LEVELS)
def test_squares_are_bet_on_as_such(values: np.ndarray, u: float) -> None:
    arm = seen(SQUARES, len(values), float(values.mean()), *atoms(values))
    assert mixtures.by_bets(arm, u, ABOVE) == pytest.approx(log_capital(values, u, bets.SQUARES_ABOVE), abs=1e-12)
    mirrored = log_capital(1 - values, 1 - u, bets.SQUARES_BELOW)
    assert mixtures.by_bets(arm, u, BELOW) == pytest.approx(mirrored, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("sort", [BETS, COINS, LUMPS, SQUARES])
@pytest.mark.parametrize("other", [BETS, COINS, int(Family.UNIT), int(Family.NORMAL)])
def test_the_floor_of_an_arm_by_bets_is_one(sort: int, other: int) -> None:
    """Whatever is known of the other arm: together there is at least that and the floor."""
    rng = np.random.default_rng(6)
    for _ in range(200):
        values = rng.beta(*rng.uniform(0.3, 30, 2), int(rng.integers(5, 300)))
        if not 1 <= values.sum() <= len(values) - 1:
            continue
        n, p = np.full(2, float(len(values))), np.full(2, values.mean())
        two, zero = np.repeat([[x] for x in atoms(values)], 2, axis=1), np.zeros(2)
        arms = Arms(np.array([sort, other]), n, p, zero, zero + 1, zero, zero + 1, zero + 70.0, two, zero + 1)
        floor = floor_of(0, arms)
        for u, v in rng.uniform(0.001, 0.999, (20, 2)):
            known = mixtures.parts(seen(other, n[1], p[1], *two[:, 1]), v, 70.0, BELOW)
            mine = mixtures.parts(seen(sort, n[0], p[0], *two[:, 0]), u, 70.0, ABOVE)
            of = [mixtures.sort_of(one, math.inf) for one in (sort, other)]
            assert mixtures.together(of[0], *mine, of[1], *known) >= mixtures.alone(of[1], *known) + floor - 1e-9


@pytest.mark.parametrize(("low", "high"), [(-4e-12, 1.0), (-1.0, 4e-12)])
def test_rounding_near_a_bound_certifies_nothing(low: float, high: float) -> None:
    """Values that differ by less than u is known by: every one of many would multiply what rounding makes of it."""
    rng = np.random.default_rng(8)
    for _ in range(40):
        one = (-2e-12 if low > -1 else 2e-12) * (1 + 1e-3 * rng.random())
        other = one + float(rng.choice([5e-18, 1e-17, 1e-16]))
        arms = [sp.Arm("one", low, high), sp.Arm("other", -1.0, 0.0) if low > -1 else sp.Arm("other", 0.0, 1.0)]
        ex = sp.Explorer(sp.BestArm(arms), confidence="betting")
        ex.tell_many([("one", np.full(300_000, one)), ("other", np.full(300_000, other))])
        assert not ex.certified


# -- in use -----------------------------------------------------------------------------------------------------------------

CHAIN = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)]
USES = {
    "best-arm": (sp.BestArm(4), sp.Beta([0.6, 0.5, 0.45, 0.3], 20.0), {}),
    "top-k": (sp.TopK(6, 2), sp.Beta([0.7, 0.6, 0.5, 0.4, 0.3, 0.2], 10.0), {}),
    "coins": (sp.TopK(5, 2), sp.Bernoulli([0.8, 0.7, 0.45, 0.3, 0.2]), {}),
    "amounts": (
        sp.BestArm([sp.Arm(f"shop {i}", 0, 1000) for i in range(3)]),
        sp.Replay([[20, 30, 45, 90], [10, 12, 30, 50], [5, 8, 9, 30]]),
        {},
    ),
    "unlike": (
        sp.TopK([sp.Arm("wide", -5, 20), sp.Arm("coin", kind="bernoulli"), sp.Arm("c", 0, 2), sp.Arm("d")], 2),
        sp.Replay([[0.5, 0.6, 0.9, 1.0], [0, 1], [0.1, 0.3, 0.2], [0.4, 0.45]]),
        {},
    ),
    "groups": (sp.BestOfEach(6, [0, 0, 0, 1, 1, 1]), sp.Beta([0.6, 0.5, 0.4, 0.3, 0.45, 0.6], 15.0), {}),
    "tree": (sp.SpanningTree(CHAIN), sp.Beta([0.2, 0.5, 0.6, 0.3, 0.7], 12.0), {}),
    "variances": (sp.BestArm(3, parameter="variance"), sp.Beta([0.5, 0.3, 0.1], [1.0, 3.0, 20.0]), {}),
    "survey": (sp.SampleAllocation([40, 60, 30], 7), sp.Beta([0.4, 0.3, 0.5], [2.0, 6.0, 20.0]), {}),
    "near": (sp.TopK(5, 2), sp.Beta([0.7, 0.6, 0.55, 0.4, 0.3], 10.0), {"epsilon": 0.05}),
    "near-share": (sp.TopK(5, 2), sp.Beta([0.7, 0.6, 0.55, 0.4, 0.3], 10.0), {"epsilon": 0.1, "relative": True}),
    "near-survey": (sp.SampleAllocation([40, 60, 30], 9), sp.Beta([0.4, 0.3, 0.5], 6.0), {"epsilon": 0.1, "relative": True}),
    "spent": (sp.TopK(5, 2), sp.Beta([0.7, 0.6, 0.5, 0.4, 0.3], 10.0), {"budget": 400, "spend": True}),
    "coci": (sp.TopK(5, 2), sp.Beta([0.7, 0.6, 0.5, 0.4, 0.3], 20.0), {"policy": "coci"}),
    "unified": (sp.TopK(5, 2), sp.Beta([0.7, 0.6, 0.5, 0.4, 0.3], 20.0), {"policy": "unified"}),
    "many zeros": (sp.TopK(5, 2), sp.Replay([[0.0] * (2 + i) + [0.3, 0.45, 0.5] for i in range(5)]), {}),
    "path": (sp.Path([(0, 1), (1, 3), (0, 2), (2, 3)], 0, 3), sp.Beta([0.2, 0.3, 0.5, 0.6], 10.0), {"policy": "coci"}),
}


@pytest.mark.parametrize("batch", [1, 3, 20])
@pytest.mark.parametrize("name", USES)
def test_compiled_code_takes_the_same_samples(name: str, batch: int) -> None:
    problem, world, asked = USES[name]
    asked = {"budget": 3000, **asked}
    for run in range(2):
        pair = [sp.Explorer(problem, confidence="betting", **asked) for _ in range(2)]
        for explorer, compiled in zip(pair, (False, True), strict=True):
            drive(explorer, world, batch=batch, seed=3, run=run, compiled=compiled)
        plain, fast = pair
        assert (plain.record.counts == fast.record.counts).all()
        np.testing.assert_array_equal(plain.record.table, fast.record.table)
        assert str(plain.certificate()) == str(fast.certificate())
        assert plain.attained() == fast.attained()


def test_values_that_vary_little_need_few_samples() -> None:
    """And coins hardly more than by the beta mixture; the same runs."""
    means = [0.75, 0.6, 0.55, 0.5, 0.45]
    for world, share in ((sp.Beta(means, 50.0), 0.4), (sp.Bernoulli(means), 1.15)):
        samples = [
            sum(sp.explore(sp.BestArm(5), world, policy="joint", confidence=name, seed=seed).samples for seed in range(20))
            for name in ("betting", "beta")
        ]
        assert samples[0] <= share * samples[1]


def test_what_a_batch_of_values_says_does_not_depend_on_the_batch() -> None:
    values = np.random.default_rng(1).beta(2, 5, 101) * 7 - 2
    for parameter in ("mean", "variance"):
        problem = sp.BestArm([sp.Arm("a", -2, 5), sp.Arm("b", -2, 5)], parameter=parameter)
        records = [problem.record() for _ in range(3)]
        records[0].update(0, values)
        for value in values:
            records[1].update(0, np.array([value]))
        for part in np.array_split(values, 9):
            records[2].update(0, part)
        for record in records[1:]:
            np.testing.assert_array_equal(record.table, records[0].table)


def test_an_explorer_goes_on_from_a_file(tmp_path) -> None:
    problem, world, _ = USES["variances"]
    explorer = sp.Explorer(problem, confidence="betting", budget=300)
    drive(explorer, world, seed=1)
    explorer.save(tmp_path / "half.json")
    again = sp.Explorer.load(tmp_path / "half.json")
    np.testing.assert_array_equal(again.certificate().lower, explorer.certificate().lower)
    assert again.attained() == explorer.attained()


def test_other_values_of_the_same_mean_are_weighed_anew() -> None:
    """Intervals are kept while nothing changes; values that were told anew may have the same number and mean."""
    problem = sp.BestArm(2)
    confidence = make_confidence("betting", problem, 0.05)
    widths = []
    for values in ([0.0, 1.0] * 20, [0.5] * 40):
        record = problem.record()
        for arm in range(2):
            record.update(arm, np.array(values))
        lower, upper = confidence.box(record)
        widths.append(float(upper[0] - lower[0]))
    assert widths[1] < 0.5 * widths[0]


def test_the_joint_rule_weighs_other_values_of_the_same_mean_anew() -> None:
    problem = sp.BestArm(2)
    ex, found = sp.Explorer(problem, confidence="betting"), []
    for values in ([0.0, 1.0, 0.0, 1.0, 1.0] * 5, [0.6] * 25, [0.0, 1.0, 0.0, 1.0, 1.0] * 5):
        record = problem.record()
        record.update(0, np.array(values))
        record.update(1, 1.0 - np.array(values))
        ex.record.counts[:], ex.record.table[:] = record.counts, record.table
        ex.forget()
        found.append(ex.policy.certified(ex.view))
    assert found == [False, True, False]


def test_what_is_taken_back_leaves_no_trace() -> None:
    ex = sp.Explorer(sp.BestArm(2), confidence="betting")
    ex.tell_many([(0, [0.2, 0.9, 0.4]), (1, [0.1, 0.3])])
    before = ex.record.table.copy()
    undo = Undo(ex.record, ex.policy, [0], rows=False)
    ex.record.update(0, np.array([0.7, 0.6]))
    assert (ex.record.table != before).any()
    undo()
    np.testing.assert_array_equal(ex.record.table, before)


def test_classes_without_exchanges_weigh_all_arms_together() -> None:
    ways, world = sp.Path([(0, 1), (1, 3), (0, 2), (2, 3)], 0, 3), sp.Beta([0.2, 0.3, 0.3, 0.35], 200.0)
    for confidence in ("auto", "betting", "betting:tuned=500", sp.confidence.Betting()):
        assert sp.Explorer(ways, confidence=confidence).policy.name == "joint-linear"
        assert sp.Explorer(sp.TopK(3, 1), confidence=confidence).policy.name == "joint"
    coins = sp.explore(ways, world, policy="joint-linear", confidence="beta")
    assert sp.explore(ways, world, confidence="betting").samples < 0.5 * coins.samples


def test_a_file_without_the_sums_that_bets_need_is_refused(tmp_path) -> None:
    ex = sp.Explorer(sp.BestArm(2), confidence="betting")
    ex.tell_many([(0, [0.2, 0.9]), (1, [0.1, 0.3])])
    data = saving.as_dict(ex)
    data["table"] = [row[:8] for row in data["table"]]
    data = json.loads(json.dumps(data))
    (tmp_path / "old.json").write_text(json.dumps({**data, "checksum": saving.checksum(data)}))
    with pytest.raises(StudyError):
        sp.Explorer.load(tmp_path / "old.json")
    data["confidence"] = "beta:tuned=1000"
    (tmp_path / "old.json").write_text(json.dumps({**data, "checksum": saving.checksum(data)}))
    assert sp.Explorer.load(tmp_path / "old.json").counts.tolist() == [2, 2]


def test_bounds_matter_on_one_side() -> None:
    """Evidence that a mean is above a level knows no upper bound; evidence that it is below hangs on it."""
    values = np.random.default_rng(2).gamma(4.0, 5.0, 200)
    ends = []
    for high in (200.0, 20_000.0):
        problem = sp.BestArm([sp.Arm("a", 0, high), sp.Arm("b", 0, high)])
        record = problem.record()
        for arm in range(2):
            record.update(arm, values)
        lower, upper = make_confidence("betting", problem, 0.05).box(record)
        ends.append((float(lower[0]), float(upper[0])))
    assert ends[1][0] == pytest.approx(ends[0][0], rel=0.05)
    assert ends[1][1] > 5 * ends[0][1]


def test_arms_without_bounds_are_refused() -> None:
    arms = [sp.Arm("a", kind="subgaussian", scale=1.0), sp.Arm("b")]
    with pytest.raises(SettingError, match="'betting' is for bounded arms, and 'a' is sub-Gaussian: use 'auto' or 'normal'"):
        sp.Explorer(sp.BestArm(arms), confidence="betting")
