"""A picture of a plan: of how many people how many are asked, stratum by stratum, and whence the variance comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..lab.plots.house import (
    BLUE,
    COLOURS,
    GREY,
    MARKERS,
    PALE,
    VERMILION,
    caption,
    count,
    grid,
    legend,
    log_scale,
    open_sides,
    paper,
    short,
    small,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .result import Plan

ROWS = 40  # strata that are shown


def picture(plan: Plan, title: str = "", most: int = ROWS) -> Figure:
    """A row a stratum: people in grey, interviews as a dot; filled where a bound binds. Of many strata the largest samples."""
    from matplotlib.lines import Line2D

    order = np.sort(np.argsort(-plan.n, kind="stable")[:most])
    n, N = plan.n[order], plan.frame.N[order]
    names = [plan.frame.strata[i] for i in order]
    bound = np.array([plan.binding[i] is not None for i in order])
    figure = paper(1.6 + 0.24 * len(order), title)
    axes, beside = figure.subplots(1, 2, sharey=True, width_ratios=(3, 1))
    rows = np.arange(len(order))[::-1]
    log_scale(axes, "x", np.concatenate((n, N)), count)
    axes.hlines(rows, np.minimum(n, N), N, color=PALE, linewidth=5, zorder=1)
    axes.plot(N, rows, "|", color=GREY, markersize=8, zorder=2)
    axes.plot(n[~bound], rows[~bound], "o", color=BLUE, markersize=6, zorder=3)
    axes.plot(n[bound], rows[bound], "s", color=VERMILION, markersize=6, zorder=3)
    axes.set_yticks(rows, [short(name) for name in names], fontsize=small(len(rows)))
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.set_xlabel("people", fontsize=9)
    grid(axes, "x")
    open_sides(axes, "top", "right", "left")
    axes.tick_params(axis="y", length=0)
    shares = list(plan.share.items())[: len(COLOURS) - 1]
    for (_, share), colour, marker in zip(shares, COLOURS[1:], MARKERS[2:], strict=False):
        beside.plot(100 * share[order], rows, marker, color=colour, markersize=5, alpha=0.85, zorder=3)
    top = max(max(100 * float(share[order].max()) for _, share in shares), 1e-9)
    beside.set_xlim(-0.06 * top, 1.12 * top)
    beside.set_xlabel("% of the variance", fontsize=9)
    beside.tick_params(axis="x", labelsize=8.5)
    beside.tick_params(axis="y", length=0)
    grid(beside, "x")
    open_sides(beside, "top", "right", "left")
    more = f" The {most} largest samples of {len(plan.frame):,} strata." if len(plan.frame) > most else ""
    caption(axes, f"{plan.n.sum():,} interviews in a population of {plan.frame.N.sum():,.10g}. {plan.guarantee}{more}", 64)
    marks = [
        (Line2D([], [], color=BLUE, marker="o", linestyle=""), "interviews"),
        (Line2D([], [], color=VERMILION, marker="s", linestyle=""), "interviews, at a bound"),
        (Line2D([], [], color=GREY, marker="|", linestyle="", markersize=9), "people"),
    ]
    shown = [marks[0]] * (not bound.all()) + [marks[1]] * bool(bound.any()) + [marks[2]]
    if len(shares) > 1:
        shown += [
            (Line2D([], [], color=colour, marker=marker, linestyle="", markersize=5), f"variance of {short(name)}")
            for (name, _), colour, marker in zip(shares, COLOURS[1:], MARKERS[2:], strict=False)
        ]
    legend(figure, [mark for mark, _ in shown], [label for _, label in shown])
    return figure
