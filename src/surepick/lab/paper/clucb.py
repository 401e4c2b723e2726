"""Section 5: COCI and CLUCB on problems that both can do."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...difficulty import hardness
from ...environments import Bernoulli
from ...problems import BestOfEach, SpanningTree, Subsets, TopK
from ..plots.house import BLUE, COLOURS, TEXT, grid, legend, open_sides, paper
from .base import HOLDS, OPEN, Claim, Lab, Result, Table, Verdict, Worlds, samples_by
from .statistics import ratio
from .theorem_1_worlds import K4

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DELTA = 0.05
ORDER = 3.0  # samples that differ by less than this factor are of one order
POLICIES = ("coci/paper", "clucb/own", "clucb/paper")


class Found(NamedTuple):
    """One class: both bounds, and CLUCB's samples as a multiple of COCI's, each with its own radius and with COCI's."""

    name: str
    H: float
    width: int
    H_gap: float
    coci_bound: float
    clucb_bound: float
    coci: float
    clucb: float
    times: float
    low: float
    high: float
    same: float  # with the same radius
    above: int  # runs of either above its bound


def judge(found: list[Found]) -> Verdict:
    if any(f.above for f in found):
        return Verdict(OPEN, "a run took more samples than its bound")
    if worse := [f.name for f in found if f.coci_bound > f.clucb_bound]:
        return Verdict(OPEN, f"{worse[0]}: COCI's bound is larger than CLUCB's")
    if far := [f.name for f in found if not 1 / ORDER < f.times < ORDER]:
        return Verdict(OPEN, f"{far[0]}: the samples are not of one order")
    low, high = min(f.times for f in found), max(f.times for f in found)
    return Verdict(
        HOLDS,
        f"COCI's bound is the smaller one, by a factor of {min(f.clucb_bound / f.coci_bound for f in found):.0f} or more; "
        f"measured, CLUCB takes {low:.2f} to {high:.2f} times COCI's samples",
    )


def worlds() -> Worlds:
    cells = list(itertools.product(range(3), range(3)))
    matchings = [[int(p[i] == j) for i, j in cells] for p in itertools.permutations(range(3))]
    edges = list(itertools.combinations(range(4), 2))
    paths = [
        [int(e in steps) for e in edges] for steps in ([(0, 3)], [(0, 1), (1, 3)], [(0, 2), (2, 3)], [(0, 1), (1, 2), (2, 3)])
    ]
    return {
        "top 3 of 10": (TopK(10, 3), Bernoulli(np.array([0.9, 0.85, 0.8, 0.6, 0.5, 0.45, 0.4, 0.3, 0.2, 0.1]))),
        "best of each of 3 groups": (BestOfEach(9, [0, 1, 2] * 3), Bernoulli([0.8, 0.7, 0.9, 0.5, 0.4, 0.5, 0.3, 0.2, 0.6])),
        "spanning tree of K4": (SpanningTree(K4), Bernoulli([0.9, 0.8, 0.7, 0.5, 0.4, 0.3])),
        "matching of 3 with 3": (Subsets(9, matchings), Bernoulli([0.9 if i == j else 0.2 for i, j in cells])),
        "path of 4 nodes": (Subsets(6, paths), Bernoulli([0.9, 0.3, 0.5, 0.8, 0.2, 0.9])),
        "two sets of 3": (Subsets(6, [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]]), Bernoulli([0.9, 0.8, 0.7, 0.3, 0.2, 0.1])),
    }


def measure(lab: Lab) -> Result:
    here = worlds()
    runs = lab.size(40, 6)
    table = lab.simulate("clucb", here, POLICIES, delta=DELTA, runs=runs).table
    found = []
    for name, (problem, world) in here.items():
        h = hardness(problem, world.means)
        assert h.width is not None
        assert h.H_gap is not None
        coci, own, same = (samples_by(table, problem=name, policy=policy) for policy in POLICIES)
        hard = h.width**2 * h.H_gap
        bound = 2 * problem.m + 499 * hard * math.log(4 * problem.m * hard / DELTA)
        coci_bound = h.upper_bound(DELTA)
        above = int((coci > coci_bound).sum() + (own > bound).sum())
        found.append(
            Found(name, h.H, h.width, h.H_gap, coci_bound, bound, float(coci.mean()), float(own.mean()), *ratio(own, coci),
                  ratio(same, coci)[0], above)
        )  # fmt: skip
    return Result(
        verdict=judge(found),
        ran=f"{runs} runs of each at δ = {DELTA:g}, in which both see the same values. CLUCB with the radius of its own "
        "paper (for bounded arms, with m in the logarithm) and, to tell the rules apart, with COCI's. Matchings and paths "
        "are listed, so that COCI's test of every arm is exact.",
        tables=[
            Table(
                [
                    ("class", ""),
                    ("H_Λ", ",.0f"),
                    ("width", "d"),
                    ("H_Δ", ",.0f"),
                    ("COCI's bound", ",.0f"),
                    ("CLUCB's bound", ",.0f"),
                    ("COCI", ",.0f"),
                    ("CLUCB", ",.0f"),
                    ("CLUCB / COCI", ".3f"),
                    ("from", ".3f"),
                    ("to", ".3f"),
                    ("with one radius", ".3f"),
                    ("above a bound", ",d"),
                ],
                found,
            )
        ],
        figure=_figure(found),
        alt="CLUCB's samples as a multiple of COCI's for six classes, with each one's radius and with the same one.",
        text="The statement is about bounds. CLUCB looks only at arms in which the decision and its strongest rival "
        "differ, COCI at every arm that is not decided yet; so with one radius CLUCB is expected to need no more samples "
        "than COCI.",
    )


def _figure(found: list[Found]) -> Figure:
    figure = paper(3.0, "")
    axes = figure.add_subplot()
    y = np.arange(len(found))
    reach = [[f.times - f.low for f in found], [f.high - f.times for f in found]]
    axes.errorbar(
        [f.times for f in found], y, xerr=reach, fmt="o", color=BLUE, capsize=3, zorder=3, label="own radius (95 % interval)"
    )
    axes.plot([f.same for f in found], y + 0.2, "s", color=COLOURS[2], markersize=5, zorder=3, label="COCI's radius")
    axes.axvline(1, color=TEXT, linewidth=1, linestyle="dotted", zorder=2)
    axes.set_yticks(y, [f.name for f in found], fontsize=9)
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.set_xlim(0, 1.15 * max(1.0, *(max(f.high, f.same) for f in found)))
    axes.set_xlabel("CLUCB's samples / COCI's samples")
    open_sides(axes)
    grid(axes, "x")
    legend(figure, *axes.get_legend_handles_labels())
    return figure


CLAIM = Claim(
    "clucb",
    "Section 5",
    "On linear problems COCI is as good as CLUCB",
    "For 0/1 decisions with a linear reward COCI has the same sample complexity as CLUCB (Chen, Lin, King, Lyu and Chen 2014), "
    "2m + 499 width² H_Δ ln(4m width² H_Δ/δ), with slightly better constants.",
    measure,
)
