"""How the certified gap fell."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...arms import Floats
from ..trace import Trace
from .house import COLOURS, GREY, STYLES, TEXT, VERMILION, count, grid, legend, log_scale, note, open_sides, paper, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def gap(traces: Trace | Mapping[str, Trace], *, marks: Mapping[str, float] | None = None, title: str = "") -> Figure:
    """How the certified gap falls with the samples, both on a logarithmic scale. A gap that becomes 0 drops to the axis, and
    the line goes on where it is above 0 again.

    Parameters
    ----------
    traces : Trace, or several of them by name
        A dashed line shows the epsilon of the first.
    marks : mapping, optional
        Numbers of samples to compare with, each by a text: a line is drawn there, unless the number is infinite.
    """
    several = {"": traces} if isinstance(traces, Trace) else dict(traces)
    first = next(iter(several.values()), Trace())
    figure = paper(4.2, title)
    axes = figure.add_subplot()
    open_sides(axes)
    ends = {text: samples for text, samples in (marks or {}).items() if np.isfinite(samples)}
    drawn = [_fall(axes, i, name, trace) for i, (name, trace) in enumerate(several.items())]
    xs = np.concatenate([x for x, _ in drawn] + [list(ends.values())])
    ys = np.concatenate([y for _, y in drawn] + [[first.epsilon] if first.epsilon > 0 else []])
    if not any(len(x) for x, _ in drawn):
        said = "a gap of 0 from the first look on" if 0 in first.gap else "no gap is certified yet"
        axes.text(0.5, 0.5, said, transform=axes.transAxes, ha="center", color=TEXT)
    for text, samples in ends.items():
        axes.axvline(samples, color=GREY, linewidth=1.3, zorder=2)
        note(axes, textwrap.fill(text, 26), (samples, 0.97), (-5, 0), "#555555", xycoords=axes.get_xaxis_transform(),
             ha="right", va="top")  # fmt: skip
    if first.epsilon > 0:
        axes.axhline(first.epsilon, color=VERMILION, linestyle="dashed", linewidth=1.3, zorder=2)
        said = f"asked for: {_amount(first.epsilon, first.relative)}"
        note(axes, said, (0.01, first.epsilon), (0, 3), VERMILION, xycoords=axes.get_yaxis_transform())
    log_scale(axes, "x", xs, count)
    log_scale(axes, "y", ys, lambda y: _amount(y, first.relative))
    for i, trace in enumerate(several.values()):
        _drop(axes, i, trace)
    axes.set_xlabel("samples")
    what = "every arm worse than the k-th best" if first.per_arm else "worse than the best"
    axes.set_ylabel(f"certified: {what} by at most", fontsize=9)
    grid(axes)
    legend(figure, *axes.get_legend_handles_labels())
    return figure


def _fall(axes: Axes, i: int, name: str, trace: Trace) -> tuple[Floats, Floats]:
    """One trace; returns the samples and the gaps that the scales must show."""
    x, y = np.array(trace.samples, dtype=np.float64), np.array(trace.gap, dtype=np.float64)
    shown = np.flatnonzero(np.isfinite(y) & (y > 0))
    after = x[shown[-1] + 1 :] if len(shown) else x
    broken = slice(shown[0], shown[-1] + 1) if len(shown) else slice(0)  # a gap of 0 in between has no place on the scale
    line = x[broken], np.where(y[broken] > 0, y[broken], np.nan)
    x, y, colour = x[shown], y[shown], COLOURS[i % len(COLOURS)]
    if len(shown):
        axes.plot(*line, STYLES[i % len(STYLES)], color=colour, linewidth=2.0, label=plain(name) or None, zorder=3)
        axes.plot(x[-1:], y[-1:], "o", color=colour, markersize=6, zorder=4)
        gone = np.isnan(np.concatenate(([np.nan], line[1], [np.nan])))
        alone = np.flatnonzero((gone[:-2] & ~gone[1:-1] & gone[2:])[:-1])  # between two gaps of 0, where no line shows them
        if len(alone):
            axes.plot(line[0][alone], line[1][alone], "o", color=colour, markersize=4, zorder=4)
        if not len(after):
            note(axes, f"{x[-1]:,.0f}", (x[-1], y[-1]), (7, 4), colour)
        x = np.concatenate([x, after])
    return x, y


def _drop(axes: Axes, i: int, trace: Trace) -> None:
    """Wherever the gap of a trace became 0, which has no place on the scale, it falls to the axis."""
    y = np.array(trace.gap, dtype=np.float64)
    shown = np.isfinite(y) & (y > 0)
    colour, bottom = COLOURS[i % len(COLOURS)], axes.get_ylim()[0]
    zeros = np.flatnonzero(shown[:-1] & (y[1:] == 0)) + 1
    for k in zeros:
        before, zero = trace.samples[k - 1], trace.samples[k]
        axes.plot([before, zero, zero], [y[k - 1]] * 2 + [bottom], ":", color=colour, linewidth=1.6, zorder=3)
        axes.plot([zero], [bottom], "v", color=colour, markersize=7, zorder=5, clip_on=False)
    if len(zeros) and not shown[zeros[-1] :].any():
        said = f"0 from {trace.samples[zeros[-1]]:,.0f} on" + (": the very best" if trace.epsilon > 0 else "")
        aside = (-7, "right") if len(zeros) == 1 else (7, "left")  # an earlier drop would cross it
        note(axes, said, (trace.samples[zeros[-1]], bottom), (aside[0], 5 + 12 * i), colour, ha=aside[1])


def _amount(gap: float, relative: bool) -> str:
    return f"{100 * gap:,.6g} %" if relative else f"{gap:,.6g}"
