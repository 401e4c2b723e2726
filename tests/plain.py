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
_ends, _log_term, _unit_of = kernels("sequences").ends, kernels("sequences").log_term, kernels("sequences").unit_of
_best, _improve = kernels("rivals").best, kernels("allocation").improve
_exchanges, _look, _halved = kernels("exchanges").exchanges, kernels("exchanges").look, kernels("exchanges").halved
_behind, _richer = kernels("exchanges").behind, kernels("exchanges").richer


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


@njit
def _run_joint(
    kind, ints, floats, sign, kinds, shift, scale, paired, units, rho, threshold, bottom, top, counts, table, variance, buffer,
    stock, decision, pairs, budget,
):  # fmt: skip
    m = len(counts)
    n, p, weights = np.empty(m), np.empty(m), np.empty(m)
    high, low, slope_high, slope_low = np.empty(pairs, np.int64), np.empty(pairs, np.int64), np.empty(pairs), np.empty(pairs)
    scores, stale = np.empty((2, pairs)), np.ones(m, np.bool_)
    t = counts.sum()
    while True:
        for i in range(m):
            n[i], p[i] = _unit_of(i, counts, table, units)
            weights[i] = sign * min(max(table[2, i], bottom[i]), top[i])
        if kind != 2:
            _best(kind, ints, weights, decision)
        elif not _improve(floats, weights, ints[1 : 1 + m], ints[1 + m :], decision):
            return -2
        count = _exchanges(kind, ints, floats, decision, high, low, slope_high, slope_low)
        e, certain = _look(
            count, high, low, slope_high, slope_low, stale, scores, kinds, n, p, bottom, top, shift, scale, rho, threshold
        )
        arm = _halved(counts, paired)
        if t >= budget or (certain and arm < 0):
            return -1
        if arm < 0:
            arm = _behind(counts)
        if arm < 0:
            arm = _richer(e, high, low, slope_high, slope_low, kinds, n, p, bottom, top, shift, scale, rho, counts)
        if stock[arm, USED] >= stock[arm, FILLED]:
            return arm
        _observe(counts, table, variance, arm, buffer[arm, stock[arm, USED]])
        stock[arm, USED] += 1
        t += 1


def drive_plainly(explorer: sp.Explorer, world: sp.Environment, *, seed: int = 0, run: int = 0) -> None:
    """COCI, uniform sampling or joint stopping, as :func:`surepick.loop.drive` does it."""
    source = Source(explorer, world, seed, run)
    kernel: Any = explorer.problem.kernel()
    while not explorer.started:
        source.take(explorer.ask(1)[0], 1)
    if explorer.policy.name == "joint":
        policy, confidence, problem, moments = explorer.policy, explorer.confidence, explorer.problem, explorer.record
        args: Any = (
            *policy.kernel, policy.sign, confidence.kinds, confidence.shift, confidence.scale, confidence.paired,
            confidence.kernel().units, confidence.rho, policy.threshold(explorer.delta), problem.low, problem.high,
            moments.counts, moments.table, moments.variance, source.buffer, source.stock,
            policy.decision(explorer.view), policy.pairs, explorer.budget,
        )  # fmt: skip
        while (arm := _run_joint(*args)) != -1:
            explorer.forget()
            if arm >= 0:
                source.refill(arm)
            elif arms := explorer.ask(1):  # rounding cannot tell: a round in Python
                source.take(arms[0], 1)
            else:
                break
        explorer.forget()
        return
    ends = explorer.problem._solve(explorer.problem.low), explorer.problem._solve(explorer.problem.high)
    warm = np.array(ends, dtype=np.int64)
    given = *kernel, explorer.policy.name == "uniform", *arrays_of(explorer, source)[:-1], warm, explorer.budget
    while (arm := _run(*given)) >= 0:
        source.refill(arm)
    assert arm == -1, "rounding cannot tell; choose another instance"
    explorer.forget()
