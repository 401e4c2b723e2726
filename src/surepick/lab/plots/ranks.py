"""The order of a ranking as far as it is certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...certificate import Certificate
from ...errors import SettingError
from .house import BLUE, GREY, PALE, TEXT, VERMILION, caption, grid, legend, paper, small, whole_scale
from .rows import name_rows, row_height

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 60  # arms in one picture


def ranks(certificate: Certificate, *, title: str = "") -> Figure:
    """The ranks that every arm of a ranking may have, the best one on top, and its rank in the decision; on the right its
    estimate.

    Lines stand between groups: every arm above a line is certainly at least as good as every arm below it. Of more than 60 arms
    the first ones are shown.
    """
    if certificate.ranks is None or certificate.groups is None:
        raise SettingError(
            "Ranks are those of a ranking, sp.Ranking(arms); lab.intervals shows other decisions.", key="certificate"
        )
    best, worst = certificate.ranks
    order = np.argsort(certificate.decision, kind="stable")[:MOST]
    figure = paper(1.75 + row_height(len(order)) * max(len(order), 3), title)
    axes = figure.add_subplot()
    name_rows(axes, certificate, order)
    hidden = len(certificate.names) - len(order)
    caption(axes, str(certificate) + (f" The {hidden:,} arms behind these are not shown." if hidden else ""))
    sure = best == worst
    rows = np.arange(len(order))
    for certain, colour, thick, label in ((True, BLUE, 2.6, "rank is certain"), (False, VERMILION, 5.0, "may have these ranks")):
        at = rows[sure[order] == certain]
        if len(at):
            arms = order[at]
            axes.hlines(at, best[arms] - 0.35, worst[arms] + 0.35, colors=colour, linewidths=thick, alpha=0.45, zorder=2)
            axes.plot(
                certificate.decision[arms], at, "o" if certain else "D", color=colour, zorder=3, markersize=5.5, label=label,
                markerfacecolor=colour if certain else "white", markeredgewidth=1.4,
            )  # fmt: skip
    ends = np.cumsum([len(group) for group in certificate.groups])[:-1]
    for end in ends[ends < len(order)].tolist():
        axes.axhline(end - 0.5, color=GREY, linewidth=0.8, zorder=1)
    for row, i in enumerate(order.tolist()):
        known = certificate.estimate[i]
        axes.text(
            1.01, row, "–" if np.isnan(known) else f"{known:.4g}", transform=axes.get_yaxis_transform(), va="center", ha="left",
            fontsize=small(len(order)), color=TEXT,
        )  # fmt: skip
    whole_scale(axes, "x", max(float(worst[order].max()), 3.0) + 0.6)
    axes.set_xlim(left=0.4)
    axes.set_xlabel("rank, with the estimates on the right; lines stand between groups", fontsize=9)
    grid(axes, "x")
    axes.set_facecolor("white")
    axes.spines["bottom"].set_color(PALE)
    legend(figure, *axes.get_legend_handles_labels())
    return figure
