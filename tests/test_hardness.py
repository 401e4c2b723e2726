"""Radii, gaps, width and the bounds that follow from them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surepick as sp
from surepick.errors import ParameterError, SettingError

from .cases import CASES, vectors
from .reference import brute_solve, decisions_of, exact_reward

TOP3 = np.array([0.75, 0.70, 0.65, 0.55, 0.50, 0.45, 0.40, 0.35, 0.30, 0.25])


def test_the_reference_instances() -> None:
    h = sp.hardness(sp.TopK(10, 3), TOP3)
    assert h.H == pytest.approx(1521.653, abs=1e-2)
    assert h.H_uniform == pytest.approx(4000)
    assert h.gap == pytest.approx([0.2, 0.15, 0.1, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4])
    assert h.width == 2
    p = np.array([0.5, 0.3, 0.2, 0.1, 0.05])
    # A variance is at most 1/4 and the first arm is there; with room up to 1 its radius would be smaller, and H 109,249.
    h = sp.hardness(sp.SampleAllocation([1] * 5, 12), p * (1 - p))
    assert h.radius == pytest.approx([0.035, 0.025, 0.004375, 0.0275, 0.004375])
    assert h.H == pytest.approx(108_228.4, rel=1e-6)
    assert h.gap is None
    assert h.width is None


def test_the_bound_of_theorem_1() -> None:
    h = sp.hardness(sp.TopK(10, 3), TOP3)
    H = h.H
    assert h.upper_bound(0.05) == pytest.approx(20 + 12 * H * math.log(24 * H) + 4 * H * math.log(4 / 0.05))
    assert h.upper_bound(0.05, "uniform") == pytest.approx(20 + 48000 * math.log(96000) + 16000 * math.log(80))
    assert h.expected(0.05) == pytest.approx(26_588, rel=1e-3)
    assert 26_000 < h.expected(0.05) < h.upper_bound(0.05)
    with pytest.raises(SettingError, match="delta"):
        h.upper_bound(0)
    with pytest.raises(SettingError, match="policy"):
        h.expected(0.1, "luck")


def test_arms_that_cannot_change_and_ties() -> None:
    h = sp.hardness(sp.BestOfEach(3, ["x", "y", "y"]), [0.2, 0.4, 0.9])
    assert h.radius.tolist()[0] == math.inf
    assert h.gap is not None
    assert h.gap[0] == math.inf
    assert h.H == pytest.approx(2 / 0.25**2)
    everything = sp.hardness(sp.TopK(3, 3), [0.1, 0.2, 0.3])
    assert everything.H == 0
    assert everything.upper_bound(0.1) == everything.expected(0.1) == 3
    tie = sp.hardness(sp.BestArm(3), [0.5, 0.5, 0.1])
    assert tie.radius[:2].tolist() == [0, 0]
    assert tie.H == tie.H_uniform == tie.expected(0.1) == tie.upper_bound(0.1) == math.inf


def test_radii_are_shares_of_the_arms_scale() -> None:
    arms = [sp.Arm("a", low=0, high=10), sp.Arm("b", low=0, high=10)]
    assert sp.hardness(sp.BestArm(arms), [7, 3]).radius == pytest.approx([0.2, 0.2])
    gauss = [sp.Arm("a", kind="subgaussian", scale=0.5), sp.Arm("b", kind="subgaussian", scale=0.5)]
    assert sp.hardness(sp.BestArm(gauss), [103, 1]).radius == pytest.approx([51, 51])


@pytest.mark.parametrize("name", ["best-arm", "top-k", "best-of-each", "spanning-tree", "subsets"])
@given(data=st.data())
def test_gaps_and_radii_of_linear_classes(name: str, data: st.DataObject) -> None:
    """Delta against enumeration, and the paper's Lemma: Lambda_i >= Delta_i / width."""
    problem = data.draw(CASES[name])
    theta = data.draw(vectors(problem))
    decisions = decisions_of(problem)
    lead, best = brute_solve(problem, theta)
    h = sp.hardness(problem, theta)
    assert h.gap is not None
    for i in range(problem.m):
        others = [exact_reward(problem, theta, y) for y in decisions if y[i] != lead[i]]
        expected = float(exact_reward(problem, theta, lead) - max(others)) if others else math.inf
        assert h.gap[i] == pytest.approx(expected, abs=1e-12)
    if len(best) == 1 and len(decisions) > 1:
        assert h.width is not None
        assert (h.radius >= h.gap / h.width - 1e-9).all()


def test_width_by_enumeration() -> None:
    def width(decisions: list[list[int]]) -> int | None:
        return sp.hardness(sp.Subsets(len(decisions[0]), decisions), [0.5] * len(decisions[0])).width

    assert width([[1, 1, 0], [1, 0, 1], [0, 1, 1]]) == 2  # top-2 of 3
    assert width([[1, 1, 0, 0], [0, 0, 1, 1]]) == 4  # two disjoint pairs
    assert width([[1, 0, 0, 1], [0, 1, 1, 0]]) == 4  # the two matchings of a 4-cycle
    assert width([[1, 0]]) == 0
    # A path through one of two detours on each leg: one detour can be changed at a time.
    assert width([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]]) == 2
    big = np.array([[int(c) for c in f"{k:08b}"] for k in range(1, 200)])
    assert sp.hardness(sp.Subsets(8, big), np.linspace(0.1, 0.9, 8)).width is None


def test_bad_theta() -> None:
    with pytest.raises(ParameterError, match=r"theta\[1\] = 1.5 is outside the range \[0, 1\]"):
        sp.hardness(sp.BestArm(2), [0.5, 1.5])
    with pytest.raises(ParameterError, match="variance of arm 'stratum 0'"):
        sp.hardness(sp.SampleAllocation([1, 1], 5), [0.5, 0.1])
    with pytest.raises(ParameterError, match="shape"):
        sp.hardness(sp.BestArm(2), [0.5])
    with pytest.raises(ParameterError, match="nan"):
        sp.hardness(sp.BestArm(2), [0.5, math.nan])


def test_an_unbounded_arm_that_never_changes_hides_nothing() -> None:
    arms = [sp.Arm(n, kind="subgaussian", scale=1.0) for n in "abc"]
    assert sp.hardness(sp.BestOfEach(arms, ["x", "y", "y"]), [1, 2, 3]).radius == pytest.approx([math.inf, 0.25, 0.25])


def test_the_bound_for_variances_has_its_tau() -> None:
    p = np.array([0.5, 0.1])
    h = sp.hardness(sp.SampleAllocation([1, 1], 5), p * (1 - p))
    assert h.upper_bound(0.1) == pytest.approx(4 + 12 * h.H * math.log(24 * h.H) + 4 * h.H * math.log(4 / 0.2))


def test_a_path_in_a_graph_with_cycles_has_no_gaps() -> None:
    path = sp.Path([(0, 1), (1, 2), (2, 1), (0, 2), (1, 3), (2, 3)], 0, 3)
    h = sp.hardness(path, [0.3, 0.2, 0.4, 0.8, 0.6, 0.3])
    assert h.gap is None
    assert h.H_gap is None
    assert h.radius.min() == pytest.approx(0.1 / 3)  # 0-1-2-3 and 0-1-3 differ in three edges
