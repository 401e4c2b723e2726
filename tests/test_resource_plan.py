"""Plans with costs that are not convex, where the paper's lemma fails."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surepick as sp
from surepick.problems import resource_plan

from .cases import any_plan, boxes
from .reference import undecided_by_calls, varies


def root_cost(y: int) -> float:
    return 1.3 * y**0.5


def test_concave_cost_is_not_bimonotone() -> None:
    """Erratum 2: raising theta_1 from .30 to .95 raises y_2 as well.

    The paper's lemma has the requirement tight for all theta; a unit price of 1 sees to that and changes nothing among plans
    of 5 units.
    """
    plan = sp.ResourcePlan(lambda y: root_cost(y) + y, [2, 3, 4], 5)
    assert plan.solve([0.30, 0.75, 0.70]).tolist() == [0, 1, 4]
    assert plan.solve([0.95, 0.75, 0.70]).tolist() == [2, 3, 0]
    assert not plan.convex
    assert not plan.bimonotone


def test_two_calls_an_arm_miss_arms_when_cost_is_concave() -> None:
    """The rule of Theorem 3 is unsafe here; ours finds every arm that a search over the box finds."""
    plan = sp.ResourcePlan(root_cost, [2, 3, 4], 5)
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(60):
        lower = rng.random(3) * 0.7
        upper = lower + rng.random(3) * 0.3
        points = [lower + rng.random(3) * (upper - lower) for _ in range(200)]
        found = varies(plan, points)
        assert not (found & ~plan.undecided(lower, upper)).any()
        missed += (found & ~undecided_by_calls(plan, lower, upper)).any()
    assert missed > 0


@given(data=st.data())
def test_too_many_plans_to_list_marks_at_least_the_exact_arms(data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        listed = data.draw(any_plan())
        patch.setattr(resource_plan, "LISTED", 0)
        tables = [listed.cost_table(i) for i in range(listed.m)]
        unlisted = sp.ResourcePlan(tables, listed.caps, listed.require)
    assert not unlisted.exact or unlisted.convex
    lower, upper = data.draw(boxes(listed))
    assert not (listed.undecided(lower, upper) & ~unlisted.undecided(lower, upper)).any()


@given(data=st.data())
def test_unlisted_plans_stop_exactly_when_nothing_can_change(data: st.DataObject) -> None:
    """Away from ties the conservative test is empty iff the exact one is."""
    with pytest.MonkeyPatch.context() as patch:
        listed = data.draw(any_plan())
        patch.setattr(resource_plan, "LISTED", 0)
        unlisted = sp.ResourcePlan([listed.cost_table(i) for i in range(listed.m)], listed.caps, listed.require)
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    middle = rng.random(listed.m)
    reach = rng.random() * 0.1
    lower, upper = np.clip(middle - reach, 0.01, 0.99), np.clip(middle + reach, 0.01, 0.99)  # costs are sixteenths
    assert unlisted.undecided(lower, upper).any() == listed.undecided(lower, upper).any()


def test_straight_costs_count_as_convex_in_spite_of_rounding() -> None:
    plan = sp.ResourcePlan(lambda y: 0.1 * y, caps=[10, 10], require=5)
    assert plan.convex
    assert plan.solve([0.3, 0.05]).tolist() == [10, 0]
    assert plan.solve([0.05, 0.05]).tolist() == [0, 5]


def test_a_large_gap_is_bounded_without_the_table() -> None:
    """Beyond the size of the dynamic program, the dual bound is close to it from above."""
    rng = np.random.default_rng(1)
    tables = [np.concatenate(([0], np.cumsum(np.sort(rng.random(6))))) for _ in range(40)]
    plan = sp.ResourcePlan(tables, [6] * 40, 100)
    lower = rng.random(40) * 0.8
    upper = lower + 0.1
    y = plan.solve((lower + upper) / 2)
    exact = plan.rival(lower, upper, y)[1]
    plan.rival_exact = False
    rival, bound = plan.rival(lower, upper, y)
    assert rival.sum() >= 100
    assert exact - 1e-9 <= bound <= exact * 1.05


def test_one_prohibitive_cost_does_not_blur_the_others() -> None:
    plan = sp.ResourcePlan([[0, 1, 3, 1e18], [0, 1, 2, 3]], [3, 3], 0)
    assert plan.solve([1.5, 0]).tolist() == [1, 0]
    concave = sp.ResourcePlan([[0, 5, 6, 1e18], [0, 1, 2, 3]], [3, 3], 2)
    assert not concave.convex
    assert concave.solve([3.2, 0]).tolist() == [2, 0]
