"""Arms that depend on each other: what breaks, what holds, and rows of values that were observed together.

Each trap of the docs is here twice: as people fall into it, where the share of wrong certificates must exceed delta by an exact
binomial test (so that the test is able to fail), and mended, where it must not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import surepick as sp
from surepick.confidence.differences import BETS, Differences
from surepick.errors import ObservationError, SettingError, UnknownArmError

RUNS = 100


def too_many(delta: float, runs: int = RUNS) -> int:
    """More errors than this have probability below 1e-6 if each run errs with probability delta."""
    return int(binom.isf(1e-6, runs, delta))


# -- two posters a visitor ------------------------------------------------------------------------------------------------


def visitors(rng: np.random.Generator, n: int) -> np.ndarray:
    """Every visitor sees both posters and takes one; the second is a little more popular, in truth."""
    second = rng.random(n) < 0.5001
    return np.column_stack((~second, second)).astype(float)


def wrong_certificates(make: Callable[[], sp.Explorer], tell: Callable[[sp.Explorer, np.ndarray], None], runs: int = RUNS) -> int:
    wrong = 0
    for run in range(runs):
        ex = make()
        for row in visitors(np.random.default_rng((5, run)), 400):
            tell(ex, row)
            if ex.done:
                break
        wrong += ex.certified and ex.decision[0] == 1
    return wrong


def one_by_one(ex: sp.Explorer, row: np.ndarray) -> None:
    ex.tell_many([(0, row[0]), (1, row[1])])


def as_row(ex: sp.Explorer, row: np.ndarray) -> None:
    ex.tell_row({0: row[0], 1: row[1]})


def test_the_joint_rule_breaks_when_arms_depend_on_each_other() -> None:
    """Either order of two equal posters is about as likely, so half of all certificates are wrong; there must be few."""
    assert wrong_certificates(lambda: sp.Explorer(sp.BestArm(2), 0.05), one_by_one, 300) > too_many(0.05, 300)


@pytest.mark.parametrize("tell", [one_by_one, as_row])
def test_dependent_mends_it(tell: Callable[[sp.Explorer, np.ndarray], None]) -> None:
    assert wrong_certificates(lambda: sp.Explorer(sp.BestArm(2), 0.2, dependent=True), tell) <= too_many(0.2)


@pytest.mark.parametrize("delta", [0.3, 0.05])
@pytest.mark.parametrize("kind", ["same", "opposite", "alone", "chain"])
def test_rows_hold_under_any_dependence(kind: str, delta: float) -> None:
    """Three arms, nearly tied; copies, mirrors, independent ones, and rows that depend on what came before."""
    runs, wrong = 100, 0
    for run in range(runs):
        rng = np.random.default_rng((6, run))
        ex = sp.Explorer(sp.TopK(3, 1), delta, dependent=True)
        for t in range(120):
            u = rng.random(3) if kind == "alone" else np.full(3, rng.random())
            if kind == "opposite":
                u[1] = 1 - u[1]
            row = {i: float(u[i] < p) for i, p in enumerate((0.5, 0.5, 0.5 + 1e-9))}
            if kind == "chain" and t and ex.certificate().decision[0]:
                row.pop(2)  # which arms a row has may hang on the past
            ex.tell_row(row)
            if ex.done:
                break
        wrong += ex.certified and ex.decision[2] == 0
    assert wrong <= too_many(delta, runs)


def test_a_planted_bug_is_caught() -> None:
    """Bets that are told the outcome: capital of a pair that counts only the rows that speak for it."""

    class Flattered(Differences):
        def add(self, arms: np.ndarray, values: np.ndarray) -> None:
            if values[0] != values[-1] and values[0] > values[-1]:
                super().add(arms, values)

    def make() -> sp.Explorer:
        ex = sp.Explorer(sp.BestArm(2), 0.05, policy="paired")
        ex.record.rows = Flattered(ex.problem.low, ex.problem.high)
        return ex

    assert wrong_certificates(make, as_row, 60) > too_many(0.05, 60)


def test_rows_that_rise_and_fall_together_need_few_samples() -> None:
    """The same visitors, the same luck: differences within rows vary little, intervals do not know."""
    samples = {}
    for tell in (one_by_one, as_row):
        ex, rng = sp.Explorer(sp.BestArm(2), 0.05, dependent=True), np.random.default_rng(1)
        while not ex.done:
            tell(ex, (rng.random() < np.array([0.6, 0.5])).astype(float))
        assert ex.decision.tolist() == [1, 0]
        samples[tell] = ex.samples
    assert samples[as_row] * 5 < samples[one_by_one]


# -- who may do what --------------------------------------------------------------------------------------------------------


def test_rows_are_refused_where_evidence_is_multiplied() -> None:
    for problem in (sp.BestArm(2), sp.Matching([("a", "x"), ("b", "y"), ("a", "y"), ("b", "x")])):
        ex = sp.Explorer(problem)
        with pytest.raises(ObservationError, match=r"make the explorer with dependent=True\. Nothing was"):
            ex.tell_row({0: 1.0, 1: 0.0})
        assert ex.samples == 0
    sp.Explorer(sp.BestArm(2), policy="coci").tell_row({0: 1.0, 1: 0.0})  # weighs every arm by itself


@pytest.mark.parametrize("policy", ["joint", "joint-linear", "ts-explore"])
def test_policies_that_multiply_evidence_are_refused(policy: str) -> None:
    edges = [("a", "x"), ("b", "y"), ("a", "y"), ("b", "x")]
    problem = sp.Matching(edges) if policy == "joint-linear" else sp.TopK(4, 2)
    assert sp.Explorer(problem, policy=policy).certificate().independent
    with pytest.raises(SettingError, match="independent of each other; with dependent=True use 'auto' or one of"):
        sp.Explorer(problem, policy=policy, dependent=True)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize(
    "problem",
    [
        sp.TopK(4, 2),
        sp.Path([(0, 1), (1, 2), (0, 2)], 0, 2),
        sp.SampleAllocation([1, 2], 6),
        sp.ResourcePlan(lambda y: 0.1 * y * y, [3, 3], 2),
        sp.Program(3, [[3, 4, 2]], upper=6),
    ],
)
def test_every_class_has_a_rule_for_dependent_arms(problem: sp.Problem, epsilon: float) -> None:
    ex = sp.Explorer(problem, dependent=True, epsilon=epsilon)
    assert not ex.policy.independent
    assert not ex.certificate().independent
    assert any("may depend on each other in any way" in condition for condition in ex.certificate().conditions)
    assert "Values of different arms are independent of each other." in sp.Explorer(sp.TopK(4, 2)).certificate().conditions


def test_bad_rows_record_nothing() -> None:
    ex = sp.Explorer(sp.TopK(["a", "b", "c"], 1), dependent=True)
    for row, says in (
        ({}, "A row is a dict"),
        ([1, 2], "A row is a dict"),
        ({"a": [1.0, 0.0]}, "arm 'a' has 2"),
        ({"a": 1.0, 0: 1.0}, "arm 'a' has two"),
        ({"a": 1.0, "b": math.nan}, "not a finite number"),
        ({"a": 1.0, "d": 0.0}, "no arm called 'd'"),
    ):
        with pytest.raises(ObservationError, match=says):
            ex.tell_row(row)
    with pytest.raises(ObservationError, match="A row is a dict"):
        ex.tell_rows([{"a": 1.0, "b": 0.0}, {}])
    assert ex.samples == 0
    assert ex.policy.name == "coci"


def test_tables_and_dicts_in_the_wrong_place_are_told_what_to_do() -> None:
    ex = sp.Explorer(sp.TopK(["a", "b", "c"], 1), dependent=True)
    table = pd.DataFrame({"a": [1.0, 0.0], "b": [0.0, 0.0]})
    for tell, says in (
        (lambda: ex.tell_many({"a": 1.0, "b": 0.0}), r"give a dict by its items\(\)"),
        (lambda: ex.tell_rows(table), r"with a column an arm, \[row.dropna\(\).to_dict\(\) for _, row in table.iterrows\(\)\]"),
        (lambda: ex.tell_rows({"a": 1.0}), "takes a list of rows"),
        (lambda: ex.tell_row(table.loc[0]), r"give a series by its to_dict\(\)"),
        (lambda: ex.tell_row({"A": 1.0}), r"did you mean 'a'\? Nothing was recorded"),
    ):
        with pytest.raises(ObservationError, match=says):
            tell()
    assert ex.samples == 0
    ex.tell_rows([row.dropna().to_dict() for _, row in table.iterrows()])
    ex.tell_row(table.loc[0].to_dict())
    ex.tell_many({"a": 1.0, "c": 0.0}.items())
    assert ex.counts.tolist() == [4, 3, 1]
    with pytest.raises(UnknownArmError, match=r"^There is no arm called 'x'; the arms are 'a', 'b', 'c'\.$"):
        ex.pause("x")


def test_only_rows_from_the_start_are_compared_within() -> None:
    """Delta is shared out anew for rows, which is right only before anything was looked at."""
    ex = sp.Explorer(sp.BestArm(2), dependent=True)
    ex.tell(0, 1.0)
    ex.tell_row({0: 1.0, 1: 0.0})
    assert (ex.policy.name, ex.confidence.delta) == ("coci", 0.05)
    ex = sp.Explorer(sp.BestArm(2), dependent=True)
    ex.tell_rows([])
    assert (ex.policy.name, ex.confidence.delta) == ("coci", 0.05)
    ex.tell_row({0: 1.0, 1: 0.0})
    assert (ex.policy.name, ex.confidence.delta) == ("paired", 0.025)
    ex.tell(0, 1.0)
    assert ex.counts.tolist() == [2, 1]


# -- the capitals ---------------------------------------------------------------------------------------------------------------


@given(st.lists(st.dictionaries(st.integers(0, 2), st.integers(-4, 8).map(lambda k: k / 4), min_size=1), min_size=1, max_size=12))
def test_capitals_by_the_book(rows: list[dict[int, float]]) -> None:
    low, high = np.array([-1.0, 0.0, -1.0]), np.array([1.0, 2.0, 2.0])
    differences = Differences(low, high)
    rows = [{i: min(max(x, low[i]), high[i]) for i, x in row.items()} for row in rows]
    for row in rows:
        differences.add(np.array(list(row)), np.array(list(row.values())))
    for h, j in itertools.permutations(range(3), 2):
        both = [row[h] - row[j] for row in rows if h in row and j in row]
        reach = max(high[h] - low[j], high[j] - low[h])
        capital = np.mean([np.prod([1 + c * d / reach for d in both]) for c in BETS])
        assert differences.evidence(h, j) == pytest.approx(math.log(capital), abs=1e-9)
        assert differences.count[h, j] == len(both)


@pytest.mark.parametrize("sense", ["max", "min"])
def test_paired_stops_where_every_exchange_is_certain(sense: str) -> None:
    """And its gap bounds the true one, by the box and by the rows."""
    rng = np.random.default_rng(3)
    p = np.array([0.9, 0.8, 0.5, 0.2]) if sense == "max" else np.array([0.1, 0.2, 0.5, 0.8])
    problem = sp.TopK(4, 2, sense=sense)
    for _ in range(10):
        ex = sp.Explorer(problem, dependent=True)
        for _ in range(3000):
            u = rng.random()
            ex.tell_row({i: float(u < q) for i, q in enumerate(p)})
            if ex.done:
                break
            certificate = ex.certificate()
            shortfall = problem.reward(p, [1, 1, 0, 0]) - problem.reward(p, certificate.decision)
            assert certificate.gap >= shortfall - 1e-12
            assert certificate.undecided.any()
        assert ex.decision.tolist() == [1, 1, 0, 0]
        assert ex.certificate().gap == 0


def test_trees_of_dependent_edges() -> None:
    edges, rng = [(0, 1), (1, 2), (2, 0)], np.random.default_rng(2)
    ex = sp.Explorer(sp.SpanningTree(edges, sense="min"), dependent=True)
    while not ex.done:
        weather = rng.random()
        ex.tell_row({i: min(1.0, 0.5 * weather + delay) for i, delay in enumerate((0.1, 0.2, 0.45))})
    assert ex.policy.name == "paired"
    assert ex.decision.tolist() == [1, 1, 0]


# -- values whose arrival depends on them -------------------------------------------------------------------------------------


def late_failures(cohorts: bool, run: int) -> bool:
    """Four variants, nearly equal; every day 20 people, as the explorer asks. Conversions are told on their day, other people
    after a window of 7 days; or, by cohorts, all people of a day after it. True if the run ends with a wrong certificate."""
    rng = np.random.default_rng((9, run))
    ex, waiting = sp.Explorer(sp.BestArm(4), 0.05), {}
    for day in range(60):
        for arm in ex.ask(20):
            value = float(rng.random() < 0.3 + 1e-9 * (arm == 0))
            waiting.setdefault(day if value and not cohorts else day + 7, []).append((arm, value))
        if day in waiting:
            ex.tell_many(waiting.pop(day))
        if ex.certified:
            return bool(ex.decision[0] == 0)
    return False


def test_successes_that_are_told_before_failures_break_it() -> None:
    runs = 60
    assert sum(late_failures(False, run) for run in range(runs)) > too_many(0.05, runs)
    assert sum(late_failures(True, run) for run in range(runs)) <= too_many(0.05, runs)
