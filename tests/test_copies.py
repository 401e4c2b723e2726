"""Copies of an explorer: each goes its own way."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surepick as sp
from surepick.policies import POLICIES

from .cases import CASES

WAYS = {"copy": copy.copy, "deepcopy": copy.deepcopy}
Copy = Callable[[sp.Explorer], sp.Explorer]


def known(ex: sp.Explorer) -> Any:
    """All that an explorer says of itself."""
    return (
        ex.certificate().to_dict(), ex.ask(7), ex.attained(), ex.paused, ex.ended, ex.done, ex.policy.name, ex.policy.memory(),
        ex.box()[0].tolist(), ex.box()[1].tolist(),
    )  # fmt: skip


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_what_is_told_to_one_changes_no_other(way: Copy, data: st.DataObject) -> None:
    problem = data.draw(CASES[data.draw(st.sampled_from(sorted(CASES)))])
    able = [name for name, policy in POLICIES.items() if policy.needs(problem) is None]
    policy = data.draw(st.sampled_from(["auto", *able]))
    try:
        first = sp.Explorer(problem, 0.3, policy=policy, epsilon=data.draw(st.sampled_from([0.0, 0.2])))
    except sp.SurepickError:
        return  # not with this epsilon
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))

    def act(ex: sp.Explorer) -> None:
        for _ in range(data.draw(st.integers(1, 3))):
            arm = data.draw(st.integers(0, problem.m - 1))
            move = data.draw(st.sampled_from(["few", "many", "pause", "resume"]))
            if move in ("few", "many"):
                for i in range(problem.m) if move == "many" else [arm]:
                    low, high = problem.arms[i].low, problem.arms[i].high
                    ex.tell(i, low + (high - low) * rng.random(2))
            else:
                getattr(ex, move)(arm)

    act(first)
    before = known(first)
    second = way(first)
    assert known(second) == before
    act(second)
    second.end(0)
    assert known(first) == before
    after = known(second)
    act(first)
    assert known(second) == after


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_nothing_is_shared_but_the_problem(way: Copy) -> None:
    first = sp.Explorer(sp.TopK(["a", "b", "c"], 1), 0.1)
    first.tell_many([("a", [0.9] * 200), ("b", [0.1] * 200), ("c", [0.2] * 200)])
    assert first.certified
    second = way(first)
    assert second.problem is second.policy.problem is first.problem
    assert second.lock is not first.lock
    assert second.certificate() is not first.certificate()
    for one, other in zip(arrays(first), arrays(second), strict=True):
        assert not np.shares_memory(one, other)
    assert second.record.estimates.base is second.record.table  # columns of its own table, as the first has them
    second.certificate().counts[:] = 0
    assert first.certificate().samples == first.certificate().counts.sum() == 600


def arrays(ex: sp.Explorer) -> list[np.ndarray[Any, Any]]:
    certificate = ex.certificate()
    return [ex.record.counts, ex.record.table, ex._paused, ex._ended, certificate.counts, certificate.lower, certificate.decision]


def test_rows_are_copied() -> None:
    first = sp.Explorer(sp.BestArm(["a", "b"]), 0.1, dependent=True)
    first.tell_row({"a": 0.7, "b": 0.2})
    second = copy.copy(first)
    second.tell_rows([{"a": 1.0, "b": 0.0}] * 300)
    assert second.certified
    assert not first.certified
    first.tell_rows([{"a": 0.0, "b": 1.0}] * 300)
    assert first.certificate().chosen == {"b": 1}


def test_names_stay_what_they_are() -> None:
    """Names may be objects of the user's, which are themselves only."""
    red, blue = object(), object()
    first = sp.Explorer(sp.BestArm([red, blue]), 0.1)
    first.tell_many([(red, [1.0] * 100), (blue, [0.0] * 100)])
    second = copy.deepcopy(first)
    assert second.certificate().chosen == {red: 1}


def test_a_copy_out_of_explore_can_be_told() -> None:
    taken: list[sp.Explorer] = []
    ex = sp.Explorer(sp.BestArm(3), 0.1, policy="coci", confidence="paper")
    sp.explore(ex, sp.Bernoulli([0.9, 0.5, 0.1]), progress=lambda _: taken.append(copy.copy(ex)))
    samples = taken[0].samples
    taken[0].tell(0, 0.5)
    assert taken[0].samples == samples + 1


def test_explorers_within_other_things() -> None:
    ex = sp.Explorer(sp.BestArm(2))
    one, same = copy.deepcopy([ex, ex])
    assert one is same
    assert one is not ex
