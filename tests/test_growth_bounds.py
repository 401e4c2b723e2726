"""Lower bounds of the likelihood ratio by bets, side by side: never above it, and near it once a level is found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from surepick.engine.data import Arms
from surepick.engine.enums import Family
from surepick.engine.kernels.bets import atoms_of
from surepick.engine.kernels.divergence import divergence
from surepick.engine.kernels.glr import glr, seen_of
from surepick.engine.kernels.growth_bounds import Peer, growth_bounds
from surepick.engine.kernels.near_log import LOG_ERROR, near_log


@njit
def logs(x):
    found = np.empty(len(x))
    for q in range(len(x)):
        found[q] = near_log(x[q])
    return found


def test_the_logarithm_is_near() -> None:
    x = np.concatenate((np.geomspace(1e-300, 1e300, 20_001), np.linspace(0.4, 3, 20_001), 1 + np.geomspace(1e-16, 0.1, 99)))
    assert (np.abs(logs(x) - np.log(x)) <= LOG_ERROR * (1 + np.abs(np.log(x)))).all()


def some_arms(rng: np.random.Generator, m: int) -> Arms:
    """Arms of all sorts of values, in units of their own."""
    n, p, inner, share = np.empty((4, m))
    for i in range(m):
        values = rng.beta(*rng.uniform(0.05, 30, 2), int(rng.integers(1, 400)))
        values = np.where(rng.random(len(values)) < rng.choice([0, 0, 0.3]), rng.integers(0, 2, len(values)), values)
        n[i], p[i] = len(values), values.mean()
        inner[i], share[i] = atoms_of(n[i], (values**2 * (1 - values)).sum(), (values * (1 - values) ** 2).sum())
    scale = np.ones(m) if rng.random() < 0.5 else rng.uniform(0.3, 4, m)
    shift = np.zeros(m) if rng.random() < 0.5 else rng.uniform(-2, 2, m)
    families = rng.choice([Family.BETS, Family.LUMPS, Family.SQUARES], m)
    return Arms(families, n, p, shift, shift + scale, shift, scale, np.full(m, 80.0), np.array([inner, share]), np.ones(m))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_bounds_are_below_the_likelihood_ratio_and_come_near(seed: int, upper: bool, slopes_differ: bool) -> None:
    rng, m = np.random.default_rng(seed), 12
    arms = some_arms(rng, m)
    if slopes_differ:
        arms = arms._replace(low=np.zeros(m), shift=np.zeros(m), high=arms.scale)
    slopes = rng.uniform(0.2, 3, m) if slopes_differ else np.ones(m)
    lined = np.array([arms.n, arms.p, *arms.atoms, arms.low, arms.high, arms.shift, arms.scale])
    assert len(lined) == len(Peer)
    levels, found = np.where(rng.random(m) < 0.5, np.nan, rng.uniform(-2, 4, m)), np.empty(m)
    exact = np.array([
        glr(0, q, slopes[0], slopes[q], arms) if upper else glr(q, 0, slopes[q], slopes[0], arms) for q in range(m)
    ])  # fmt: skip
    for _ in range(60):
        growth_bounds(lined[:, 0].copy(), slopes[0], upper, levels, slopes, lined, found)
        below = (found <= exact) | (np.isinf(exact) & (found > 0))
        assert below[1:].all(), (found, exact)
    finite = np.isfinite(exact)
    finite[0] = False
    assert found[finite] == pytest.approx(exact[finite], rel=2e-2, abs=2e-2)


def test_an_optimistic_bound_would_be_noticed() -> None:
    """The planted bug: the value at a level that is not the least, without its tangent."""
    rng = np.random.default_rng(5)
    values = [rng.beta(7, 3, 50), rng.beta(30, 70, 50)]
    arms = some_arms(rng, 2)._replace(
        n=np.full(2, 50.0), p=np.array([x.mean() for x in values]), low=np.zeros(2), high=np.ones(2), shift=np.zeros(2),
        scale=np.ones(2), atoms=np.full((2, 2), 0.5),
    )  # fmt: skip
    lined = np.array([arms.n, arms.p, *arms.atoms, arms.low, arms.high, arms.shift, arms.scale])
    exact, found = glr(0, 1, 1.0, 1.0, arms), np.empty(2)
    assert exact > 0
    growth_bounds(lined[:, 0].copy(), 1.0, True, np.full(2, np.nan), np.ones(2), lined, found)
    assert math.isfinite(found[1])
    assert found[1] <= exact
    u = 0.5
    assert sum(n * divergence(seen_of(i, arms), (u - arms.shift[i]) / arms.scale[i]) for i, n in enumerate(arms.n)) > exact
