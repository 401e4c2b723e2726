"""The guarantee of every policy where errors add up on one side: many small arms against few large ones, and the ends of a range.

A few hundred runs with small budgets, because wrong certificates come early. With an error probability of exactly delta the
thresholds are exceeded with probability below 1e-6. At delta = 0.05 that is 27 of 200 runs; a larger delta would allow more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

import surepick as sp
from surepick.policies import POLICIES

from .cases import ALONE

DELTA = 0.05
RING = [(0, 10), *((i, i + 1) for i in range(10))]

# Problem, means, and how often each arm is sampled before the first look.
LOPSIDED: dict[str, tuple[Callable[[], sp.Problem], list[float], list[int]]] = {
    "path": (lambda: sp.Path(RING, 0, 10), [0.95] + [0.09] * 10, [1] * 11),
    "subsets": (lambda: sp.Subsets(11, [[1, *[0] * 10], [0, *[1] * 10]]), [0.95] + [0.09] * 10, [1] * 11),
    "best-arm": (lambda: sp.BestArm(3), [0.02, 0.0199, 0.0199], [200, 1, 1]),
}
LOOKS = (1, 1, 1, 2, 3, 5, 10, 20, 40, 80)  # samples of every arm between two looks
SLOW = {"ts-explore": (60, 5)}  # runs and looks of a policy that takes hundreds of oracle calls a look


def cases() -> list[tuple[str, str]]:
    return [(name, policy) for name in LOPSIDED for policy in POLICIES if POLICIES[policy].needs(LOPSIDED[name][0]()) is None]


def effort(policy: str) -> tuple[int, int]:
    """Runs, and looks in each of them."""
    return SLOW.get(policy, (200, len(LOOKS)))


def most(policy: str) -> int:
    """Errors that the runs of a policy may have."""
    return int(binom.isf(1e-6, effort(policy)[0], DELTA))


def errors(name: str, policy: str, problem: sp.Problem | None = None, copies: int = 1) -> int:
    """Runs that certify, at any look, a decision that is not the best. Every value is told so many times."""
    make, means, pilot = LOPSIDED[name]
    problem, world, wrong = problem or make(), sp.Bernoulli(means), 0
    best = problem.reward(world.means, problem.solve(world.means))
    runs, looks = effort(policy)
    for run in range(runs):
        explorer, rng = sp.Explorer(problem, DELTA, policy=policy), np.random.default_rng((2025, run))
        explorer.policy.seed(2025, run)
        for step in (pilot, *LOOKS[:looks]):
            for arm, n in enumerate(np.broadcast_to(step, problem.m).tolist()):
                explorer.tell(arm, np.repeat(world.sample(arm, n, rng), copies))
            if explorer.certified:
                wrong += problem.reward(world.means, explorer.decision) < best - 1e-9
                break
    return wrong


def test_every_policy_is_here() -> None:
    assert {policy for _, policy in cases()} == set(ALONE)


@pytest.mark.parametrize(("name", "policy"), cases())
def test_errors_stay_below_delta(name: str, policy: str) -> None:
    assert errors(name, policy) <= most(policy)


@pytest.mark.parametrize("name", ["path", "subsets"])
def test_planted_bug_draws_within_the_range(name: str) -> None:
    """TS-Explore whose draws are clipped to the arms' range: clipped noise lifts the mean of an arm near 0, and the
    sum of ten such arms by as much each.

    Draws are all that the policy ever solves for outside the range, so clipping there is clipping draws.
    """
    problem = LOPSIDED[name][0]()
    solve, low, high = problem.solve_at, problem.low, problem.high
    problem.solve_at = lambda theta: solve(np.clip(theta, low, high))
    assert errors(name, "ts-explore", problem) > most("ts-explore")


@pytest.mark.parametrize("policy", [policy for policy in ALONE if policy not in SLOW])
def test_planted_bug_values_that_count_many_times(policy: str) -> None:
    """Every value is taken for fifty: no rule survives that, and the test sees it for each of them."""
    assert errors("best-arm", policy, copies=50) > most(policy)
