"""Worlds to draw from, for any arms: easy ones, hard ones, and how far from the best a decision is in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arms import Arm, Floats
from ..environments import Environment, Replay
from ..problems.base import Problem
from .cases import ranges

PARTS = 64  # values of an arm, each as likely as the others
NOISES = (0.03, 0.1, 0.3)  # how far estimates are from the truth, as a share of the ranges
DRAWS = 4  # of estimates, for every noise
WORLDS = 12  # random ones among which a hard one is looked for


def ends(arm: Arm) -> tuple[float, float]:
    """The two values that an arm takes here: the ends of its range, or, if it is unbounded, a scale below and above 0."""
    scale = 1.0 if arm.kind == "normal" else arm.scale
    return (arm.low, arm.high) if scale is None else (-scale, scale)


def world_of(problem: Problem, shares: Floats) -> Environment:
    """Every arm at its upper end with such a probability, in 64ths, and else at its lower end."""
    many = np.rint(shares * PARTS).astype(int).tolist()
    pairs = [(k, *ends(arm)) for k, arm in zip(many, problem.arms, strict=True)]
    return Replay([[high] * k + [low] * (PARTS - k) for k, low, high in pairs])


def truth_of(problem: Problem, world: Environment) -> Floats:
    """The parameters of the arms in a world."""
    return world.variances if problem.parameter.name == "variance" else world.means


def shortfall(
    problem: Problem, theta: Floats, decision: np.ndarray[Any, Any], *, relative: bool = False, per_arm: bool = False
) -> float:
    """How far a decision is from the best, as epsilon is asked for: its reward, as a share if relative, or the worst of its
    arms. What rounding may do is 0."""
    if per_arm:
        return _rounded(problem.shortfall(theta, theta, decision)[1], float(np.abs(theta).max()))
    best = problem.reward(theta, problem.solve(theta))
    short = _rounded(best - problem.reward(theta, decision), abs(best))
    if short == 0.0 or not relative:
        return short
    return short / abs(best) if best else float("inf")


def _rounded(short: float, size: float) -> float:
    return short if short > 1e-9 * (1 + size) else 0.0


def mistakes(problem: Problem, theta: Floats, **kind: bool) -> list[float]:
    """The shortfalls of the decisions that estimates around the truth lead to."""
    low, high = ranges(problem)
    rng = np.random.default_rng(7)
    reaches = [noise * (high - low) * rng.standard_normal(problem.m) for noise in NOISES for _ in range(DRAWS)]
    return [shortfall(problem, theta, problem.solve(np.clip(theta + reach, low, high)), **kind) for reach in reaches]


def hardest(problem: Problem, epsilon: float = 0.0, **kind: bool) -> Floats:
    """Probabilities of the upper value for which estimates most often lead to a decision that is further than epsilon from the
    best: all about equal, or any others."""
    rng = np.random.default_rng(6)
    tried = [np.full(problem.m, 0.5) for _ in range(2 * problem.m)]
    for j, shares in enumerate(tried):
        shares[j // 2] += (1 if j % 2 else -1) / PARTS
    tried += [rng.integers(0, PARTS + 1, problem.m) / PARTS for _ in range(WORLDS)]

    def errors(shares: Floats) -> int:
        return sum(short > epsilon for short in mistakes(problem, truth_of(problem, world_of(problem, shares)), **kind))

    return max(tried, key=errors)
