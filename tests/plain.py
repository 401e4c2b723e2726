"""The exploration loop as the paper has it, compiled but with no cleverness: every round looks at every arm.

It judges the loops of the engine on runs that are too long for Python. What it shares with them is the interval of an arm and the
test of undecided arms, and the evidence of an exchange, all of which have judges of their own; the best decision it finds by
sorting all arms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

import surepick as sp
from surepick.engine import kernels
from surepick.engine.kinds import FILLED, USED
from surepick.engine.record import ESTIMATE, ORIGIN
from surepick.policies import CLUCB, Joint, Unified
from surepick.run.compiled import arrays_of
from surepick.run.drive import drive
from surepick.run.source import Source

_undecided, _observe, _offset_of = kernels("loop").undecided, kernels("record").observe, kernels("record").offset_of
_ends, _log_term, _unit_of = kernels("sequences").ends, kernels("sequences").log_term, kernels("sequences").unit_of
_improve = kernels("allocation").improve
_exchanges, _look, _halved = kernels("exchanges").exchanges, kernels("exchanges").look, kernels("exchanges").halved
_behind, _richer = kernels("exchanges").behind, kernels("exchanges").richer


@njit
def _run(problem, ints, floats, everywhere, warm, kind, numbers, units, span, counts, table, variance, buffer, stock, budget):
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
def _best(problem, ints, weights):
    """The best few of every group (0), or the best spanning tree (1): arms are taken in their order unless they do not fit."""
    m = len(weights)
    taken, label, room = np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(m, np.int64)
    nodes = np.arange(ints[0])
    if problem == 0:
        starts, members = ints[2 : 2 + ints[1]], ints[2 + ints[1] :]
        for g in range(ints[1] - 1):
            room[g] = ints[0]
            label[members[starts[g] : starts[g + 1]]] = g
    for i in np.argsort(-weights, kind="mergesort"):
        if problem == 0 and room[label[i]] > 0:
            taken[i] = 1
            room[label[i]] -= 1
        elif problem == 1 and nodes[ints[2 + i]] != nodes[ints[2 + m + i]]:
            taken[i] = 1
            u, v = nodes[ints[2 + i]], nodes[ints[2 + m + i]]
            nodes[nodes == u] = v
    return taken


@njit
def _run_by_rival(problem, ints, sign, by_gap, kind, numbers, units, span, counts, table, variance, buffer, stock, budget):
    m = len(counts)
    lower, upper = np.empty(m), np.empty(m)
    t = counts.sum()
    while True:
        c = _log_term(numbers, t)
        for i in range(m):
            lower[i], upper[i] = _ends(i, c, kind, numbers, units, span, counts, table)
        decision = _best(problem, ints, sign * np.minimum(np.maximum(table[:, ESTIMATE], lower), upper))
        corner = np.where((decision > 0) == (sign > 0), lower, upper)
        rival = _best(problem, ints, sign * corner)
        gap = sign * (corner * (rival - decision)).sum()
        if (rival == decision).all():
            return -1
        if by_gap and abs(gap) < 1e-8 * np.abs(corner * (rival - decision)).sum():
            return -2
        if t >= budget or (by_gap and gap < 0.0):
            return -1
        arm, heaviest = -1, -1.0
        for i in range(m):
            weight = span[2, i] * span[2, i] / counts[i]
            if rival[i] != decision[i] and weight > heaviest:
                arm, heaviest = i, weight
        if stock[arm, USED] >= stock[arm, FILLED]:
            return arm
        _observe(counts, table, variance, arm, buffer[arm, stock[arm, USED]])
        stock[arm, USED] += 1
        t += 1


@njit
def _run_joint(
    kind, ints, floats, sign, reference, kinds, shift, scale, paired, units, rho, threshold, bottom, top, counts, table, variance,
    buffer, stock, decision, pairs, budget,
):  # fmt: skip
    m = len(counts)
    n, p, weights = np.empty(m), np.empty(m), np.empty(m)
    high, low, slope_high, slope_low = np.empty(pairs, np.int64), np.empty(pairs, np.int64), np.empty(pairs), np.empty(pairs)
    scores, stale = np.empty((2, pairs)), np.ones(m, np.bool_)
    t = counts.sum()
    while True:
        for i in range(m):
            n[i], p[i] = _unit_of(i, counts, table, units)
            theta = table[i, ESTIMATE] if variance else (table[i, ORIGIN] - reference) + _offset_of(i, counts, table)
            weights[i] = sign * min(max(theta, bottom[i] - reference), top[i] - reference)
        if kind != 2:
            decision[:] = _best(kind, ints, weights)
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


def same(problem: sp.Problem, world: sp.Environment, budget: int, run: int, **settings: Any) -> None:
    """Both loops end with the same counts."""
    runs = []
    for how in (drive_plainly, drive):
        explorer = sp.Explorer(problem, budget=budget, **settings)
        how(explorer, world, seed=8, run=run)
        runs.append((explorer.counts.tolist(), explorer.certified, explorer.decision.tolist()))
    assert runs[0] == runs[1], settings


def drive_plainly(explorer: sp.Explorer, world: sp.Environment, *, seed: int = 0, run: int = 0) -> None:
    """As :func:`surepick.run.drive.drive` does it; where rounding cannot tell, with rounds in Python."""
    source = Source(explorer, world, seed, run)
    problem, policy, record = explorer.problem, explorer.policy, explorer.record
    kernel: Any = problem.kernel()
    while not explorer.started:
        source.take(explorer.ask(1)[0], 1)
    common = *arrays_of(explorer, source)[:-1], explorer.budget
    if isinstance(policy, Joint):
        confidence: Any = explorer.confidence
        kinds, _, _, low, high, shift, scale, rho = policy.weigh(explorer.view)
        loop, given = _run_joint, (
            *kernel, policy.sign, policy.reference(explorer.view), kinds, shift, scale, confidence.paired,
            confidence.table(record), rho, policy.threshold(explorer.delta), low, high,
            record.counts, record.table, record.variance, source.buffer, source.stock,
            policy.decision(explorer.view), policy.pairs, explorer.budget,
        )  # fmt: skip
    elif isinstance(policy, (CLUCB, Unified)):
        loop, given = _run_by_rival, (kernel.kind, kernel.ints, problem.sign, isinstance(policy, CLUCB), *common)
    else:
        warm = np.array([problem._solve(problem.low), problem._solve(problem.high)], dtype=np.int64)
        loop, given = _run, (*kernel, policy.name == "uniform", warm, *common)
    while (arm := loop(*given)) != -1:
        explorer.forget()
        if arm >= 0:
            source.refill(arm)
        elif arms := explorer.ask(1):
            source.take(arms[0], 1)
        else:
            break
    explorer.forget()
