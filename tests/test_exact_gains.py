"""Gains of steps compared exactly, as fractions are."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from surepick.engine import compiled
from surepick.problems.allocate import exact_gain

SIZE = st.one_of(st.integers(1, 40).map(float), st.floats(1e-75, 1.0))
THETA = st.one_of(st.just(0.0), st.fractions(0, 1, max_denominator=40).map(float), st.floats(0.0, 1e30))
UNIT = st.one_of(st.integers(1, 60), st.integers(1, 2**53))


@given(SIZE, THETA, UNIT, SIZE, THETA, UNIT)
@example(1.0, 5e-324, 1, 1e-75, 1e30, 2**53)
@example(2.0, 0.1, 3, 4.0, 0.025, 3)
@example(3.0, 0.1, 1, 1.0, 0.9, 1)
def test_as_fractions(size: float, theta: float, unit: int, other: float, their: float, their_unit: int) -> None:
    mine, its = exact_gain(size, theta, unit), exact_gain(other, their, their_unit)
    assert compiled("exact").compare_gains(size, theta, unit, other, their, their_unit) == (mine > its) - (mine < its)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 50), st.integers(1, 50), st.floats(1e-9, 1.0), st.integers(-1, 1))
def test_gains_that_are_equal_or_all_but(size: int, other: int, unit: int, their_unit: int, theta: float, ulps: int) -> None:
    """Their parameter is the one that makes the gains equal, up to the last bit."""
    their = theta * size**2 * their_unit * (their_unit + 1) / (other**2 * unit * (unit + 1))
    their = float(np.nextafter(their, np.inf * ulps)) if ulps else their
    mine, its = exact_gain(size, theta, unit), exact_gain(other, their, their_unit)
    found = compiled("exact").compare_gains(float(size), theta, unit, float(other), their, their_unit)
    assert found == (mine > its) - (mine < its)
