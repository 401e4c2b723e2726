"""How often the certificate was wrong, against what it promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .house import TEXT, VERMILION, grid, log_scale, probability
from .simulated import COLUMNS, delta_scale, marks, name_axes, panels, positive, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..simulation import Simulation


def errors(simulation: Simulation, *, title: str = "") -> Figure:
    """The share of runs whose certificate was wrong against delta, with exact 95 % intervals, one panel a problem.

    Both scales are logarithmic, with a place for 0 at the bottom. The dashed line is the guarantee: a policy keeps its promise if
    its errors are on or below it. An interval that lies wholly above speaks against the promise; one that crosses the line,
    as with few runs all do, does not speak against it.

    Examples
    --------
    >>> import surepick as sp
    >>> from surepick.lab import errors
    >>> world = sp.Bernoulli([0.9, 0.5, 0.2])
    >>> figure = errors(sp.simulate(sp.BestArm(3), world, ["auto", "uniform"], delta=[0.1, 0.01], runs=10, executor=1))
    """
    summary = simulation.summary
    looks = styles(summary)
    figure, parts = panels(summary, "problem", 3.8, title)
    shown = positive(summary, "error_rate", "error_low", "error_high", "delta")
    least = float(shown.min())
    zero = least / 6  # where 0 has its place
    deltas = summary["delta"].unique()
    share = 0.014 * min(len(parts), COLUMNS) if len(deltas) > 1 else min(0.1, 0.7 / len(looks))  # of the scale, side by side
    apart = (4 * deltas.max() / deltas.min()) ** share
    for axes, part in parts:
        for i, (name, style) in enumerate(looks.items()):
            rows = part[part["policy"] == name]
            x = rows["delta"].to_numpy() * apart ** ((len(looks) - 1) / 2 - i)
            rate, low = (np.maximum(rows[c].to_numpy(dtype=np.float64), zero) for c in ("error_rate", "error_low"))
            axes.vlines(x, low, rows["error_high"].to_numpy(), color=style.colour, linewidth=1.6, zorder=3)
            axes.plot(x, rate, linestyle="none", markersize=6, zorder=4, label=style.label, **marks(style, True))
        grid(axes)
    first = parts[0][0]
    delta_scale(first, deltas, room=2.0)
    _rate_scale(first, zero, least, float(shown.max()))
    ends = np.array(first.get_xlim())
    promised = ends if len(deltas) > 1 else np.repeat(deltas, 2)
    for axes, _ in parts:
        axes.plot(ends, promised, color=VERMILION, linestyle="dashed", linewidth=1.3, zorder=2, label="the guarantee: errors ≤ δ")
        axes.axhline(2 * zero, color=TEXT, linewidth=0.6, linestyle=(0, (1, 3)), zorder=1)
    drawn, y = [axes for axes, _ in parts], "wrong certificates, 95 % interval"
    name_axes(figure, drawn, "δ (smaller to the right)", y, *first.get_legend_handles_labels())
    return figure


def _rate_scale(axes: Axes, zero: float, least: float, most: float) -> None:
    """Powers of ten above, 0 at the bottom."""
    from matplotlib.ticker import FixedLocator, NullLocator

    low, high = int(np.floor(np.log10(least))), int(np.ceil(np.log10(most)))
    step = max(1, -(-(high - low) // 8))
    top = most if step == 1 else 10.0**high
    log_scale(axes, "y", np.array([zero, top]), lambda y: "0" if y < 1.01 * zero else probability(y))
    powers = [10.0**k for k in range(high, low - 1, -step) if 10.0**k > 2 * zero]
    axes.yaxis.set_major_locator(FixedLocator([zero, *powers]))
    axes.yaxis.set_minor_locator(NullLocator())
