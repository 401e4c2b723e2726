"""Pictures: the interval of every arm, where the samples went, and how the certified gap fell.

Kinds of arm are told apart by colour and by shape, so that the pictures also work in grey: those in the decision (filled
circle, thick line), those left out (hollow circle), undecided ones (diamond, dashed line) and, in a decision that is certified to
be near the best, those in which the very best may differ (hollow diamond). The colours are Okabe and Ito's, which colour-blind
people can tell apart. No state of pyplot is touched.
"""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..arms import Floats, Ints
from ..certificate import Certificate
from .trace import Trace

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
NEAR = Look("as near to the best as asked for", "#0072B2", "D", "solid", 1.6, False, "....")
LOOKS = (IN, OUT, OPEN, NEAR)
COLOURS = (IN.colour, "#009E73", "#CC79A7", "#56B4E9")  # of several traces
STYLES = ("-", "--", "-.", ":")


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
    for look in LOOKS:
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
    for look in LOOKS:
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


def gap(traces: Trace | Mapping[str, Trace], *, marks: Mapping[str, float] | None = None, title: str = "") -> Figure:
    """How the certified gap falls with the samples, both on a logarithmic scale.

    Parameters
    ----------
    traces : Trace, or several of them by name
        A dashed line shows the epsilon of the first.
    marks : mapping, optional
        Numbers of samples to compare with, each by a text: a line is drawn there, unless the number is infinite.
    """
    several = {"": traces} if isinstance(traces, Trace) else dict(traces)
    first = next(iter(several.values()), Trace())
    figure, axes = _paper(4.2, title)
    ends = {text: samples for text, samples in (marks or {}).items() if np.isfinite(samples)}
    drawn = [_fall(axes, i, name, trace) for i, (name, trace) in enumerate(several.items())]
    xs = np.concatenate([x for x, _ in drawn] + [list(ends.values())])
    ys = np.concatenate([y for _, y in drawn] + [[first.epsilon] if first.epsilon > 0 else []])
    if not any(len(x) for x, _ in drawn):
        said = "a gap of 0 from the first look on" if 0 in first.gap else "no gap is certified yet"
        axes.text(0.5, 0.5, said, transform=axes.transAxes, ha="center", color="#333333")
    for text, samples in ends.items():
        axes.axvline(samples, color=OUT.colour, linewidth=1.3, zorder=2)
        _note(axes, textwrap.fill(text, 26), (samples, 0.97), (-5, 0), "#555555", xycoords=axes.get_xaxis_transform(),
              ha="right", va="top")  # fmt: skip
    if first.epsilon > 0:
        axes.axhline(first.epsilon, color=OPEN.colour, linestyle="dashed", linewidth=1.3, zorder=2)
        said = f"asked for: {_amount(first.epsilon, first.relative)}"
        _note(axes, said, (0.01, first.epsilon), (0, 3), OPEN.colour, xycoords=axes.get_yaxis_transform())
    _log_scale(axes, "x", xs, _count)
    _log_scale(axes, "y", ys, lambda y: _amount(y, first.relative))
    axes.set_xlabel("samples")
    axes.set_ylabel("certified: worse than the best by at most", fontsize=9)
    axes.grid(color="#E5E5E5", linewidth=0.8, zorder=0)
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
        return NEAR if certificate.certified else OPEN
    return IN if certificate.decision[i] != 0 else OUT


def _label(certificate: Certificate, look: Look) -> str:
    if look in (OPEN, NEAR) or np.isin(certificate.decision, (0, 1)).all():
        return look.label
    return "decided" if look is IN else "decided: nothing"


def _order(certificate: Certificate) -> Ints:
    """Arms from the largest estimate to the smallest, those without one last. Of very many arms, those that matter most."""
    order: Ints = np.argsort(-np.nan_to_num(certificate.estimate, nan=-np.inf), kind="stable")
    if len(order) <= MOST:
        return order
    matters = np.lexsort((-certificate.counts, certificate.decision == 0, ~certificate.undecided))[:MOST]
    return order[np.isin(order, matters)]


def _paper(height: float, title: str) -> tuple[Figure, Axes]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.suptitle(_plain(textwrap.fill(title, 70)), fontsize=12, fontweight="bold", x=0.02, ha="left")
    return figure, axes


def _canvas(certificate: Certificate, order: Ints, title: str) -> tuple[Figure, Axes]:
    m = len(order)
    row = 0.34 if m <= 12 else 0.26 if m <= 30 else 0.19
    figure, axes = _paper(1.75 + row * max(m, 3), title)
    axes.set_yticks(range(m), [_short(certificate.names[i]) for i in order], fontsize=_small(m))
    axes.set_ylim(max(m, 3) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    hidden = certificate.counts.size - m
    said = _lines(str(certificate) + (f" {hidden:,} arms are not shown." if hidden else ""), 86)
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
        weight = "bold" if look in (IN, NEAR) and certificate.decision[i] != 0 else "normal"
        axes.text(1.04, row, text, transform=column, fontsize=small, ha="left", va="center", color=look.colour, fontweight=weight)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)


def _fall(axes: Axes, i: int, name: str, trace: Trace) -> tuple[Floats, Floats]:
    """One trace; returns the samples and the gaps that the scales must show."""
    x, y = np.array(trace.samples, dtype=np.float64), np.array(trace.gap, dtype=np.float64)
    shown = np.flatnonzero(np.isfinite(y) & (y > 0))
    after = x[shown[-1] + 1 :] if len(shown) else x
    x, y, colour = x[shown], y[shown], COLOURS[i % len(COLOURS)]
    if len(shown):
        axes.plot(x, y, STYLES[i % len(STYLES)], color=colour, linewidth=2.0, label=_plain(name) or None, zorder=3)
        axes.plot(x[-1:], y[-1:], "o", color=colour, markersize=6, zorder=4)
        said = f"0 from {after[0]:,.0f} on" if len(after) else f"{x[-1]:,.0f}"
        _note(axes, said, (x[-1], y[-1]), (7, 4), colour)
        x = np.concatenate([x, after])
    return x, y


def _note(axes: Axes, text: str, at: tuple[float, float], by: tuple[int, int], colour: str, **options: Any) -> None:
    axes.annotate(_plain(text), at, xytext=by, textcoords="offset points", fontsize=8.5, color=colour, **options)


def _log_scale(axes: Axes, which: Literal["x", "y"], values: Floats, text: Callable[[float], str]) -> None:
    """A logarithmic axis around the values, with a number at every power of ten, or also between them if these are few."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = (float(values.min()), float(values.max())) if len(values) else (1.0, 1.0)
    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    (axes.set_xlim if which == "x" else axes.set_ylim)(low / 1.6, high * 1.6)
    axis.set_major_locator(LogLocator(subs=(1.0,) if high >= 50 * low else (1.0, 2.0, 5.0), numticks=30))
    axis.set_major_formatter(lambda x, _: text(x))
    axis.set_minor_formatter(NullFormatter())
    axis.set_tick_params(labelsize=8.5)


def _amount(gap: float, relative: bool) -> str:
    return f"{100 * gap:,.6g} %" if relative else f"{gap:,.6g}"


def _count(samples: float) -> str:
    for unit, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if samples >= unit:
            return f"{samples / unit:,.6g} {word}"
    return f"{samples:,.6g}"


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
