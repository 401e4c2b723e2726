"""Where the samples went."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...certificate import Certificate
from .house import TEXT, grid, legend, small, whole_scale
from .rows import LOOKS, canvas, label_of, look_of, order_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def samples(certificate: Certificate, *, title: str = "") -> Figure:
    """How often every arm was sampled, in the order of :func:`intervals`."""
    order = order_of(certificate)
    figure, axes = canvas(certificate, order, title)
    counts = certificate.counts
    for look in LOOKS:
        rows = np.flatnonzero([look_of(certificate, i) is look for i in order])
        if len(rows):
            axes.barh(
                rows, counts[order[rows]], height=0.66, zorder=2, hatch=look.hatch, linewidth=1.2,
                label=label_of(certificate, look), facecolor=look.colour if look.filled else "white",
                edgecolor="white" if look.filled and look.hatch else look.colour,  # which is the colour of the hatching too
            )  # fmt: skip
    most = max(int(counts.max()), 1)
    for row, i in enumerate(order):
        share = counts[i] / max(certificate.samples, 1)
        text = f" {counts[i]:,}" if len(order) > 30 else f" {counts[i]:,}  ({100 * share:.1f} %)"
        axes.text(counts[i] + 0.005 * most, row, text, va="center", ha="left", fontsize=small(len(order)), color=TEXT)
    whole_scale(axes, "x", 1.25 * most)
    axes.set_xlabel(f"samples ({certificate.samples:,} in all)")
    grid(axes, "x")
    legend(figure, *axes.get_legend_handles_labels())
    return figure
