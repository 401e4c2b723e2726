"""Section 4.2: partitioned opinion sampling, from pilot answers to a certified split of the interviews."""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...arms import Ints
from ...certificate import Certificate
from ...difficulty import hardness
from ...environments import VoterModel
from ...problems import SampleAllocation
from ...run.explore import explore
from ..plots import intervals
from .base import HOLDS, OPEN, Claim, Lab, Result, Table, Verdict
from .statistics import Rate, rates

DELTA = 0.05
SIZES = (300, 200, 100)
SHARE = (0.5, 0.2, 0.02)  # of people whose own opinion is yes
GROUPS = ("students", "parents", "pensioners")
BUDGET = 9


class Found(NamedTuple):
    """One way of exploring: wrong splits and samples."""

    name: str
    rate: Rate
    certified: int
    samples: float


def judge(found: list[Found], right: bool) -> Verdict:
    """``right``: the split of the picture is certified and equals the optimum."""
    if not right:
        return Verdict(OPEN, "the split of the run shown is not the certified optimum")
    for f in found:
        if f.certified < f.rate.of or f.rate.high > DELTA:
            return Verdict(OPEN, f"{f.name}: {f.rate.errors} wrong and {f.certified} certified of {f.rate.of} splits")
    return Verdict(HOLDS, f"{sum(f.rate.of for f in found)} splits, each certified and optimal")


@lru_cache(maxsize=1)
def town() -> VoterModel:
    return VoterModel.random(SIZES, share=SHARE, names=GROUPS, seed=3)


def measure(lab: Lab) -> Result:
    world = town()
    survey = SampleAllocation(world.sizes, BUDGET, arms=list(world.names))
    best = best_split(world)
    runs = lab.size(120, 100)
    policies = ("coci/paper", "auto") if not lab.quick else ("coci/paper",)
    table = lab.simulate("opinion", {"opinion": (survey, world)}, policies, delta=DELTA, runs=runs, end=0.9).table
    labels = {"coci/paper": "the paper's COCI", "auto": "default of this package"}
    parts = {policy: table[table["policy"] == policy] for policy in policies}
    wrong = rates([(int((~part["correct"]).sum()), len(part)) for part in parts.values()])
    found = [
        Found(labels[policy], rate, int(part["certified"].sum()), float(part["samples"].mean()))
        for (policy, part), rate in zip(parts.items(), wrong, strict=True)
    ]
    certificate: Certificate = explore(survey, world, DELTA, policy="coci", confidence="paper", seed=lab.seed).certificate
    h = hardness(survey, world.variances)
    proportional = survey.solve(np.full(survey.m, 0.25))
    lost = survey.reward(world.variances, proportional) / survey.reward(world.variances, best)
    return Result(
        verdict=judge(found, bool(certificate.certified and (certificate.decision == best).all())),
        ran=f"A random social network of {world.sizes.sum()} people in three groups who copy each other or fall back on "
        "their own opinion (a voter model); a pilot answer is the opinion, in the steady state, of a random member. How "
        f"should {BUDGET} interviews be split? One run at δ = {DELTA:g} is shown; {runs} runs are compared with the "
        "optimum, which was found by trying every split.",
        tables=[
            Table(
                [
                    ("group", ""),
                    ("people", ",d"),
                    ("true variance", ".4f"),
                    ("estimate", ".4f"),
                    ("pilot answers", ",d"),
                    ("certified split", "d"),
                    ("optimum", "d"),
                    ("proportional", "d"),
                    ("Λᵢ", ".4f"),
                ],
                [
                    (
                        world.names[i],
                        int(world.sizes[i]),
                        float(world.variances[i]),
                        float(certificate.estimate[i]),
                        int(certificate.counts[i]),
                        int(certificate.decision[i]),
                        int(best[i]),
                        int(proportional[i]),
                        float(h.radius[i]),
                    )
                    for i in range(survey.m)
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
                    ("mean pilot answers", ",.0f"),
                ],
                [(f.name, f.rate.of, f.rate.errors, f.rate.high, f.certified, f.samples) for f in found],
            ),
        ],
        figure=intervals(
            certificate, title=f"{BUDGET} interviews in a town of three groups", parameter="variance of the answers"
        ),
        alt="The confidence interval of every group's variance and the certified split of the interviews.",
        text=f"The variance of a proportional split would be {lost:.3f} times that of the best one. With more interviews "
        "the exact optimum soon costs millions of answers; a split that is certified to be within some per cent of the "
        "best costs thousands.",
    )


def best_split(world: VoterModel) -> Ints:
    """By trying every split."""
    splits = np.array([y for y in itertools.product(range(1, BUDGET), repeat=len(SIZES)) if sum(y) <= BUDGET])
    variance = (world.sizes**2 * world.variances / splits).sum(axis=1)
    return np.asarray(splits[int(np.argmin(variance))])


CLAIM = Claim(
    "opinion",
    "Section 4.2",
    "Partitioned opinion sampling, end to end",
    "How many interviews each group of a population gets, so that the estimated mean opinion varies least, when the "
    "variances within the groups must be learnt from pilot answers: COCI applies directly, with the variance estimator and "
    "τ = 2.",
    measure,
)
