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
from surepick.engine import compiled
from surepick.engine.data import Allocation, Exchanges, Partition, Plan, Tree
from surepick.engine.enums import Column, Shelf, Span
from surepick.engine.loops import lowered
from surepick.policies import CLUCB, Joint, Unified
from surepick.run.drive import drive
from surepick.run.source import Source

_observe, _offset_of = compiled("record").observe, compiled("record").offset_of
_ends, _log_term, _seen_in = compiled("sequences").ends, compiled("sequences").log_term, compiled("sequences").seen_in
_of_groups, _of_trees = compiled("partitions").undecided, compiled("trees").undecided
_of_plans, _of_allocations = compiled("plans").undecided, compiled("allocation").undecided
_improve = compiled("allocation").improve
_group_exchanges, _tree_exchanges = compiled("partitions").exchanges, compiled("trees").exchanges
_unit_exchanges, _look, _halved = compiled("allocation").exchanges, compiled("exchanges").look, compiled("exchanges").halved
_behind, _richer = compiled("exchanges").behind, compiled("exchanges").richer


@njit
def _groups_undecided(data, lower, upper, warm, out):
    _of_groups(data, lower if data.sign > 0 else -upper, upper if data.sign > 0 else -lower, out)
    return True


@njit
def _trees_undecided(data, lower, upper, warm, out):
    low, high = (lower, upper) if data.sign > 0 else (-upper, -lower)
    _of_trees(data, low, high, np.argsort(-low, kind="mergesort"), np.argsort(-high, kind="mergesort"), out)
    return True


@njit
def _plans_undecided(data, lower, upper, warm, out):
    _of_plans(data, lower, upper, out)
    return True


@njit
def _allocations_undecided(data, lower, upper, warm, out):
    return _of_allocations(data, lower, upper, warm[0], warm[1], out)


UNDECIDED = {Partition: _groups_undecided, Tree: _trees_undecided, Plan: _plans_undecided, Allocation: _allocations_undecided}


@njit
def _take(arm, record, stock):
    _observe(arm, stock.values[arm, stock.state[arm, Shelf.USED]], record)
    stock.state[arm, Shelf.USED] += 1


@njit
def _run(undecided, data, everywhere, warm, sequence, record, stock, budget):
    m = len(record.counts)
    lower, upper, out = np.empty(m), np.empty(m), np.empty(m, np.bool_)
    t = record.counts.sum()
    while True:
        c = _log_term(t, sequence)
        for i in range(m):
            lower[i], upper[i] = _ends(i, c, sequence, record)
        if not undecided(data, lower, upper, warm, out):
            return -2
        if t >= budget or not out.any():
            return -1
        arm, heaviest = -1, -1.0
        for i in range(m):
            weight = sequence.span[Span.WIDE, i] * sequence.span[Span.WIDE, i] / record.counts[i]
            if (everywhere or out[i]) and weight > heaviest:
                arm, heaviest = i, weight
        if stock.state[arm, Shelf.USED] >= stock.state[arm, Shelf.FILLED]:
            return arm
        _take(arm, record, stock)
        t += 1


@njit
def _best_of_groups(data, weights):
    """The best few of every group: arms are taken in their order unless they do not fit."""
    m = len(weights)
    taken, label, left = np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(m, np.int64)
    for g in range(len(data.starts) - 1):
        left[g] = data.k
        label[data.members[data.starts[g] : data.starts[g + 1]]] = g
    for i in np.argsort(-weights, kind="mergesort"):
        if left[label[i]] > 0:
            taken[i] = 1
            left[label[i]] -= 1
    return taken


@njit
def _best_tree(data, weights):
    """The best spanning tree: edges are taken in their order unless they close a cycle."""
    taken, nodes = np.zeros(len(weights), np.int64), np.arange(data.nodes)
    for i in np.argsort(-weights, kind="mergesort"):
        u, v = nodes[data.u[i]], nodes[data.v[i]]
        if u != v:
            taken[i] = 1
            nodes[nodes == u] = v
    return taken


BEST = {Partition: _best_of_groups, Tree: _best_tree}


@njit
def _run_by_rival(best, data, by_gap, sequence, record, stock, budget):
    m, sign = len(record.counts), data.sign
    lower, upper = np.empty(m), np.empty(m)
    t = record.counts.sum()
    while True:
        c = _log_term(t, sequence)
        for i in range(m):
            lower[i], upper[i] = _ends(i, c, sequence, record)
        decision = best(data, sign * np.minimum(np.maximum(record.table[:, Column.ESTIMATE], lower), upper))
        corner = np.where((decision > 0) == (sign > 0), lower, upper)
        rival = best(data, sign * corner)
        gap = sign * (corner * (rival - decision)).sum()
        if (rival == decision).all():
            return -1
        if by_gap and abs(gap) < 1e-8 * np.abs(corner * (rival - decision)).sum():
            return -2
        if t >= budget or (by_gap and gap < 0.0):
            return -1
        arm, heaviest = -1, -1.0
        for i in range(m):
            weight = sequence.span[Span.WIDE, i] * sequence.span[Span.WIDE, i] / record.counts[i]
            if rival[i] != decision[i] and weight > heaviest:
                arm, heaviest = i, weight
        if stock.state[arm, Shelf.USED] >= stock.state[arm, Shelf.FILLED]:
            return arm
        _take(arm, record, stock)
        t += 1


@njit
def _decide_groups(data, weights, decision, swaps):
    decision[:] = _best_of_groups(data, weights)
    return _group_exchanges(data, decision, swaps.high, swaps.low)


@njit
def _decide_tree(data, weights, decision, swaps):
    decision[:] = _best_tree(data, weights)
    return _tree_exchanges(data, decision, swaps.high, swaps.low)


@njit
def _decide_units(data, weights, decision, swaps):
    if not _improve(data, weights, decision):
        return -1
    return _unit_exchanges(data, decision, swaps.high, swaps.low, swaps.slope_high, swaps.slope_low)


DECIDE = {Partition: _decide_groups, Tree: _decide_tree, Allocation: _decide_units}


@njit
def _run_joint(decide, data, reference, threshold, paired, arms, decision, swaps, sequence, record, stock, budget):
    m, pairs = len(record.counts), len(swaps.high)
    weights, scores, verdicts, stale = np.empty(m), np.empty(pairs), np.empty(pairs, np.int64), np.ones(m, np.bool_)
    t = record.counts.sum()
    while True:
        for i in range(m):
            seen = _seen_in(i, sequence.units, record)
            arms.families[i], arms.n[i], arms.p[i] = seen.family, seen.n, seen.p
            arms.atoms[0, i], arms.atoms[1, i] = seen.inner, seen.share
            if record.variance:
                theta = record.table[i, Column.ESTIMATE]
            else:
                theta = (record.table[i, Column.ORIGIN] - reference) + _offset_of(i, record)
            weights[i] = sequence.span[Span.SIGN, i] * min(max(theta, arms.low[i] - reference), arms.high[i] - reference)
        count = decide(data, weights, decision, swaps)
        if count < 0:
            return -2
        listed = Exchanges(swaps.high[:count], swaps.low[:count], swaps.slope_high[:count], swaps.slope_low[:count])
        e, certain = _look(listed, stale, scores, verdicts, arms, threshold)
        arm = _halved(record.counts, paired)
        if t >= budget or (certain and arm < 0):
            return -1
        if arm < 0:
            arm = _behind(record.counts, arms.costs)
        if arm < 0:
            arm = _richer(e, listed, arms, record.counts)
        if stock.state[arm, Shelf.USED] >= stock.state[arm, Shelf.FILLED]:
            return arm
        _take(arm, record, stock)
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
    problem, policy = explorer.problem, explorer.policy
    while not explorer.started:
        source.take(explorer.ask(1)[0], 1)
    data, *common = lowered(explorer, source)
    loop: Any
    given: tuple[Any, ...]
    if isinstance(policy, Joint):
        confidence: Any = explorer.confidence
        arms, pairs = policy.weigh(explorer.view), policy.pairs
        swaps = Exchanges(np.empty(pairs, np.int64), np.empty(pairs, np.int64), np.ones(pairs), np.ones(pairs))
        rule = float(policy.reference(explorer.view)), float(policy.threshold(explorer.delta))
        decision = policy.decision(explorer.view).astype(np.int64)
        loop, given = _run_joint, (DECIDE[type(data)], data, *rule, confidence.paired, arms, decision, swaps, *common)
    elif isinstance(policy, (CLUCB, Unified)):
        loop, given = _run_by_rival, (BEST[type(data)], data, isinstance(policy, CLUCB), *common)
    else:
        warm = np.array([problem.solve_at(problem.low), problem.solve_at(problem.high)], dtype=np.int64)
        loop, given = _run, (UNDECIDED[type(data)], data, policy.name == "uniform", warm, *common)
    while (arm := loop(*given, explorer.budget)) != -1:
        explorer.forget()
        if arm >= 0:
            source.refill(arm)
        elif arms := explorer.ask(1):
            source.take(arms[0], 1)
        else:
            break
    explorer.forget()
