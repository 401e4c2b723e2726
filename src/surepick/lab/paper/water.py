"""Section 4.1: water resource planning, from field trials to a certified plan."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from ...arms import Ints
from ...certificate import Certificate
from ...difficulty import hardness
from ...environments import Beta
from ...problems import ResourcePlan
from ...run.explore import explore
from ..plots import intervals
from .base import HOLDS, OPEN, Claim, Lab, Result, Table, Verdict
from .statistics import Rate, rates

DELTA = 0.05
SITES = ("Paper mill", "Tannery", "Dairy", "Upper farms", "Brewery")
CAPS = (4, 4, 3, 4, 3)
FACTOR = (0.15, 0.12, 0.18, 0.10, 0.20)  # y units cost factor y^2
REQUIRE = 11
QUALITY = (0.83, 0.66, 0.48, 0.40, 0.70)
CONCENTRATION = 6.0


class Found(NamedTuple):
    """One way of exploring: wrong plans, plans that break a constraint, and samples."""

    name: str
    rate: Rate
    certified: int
    infeasible: int
    samples: float


def judge(found: list[Found], right: bool) -> Verdict:
    """``right``: the plan of the picture is certified and equals the optimum."""
    if not right:
        return Verdict(OPEN, "the plan of the run shown is not the certified optimum")
    for f in found:
        if f.infeasible or f.certified < f.rate.of or f.rate.high > DELTA:
            return Verdict(
                OPEN, f"{f.name}: {f.rate.errors} wrong, {f.infeasible} infeasible, {f.certified} certified of {f.rate.of} plans"
            )
    return Verdict(HOLDS, f"{sum(f.rate.of for f in found)} plans, each certified and optimal")


def measure(lab: Lab) -> Result:
    plan = problem()
    trials = Beta(QUALITY, CONCENTRATION)
    best = best_plan()
    runs = lab.size(120, 100)
    simulation = lab.simulate("water", {"water": (plan, trials)}, "coci/paper", delta=DELTA, runs=runs, end=0.9)
    table = simulation.table
    labels = {"coci/paper": "the paper's COCI"}
    parts = {policy: table[table["policy"] == policy] for policy in labels}
    wrong = rates([(int((~part["correct"]).sum()), len(part)) for part in parts.values()])
    found = [
        Found(
            labels[policy],
            rate,
            int(part["certified"].sum()),
            sum(not feasible(simulation.decisions[i]) for i in part.index),
            float(part["samples"].mean()),
        )
        for (policy, part), rate in zip(parts.items(), wrong, strict=True)
    ]
    certificate: Certificate = explore(plan, trials, DELTA, policy="coci", confidence="paper", seed=lab.seed).certificate
    default = explore(plan, trials, DELTA, seed=lab.seed).certificate
    h = hardness(plan, QUALITY)
    return Result(
        verdict=judge(found, bool(certificate.certified and (certificate.decision == best).all())),
        ran=f"Five sources, increasing marginal cost (y units cost factor · y²), at least {REQUIRE} units in all; a field "
        f"trial at a source gives a value in [0, 1] whose mean is the good that a unit does. One run at δ = {DELTA:g} is "
        f"shown; {runs} runs are compared with the optimum, which was found by trying every plan.",
        tables=[
            Table(
                [
                    ("source", ""),
                    ("cap", "d"),
                    ("cost factor", ".2f"),
                    ("true response", ".2f"),
                    ("estimate", ".3f"),
                    ("trials", ",d"),
                    ("certified plan", "d"),
                    ("optimum", "d"),
                    ("Λᵢ", ".3f"),
                ],
                [
                    (
                        SITES[i],
                        CAPS[i],
                        FACTOR[i],
                        QUALITY[i],
                        float(certificate.estimate[i]),
                        int(certificate.counts[i]),
                        int(certificate.decision[i]),
                        int(best[i]),
                        float(h.radius[i]),
                    )
                    for i in range(len(SITES))
                ],
                str(certificate),
            ),
            Table(
                [
                    ("", ""),
                    ("runs", ",d"),
                    ("wrong", ",d"),
                    ("wrong, at most", ".4f"),
                    ("certified", ",d"),
                    ("against the constraints", ",d"),
                    ("mean trials", ",.0f"),
                ],
                [(f.name, f.rate.of, f.rate.errors, f.rate.high, f.certified, f.infeasible, f.samples) for f in found],
            ),
        ],
        figure=intervals(certificate, title="Units of pollution to remove at each source", parameter="response to one unit"),
        alt="The confidence interval of every source's response and the certified plan.",
        text=f"On the same values the default settings of this package certify the same plan after {default.samples:,} trials."
        if (default.decision == certificate.decision).all()
        else "",
    )


def problem() -> ResourcePlan:
    cost = [[factor * y * y for y in range(cap + 1)] for factor, cap in zip(FACTOR, CAPS, strict=True)]
    return ResourcePlan(cost, list(CAPS), REQUIRE, arms=list(SITES))


def best_plan() -> Ints:
    """By trying every plan."""
    plans = np.array([y for y in itertools.product(*[range(cap + 1) for cap in CAPS]) if sum(y) >= REQUIRE])
    reward = plans @ np.array(QUALITY) - (plans**2) @ np.array(FACTOR)
    return np.asarray(plans[int(np.argmax(reward))])


def feasible(y: Ints) -> bool:
    return bool(y.sum() >= REQUIRE and (y >= 0).all() and (y <= CAPS).all())


CLAIM = Claim(
    "water",
    "Section 4.1",
    "Water resource planning, end to end",
    "How much pollution to remove at each source, when the cost is known and the good that it does must be learnt from "
    "tests: COCI applies directly, and gives the best plan with probability at least 1 − δ.",
    measure,
)
