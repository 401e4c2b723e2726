"""Integer programs: ``Program``, whose model stays in HiGHS, against ``scipy.optimize.milp``, which hands it over at every call.

Most of the lead on small programs is a heuristic of HiGHS that ``Program`` leaves out; scipy has no option for that.
"""

from __future__ import annotations

import time

import numpy as np
from clock import Row, best
from scipy.optimize import Bounds, LinearConstraint, milp

import surepick as sp
from surepick.run.drive import drive

ASKED = 20  # objectives a measurement


def transport() -> sp.Program:
    """Three stocks, three customers, up to 5 units a route."""
    A = np.vstack((np.kron(np.eye(3), np.ones(3)), np.kron(np.ones(3), np.eye(3))))
    return sp.Program(9, A, [-np.inf] * 3 + [4, 5, 3], [5, 4, 4, 4, 5, 3], levels=5)


def problems() -> dict[str, sp.Program]:
    rng = np.random.default_rng(7)
    weights = rng.integers(1, 50, 30)
    return {
        "knapsack, 6 arms": sp.Program(6, [[5, 4, 6, 3, 2, 4]], upper=12),
        "knapsack, 30 arms": sp.Program(30, [weights], upper=weights.sum() // 3),
        "3 × 3 transport flow": transport(),
    }


def scipy_solve(problem: sp.Program, theta: np.ndarray) -> np.ndarray:
    bounds, limits = Bounds(0, problem.levels), LinearConstraint(problem.A, problem.least, problem.most)
    found = milp(-theta, integrality=np.ones(problem.m), bounds=bounds, constraints=limits, options={"mip_rel_gap": 0.0})
    return np.rint(found.x)


def rows() -> list[Row]:
    found = []
    for name, problem in problems().items():
        thetas = np.random.default_rng(8).random((ASKED, problem.m))
        assert all(np.isclose(t @ problem.solve(t), t @ scipy_solve(problem, t)) for t in thetas)
        ours = best(lambda p=problem, all=thetas: [p.solve(t) for t in all], 3) / ASKED
        theirs = best(lambda p=problem, all=thetas: [scipy_solve(p, t) for t in all], 3) / ASKED
        figure = f"{1e3 * ours:.1f} ms, {theirs / ours:.1f} × as fast"
        found.append(Row(f"`Program.solve`, {name}, against `scipy.optimize.milp`", figure, "≥ 1 ×", ours <= theirs))
    for name in ("knapsack, 6 arms", "3 × 3 transport flow"):
        problem = problems()[name]
        explorer = sp.Explorer(problem, policy="unified", budget=500)
        start = time.perf_counter()
        drive(explorer, sp.Bernoulli(np.linspace(0.2, 0.8, problem.m)))
        found.append(
            Row(f"`unified` on a {name}", f"{explorer.samples / (time.perf_counter() - start):,.0f} samples/s", "", True)
        )
    return found
