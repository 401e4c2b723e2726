"""Whether a compiled loop and Python do the same, in every way in which a loop can be run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..engine import start
from ..engine.loops import find
from ..environments import Environment
from ..errors import SettingError
from ..explorer import Explorer
from ..problems.base import Problem
from ..run.drive import drive
from .cases import NEAR, ranges

DELTA = 0.1
BUDGET = 150  # samples of an exploration
SPENT = 4 * BUDGET  # of one that goes on after all is certain
BATCHES, EXACT_BATCHES = (1, 4), (1, 2, 3, 9)  # samples between two looks, with an epsilon and without


class Way(NamedTuple):
    """One way to explore: samples between two looks, and settings of the explorer."""

    batch: int
    settings: dict[str, Any]

    def __str__(self) -> str:
        return ", ".join(f"{name}={value!r}" for name, value in {"batch": self.batch, **self.settings}.items())


def ways(problem: Problem) -> list[Way]:
    """One sample at a time and several, to the first certificate and to the end of a budget, each with an epsilon of every kind
    and without."""
    kinds: list[dict[str, Any]] = [
        {},
        {"epsilon": some_epsilon(problem)},
        {"epsilon": 0.1, "relative": True},
        {"epsilon": 0.1, "per_arm": True},
    ]
    ends: list[dict[str, Any]] = [{}, {"spend": True, "budget": SPENT}]
    return [Way(batch, {**end, **kind}) for kind in kinds for end in ends for batch in (BATCHES if kind else EXACT_BATCHES)]


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


def compiled_differs(problem: Problem, world: Environment, tried: Sequence[Way] | None = None, **asked: Any) -> str | None:
    """What a compiled loop does otherwise than Python, in words; None where they agree and where no loop is found."""
    done: list[Way] = []
    for way in ways(problem) if tried is None else tried:
        same = Way(way.batch, {**way.settings, **asked})
        if same in done:  # what is asked for leaves no difference
            continue
        done.append(same)
        try:
            explorer = Explorer(problem, DELTA, **{"budget": BUDGET, **same.settings})
        except SettingError:  # not for this class
            continue
        if find(explorer, max(way.batch, explorer.policy.pace)) is None:
            continue
        plain, fast = (said(explored(problem, world, way, compiled=compiled, **asked)) for compiled in (False, True))
        for name, value in plain.items():
            if not _same(value, fast[name]):
                return f"With {way}, {name} is {value.tolist()} in Python, {fast[name].tolist()} in the compiled loop."
    return None


def said(explorer: Explorer) -> dict[str, np.ndarray[Any, Any]]:
    """What an explorer has sampled and says of it, by name."""
    certificate = explorer.certificate()
    found = {"counts": explorer.counts, "certified": explorer.certified, "decision": explorer.decision}
    found |= {name: getattr(certificate, name) for name in ("estimate", "lower", "upper", "gap", "gap_per_arm", "attained")}
    return {name: np.asarray(np.nan if value is None else value) for name, value in found.items()}


def _same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    return np.allclose(one.astype(np.float64), other.astype(np.float64), rtol=NEAR, atol=NEAR, equal_nan=True)
