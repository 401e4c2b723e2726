"""The characteristic time of an instance: what any algorithm needs (Garivier and Kaufmann 2016, Theorem 1).

An algorithm that is wrong with probability at most delta, whatever the arms are, takes E[samples] >= T* kl(delta, 1 - delta) with

    1 / T* = max over w of min over lambda in Alt of sum_i w_i d(theta_i, lambda_i),

where w are the shares of the samples that go to each arm and Alt holds the parameters at which another decision is better.
Equivalently T* = min sum_i u_i with sum_i u_i d(theta_i, lambda_i) >= 1 on all of Alt: a linear program with a row (a cut) for
every lambda. Alt is a union of half-spaces, and the rows that matter are found at the best responses to the current w.

Any finite part of Alt asks for less, so that every linear program on the way, by its dual solution, gives a valid lower bound.
What is returned is the last of them, not the value at w, which approaches T* from above.

If an observation of arm i costs c_i, the same holds for E[cost] with C* = min sum_i c_i u_i: in v_i = c_i u_i, what is spent on
arm i, it is the same program with d(theta_i, lambda_i) / c_i in place of d.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linprog, minimize
from scipy.sparse import csr_array, vstack

from ..arms import Floats, Ints
from ..problems import Problem
from ..problems.half_spaces import HalfSpaces
from ..problems.oracle import OracleProblem
from .alternatives import reachable, tie
from .divergence import Divergence
from .responses import best_responses
from .rivals import Rivals

CLOSE = 1e-6  # relative distance of the two bounds at which the search ends
ROUNDS = 500
LEAST = 1e-11  # the smallest share of an arm


def characteristic_time(problem: Problem, theta: Floats, costs: Floats | None = None) -> tuple[float, Floats | None] | None:
    """T* and w*, or with costs C* and the shares of the cost; None if not all alternatives of the class can be searched. Theta
    has been checked.

    T* is infinite if the optimum is not unique, and 0 if no parameter in the arms' range changes it; there is no w* then.
    """
    if not Divergence.knows(problem) or problem.finite:  # with all values drawn everything is known, however near it is
        return None
    spaces, rivals = problem.half_spaces(theta), None
    if spaces is None and isinstance(problem, OracleProblem) and problem.splits:
        rivals = Rivals(problem, theta)
        spaces = rivals.first()
    if spaces is None:
        return None
    if tie(spaces, problem, theta):
        return math.inf, None
    spaces = reachable(spaces, problem, theta)
    if len(spaces.gap) == 0:
        return 0.0, None
    return _cutting_planes(Divergence(problem, theta), spaces, rivals, np.ones(problem.m) if costs is None else costs)


def _cutting_planes(
    divergence: Divergence, spaces: HalfSpaces, rivals: Rivals | None, costs: Floats
) -> tuple[float, Floats] | None:
    """Shares, and what cuts multiply, are of cost: a unit spent on arm i gives 1 / cost_i samples."""
    m = len(divergence.theta)
    best = np.full(m, 1.0 / m)
    value = 0.0  # of ``best``: at most 1 / T*
    time = 0.0  # at most T*
    unit = 0.0  # about T*, so that the program's numbers are near 1
    u, cuts, owner = np.zeros(m), csr_array((0, m)), np.empty(0, dtype=np.int64)
    nearest = np.empty(0)  # the best responses to ``best``
    queries = [best]
    close = CLOSE if rivals is None else 1e-2  # rivals are looked for early on
    for _ in range(ROUNDS):
        for w in queries:
            values, d = best_responses(divergence, spaces, w / costs)
            d = d / costs[spaces.arms]
            if values.min() > value:
                best, value, nearest = w, float(values.min()), d
            unit = unit or 1.0 / value
            broken = np.flatnonzero(np.isfinite(d).all(axis=1) & ((d * u[spaces.arms]).sum(axis=1) * unit < 1.0))
            cuts = vstack((cuts, _rows(spaces.arms[broken], d[broken] * unit, m)), format="csr")
            owner = np.concatenate((owner, broken))
        solved = _program(cuts)
        if solved is None:
            return None
        u, price = solved
        time = max(time, unit * float(price.sum() / (price @ cuts).max()))
        if value * time >= 1.0 - close:
            if rivals is None:
                moved = np.bincount(spaces.arms[spaces.c != 0], minlength=m) > 0
                return time, np.where(moved, best, 0.0) / best[moved].sum()
            more = rivals.beating(divergence, best / costs, (1.0 - 2 * close) / time)
            if more is None:
                return None
            if len(more.gap):
                spaces, queries, value = spaces.joined(more), [best], 0.0
                continue
            if close == CLOSE:
                return time, best
            close = max(close / 100, CLOSE)
        # Halfway to the program's solution, which jumps about, and where a smoother model has its optimum.
        queries = [_shares(u / u.sum() + best), _shares(_smooth(spaces, best, nearest, price, owner))]
        if cuts.shape[0] > 10 * m:
            tight = np.flatnonzero(cuts @ u < 1.5)
            cuts, owner = cuts[tight], owner[tight]
    return None


def _smooth(spaces: HalfSpaces, w: Floats, d: Floats, price: Floats, owner: Ints) -> Floats:
    """About the best shares: exact if every half-space's least sum were 1 / sum_i (b_i / w_i), as it is for normal arms.

    The condition that such a sum is at least 1 is linear in z_i = w_i / (new w_i). With f the values at w, in units of the least,
    and a_i = w_i d_i, the program is to minimise sum_i w_i / z_i subject to sum_i a_i z_i <= 2 f - 1. Its dual has a variable
    x >= 0 a half-space and no other constraint: maximise 2 sum_i sqrt(w_i (x a)_i) - x (2 f - 1); then the new w_i is
    sqrt(w_i (x a)_i). Half-spaces without a price in the linear program stay out.
    """
    a = w[spaces.arms] * d
    f = a.sum(axis=1)
    least = f.min()
    weight = np.bincount(owner, price, len(f))
    near = np.flatnonzero(weight > 0)
    a, arms, f = a[near] / least, spaces.arms[near], f[near] / least
    table = _rows(arms, a, len(w))

    def dual(x: Floats) -> tuple[float, Floats]:
        root = np.sqrt(w * (x @ table) + 1e-300)
        return float(x @ (2.0 * f - 1.0) - 2.0 * root.sum()), 2.0 * f - 1.0 - table @ (w / root)

    found = minimize(
        dual,
        weight[near] / weight.sum(),
        jac=True,
        method="TNC",
        bounds=[(1e-12, None)] * len(near),
        options={"ftol": 1e-15, "gtol": 1e-10, "maxfun": 150},
    )
    shares: Floats = np.sqrt(w * (found.x @ table))
    return shares


def _shares(weights: Floats) -> Floats:
    """Summing to 1, and none quite 0, so that no parameter is ever free to move."""
    floored = weights / weights.sum() + LEAST
    shares: Floats = floored / floored.sum()
    return shares


def _rows(arms: Ints, d: Floats, m: int) -> csr_array:
    ends = np.arange(len(arms) + 1) * arms.shape[1]
    return csr_array((d.ravel(), arms.ravel(), ends), shape=(len(arms), m))


def _program(cuts: csr_array) -> tuple[Floats, Floats] | None:
    """The u with the least sum that meets every cut, and the cuts' prices (the dual solution)."""
    found = linprog(np.ones(cuts.shape[1]), A_ub=-cuts, b_ub=-np.ones(cuts.shape[0]), method="highs-ds")
    if found.status != 0:
        return None
    return np.maximum(found.x, 0.0), np.maximum(-found.ineqlin.marginals, 0.0)
