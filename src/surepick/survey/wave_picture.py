"""A picture of a wave: in every stratum what was asked, what is next, and what is planned in the end, of how many people."""

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
from .picture import ROWS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .wave import Wave


def picture(wave: Wave, title: str = "") -> Figure:
    """A row a stratum: people in grey, answers so far as a full bar, the next wave behind it, a circle at what is planned."""
    from matplotlib.lines import Line2D

    order = np.sort(np.argsort(-wave.planned, kind="stable")[:ROWS])
    told, goal, N = wave.answered[order], wave.planned[order], wave.frame.N[order]
    after = told + wave.n[order]
    names = [wave.frame.strata[i] for i in order]
    figure = paper(1.6 + 0.26 * len(order), title)
    axes = figure.add_subplot()
    rows = np.arange(len(order))[::-1]
    start = 0.8
    log_scale(axes, "x", np.concatenate((np.full(1, start), N)), count)
    axes.hlines(rows, start, N, color=PALE, linewidth=5, zorder=1)
    axes.plot(N, rows, "|", color=GREY, markersize=8, zorder=2)
    some, more = told > 0, after > told
    axes.hlines(rows[more], np.maximum(told, start)[more], after[more], color=VERMILION, linewidth=5, zorder=3)
    axes.hlines(rows[some], start, told[some], color=BLUE, linewidth=5, zorder=4)
    axes.plot(goal, rows, "o", color="white", markeredgecolor=BLUE, markeredgewidth=1.4, markersize=6, zorder=5)
    axes.set_yticks(rows, [short(name) for name in names], fontsize=small(len(rows)))
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.set_xlabel("people", fontsize=9)
    grid(axes, "x")
    open_sides(axes, "top", "right", "left")
    axes.tick_params(axis="y", length=0)
    rest = f" The {ROWS} largest of {len(wave.frame):,} strata." if len(wave.frame) > ROWS else ""
    caption(
        axes,
        f"{wave.answered.sum():,} answers, {wave.n.sum():,} interviews next, {wave.planned.sum():,} in the end.{rest}",
    )
    marks = [
        (Line2D([], [], color=BLUE, linewidth=5), "answered"),
        (Line2D([], [], color=VERMILION, linewidth=5), "next"),
        (Line2D([], [], color="white", marker="o", markeredgecolor=BLUE, linestyle=""), "planned in the end"),
        (Line2D([], [], color=GREY, marker="|", linestyle="", markersize=9), "people"),
    ]
    shown = marks if some.any() else marks[1:]
    legend(figure, [mark for mark, _ in shown], [label for _, label in shown])
    return figure
