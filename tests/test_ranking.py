"""Rankings: what is certain of an order, on a pool of items and by intervals; errors, planted bugs, files and sentences."""

from __future__ import annotations

import math
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import surepick as sp
from surepick import order
from surepick.certificate import Certificate
from surepick.errors import SettingError
from surepick.policies import Sorting
from surepick.policies.sorting import _Seen
from surepick.pool import Board

MATRICES = st.integers(1, 6).flatmap(
    lambda m: st.lists(st.booleans(), min_size=m * m, max_size=m * m).map(lambda x: np.array(x).reshape(m, m))
)


# -- orders ---------------------------------------------------------------------------------------------------------------------


@given(MATRICES)
def test_cuts_are_those_of_all_sets(certain: np.ndarray) -> None:
    """Of relations that go one way, as differences do: every set that is certainly above all others is before a cut."""
    certain = certain & ~certain.T
    m = len(certain)
    expected = np.zeros((m, m), dtype=bool)
    for size in range(1, m):
        for chosen in combinations(range(m), size):
            others = [i for i in range(m) if i not in chosen]
            if certain[np.ix_(chosen, others)].all():
                expected[np.ix_(chosen, others)] = True
    assert (order.cuts(certain) == expected).all()


@given(MATRICES)
def test_what_follows_and_the_ranks_that_are_left(certain: np.ndarray) -> None:
    """Against all orders that agree with what is certain."""
    certain = np.triu(certain, 1)  # some order agrees
    above = order.closure(certain)
    m = len(certain)
    agree = [ranks for ranks in permutations(range(1, m + 1)) if all(ranks[i] < ranks[j] for i, j in np.argwhere(certain))]
    table = np.array(agree)
    for i, j in permutations(range(m), 2):
        assert above[i, j] == (table[:, i] < table[:, j]).all()
    decision = order.consistent(above, np.zeros(m))
    assert tuple(decision) in agree
    best, worst = order.ranks(above)
    assert (best == table.min(axis=0)).all()
    assert (worst == table.max(axis=0)).all()
    groups = order.groups(above, decision)
    assert sorted(i for group in groups for i in group) == list(range(m))
    ends = set(np.cumsum([len(group) for group in groups]).tolist())
    for size in range(1, m):
        first = np.flatnonzero(decision <= size)
        assert (size in ends) == all(set(np.flatnonzero(np.array(ranks) <= size)) == set(first) for ranks in agree)


@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=5), st.lists(st.integers(0, 2), min_size=5, max_size=5), st.integers(0, 3)
)
def test_what_intervals_say(low: list[int], wide: list[int], epsilon: int) -> None:
    lower = np.array(low, dtype=float)
    upper = lower + np.array(wide[: len(low)])
    found = order.of_box(lower, upper, float(epsilon))
    for i, j in permutations(range(len(low)), 2):
        assert found.above[i, j] == (lower[i] >= upper[j])
        assert found.close[i, j] == (0 < epsilon and max(upper[i] - lower[j], upper[j] - lower[i]) <= epsilon)


# -- on a pool ------------------------------------------------------------------------------------------------------------------


def steps(ordered: np.ndarray, delta: float, epsilon: float = 0.0, paid: float = 1.0) -> order.Order:
    """All that is ever claimed, all candidates being judged on one item after another; ``paid`` is a planted bug: so many times
    delta."""
    m, size = ordered.shape
    problem = sp.Ranking(m).pooled(sp.Pool(size))
    policy, board = Sorting().bound(problem), problem.record()
    assert isinstance(board, Board)
    seen = _Seen(policy, board, delta, epsilon)
    above, close = np.zeros((m, m), dtype=bool), np.zeros((m, m), dtype=bool)
    for t in range(size):
        for i in range(m):
            board.update(i, ordered[i, t : t + 1])
        seen.advance(board)
        now = seen.certain(math.log(paid)) if paid != 1.0 else seen.order
        above |= now.above
        close |= now.close
    return order.Order(above, close)


def wrong(claimed: order.Order, table: np.ndarray, epsilon: float = 0.0) -> bool:
    means = table.mean(axis=1)
    apart = np.subtract.outer(means, means)
    return bool((claimed.above & (apart < -1e-12)).any() or (claimed.close & (np.abs(apart) > epsilon + 1e-12)).any())


@pytest.mark.parametrize(("scores", "epsilon"), [([0.0, 1.0], 0.0), ([0.0, 0.5, 1.0], 0.0), ([0.0, 0.5, 1.0], 0.2)])
def test_claims_are_seldom_wrong_over_all_orders(scores: list[float], epsilon: float) -> None:
    """Counted exactly: of all orders of five items at most a part delta leads to any wrong claim, ever."""
    rng = np.random.default_rng(1)
    made = 0
    for _ in range(3):
        table = rng.choice(scores, (3, 5))
        claims = [(steps(table[:, list(o)], 0.9, epsilon), table) for o in permutations(range(5))]
        assert np.mean([wrong(claim, table, epsilon) for claim, table in claims]) <= 0.9
        made += sum(bool((claim.above & ~np.eye(3, dtype=bool)).any()) for claim, _ in claims)
    assert made > 0


def near_ties(seed: int, m: int, size: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    hard = rng.random(size)
    return (rng.random((m, size)) < 0.3 + 0.4 * hard + 0.01 * rng.random((m, 1))).astype(float)


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_wrong_claims_stay_below_delta(epsilon: float) -> None:
    """Any claim at any moment, on near ties; the same bets without paying for their number go wrong far too often."""
    runs, delta, bugs = 120, 0.2, 0
    errors = 0
    for seed in range(runs):
        table = near_ties(seed, 7, 40)
        errors += wrong(steps(table, delta, epsilon), table, epsilon)
        bugs += seed < 40 and wrong(steps(table, delta, epsilon, paid=3 * 21), table, epsilon)
    assert errors <= binom.isf(1e-6, runs, delta)
    assert bugs > binom.isf(1e-6, 40, delta)


def explored(table: np.ndarray, **asked: object) -> tuple[sp.Explorer, Certificate]:
    batch = asked.pop("batch", 1)
    problem = sp.Ranking([f"m{i}" for i in range(len(table))], sense=asked.pop("sense", "max"))  # type: ignore[arg-type]
    ex = sp.Explorer(problem, pool=sp.Pool(table.shape[1], 3), **asked)  # type: ignore[arg-type]
    return ex, sp.explore(ex, sp.Scores(table), batch=batch).certificate  # type: ignore[arg-type]


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("batch", [1, 7])
def test_a_ranking_is_found_with_fewer_scores(sense: str, batch: int) -> None:
    rng = np.random.default_rng(5)
    table = (rng.random((5, 400)) < np.array([0.9, 0.7, 0.5, 0.3, 0.1])[:, None]).astype(float)
    ex, found = explored(table, sense=sense, batch=batch)
    assert ex.policy.name == "sorting"
    assert found.certified
    assert found.samples < 0.5 * table.size
    assert found.decision.tolist() == ([1, 2, 3, 4, 5] if sense == "max" else [5, 4, 3, 2, 1])
    assert found.groups == [[name] for name in sorted(found.names, reverse=sense == "min")]
    assert 0 < found.attained <= 0.05
    assert "this ranking is right" in str(found)
    assert ex.ask(3) == []


def test_groups_on_the_way_and_what_blocks() -> None:
    rng = np.random.default_rng(7)
    table = (rng.random((5, 500)) < np.array([0.8, 0.78, 0.5, 0.2, 0.19])[:, None]).astype(float)
    _, found = explored(table, budget=1000)
    assert not found.certified
    assert [set(group) for group in found.groups] == [{"m0", "m1"}, {"m2"}, {"m3", "m4"}]
    best, worst = found.ranks
    assert best.tolist() == [1, 1, 3, 4, 4]
    assert worst.tolist() == [2, 2, 3, 5, 5]
    assert found.counts[2] < found.counts[0]  # its rank is certain, so nobody is judged in vain
    assert found.blocking in ("the order of m0, m1", "the order of m1, m0", "the order of m3, m4", "the order of m4, m3")
    assert str(found) == (
        "Not certified after 1,000 samples: the rank of 4 arms is open. So far, with probability at least 0.95 on these 500 "
        "items there are 3 groups, each above the next, and the first is one of 2."
    )
    written = found.to_dict()
    assert written["best_rank"] == [1, 1, 3, 4, 4]
    assert len(written["groups"]) == 3


def test_within_epsilon_of_each_other() -> None:
    rng = np.random.default_rng(7)
    same = rng.random(600)
    chance = np.array([[0.7], [0.7], [0.3]])
    table = (same < chance).astype(float)
    table[1, :3] = 1 - table[1, :3]  # nearly the same as the first
    ex, found = explored(table, epsilon=0.05)
    _, exact = explored(table)
    assert found.certified
    assert found.samples < exact.samples
    assert found.undecided.tolist() == [True, True, False]
    assert found.close[0, 1]
    assert found.to_dict()["within_epsilon"] == [["m0", "m1"]]
    assert "any two are in the right order, or within 0.05 of each other" in str(found)
    assert ex.attained() <= 0.05
    assert found.gap == 0.05
    frame = found.to_frame()
    assert frame["arm"].tolist()[2] == "m2"
    assert frame["best_rank"].tolist() == [1, 1, 3]
    assert frame["group"].tolist() == [1, 1, 2]


def test_what_is_certified_is_attained_also_where_less_certainty_would_claim_another_order() -> None:
    """By its estimate the second one comes first, within epsilon; bets at even odds say that it is the other way round."""
    pool = sp.Pool(90, 1)
    first, second = pool.order[:90], pool.order[:60]
    table = np.zeros((2, 90))
    table[0, first[:50]] = table[1, second[10:50]] = 1.0
    ex = sp.Explorer(sp.Ranking(2), 1e-6, pool=pool, epsilon=0.5)
    pairs = [(i, item) for i, items in enumerate((first.tolist(), second.tolist())) for item in items]
    ex.tell_many([(pair, table[pair]) for pair in pairs])
    certificate = ex.certificate()
    assert certificate.certified
    assert certificate.decision.tolist() == [2, 1]
    assert certificate.undecided.all()
    assert ex.attained() <= 1e-6


def test_ties_end_and_share_a_group() -> None:
    table = np.array([[0.1, 0.2, 0.3, 0.4], [0.3, 0.4, 0.1, 0.2], [0.0, 0.0, 0.1, 0.0]])
    _, found = explored(table)
    assert found.certified
    assert found.groups == [["m0", "m1"], ["m2"]]
    assert [ends.tolist() for ends in found.ranks] == [[1, 1, 3], [2, 2, 3]]


def test_saved_in_the_middle(tmp_path: Path) -> None:
    """Also when some are no longer judged: what was known of them is known again."""
    rng = np.random.default_rng(8)
    table = (rng.random((6, 300)) < np.array([0.95, 0.6, 0.58, 0.56, 0.3, 0.05])[:, None]).astype(float)
    ex, before = explored(table, budget=1000)
    assert len(set(before.counts.tolist())) > 1
    ex.save(tmp_path / "ranking.json")
    again = sp.Explorer.load(tmp_path / "ranking.json")
    assert again.certificate().to_dict() == before.to_dict()
    assert (again.certificate().above == before.above).all()
    again.budget = ex.budget = 1400
    assert again.ask(20) == ex.ask(20)
    certified = sp.Explorer(sp.Ranking(2), pool=sp.Pool(4))
    sp.explore(certified, sp.Scores([[1, 1, 1, 0], [0, 0, 0, 0]]))
    certified.save(tmp_path / "done.json")
    assert sp.Explorer.load(tmp_path / "done.json").certificate().to_dict() == certified.certificate().to_dict()


def test_a_candidate_that_ends_blocks_nobody_else() -> None:
    rng = np.random.default_rng(9)
    table = (rng.random((4, 200)) < np.array([0.7, 0.68, 0.4, 0.38])[:, None]).astype(float)
    scores = sp.Scores(table)
    ex = sp.Explorer(sp.Ranking(4), pool=scores.pool(0))
    ordered = scores.ordered(ex.pool).table
    ex.tell_many([((i, item), ordered[i, ex.pool.places[item]]) for i, item in ex.ask(8)])
    ex.end(0)
    while asked := ex.ask(3):
        assert all(i != 0 for i, _ in asked)
        ex.tell_many([((i, item), ordered[i, ex.pool.places[item]]) for i, item in asked])
    above = ex.certificate().above
    assert (above | above.T)[np.ix_([1, 2, 3], [1, 2, 3])].all()
    assert "arm 0 can be sampled no more" in str(ex.certificate())


def ordered(scores: sp.Scores, ex: sp.Explorer) -> np.ndarray:
    assert ex.pool is not None
    return np.asarray(scores.ordered(ex.pool).table)


def test_scores_that_come_after_a_pause_count() -> None:
    """Also if all others were judged on every item in the meantime."""
    scores = sp.Scores([[0, 1, 1], [1, 0, 0]])
    ex = sp.Explorer(sp.Ranking(2), pool=scores.pool(1))
    table = ordered(scores, ex)

    def tell(i: int, *places: int) -> None:
        for place in places:
            ex.tell((i, int(ex.pool.order[place])), table[i, place])

    tell(0, 0)
    tell(1, 0)
    ex.pause(0)
    tell(1, 1, 2)
    assert not ex.certified
    ex.resume(0)
    tell(0, 1, 2)
    assert ex.decision.tolist() == [1, 2]


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=40)
def test_what_is_known_hangs_on_the_scores_alone(seed: int, tree: bool) -> None:
    """Told one by one in any order that is taken, with pauses, or all at once: the same."""
    rng = np.random.default_rng(seed)
    m, size = (3, int(rng.integers(1, 12))) if tree else (int(rng.integers(1, 5)), int(rng.integers(1, 12)))
    problem = sp.SpanningTree([(0, 1), (1, 2), (0, 2)]) if tree else sp.Ranking(m)
    table = rng.integers(0, 3, (m, size)) / 2
    pool = sp.Pool(size, 5)
    live, counts = sp.Explorer(problem, 0.5, pool=pool), np.zeros(m, dtype=int)
    for _ in range(int(rng.integers(1, m * size + 1))):
        i = int(rng.choice(np.flatnonzero(counts < size)))
        live.tell((i, int(pool.order[counts[i]])), table[i, pool.order[counts[i]]])
        counts[i] += 1
        if rng.random() < 0.3:
            (live.pause if rng.random() < 0.5 else live.resume)(int(rng.integers(m)))
        if live.certified:
            break
        live.ask(2)
    at_once = sp.Explorer(problem, 0.5, pool=pool)
    pairs = [(i, int(item)) for i in range(m) for item in pool.order[: counts[i]]]
    at_once.tell_many([(pair, table[pair]) for pair in pairs])
    assert at_once.certified == live.certified
    if live.started:
        first, second = live.certificate(), at_once.certificate()
        assert first.decision.tolist() == second.decision.tolist()
        assert first.undecided.tolist() == second.undecided.tolist()
        if not tree:
            assert first.groups == second.groups


def test_when_all_is_known_no_bet_is_believed() -> None:
    """Bets that were won wrongly, as happens with probability delta, say nothing against what is known."""
    for seed in range(60):
        table = near_ties(seed, 3, 20)
        ex = sp.Explorer(sp.Ranking(3), 0.9, pool=sp.Pool(20, seed), spend=True, budget=60)
        found = sp.explore(ex, sp.Scores(table)).certificate
        apart = np.subtract.outer(table.mean(axis=1), table.mean(axis=1))
        assert (found.above == (apart >= -1e-12)).all()


def test_budgets_are_spent_and_tiny_deltas_work() -> None:
    table = (np.random.default_rng(0).random((3, 50)) < np.array([[0.6], [0.5], [0.4]])).astype(float)
    _, found = explored(table, epsilon=0.5, spend=True, budget=148)
    assert found.certified
    assert found.samples == 148
    dear = sp.TopK([sp.Arm("a", cost=50), sp.Arm("b", cost=2)], 1)
    ex = sp.Explorer(dear, pool=sp.Pool(50), spend=True, cost_budget=508)
    sp.explore(ex, sp.Scores(table[:2]))
    assert ex.done
    assert ex.cost == 508
    assert explored(np.array([[1.0] * 300, [0.0] * 300]), delta=1e-12)[1].certified


# -- by intervals ---------------------------------------------------------------------------------------------------------------


def test_without_a_pool() -> None:
    found = sp.explore(sp.Ranking(3), sp.Bernoulli([0.9, 0.5, 0.1]), seed=1).certificate
    assert found.certified
    assert found.groups == [["arm 0"], ["arm 1"], ["arm 2"]]
    near = sp.explore(sp.Ranking(3), sp.Bernoulli([0.9, 0.5, 0.49]), epsilon=0.1, seed=1).certificate
    assert near.certified
    assert near.groups == [["arm 0"], ["arm 1", "arm 2"]]
    assert "pairs in wrong order are 0.1 apart in all, at most" in str(near)
    share = sp.explore(sp.Ranking(3), sp.Bernoulli([0.9, 0.5, 0.49]), epsilon=0.1, relative=True, seed=1)
    assert "pairs in wrong order are 10 % of the best reward apart in all, at most" in str(share)


def test_the_reward_is_how_far_pairs_are_in_order() -> None:
    problem, theta = sp.Ranking(4), [0.9, 0.4, 0.6, 0.1]
    right = problem.solve(theta)
    for ranks in permutations(range(1, 5)):
        short = problem.reward(theta, right) - problem.reward(theta, ranks)
        pairs = [(i, j) for i, j in permutations(range(4), 2) if ranks[i] < ranks[j] and theta[i] < theta[j]]
        assert short == pytest.approx(sum(theta[j] - theta[i] for i, j in pairs))


def test_refusals() -> None:
    with pytest.raises(SettingError, match="epsilon is in units of the scores"):
        sp.Explorer(sp.Ranking(3), pool=sp.Pool(4), epsilon=0.1, relative=True)
    with pytest.raises(SettingError, match="needs a ranking"):
        sp.Explorer(sp.TopK(3, 1), pool=sp.Pool(4), policy="sorting")
    with pytest.raises(SettingError, match="needs a pool"):
        sp.Explorer(sp.Ranking(3), policy="sorting")
    unlike = sp.Ranking([sp.Arm("a"), sp.Arm("b", high=2.0)])
    assert sp.Explorer(unlike, pool=sp.Pool(4)).policy.name == "coci"
    assert not sp.Ranking(3).contains([1, 1, 3])
    assert math.isinf(sp.Explorer(sp.Ranking(3), pool=sp.Pool(4)).certificate().gap)


def test_tables_and_groups_with_long_names_fit(cli, tmp_path: Path) -> None:
    names = [f"organisation__a-model-with-a-long-name-{i}" for i in range(5)]
    rows = [f"{name},q{j},{int((j * 7 + i) % 10 < (9 if i < 3 else 1))}" for i, name in enumerate(names) for j in range(60)]
    (tmp_path / "scores.csv").write_text("\n".join(["model,item,score", *rows]) + "\n")
    (tmp_path / "study.toml").write_text(
        f'budget = 250\narms = {names}\n[problem]\nkind = "ranking"\n[pool]\nitems = "scores.csv"\n'
        '[simulate]\nkind = "scores"\nfile = "scores.csv"\n'
    )
    _, out, _ = cli("run", tmp_path / "study.toml")
    table, _, rest = out.partition("Certain groups")
    assert rest
    assert max(len(line.rstrip()) for line in table.splitlines() if line.startswith(" ")) < 80
    groups = rest.partition("Most in the way")[0].partition(":\n")[2]
    assert max(map(len, groups.splitlines())) < 80
    assert sorted(word.rstrip(",") for word in groups.split() if word.startswith("organisation")) == names
