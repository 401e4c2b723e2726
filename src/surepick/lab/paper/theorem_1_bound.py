"""Theorem 1, second half: the number of samples is under the bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...difficulty import hardness
from ..plots.house import COLOURS, MARKERS, VERMILION, count, grid, legend, log_scale, open_sides, paper
from .base import HOLDS, OPEN, Claim, Lab, Result, Table, Verdict, samples_by
from .statistics import Rate, rates
from .theorem_1_worlds import classes, classes_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def judge(found: Sequence[tuple[float, Rate, float, float]]) -> Verdict:
    """From delta, the runs above the bound, the bound and the most samples of every cell."""
    broken = [(delta, rate) for delta, rate, *_ in found if rate.high > delta]
    if broken:
        delta, rate = broken[0]
        return Verdict(OPEN, f"{rate.errors} of {rate.of} runs at δ = {delta:g} took more samples than the bound")
    if any(rate.errors for _, rate, *_ in found):
        return Verdict(HOLDS, "some runs are above the bound, but fewer than δ allows")
    slack = min(bound / most for *_, bound, most in found)
    return Verdict(HOLDS, f"with slack: in every run the bound is at least {slack:.1f} times the samples")


def measure(lab: Lab) -> Result:
    table = classes_runs(lab).table
    worlds = classes()
    hard = {name: hardness(problem, world.truth(problem.parameter)) for name, (problem, world) in worlds.items()}
    deltas = sorted(table["delta"].unique(), reverse=True)
    cells = [(name, float(delta)) for name in worlds for delta in deltas]
    samples = {cell: samples_by(table, problem=cell[0], delta=cell[1]) for cell in cells}
    bounds = {(name, delta): hard[name].upper_bound(delta) for name, delta in cells}
    above = rates([(int((samples[cell] > bounds[cell]).sum()), len(samples[cell])) for cell in cells])
    rows = [
        (
            *cell,
            hard[cell[0]].H,
            samples[cell].mean(),
            samples[cell].max(),
            bounds[cell],
            bounds[cell] / samples[cell].max(),
            rate.errors,
        )
        for cell, rate in zip(cells, above, strict=True)
    ]
    found = [(cell[1], rate, bounds[cell], float(samples[cell].max())) for cell, rate in zip(cells, above, strict=True)]
    return Result(
        verdict=judge(found),
        ran="The same runs as for the error. H_Λ is worked out from the truth, by bisection on the box.",
        tables=[
            Table(
                [
                    ("class", ""),
                    ("δ", "g"),
                    ("H_Λ", ",.0f"),
                    ("mean samples", ",.0f"),
                    ("most samples", ",.0f"),
                    ("bound", ",.0f"),
                    ("bound / most", ".1f"),
                    ("runs above", ",d"),
                ],
                rows,
            )
        ],
        figure=_figure(list(worlds), deltas, samples, bounds),
        alt="The samples of every run beside the bound, for four classes and several δ.",
        text="Slack is to be expected: an arm is typically decided when its radius has shrunk to about Λᵢ, where the proof "
        "waits for Λᵢ/2 (a factor of 4), and the step from T ≤ 6 H ln T + … to a closed form costs another factor of 2.",
    )


def _figure(
    names: list[str], deltas: list[float], samples: dict[tuple[str, float], np.ndarray], bounds: dict[tuple[str, float], float]
) -> Figure:
    figure = paper(3.6, "")
    axes = figure.add_subplot()
    for j, delta in enumerate(deltas):
        for i, name in enumerate(names):
            x = i + 0.17 * (j - (len(deltas) - 1) / 2)
            values = samples[name, delta]
            spread = np.linspace(-0.05, 0.05, len(values))
            axes.plot(x + spread, values, ".", color=COLOURS[j], markersize=2.5, alpha=0.4, zorder=3, rasterized=True)
            axes.hlines(bounds[name, delta], x - 0.07, x + 0.07, color=VERMILION, linewidth=2.2, zorder=4)
    axes.set_xticks(range(len(names)), names, fontsize=9)
    log_scale(axes, "y", np.concatenate([*samples.values(), np.array(list(bounds.values()))]), count)
    axes.set_ylabel("samples")
    open_sides(axes)
    grid(axes, "y")
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=COLOURS[j], marker=MARKERS[0], linestyle="none", markersize=4) for j in range(len(deltas))]
    handles.append(Line2D([], [], color=VERMILION, linewidth=2.2))
    legend(figure, handles, [f"runs, δ = {delta:g}" for delta in deltas] + ["bound"])
    return figure


CLAIM = Claim(
    "bound",
    "Theorem 1",
    "COCI takes at most 2m + 12 H ln 24H + 4 H ln(4/(τδ)) samples",
    "With probability at least 1 − δ the number of samples T is at most 2m + 12 H_Λ ln 24H_Λ + 4 H_Λ ln(4/(τδ)), where H_Λ "
    "= Σ 1/Λᵢ², Λᵢ says by how much all parameters may be off before the optimal yᵢ can change, and τ is 1 for means and 2 "
    "for variances.",
    measure,
)
