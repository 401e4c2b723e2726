"""The exploration loop as the paper has it, compiled but with no cleverness: every round looks at every arm.

It judges the loops of the engine on runs that are too long for Python. What it shares with them is the interval of an arm and the
test of undecided arms, both of which have judges of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

import surepick as sp
from surepick.engine import kernels
from surepick.engine.kinds import FILLED, USED
from surepick.loop import Source, arrays_of

_undecided, _observe = kernels("loop").undecided, kernels("record").observe
_ends, _log_term = kernels("sequences").ends, kernels("sequences").log_term


@njit
def _run(problem, ints, floats, everywhere, kind, numbers, units, span, counts, table, variance, buffer, stock, warm, budget):
    m = len(counts)
    lower, upper, out = np.empty(m), np.empty(m), np.empty(m, np.bool_)
    t = counts.sum()
    while True:
        c = _log_term(numbers, t)
        for i in range(m):
            lower[i], upper[i] = _ends(i, c, kind, numbers, units, span, counts, table)
        if not _undecided(problem, ints, floats, lower, upper, warm, out):
            return -2
        if t >= budget or not out.any():
            return -1
        arm, heaviest = -1, -1.0
        for i in range(m):
            weight = span[2, i] * span[2, i] / counts[i]
            if (everywhere or out[i]) and weight > heaviest:
                arm, heaviest = i, weight
        if stock[arm, USED] >= stock[arm, FILLED]:
            return arm
        _observe(counts, table, variance, arm, buffer[arm, stock[arm, USED]])
        stock[arm, USED] += 1
        t += 1


def drive_plainly(explorer: sp.Explorer, world: sp.Environment, *, seed: int = 0, run: int = 0) -> None:
    """COCI or uniform sampling, as :func:`surepick.loop.drive` does it."""
    source = Source(explorer, world, seed, run)
    kernel: Any = explorer.problem.kernel()
    while not explorer.started:
        source.take(explorer.ask(1)[0], 1)
    ends = explorer.problem._solve(explorer.problem.low), explorer.problem._solve(explorer.problem.high)
    warm = np.array(ends, dtype=np.int64)
    given = *kernel, explorer.policy.name == "uniform", *arrays_of(explorer, source)[:-1], warm, explorer.budget
    while (arm := _run(*given)) >= 0:
        source.refill(arm)
    assert arm == -1, "rounding cannot tell; choose another instance"
    explorer.forget()
