"""Exchanges in the compiled loop of joint stopping: quick bounds, the tournament, and long runs against a plain loop."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surepick as sp
from surepick.engine import compiled
from surepick.engine.data import Arms
from surepick.engine.enums import Family
from surepick.engine.kernels.tournament import LOOSE, ORDER, SCORE, SECOND
from surepick.run.drive import drive

from .plain import same
from .test_engine import LONG, WORLDS
from .weighed import arms_of, seen

quick, minima, divergence = compiled("glr"), compiled("tournament"), compiled("divergence").divergence
UNIT, NORMAL, SPREAD, BETS = map(int, (Family.UNIT, Family.NORMAL, Family.SPREAD, Family.BETS))
shares = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
observed = st.floats(1, 1e6).map(math.floor)


class Two:
    """Two arms, as the kernels have them."""

    def __init__(self, kinds, n, p, rho, scale=(1.0, 1.0), shift=(0.0, 0.0), part=1.0, share=0.0) -> None:
        self.kinds, self.n, self.p, self.rho = np.array(kinds), np.array(n, dtype=float), np.array(p, dtype=float), rho
        self.scale, self.shift = np.array(scale), np.where(self.kinds == SPREAD, 0.0, shift)
        widest = np.where(self.kinds == SPREAD, 0.25, 1.0)
        self.low = np.where(self.kinds == NORMAL, -np.inf, self.shift)
        self.high = np.where(self.kinds == NORMAL, np.inf, self.shift + self.scale * widest * [part, 1.0])
        self.u = np.where(self.kinds == SPREAD, self.p * (1 - self.p), self.p)
        self.seen = self.shift + self.scale * self.u
        self.factor = np.where(self.kinds == BETS, self.n, self.n**2 / (self.n + rho))
        self.share = share

    @property
    def arms(self) -> Arms:
        return arms_of(self.kinds, self.n, self.p, self.low, self.high, self.shift, self.scale, self.rho, self.share)

    def rough(self, slopes: tuple[float, float]) -> float:
        return quick.glr(0, 1, *slopes, self.arms)

    def known(self) -> np.ndarray:
        half = np.zeros(2)
        columns = self.kinds, self.n, self.p, self.factor, half, self.seen, self.low, self.high, self.shift, self.scale
        columns = *columns, half, self.p, np.full(2, self.share)
        return np.column_stack(columns).astype(float)

    def least(self, slopes: tuple[float, float]) -> float:
        """What ``rough`` is about, on a fine grid; 4,001 levels between those seen."""
        start = max(s * low for s, low in zip(slopes, self.low, strict=True))
        end = min(s * high for s, high in zip(slopes, self.high, strict=True))
        at = np.clip(np.array(slopes) * self.seen, start, end)
        total = np.zeros(4001)
        for i, slope in enumerate(slopes):
            u = (np.linspace(at[1], at[0], 4001) / slope - self.shift[i]) / self.scale[i]
            total += self.factor[i] * np.array(
                [divergence(seen(self.kinds[i], self.n[i], self.p[i], self.p[i], self.share), x) for x in u]
            )
        return float(total.min())


def pairs(kinds) -> st.SearchStrategy[Two]:
    return st.builds(
        Two,
        kinds=kinds,
        n=st.tuples(observed, observed),
        p=st.tuples(shares, shares),
        rho=st.floats(5, 500),
        scale=st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)),
        shift=st.tuples(st.floats(-1, 1), st.floats(-1, 1)),
        part=st.sampled_from([0.4, 1.0, 1.0]),
        share=st.sampled_from([0.0, 0.5, 1.0]),
    )


any_kinds = st.tuples(*[st.sampled_from([UNIT, NORMAL, SPREAD, BETS])] * 2)
slope = st.floats(-2, 2).map(lambda x: 10**x)


@given(two=pairs(any_kinds), slopes=st.tuples(slope, slope), start=st.floats(0, 1))
@settings(max_examples=400, deadline=None)
def test_a_tangent_is_never_above_the_quick_evidence(two: Two, slopes: tuple[float, float], start: float) -> None:
    rough = two.rough(slopes)
    at = np.array(slopes) * two.seen
    for level in (math.nan, at[1] + start * (at[0] - at[1]), at[0], at[1]):
        for _ in range(3):  # at the level given, and at those it is led to
            found, level = quick.glr_bound(level, 0, 1, *slopes, two.known())
            assert not found > rough


@given(
    kind=st.sampled_from([UNIT, NORMAL]), n=st.tuples(observed, observed), p=st.tuples(shares, shares), rho=st.floats(5, 500)
)  # fmt: skip
@settings(max_examples=400, deadline=None)
def test_the_bound_for_arms_alike_is_never_above_the_quick_evidence(kind: int, n: tuple, p: tuple, rho: float) -> None:
    two = Two((kind, kind), n, p, rho)
    (w_h, w_j), (p_h, p_j) = two.factor, two.p
    bound, rough = quick.glr_bound_alike(0, 1, two.known()), two.rough((1.0, 1.0))
    assert bound <= rough
    if 0.2 <= p_j < p_h <= min(p_j + 0.1, 0.8):  # and is near it where it matters
        assert bound >= 0.99 * rough - 1e-12 * (w_h + w_j)


@given(two=pairs(any_kinds), slopes=st.tuples(slope, slope))
@settings(max_examples=150, deadline=None)
def test_the_quick_evidence_is_the_least_over_all_levels(two: Two, slopes: tuple[float, float]) -> None:
    rough = two.rough(slopes)
    if 0.0 < rough < math.inf:
        least = two.least(slopes)
        assert rough <= least * (1 + 1e-6) + 2e-9
        # A grid misses the least by what a step changes; it is convex, so by no more than the steepest end.
        finest = two.known()
        bound, level = quick.glr_bound(math.nan, 0, 1, *slopes, finest)
        for _ in range(60):
            bound, level = quick.glr_bound(level, 0, 1, *slopes, finest)
        assert rough >= bound


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_the_winner_of_the_tournament(data: st.DataObject) -> None:
    """Against looking at all, with many equal scores, after any changes of one or of neighbours."""
    spots = data.draw(st.integers(1, 40))
    count = data.draw(st.integers(1, spots))
    few = st.sampled_from([0.0, 0.5, 1.0, math.inf])
    scores = np.zeros((4, spots))
    scores[ORDER] = data.draw(st.permutations(range(spots)))

    def change(e: int) -> None:
        scores[SCORE, e], scores[SECOND, e] = data.draw(few), data.draw(st.integers(1, 3))
        scores[LOOSE, e] = data.draw(st.integers(0, 1))

    for e in range(count):
        change(e)
    tree = np.zeros(2 * minima.size_of(spots), dtype=np.int64)
    minima.enter(tree, count)
    minima.play(tree, 0, spots, scores)
    for _ in range(20):
        best = min(range(count), key=lambda e: (scores[SCORE, e], -scores[LOOSE, e], scores[SECOND, e], scores[ORDER, e]))
        assert tree[1] == best
        first = data.draw(st.integers(0, count - 1))
        last = data.draw(st.integers(first, count - 1))
        for e in range(first, last + 1):
            change(e)
        if data.draw(st.booleans()):
            minima.play(tree, first, last + 1, scores)
        else:  # one by one, after all have changed
            for e in data.draw(st.permutations(range(first, last + 1))):
                minima.play_one(tree, e, scores)


HARD = {
    **{name: case for name, case in LONG.items() if name != "plan"},
    "ties": (sp.TopK(30, 12), sp.Bernoulli([0.5] * 30)),
    "sure arms": (sp.TopK(12, 5), sp.Bernoulli([1.0] * 4 + [0.5] * 4 + [0.0] * 4)),
    "tied groups": (sp.BestOfEach(18, [i % 4 for i in range(18)], 2), sp.Bernoulli([0.4, 0.6] * 9)),
    "tied trees": (sp.SpanningTree([(i, j) for i in range(6) for j in range(i)]), sp.Bernoulli([0.5] * 15)),
    "two ranges": (sp.TopK([sp.Arm(f"{i}", low=-(i % 2), high=1) for i in range(14)], 4), sp.Beta(np.linspace(0.9, 0.1, 14), 3)),
    "normal": (
        sp.TopK([sp.Arm(f"{i}", kind="subgaussian", scale=1.0) for i in range(20)], 5),
        sp.Gaussian(np.linspace(2, 0, 20), 1.0),
    ),
    "spread": (
        sp.SampleAllocation([3, 5, 8, 13, 21], 30, arms=[sp.Arm(f"{i}", kind="bernoulli") for i in range(5)]),
        sp.Bernoulli([0.5, 0.3, 0.2, 0.1, 0.03]),
    ),
    "full strata": (
        sp.SampleAllocation([3, 5, 8, 13], 20, lower=[2, 2, 2, 3], upper=[4, 6, 9, 9]), sp.Beta([0.5, 0.4, 0.3, 0.6], 3),
    ),
    "variances": (sp.TopK(12, 4, parameter="variance"), sp.Bernoulli(np.linspace(0.02, 0.5, 12))),
    "measurements": (sp.TopK(40, 12), sp.Beta(np.linspace(0.6, 0.4, 40), 20)),
    "unlike measurements": (
        sp.BestOfEach([sp.Arm(f"{i}", low=-(i % 3), high=1 + i) for i in range(30)], [i % 4 for i in range(30)], 2),
        sp.Beta(np.linspace(0.8, 0.2, 30), 10),
    ),
    "many zeros": (sp.TopK(12, 4), sp.Replay([[0.0] * (3 + i) + [0.3, 0.45, 0.5] for i in range(12)])),
    "coins at first": (sp.TopK(9, 3), sp.Replay([[0.0, 1.0] * 30 + [0.25 + i / 100] for i in range(9)])),
    "measured strata": (sp.SampleAllocation([3, 5, 8, 13, 20, 9], 30), sp.Beta([0.5, 0.4, 0.3, 0.6, 0.5, 0.2], 6)),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD)
def test_long_runs_equal_those_that_score_every_exchange_in_every_round(name: str) -> None:
    problem, world = HARD[name]
    exchanges = sp.Explorer(problem, policy="joint").policy.pairs
    for delta, run in ((0.9, 0), (0.05, 1), (1e-6, 2)):
        same(problem, world, problem.m * 2 + 1_500_000 // (exchanges + 100), run, delta=delta, policy="joint")


def test_every_class_with_exchanges_is_here() -> None:
    kinds = {problem.kind for problem, _ in WORLDS.values() if problem.exchangeable}
    assert kinds - {problem.kind for problem, _ in HARD.values()} <= {"best-arm"}


FAR = {
    "at the end": (sp.TopK(2, 1), sp.Replay([[1.0], [1 - 2.0**-53]])),
    "at the other end": (sp.TopK(2, 1), sp.Replay([[5e-324], [0.0]])),
    "near the end": (sp.TopK(3, 1), sp.Beta([0.995] * 3, 2.0)),
    "far and narrow": (
        sp.TopK([sp.Arm(f"{i}", low=1000, high=1000 + 1e-9) for i in range(4)], 2), sp.Replay([[1000, 1000 + 1e-9]] * 4),
    ),
    "far away": (
        sp.TopK([sp.Arm(f"{i}", kind="subgaussian", scale=s) for i, s in enumerate([1.7, 3.3, 1, 3.3, 3.3, 1.7, 1])], 3),
        sp.Gaussian(1e12 + np.array([0, 2, 1, 0.5, 1, 1, 1]), [1.7, 3.3, 1, 3.3, 3.3, 1.7, 1]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAR)
def test_rounding_does_not_matter(name: str) -> None:
    """Where bounds that are not lowered enough would lead elsewhere, or divide by 0."""
    problem, world = FAR[name]
    for seed in range(25):
        runs = []
        for fast in (False, True):
            explorer = sp.Explorer(problem, 0.05, policy="joint", budget=150)
            drive(explorer, world, seed=seed, compiled=fast)
            runs.append(explorer.counts.tolist())
        assert runs[0] == runs[1]
