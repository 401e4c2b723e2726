"""Explorations of one problem by one policy, in an easy world and in hard ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..arms import Floats
from ..environments import Environment
from ..explorer import Explorer
from ..problems.base import Problem
from ..run.drive import drive
from .worlds import hardest, shortfall, truth_of, world_of

DELTA = 0.1
EASY = 4000  # samples within which an easy world must be certified


class Bench:
    """Explorations of one problem by one policy."""

    problem: Problem
    policy: Any
    settings: dict[str, Any]

    def __init__(self, problem: Problem, policy: Any, settings: dict[str, Any]) -> None:
        self.problem, self.policy, self.settings = problem, policy, settings
        # Probabilities of the upper value for which the best decision is far better than all others, and how far.
        rng = np.random.default_rng(5)
        self.easy: Floats = max((rng.integers(0, 17, problem.m) / 16 for _ in range(60)), key=self.lead)
        self.far: float = self.lead(self.easy)

    def lead(self, shares: Floats) -> float:
        """The size of the box around the truth, as a share of the ranges, up to which no arm is undecided."""
        problem, truth = self.problem, self.truth(shares)
        low, high = 0.0, 1.0
        for _ in range(4):
            reach = (low + high) / 2
            box = [np.clip(truth + side * reach * (problem.high - problem.low), problem.low, problem.high) for side in (-1, 1)]
            low, high = (low, reach) if problem.undecided(*box).any() else (reach, high)
        return low

    def world(self, shares: Floats) -> Environment:
        return world_of(self.problem, shares)

    def truth(self, shares: Floats) -> Floats:
        return truth_of(self.problem, self.world(shares))

    def best(self, shares: Floats) -> list[float]:
        return list(self.problem.solve(self.truth(shares)).tolist())

    def hard(self, **settings: Any) -> Floats:
        """A world in which early estimates mislead: the best decision is hardly further than epsilon from others."""
        asked = {**self.settings, **settings}
        epsilon, kind = asked.get("epsilon", 0.0), {name: asked.get(name, False) for name in ("relative", "per_arm")}
        return hardest(self.problem, epsilon, **kind)

    def explorer(self, budget: int | None = EASY, **settings: Any) -> Explorer:
        return Explorer(self.problem, DELTA, policy=self.policy, **{**self.settings, "budget": budget, **settings})

    def explored(
        self, shares: Floats, seed: int, budget: int, *, batch: int = 1, compiled: bool = True, **settings: Any
    ) -> Explorer:
        explorer = self.explorer(budget, **settings)
        drive(explorer, self.world(shares), batch=batch, seed=seed, compiled=compiled)
        return explorer

    def errs(self, explorer: Explorer, shares: Floats) -> bool:
        """A certificate is wrong: the decision is not the best or, where epsilon was needed, further than that from it."""
        if not explorer.certified:
            return False
        short = shortfall(
            self.problem, self.truth(shares), explorer.decision, relative=explorer.relative, per_arm=explorer.per_arm
        )
        return short > (explorer.epsilon if explorer.undecided.any() else 0.0)

    def steps(self, budget: int, n: int = 1, **settings: Any) -> Iterator[Explorer]:
        """An exploration of the easy world by asking and telling, n values at a time: the explorer before every question."""
        explorer, rng, world = self.explorer(budget, **settings), np.random.default_rng(0), self.world(self.easy)
        while not explorer.done:
            yield explorer
            arms = explorer.ask(n)
            if not arms:
                return
            explorer.tell_many([(self.problem.names[arm], world.sample(arm, 1, rng)) for arm in arms])
        yield explorer
