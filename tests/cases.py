"""Small random instances of every decision class, with ties and zeros, for the conformance suite."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import strategies as st

import surepick as sp
from surepick.policies import POLICIES
from surepick.problems import resource_plan

ALONE = [name for name in POLICIES if name not in ("race", "sorting")]  # which need a pool: see test_pool.py, test_ranking.py

# Multiples of 1/16: ties are common and arithmetic is exact.
SIXTEENTHS = st.integers(0, 16).map(lambda k: k / 16)
SENSES = st.sampled_from(["max", "min"])


@st.composite
def best_arm(draw: st.DrawFn) -> sp.Problem:
    return sp.BestArm(draw(st.integers(1, 7)), sense=draw(SENSES))


@st.composite
def top_k(draw: st.DrawFn) -> sp.Problem:
    m = draw(st.integers(1, 7))
    return sp.TopK(m, draw(st.integers(1, m)), sense=draw(SENSES))


@st.composite
def best_of_each(draw: st.DrawFn) -> sp.Problem:
    k = draw(st.integers(1, 2))
    groups = [g for g in range(draw(st.integers(1, 3))) for _ in range(draw(st.integers(k, 3)))]
    return sp.BestOfEach(len(groups), draw(st.permutations(groups)), k, sense=draw(SENSES))


@st.composite
def ranking(draw: st.DrawFn) -> sp.Problem:
    return sp.Ranking(draw(st.integers(1, 5)), sense=draw(SENSES))


@st.composite
def spanning_tree(draw: st.DrawFn) -> sp.Problem:
    nodes = draw(st.integers(2, 5))
    edges = [(draw(st.integers(0, v - 1)), v) for v in range(1, nodes)]
    pairs = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)).filter(lambda e: e[0] != e[1])
    edges += draw(st.lists(pairs, max_size=7 - len(edges)))
    return sp.SpanningTree(draw(st.permutations(edges)), sense=draw(SENSES))


@st.composite
def subsets(draw: st.DrawFn) -> sp.Problem:
    m = draw(st.integers(1, 6))
    rows = st.tuples(*[st.integers(0, 1)] * m)
    return sp.Subsets(m, draw(st.lists(rows, min_size=1, max_size=8, unique=True)), sense=draw(SENSES))


@st.composite
def real_vectors(draw: st.DrawFn) -> sp.Problem:
    m = draw(st.integers(2, 4))
    rows = st.tuples(*[st.integers(-4, 4).map(lambda k: k / 2)] * m)
    decisions = draw(st.lists(rows, min_size=1, max_size=8, unique=True))
    return sp.Subsets(m, [*decisions, (0.25,) * m], sense=draw(SENSES))


@st.composite
def sample_allocation(draw: st.DrawFn) -> sp.Problem:
    m = draw(st.integers(1, 4))
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 4, 6, 12]), min_size=m, max_size=m))
    lower = draw(st.lists(st.integers(1, 2), min_size=m, max_size=m))
    upper = [lo + draw(st.integers(0, 8)) for lo in lower] if draw(st.booleans()) else None
    return sp.SampleAllocation(sizes, sum(lower) + draw(st.integers(0, 7)), lower=lower, upper=upper)


@st.composite
def convex_plan(draw: st.DrawFn) -> sp.Problem:
    m = draw(st.integers(1, 5))
    caps = draw(st.lists(st.integers(0, 3), min_size=m, max_size=m))
    tables = []
    for cap in caps:
        steps = sorted(draw(st.lists(st.integers(0, 18), min_size=cap, max_size=cap)))
        tables.append(np.concatenate(([0], np.cumsum(steps))) / 16)
    return sp.ResourcePlan(tables, caps, draw(st.integers(0, sum(caps))))


@st.composite
def any_plan(draw: st.DrawFn) -> sp.Problem:
    """Arbitrary cost tables, most of them not convex."""
    m = draw(st.integers(2, 4))
    caps = draw(st.lists(st.integers(1, 3), min_size=m, max_size=m))
    tables = [[0, *(draw(st.integers(0, 24)) / 16 for _ in range(cap))] for cap in caps]
    tables[0] = [0.0, 1.0, *[1.0] * (caps[0] - 1)] if caps[0] > 1 else tables[0]
    return sp.ResourcePlan(tables, caps, draw(st.integers(0, sum(caps))))


@st.composite
def matching(draw: st.DrawFn) -> sp.Problem:
    edges = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=7))
    how = {"sense": draw(SENSES)}
    try:
        return sp.Matching(edges, perfect=draw(st.booleans()), **how)
    except sp.SurepickError:
        return sp.Matching(edges, perfect=False, **how)


@st.composite
def path(draw: st.DrawFn) -> sp.Problem:
    """With and without cycles; a way from 0 to 3 always exists."""
    forward = draw(st.booleans())
    pairs = st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda e: e[0] < e[1] if forward else e[0] != e[1])
    edges = [*draw(st.lists(pairs, max_size=6)), (0, 3)]
    return sp.Path(draw(st.permutations(edges)), 0, 3, sense=draw(SENSES) if forward else "min")


@st.composite
def program(draw: st.DrawFn) -> sp.Problem:
    """A knapsack, with whole or 0/1 amounts, at least one piece."""
    m = draw(st.integers(1, 3))
    weights = draw(st.lists(st.integers(1, 4), min_size=m, max_size=m))
    levels = draw(st.sampled_from([1, 2]))
    A, upper = [weights, [1] * m], [draw(st.integers(4, 8)), np.inf]
    return sp.Program(m, A, [-np.inf, 1], upper, levels, sense=draw(SENSES))


@st.composite
def unlisted_plan(draw: st.DrawFn) -> sp.Problem:
    """The same as any-plan, by the way that serves plans too many to list."""
    listed = draw(any_plan())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resource_plan, "LISTED", 0)
        return sp.ResourcePlan([listed.cost_table(i) for i in range(listed.m)], listed.caps, listed.require)


@st.composite
def unequal_arms(draw: st.DrawFn) -> sp.Problem:
    """Arms with bounds of their own, below and above 0."""
    bounds = st.sampled_from([(-8, 8), (0, 1), (-16, -1), (4, 1028)])
    arms = [sp.Arm(f"arm {i}", *draw(bounds)) for i in range(draw(st.integers(2, 6)))]
    return sp.TopK(arms, draw(st.integers(1, len(arms) - 1)), sense=draw(SENSES))


@st.composite
def own_problem(draw: st.DrawFn, table: bool) -> sp.Problem:
    """A user's own class: levels 0..2 at convex prices, at most so many in all; by an oracle of theta or of tables."""
    m, most = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    price = [draw(st.integers(0, 6)) / 16 for _ in range(m)]
    decisions = [y for y in itertools.product(range(3), repeat=m) if sum(y) <= most]

    def reward(i: int) -> Callable[[float, float], float]:
        return lambda theta, y: theta * y - price[i] * y * y

    def of_tables(tables: list[np.ndarray]) -> tuple[int, ...]:
        return max(decisions, key=lambda y: (sum(t[v] for t, v in zip(tables, y, strict=True)), -sum(y), [-v for v in y]))

    def of_theta(theta: np.ndarray) -> tuple[int, ...]:
        return of_tables([np.array([reward(i)(t, v) for v in range(3)]) for i, t in enumerate(theta)])

    problem = sp.Separable(
        [reward(i) for i in range(m)], [range(3)] * m, of_tables if table else of_theta, table=table, bimonotone=not table
    )
    problem.decisions = decisions
    return problem


CASES = {
    "best-arm": best_arm(),
    "top-k": top_k(),
    "best-of-each": best_of_each(),
    "ranking": ranking(),
    "spanning-tree": spanning_tree(),
    "subsets": subsets(),
    "real-vectors": real_vectors(),
    "sample-allocation": sample_allocation(),
    "convex-plan": convex_plan(),
    "any-plan": any_plan(),
    "unlisted-plan": unlisted_plan(),
    "unequal-arms": unequal_arms(),
    "separable-theta": own_problem(table=False),
    "separable-table": own_problem(table=True),
    "matching": matching(),
    "path": path(),
    "program": program(),
}


def vectors(problem: sp.Problem) -> st.SearchStrategy[np.ndarray]:
    """Parameters within their range: a variance on [0, 1] never exceeds 1/4."""
    width = problem.high - problem.low
    return st.lists(SIXTEENTHS, min_size=problem.m, max_size=problem.m).map(lambda v: problem.low + np.array(v) * width)


@st.composite
def boxes(draw: st.DrawFn, problem: sp.Problem) -> tuple[np.ndarray, np.ndarray]:
    a, b = draw(vectors(problem)), draw(vectors(problem))
    if draw(st.booleans()):  # a narrow box around a point, so that some arms are decided
        reach = draw(st.integers(0, 3)) / 16 * (problem.high - problem.low)
        return np.clip(a - reach, problem.low, problem.high), np.clip(a + reach, problem.low, problem.high)
    return np.minimum(a, b), np.maximum(a, b)
