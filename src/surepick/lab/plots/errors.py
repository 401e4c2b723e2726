"""How often the certificate was wrong, against what it promises."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ...arms import Floats
from .house import TEXT, VERMILION, grid, log_scale, probability
from .simulated import COLUMNS, delta_scale, marks, name_axes, panels, positive, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..simulation import Simulation

LINEAR = 25  # the scale is linear if all is at most so many times the smallest delta


def errors(simulation: Simulation, *, title: str = "") -> Figure:
    """The share of runs whose certificate was wrong against delta, with exact 95 % intervals, one panel a problem.

    The scale of errors is linear and begins at 0. Where some are far above the smallest delta it is logarithmic, which the axis
    says, and 0 has its place below a dotted line. The dashed line is the guarantee: a policy keeps its promise if its errors are
    on or below it. An interval that lies wholly above speaks against the promise; one that crosses the line, as with few runs
    all do, does not speak against it.

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
    least, most = float(shown.min()), float(shown.max())
    deltas = np.sort(summary["delta"].unique())
    linear = most <= LINEAR * deltas[0]
    zero = 0.0 if linear else least / 6  # where 0 has its place
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
    if linear:
        _linear_scale(first, deltas, most)
    else:
        _log_scale(first, zero, deltas, least, most)
    left, right = first.get_xlim()
    x = np.geomspace(left, right, 200)  # bent where the scale is linear
    for axes, _ in parts:
        promise = "the guarantee: errors ≤ δ" + (f" = {probability(deltas[0])}" if len(deltas) == 1 else "")
        promised = x if len(deltas) > 1 else np.repeat(deltas, len(x))
        axes.plot(x, promised, color=VERMILION, linestyle="dashed", linewidth=1.3, zorder=2, label=promise)
        if not linear:
            axes.axhline(2 * zero, color=TEXT, linewidth=0.6, linestyle=(0, (1, 3)), zorder=1)
    drawn, x_name = [axes for axes, _ in parts], "δ (smaller to the right)" if len(deltas) > 1 else "δ"
    y_name = "wrong certificates, 95 % interval" + ("" if linear else "\n(logarithmic, 0 below the dots)")
    name_axes(figure, drawn, x_name, y_name, *first.get_legend_handles_labels())
    return figure


def _linear_scale(axes: Axes, deltas: Floats, most: float) -> None:
    """From 0 on, with a number at every delta and at round values that are not too near to one."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    top = 1.1 * most
    marked = _thinned(deltas, 0.05 * top)
    between = [
        y
        for y in MaxNLocator(nbins=6, steps=[1, 2, 5, 10]).tick_values(0.0, top)
        if 0.0 <= y <= top and _clear(y, marked, 0.05 * top)
    ]
    axes.set_ylim(-0.04 * top, top)
    axes.yaxis.set_major_locator(FixedLocator(sorted([*marked, *between])))
    axes.yaxis.set_major_formatter(lambda y, _: probability(y))


def _thinned(values: Iterable[float], least: float) -> list[float]:
    """The values from above, without those that are too near to one before."""
    kept: list[float] = []
    for value in sorted(values, reverse=True):
        if _clear(value, kept, least):
            kept.append(float(value))
    return kept


def _clear(value: float, others: list[float], least: float) -> bool:
    return all(abs(value - other) >= least for other in others)


def _log_scale(axes: Axes, zero: float, deltas: Floats, least: float, most: float) -> None:
    """Powers of ten and deltas above, 0 at the bottom."""
    from matplotlib.ticker import FixedLocator, NullLocator

    low, high = int(np.floor(np.log10(least))), int(np.ceil(np.log10(most)))
    step = max(1, -(-(high - low) // 8))
    top = most if step == 1 else 10.0**high
    log_scale(axes, "y", np.array([zero, top]), lambda y: "0" if y < 1.01 * zero else probability(y))
    powers = [10.0**k for k in range(high, low - 1, -step) if 10.0**k > 2 * zero]
    apart = 0.05 * np.log(top / zero)
    marked = _thinned(np.log(deltas), apart)
    between = [y for y in np.log(powers) if _clear(y, marked, apart)]
    axes.yaxis.set_major_locator(FixedLocator([zero, *np.exp(sorted([*marked, *between])).tolist()]))
    axes.yaxis.set_minor_locator(NullLocator())
