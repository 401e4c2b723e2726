"""What is judged next where every two candidates have a bet: pairs by what they lack, in evaluations times prices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import surepick as sp
from surepick.confidence.shared import Shared
from surepick.policies import items

SEEDS = st.integers(0, 2**32)


def table(seed: int, m: int, size: int, spacing: float = 0.12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    ability, difficulty = -spacing * np.arange(m), rng.normal(0.0, 1.2, size)
    return (rng.random((m, size)) < 1 / (1 + np.exp(-1.6 * (ability[:, None] - difficulty)))).astype(float)


def explored(scores: np.ndarray, prices: list[float] | None = None, **asked: object) -> sp.Explorer:
    names = [f"c{i}" for i in range(len(scores))]
    arms = names if prices is None else [sp.Arm(name, cost=price) for name, price in zip(names, prices, strict=True)]
    ex = sp.Explorer(sp.Ranking(arms), pool=sp.Pool(scores.shape[1], 1), **asked)
    while pairs := ex.ask(10):
        ex.tell_many([((i, q), scores[i, q]) for i, q in pairs])
    return ex


@given(SEEDS, st.integers(2, 4), st.sampled_from([0.0, 0.1]), st.sampled_from([1, 5, 10**6]))
@settings(max_examples=30)
def test_many_items_at_once_are_as_one_by_one_to_the_last_bit(seed: int, m: int, slack: float, at_once: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.choice([0.0, 0.1, 0.7, 1.0], (m, 40))
    many, single, counts = Shared(m, 40, 0.0, 1.0, slack), Shared(m, 40, 0.0, 1.0, slack), np.zeros(m, dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("surepick.confidence.shared.AT_ONCE", at_once)
        while (counts < 40).any():
            further = np.minimum(counts + rng.integers(0, 15, m), 40)
            many.advance(scores, further)
            while (counts < further).any():
                counts[rng.choice(np.flatnonzero(counts < further))] += 1
                single.advance(scores, counts)
    for part in ("sums", "squares", "logs", "most"):
        assert (getattr(many, part) == getattr(single, part)).all(), part


def bets_after(scores: np.ndarray, first: int) -> Shared:
    bets = Shared(len(scores), scores.shape[1], 0.0, 1.0)
    bets.advance(scores, np.full(len(scores), first))
    return bets


THREE = np.tile([[1.0, 1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0]], 40)  # means .8, .6, .2
H, LOW = np.array([0, 0, 1]), np.array([1, 2, 2])


def test_the_pair_that_lacks_least_comes_first() -> None:
    counts = np.full(3, 40)
    most = np.full(3, 200.0)
    chosen = items.cheapest(bets_after(THREE, 40), H, LOW, 15.0, np.ones(3), counts, most, 4)
    assert chosen == [0, 2, 0, 2]  # .6 apart; then 1 and 2, .4 apart


def test_prices_decide_which_pair_comes_first() -> None:
    counts, most = np.full(3, 40), np.full(3, 200.0)
    chosen = items.cheapest(bets_after(THREE, 40), H, LOW, 15.0, np.array([50.0, 1.0, 1.0]), counts, most, 4)
    assert chosen == [1, 2, 1, 2]


def test_what_is_on_its_way_is_not_paid_again() -> None:
    counts, most = np.array([40, 90, 40]), np.full(3, 200.0)
    chosen = items.cheapest(bets_after(THREE, 40), H, LOW, 15.0, np.array([1.0, 5.0, 1.0]), counts, most, 4)
    assert set(chosen) == {0, 2}
    chosen = items.cheapest(bets_after(THREE, 40), H[2:], LOW[2:], 15.0, np.ones(3), counts, most, 4)
    assert chosen == [2, 2, 2, 2]


def test_first_all_are_judged_on_the_first_items() -> None:
    assert items.cheapest(bets_after(THREE, 3), H, LOW, 15.0, np.array([9.0, 1.0, 1.0]), np.full(3, 3), np.full(3, 200.0), 4) == [
        0, 1, 2, 0,
    ]  # fmt: skip


@given(SEEDS, st.integers(1, 60))
@settings(max_examples=60)
def test_as_many_as_are_asked_for_and_nobody_beyond_what_he_may_have(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    m, size = 4, 60
    scores = rng.integers(0, 2, (m, size)).astype(float)
    counts = rng.integers(28, size + 1, m)
    bets = Shared(m, size, 0.0, 1.0)
    bets.advance(scores, counts)
    planned = np.minimum(counts + rng.integers(0, 4, m), size)
    most = np.where(rng.random(m) < 0.3, 0.0, float(size))
    h, low = np.nonzero(np.triu(rng.random((m, m)) < 0.6, 1))
    chosen = items.cheapest(bets, h, low, 8.0, rng.choice([1.0, 7.0], m), planned, most, n)
    have = planned + np.bincount(chosen, minlength=m)
    assert (have <= np.maximum(planned, most)).all()
    assert len(chosen) == min(n, int(np.maximum(most - planned, 0.0).sum()))


@pytest.mark.parametrize("prices", [None, [1.0, 12.0] * 4])
def test_more_of_the_order_is_certain_at_half_of_the_budget(prices: list[float] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against judging all on the same items."""
    cost = np.ones(8) if prices is None else np.array(prices)
    asked = {"cost_budget": 0.5 * 1000 * cost.sum()} if prices else {"budget": 4000}

    def known() -> float:
        certificates = [explored(table(seed, 8, 1000, 0.3), prices, **asked).certificate() for seed in (1, 2)]
        return float(np.mean([(worst - best).mean() for best, worst in (c.ranks for c in certificates)]))

    here = known()
    monkeypatch.setattr(items, "FEWEST", 10**9)
    assert here < 0.8 * known()


@pytest.mark.parametrize("prices", [None, [1.0, 10.0, 1.0, 10.0]])
def test_wrong_claims_stay_below_delta_where_pairs_are_settled_one_by_one(prices: list[float] | None) -> None:
    runs, wrong, early = 100, 0, 0
    for seed in range(runs):
        scores = table(10**6 + seed, 4, 80, 0.02)
        ex = explored(scores, prices, delta=0.1)
        means, above = scores.mean(axis=1), ex.certificate().above
        wrong += bool((above & (np.subtract.outer(means, means) < -1e-9)).any())
        early += bool((ex.counts != ex.counts[0]).any())
    assert wrong <= binom.isf(1e-6, runs, 0.1)
    assert early > runs / 4  # some were judged further than others, so that there was something to count


def test_planted_bug_capital_that_starts_anew_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest capital that any pair had since some later item: pairs are judged on until they seem to be apart."""
    monkeypatch.setattr("surepick.confidence.shared.log_mean", lambda logs: logs.max(axis=0) - logs.min(axis=0))
    wrong = 0
    for seed in range(60):
        scores = table(10**6 + seed, 4, 80, 0.02)
        means, above = scores.mean(axis=1), explored(scores, delta=0.1).certificate().above
        wrong += bool((above & (np.subtract.outer(means, means) < -1e-9)).any())
    assert wrong > binom.isf(1e-6, 60, 0.1)


def test_one_that_is_closed_keeps_nobody_busy() -> None:
    scores = table(3, 5, 200, 0.05)
    ex = sp.Explorer(sp.Ranking(5), pool=sp.Pool(200, 1))
    while ex.counts.max() < 60 and (pairs := ex.ask(5)):
        ex.tell_many([((i, q), scores[i, q]) for i, q in pairs])
    ex.end(0)
    at_end = ex.counts[0]
    while pairs := ex.ask(5):
        ex.tell_many([((i, q), scores[i, q]) for i, q in pairs])
    assert ex.counts[0] == at_end
    certificate = ex.certificate()
    assert certificate.above[1:, 1:].all() or not (~(certificate.above | certificate.above.T))[1:, 1:].any()


def test_a_race_by_exchanges_heeds_prices() -> None:
    """A tree: cheap edges are settled first, and the decision is the same."""
    edges = [(u, v) for u in range(4) for v in range(u)]
    scores = table(5, 6, 400, 0.25)
    problem = sp.SpanningTree(edges, arms=[sp.Arm(f"{u}{v}", cost=c) for (u, v), c in zip(edges, [1.0, 20.0] * 3, strict=True)])
    found, counts = [], []
    for made in (problem, sp.SpanningTree(edges, arms=[f"{u}{v}" for u, v in edges])):
        ex = sp.Explorer(made, pool=sp.Pool(400, 2))
        uneven = False
        while pairs := ex.ask(4):
            ex.tell_many([((i, q), scores[i, q]) for i, q in pairs])
            told = ex.counts[ex.undecided]
            uneven |= len(told) > 1 and bool(told.max() > told.min() + 4)
        found.append(ex.decision.tolist())
        counts.append(uneven)
    assert found[0] == found[1] == problem.solve(scores.mean(axis=1)).tolist()
    assert counts == [True, False]
