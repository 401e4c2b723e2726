"""Intervals of the differences of candidates on shared items: coverage, sharpness, and what they are of."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import surepick as sp
from surepick.confidence import paired_intervals as module
from surepick.confidence.paired_intervals import STEPS, log_capitals, paired_intervals, stakes
from surepick.confidence.shared import LAST, growth, log_mean
from surepick.errors import SettingError, UnknownArmError

ORDERS = np.array(list(permutations(range(6))))
NEAR = 1e-12  # what arithmetic may err
FINE = 2.0 ** (1 - STEPS)  # to which halving finds an end, in units of the range


def responses(rng: np.random.Generator, models: int, items: int, spacing: float) -> np.ndarray:
    """Who answers what: abilities that fall by ``spacing``, items of all difficulties."""
    ability, difficulty = 1.0 - spacing * np.arange(models), rng.normal(0.0, 1.2, items)
    return (rng.random((models, items)) < 1 / (1 + np.exp(-1.6 * (ability[:, None] - difficulty)))).astype(float)


def intervals(scores: np.ndarray, counts: np.ndarray, pairs: np.ndarray, level: float) -> tuple[np.ndarray, ...]:
    """Of scores from 0 to 1."""
    sums = np.array([row[:n].sum() for row, n in zip(scores, counts, strict=True)])
    return paired_intervals(scores, counts, sums, *pairs.T, 1.0, level)


def level(m: int, delta: float) -> float:
    return math.log(m * (m - 1) / delta)


# -- exactly, over all orders ---------------------------------------------------------------------------------------------


def share_missed(table: np.ndarray, delta: float, *, evenly: bool) -> float:
    """Of all 720 orders of six items the share in which an interval of any two candidates is ever wrong, however many scores of
    either are known; ``evenly``: of both as many."""
    means, missed = table.mean(axis=1), np.zeros(len(ORDERS), dtype=np.bool_)
    pairs = np.arange(2 * len(ORDERS)).reshape(2, -1).T
    for h, low in combinations(range(len(table)), 2):
        scores = np.concatenate((table[h][ORDERS], table[low][ORDERS]))
        for known in product(range(7), range(7)):
            if not evenly or known[0] == known[1]:
                _, lower, upper = intervals(scores, np.repeat(known, len(ORDERS)), pairs, level(len(table), delta))
                missed |= (lower > means[h] - means[low] + NEAR) | (upper < means[h] - means[low] - NEAR)
    return float(missed.mean())


def test_over_all_orders_a_miss_is_as_rare_as_promised() -> None:
    rng = np.random.default_rng(0)
    tables = [rng.choice([0.0, 0.5, 1.0], (m, 6), p=[0.4, 0.2, 0.4]) for m in (2, 3)]
    tables += [np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1.0]]), np.array([[1, 1, 1, 1, 0, 0], [0] * 6], dtype=float)]
    for delta in (0.9, 0.5):
        found = [share_missed(table, delta, evenly=True) for table in tables]
        assert max(found) <= delta + NEAR
        assert max(found) > delta / 10  # so that more would show
    assert 0.05 < share_missed(tables[2], 0.5, evenly=False) <= 0.5 + NEAR


# -- planted bugs ---------------------------------------------------------------------------------------------------------

Capitals = Callable[[np.ndarray, np.ndarray, int, np.ndarray], np.ndarray]


def capitals(bug: str = "") -> Capitals:
    """``log_capitals`` with a mistake: the mean of the items to come rises with what is gone; it stays as it is, as if items were
    drawn with replacement; only items that turn out well are bet on."""

    def found(differences: np.ndarray, depth: np.ndarray, size: int, u: np.ndarray) -> np.ndarray:
        t = np.arange(differences.shape[1])
        left, past = (size - t).astype(float), np.cumsum(differences, axis=1) - differences
        mu = (size * u[:, None] + (past if bug == "sign" else -past)) / left
        mu = np.broadcast_to(u[:, None], past.shape) if bug == "replaced" else mu
        gain = np.where(t < depth[:, None], differences - mu, 0.0)
        gain = np.maximum(gain, 0.0) if bug == "peeking" else gain
        made, share = np.zeros_like(mu), stakes(size)
        for one in share:
            made += np.cumprod(1 + np.minimum(one * size / left, LAST / np.maximum(1 + mu, 1e-300)) * gain, axis=1)
        return np.log(np.maximum(made.max(axis=1) / len(share), 1.0))

    return found


def test_a_wrong_sign_is_caught_over_all_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.array([[1, 1, 1, 1, 0, 0], [0] * 6], dtype=float)
    for bug, caught in (("", False), ("sign", True)):
        monkeypatch.setattr(module, "log_capitals", capitals(bug))
        assert (share_missed(table, 0.5, evenly=True) > 0.5) == caught


def test_with_replacement_would_only_be_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws with replacement vary more, so that bug is no danger; it shows in intervals that do not close as items run out."""
    scores, widths = responses(np.random.default_rng(1), 2, 200, 0.3), []
    for bug in ("", "replaced"):
        monkeypatch.setattr(module, "log_capitals", capitals(bug))
        _, lower, upper = intervals(scores, np.array([150, 150]), np.array([[0, 1]]), level(2, 0.05))
        widths.append(float((upper - lower)[0]))
    assert widths[1] > 1.2 * widths[0]


# -- at all times ---------------------------------------------------------------------------------------------------------


def runs_missed(runs: int, size: int, asked: float) -> int:
    """Of so many tables of five near ties those in which any interval between two candidates is wrong at any time."""
    m, rng = 5, np.random.default_rng(0)
    scores = np.concatenate([responses(rng, m, size, 0.03) for _ in range(runs)])
    pairs = np.concatenate([m * run + np.array(list(combinations(range(m), 2))) for run in range(runs)])
    theta, counts = scores.mean(axis=1), np.zeros(m * runs, dtype=np.int64)
    true, missed = theta[pairs[:, 0]] - theta[pairs[:, 1]], np.zeros(len(pairs), dtype=np.bool_)
    while (counts < size).any():
        counts = np.minimum(counts + rng.integers(0, 4, m * runs), size)  # some are judged farther than others
        _, lower, upper = intervals(scores, counts, pairs, asked)
        missed |= (lower > true + NEAR) | (upper < true - NEAR)
    return int(missed.reshape(runs, -1).any(axis=1).sum())


def test_all_intervals_hold_at_all_times_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STEPS", 12)  # quicker: ends that are farther out by a two-thousandth
    runs, delta = 120, 0.3
    most = int(binom.isf(1e-6, runs, delta))
    assert runs_missed(runs, 30, level(5, delta)) <= most
    assert runs_missed(runs, 30, math.log(1 / delta)) > most  # a bug: every pair at delta
    monkeypatch.setattr(module, "log_capitals", capitals("peeking"))
    assert runs_missed(runs, 30, level(5, delta)) > most


# -- the test is turned round ----------------------------------------------------------------------------------------------

DIFFERENCES = st.lists(st.sampled_from([-1.0, -0.5, -0.1, 0.0, 0.3, 1.0]), min_size=1, max_size=12)


@given(DIFFERENCES, st.integers(1, 20))
def test_what_is_rejected_is_all_up_to_some_point(values: list[float], more: int) -> None:
    """Caps of the bets hang on u, and the capital falls in u all the same; halving finds what a fine grid finds."""
    differences, size = np.array([values]), len(values) + more
    least, most = (differences.sum() - more) / size, (differences.sum() + more) / size
    grid = np.linspace(least, most, 2001)[1:]
    found = log_capitals(np.repeat(differences, len(grid), axis=0), np.full(len(grid), len(values)), size, grid)
    assert (np.diff(found) <= 1e-9).all()
    for asked in (0.3, 1.0, 3.0):
        end = float(module._lower_ends(differences, np.array([len(values)]), size, asked, np.array([least]), np.array([most]))[0])
        rejected = grid[found >= asked]
        at = float(rejected[-1]) if len(rejected) else least
        assert at - FINE <= end <= at + (most - least) / 2000 + FINE


@given(DIFFERENCES, st.integers(0, 20))
def test_it_is_the_test_of_every_two(values: list[float], more: int) -> None:
    """Its capital, item by item, and the largest so far."""
    size, total = len(values) + more, sum(values)
    for u in np.linspace((total - more) / size, (total + more) / size, 7)[1:] if more else ():
        logs, past, most = np.zeros(len(stakes(size))), 0.0, 0.0
        for t, difference in enumerate(values):
            logs += growth(stakes(size), difference, past, size - t, size, slack=-u)
            past, most = past + difference, max(most, float(log_mean(logs)))
        found = log_capitals(np.array([values]), np.array([len(values)]), size, np.array([u]))
        assert found[0] == pytest.approx(most, abs=1e-9)


def test_ends_that_contradict_each_other_are_dropped() -> None:
    scores = np.array([[1, 0, 1, 1, 0], [0, 0, 1, 0, 1.0]])
    _, lower, upper = intervals(scores, np.array([3, 4]), np.array([[0, 1]]), -1.0)  # at which all is rejected
    assert (lower[0], upper[0]) == pytest.approx(((2 - 1 - 1) / 5, (2 + 2 - 1) / 5))


def test_the_smallest_delta_rejects_nothing_that_may_be() -> None:
    scores = np.concatenate((np.ones((1, 4000)), np.zeros((1, 4000))))
    _, lower, upper = intervals(scores, np.array([3000, 3000]), np.array([[0, 1]]), level(2000, 1e-300))
    assert (lower[0], upper[0]) == (0.5, 1.0)  # what is certain, and no more: the capital overflows long before


# -- of an explorer -------------------------------------------------------------------------------------------------------


def judged(
    table: np.ndarray, counts: list[int], problem: sp.Problem | None = None, seed: int = 0, **settings: float
) -> sp.Explorer:
    ex = sp.Explorer(problem or sp.BestArm(len(table)), pool=sp.Pool(table.shape[1], seed), **settings)
    ex.tell_many([((i, int(j)), table[i, j]) for i, n in enumerate(counts) for j in ex.pool.order[:n]])
    return ex


def test_a_row_a_candidate_and_whom_it_is_compared_with() -> None:
    table = responses(np.random.default_rng(3), 4, 100, 0.8)
    ex = judged(table, [80, 80, 60, 0], sp.BestArm(["ant", "bee", "cat", "dog"]))
    found, order = ex.standings(), ex.pool.order
    assert found.reference == ["ant"] * 4
    assert found.references == ["ant"]
    assert found.items.tolist() == [80, 80, 60, 0]
    assert found.difference[2] == pytest.approx((table[2] - table[0])[order[:60]].mean())
    assert np.isnan(found.difference[3])
    frame = found.to_frame()
    assert frame.columns.tolist() == ["candidate", "reference", "difference", "lower", "upper", "items"]
    assert frame["candidate"].tolist() == ["ant", "bee", "cat", "dog"]
    assert (found.lower[0], found.difference[0], found.upper[0]) == (0, 0, 0)
    assert repr(found) == "<Standings of 4 candidates, compared with ant>"
    other = ex.standings(to="cat")
    assert other.reference == ["cat"] * 4
    assert other.lower[0] == pytest.approx(-found.upper[2], abs=4 * FINE)
    assert other.upper[0] == pytest.approx(-found.lower[2], abs=4 * FINE)
    assert ex.standings(to=2).to_frame().equals(other.to_frame())


def test_asking_changes_nothing() -> None:
    table = responses(np.random.default_rng(3), 3, 60, 0.5)
    ex = judged(table, [30, 30, 20])
    before = ex.certificate().to_dict()
    assert ex.standings().to_frame().equals(ex.standings().to_frame())
    assert ex.certificate().to_dict() == before


def test_points_when_all_is_known() -> None:
    table = np.random.default_rng(0).random((3, 50))
    found = judged(table, [50, 50, 50]).standings()
    best = int(table.mean(axis=1).argmax())
    assert found.lower.tolist() == found.upper.tolist() == found.difference.tolist()
    assert found.difference == pytest.approx(table.mean(axis=1) - table[best].mean())


def test_what_is_known_of_one_alone_counts() -> None:
    """The leader is known, the other one on ten items: no more of it can be lost or won than on the rest."""
    table = responses(np.random.default_rng(5), 2, 40, 2.0)
    ex = judged(table, [40, 10])
    found, sums = ex.standings(), table[1, ex.pool.order[:10]].sum()
    assert found.lower[1] >= sums / 40 - table[0].mean() - NEAR
    assert found.upper[1] <= (sums + 30) / 40 - table[0].mean() + NEAR


def test_ties_have_0_between_their_ends() -> None:
    table = responses(np.random.default_rng(1), 3, 60, 0.1)
    table[1] = table[0]
    for n in (0, 1, 30, 59):
        found = judged(table, [n] * 3).standings(to=0)
        assert found.lower[1] == pytest.approx(-found.upper[1], abs=4 * FINE)
        assert found.lower[1] < 0 < found.upper[1]
        assert n == 0 or found.difference[1] == 0
    assert judged(table, [60] * 3).standings(to=0).upper[1] == 0


def test_intervals_narrow_and_find_the_difference() -> None:
    table = responses(np.random.default_rng(2), 2, 3000, 0.5)
    ends = [judged(table, [n, n]).standings() for n in (100, 300, 1000, 2900)]
    widths = [float(found.upper[1] - found.lower[1]) for found in ends]
    assert widths == sorted(widths, reverse=True)
    assert ends[-1].upper[1] < 0
    # the paired spread of 0.6, the factor of a finite population, the union over two and what mixing costs
    assert widths[2] < 2 * 4.0 * 0.6 * math.sqrt(2 / 3 / 1000)


@pytest.mark.parametrize("sense", ["max", "min"])
def test_small_scores_and_other_bounds(sense: str) -> None:
    """The same in other units; and where small scores are looked for, with the signs that these have."""
    table, counts = responses(np.random.default_rng(4), 4, 80, 0.4), [60, 60, 40, 20]
    plain = judged(table, counts).standings()
    turned, sign = (table, 1.0) if sense == "max" else (1 - table, -1.0)
    arms = [sp.Arm(f"a{i}", low=-5, high=15) for i in range(4)]
    found = judged(20 * turned - 5, counts, sp.TopK(arms, 1, sense=sense)).standings()
    assert found.reference == ["a0"] * 4
    assert sign * found.difference == pytest.approx(20 * plain.difference)
    ends = (found.lower, found.upper) if sense == "max" else (-found.upper, -found.lower)
    for end, same in zip(ends, (plain.lower, plain.upper), strict=True):
        assert end == pytest.approx(20 * same, abs=80 * FINE)


def test_every_group_has_one_that_is_compared_with() -> None:
    table = responses(np.random.default_rng(6), 6, 200, 0.4)
    ex = judged(table, [200, 200, 150, 150, 150, 10], sp.BestOfEach(["a", "b", "c", "d", "e", "f"], ["x", "y"] * 3))
    assert ex.standings().reference == ["a", "b"] * 3


def test_where_several_are_chosen_the_last_one_is_compared_with() -> None:
    """Of those who were judged on most: who is chosen early is compared with it, and so is who is left out."""
    table = responses(np.random.default_rng(6), 6, 200, 0.4)
    for counts, reference in (
        ([100, 200, 200, 150, 150, 10], 1),
        ([200, 200, 200, 200, 150, 10], 1),
        ([200, 150, 90, 90, 10, 10], 0),
    ):
        ex = judged(table, counts, sp.TopK(6, 2))
        assert ex.decision[:2].tolist() == [1, 1]
        found = ex.standings()
        assert found.references == [ex.problem.names[reference]]
        assert found.items.tolist() == np.minimum(counts, counts[reference]).tolist()
    assert judged(table, [200] * 6, sp.TopK(6, 2, sense="min")).standings().references == ["arm 4"]


def test_they_hold_at_the_delta_of_the_explorer() -> None:
    table = responses(np.random.default_rng(7), 2, 400, 0.3)
    wide, narrow = (judged(table, [200, 200], delta=delta).standings() for delta in (0.001, 0.2))
    assert wide.delta == 0.001
    assert wide.lower[1] < narrow.lower[1] < narrow.upper[1] < wide.upper[1]
    few, many = judged(table, [200, 200]), judged(np.tile(table, (8, 1)), [200] * 16)
    assert many.standings(to=0).lower[1] < few.standings(to=0).lower[1]  # for there are more that hold together


def test_where_there_are_none_a_sentence_says_why() -> None:
    with pytest.raises(SettingError, match="make the explorer with pool="):
        sp.Explorer(sp.BestArm(2)).standings()
    uneven = sp.Matching([(0, 0), (0, 1)], perfect=False)
    uneven.arms = (sp.Arm("a"), sp.Arm("b", high=2))
    with pytest.raises(SettingError, match="same bounds"):
        sp.Explorer(uneven, pool=sp.Pool(5)).standings()
    with pytest.raises(UnknownArmError, match="no arm called 'ape'"):
        sp.Explorer(sp.BestArm(["ant", "bee"]), pool=sp.Pool(5)).standings("ape")


def test_nothing_known_yet() -> None:
    found = sp.Explorer(sp.BestArm([sp.Arm("a", high=4), sp.Arm("b", high=4)]), pool=sp.Pool(5)).standings()
    assert (found.lower[1], found.upper[1]) == (-4, 4)
    assert np.isnan(found.difference[1])
    assert sp.Explorer(sp.BestArm(1), pool=sp.Pool(5)).standings().items.tolist() == [0]
