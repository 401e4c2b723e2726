"""Candidates that share a pool of items: paired evidence without replacement, pairs of candidate and item, errors and samples."""

from __future__ import annotations

import copy
import math
import pickle
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import surepick as sp
from surepick.confidence.sets import Sets
from surepick.confidence.shared import Shared, begun, growth, learnt, log_mean, stakes
from surepick.errors import ObservationError, ProblemError, SamplerError, SettingError, StudyError
from surepick.policies import Race
from surepick.pool import Board, Pool

MODELS = ["ant", "bee", "cat"]


def responses(rng: np.random.Generator, models: int, items: int, spacing: float = 0.12) -> np.ndarray:
    """Who answers what: abilities that fall by ``spacing``, items of all difficulties."""
    ability, difficulty = 1.0 - spacing * np.arange(models), rng.normal(0.0, 1.2, items)
    sharpness = np.exp(rng.normal(math.log(1.6), 0.3, items))
    return (rng.random((models, items)) < 1 / (1 + np.exp(-sharpness * (ability[:, None] - difficulty)))).astype(float)


# -- evidence ---------------------------------------------------------------------------------------------------------------


def all_orders(table: np.ndarray) -> list[np.ndarray]:
    return [table[:, list(order)] for order in permutations(range(table.shape[1]))]


def pair_capital(ordered: np.ndarray, stop: int, slack: float = 0.0) -> float:
    """Mean capital of all bets that the first has the larger mean, after so many items."""
    size, logs, past, squares = ordered.shape[1], begun(()), 0.0, 0.0
    for t in range(stop):
        difference = ordered[0, t] - ordered[1, t]
        logs += growth(learnt(past + slack * t, squares, t, size), difference, past, size - t, size, slack)
        past += difference
        squares += difference**2
    return float(np.exp(log_mean(logs)))


TABLES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=12, max_size=12).map(lambda x: np.array(x).reshape(2, 6))


@given(TABLES, st.integers(1, 6), st.sampled_from([0.0, 0.1]))
def test_over_all_orders_the_capital_is_at_most_one(table: np.ndarray, stop: int, slack: float) -> None:
    """Exactly, whatever the scores are: of the better one, nothing can be won by betting on the other."""
    worse = table[np.argsort(table.mean(axis=1), kind="stable")]
    worse[0] = np.minimum(worse[0], 1.0)
    if slack > 0:  # the first is worse by at least the slack, at the boundary if possible
        worse[0] = np.maximum(worse[0] - slack, 0.0)
        if worse[0].mean() > worse[1].mean() - slack:
            return
    mean = np.mean([pair_capital(ordered, stop, slack) for ordered in all_orders(worse)])
    assert mean <= 1 + 1e-9


def peak(ordered: np.ndarray, k: int, best: tuple[int, ...]) -> float:
    """The largest capital against a choice, where others are dropped only as they are impossible."""
    m, size = ordered.shape
    sets = Sets(m, k, size, 0.0, 1.0, math.inf)
    sets.advance(ordered, np.arange(m), np.full(m, size))
    found = [float(np.exp(most)) for row, most in zip(sets.left, sets.most, strict=True) if tuple(np.flatnonzero(row)) == best]
    return found[0] if found else math.inf


@pytest.mark.parametrize("k", [1, 2])
def test_the_best_choice_is_seldom_excluded_over_all_orders(k: int) -> None:
    """Ville's inequality, counted: of all orders of six items at most a part alpha has 1 / alpha against the best."""
    rng = np.random.default_rng(k)
    for _ in range(4):
        table = rng.choice([0.0, 0.5, 1.0], (3, 6), p=[0.4, 0.2, 0.4])
        best = tuple(sorted(np.argsort(-table.mean(axis=1), kind="stable")[:k].tolist()))
        peaks = np.array([peak(ordered, k, best) for ordered in all_orders(table)])
        for alpha in (0.5, 0.2, 0.1, 0.05):
            assert (peaks >= 1 / alpha * (1 + 1e-9)).mean() <= alpha + 1e-12


SENT: list[bool] = []  # whether anybody was, run by run


def capitals(ordered: np.ndarray, k: int, best: tuple[int, ...], prices: np.ndarray, peeking: bool = False) -> list[float]:
    """The capital against a choice after every item, where candidates are sent ahead as soon as one item is known; peeking is a
    planted bug: their scores on later items serve as if they were earlier ones."""
    m, size = ordered.shape
    sets = Sets(m, k, size, 0.0, 1.0, math.inf, prices)
    found, row = [1.0], 0
    for t in range(size):
        counts = np.where(sets.ahead.sent, size, t + 1)
        if peeking and sets.ahead.sent.any():
            sets.sums[sets.ahead.sent] = ordered[sets.ahead.sent, : t + 1].sum(axis=1)
        sets.advance(ordered, np.arange(m), counts)
        sets.advance(ordered, np.arange(m), np.where(sets.ahead.sent, size, counts))
        rows = [i for i, chosen in enumerate(sets.left) if tuple(np.flatnonzero(chosen)) == best]
        if not rows:
            return [*found, *[math.inf] * (size - t)]
        row = rows[0]
        found.append(float(np.exp(log_mean(sets.logs[:, [row]])[0])))
    SENT.append(bool(sets.ahead.sent.any()))
    return found


TIED = {
    "coins": np.array([[1, 1, 0, 1, 0, 0], [0, 1, 1, 1, 0, 0], [1, 0, 0, 1, 1, 0.0]]),
    "grades": np.array([[0.9, 0.1, 0.4, 0.7, 0.2, 0.6], [0.2, 0.6, 0.9, 0.1, 0.4, 0.7], [0.7, 0.2, 0.6, 0.9, 0.1, 0.4]]),
}


@pytest.mark.parametrize("name", TIED)
def test_sent_ahead_the_capital_is_at_most_one_over_all_orders(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly: where all tie, whoever is known, nothing is won on average, after any number of items."""
    monkeypatch.setattr("surepick.confidence.ahead.FEWEST", 1)
    prices = np.array([1.0, 8.0, 20.0])
    SENT.clear()
    runs = [capitals(ordered, 1, (2,), prices) for ordered in all_orders(TIED[name])]
    means = np.mean(runs, axis=0)
    assert (means <= 1 + 1e-9).all()
    assert np.mean(SENT) > 0.5
    peeked = [capitals(ordered, 1, (2,), prices, peeking=True) for ordered in all_orders(TIED[name])]
    assert np.mean(peeked, axis=0).max() > 1.01


def test_planted_bugs_are_caught() -> None:
    """Bets that see the score of the other candidate on the same item; draws taken to be with replacement; an order that depends
    on the scores."""
    table = np.array([[1, 0, 0, 1, 0, 0], [0, 1, 1, 0, 1, 0.0]])  # the first is worse
    share = stakes(6)

    def capital(ordered: np.ndarray, *, peeking: bool = False, replaced: bool = False) -> float:
        logs, past = np.zeros(len(share)), 0.0
        for t in range(6):
            difference = ordered[0, t] - ordered[1, t]
            if replaced:
                logs += np.log1p(share * difference)
            elif not peeking or difference >= 0:
                logs += growth(share, difference, past, 6 - t, 6)
            past += difference
        return float(np.exp(log_mean(logs)))

    orders = all_orders(table)
    assert np.mean([capital(ordered) for ordered in orders]) <= 1 + 1e-9
    assert np.mean([capital(ordered, peeking=True) for ordered in orders]) > 1.1
    lucky = table[:, np.argsort(-(table[0] - table[1]), kind="stable")]
    assert max(pair_capital(lucky, stop) for stop in range(7)) > 1.5
    even = np.array([[1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1.0]])
    replaced = np.mean([capital(ordered, replaced=True) for ordered in all_orders(even)])
    assert replaced < np.mean([capital(ordered) for ordered in all_orders(even)])  # too little is made of what is gone


@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(3, 12), st.sampled_from([0.0, 0.1]))
def test_pairs_do_not_hang_on_who_was_judged_first(seed: int, m: int, size: int, slack: float) -> None:
    rng = np.random.default_rng(seed)
    table, counts = rng.random((m, size)), rng.integers(0, size + 1, m)
    at_once, one_by_one = Shared(m, size, 0.0, 1.0, slack), Shared(m, size, 0.0, 1.0, slack)
    at_once.advance(table, counts)
    have = np.zeros(m, dtype=np.int64)
    while (have < counts).any():
        have[rng.choice(np.flatnonzero(have < counts))] += 1
        one_by_one.advance(table, have)
    np.testing.assert_allclose(at_once.logs, one_by_one.logs, atol=1e-9)
    for h, low in product(range(m), range(m)):
        if h != low:
            n = min(counts[h], counts[low])
            capital = math.exp(log_mean(at_once.logs[:, [h], [low]])[0])
            assert capital == pytest.approx(pair_capital(table[[h, low]], n, slack), rel=1e-6)


def test_what_is_sure_is_sure() -> None:
    """Also where scores are missing: the rest could be anything."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        table, counts = rng.integers(0, 2, (2, 5)).astype(float), rng.integers(0, 6, 2)
        shared = Shared(2, 5, 0.0, 1.0)
        shared.advance(table, counts)
        least = table[0, : counts[0]].sum()
        most = table[1, : counts[1]].sum() + 5 - counts[1]
        assert bool(shared.sure(0, 1)) == (least >= most)


# -- pairs of candidate and item --------------------------------------------------------------------------------------------


def test_asking_and_telling() -> None:
    pool = sp.Pool([f"q{i}" for i in range(6)], seed=3)
    ex = sp.Explorer(sp.TopK(MODELS, k=2), pool=pool)
    asked = ex.ask(7)
    first = [int(item) for item in pool.order[:3]]
    assert asked == [(c, item) for item in first for c in range(3)][:7]
    assert ex.ask(7) == asked
    assert ex.ask(2, pending=asked[:3]) == asked[3:5]
    ex.tell(asked[0], 1)
    ex.tell(("bee", pool.names[asked[1][1]]), 0.0)
    assert ex.counts.tolist() == [1, 1, 0]
    ex.tell(asked[0], 1)  # again is fine
    with pytest.raises(ObservationError, match="was told again as 0"):
        ex.tell(asked[0], 0)
    ex.tell(asked[5], 1)  # a later one came in first
    assert ex.samples == 3
    assert ex.counts.tolist() == [1, 1, 1]
    assert asked[5] not in ex.ask(9)
    ex.tell(asked[2], 1)
    assert ex.record.counts.tolist() == [1, 1, 2]
    assert len(set(ex.ask(100))) == len(ex.ask(100)) == 18 - 4
    assert ex.plan(5) == {"ant": 2, "bee": 2, "cat": 1}


def test_one_order_for_all_that_the_seed_fixes() -> None:
    assert sp.Pool(50, seed=1).order.tolist() == sp.Pool([f"{i}" for i in range(50)], seed=1).order.tolist()
    assert sp.Pool(50, seed=1).order.tolist() != sp.Pool(50, seed=2).order.tolist()
    ex = sp.Explorer(sp.BestArm(2), pool=sp.Pool(9, seed=4))
    assert ex.certificate().to_dict()["seed"] == 4
    assert "seed 4" in ex.certificate().conditions[0]


def test_scores_at_hand_follow_the_order() -> None:
    pool = sp.Pool(8, seed=0)
    ex = sp.Explorer(sp.BestArm(2), pool=pool)
    ex.tell_many([((0, int(item)), 1) for item in pool.order[:5]][::-1])
    assert ex.record.counts.tolist() == [5, 0]
    with pytest.raises(ObservationError, match=r"is out of order: of this candidate item .* comes first"):
        ex.tell((1, int(pool.order[3])), 1)
    assert ex.samples == 5


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ((("ant", 9), 1), "There is no item 9"),
        ((("ant", "x"), 1), "no names, only numbers"),
        ((("bug", 0), 1), "no arm called 'bug'"),
        (("ant", 1), r"pair \(candidate, item\)"),
        ((("ant", 0), 2), "outside"),
        ((("ant", 0), float("nan")), "not a finite number"),
        ((("ant", 0), [1, 0]), "one score on item"),
    ],
)
def test_bad_scores_are_refused(told: tuple[object, object], words: str) -> None:
    ex = sp.Explorer(sp.BestArm(MODELS), pool=sp.Pool(5))
    with pytest.raises(ObservationError, match=words) as error:
        ex.tell(*told)
    assert "Nothing was recorded" in str(error.value)
    good = ex.ask(1)[0]
    with pytest.raises(ObservationError):
        ex.tell_many([(good, 1), told])
    assert ex.samples == 0
    with pytest.raises(ObservationError, match="told with its item"):
        ex.tell_row({"ant": 1})


def test_bad_pools_are_refused() -> None:
    with pytest.raises(ProblemError, match="Two items are called 'a'"):
        sp.Pool(["a", "b", "a"])
    with pytest.raises(ProblemError, match="no items"):
        sp.Pool([])
    with pytest.raises(ProblemError, match="cannot be called 3"):
        sp.Pool(["a", 3])
    with pytest.raises(ProblemError, match="not 'abc'"):
        sp.Pool("abc")
    with pytest.raises(ProblemError, match="must be a Pool"):
        sp.Explorer(sp.BestArm(2), pool=5)  # type: ignore[arg-type]
    with pytest.raises(ProblemError, match="is for means"):
        sp.Explorer(sp.SampleAllocation([5, 5], 4), pool=sp.Pool(5))
    with pytest.raises(ProblemError, match="lie within bounds"):
        sp.Explorer(sp.BestArm([sp.Arm("a", kind="normal"), sp.Arm("b", kind="normal")]), pool=sp.Pool(5))
    with pytest.raises(SettingError, match="on a pool use 'auto'"):
        sp.Explorer(sp.BestArm(2), pool=sp.Pool(5), policy="joint")
    with pytest.raises(SettingError, match="needs a pool"):
        sp.Explorer(sp.BestArm(2), policy="race")
    with pytest.raises(SettingError, match="same bounds"):
        sp.Explorer(sp.BestArm([sp.Arm("a"), sp.Arm("b", high=2)]), pool=sp.Pool(5), policy="race")
    with pytest.raises(ProblemError, match="a missing score is never guessed"):
        sp.Scores([[1, float("nan")], [0, 1]])


def test_frames() -> None:
    import pandas as pd

    pool = sp.Pool(4)
    ex = sp.Explorer(sp.BestArm(MODELS), pool=pool)
    ex.tell_frame(pd.DataFrame({"arm": MODELS, "item": [int(pool.order[0])] * 3, "value": [1, 0, 1]}))
    assert ex.counts.tolist() == [1, 1, 1]
    with pytest.raises(ObservationError, match="column 'item'"):
        ex.tell_frame(pd.DataFrame({"arm": MODELS, "value": [1, 0, 1]}))


def test_copies_and_pickles_go_their_own_way() -> None:
    world = sp.Scores(responses(np.random.default_rng(0), 4, 60))
    ex = sp.Explorer(sp.BestArm(4), pool=world.pool(0), budget=60)
    sp.explore(ex, world)
    twin, back = copy.deepcopy(ex), pickle.loads(pickle.dumps(ex))
    ex.budget = None
    sp.explore(ex, world)
    for other in (twin, back):
        other.budget = None
        assert sp.explore(other, world).counts.tolist() == ex.counts.tolist()


def test_saved_in_the_middle(tmp_path: Path) -> None:
    world = sp.Scores(responses(np.random.default_rng(0), 4, 60), [f"q{i}" for i in range(60)])
    ex = sp.Explorer(sp.TopK([sp.Arm("a", cost=2), "b", "c", ("d", 1)], 2), pool=world.pool(5))
    for pair in ex.ask(30)[:-4]:
        ex.tell(pair, world.table[pair])
    early = ex.ask(20)[9]
    ex.tell(early, world.table[early])
    ex.save(tmp_path / "x.json")
    back = sp.Explorer.load(tmp_path / "x.json")
    assert back.samples == 27
    assert back.certificate().to_dict() == ex.certificate().to_dict()
    assert back.ask(20) == ex.ask(20)
    late = ex.ask(20)[12]  # it has been asked for
    back.tell(late, world.table[late])
    assert sp.explore(back, world).certified
    back.save(tmp_path / "y.json")
    again = sp.Explorer.load(tmp_path / "y.json")
    assert again.certified
    assert again.certificate().conditions == back.certificate().conditions
    assert str(again.certificate()) == str(back.certificate())


def table_of(table: np.ndarray, names: list[str]) -> str:
    rows = [f"{names[i]},q{j},{table[i, j]:g}" for i in range(len(table)) for j in range(table.shape[1])]
    return "\n".join(["model,question,score", *rows]) + "\n"


def test_study_files(tmp_path: Path) -> None:
    table = responses(np.random.default_rng(3), 3, 120, spacing=0.6)
    (tmp_path / "scores.csv").write_text(table_of(table, MODELS))
    (tmp_path / "items.csv").write_text("\n".join(["item", *(f"q{j}" for j in range(120))]) + "\n")
    text = f'arms = {MODELS}\n[problem]\nkind = "best-arm"\n[pool]\nitems = "items.csv"\nseed = 2\n'
    study = tmp_path / "study.toml"
    study.write_text(text + '[simulate]\nkind = "scores"\nfile = "scores.csv"\n')
    spec = sp.load(study)
    assert spec.problem.pool is not None
    assert spec.environment is not None
    outcome = sp.explore(spec.explorer(), spec.environment)
    assert outcome.certified
    ex = spec.explorer()
    sp.study.tell_table(ex, sp.study.read_table(tmp_path / "scores.csv"))
    assert ex.certified
    assert ex.samples == 360
    (tmp_path / "few.csv").write_text("\n".join(table_of(table, MODELS).splitlines()[:50]) + "\n")
    with pytest.raises(StudyError, match=r"few\.csv: The score of candidate 'ant' .* out of order"):
        sp.study.tell_table(spec.explorer(), sp.study.read_table(tmp_path / "few.csv"))
    study.write_text(text + '[simulate]\nkind = "scores"\nfile = "few.csv"\n')
    with pytest.raises(StudyError, match="311 scores are missing, the first that of 'ant' on item 'q49'"):
        sp.load(study)
    study.write_text(text.replace('items = "items.csv"', "items = 0"))
    with pytest.raises(StudyError, match="items"):
        sp.load(study)
    study.write_text(text.replace("seed = 2", "sede = 2"))
    with pytest.raises(StudyError, match=r"key pool\.sede: there is no such key; did you mean 'seed'"):
        sp.load(study)
    (tmp_path / "bad.csv").write_text("model,question,score\nant,q0,1\nant,r0,1\n")
    with pytest.raises(StudyError, match=r"bad\.csv, line 3, column 'question': There is no item called 'r0'"):
        sp.study.tell_table(spec.explorer(), sp.study.read_table(tmp_path / "bad.csv"))


def test_items_of_a_table_of_scores(tmp_path: Path) -> None:
    """Each of them is there once a candidate."""
    table = responses(np.random.default_rng(3), 3, 20, spacing=0.6)
    (tmp_path / "scores.csv").write_text(table_of(table, MODELS))
    study = tmp_path / "study.toml"
    text = f'arms = {MODELS}\n[problem]\nkind = "best-arm"\n[pool]\nitems = "scores.csv"\n'
    study.write_text(text)
    pool = sp.load(study).problem.pool
    assert pool is not None
    assert pool.names == [f"q{j}" for j in range(20)]
    (tmp_path / "scores.csv").write_text("item\nq0\nq1\nq0\n")  # these are only items
    with pytest.raises(StudyError, match="Two items are called 'q0'"):
        sp.load(study)
    (tmp_path / "scores.csv").write_text(table_of(table, MODELS))
    study.write_text(text.replace('"scores.csv"', "20") + '[simulate]\nkind = "scores"\nfile = "scores.csv"\n')
    with pytest.raises(
        StudyError, match=r"'q0' is a name, and .* numbers \(items = 20, from 0 on\).* items = \"scores\.csv\" if"
    ):
        sp.load(study)
    spec = sp.study.StudySpec.from_dict({"arms": MODELS, "problem": {"kind": "best-arm"}, "pool": {"items": 20}})
    with pytest.raises(StudyError) as caught:
        sp.study.tell_table(spec.explorer(), sp.study.read_table(tmp_path / "scores.csv"))
    assert str(caught.value).count("Nothing ") == 1


def test_a_refusal_says_once_that_nothing_was_used(tmp_path: Path) -> None:
    spec = sp.study.StudySpec.from_dict({"arms": MODELS, "problem": {"kind": "best-arm"}, "pool": {"items": ["a", "b", "c"]}})
    explorer = spec.explorer()
    last = explorer.pool.names[explorer.pool.order[-1]]  # type: ignore[union-attr]
    (tmp_path / "few.csv").write_text(f"model,item,score\nant,{last},1\n")
    with pytest.raises(StudyError, match=r"out of order.*up to where there are some\. Nothing of this file was used\.\Z"):
        sp.study.tell_table(explorer, sp.study.read_table(tmp_path / "few.csv"))
    with pytest.raises(ObservationError, match=r"the first ones are 'a', 'b', 'c'\. Nothing was recorded\.\Z"):
        explorer.tell(("ant", "elsewhere"), 1.0)


def test_no_forecast_is_made_from_means_alone() -> None:
    ex = sp.Explorer(sp.BestArm(2), pool=sp.Pool(9))
    with pytest.raises(SettingError, match="simulate it"):
        sp.hardness(ex.problem, [0.6, 0.4])


def test_a_history_shows_a_race() -> None:
    from surepick.lab import History, allocation, closing

    world = sp.Scores(responses(np.random.default_rng(3), 4, 150, spacing=0.4))
    history = History()
    history.follow(sp.Explorer(sp.BestArm(4), pool=world.pool(0)), world)
    assert history.certificates[-1].certified
    assert allocation(history) is not None
    assert closing(history) is not None


def test_a_bad_end_of_a_moment_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    ex = sp.Explorer(sp.BestArm(2), pool=sp.Pool(9))
    for pair in ex.ask(4):
        ex.tell(pair, 1)
    before, asked = ex.certificate().to_dict(), ex.ask(5)
    with monkeypatch.context() as patched:
        patched.setattr(Race, "certified", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            ex.tell_many([(asked[0], 1), (asked[2], 0)])
    assert ex.certificate().to_dict() == before
    assert ex.ask(5) == asked


# -- certificates -----------------------------------------------------------------------------------------------------------

PROBLEMS = {
    "best": lambda m: sp.BestArm(m),
    "worst": lambda m: sp.BestArm(m, sense="min"),
    "top": lambda m: sp.TopK(m, 2),
    "groups": lambda m: sp.BestOfEach(m, [i % 2 for i in range(m)]),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_wrong_answers_stay_below_delta(name: str) -> None:
    """Near ties, at a delta that would show."""
    problem, wrong, runs = PROBLEMS[name](4), 0, 300
    for seed in range(runs):
        world = sp.Scores(responses(np.random.default_rng(seed), 4, 80, spacing=0.03))
        explorer = sp.Explorer(problem, 0.3, pool=world.pool(seed), budget=200)
        outcome = sp.explore(explorer, world, batch=4)
        sums = world.table.sum(axis=1)
        best = problem.solve_at(sums)
        wrong += outcome.certified and (best * sums).sum() != (outcome.decision * sums).sum()
    assert wrong <= binom.isf(1e-6, runs, 0.3)


@pytest.mark.parametrize("tree", [False, True])
def test_every_exchange_has_a_test_where_there_are_many_choices(tree: bool) -> None:
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("b", "d")]
    problem = sp.SpanningTree(edges) if tree else sp.TopK(22, 8)
    world = sp.Scores(responses(np.random.default_rng(1), problem.m, 150, spacing=0.4 if tree else 0.15))
    outcome = sp.explore(sp.Explorer(problem, pool=world.pool(0)), world, batch=16)
    assert outcome.certified
    sums = world.table.sum(axis=1)
    assert (outcome.decision * sums).sum() == (problem.solve_at(sums) * sums).sum()


def test_other_classes_go_by_intervals() -> None:
    world = sp.Scores(responses(np.random.default_rng(2), 4, 60, spacing=0.8))
    problem = sp.Matching([(0, 0), (0, 1), (1, 0), (1, 1)])
    outcome = sp.explore(sp.Explorer(problem, pool=world.pool(0)), world)
    assert outcome.certificate.policy == "coci"
    assert outcome.certified


def test_ties_end() -> None:
    """Two that are the same are judged on all items, and no other one is."""
    table = responses(np.random.default_rng(3), 5, 120)
    table[1] = table[0]
    outcome = sp.explore(sp.BestArm(5), sp.Scores(table))
    assert outcome.certified
    assert outcome.counts[:2].min() >= 119  # the last score of one of them can only make it as good
    assert (outcome.counts[2:] < 120).all()
    near = sp.explore(sp.BestArm(5), sp.Scores(table), epsilon=0.1)
    assert near.samples < outcome.samples
    assert "within 0.1" in str(near)


@pytest.mark.parametrize("k", [1, 2])
def test_when_all_is_known_the_best_is_chosen(k: int) -> None:
    """Also where the best was excluded on the way, as may happen with probability delta; at delta = 0.9 it does."""
    fell = 0
    for seed in range(150):
        table = responses(np.random.default_rng(seed), 3, 30, spacing=0.02)
        ex = sp.Explorer(sp.TopK(3, k), 0.9, pool=sp.Pool(30, seed))
        ex.tell_many([((i, j), table[i, j]) for i in range(3) for j in range(30)])
        sums, held = table.sum(axis=1), ex.decision > 0
        assert ex.certified
        assert sums[held].sum() == np.sort(sums)[-k:].sum()
        looked = sp.explore(sp.Explorer(sp.TopK(3, k), 0.9, pool=sp.Pool(30, seed)), sp.Scores(table))
        fell += sums[looked.decision > 0].sum() < np.sort(sums)[-k:].sum()
    assert fell > 0


def test_tiny_differences_count_when_all_is_known() -> None:
    ex = sp.Explorer(sp.BestArm([sp.Arm("a", high=1e12), sp.Arm("b", high=1e12)]), pool=sp.Pool(50))
    ex.tell_many([((i, j), float(i)) for i in range(2) for j in range(50)])
    assert ex.decision.tolist() == [0, 1]


def test_all_of_them_need_hardly_a_score() -> None:
    for problem in (sp.TopK(3, 3), sp.BestArm(1)):
        assert sp.explore(problem, sp.Scores(np.ones((problem.m, 50)))).samples == problem.m


def test_nobody_is_judged_in_vain() -> None:
    table = np.tile(responses(np.random.default_rng(0), 1, 60), (4, 1))
    table[2:] = 0.0
    for batch in (1, 64):
        assert (sp.explore(sp.BestArm(4), sp.Scores(table), batch=batch).counts[2:] < 20).all()
    ex = sp.Explorer(sp.BestArm(4), pool=sp.Pool(60))
    while not ex.certified and ex.undecided.sum() > 2:
        ex.tell_many([(pair, table[pair]) for pair in ex.ask(4)])
    assert {candidate for candidate, _ in ex.ask(10_000)} == {0, 1}
    ex.end(1)
    assert ex.ask(10) == []
    assert ex.done
    assert not ex.certified
    ex = sp.Explorer(sp.BestArm(3), pool=sp.Pool(60))
    ex.tell_many([(pair, table[pair]) for pair in ex.ask(6)])
    ex.pause(0)
    assert ex.ask(10) == []
    assert not ex.done
    ex.resume(0)
    assert len(ex.ask(10)) == 10


def test_what_is_known_is_not_asked_for_again() -> None:
    """Scores that came early count once, and are paid for once; and what a scorer gave before it failed is kept."""
    table, called = responses(np.random.default_rng(1), 3, 40, spacing=0.01), []

    def score(candidate: int, item: int) -> float:
        if len(called) == 7:
            called.append((-1, -1))
            raise OSError("no connection")
        called.append((candidate, item))
        return float(table[candidate, item])

    ex = sp.Explorer(sp.BestArm(3), pool=sp.Pool(40), budget=60)
    early = ex.ask(30)[12:18]
    ex.tell_many([(pair, table[pair]) for pair in early])
    with pytest.raises(SamplerError):
        sp.explore(ex, score, batch=20)
    assert ex.samples == 6 + 7
    sp.explore(ex, score, batch=20)
    assert ex.samples == 60
    assert len(called) == 60 - 6 + 1
    assert len({*called, *early}) == 61


def test_names_of_items_in_another_order() -> None:
    table = responses(np.random.default_rng(1), 3, 30)
    names = [f"q{j}" for j in range(30)]
    turned = sp.Scores(table[:, ::-1], names[::-1])
    ex = sp.Explorer(sp.BestArm(3), pool=sp.Pool(names, seed=2), budget=12)
    sp.explore(ex, turned)
    assert isinstance(ex.record, Board)
    assert ex.record.scores[0, 0] == table[0, ex.pool.order[0]]
    with pytest.raises(ProblemError, match="The table has no item 'x0'"):
        sp.explore(sp.Explorer(sp.BestArm(3), pool=sp.Pool([f"x{j}" for j in range(30)])), turned)


def test_simulations_judge_by_the_same_epsilon() -> None:
    world = sp.Scores(responses(np.random.default_rng(3), 8, 200, spacing=0.02))
    found = sp.simulate(sp.TopK(8, 4), world, ["race"], runs=8, epsilon=0.1)
    assert found.table["correct"].all()


def test_epsilon_is_for_every_candidate() -> None:
    worst = 0.0
    for seed in range(40):
        table = responses(np.random.default_rng(seed), 6, 200, spacing=0.04)
        outcome = sp.explore(sp.TopK(6, 3), sp.Scores(table), epsilon=0.06, seed=seed, batch=6)
        assert outcome.certified
        assert outcome.certificate.per_arm
        means = table.mean(axis=1)
        short = means[outcome.decision == 0].max() - means[outcome.decision > 0].min()
        worst += short > 0.06 + 1e-9
    assert worst <= binom.isf(1e-6, 40, 0.05)


def test_epsilon_of_a_tree_is_for_the_sum() -> None:
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("b", "d")]
    table = responses(np.random.default_rng(2), 5, 200, spacing=0.15)
    problem = sp.SpanningTree(edges)
    outcome = sp.explore(problem, sp.Scores(table), epsilon=0.3)
    assert outcome.certified
    means = table.mean(axis=1)
    assert (problem.solve_at(means) * means).sum() - (outcome.decision * means).sum() <= 0.3
    assert outcome.samples < sp.explore(problem, sp.Scores(table)).samples
    with pytest.raises(SettingError, match="leave out relative"):
        sp.Explorer(problem, pool=sp.Pool(5), epsilon=0.1, relative=True)


def test_attained_is_below_delta_when_certified() -> None:
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("b", "d")]
    for problem in (sp.BestArm(5), sp.TopK(5, 2), sp.BestOfEach(5, list("ababa")), sp.SpanningTree(edges)):
        for epsilon in (0.0, 0.03):
            world = sp.Scores(responses(np.random.default_rng(8), 5, 300))
            outcome = sp.explore(problem, world, delta=0.1, epsilon=epsilon, batch=5)
            assert outcome.certified
            assert outcome.certificate.attained is not None
            assert outcome.certificate.attained <= 0.1 + 1e-12


def test_a_budget_in_scores_and_in_cost() -> None:
    models = [sp.Arm("small", cost=1), sp.Arm("middle", cost=3), sp.Arm("large", cost=10)]
    world = sp.Scores(responses(np.random.default_rng(4), 3, 200, spacing=0.02))
    for asked in ({"budget": 100}, {"cost_budget": 300}):
        ex = sp.Explorer(sp.BestArm(models), pool=world.pool(0), **asked)
        outcome = sp.explore(ex, world, batch=7)
        assert not outcome.certified
        assert ex.samples <= 100 if "budget" in asked else 286 < ex.cost <= 300
        assert ex.done
        assert ex.ask(5) == []


def test_batches_lose_little_and_decide_the_same() -> None:
    table = responses(np.random.default_rng(6), 10, 800)
    one, many = (sp.explore(sp.BestArm(10), sp.Scores(table), batch=batch) for batch in (1, 64))
    assert one.decision.tolist() == many.decision.tolist()
    assert many.samples <= 1.2 * one.samples


def test_a_function_is_asked_for_items() -> None:
    table = responses(np.random.default_rng(7), 3, 90, spacing=0.5)
    called = []

    def score(candidate: int, item: int) -> float:
        called.append((candidate, item))
        return float(table[candidate, item])

    outcome = sp.explore(sp.Explorer(sp.BestArm(3), pool=sp.Pool(90)), score)
    assert outcome.certified
    assert len(set(called)) == len(called) == outcome.samples


def test_simulate_draws_an_order_for_every_run() -> None:
    world = sp.Scores(responses(np.random.default_rng(9), 4, 150, spacing=0.3))
    found = sp.simulate(sp.BestArm(4), world, ["race"], runs=12, seed=1)
    assert found.table["correct"].mean() >= 0.9
    assert found.table["samples"].nunique() > 3


def test_samples_on_item_responses() -> None:
    """A few of the tables of the documentation: a part of the scores is enough."""
    taken = []
    for seed in range(4):
        world = sp.Scores(responses(np.random.default_rng(seed), 20, 2000))
        taken.append(sp.explore(sp.BestArm(20), world, batch=20, seed=seed).samples)
    assert np.mean(taken) <= 6_200


def test_names_of_the_pool() -> None:
    pool = Pool(["x", ("y", 1)])
    assert pool[("y", 1)] == 1 == pool[1]
    with pytest.raises(ObservationError, match="did you mean 'x'"):
        pool["X"]
    board = Board(2, 3)
    assert board.told.tolist() == [0, 0]
    assert repr(pool) == "Pool(2 items, seed=0)"


# -- prices -----------------------------------------------------------------------------------------------------------------


def priced(table: np.ndarray, prices: np.ndarray, seed: int = 0, k: int = 1, **asked: object) -> sp.Explorer:
    arms = [sp.Arm(f"m{i}", cost=float(price)) for i, price in enumerate(prices)]
    return sp.Explorer(sp.TopK(arms, k), pool=sp.Pool(table.shape[1], seed), **asked)  # type: ignore[arg-type]


def test_cheap_candidates_are_sent_ahead_where_dear_ones_gain_by_it() -> None:
    """Total cost, against the same tests where prices are not told."""
    rng, prices = np.random.default_rng(4), np.where(np.arange(8) % 2 == 0, 1.0, 40.0)
    blind = told = sent = 0.0
    for seed in range(4):
        table = responses(rng, 8, 1000)
        without = sp.explore(priced(table, np.ones(8), seed), sp.Scores(table))
        explorer = priced(table, prices, seed)
        outcome = sp.explore(explorer, sp.Scores(table))
        assert outcome.certified
        blind += float((without.counts * prices).sum())
        told += outcome.certificate.cost
        sent += (outcome.counts == 1000).any()
    assert sent > 1
    assert told < 0.97 * blind


@pytest.mark.parametrize("k", [1, 2])
def test_wrong_answers_stay_below_delta_with_prices(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surepick.confidence.ahead.FEWEST", 5)
    rng, runs, wrong, sent = np.random.default_rng(k), 150, 0, 0
    for seed in range(runs):
        table = responses(rng, 4, 60, 0.02)
        explorer = priced(table, np.array([1.0, 30.0, 2.0, 90.0]), seed, k, delta=0.2)
        outcome = sp.explore(explorer, sp.Scores(table), batch=8)
        means = table.mean(axis=1)
        chosen = outcome.decision > 0
        wrong += means[chosen].min() < means[~chosen].max() - 1e-12
        sent += len(set(outcome.counts[outcome.counts < 60])) > 0 and (outcome.counts == 60).any()
    assert wrong <= binom.isf(1e-6, runs, 0.2)
    assert sent > 0.1 * runs


def test_who_is_sent_ahead_comes_first_and_survives_a_file(tmp_path: Path) -> None:
    rng, prices = np.random.default_rng(4), np.where(np.arange(8) % 2 == 0, 1.0, 40.0)
    table = responses(rng, 8, 1000)
    scores, explorer = sp.Scores(table), priced(table, prices)
    ordered = scores.ordered(explorer.pool).table

    def tell(pairs: list[tuple[int, int]]) -> None:
        explorer.tell_many([((i, item), ordered[i, explorer.pool.places[item]]) for i, item in pairs])

    asked = explorer.ask(50)
    while len({i for i, _ in asked}) > 1:
        tell(asked)
        asked = explorer.ask(50)
    (ahead,) = {i for i, _ in asked}  # one candidate, fifty times
    assert prices[ahead] == 1.0
    assert len(set(explorer.ask(5000)[: 1000 - int(explorer.counts[ahead])])) == 1000 - explorer.counts[ahead]
    tell(asked)
    explorer.save(tmp_path / "sent.json")
    again = sp.Explorer.load(tmp_path / "sent.json")
    assert again.ask(100) == explorer.ask(100)
    again.end(int(ahead))  # nobody is compared any more
    assert again.done
    assert not again.certified
    while asked := explorer.ask(50):
        tell(asked)
    assert explorer.certified


def test_arms_come_in_the_order_of_the_rows() -> None:
    scores = sp.Scores([[1, 1, 1, 1], [0, 0, 0, 0]], candidates=["ant", "bee"])
    assert sp.explore(sp.BestArm(scores.candidates), scores).certificate.chosen == {"ant": 1}
    assert sp.explore(sp.BestArm(2), scores).decision.tolist() == [1, 0]
    with pytest.raises(ProblemError, match="Arm 0 is 'bee', and row 0 of the scores is 'ant'"):
        sp.explore(sp.BestArm(["bee", "ant"]), scores)
