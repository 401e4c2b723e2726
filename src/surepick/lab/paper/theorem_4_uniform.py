"""Theorem 4: uniform sampling pays m / min Lambda^2, COCI pays the sum."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...difficulty import hardness
from ...environments import Bernoulli
from ...problems import BestArm
from ..plots.house import BLUE, TEXT, VERMILION, count, grid, legend, log_scale, open_sides, paper
from .base import HOLDS, OPEN, Claim, Lab, Result, Table, Verdict, samples_by
from .statistics import ratio, slope

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DELTA = 0.05
EPS = 0.1


class Found(NamedTuple):
    """One number of arms: hardness, samples, and how many times as many uniform sampling takes."""

    second: float  # the mean of the second arm
    m: int
    H: float
    H_uniform: float
    coci: float
    uniform: float
    times: float
    low: float
    high: float
    above: int  # runs of uniform sampling above its bound


def judge(found: list[Found]) -> Verdict:
    if any(f.above for f in found):
        return Verdict(OPEN, "some runs of uniform sampling are above their bound")
    for second in dict.fromkeys(f.second for f in found):
        mine = sorted((f for f in found if f.second == second), key=lambda f: f.m)
        if any(b.low <= a.high for a, b in itertools.pairwise(mine)):
            return Verdict(OPEN, "the ratio of uniform sampling to COCI does not grow with every step of m")
        grown = slope([f.H_uniform * math.log(f.H_uniform / DELTA) for f in mine], [f.uniform for f in mine])
        if grown.low < 0.85 or grown.high > 1.15:
            return Verdict(OPEN, f"uniform sampling grows with the power {grown.power:.2f} of H ln(H/δ), H = m / min Λ², not 1")
    least, most = min(found, key=lambda f: f.m), max(found, key=lambda f: f.m)
    return Verdict(
        HOLDS,
        f"uniform sampling takes {least.times:.1f} times COCI's samples at m = {least.m}, {most.times:.1f} times at {most.m}",
    )


def measure(lab: Lab) -> Result:
    sizes = (4, 8, 16, 32) if lab.quick else (4, 8, 16, 32, 64)
    runs = lab.size(16, 5)
    worlds = {
        f"{second:g}, m = {m}": (BestArm(m), Bernoulli([0.5 + EPS, second, *[EPS] * (m - 2)]))
        for second in (0.5, 0.5 + 2 * EPS)
        for m in sizes
    }
    table = lab.simulate("uniform", worlds, ("coci/paper", "uniform/paper"), delta=DELTA, runs=runs).table
    found = []
    for name, (problem, world) in worlds.items():
        h = hardness(problem, world.means)
        coci, uniform = (samples_by(table, problem=name, policy=policy) for policy in ("coci/paper", "uniform/paper"))
        above = int((uniform > h.upper_bound(DELTA, "uniform")).sum())
        found.append(
            Found(
                float(world.means[1]),
                problem.m,
                h.H,
                h.H_uniform,
                float(coci.mean()),
                float(uniform.mean()),
                *ratio(uniform, coci),
                above,
            )
        )
    return Result(
        verdict=judge(found),
        ran=f"The paper's own example with ε = {EPS:g}: the first coin has mean 1/2 + ε, the second 1/2 or 1/2 + 2ε, all "
        f"others ε. The best of m, at δ = {DELTA:g}; {runs} runs, in which both ways of sampling see the same values. "
        "Intervals are of 95 %.",
        tables=[
            Table(
                [
                    ("second arm", "g"),
                    ("m", ",d"),
                    ("H_Λ", ",.0f"),
                    ("H_U", ",.0f"),
                    ("COCI", ",.0f"),
                    ("uniform", ",.0f"),
                    ("uniform / COCI", ".2f"),
                    ("from", ".2f"),
                    ("to", ".2f"),
                    ("above its bound", ",d"),
                ],
                found,
            )
        ],
        figure=_figure(found),
        alt="Samples of uniform sampling and of COCI against the number of arms, and their ratio.",
        text="The dotted line is H_U / H_Λ, what the theory foretells for the ratio.",
    )


def _figure(found: list[Found]) -> Figure:
    figure = paper(3.2, "")
    left, right = figure.subplots(1, 2)
    for second, style in zip(dict.fromkeys(f.second for f in found), ("-", "--"), strict=True):
        mine = [f for f in found if f.second == second]
        m = [f.m for f in mine]
        says = f"second arm {second:g}"
        left.plot(m, [f.uniform for f in mine], style, color=VERMILION, marker="s", label=f"uniform, {says}", zorder=3)
        left.plot(m, [f.coci for f in mine], style, color=BLUE, marker="o", label=f"COCI, {says}", zorder=3)
        right.errorbar(
            m,
            [f.times for f in mine],
            yerr=[[f.times - f.low for f in mine], [f.high - f.times for f in mine]],
            fmt="o",
            color=BLUE,
            linestyle=style,
            capsize=3,
            zorder=3,
        )
        right.plot(
            m,
            [f.H_uniform / f.H for f in mine],
            color=TEXT,
            linestyle="dotted",
            zorder=2,
            label="uniform H / H" if style == "-" else None,
        )
    for axes in (left, right):
        log_scale(axes, "x", np.array(m, dtype=np.float64), lambda x: f"{x:g}")
        axes.set_xticks(m, [str(x) for x in m])
        axes.set_xlabel("arms m")
        open_sides(axes)
        grid(axes)
    log_scale(left, "y", np.array([v for f in found for v in (f.coci, f.uniform)]), count)
    log_scale(right, "y", np.array([v for f in found for v in (f.low, f.high, f.H_uniform / f.H)]), lambda x: f"{x:g}")
    left.set_ylabel("mean samples")
    right.set_ylabel("uniform / COCI")
    handles, labels = left.get_legend_handles_labels()
    more, names = right.get_legend_handles_labels()
    legend(figure, handles + more, labels + names)
    return figure


CLAIM = Claim(
    "uniform",
    "Theorem 4",
    "Uniform sampling pays for every arm what the hardest one costs",
    "Sampling all arms in turn, with the same stop, takes O(H_U ln(H_U/δ)) samples with H_U = m / min Λᵢ², and no less in "
    "general. In the paper's example two arms are hard and m − 2 easy: H_U grows with m while H_Λ hardly does, so COCI's "
    "lead grows with m.",
    measure,
)
