"""COCI as the paper writes it, in Python: two calls of the oracle for every arm in every round. Speed is measured by it."""

from __future__ import annotations

import numpy as np

import surepick as sp
from surepick.environments.base import stream


def explore(problem: sp.Problem, world: sp.Environment, delta: float, budget: int, seed: int = 0) -> np.ndarray:
    """The samples of every arm, after ``budget`` samples or when no arm is undecided."""
    m, tau = problem.m, problem.parameter.minimum
    rngs = [stream(seed, 0, i) for i in range(m)]
    record = problem.record()
    for i in range(m):
        record.update(i, world.sample(i, tau, rngs[i]))
    for t in range(m * tau, budget):
        c = np.log(4.0) + 3.0 * np.log(t) - np.log(tau) - np.log(delta)
        radius = problem.scales * np.sqrt(c / (2.0 * record.counts))
        lower = np.clip(record.estimates - radius, problem.low, problem.high)
        upper = np.clip(record.estimates + radius, problem.low, problem.high)
        best, widest = -1, -1.0
        for i in range(m):
            at_most, at_least = lower.copy(), upper.copy()
            at_most[i], at_least[i] = upper[i], lower[i]
            if problem.solve(at_most)[i] != problem.solve(at_least)[i] and radius[i] > widest:
                best, widest = i, radius[i]
        if best < 0:
            break
        record.update(best, world.sample(best, 1, rngs[best]))
    return record.counts
