"""Runs of a simulation, as a worker does them: everything that a run needs is in a world and in settings."""

from __future__ import annotations

import math
import pickle
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..arms import Bools, Floats, Ints
from ..engine import start
from ..environments import Environment, Scores
from ..errors import SettingError
from ..estimators import ULP
from ..explorer import Explorer
from ..problems.base import LinearProblem, Problem
from ..run.drive import drive
from ..settings import Settings
from .decisions import Decision, Known

ROUNDING = 1e-12  # rewards that are this close, as a share of their terms, are equally good


@dataclass(frozen=True, eq=False)
class World:
    """A problem with its truth, and what the best decision is worth there."""

    problem: Problem
    environment: Environment
    truth: Floats
    best: float
    near: float  # a difference that is rounding
    decision: Floats  # one that is optimal

    @classmethod
    def of(cls, problem: Problem, environment: Environment) -> World:
        truth = problem.check_vector(environment.truth(problem.parameter), "The environment's truth")
        decision = problem.solve_at(truth).astype(np.float64)
        best = problem.reward_at(truth, decision)
        terms = float(np.abs(problem.slopes(decision) * truth).sum()) if problem.affine else 0.0
        return cls(problem, environment, truth, best, ROUNDING * (abs(best) + terms), decision)

    def correct(self, decision: np.ndarray[Any, Any], epsilon: float, relative: bool, per_arm: bool = False) -> bool:
        """The decision is optimal at the truth or, with an epsilon, near enough to it: as a whole, or every one of its arms."""
        if per_arm:
            falls = self.problem.shortfall_on(self.truth, self.truth, decision.astype(np.float64))[1]
            return falls <= epsilon + ULP * float(np.abs(self.truth).max())
        slack = epsilon * abs(self.best) if relative else epsilon
        if isinstance(self.problem, LinearProblem):  # only what differs, added up without rounding: far from 0 it matters
            change = (decision - self.decision) * self.truth * self.problem.sign
            return math.fsum(change.tolist()) >= -slack - ULP * float(np.abs(change).sum())
        return self.problem.reward_at(self.truth, decision.astype(np.float64)) >= self.best - slack - self.near


@dataclass(frozen=True, eq=False)
class Chunk:
    """The results of some runs, in their order.

    ``seconds`` is what they took; ``pace`` what one of them took, apart from the first of its kind in a process, which loads
    kernels (None if there is no other).
    """

    runs: range
    samples: Ints
    certified: Bools
    correct: Bools
    costs: Floats
    decisions: list[Decision]  # equal ones are one array
    seconds: float
    pace: float | None


_warm: set[tuple[str, str, str]] = set()  # kinds of runs that this process has done before


@start.at_once()
def run_chunk(world: World | bytes, settings: Settings | bytes, seed: int, runs: range) -> Chunk:
    """Do these runs; what comes from another process may be the bytes of its pickle."""
    here = _world(world) if isinstance(world, bytes) else world
    asked: Settings = _unpacked(settings) if isinstance(settings, bytes) else settings
    kind = str(asked.policy), str(asked.confidence), here.problem.kind
    begin = paced = time.perf_counter()
    samples = np.zeros(len(runs), dtype=np.int64)
    costs = np.zeros(len(runs))
    certified = np.zeros(len(runs), dtype=np.bool_)
    correct = np.zeros(len(runs), dtype=np.bool_)
    decisions, known, cold = [], Known(), 0
    for i, run in enumerate(runs):
        problem = here.problem
        if isinstance(here.environment, Scores):
            problem = problem.pooled(here.environment.pool((seed, run)))
        explorer = Explorer.of(problem, asked)
        drive(explorer, here.environment, seed=seed, run=run)
        decision = explorer.decision
        samples[i], costs[i] = explorer.samples, explorer.cost
        certified[i] = explorer.certified
        correct[i] = here.correct(decision, asked.epsilon, asked.relative, explorer.per_arm)
        decisions.append(known(decision))
        if kind not in _warm:
            _warm.add(kind)
            paced, cold = time.perf_counter(), 1
    end = time.perf_counter()
    pace = (end - paced) / (len(runs) - cold) if len(runs) > cold else None
    return Chunk(runs, samples, certified, correct, costs, decisions, end - begin, pace)


def packed(x: World | Settings, name: str) -> bytes:
    """A world, or settings with a policy, for another process."""
    try:
        return pickle.dumps(x, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        what = "problem or environment" if isinstance(x, World) else "policy or confidence sequence"
        raise SettingError(
            f"{name}: its {what} cannot be sent to other processes ({error}). Use functions and classes from the top level of a "
            "module instead of a lambda or an inner function, or stay in this process with executor=1."
        ) from error


def _unpacked(parcel: bytes) -> Any:
    try:
        return pickle.loads(parcel)
    except (AttributeError, ImportError) as error:
        raise SettingError(
            f"A worker process cannot find something that the problem, the environment or the policy uses ({error}). Put your "
            "functions and classes into a module that workers can import, or stay in this process with executor=1."
        ) from error


@lru_cache(maxsize=4)
def _world(parcel: bytes) -> World:
    made: World = _unpacked(parcel)
    return made
