"""The least evidence of two arms, on which joint certificates, gaps and the attained confidence rest, against brute force.

States are drawn at random: few and many observations (from one on), means at and near the ends of their range, all kinds of arms,
slopes and scales, and a lead that is granted. The judge looks at tens of thousands of levels, dense around what is seen and
around both ends, and at all pairs of parameters (not only at those on the boundary of the claim).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from scipy.special import betaincc
from scipy.stats import binom

import surepick as sp
from surepick.engine.data import Arms
from surepick.engine.enums import Family
from surepick.engine.kernels import mixtures
from surepick.engine.kernels.least import evidence_at, least_evidence, tame
from surepick.engine.kernels.mixtures import ABOVE, BELOW, BOTH
from surepick.run.drive import drive

from .weighed import arms_of, evidence, seen

NORMAL, SPREAD = int(Family.NORMAL), int(Family.SPREAD)


@njit
def weigh_all(kind, n, p, u, rho, side):
    out = np.empty(len(u))
    for k in range(len(u)):
        out[k] = evidence(kind, n, p, u[k], rho, side)
    return out


class State(NamedTuple):
    slopes: np.ndarray
    kinds: np.ndarray
    n: np.ndarray
    p: np.ndarray
    low: np.ndarray
    high: np.ndarray
    shift: np.ndarray
    scale: np.ndarray
    rho: float
    more: float

    def sure(self, enough: float = -math.inf) -> float:
        return float(least_evidence(0, 1, *self.slopes, self.arms, self.more, enough))

    @property
    def arms(self) -> Arms:
        return arms_of(*self[1:-1])

    @property
    def seen(self) -> np.ndarray:
        u = np.where(self.kinds == SPREAD, self.p * (1 - self.p), self.p)
        return self.slopes * (self.shift + self.scale * u) + [self.more, 0.0]

    def ends(self) -> tuple[float, float]:
        """Levels that both arms can be at; of normal arms those that matter."""
        more, far = np.array([self.more, 0.0]), 50 * float((self.slopes * self.scale).max())
        low, high = (self.slopes * self.low + more).max(), (self.slopes * self.high + more).min()
        return max(low, self.seen.min() - far), min(high, self.seen.max() + far)

    def one_arm(self, i: int, levels: np.ndarray) -> np.ndarray:
        theta = (levels - (self.more if i == 0 else 0.0)) / self.slopes[i]
        u = (theta - self.shift[i]) / self.scale[i]
        return weigh_all(self.kinds[i], self.n[i], self.p[i], u, self.rho, ABOVE if i == 0 else BELOW)

    def brute(self) -> tuple[float, float]:
        """The least over common levels, and over all pairs of parameters for which the claim is false."""
        start, end = self.ends()
        away = np.geomspace(1e-12, 1, 1500) * (end - start)
        around = [start + away, end - away, *(at + side * away for at in self.seen for side in (-1, 1))]
        levels = np.unique(np.clip(np.concatenate((np.linspace(start, end, 2001), *around)), start, end))
        own = []
        for i in range(2):
            low, high = (self.slopes[i] * x[i] + (self.more if i == 0 else 0.0) for x in (self.low, self.high))
            own.append(np.unique(np.append(levels, np.linspace(low, high, 1001))) if np.isfinite(high - low) else levels)
        boundary = (self.one_arm(0, levels) + self.one_arm(1, levels)).min()
        below = np.minimum.accumulate(self.one_arm(0, own[0]))  # the least of the first arm up to a level
        last = np.searchsorted(own[0], own[1], side="right") - 1
        everywhere = (below[last[last >= 0]] + self.one_arm(1, own[1])[last >= 0]).min()
        return float(boundary), float(everywhere)


def a_state(rng: np.random.Generator) -> State:
    kinds = np.full(2, rng.integers(3)) if rng.random() < 0.7 else rng.integers(3, size=2)
    n = np.floor(10 ** rng.uniform(0, rng.choice([1, 3, 6], size=2)))
    p = np.empty(2)
    for i in range(2):
        choices = 0.0, 1.0, rng.random(), rng.integers(0, int(n[i]) + 1) / n[i], rng.random() ** 8
        p[i] = rng.normal() if kinds[i] == NORMAL else choices[rng.integers(5)]
    plain = rng.random(3) < 0.5
    slopes = np.ones(2) if plain[0] else 10 ** rng.uniform(-3, 3, 2)
    scale = np.ones(2) if plain[1] else 10 ** rng.uniform(-2, 2, 2)
    shift = np.zeros(2) if plain[2] or (kinds == SPREAD).any() else rng.normal(size=2)
    low = np.where(kinds == NORMAL, -np.inf, shift)
    high = np.where(kinds == NORMAL, np.inf, shift + scale * np.where(kinds == SPREAD, 0.25, 1.0))
    state = State(slopes, kinds, n, p, low, high, shift, scale, 10 ** rng.uniform(0, 3), 0.0)
    if rng.random() < 0.5:
        return state
    return state._replace(more=2 * rng.random() * (abs(state.seen[0] - state.seen[1]) + slopes[1] * scale[1]))


@pytest.mark.parametrize("seed", range(4))
def test_the_least_is_never_overstated(seed: int) -> None:
    rng = np.random.default_rng(seed)
    judged = 0
    for _ in range(150):
        state = a_state(rng)
        start, end = state.ends()
        if state.seen[0] <= state.seen[1] or start > end:
            continue
        judged += 1
        found = state.sure()
        boundary, everywhere = state.brute()
        near = 1e-6 + 1e-12 * abs(boundary)
        assert found <= boundary + near, state
        assert found <= everywhere + near, state
        assert found >= boundary - max(0.05, 1e-3 * abs(boundary)), state  # nor far understated: that would cost samples
        assert state.sure(found + 1.0) <= found + 1.0
    assert judged > 50


def an_unlike_state(rng: np.random.Generator) -> State:
    """Arms whose units differ by up to 14 orders of magnitude: their valleys lie within a tiny part of the range of one."""
    state = a_state(rng)
    kinds = np.where(state.kinds == SPREAD, 0, state.kinds)
    scale = np.array([1.0, 10 ** rng.uniform(1, 14)])[:: rng.choice([-1, 1])]
    low = np.where(kinds == NORMAL, -np.inf, 0.0)
    high = np.where(kinds == NORMAL, np.inf, scale)
    return State(np.ones(2), kinds, state.n, state.p, low, high, np.zeros(2), scale, state.rho, 0.0)


KNOWN = [  # kinds, n, p, scale, rho: states whose least was once overstated, by up to 129
    ([0, 0], [2, 5423], [1.0, 0.0], [1e5, 1e-3], 129.5270236814732),
    ([0, 0], [1369, 93962], [0.259523986, 2.53291808e-05], [1e5, 1e-4], 393.1069993833699),
    ([0, 1], [1, 7], [1.0, -0.02123126], [1e4, 1.0], 439.08411656966763),
    ([0, 1], [714, 67], [0.0, -0.8874476], [1.0, 1e9], 19.003438287059627),
    ([0, 1], [2, 1], [0.09612335, 0.00305779], [1e11, 1.0], 3.0571643585183463),
]


@pytest.mark.parametrize("seed", range(2))
def test_the_least_of_unlike_arms_is_never_overstated(seed: int) -> None:
    rng, judged = np.random.default_rng(seed), 0
    states = [an_unlike_state(rng) for _ in range(250)]
    for kinds, n, p, scale, rho in KNOWN:
        low, high = np.where(kinds, -np.inf, 0.0), np.where(kinds, np.inf, scale)
        given = np.ones(2), np.array(kinds), np.array(n, dtype=float), np.array(p), low, high, np.zeros(2), np.array(scale)
        states.append(State(*given, rho, 0.0))
    for state in states:
        start, end = state.ends()
        if state.seen[0] <= state.seen[1] or start > end:
            continue
        judged += 1
        found, (boundary, everywhere) = state.sure(), state.brute()
        assert found <= min(boundary, everywhere) + 1e-6 + 1e-9 * abs(boundary), state
        enough = boundary + 1e-3 * (1 + abs(boundary))
        assert not state.sure(enough) >= enough, state
    assert judged > 80


@pytest.mark.parametrize("seed", range(3))
def test_whether_it_is_enough_is_answered_as_the_search_answers(seed: int) -> None:
    """The quick way to tell never says yes where the least is below, and says so where it is clearly above."""
    rng, asked = np.random.default_rng(seed), 0
    for _ in range(300):
        state = a_state(rng)
        if state.seen[0] <= state.seen[1] or state.ends()[0] > state.ends()[1]:
            continue
        least = state.sure()
        if 0.1 < least < math.inf:
            asked += 1
            for share in (0.5, 0.9, 0.99, 1.00003, 1.0001, 1.001, 1.01, 1.1, 2.0):
                enough = share * least
                assert (state.sure(enough) >= enough) == (share < 1), (state, share)
    assert asked > 50


def test_what_runs_out_of_levels_is_not_enough() -> None:
    """Just above the least, more levels are needed than are looked at; the answer is then no."""
    state = State(
        np.ones(2), np.array([0, 1]), np.array([864.0, 842.0]), np.array([0.99884259, -0.30307968]), np.array([0.0, -np.inf]),
        np.array([1.0, np.inf]), np.zeros(2), np.ones(2), 85.98853197464915, 0.0,
    )  # fmt: skip
    least = state.sure()
    for more in (1e-6, 1e-4, 0.003, 0.01, 0.03, 0.05):
        assert state.sure(least + more) < least + more


def test_evidence_falls_towards_what_is_seen() -> None:
    """Evidence that an arm is above a level falls as the level rises to where the arm is seen; as bounds need it."""
    rng = np.random.default_rng(8)
    for _ in range(300):
        state = a_state(rng)
        kind, n, p, rho = state.kinds[0], state.n[0], state.p[0], state.rho
        if kind == SPREAD or not tame(0, state.arms):
            continue
        for side in (ABOVE, BELOW):
            end = p - 60 * side if kind == NORMAL else 0.0 if side == ABOVE else 1.0
            away = np.unique(np.concatenate((np.linspace(0, 1, 500), np.geomspace(1e-12, 1, 500))))
            falling = weigh_all(kind, n, p, end + (p - end) * away, rho, side)
            assert (np.diff(falling) <= 1e-9 * (1 + np.abs(falling[1:]))).all(), (state, side)


def test_a_search_that_leaves_out_far_corners_would_be_noticed() -> None:
    """The judge sees what once was wrong: a search between the levels seen only."""
    rng, missed = np.random.default_rng(0), 0
    for _ in range(150):
        state = a_state(rng)
        start, end = state.ends()
        if state.seen[0] > state.seen[1] and start <= end:
            levels = np.clip(np.linspace(*state.seen[::-1], 400), start, end)
            missed += (state.one_arm(0, levels) + state.one_arm(1, levels)).min() > state.brute()[0] + 1e-6
    assert missed > 10


def test_the_ends_of_an_interval_are_the_furthest() -> None:
    """No parameter outside of an interval has evidence at most its level."""
    rng = np.random.default_rng(5)
    for _ in range(150):
        state = a_state(rng)
        kind, n, p, rho, level = state.kinds[0], state.n[0], state.p[0], state.rho, rng.uniform(0.1, 20)
        lower, upper = mixtures.interval(seen(kind, n, p), rho, level)
        most = 0.25 if kind == SPREAD else 1.0
        bottom, top = (lower - 50, upper + 50) if kind == NORMAL else (0.0, most)
        away = np.geomspace(1e-12, 1, 1500) * (top - bottom)
        u = np.concatenate((np.linspace(bottom, top, 1001), bottom + away, top - away, lower - away, upper + away))
        u = u[(u >= bottom) & (u <= top) & ((u < lower - 1e-11) | (u > upper + 1e-11))]
        assert (weigh_all(kind, n, p, u, rho, BOTH) >= level - 1e-6).all(), (state, level)


def test_tails_of_the_beta_law() -> None:
    rng = np.random.default_rng(6)
    for _ in range(2000):
        a, b, x = 10 ** rng.uniform(-4, 4), 10 ** rng.uniform(-4, 4), rng.random() ** rng.choice([1, 6])
        tail = betaincc(a, b, x)
        if 1e-290 < tail < 1 and 0 < x < 1:
            assert mixtures.log_tail(a, b, x) == pytest.approx(math.log(tail), rel=1e-8, abs=1e-8)
    # P(Beta(a, b) > x) = a (ln(1 / x) - (digamma(b) + Euler's constant)) to first order in a, b x being small
    for a in (1e-11, 1e-9, 1e-7):
        assert mixtures.log_tail(a, 1.0, 1e-9) == pytest.approx(math.log(-math.expm1(a * math.log(1e-9))), abs=1e-4)


def test_states_that_were_once_overstated() -> None:
    coins = [sp.Arm("one", kind="bernoulli"), sp.Arm("other", kind="bernoulli")]
    ex = sp.Explorer(sp.BestArm(coins), 1e-6)
    ex.tell(0, 1.0)
    ex.tell(1, [1.0, 0.0] * 400)
    assert ex.certificate().gap == pytest.approx(0.589, abs=1e-3)
    attained = []
    for zeros in (100, 200, 300, 400, 800):
        ex = sp.Explorer(sp.BestArm(coins))
        ex.tell(0, 1.0)
        ex.tell(1, [0.0] * zeros)
        assert not ex.done
        attained.append(ex.attained())
    assert attained == sorted(attained, reverse=True)
    assert attained[3] == pytest.approx(0.1226, abs=1e-3)


def test_gaps_and_attained_confidence_hold_as_often_as_they_say() -> None:
    """One success in few tries against many: at no look does a wrong decision attain p, or the gap fall short, too often."""
    world, runs = sp.Bernoulli([0.02, 0.03]), 2000
    short, attained = np.zeros(runs, bool), np.ones(runs)
    for run in range(runs):
        ex = sp.Explorer(sp.BestArm(2), 0.05)
        rngs = [np.random.default_rng((11, run, i)) for i in range(2)]
        ex.tell(1, world.sample(1, 1, rngs[1]))
        for n in (1, 9, 90, 300):
            ex.tell(0, world.sample(0, n, rngs[0]))
            certificate = ex.certificate()
            if certificate.decision[0]:
                attained[run] = min(attained[run], ex.attained())
                short[run] |= certificate.gap < 0.01
    assert short.sum() <= binom.isf(1e-6, runs, 0.05)
    for p in (1e-2, 1e-4, 1e-6):
        assert (attained <= p).sum() <= binom.isf(1e-6, runs, p)


def test_joint_stops_where_brute_force_would() -> None:
    """When a run is certified, the least evidence by brute force is above the threshold."""
    for seed in range(5):
        explorer = sp.Explorer(sp.TopK(4, 2))
        drive(explorer, sp.Bernoulli([0.9, 0.7, 0.4, 0.05]), seed=seed)
        policy, view = explorer.policy, explorer.view
        kinds, n, p, low, high, shift, scale, rho, *_ = policy.weigh(view)
        for h in np.flatnonzero(explorer.decision):
            for j in np.flatnonzero(explorer.decision == 0):
                two = [h, j]
                state = State(np.ones(2), kinds[two], n[two], p[two], low[two], high[two], shift[two], scale[two], rho[0], 0.0)
                assert min(state.brute()) >= policy.threshold(0.05) - 1e-6


def test_levels_that_are_nearly_the_same_hide_no_valley() -> None:
    """The ends of two arms of nearly the same scale are levels of the grid; rounding tells which of them has less evidence."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, rho = np.floor(10 ** rng.uniform(1, 4, 2)), 10 ** rng.uniform(1, 3)
        scale = 0.05 * (1 + 1e-3 * rng.random(2))
        p = np.array([rng.uniform(0.1, 2.0), -rng.uniform(0.01, 0.5)])
        unbounded = np.full(2, np.inf)
        arms = arms_of(np.full(2, int(Family.NORMAL)), n, p, -unbounded, unbounded, np.zeros(2), scale, rho)
        found = least_evidence(0, 1, 1.0, 1.0, arms)
        levels = np.linspace(p[1] * scale[1], p[0] * scale[0], 400)
        least = min(evidence_at(g, 0, 1, 1.0, 1.0, arms, 0.0) for g in levels)
        assert found <= least + 1e-12 * abs(least)
