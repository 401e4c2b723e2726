"""The interval of a population mean that holds at every moment: fair, right over simulated surveys, and how wide."""

from __future__ import annotations

import functools
import itertools
import math
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from surepick.survey import anytime, estimate
from surepick.survey.anytime import Stratum, always, evidence, least, own_stakes, shared_stakes

POPULATIONS = {
    "coins": [1.0, 0, 0, 1, 0, 0],
    "values": [0.05, 0.2, 0.9, 0.1, 0.0, 0.3],
    "ends": [1.0, 1, 1, 1, 1, 0],
}


def evidences(values, planned, shared, missing=0):
    """K at the true mean after every draw, over all orders of a population, of which so many are forgotten."""
    N, binary, u = len(values), set(values) <= {0.0, 1.0}, np.array([np.mean(values)])
    found = np.zeros(N)
    for order in itertools.permutations(values):
        for n in range(1, N + 1 - missing):
            stratum = Stratum(N - missing, np.array(order[:n]), planned, binary)
            kinds = shared_stakes([stratum], np.ones(1)) if shared else [[own_stakes(stratum, 3)]]
            found[n - 1] += np.mean([math.exp(evidence(stratum, stratum.x, u, kind[0])[0][0]) for kind in kinds])
    return found / math.factorial(N)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", sorted(POPULATIONS))
def test_bets_are_fair_over_all_orders(name, shared):
    for planned in (None, 4.0) if not shared else (4.0,):
        assert (evidences(POPULATIONS[name], planned, shared) <= 1 + 1e-9).all()


def test_planted_bug_a_bet_that_knows_its_value_is_not_fair(monkeypatch):
    monkeypatch.setattr(anytime, "_shared", lambda stratum, tilt: np.minimum(tilt * stratum.x, 0.95))
    assert evidences(POPULATIONS["values"], 4.0, True)[-2] > 1.2


def test_planted_bug_fewer_people_than_there_are_is_not_fair():
    assert evidences(POPULATIONS["ends"], 4.0, False, missing=1)[4] > 1.5


@pytest.mark.parametrize("binary", [True, False])
def test_the_least_evidence_is_that_of_all_splits(binary):
    rng = np.random.default_rng(6)
    strata = [
        Stratum(50.0, (rng.random(20) < 0.3).astype(float) if binary else rng.beta(2, 5, 20), 25.0, binary),
        Stratum(80.0, (rng.random(30) < 0.6).astype(float) if binary else rng.beta(5, 5, 30), 20.0, binary),
    ]
    weights, shares = np.array([50, 80]) / 130, [own_stakes(s, 2) for s in strata]
    means, values = least(strata, weights, shares)
    for mu in np.linspace(0.3, 0.5, 7):
        first = np.linspace(0.0, 1.0, 4001)[1:-1]
        second = (mu - weights[0] * first) / weights[1]
        able = np.ones(len(first), dtype=bool)
        for s, u in zip(strata, (first, second), strict=True):
            able &= (u >= s.x.sum() / s.N + 1e-6) & (u <= (s.x.sum() + s.N - len(s.x)) / s.N - 1e-6)
        parts = zip(strata, (first, second), shares, strict=True)
        brute = sum(evidence(s, s.x, u[able], share)[0] for s, u, share in parts).min()
        bound = np.interp(mu, means[::-1], values[::-1])
        assert brute - 0.02 - 0.01 * abs(brute) <= bound <= brute + 1e-6


# -- over whole surveys -----------------------------------------------------------------------------------------------------

SIZES, DELTA, RUNS = (90, 60), 0.2, 70


def surveys(values, binary, interval):
    """How many surveys, watched to the end, have a moment at which the interval is false. Who is asked next hangs on what was
    answered: the stratum that seems to vary more."""
    false = 0
    N = np.array(SIZES, dtype=float)
    weights = N / N.sum()
    for run in range(RUNS):
        rng = np.random.default_rng(run)
        people = [rng.permutation(x) for x in values]
        truth = float(weights @ [x.mean() for x in people])
        n = np.array([4, 4])
        while (n < N).any():
            strata = [Stratum(float(size), x[:k], 30.0, binary) for size, x, k in zip(SIZES, people, n.tolist(), strict=True)]
            low, high = interval(strata, weights)
            if not low - 1e-9 <= truth <= high + 1e-9:
                false += 1
                break
            gain = weights * [s.x.std() + 0.1 for s in strata] / n * (n < N)
            n = np.minimum(n + np.where(gain == gain.max(), 20, 6), SIZES)
    return false


WORLDS = {
    "coins": ([(np.arange(size) < share * size).astype(float) for size, share in zip(SIZES, (0.1, 0.4), strict=True)], True),
    "values": ([np.linspace(0, 1, size) ** power for size, power in zip(SIZES, (6, 2), strict=True)], False),
}


def classical(strata, weights):
    mean = sum(w * s.x.mean() for w, s in zip(weights, strata, strict=True))
    parts = [w**2 * s.x.var(ddof=1) / len(s.x) * (1 - len(s.x) / s.N) for w, s in zip(weights, strata, strict=True)]
    half = 1.2816 * math.sqrt(sum(parts))
    return mean - half, mean + half


@pytest.mark.parametrize("name", sorted(WORLDS))
def test_it_holds_at_every_moment(name):
    values, binary = WORLDS[name]
    allowed = binom.isf(1e-6, RUNS, DELTA)
    assert surveys(values, binary, lambda strata, weights: always(strata, weights, DELTA)) <= allowed


def test_the_classical_interval_does_not():
    values, binary = WORLDS["coins"]
    assert surveys(values, binary, classical) > binom.isf(1e-6, RUNS, DELTA)


def test_planted_bug_a_level_that_is_too_low():
    values, binary = WORLDS["coins"]

    def bold(strata, weights):
        low, mirrored = (anytime.lowest(side, weights, 0.1) for side in (strata, [replace(s, x=1 - s.x) for s in strata]))
        return low, 1 - mirrored

    assert surveys(values, binary, bold) > binom.isf(1e-6, RUNS, DELTA)


# -- width ------------------------------------------------------------------------------------------------------------------


def ratio(strata, planned, expected, seed):
    """Its width over the classical one's, at the planned size: 1,000 interviews by Neyman's shares."""
    rng = np.random.default_rng(seed)
    W, p = rng.dirichlet(np.full(strata, 5.0)), rng.uniform(0.05, 0.6, strata)
    N = (W * 100_000).round()
    W = N / N.sum()
    s = np.sqrt(p * (1 - p))
    n = np.maximum((1000 * W * s / (W * s).sum()).round().astype(int), 2)
    people = [(np.arange(int(size)) < share * size).astype(float) for size, share in zip(N, p, strict=True)]
    seen = [rng.choice(x, k, replace=False) for x, k in zip(people, n, strict=True)]
    given = [
        Stratum(float(size), x, float(k) if planned else None, True, float(d) if expected else None)
        for size, x, k, d in zip(N, seen, n, s, strict=True)
    ]
    low, high = always(given, W, 0.05)
    parts = [w**2 * x.var(ddof=1) / k * (1 - k / size) for w, x, k, size in zip(W, seen, n, N, strict=True)]
    return (high - low) / 2 / (1.96 * math.sqrt(sum(parts)))


def test_width_at_the_planned_size():
    """5 strata: 1.65 times the classical width if S was expected, 1.73 if n was planned, 2.1 if neither; of 20: 1.68."""
    assert np.mean([ratio(5, True, True, seed) for seed in range(8)]) < 1.7
    assert np.mean([ratio(5, True, False, seed) for seed in range(8)]) < 1.8
    assert np.mean([ratio(5, False, False, seed) for seed in range(8)]) < 2.3
    assert np.mean([ratio(20, True, True, seed) for seed in range(3)]) < 1.75


def test_numbers_that_look_like_yes_and_no_need_bounds():
    frame = {"stratum": ["a"], "N": [1000], "n": [50]}
    kids = {"stratum": ["a"] * 50, "kids": [0, 1] * 25}
    found = estimate(frame, kids)
    assert found.find("kids").always_lower is None
    assert any("bounds={'kids': (0, 1)}, or --bounds kids=0:1" in note for note in found.notes)
    for values in (["yes", "no"] * 25, [True, False] * 25, np.arange(50) % 2 == 0):
        assert estimate(frame, {**kids, "kids": values}).find("kids").always_lower > 0
    assert estimate(frame, {**kids, "kids": [True, 0] * 25}).find("kids").always_lower is None


def test_tilts_or_bets_do_not_hang_on_the_values(monkeypatch):
    """Stakes are fixed before the first answer: those for bounds of 0 and 1 are the same before and after a fraction comes."""
    seen = []
    module = sys.modules["surepick.survey.rows"]
    monkeypatch.setattr(module, "always", lambda strata, *rest: seen.append(strata[0].binary) or (0.0, 1.0))
    frame, answers = {"stratum": ["a"], "N": [1000]}, {"stratum": ["a"] * 6}
    for values in ([0, 1, 0, 1, 1, 0], [0, 1, 0, 1, 1, 0.5], ["yes", "no"] * 3):
        estimate(frame, {**answers, "y": values}, bounds=(0, 1))
    assert seen == [False, False, True]


def test_a_plan_makes_it_narrower_and_bounds_are_kept():
    rng = np.random.default_rng(2)
    frame = {"stratum": ["a", "b"], "N": [4000, 6000], "n": [100, 200]}
    answers = {"stratum": ["a"] * 100 + ["b"] * 200, "y": rng.random(300) * 40}
    by_plan = estimate(frame, answers, bounds=(0, 40)).find("y")
    without = estimate({key: frame[key] for key in ("stratum", "N")}, answers, bounds=(0, 40)).find("y")
    assert by_plan.always_upper - by_plan.always_lower < without.always_upper - without.always_lower
    assert 0 <= by_plan.always_lower < by_plan.lower < by_plan.upper < by_plan.always_upper <= 40
    assert estimate(frame, answers).find("y").always_lower is None
    waves = {**answers, "wave": [2] * 50 + [1] * 250}
    assert estimate(frame, waves, ["y"], bounds=(0, 40)).find("y").always_lower != by_plan.always_lower  # the order counts


# -- against an adversary who knows everything ---------------------------------------------------------------------------------


def worst_chance(populations, planned, binary, expected, delta):
    """The largest chance that the interval ever misses, for whoever decides after each answer, knowing all values, which stratum
    is asked next and when to stop: over all orders, exactly."""
    N = np.array([len(one) for one in populations], dtype=float)
    W = N / N.sum()
    truth = sum(map(sum, populations)) / N.sum()

    @functools.cache
    def chance(seen):
        strata = [
            Stratum(float(len(one)), np.array(x, dtype=float), plan, binary, guess)
            for one, x, plan, guess in zip(populations, seen, planned, expected, strict=True)
        ]
        low, high = always(strata, W, delta)
        if not low - 1e-9 <= truth <= high + 1e-9:
            return 1.0
        most = 0.0
        for h, (one, x) in enumerate(zip(populations, seen, strict=True)):
            left = Counter(one) - Counter(x)
            if left:
                after = (many * chance((*seen[:h], (*x, value), *seen[h + 1 :])) for value, many in left.items())
                most = max(most, sum(after) / left.total())
        return most

    return chance(tuple(() for _ in populations))


ADVERSE = [  # populations, planned, whether 0/1 by nature, expected deviations
    (((1, 1, 0, 0, 1, 1, 0, 1, 0),), [2.0], True, [None]),
    (((1,), (1, 0, 0, 0, 0, 1)), [1.0, 2.0], True, [0.1, 0.1]),
    (((1, 1, 1, 0, 1), (1,)), [3.0, 1.0], True, [0.01, 0.01]),
    (((1, 0, 1),), [1.0], False, [None]),
    (((0, 0, 1), (1,), (0, 1)), [None] * 3, True, [None] * 3),
    (((0.02, 0.9, 0.1), (0.5, 1)), [3.0, 1.0], False, [0.01, 0.5]),
]


@pytest.mark.parametrize("case", ADVERSE)
def test_no_choice_of_strata_and_no_stop_makes_it_miss_more_often(case):
    for delta in (0.05, 0.2, 0.5, 0.8):
        assert worst_chance(*case, delta) <= delta + 1e-9


def test_planted_bug_the_adversary_finds_a_level_that_is_too_low():
    assert worst_chance(*ADVERSE[1], 0.5) > 0.2
    assert worst_chance(*ADVERSE[3], 0.8) > 0.5
