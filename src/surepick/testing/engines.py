"""Whether a compiled loop and Python do the same, in every way in which a loop can be run."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..engine import start
from ..engine.loops import find
from ..environments import Environment
from ..errors import SettingError
from ..explorer import Explorer
from ..problems.base import Problem
from ..run.drive import drive
from .cases import ranges

DELTA = 0.1
BUDGET = 150  # samples of an exploration
SPENT = 4 * BUDGET  # of one that goes on after all is certain


class Way(NamedTuple):
    """One way to explore: samples between two looks, and settings of the explorer."""

    batch: int
    settings: dict[str, Any]

    def __str__(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in {"batch": self.batch, **self.settings}.items())


def ways(problem: Problem) -> list[Way]:
    """One sample at a time and several, to the first certificate and to the end of a budget, with an epsilon of every kind."""
    near = {"epsilon": some_epsilon(problem)}
    return [
        Way(1, {}),
        Way(4, {}),
        Way(4, {"spend": True, "budget": SPENT}),
        Way(1, near),
        Way(4, near),
        Way(1, {"epsilon": 0.1, "relative": True}),
        Way(1, {"epsilon": 0.1, "per_arm": True}),
    ]


def some_epsilon(problem: Problem) -> float:
    """A tenth of the range that the reward of a decision has."""
    lower, upper = ranges(problem)
    low, high = problem.reward_range(lower, upper, problem.solve((lower + upper) / 2))
    return 0.1 * (high - low) if np.isfinite(high - low) and high > low else 0.1


def explored(problem: Problem, world: Environment, way: Way, *, compiled: bool, seed: int = 1, **asked: Any) -> Explorer:
    """An exploration, in compiled code from the first round on if that is wanted. What is asked for goes before the way."""
    explorer = Explorer(problem, DELTA, **{"budget": BUDGET, **way.settings, **asked})
    with start.at_once():
        drive(explorer, world, batch=way.batch, seed=seed, compiled=compiled)
    return explorer


def compiled_differs(problem: Problem, world: Environment, **asked: Any) -> str | None:
    """What a compiled loop does otherwise than Python, in words; None where they agree and where no loop is found."""
    for way in ways(problem):
        try:
            explorer = Explorer(problem, DELTA, **{"budget": BUDGET, **way.settings, **asked})
        except SettingError:  # not for this class
            continue
        if find(explorer, max(way.batch, explorer.policy.pace)) is None:
            continue
        plain, fast = (explored(problem, world, way, compiled=compiled, **asked) for compiled in (False, True))
        if plain.counts.tolist() != fast.counts.tolist():
            return f"With {way}, Python samples {plain.counts.tolist()}, the compiled loop {fast.counts.tolist()}."
        if plain.certified != fast.certified:
            return f"With {way}, certified is {plain.certified} in Python, {fast.certified} in the compiled loop."
        if (plain.decision != fast.decision).any():
            return f"With {way}, Python decides {plain.decision.tolist()}, the compiled loop {fast.decision.tolist()}."
    return None
