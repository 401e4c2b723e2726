"""Lemma 4: the radius Lambda_i is at least the gap Delta_i over the width of the class."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...difficulty import hardness
from ...problems import Subsets
from ..plots.house import COLOURS, VERMILION, grid, log_scale, open_sides, paper
from .base import HOLDS, OPEN, Claim, Lab, Result, Table, Verdict
from .listed import KINDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS_HERE = ("top-k", "best of each group", "spanning tree", "matching", "path", "any list")
ROUNDING = 1e-9


class Found(NamedTuple):
    """The classes of one kind: Lambda_i width / Delta_i of every arm, and H_Lambda / (width^2 H_Delta) of every class."""

    kind: str
    widths: list[int]
    ratios: list[float]
    hard: list[float]


def judge(found: list[Found]) -> Verdict:
    least = min(min(f.ratios) for f in found)
    arms = sum(len(f.ratios) for f in found)
    if least < 1 - ROUNDING:
        return Verdict(OPEN, f"Λᵢ · width / Δᵢ falls to {least:.3f}")
    if max(max(f.hard) for f in found) > 1 + ROUNDING:
        return Verdict(OPEN, "H_Λ exceeds width² H_Δ")
    tight = "attained" if least < 1 + ROUNDING else f"{least:.3f} at least"
    return Verdict(HOLDS, f"for {arms:,} arms of random classes; the bound is {tight}")


def measure(lab: Lab) -> Result:
    rng = lab.rng("width")
    instances = lab.size(150, 12)
    found = []
    for i, kind in enumerate(KINDS_HERE):
        widths, ratios, hard = [], [], []
        for j in range(instances):
            listed = KINDS[kind](rng)
            h = hardness(Subsets(listed.m, listed.Y), rng.random(listed.m))
            assert h.gap is not None
            assert h.H_gap is not None
            if h.width:  # 0: only one decision
                known = np.isfinite(h.gap)  # an arm that no decision changes has neither radius nor gap
                widths.append(h.width)
                ratios += (h.radius[known] * h.width / h.gap[known]).tolist()
                hard.append(h.H / (h.width**2 * h.H_gap))
            lab.step((i + (j + 1) / instances) / len(KINDS_HERE))
        found.append(Found(kind, widths, ratios, hard))
    return Result(
        verdict=judge(found),
        ran=f"{instances} random classes of each kind with random means, small enough to list: Δᵢ by looking at all "
        "decisions, the width by trying all exchanges, Λᵢ by bisection.",
        tables=[
            Table(
                [
                    ("class", ""),
                    ("instances", ",d"),
                    ("arms", ",d"),
                    ("width, least", "d"),
                    ("width, most", "d"),
                    ("least Λᵢ width/Δᵢ", ".4f"),
                    ("median", ".3f"),
                    ("largest H_Λ/(width² H_Δ)", ".4f"),
                ],
                [
                    (
                        f.kind,
                        len(f.widths),
                        len(f.ratios),
                        min(f.widths),
                        max(f.widths),
                        min(f.ratios),
                        float(np.median(f.ratios)),
                        max(f.hard),
                    )
                    for f in found
                ],
            )
        ],
        figure=_figure(found),
        alt="Λᵢ times width over Δᵢ for every arm, by kind of class, beside the line at 1.",
        text="It follows that H_Λ ≤ width² H_Δ. For matroids the width is 2 and both sides are the same up to the range of "
        "the means; for matchings, paths and lists H_Λ is often much smaller, so that the bound by H_Λ is the better one.",
    )


def _figure(found: list[Found]) -> Figure:
    figure = paper(3.0, "")
    axes = figure.add_subplot()
    for i, f in enumerate(found):
        y = i + np.linspace(-0.3, 0.3, len(f.ratios))
        axes.plot(f.ratios, y, ".", color=COLOURS[i], markersize=3.5, alpha=0.6, zorder=3)
    axes.axvline(1, color=VERMILION, linewidth=1.6, zorder=2)
    log_scale(axes, "x", np.array([1.0, *(x for f in found for x in f.ratios)]), lambda x: f"{x:g}", room=1.15)
    axes.set_yticks(range(len(found)), [f.kind for f in found], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel("Λᵢ · width / Δᵢ of every arm (the lemma: at least 1)")
    open_sides(axes)
    grid(axes, "x")
    return figure


CLAIM = Claim(
    "width",
    "Lemma 4",
    "Λᵢ is at least Δᵢ/width, so H by radii is at most width² times H by gaps",
    "For 0/1 decisions with a linear reward, Λᵢ ≥ Δᵢ/width, where Δᵢ is how much worse the best decision is that differs "
    "in arm i, and the width is the largest exchange that is needed to lead from one decision towards another. So H_Λ ≤ "
    "width² H_Δ.",
    measure,
)
