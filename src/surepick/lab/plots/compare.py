"""Policies side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .house import TEXT, VERMILION, count, grid, log_scale, open_sides, paper, probability, short, small, whole_scale
from .simulated import Style, marks, positive, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..simulation import Simulation

WIDE = 20  # times as many samples, from which on the scale is logarithmic
BOUND = "#555555"


def compare(simulation: Simulation, *, title: str = "") -> Figure:
    """The samples that every policy took, side by side, for each problem and delta.

    Beside each stand the mean and, where a lower bound is known, how many times that is; it is marked by a dotted line. Where not
    all runs were certified, the mark is hollow and the text says how many were.

    Examples
    --------
    >>> import surepick as sp
    >>> from surepick.lab import compare
    >>> world = sp.Bernoulli([0.9, 0.5, 0.2])
    >>> figure = compare(sp.simulate(sp.BestArm(3), world, ["auto", "uniform"], delta=0.1, runs=10, executor=1))
    """
    summary = simulation.summary
    looks = styles(summary)
    groups = list(summary.groupby(["problem", "delta"], sort=False))
    head = len(groups) > 1 or bool(summary["lower_bound"].gt(0).any())
    rows = len(summary) + len(groups) * head
    figure = paper(1.5 + (0.34 if rows <= 16 else 0.26) * max(rows, 3), title)
    axes = figure.add_subplot()
    open_sides(axes, "top", "right", "left")
    shown = positive(summary, "q05", "q95", "mean", "lower_bound")
    if shown.max() > WIDE * shown.min():
        log_scale(axes, "x", shown, count, room=1.25)
    else:
        whole_scale(axes, "x", 1.05 * float(shown.max()))
    size, y = small(rows), 0
    ticks: dict[int, str] = {}
    for (problem, delta), part in groups:
        if head:
            several = summary["problem"].nunique() > 1
            name = f"{short(str(problem), 44)}, δ = {probability(delta)}" if several else f"δ = {probability(delta)}"
            _bound(axes, part["lower_bound"].iloc[0], name, y, len(part), size)
            y += 1
        for row in part.itertuples():
            style = looks[row.policy]
            ticks[y] = style.label
            _strip(axes, row, style, y)
            _figures(axes, row, y, size)
            y += 1
    axes.set_yticks(list(ticks), list(ticks.values()), fontsize=size)
    axes.set_ylim(max(y, 3) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8.5)
    grid(axes, "x")
    said = "samples (line: the middle 90 % of the runs; box: the middle half; bar: median; mark: mean)"
    figure.supxlabel(said, fontsize=9, x=0.02, ha="left")
    return figure


def _strip(axes: Axes, row: Any, style: Style, y: int) -> None:
    axes.hlines(y, row.q05, row.q95, color=style.colour, linewidth=1.6, zorder=2)
    axes.barh(y, row.q75 - row.q25, 0.5, row.q25, facecolor="white", edgecolor=style.colour, linewidth=1.4, zorder=3)
    axes.barh(y, row.q75 - row.q25, 0.5, row.q25, facecolor=style.colour, alpha=0.2, zorder=3)
    axes.vlines(row.median, y - 0.25, y + 0.25, color=style.colour, linewidth=2.4, zorder=4)
    axes.plot([row.mean], [y], markersize=6, zorder=5, markeredgewidth=1.4, **marks(style, row.certified == row.runs))


def _figures(axes: Axes, row: Any, y: int, size: float) -> None:
    """The mean, how many times the lower bound that is, and how many runs were certified, in a column at the right."""
    text = f"{row.mean:,.0f}"
    if row.certified == row.runs and np.isfinite(row.ratio) and row.lower_bound > 0:
        text += f"  ({row.ratio:,.2g} × the bound)" if row.ratio < 10 else f"  ({row.ratio:,.0f} × the bound)"
    if row.certified < row.runs:
        text += f"\n{row.certified:,} of {row.runs:,} runs certified"
    colour = TEXT if row.certified == row.runs else VERMILION
    axes.text(1.02, y, text, transform=axes.get_yaxis_transform(), fontsize=size, ha="left", va="center", color=colour)


def _bound(axes: Axes, bound: float, name: str, y: int, rows: int, size: float) -> None:
    """The heading of a group, and its lower bound across the rows."""
    known = bool(np.isfinite(bound) and bound > 0)
    if known:
        axes.vlines(bound, y + 0.5, y + rows + 0.5, color=BOUND, linewidth=2.0, linestyle=(0, (1, 1)), zorder=2)
    said = f"{name}; lower bound {bound:,.0f}" if known else name
    axes.text(0.0, y + 0.1, said, transform=axes.get_yaxis_transform(), fontsize=size, color=TEXT, va="center", fontweight="bold")
