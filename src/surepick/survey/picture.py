"""A picture of a plan: of how many people how many are asked, stratum by stratum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..lab.plots.house import (
    BLUE,
    GREY,
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


def picture(plan: Plan, title: str = "") -> Figure:
    """A row a stratum: people in grey, interviews as a dot; filled where a bound binds. Of many strata the largest samples."""
    from matplotlib.lines import Line2D

    order = np.sort(np.argsort(-plan.n, kind="stable")[:ROWS])
    n, N = plan.n[order], plan.frame.N[order]
    names = [plan.frame.strata[i] for i in order]
    bound = np.array([plan.binding[i] is not None for i in order])
    figure = paper(1.6 + 0.24 * len(order), title)
    axes = figure.add_subplot()
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
    more = f" The {ROWS} largest samples of {len(plan.frame):,} strata." if len(plan.frame) > ROWS else ""
    caption(axes, f"{plan.n.sum():,} interviews with {plan.frame.N.sum():,.10g} people. {plan.guarantee}{more}")
    marks = [
        (Line2D([], [], color=BLUE, marker="o", linestyle=""), "interviews"),
        (Line2D([], [], color=VERMILION, marker="s", linestyle=""), "interviews, at a bound"),
        (Line2D([], [], color=GREY, marker="|", linestyle="", markersize=9), "people"),
    ]
    shown = [marks[0]] * (not bound.all()) + [marks[1]] * bool(bound.any()) + [marks[2]]
    legend(figure, [mark for mark, _ in shown], [label for _, label in shown])
    return figure
