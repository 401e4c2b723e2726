"""What exchanges could gain: guessed steps of a bisection, and shares of an epsilon, against the bisection itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surepick as sp
from surepick.engine import compiled as room_of
from surepick.engine.data import Arms, Exchanges
from surepick.engine.enums import Family, Stop
from surepick.engine.kernels.witnesses import Point
from surepick.engine.loops import Stretch
from surepick.engine.loops.near import far, gainable
from surepick.run.drive import drive

from .weighed import arms_of


def coins(m: int) -> list[sp.Arm]:
    return [sp.Arm(f"coin {i}", kind="bernoulli") for i in range(m)]


COUNTS = st.floats(0, 7).map(lambda x: float(int(math.exp(x))))


@st.composite
def some_arms(draw: st.DrawFn, m: int = 2) -> Arms:
    """Arms of one family with m means, the first ones mostly the larger ones."""
    family = int(draw(st.sampled_from(list(Family))))
    n = np.array([draw(COUNTS) for _ in range(m)])
    p = np.sort(np.array([draw(st.floats(0, 1)) for _ in range(m)]))[::-1].copy()
    if draw(st.booleans()):
        p = np.round(p * n) / n
    if family == Family.SPREAD:
        p *= 0.5
    wide = draw(st.sampled_from([1.0, 1.0, 0.1, 20.0]))
    scale, shift = np.r_[wide, np.ones(m - 1)], np.r_[draw(st.sampled_from([0.0, 0.0, -1.0, 0.3])), np.zeros(m - 1)]
    low, high = shift.copy(), shift + scale * (0.25 if family == Family.SPREAD else 1.0)
    if family == Family.NORMAL:
        low, high = np.full(m, -np.inf), np.full(m, np.inf)
    rho, share = draw(st.sampled_from([1.0, 4.0, 40.0])), draw(st.sampled_from([0.0, 0.5, 1.0]))
    return arms_of(np.full(m, family), n, p, low, high, shift, scale, rho, share)


def bisected(arms: Arms, slopes: tuple[float, float], threshold: float) -> float:
    """``lead`` as it is meant: step by step."""
    least_evidence, base_of = room_of("least").least_evidence, room_of("glr").base_of
    base = base_of(0, 1, *slopes, arms)
    least, most = 0.0, slopes[1] * (arms.high[1] - base) - slopes[0] * (arms.low[0] - base)
    if not most < math.inf:
        most = 1.0
        while least_evidence(0, 1, *slopes, arms, most, threshold) < threshold:
            most *= 4.0
    while most - least > 1e-3 * most:
        middle = 0.5 * (least + most)
        if least_evidence(0, 1, *slopes, arms, middle, threshold) < threshold:
            least = middle
        else:
            most = middle
        if most < 1e-12 * (slopes[0] * arms.scale[0] + slopes[1] * arms.scale[1]):
            break
    return max(most, 0.0)


@settings(deadline=None, max_examples=150)
@given(some_arms(), st.sampled_from([(1.0, 1.0), (1.0, 1.0), (0.3, 2.0)]), st.floats(1, 20))
def test_a_guessed_step_is_that_of_the_bisection(arms: Arms, slopes: tuple[float, float], threshold: float) -> None:
    assert room_of("leads").lead(0, 1, *slopes, arms, threshold) == bisected(arms, slopes, threshold)


@settings(deadline=None, max_examples=150)
@given(some_arms(), st.floats(1, 20))
def test_what_is_guessed_is_possible(arms: Arms, threshold: float) -> None:
    guess = room_of("leads").about(0, 1, arms, threshold)
    assert 0.0 <= guess
    assert guess == 0.0 or room_of("least").least_evidence(0, 1, 1.0, 1.0, arms, guess, -np.inf) < threshold


def test_guesses_are_of_use() -> None:
    """By the exact evidence they are nearer than those of witnesses alone."""
    rng, off, sharp = np.random.default_rng(3), [], []
    for _ in range(200):
        n = np.exp(rng.uniform(3, 7, 2)).astype(int).astype(float)
        p = np.sort(rng.uniform(0.1, 0.9, 2))[::-1].copy()
        arms = arms_of(np.zeros(2, np.int64), n, p, np.zeros(2), np.ones(2), np.zeros(2), np.ones(2), 4.0)
        most = room_of("leads").lead(0, 1, 1.0, 1.0, arms, 7.0)
        if most > 1e-3:
            blurs = np.array([room_of("gains").blur(i, arms) for i in range(2)])
            x, _ = room_of("witnesses").divide(np.zeros((2, len(Point))), 0, 0, 1, 7.0, blurs, arms)
            off.append(1 - x / most)
            sharp.append(1 - room_of("leads").about(0, 1, arms, 7.0) / most)
    assert len(off) > 50
    assert np.quantile(sharp, 0.9) < 2e-3 < np.quantile(off, 0.9)


@settings(deadline=None, max_examples=60)
@given(
    some_arms(5), st.integers(1, 4), st.floats(1, 15), st.sampled_from([-0.02, -2e-3, -1e-4, 0.0, 1e-4, 2e-3, 5e-3, 0.02, 0.3])
)
def test_within_together_is_what_together_says(arms: Arms, k: int, threshold: float, off: float) -> None:
    """Also where the bound is nearly what could be gained, and exactly that."""
    pairs = [(h, j) for h in range(k) for j in range(k, 5)]
    high, low = (np.array([pair[side] for pair in pairs]) for side in range(2))
    swaps, ones = Exchanges(high, low, np.ones(len(pairs)), np.ones(len(pairs))), np.arange(len(pairs))
    given_: Any = swaps, arms, threshold
    most = (1.0 + off) * room_of("leads").together(ones, np.inf, *given_)
    assert room_of("leads").within_together(ones, most, *given_) == (room_of("leads").together(ones, most, *given_) < np.inf)


def test_rounds_near_the_end_are_told_from_witnesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """That the decision is not within epsilon yet is hardly ever left to the whole computation, on which runs once spent most of
    their time: in 50 rounds of this one."""
    unknown = 0

    def one_by_one(stretch: Stretch, limit: int, rounds: int) -> tuple[int, int]:
        nonlocal unknown
        game, near = stretch.given[1:]
        what, arm = Stop.PAUSED.value, -1
        for _ in range(rounds):
            what, arm = stretch.kernel(*stretch.given, limit, 1)
            if what != Stop.PAUSED:
                break
            unknown += not near.holds[0] and near.most.any() and not far(gainable(game, near), game, near)
        return what, arm

    monkeypatch.setattr(Stretch, "__call__", one_by_one)
    explorer = sp.Explorer(sp.TopK(coins(10), 3), epsilon=0.1)
    drive(explorer, sp.Bernoulli([0.75, 0.7, 0.65, 0.55, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25]), seed=0)
    assert explorer.samples == 1491
    assert unknown <= 5


def test_a_run_that_once_took_very_long_for_want_of_a_witness() -> None:
    p = np.round(np.sort(np.random.default_rng(3).uniform(0.1, 0.7, 50))[::-1], 3)
    explorer = sp.Explorer(sp.TopK(coins(50), 5), epsilon=0.1)
    drive(explorer, sp.Bernoulli(p), seed=0, run=2)
    assert (explorer.certified, explorer.samples) == (True, 46_312)
