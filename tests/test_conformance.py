"""One suite that every decision class passes. A new class joins by a line in ``cases.CASES``."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surepick as sp
from surepick.problems import PROBLEMS

from .cases import CASES, boxes, vectors
from .reference import brute_solve, corners, decisions_of, exact_reward, points_of, undecided_by_calls, varies

BIMONOTONE = [
    "best-arm", "top-k", "best-of-each", "spanning-tree", "sample-allocation", "convex-plan", "unequal-arms", "separable-theta",
]  # fmt: skip
every_class = pytest.mark.parametrize("name", CASES)
bimonotone_class = pytest.mark.parametrize("name", BIMONOTONE)


def test_the_classes_say_what_they_are() -> None:
    @given(st.data())
    def check(data: st.DataObject) -> None:
        for name, strategy in CASES.items():
            assert data.draw(strategy).bimonotone == (name in BIMONOTONE) or name in ("any-plan", "unlisted-plan")

    check()


def test_every_registered_class_has_a_case() -> None:
    seen = set()

    @given(st.data())
    def look(data: st.DataObject) -> None:
        seen.update(data.draw(strategy).kind for strategy in CASES.values())

    look()
    assert set(PROBLEMS) <= seen


@every_class
@given(data=st.data())
def test_solve_is_the_leading_optimum(name: str, data: st.DataObject) -> None:
    problem = data.draw(CASES[name])
    theta = data.draw(vectors(problem))
    lead, best = brute_solve(problem, theta)
    decision = tuple(problem.solve(theta).tolist())
    assert decision in best
    assert decision == lead or lead is None
    assert decision == tuple(problem.solve(theta.copy()).tolist())


@every_class
@given(data=st.data())
def test_reward_is_the_definition(name: str, data: st.DataObject) -> None:
    problem = data.draw(CASES[name])
    theta = data.draw(vectors(problem))
    y = data.draw(st.sampled_from(decisions_of(problem)))
    assert problem.reward(theta, y) == pytest.approx(float(exact_reward(problem, theta, y)), abs=1e-12, rel=1e-12)
    other = data.draw(vectors(problem))
    ends = np.minimum(theta, other), np.maximum(theta, other)
    low, high = problem.reward_range(*ends, np.array(y, dtype=float))
    near = 1e-9 * (1 + abs(low) + abs(high))
    assert low - near <= problem.reward((theta + other) / 2, y) <= high + near


@every_class
@given(data=st.data())
def test_undecided_leaves_out_no_arm_that_changes(name: str, data: st.DataObject) -> None:
    problem = data.draw(CASES[name])
    lower, upper = data.draw(boxes(problem))
    seed = data.draw(st.integers(0, 2**32 - 1))
    undecided = problem.undecided(lower, upper)
    found = varies(problem, points_of(lower, upper, np.random.default_rng(seed), 40))
    assert not (found & ~undecided).any()


@bimonotone_class
@given(data=st.data())
def test_undecided_is_exact_for_bimonotone_classes(name: str, data: st.DataObject) -> None:
    problem = data.draw(CASES[name])
    lower, upper = data.draw(boxes(problem))
    undecided = problem.undecided(lower, upper)
    assert (undecided == undecided_by_calls(problem, lower, upper)).all()
    assert (undecided == varies(problem, corners(lower, upper))).all()


@given(data=st.data())
def test_undecided_is_exact_for_subsets(data: st.DataObject) -> None:
    """y leads somewhere on the box iff it leads at a corner: for 0/1 decisions, at (U on y, L off y)."""
    problem = data.draw(CASES["subsets"])
    lower, upper = data.draw(boxes(problem))
    assert (problem.undecided(lower, upper) == varies(problem, corners(lower, upper))).all()


@pytest.mark.parametrize("name", ["real-vectors", "any-plan"])
@given(data=st.data())
def test_undecided_is_exact_for_listed_decisions(name: str, data: st.DataObject) -> None:
    """Where rewards are generic, an arm is undecided iff some decision that changes it is optimal somewhere."""
    problem = data.draw(CASES[name])
    middle = data.draw(vectors(problem))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    reach = rng.random(problem.m) * 0.2
    lower, upper = np.clip(middle - reach, 0, 1), np.clip(middle + reach, 0, 1)
    undecided = problem.undecided(lower, upper)
    found = varies(problem, [*corners(lower, upper), *points_of(lower, upper, rng, 400)])
    assert not (found & ~undecided).any()
    for i in np.flatnonzero(undecided & ~found):  # rare: the region is thin; its witness must exist all the same
        assert _witness(problem, lower, upper, int(i), problem.solve(lower)[i])


def _witness(problem: sp.Problem, lower: np.ndarray, upper: np.ndarray, arm: int, value: float) -> bool:
    """Some decision with another entry is optimal at some point, by maximising its lead over all others."""
    from scipy.optimize import linprog

    Y = np.array(decisions_of(problem), dtype=float)
    zero = np.zeros(problem.m)
    offset = np.array([float(exact_reward(problem, zero, tuple(y))) for y in Y])
    A = np.array([[float(exact_reward(problem, e, tuple(y))) for e in np.eye(problem.m)] for y in Y]) - offset[:, None]
    for y in np.flatnonzero(Y[:, arm] != value):
        cost = np.append(zero, -1.0)
        left = np.column_stack((A - A[y], np.ones(len(Y))))
        left[y] = 0
        lead = linprog(cost, A_ub=left, b_ub=offset[y] - offset, bounds=[*zip(lower, upper, strict=True), (None, 1)])
        if lead.status == 0 and -lead.fun >= -1e-8:
            return True
    return False


@every_class
@given(data=st.data())
def test_a_smaller_box_never_makes_an_arm_undecided(name: str, data: st.DataObject) -> None:
    problem = data.draw(CASES[name])
    lower, upper = data.draw(boxes(problem))
    shares = data.draw(st.lists(st.tuples(*[st.integers(0, 8)] * 2), min_size=problem.m, max_size=problem.m))
    ends = np.sort(np.array(shares) / 8, axis=1)
    inner = lower + ends[:, 0] * (upper - lower), lower + ends[:, 1] * (upper - lower)
    assert not (problem.undecided(*inner) & ~problem.undecided(lower, upper)).any()


@every_class
@given(data=st.data())
def test_a_point_decides_every_arm(name: str, data: st.DataObject) -> None:
    problem = data.draw(CASES[name])
    theta = data.draw(vectors(problem))
    if problem.exact or len(brute_solve(problem, theta)[1]) == 1:
        assert not problem.undecided(theta, theta).any()


@bimonotone_class
@given(data=st.data())
def test_bimonotonicity(name: str, data: st.DataObject) -> None:
    problem = data.draw(CASES[name])
    theta = data.draw(vectors(problem))
    i = data.draw(st.integers(0, problem.m - 1))
    raised = theta.copy()
    raised[i] = data.draw(vectors(problem))[i]
    if raised[i] < theta[i]:
        theta, raised = raised, theta
    sign = -1 if getattr(problem, "sense", "max") == "min" else 1
    change = sign * (problem.solve(raised) - problem.solve(theta))
    assert change[i] >= 0
    assert (np.delete(change, i) <= 0).all()


@every_class
@given(data=st.data())
def test_rival_bounds_every_other_decision(name: str, data: st.DataObject) -> None:
    """G is at least the brute-force maximum over decisions and corners; the rival is a decision of the class."""
    problem = data.draw(CASES[name])
    lower, upper = data.draw(boxes(problem))
    y = np.array(data.draw(st.sampled_from(decisions_of(problem)) | st.just(problem.solve((lower + upper) / 2)).map(tuple)))
    rival, gap = problem.rival(lower, upper, y)
    all_decisions = decisions_of(problem)
    worst = 0.0
    for other in all_decisions:
        difference = [
            max(problem.reward(_at(lower, i, e), other) - problem.reward(_at(lower, i, e), y) for e in (lower[i], upper[i]))
            - (problem.reward(lower, other) - problem.reward(lower, y))
            for i in range(problem.m)
        ]
        worst = max(worst, problem.reward(lower, other) - problem.reward(lower, y) + sum(difference))
    assert gap >= worst - 1e-9 * (1 + worst)
    if problem.rivals:
        assert tuple(rival.tolist()) in all_decisions
    if problem.rival_exact:
        assert gap == pytest.approx(worst, abs=1e-9)


def _at(theta: np.ndarray, i: int, value: float) -> np.ndarray:
    moved = theta.copy()
    moved[i] = value
    return moved


@every_class
@given(data=st.data())
def test_radius_is_where_an_arm_first_changes(name: str, data: st.DataObject) -> None:
    """Lambda against a direct search: decided on every box just inside it, undecided just outside."""
    problem = data.draw(CASES[name])
    theta = data.draw(vectors(problem))
    if len(brute_solve(problem, theta)[1]) > 1:
        return
    radius = sp.hardness(problem, theta).radius
    assert (radius > 0).all()

    def box(rho: float) -> tuple[np.ndarray, np.ndarray]:
        reach = rho * problem.scales
        return np.clip(theta - reach, problem.low, problem.high), np.clip(theta + reach, problem.low, problem.high)

    for i in range(problem.m):
        if np.isinf(radius[i]):
            assert not varies(problem, corners(problem.low, problem.high))[i]
            continue
        assert not problem.undecided(*box(radius[i] * (1 - 1e-9)))[i]
        assert problem.undecided(*box(radius[i] * (1 + 1e-9) + 1e-12))[i]
        if problem.bimonotone:
            assert not varies(problem, corners(*box(radius[i] * (1 - 1e-9))))[i]
            assert varies(problem, corners(*box(radius[i] * (1 + 1e-6) + 1e-9)))[i]
