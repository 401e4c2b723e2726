"""Joint stopping in compiled code: certain without the exact evidence, ties in batches, budgets spent after the certificate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import surepick as sp
from surepick.engine import compiled
from surepick.engine.data import Arms
from surepick.engine.enums import Family
from surepick.engine.kernels.exchanges import need, plenty, well_seen
from surepick.engine.loops import find
from surepick.engine.loops.joint_verdicts import FALL, MORE, MOST_MORE, SOME, SURE, WORTH
from surepick.run.drive import drive

glr, least_evidence = compiled("glr").glr, compiled("least").least_evidence


def both(problem: sp.Problem, world: sp.Environment, batch: int, told: Any = (), **settings: Any) -> list[dict[str, Any]]:
    """The certificates of the Python loop and of the compiled one."""
    found = []
    for in_code in (False, True):
        explorer = sp.Explorer(problem, **{"policy": "joint", "delta": 0.1, **settings})
        if told:
            explorer.tell_many(told)
        assert find(explorer, batch) is not None
        drive(explorer, world, batch=batch, seed=1, compiled=in_code)
        found.append(explorer.certificate().to_dict())
    return found


V = [0.5, 0.3, 0.9, 0.9, 0.02, 0.5, 0.05, 0.02]
TIES = {
    "strata": (sp.SampleAllocation([100] * 8, 24), sp.Bernoulli([0.4, 0.4, 0.6, 0.6, 0.6, 0.4, 0.4, 0.5]), 50, {"budget": 2000}),
    "constants": (sp.TopK(6, 3), sp.Bernoulli([0, 1, 1, 1, 1, 1]), 100, {"budget": 2000}),
    "variances": (sp.TopK(8, 5, parameter="variance"), sp.Bernoulli(V), 64, {"budget": 800, "epsilon": 1e-6}),
    "rounding": (sp.SampleAllocation([100] * 9, 27), sp.Bernoulli([0.03] * 9), 10, {"budget": 780}),
}


@pytest.mark.parametrize("name", TIES)
def test_batches_break_ties_as_python_does(name: str) -> None:
    """Also where planned samples count, and where no evidence is 0 by rounding alone."""
    problem, world, batch, settings = TIES[name]
    plain, fast = both(problem, world, batch, **settings)
    assert plain == fast


def test_batches_break_ties_among_arms_told_before() -> None:
    told = [(i, [1.0] * n) for i, n in enumerate([16, 22, 10, 34, 14])]
    plain, fast = both(sp.BestArm(5), sp.Bernoulli([1] * 5), 14, told, budget=124)
    assert plain == fast


@pytest.mark.parametrize("batch", [1, 7, 20])
def test_budgets_are_spent_as_in_python_long_after_the_certificate(batch: int) -> None:
    rng = np.random.default_rng(batch)
    cycle = [(i, j) for i in range(4) for j in range(i)]
    for k in range(12):
        m = int(rng.integers(3, 8))
        problem, world = (
            (sp.SampleAllocation([100] * m, 2 * m), sp.Bernoulli(rng.uniform(0.02, 0.98, m))),
            (sp.TopK(m, int(rng.integers(1, m))), sp.Bernoulli(rng.uniform(0.02, 0.98, m))),
            (sp.SpanningTree(cycle), sp.Beta(rng.uniform(0.02, 0.98, 6), 3)),
            (sp.TopK([sp.Arm(f"{i}", kind="subgaussian", scale=0.5) for i in range(m)], 1), sp.Gaussian(rng.random(m), 0.5)),
        )[k % 4]
        settings: dict[str, Any] = {"budget": int(rng.integers(1500, 3000)), "spend": True, "delta": (0.05, 0.9, 1e-6)[k % 3]}
        if k % 4 and k % 5 == 1:
            settings["epsilon"] = 0.05
        plain, fast = both(problem, world, batch, **settings)
        assert plain == fast, (k, settings)


def two_arms(rng: np.random.Generator) -> tuple[Arms, float, float]:
    """Two arms that are seen well, the first of them ahead, and two slopes: of any kinds, often near the ends of their ranges."""
    while True:
        kinds = rng.choice([Family.UNIT, Family.NORMAL, Family.SPREAD], 2)
        if {Family.NORMAL, Family.SPREAD} <= set(kinds):
            continue
        n, rho = np.floor(10 ** rng.uniform(1, 5, 2)), 10 ** rng.choice([rng.uniform(-1, 5), rng.uniform(1.3, 2.3)])
        scale = np.ones(2) if rng.random() < 0.6 else 10 ** rng.uniform(-2, 2, 2)
        slopes = (1.0, 1.0) if rng.random() < 0.6 else tuple(10 ** rng.uniform(-1, 1, 2))
        widest = np.where(kinds == Family.SPREAD, 0.25, 1.0)
        level = (slopes * scale * widest).min() * rng.choice(
            [rng.random(), 10 ** rng.uniform(-4, 0), 1 - 10 ** rng.uniform(-4, 0)]
        )
        p, nats = np.empty(2), 10 ** rng.uniform(0.5, 2)
        for i, side in enumerate((1, -1)):
            u = level / slopes[i] / scale[i]
            u = 0.5 * (1 - math.sqrt(max(1 - 4 * u, 0))) if kinds[i] == Family.SPREAD else u
            spread = 1.0 if kinds[i] == Family.NORMAL else max(u * (1 - u), 1e-9)
            p[i] = u + side * math.sqrt(2 * nats * rng.random() * spread / n[i])
            p[i] = min(p[i], 0.5) if kinds[i] == Family.SPREAD else p[i]
        if all(well_seen(*arm) for arm in zip(kinds, n, p, strict=True)):
            normal = kinds == Family.NORMAL
            low, high = np.where(normal, -np.inf, 0.0), np.where(normal, np.inf, scale * widest)
            return Arms(kinds.astype(np.int64), n, p, low, high, np.zeros(2), scale, float(rho)), *slopes


def test_plenty_of_evidence_is_enough() -> None:
    rng, looked = np.random.default_rng(0), 0
    while looked < 1500:
        arms, *slopes = two_arms(rng)
        found, threshold = glr(0, 1, *slopes, arms), rng.uniform(0.5, 20)
        if math.isfinite(found) and plenty(found, need(0, 1, arms, threshold), threshold):
            looked += 1
            assert least_evidence(0, 1, *slopes, arms, 0.0, threshold) >= threshold, (arms, slopes, threshold)


def test_about_the_least_evidence_is_hardly_above_it() -> None:
    rng, looked = np.random.default_rng(2), 0
    while looked < 1500:
        arms, *slopes = two_arms(rng)
        about = compiled("least").about_least(0, 1, *slopes, arms)
        if SOME < about < 100:  # else it is not a number, or does not matter
            looked += 1
            least = least_evidence(0, 1, *slopes, arms)
            assert least - 1e-9 * abs(least) <= about <= least + SURE, (arms, slopes)
            assert compiled("least").about_least(0, 1, *slopes, arms, about + 1.0) < about + 1.0


def test_much_more_evidence_than_that_is_not_called_plenty_for_nothing() -> None:
    """The rule is of use: at a hundred times the threshold it holds."""
    assert plenty(100.0 * 7.0, 9.0, 7.0)
    assert not plenty(9.0, 9.0, 7.0)


def test_what_is_certain_with_something_to_spare_stays_so_for_a_while() -> None:
    """For values as they come, and for runs of ones or zeros, as long as the estimate does not fall and the arms are not observed
    by more than is allowed."""
    rng, looked = np.random.default_rng(1), 0
    while looked < 800:
        arms, *slopes = two_arms(rng)
        threshold = rng.uniform(2, 15)
        estimate = glr(0, 1, *slopes, arms) - need(0, 1, arms, threshold)
        spare = 0.75 * estimate
        if not WORTH <= spare < 40 or least_evidence(0, 1, *slopes, arms) < threshold + spare:
            continue
        n, p = arms.n.copy(), arms.p.copy()
        for i in range(2):
            more = math.floor(rng.choice([0.0, rng.random(), 1.0]) * min(MORE * spare, MOST_MORE) * n[i])
            if arms.families[i] == Family.NORMAL:
                x = p[i] + rng.normal() / math.sqrt(max(more, 1))
            else:
                share = min(max(p[i], 0.0), 1.0)
                x = rng.choice([0.0, 1.0, 2.0], p=[0.05, 0.05, 0.9])
                x = rng.binomial(more, share) / max(more, 1) if x == 2.0 else x
            p[i], n[i] = (n[i] * p[i] + more * x) / (n[i] + more), n[i] + more
        later = arms._replace(n=n, p=p)
        if glr(0, 1, *slopes, later) - need(0, 1, later, threshold) >= estimate - FALL * spare:
            looked += 1
            assert least_evidence(0, 1, *slopes, later, 0.0, threshold) >= threshold, (arms, later, slopes, threshold)


def test_attained_is_never_zero() -> None:
    outcome = sp.explore(sp.BestArm(2), sp.Bernoulli([0.99, 0.01]), budget=10_000, spend=True)
    assert outcome.certificate.attained == 1e-300
