"""Theorem 1: the samples grow like H ln(H / delta)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...arms import Floats
from ...difficulty import hardness
from ..plots.house import COLOURS, MARKERS, TEXT, count, grid, legend, log_scale, open_sides, paper
from .base import HOLDS, OPEN, Claim, Lab, Result, Table, Verdict, samples_by
from .statistics import Slope, slope
from .theorem_1_worlds import families

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DELTA = 0.05
BAND = 0.1  # a power this near to 1 counts as proportional


def judge(slopes: dict[str, Slope]) -> Verdict:
    """From the power of H ln(H/delta) with which the samples grow, for every family."""
    off = [name for name, s in slopes.items() if s.low < 1 - BAND or s.high > 1 + BAND]
    if off:
        worst = max(off, key=lambda name: max(slopes[name].high - 1, 1 - slopes[name].low))
        s = slopes[worst]
        return Verdict(OPEN, f"{worst}: samples grow with the power {s.power:.2f} ({s.low:.2f} to {s.high:.2f})")
    powers = [s.power for s in slopes.values()]
    return Verdict(HOLDS, f"samples grow with the power {min(powers):.2f} to {max(powers):.2f} of H ln(H/δ)")


def measure(lab: Lab) -> Result:
    groups = families(lab)
    runs = lab.size(20, 6)
    rows, fits, points = [], [], {}
    for i, (family, worlds) in enumerate(groups.items()):
        begin, end = i / len(groups), (i + 1) / len(groups)
        table = lab.simulate(f"scaling {family}", worlds, "coci/paper", delta=DELTA, runs=runs, begin=begin, end=end).table
        H = np.array([hardness(p, w.truth(p.parameter)).H for p, w in worlds.values()])
        T = np.array([samples_by(table, problem=name).mean() for name in worlds])
        law = H * np.log(H / DELTA)
        points[family] = H, T
        fits.append((family, slope(H, T), slope(law, T)))
        rows += [(family, h, t, t / h, t / x) for h, t, x in zip(H, T, law, strict=True)]
    decades = min(math.log10(H.max() / H.min()) for H, _ in points.values())
    return Result(
        verdict=judge({family: by_law for family, _, by_law in fits}),
        ran=f"Four families in which the same instance gets ever smaller gaps, so that H_Λ spans {decades:.1f} decades; "
        f"{runs} runs of each instance at δ = {DELTA:g}. The powers are slopes of ln T, by least squares, with 95 % "
        "intervals.",
        tables=[
            Table(
                [
                    ("family", ""),
                    ("power of H", ".3f"),
                    ("from", ".3f"),
                    ("to", ".3f"),
                    ("power of H ln(H/δ)", ".3f"),
                    ("from", ".3f"),
                    ("to", ".3f"),
                ],
                [(family, *plain, *law) for family, plain, law in fits],
                "How fast the samples T grow",
            ),
            Table(
                [("family", ""), ("H_Λ", ",.0f"), ("mean samples T", ",.0f"), ("T / H", ".1f"), ("T / (H ln(H/δ))", ".2f")],
                rows,
                "Every instance",
            ),
        ],
        figure=_figure(points),
        alt="Mean samples against H on logarithmic scales for four families, and the same over H ln(H/δ).",
        text="Against H alone the power should be a little above 1, because of the logarithm in the bound. The verdict "
        f"asks that the power of H ln(H/δ) be within {BAND:g} of 1, interval included, for every family.",
    )


def _figure(points: dict[str, tuple[Floats, Floats]]) -> Figure:
    figure = paper(3.6, "")
    left, right = figure.subplots(1, 2)
    for i, (family, (H, T)) in enumerate(points.items()):
        look = {"color": COLOURS[i], "marker": MARKERS[i], "markersize": 5, "linewidth": 1.2}
        left.plot(H, T, label=family, zorder=3, **look)
        right.plot(H, T / (H * np.log(H / DELTA)), zorder=3, **look)
    every = np.concatenate([H for H, _ in points.values()])
    low = np.array([every.min(), every.max()])
    left.plot(low, 10 * low, color=TEXT, linestyle="dotted", linewidth=1.2, label="slope 1", zorder=2)
    for axes in (left, right):
        log_scale(axes, "x", every, count)
        axes.set_xlabel("H")
        open_sides(axes)
        grid(axes)
    log_scale(left, "y", np.concatenate([T for _, T in points.values()]), count)
    left.set_ylabel("mean samples T")
    right.set_ylabel("T / (H ln(H/δ))")
    right.set_ylim(0, 1.25 * max((T / (H * np.log(H / DELTA))).max() for H, T in points.values()))
    legend(figure, *left.get_legend_handles_labels())
    return figure


CLAIM = Claim(
    "scaling",
    "Theorem 1",
    "Samples grow like H ln(H/δ)",
    "The number of samples is O(H_Λ ln(H_Λ/δ)): the hardness H_Λ = Σ 1/Λᵢ² is what the cost of an instance depends on.",
    measure,
)
