"""The interval of every arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arms import Ints
from ...certificate import Certificate
from .house import TEXT, grid, legend, probability, small
from .rows import OPEN, canvas, draw, look_of, order_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def intervals(certificate: Certificate, *, title: str = "", parameter: str = "mean") -> Figure:
    """The confidence interval and the estimate of every arm, the best estimate on top, with its entry of the decision."""
    order = order_of(certificate)
    figure, axes = canvas(certificate, order, title)
    axes.set_xlim(*limits(certificate, order))
    draw(axes, certificate, order)
    axes.set_xlabel(axis_label(certificate, parameter))
    grid(axes, "x")
    _decisions(axes, certificate, order)
    legend(figure, *axes.get_legend_handles_labels())
    return figure


def limits(certificate: Certificate, order: Ints) -> tuple[float, float]:
    """All that is finite, with some room."""
    estimate = np.clip(certificate.estimate, certificate.lower, certificate.upper)
    known = np.concatenate([x[order][np.isfinite(x[order])] for x in (certificate.lower, certificate.upper, estimate)])
    left, right = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    pad = 0.03 * (right - left) or 0.5
    return left - pad, right + pad


def axis_label(certificate: Certificate, parameter: str) -> str:
    return f"{parameter}, with intervals that hold together with probability {share(certificate.delta)}"


def share(delta: float) -> str:
    """How sure something is."""
    return f"{100 * (1 - delta):.10g} %" if delta > 1e-9 else f"1 − {probability(delta)}"


def _decisions(axes: Axes, certificate: Certificate, order: Ints) -> None:
    """A column at the right with every arm's entry of the decision."""
    column = axes.get_yaxis_transform()
    size = small(len(order))
    axes.text(1.02, -0.75, "decision", transform=column, fontsize=size, ha="left", va="bottom", color=TEXT)
    for row, i in enumerate(order):
        look = look_of(certificate, i)
        text = f"{certificate.decision[i]:g}" + (" ?" if look is OPEN else "")
        weight = "bold" if look is not OPEN and certificate.decision[i] != 0 else "normal"
        axes.text(1.04, row, text, transform=column, fontsize=size, ha="left", va="center", color=look.colour, fontweight=weight)
