"""The user's own reward and maximiser."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surepick as sp
from surepick.errors import InfeasibleError, ProblemError

from .cases import boxes
from .reference import points_of, varies

SIZES, BUDGET = [3, 2, 4], 7
LEVELS = [range(1, 6)] * 3
FEASIBLE = [y for y in itertools.product(*LEVELS) if sum(y) <= BUDGET]


def minus_variance(size: float) -> sp.problems.separable.Reward:  # type: ignore[name-defined]
    return lambda theta, y: -(size**2) * theta / y


def of_theta(theta: np.ndarray) -> np.ndarray:
    return sp.allocate(SIZES, theta, BUDGET)


def of_tables(tables: list[np.ndarray]) -> tuple[int, ...]:
    return max(FEASIBLE, key=lambda y: sum(t[v - 1] for t, v in zip(tables, y, strict=True)))


def own(oracle: object, **how: bool) -> sp.Separable:
    return sp.Separable([minus_variance(n) for n in SIZES], LEVELS, oracle, parameter="variance", **how)


BUILT_IN = sp.SampleAllocation(SIZES, BUDGET)


@given(data=st.data())
def test_a_bimonotone_problem_equals_the_built_in_one(data: st.DataObject) -> None:
    mine = own(of_theta, bimonotone=True)
    assert mine.exact
    lower, upper = data.draw(boxes(BUILT_IN))
    assert (mine.undecided(lower, upper) == BUILT_IN.undecided(lower, upper)).all()
    assert mine.solve(upper).tolist() == BUILT_IN.solve(upper).tolist()


@given(data=st.data())
def test_a_table_oracle_misses_no_arm_and_stops_where_phi_is_constant(data: st.DataObject) -> None:
    mine = own(of_tables, table=True)
    assert not mine.exact
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    middle, reach = rng.random(3) * 0.25, rng.random() * 0.02
    lower, upper = np.clip(middle - reach, 0, 0.25), np.clip(middle + reach, 0, 0.25)
    undecided, exact = mine.undecided(lower, upper), BUILT_IN.undecided(lower, upper)
    assert not (exact & ~undecided).any()
    assert undecided.any() == exact.any()
    assert not (varies(mine, points_of(lower, upper, rng, 10)) & ~undecided).any()


def test_a_table_oracle_gives_the_exact_gap() -> None:
    mine = own(of_tables, table=True)
    lower, upper = np.array([0.05, 0.1, 0.02]), np.array([0.1, 0.2, 0.2])
    y = mine.solve((lower + upper) / 2)
    rival, gap = mine.rival(lower, upper, y)
    worst = max(
        mine.reward(theta, other) - mine.reward(theta, y)
        for other in FEASIBLE
        for theta in map(np.array, itertools.product(*zip(lower, upper, strict=True)))
    )
    assert gap == pytest.approx(worst)
    assert tuple(rival) in FEASIBLE
    loose = own(of_theta, bimonotone=True).rival(lower, upper, y)[1]
    assert loose >= gap


def test_it_explores_to_the_same_decision() -> None:
    p = [0.5, 0.02, 0.1]
    world = sp.Bernoulli(p)
    outcome = sp.explore(own(of_theta, bimonotone=True), world, batch=2000, seed=3, budget=400_000)
    assert outcome.certified
    assert outcome.decision.tolist() == BUILT_IN.solve(world.variances).tolist()


def test_an_oracle_of_theta_alone_is_refused() -> None:
    with pytest.raises(ProblemError, match="bimonotone=True"):
        own(of_theta)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"levels": [[0, 1], []]}, ProblemError, "levels of arm 'arm 1'"),
        ({"levels": [[0, 1], [0, float("nan")]]}, ProblemError, "finite"),
        ({"levels": [[0, 1], [1, 1]]}, ProblemError, "different"),
        ({"rewards": [lambda t, y: t * y]}, ProblemError, "rewards must be"),
        ({"arms": 3}, ProblemError, "3 arms but levels for 2"),
    ],
)
def test_bad_input(change: dict[str, object], error: type[Exception], words: str) -> None:
    good = {"rewards": lambda t, y: t * y, "levels": [[0, 1]] * 2, "oracle": np.round, "bimonotone": True}
    with pytest.raises(error, match=words):
        sp.Separable(**(good | change))


def test_a_broken_oracle_is_named() -> None:
    with pytest.raises(InfeasibleError, match="returned None"):
        sp.Separable(lambda t, y: t * y, [[0, 1]] * 2, lambda theta: None, bimonotone=True).solve([0.1, 0.2])
    with pytest.raises(ProblemError, match="not among its levels"):
        sp.Separable(lambda t, y: t * y, [[0, 1]] * 2, lambda theta: [0, 7], bimonotone=True).solve([0.1, 0.2])
