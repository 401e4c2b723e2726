"""Worlds to draw from, for any arms."""

from __future__ import annotations

import numpy as np

from ..arms import Arm, Floats
from ..environments import Environment, Replay
from ..problems.base import Problem

PARTS = 16  # values of an arm, each as likely as the others


def ends(arm: Arm) -> tuple[float, float]:
    """The two values that an arm takes here: the ends of its range, or, if it is unbounded, a scale below and above 0."""
    return (arm.low, arm.high) if arm.scale is None else (-arm.scale, arm.scale)


def world_of(problem: Problem, shares: Floats) -> Environment:
    """Every arm at its upper end with such a probability, in sixteenths, and else at its lower end."""
    many = np.rint(shares * PARTS).astype(int).tolist()
    pairs = [(k, *ends(arm)) for k, arm in zip(many, problem.arms, strict=True)]
    return Replay([[high] * k + [low] * (PARTS - k) for k, low, high in pairs])


def truth_of(problem: Problem, world: Environment) -> Floats:
    """The parameters of the arms in a world."""
    return world.variances if problem.parameter.name == "variance" else world.means
