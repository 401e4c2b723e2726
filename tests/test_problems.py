"""Bad input of every decision class: a typed error with a sentence that helps."""

from __future__ import annotations

import math

import numpy as np
import pytest

import surepick as sp
from surepick.errors import InfeasibleError, ParameterError, ProblemError


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: sp.TopK(3, 4), InfeasibleError, "There are 3 arms, so 4 of them cannot be picked"),
        (lambda: sp.TopK(3, 0), ProblemError, "at least 1"),
        (lambda: sp.TopK(3, 1.0), ProblemError, "whole number"),
        (lambda: sp.TopK(["a", "a"], 1), ProblemError, "Two arms"),
        (lambda: sp.BestOfEach(3, ["x", "x", "y"], 2), InfeasibleError, "Group 'y' has 1 arms"),
        (lambda: sp.BestOfEach(3, ["x", "y"]), ProblemError, "3 arms but 2 group labels"),
        (lambda: sp.SpanningTree([(0, 1), (2, 3)]), InfeasibleError, "not connected"),
        (lambda: sp.SpanningTree([]), InfeasibleError, "no edges"),
        (lambda: sp.SpanningTree([(0, 0)]), ProblemError, "joins 0 to itself"),
        (lambda: sp.SpanningTree([(0, 1, 2)]), ProblemError, r"pairs \(u, v\)"),
        (lambda: sp.SpanningTree([(0, 1)], arms=["a", "b"]), ProblemError, "1 edges but 2 arms"),
        (lambda: sp.SpanningTree([(0, 1)], sense="least"), ProblemError, "'max' or 'min'"),
        (lambda: sp.Subsets(2, []), InfeasibleError, "empty"),
        (lambda: sp.Subsets(2, [[1, 0, 0]]), ProblemError, "rows of 2 numbers"),
        (lambda: sp.Subsets(2, [[1, 0], [1]]), ProblemError, "rows of 2 numbers"),
        (lambda: sp.Subsets(2, [[1, math.nan]]), ProblemError, "Decision 0"),
        (lambda: sp.Subsets(2, [[1, 0], [0, 1], [1, 0]]), ProblemError, "Decisions 0 and 2 are the same"),
        (lambda: sp.SampleAllocation([5, 5, 5], 2), InfeasibleError, "below the number of strata, 3"),
        (lambda: sp.SampleAllocation([5, math.nan], 9), ProblemError, r"sizes\[1\]"),
        (lambda: sp.SampleAllocation([5, 5], 9, arms=["a"]), ProblemError, "2 sizes but 1 arms"),
        (lambda: sp.ResourcePlan(lambda y: y, [2, 2], 5), InfeasibleError, "caps add up to 4, below the required 5"),
        (lambda: sp.ResourcePlan([[0, 1]], [1, 1], 1), ProblemError, "2 caps but 1 costs"),
        (lambda: sp.ResourcePlan([[0, 1], [0, 1, 2]], [1, 1], 1), ProblemError, "has 3 entries, but its cap is 1"),
        (lambda: sp.ResourcePlan(lambda y: math.nan, [1], 1), ProblemError, "not a finite number"),
        (lambda: sp.ResourcePlan(lambda y: y, [1, -1], 0), ProblemError, "caps"),
        (lambda: sp.ResourcePlan(lambda y: y, [1.5], 0), ProblemError, "caps"),
        (lambda: sp.ResourcePlan(lambda y: y, 3, 0), ProblemError, "how many sites"),
        (lambda: sp.ResourcePlan(lambda y: y, [1], -1), ProblemError, "require"),
        (lambda: sp.ResourcePlan(lambda y: "x", [1], 1), ProblemError, "must be numbers"),
        (lambda: sp.ResourcePlan(lambda y: y, [], 0), ProblemError, "no sites"),
    ],
)
def test_bad_problems(make: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda p: p.solve([0.1, 0.2]), "has shape"),
        (lambda p: p.solve([0.1, math.nan, 0.2]), "nan for arm 'arm 1'"),
        (lambda p: p.solve(["a", "b", "c"]), "3 numbers"),
        (lambda p: p.reward([0.1] * 3, [1, 0]), "decision has shape"),
        (lambda p: p.undecided([0.1] * 3, [0.2] * 2), "upper has shape"),
        (lambda p: p.undecided([0.1, 0.5, 0.1], [0.2, 0.4, 0.2]), "box is empty for arm 'arm 1'"),
        (lambda p: p.rival([0.1] * 3, [math.nan] * 3, [1, 0, 0]), "nan"),
    ],
)
def test_bad_questions(ask: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        ask(sp.BestArm(3))


def test_negative_variances_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"theta\[0\] = -0.1 is not a variance"):
        sp.SampleAllocation([1, 1], 4).solve([-0.1, 0.1])


def test_plans_refuse_decisions_outside_the_caps() -> None:
    with pytest.raises(sp.SurepickError, match=r"decision\[1\] = 5"):
        sp.ResourcePlan(lambda y: y, [2, 2], 1).reward([0.5, 0.5], [1, 5])


def test_one_cost_function_or_cap_serves_all_sites() -> None:
    plan = sp.ResourcePlan(lambda y: 0.1 * y * y, 3, 2, arms=["a", "b"])
    assert plan.caps.tolist() == [3, 3]
    assert plan.solve([0.9, 0.2]).tolist() == [3, 1]


def test_a_dense_tree_and_parallel_edges() -> None:
    tree = sp.SpanningTree([("a", "b"), ("a", "b"), ("b", "c"), ("c", "b")])
    assert tree.names == ["a-b", "a-b #2", "b-c", "c-b"]
    assert tree.solve([0.1, 0.2, 0.3, 0.3]).tolist() == [0, 1, 1, 0]
    assert tree.undecided([0, 0.5, 0.4, 0.3], [0.4, 0.9, 0.5, 0.45]).tolist() == [False, False, True, True]


def test_large_problems_agree_with_two_calls_an_arm() -> None:
    from .reference import undecided_by_calls

    rng = np.random.default_rng(5)
    m = 120
    edges = [(int(rng.integers(0, v)), v) for v in range(1, 40)] + [tuple(rng.choice(40, 2, replace=False)) for _ in range(81)]
    tables = [np.concatenate(([0], np.cumsum(np.sort(rng.random(5))))) for _ in range(m)]
    for problem in (
        sp.TopK(m, 50),
        sp.TopK(m, 5),
        sp.BestOfEach(m, rng.integers(0, 7, m).tolist(), 3),
        sp.SpanningTree(edges),
        sp.SampleAllocation(rng.integers(1, 50, m), 5000),
        sp.ResourcePlan(tables, [5] * m, 400),
    ):
        for reach in (0.3, 0.05, 0.004, 0.0005):
            middle = rng.random(m) * problem.high
            lower = np.clip(middle - reach * problem.high, 0, problem.high)
            upper = np.clip(middle + reach * problem.high, 0, problem.high)
            assert (problem.undecided(lower, upper) == undecided_by_calls(problem, lower, upper)).all()


@pytest.mark.parametrize(("left", "right"), [(3, 4), (4, 3), (4, 4)])
def test_matchings_do_not_depend_on_how_the_edges_are_listed(left: int, right: int) -> None:
    """All edges row by row take a short cut; in any other order, or with one missing, they do not."""
    rng = np.random.default_rng(left)
    edges = [(u, v) for u in range(left) for v in range(right)]
    grid = sp.Matching(edges)
    for _ in range(30):
        order, theta = rng.permutation(len(edges)), rng.random(len(edges))
        shuffled = sp.Matching([edges[i] for i in order])
        assert grid.solve(theta)[order].tolist() == shuffled.solve(theta[order]).tolist()
        doubled = sp.Matching([*edges, edges[0]])
        assert grid.solve(theta).tolist() == doubled.solve([*theta, -1.0])[:-1].tolist()


@pytest.mark.parametrize("size", [1e-12, 1e-9, 1e-3, 1e6])
def test_undecided_arms_do_not_depend_on_the_size_of_the_entries(size: float) -> None:
    """A solver's tolerances are absolute: decisions with entries near 1e-9 must not all look alike to it."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        rows = np.unique(rng.integers(-4, 5, (5, 3)) / 2.0, axis=0)
        lower = rng.random(3) * 0.7
        upper = lower + 0.3 * rng.random(3)
        plain, scaled = sp.Subsets(3, [*rows, [0.25] * 3]), sp.Subsets(3, size * np.array([*rows, [0.25] * 3]))
        assert scaled.undecided(lower, upper).tolist() == plain.undecided(lower, upper).tolist()
