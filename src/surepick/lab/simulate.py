"""Many runs of policies on problems whose truth is known."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from ..checks import MANY, SEEDS, entries, number, sequence, short, whole
from ..confidence import CONFIDENCES, Confidence
from ..environments import Environment, Scores
from ..errors import ParameterError, SettingError
from ..policies import POLICIES, Policy
from ..problems.base import Problem
from ..settings import Settings
from .bar import shown
from .executors import processes
from .simulation import Simulation
from .store import Store
from .trials import World
from .work import Cell, Standing, work

Asked = tuple[str | Policy, str | Confidence]
Policies = str | Policy | Sequence[str | Policy | Asked] | Mapping[str, str | Policy | Asked]
Problems = Problem | Mapping[str, tuple[Problem, Environment]]


def simulate(
    problem: Problems,
    environment: Environment | None = None,
    policies: Policies = "auto",
    *,
    delta: float | Sequence[float] = 0.05,
    runs: int = 100,
    seed: int = 0,
    epsilon: float = 0.0,
    relative: bool = False,
    per_arm: bool = False,
    dependent: bool = False,
    budget: int | None = None,
    cost_budget: float | None = None,
    executor: Executor | int | None = None,
    store: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[Standing], object] | None = None,
) -> Simulation:
    """Run policies many times on problems whose truth is known: how many samples, and how often wrong?

    Every combination of a problem, a policy and a delta gets the same runs: in run r the s-th sample of arm i depends on
    (seed, r, i, s) alone, so all policies share their luck, and no result depends on the executor.

    Parameters
    ----------
    problem : Problem, or mapping from names to (problem, environment)
    environment : Environment
        The truth, if one problem is given.
    policies : str, Policy, (policy, confidence), a sequence of such, or a mapping from labels to such
        ``"coci"``, or with its confidence sequence ``"coci/paper"``; without one, ``"auto"`` is meant. With parameters,
        ``"ts-explore:q=0.3/normal:tuned=500"``, or as objects, ``(TSExplore(q=0.3), Normal(tuned=500))``. An object of a class of
        your own travels to the workers, which must be able to import the class.
    delta : float or sequence of floats
    runs : int
        Runs of every combination.
    seed : int
    epsilon, relative, per_arm, dependent, budget, cost_budget
        As for :class:`surepick.Explorer`.
    executor : int or concurrent.futures.Executor, optional
        By default a pool with a process on every core. A number is that many processes; 1 is this process. Any executor
        does, such as ``distributed.Client(...).get_executor()`` for a cluster.
    store : path, optional
        A file that keeps every result. What it holds already is not run again.
    progress : True or callable, optional
        True shows a bar on standard error; a function is called with a :class:`Standing` whenever results come in.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> import surepick as sp
    >>> problem, world = sp.TopK(4, k=2), sp.Bernoulli([0.9, 0.8, 0.3, 0.1])
    >>> simulation = sp.simulate(problem, world, ["auto", "coci/paper"], runs=20, executor=1)
    >>> simulation.summary[["policy", "runs", "errors", "median"]]
           policy  runs  errors  median
    0        auto    20       0   110.5
    1  coci/paper    20       0   598.5
    """
    worlds = _worlds(problem, environment)
    labels = _labels(policies)
    deltas = _deltas(delta)
    count = whole(runs, "runs", 1, MANY)
    start = whole(seed, "seed", 0, SEEDS)
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise SettingError(f"progress must be True for a bar, or a function, not {short(progress)}.")
    processes(executor)
    asked: dict[str, Any] = {
        "epsilon": epsilon,
        "relative": relative,
        "per_arm": per_arm,
        "dependent": dependent,
        "budget": budget,
        "cost_budget": cost_budget,
    }
    cells = [
        Cell(name, label, world, _fitted(Settings(delta=d, policy=policy, confidence=confidence, **asked), world), start, count)
        for name, world in worlds.items()
        for label, (policy, confidence) in labels.items()
        for d in deltas
    ]
    with ExitStack() as stack:
        kept = None if store is None else stack.enter_context(Store.open(store))
        if kept is not None:
            for cell in cells:
                cell.resume(kept)
        work(cells, executor, kept, stack.enter_context(shown(progress)))
    problems = {name: (world.problem, world.truth) for name, world in worlds.items()}
    return Simulation.of(cells, problems, runs=count, seed=start, **asked)


# -- what is asked for ----------------------------------------------------------------------------------------------------


def _worlds(problem: Problems, environment: Environment | None) -> dict[str, World]:
    if isinstance(problem, Problem):
        given: Mapping[str, tuple[Problem, Environment | None]] = {problem.kind: (problem, environment)}
    elif not isinstance(problem, Mapping) or not problem:
        raise SettingError(
            f"The first argument must be a problem such as TopK(10, 3), or a dict name -> (problem, environment), "
            f"not {short(problem)}."
        )
    elif environment is not None:
        raise SettingError("Where problems come as a dict, each has its environment there: leave out the second argument.")
    else:
        given = problem
    worlds = {}
    for name, pair in given.items():
        if not isinstance(name, str) or not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], Problem):
            raise SettingError(f"problems must be a dict name -> (problem, environment); {short(name)} has {short(pair)}.")
        one, truth = pair
        if not isinstance(truth, Environment):
            raise SettingError(
                f"{name}: the environment must be one such as Bernoulli([0.5, 0.4]), whose truth is known, not {short(truth)}."
            )
        if truth.m != one.m:
            raise SettingError(f"{name}: the environment has {truth.m} arms but the problem {one.m}: give one truth an arm.")
        world = World.of(one, truth)
        outside = np.flatnonzero((world.truth < one.low) | (world.truth > one.high))
        if len(outside):
            i = int(outside[0])
            raise ParameterError(
                f"{name}: the {one.parameter.name} of arm {one.names[i]!r} is {world.truth[i]:g} in the environment, outside its "
                f"range [{one.low[i]:g}, {one.high[i]:g}]: declare wider bounds for the arm, or change the environment."
            )
        worlds[name] = world
    return worlds


def _labels(policies: Policies) -> dict[str, Asked]:
    """Policy and confidence by label."""
    if isinstance(policies, (str, Policy)):
        policies = [policies]
    if isinstance(policies, tuple) and len(policies) == 2 and _sequence_alone(policies[1]):
        raise SettingError(
            f"{short(policies[1])} is a confidence sequence, and a bare tuple is read as several policies; give a policy with "
            "its confidence sequence in a list: [(policy, confidence)]."
        )
    listed = policies if isinstance(policies, Mapping) else entries(policies) if sequence(policies) else None
    if not listed:
        raise SettingError(
            f"policies must be 'coci/paper' or the like, a list of such, or a dict of such, not {short(policies)}."
        )
    labels: dict[str, Asked] = {}
    for label, asked in listed.items() if isinstance(listed, Mapping) else ((_label(one), one) for one in listed):
        if not isinstance(label, str):
            raise SettingError(f"The labels of policies are texts, not {short(label)}.")
        if label in labels:
            raise SettingError(f"A policy is named twice in {short(policies)}: name each once.")
        labels[label] = _asked(asked)
    return labels


def _sequence_alone(asked: Any) -> bool:
    """It says a confidence sequence, and no policy."""
    name = asked.partition(":")[0] if isinstance(asked, str) else ""
    return isinstance(asked, Confidence) or (name in {*CONFIDENCES, "own"} and name not in {*POLICIES, "auto"})


def _label(asked: Any) -> str:
    return asked if isinstance(asked, str) else "/".join(str(part) for part in _asked(asked)).removesuffix("/auto")


def _asked(asked: Any) -> Asked:
    """A policy and its confidence sequence."""
    if isinstance(asked, Policy):
        return asked, "auto"
    if isinstance(asked, str) and asked.count("/") <= 1:
        policy, slash, confidence = asked.partition("/")
        return policy, confidence if slash else "auto"
    if isinstance(asked, tuple) and len(asked) == 2:
        return asked
    raise SettingError(
        f"A policy is given by 'policy' or 'policy/confidence', such as 'coci/paper', by an object, or by a pair of policy and "
        f"confidence, not by {short(asked)}."
    )


def _fitted(settings: Settings, world: World) -> Settings:
    """The settings with "auto" and "own" by their right names, so that one fingerprint serves both; raises what does not fit."""
    problem, environment = world.problem, world.environment
    policy, confidence = settings.bound(problem.pooled(environment.pool()) if isinstance(environment, Scores) else problem)
    return replace(settings, policy=policy, confidence=confidence)


def _deltas(delta: float | Sequence[float]) -> list[float]:
    listed: list[Any] = (entries(delta) or []) if sequence(delta) else [delta]
    if not listed:
        raise SettingError("delta is an empty list: give at least one.")
    checked = [number(one, "delta", "a probability between 0 and 1, both excluded", lambda x: 0 < x < 1) for one in listed]
    if len(set(checked)) < len(checked):
        raise SettingError(f"A delta is given twice in {short(delta)}: give each once.")
    return checked
