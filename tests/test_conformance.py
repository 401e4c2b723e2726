"""One suite that every decision class, policy and confidence sequence passes: ``surepick.testing``, which others may use for
their own. Policies and sequences join by being registered, a class also by a line in ``cases.CASES`` and one in ``SMALL``."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surepick as sp
from surepick.confidence import CONFIDENCES
from surepick.problems import PROBLEMS, resource_plan
from surepick.testing import check_confidence, check_policy, check_problem

from .cases import ALONE, CASES, boxes, vectors
from .reference import brute_solve, corners, decisions_of, exact_reward, points_of, varies

BIMONOTONE = [
    "best-arm", "top-k", "best-of-each", "ranking", "spanning-tree", "sample-allocation", "convex-plan", "unequal-arms",
    "separable-theta",
]  # fmt: skip
every_class = pytest.mark.parametrize("name", CASES)

# One of every kind.
SMALL = [
    sp.BestArm(4, sense="min"),
    sp.TopK(5, 2),
    sp.BestOfEach(6, [0, 0, 0, 1, 1, 1]),
    sp.Ranking(4, sense="min"),
    sp.SpanningTree([(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)]),
    sp.Matching([(0, "a"), (0, "b"), (1, "a"), (1, "b"), (2, "b")]),
    sp.Path([(0, 1), (1, 3), (0, 2), (2, 3), (0, 3)], 0, 3),
    sp.Subsets(4, [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]]),
    sp.Program(3, [[2, 1, 3]], [0], [4]),
    sp.SampleAllocation([10, 20, 30], 6),
    sp.ResourcePlan([[0, 0.1, 0.3], [0, 0.2, 0.5], [0, 0.4]], [2, 2, 1], 3),
    sp.Separable(lambda t, y: t * y, [[0, 1]] * 3, lambda t: np.eye(3, dtype=int)[np.argmax(t)], bimonotone=True),
]


def test_the_classes_say_what_they_are() -> None:
    kinds = set()

    @given(st.data())
    def check(data: st.DataObject) -> None:
        for name, strategy in CASES.items():
            problem = data.draw(strategy)
            kinds.add(problem.kind)
            assert problem.bimonotone == (name in BIMONOTONE) or name in ("any-plan", "unlisted-plan")

    check()
    own = {kind for kind, cls in PROBLEMS.items() if cls.__module__.startswith("surepick.")}
    assert kinds == own == {problem.kind for problem in SMALL}


# -- what surepick.testing checks, for all that is registered ---------------------------------------------------------------


@every_class
@settings(max_examples=25)
@given(data=st.data())
def test_a_class_keeps_its_promises(name: str, data: st.DataObject) -> None:
    problem, seed = data.draw(CASES[name]), data.draw(st.integers(0, 2**32 - 1))
    travels = not isinstance(problem, sp.Separable)  # made with functions
    with pytest.MonkeyPatch.context() as patch:
        if name == "unlisted-plan":  # also when it is made again from a study
            patch.setattr(resource_plan, "LISTED", 0)
        check_problem(problem, decisions_of(problem), cases=6, explorations=False, travels=travels, seed=seed)


@pytest.mark.parametrize("problem", SMALL, ids=lambda problem: problem.kind)
def test_a_class_explores_and_is_saved(problem: sp.Problem) -> None:
    own = isinstance(problem, sp.Separable)  # its oracle alone knows the decisions, and no process can be sent functions
    check_problem(problem, np.eye(3, dtype=int) if own else None, cases=2, travels=not own)


LONG = ("ts-explore", "gap")  # their own constants ask for much evidence, or they are not compiled


@pytest.mark.parametrize("name", ALONE)
def test_a_policy_keeps_its_promises(name: str) -> None:
    check_policy(name, sp.BestArm(3) if name in LONG else None, runs=20)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALONE)
def test_a_policy_keeps_its_promises_in_many_runs(name: str) -> None:
    check_policy(name, sp.BestArm(3) if name in LONG else None)


SEQUENCES = ["auto", *(name for name in CONFIDENCES if name != "student")]  # for normal values alone: see test_student.py


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_sequence_keeps_its_promises(name: str) -> None:
    check_confidence(name, runs=60)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEQUENCES)
def test_a_sequence_keeps_its_promises_on_many_paths(name: str) -> None:
    check_confidence(name)


# -- what is particular to the classes of this package -----------------------------------------------------------------------


@every_class
@given(data=st.data())
def test_solve_is_the_leading_optimum(name: str, data: st.DataObject) -> None:
    problem = data.draw(CASES[name])
    theta = data.draw(vectors(problem))
    lead, best = brute_solve(problem, theta)
    decision = tuple(problem.solve(theta).tolist())
    assert decision in best
    assert decision == lead or lead is None


@every_class
@given(data=st.data())
def test_reward_is_the_definition(name: str, data: st.DataObject) -> None:
    problem = data.draw(CASES[name])
    theta = data.draw(vectors(problem))
    y = data.draw(st.sampled_from(decisions_of(problem)))
    assert problem.reward(theta, y) == pytest.approx(float(exact_reward(problem, theta, y)), abs=1e-12, rel=1e-12)


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
