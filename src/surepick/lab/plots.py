"""Pictures of a certificate: the interval of every arm, and where the samples went.

Three kinds of arm are told apart by colour and by shape, so that the pictures also work in grey: those in the decision
(filled circle, thick line), those left out (hollow circle) and undecided ones (diamond, dashed line). The colours are
Okabe and Ito's, which colour-blind people can tell apart. No state of pyplot is touched.
"""

from __future__ import annotations

import textwrap
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..arms import Ints
from ..certificate import Certificate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.5  # inches
LABEL = 34  # characters of an arm's name
DPI = 150
MOST = 60  # arms in one picture


@dataclass(frozen=True)
class Look:
    label: str
    colour: str
    marker: str
    line: Literal["solid", "dashed"]
    thick: float
    filled: bool
    hatch: str


IN = Look("in the decision", "#0072B2", "o", "solid", 2.6, True, "")
OUT = Look("left out", "#7A7A7A", "o", "solid", 1.6, False, "")
OPEN = Look("undecided", "#D55E00", "D", "dashed", 1.6, False, "////")


def intervals(certificate: Certificate, *, title: str = "", parameter: str = "mean") -> Figure:
    """The confidence interval and the estimate of every arm, the best estimate on top, with its entry of the decision."""
    lower, upper = certificate.lower, certificate.upper
    estimate = np.clip(certificate.estimate, lower, upper)  # as the decision takes it
    order = _order(certificate)
    figure, axes = _canvas(certificate, order, title)
    known = np.concatenate([x[np.isfinite(x)] for x in (lower[order], upper[order], estimate[order])])
    left, right = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    pad = 0.03 * (right - left) or 0.5
    axes.set_xlim(left - pad, right + pad)
    for look in (IN, OUT, OPEN):
        rows = np.flatnonzero([_look(certificate, i) is look for i in order])
        if len(rows) == 0:
            continue
        arms = order[rows]
        # An arm without an interval reaches past both edges of the picture.
        ends = np.nan_to_num(lower[arms], neginf=left - 2 * pad), np.nan_to_num(upper[arms], posinf=right + 2 * pad)
        axes.hlines(rows, *ends, colors=look.colour, linewidths=look.thick, linestyles=look.line, zorder=2)
        axes.plot(
            estimate[arms], rows, look.marker, color=look.colour, zorder=3, markersize=5.5, label=_label(certificate, look),
            markerfacecolor=look.colour if look.filled else "white", markeredgewidth=1.4,
        )  # fmt: skip
    sure = f"{100 * (1 - certificate.delta):.10g} %"
    axes.set_xlabel(f"{parameter}, with intervals that hold together with probability {sure}")
    axes.grid(axis="x", color="#E5E5E5", linewidth=0.8, zorder=0)
    _decisions(axes, certificate, order)
    _legend(figure, axes)
    return figure


def samples(certificate: Certificate, *, title: str = "") -> Figure:
    """How often every arm was sampled, in the order of :func:`intervals`."""
    from matplotlib.ticker import MaxNLocator

    order = _order(certificate)
    figure, axes = _canvas(certificate, order, title)
    counts = certificate.counts
    for look in (IN, OUT, OPEN):
        rows = np.flatnonzero([_look(certificate, i) is look for i in order])
        if len(rows):
            axes.barh(
                rows, counts[order[rows]], height=0.66, zorder=2, hatch=look.hatch, linewidth=1.2,
                label=_label(certificate, look), facecolor=look.colour if look.filled else "white", edgecolor=look.colour,
            )  # fmt: skip
    most = max(int(counts.max()), 1)
    for row, i in enumerate(order):
        share = counts[i] / max(certificate.samples, 1)
        text = f" {counts[i]:,}" if len(order) > 30 else f" {counts[i]:,}  ({100 * share:.1f} %)"
        axes.text(counts[i] + 0.005 * most, row, text, va="center", ha="left", fontsize=_small(len(order)), color="#333333")
    axes.set_xlim(0, 1.25 * most)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.set_xlabel(f"samples ({certificate.samples:,} in all)")
    axes.grid(axis="x", color="#E5E5E5", linewidth=0.8, zorder=0)
    _legend(figure, axes)
    return figure


def save(figure: Figure, path: str | Path) -> Path:
    """Write a picture as PNG, whatever the name ends in."""
    path = Path(path)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # a name in a script that the font lacks shows as boxes
        figure.savefig(path, format="png", dpi=DPI)
    return path


def _look(certificate: Certificate, i: int) -> Look:
    if certificate.undecided[i]:
        return OPEN
    return IN if certificate.decision[i] != 0 else OUT


def _label(certificate: Certificate, look: Look) -> str:
    if look is OPEN or np.isin(certificate.decision, (0, 1)).all():
        return look.label
    return "decided" if look is IN else "decided: nothing"


def _order(certificate: Certificate) -> Ints:
    """Arms from the largest estimate to the smallest, those without one last. Of very many arms, those that matter most."""
    order: Ints = np.argsort(-np.nan_to_num(certificate.estimate, nan=-np.inf), kind="stable")
    if len(order) <= MOST:
        return order
    matters = np.lexsort((-certificate.counts, certificate.decision == 0, ~certificate.undecided))[:MOST]
    return order[np.isin(order, matters)]


def _canvas(certificate: Certificate, order: Ints, title: str) -> tuple[Figure, Axes]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    m = len(order)
    row = 0.34 if m <= 12 else 0.26 if m <= 30 else 0.19
    figure = Figure(figsize=(WIDTH, 1.75 + row * max(m, 3)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_yticks(range(m), [_short(certificate.names[i]) for i in order], fontsize=_small(m))
    axes.set_ylim(max(m, 3) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    hidden = certificate.counts.size - m
    said = _lines(str(certificate) + (f" {hidden:,} arms are not shown." if hidden else ""), 86)
    figure.suptitle(_plain(textwrap.fill(title, 70)), fontsize=12, fontweight="bold", x=0.02, ha="left")
    axes.set_title(said, fontsize=8.5, loc="left", x=0, color="#333333")
    return figure, axes


def _decisions(axes: Axes, certificate: Certificate, order: Ints) -> None:
    """A column at the right with every arm's entry of the decision."""
    column = axes.get_yaxis_transform()
    small = _small(len(order))
    axes.text(1.02, -0.75, "decision", transform=column, fontsize=small, ha="left", va="bottom", color="#333333")
    for row, i in enumerate(order):
        look = _look(certificate, i)
        text = f"{certificate.decision[i]:g}" + (" ?" if look is OPEN else "")
        weight = "bold" if look is IN else "normal"
        axes.text(1.04, row, text, transform=column, fontsize=small, ha="left", va="center", color=look.colour, fontweight=weight)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)


def _small(m: int) -> float:
    return 9.0 if m <= 12 else 8.0 if m <= 30 else 6.5


def _short(name: str) -> str:
    """A long name keeps its beginning and its end, which often tells it from others."""
    half = (LABEL - 1) // 2
    text = " ".join(name.split())
    return _plain(text if len(text) <= LABEL else f"{text[:half].rstrip()}…{text[-half:].lstrip()}")


def _lines(text: str, most: int) -> str:
    """The text in lines of about the same length."""
    lines = -(-len(text) // most)
    return textwrap.fill(text, -(-len(text) // lines) + 6)


def _plain(text: str) -> str:
    """Text as it stands: matplotlib takes what is between two dollar signs for mathematics."""
    return text.replace("$", r"\$")
