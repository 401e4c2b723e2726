"""Samples against delta, the gap, the number of arms, or anything else that problems differ in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...arms import Floats
from ...errors import SettingError
from .house import count, grid, log_scale, whole_scale
from .simulated import Style, delta_scale, marks, name_axes, panels, positive, styles, x_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from ..simulation import Simulation

BOUND = "#555555"
WIDE = 8  # times as many samples, from which on the scale is logarithmic


def samples_against(
    simulation: Simulation,
    x: Literal["delta", "m"] | Mapping[str, float] | Callable[[str], float] = "delta",
    *,
    label: str = "",
    fit: bool = False,
    title: str = "",
) -> Figure:
    """Mean samples of every policy against delta or against something that the problems differ in.

    The band holds the middle 90 % of the runs (from the 5 % to the 95 % quantile). The lower bound, where it is known, is what
    no algorithm can do without on average. A mark is hollow where not all runs were certified: these took the whole budget, and
    would have taken more.

    Parameters
    ----------
    simulation : Simulation
    x : {"delta", "m"}, mapping or function
        ``"delta"``, with one panel a problem; the number of arms, ``"m"``; or one number above 0 for each problem by name. Other
        than for delta there is one panel a delta, and both scales are logarithmic.
    label : str
        What x is.
    fit : bool
        Fit a straight line to the logarithms and write down its slope; not against delta.

    Examples
    --------
    >>> import surepick as sp
    >>> from surepick.lab import samples_against
    >>> world = sp.Bernoulli([0.9, 0.5, 0.2])
    >>> figure = samples_against(sp.simulate(sp.BestArm(3), world, ["auto", "uniform"], delta=[0.1, 0.01], runs=10, executor=1))
    """
    summary = simulation.summary
    against_delta = isinstance(x, str) and x == "delta"
    if fit and against_delta:
        raise SettingError("fit=True finds a power of x, but samples grow with the logarithm of delta; give another x.")
    summary = summary.assign(x=_values(summary, x))
    looks = styles(summary)
    figure, parts = panels(summary, "problem" if against_delta else "delta", 4.0, title, always=not against_delta)
    logarithmic = not against_delta or _spread(summary) > WIDE
    bound = False
    for axes, part in parts:
        for name, style in looks.items():
            rows = part[part["policy"] == name].sort_values("x")
            if len(rows):
                _curve(axes, style, rows)
        bound |= _bound(axes, part, logarithmic)
        grid(axes)
        if fit:
            _slopes(axes, part, looks)
    first = parts[0][0]
    if against_delta:
        delta_scale(first, summary["x"].to_numpy())
    else:
        x_scale(first, summary["x"].to_numpy(), lambda v: f"{v:,.6g}")
    shown = positive(summary, "mean", "q05", "q95", "lower_bound")
    if logarithmic:
        log_scale(first, "y", shown, count, room=1.3)
    else:
        whole_scale(first, "y", 1.08 * float(shown.max()))
    named = {"delta": "δ (smaller to the right)", "m": "arms"}[x] if isinstance(x, str) else "x, one number a problem"
    series = _series(summary, looks, bound)
    name_axes(figure, [axes for axes, _ in parts], label or named, "samples (mean, 5 % to 95 %)", *series)
    return figure


def _values(summary: DataFrame, x: Any) -> Floats:
    """The x of every row, checked."""
    if x in ("delta", "m"):
        return np.asarray(summary[x], dtype=np.float64)
    if not callable(x) and not isinstance(x, Mapping):
        raise SettingError(f'x must be "delta", "m", a mapping or a function from the name of a problem to a number, not {x!r}.')
    found: dict[str, float] = {}
    for name in dict.fromkeys(summary["problem"]):
        if isinstance(x, Mapping) and name not in x:
            raise SettingError(f"x has no number for the problem {name!r}; give one for every problem of the simulation.")
        value = x[name] if isinstance(x, Mapping) else x(name)
        try:
            found[name] = float(value)
        except (TypeError, ValueError):
            found[name] = np.nan
        if not (np.isfinite(found[name]) and found[name] > 0):
            raise SettingError(f"x must be a number above 0, for its scale is logarithmic; for {name!r} it is {value!r}.")
    return np.array([found[name] for name in summary["problem"]])


def _spread(summary: DataFrame) -> float:
    return float(summary["mean"].max() / max(summary["mean"].min(), 1e-300))


def _curve(axes: Axes, style: Style, rows: DataFrame) -> None:
    x, mean = rows["x"].to_numpy(), rows["mean"].to_numpy()
    low, high = rows["q05"].to_numpy(), rows["q95"].to_numpy()
    axes.fill_between(x, low, high, color=style.colour, alpha=0.16, linewidth=0, zorder=2)
    axes.vlines(x, low, high, color=style.colour, linewidth=1.2, alpha=0.55, zorder=2)
    axes.plot(x, mean, style.line, color=style.colour, linewidth=1.8, zorder=3)
    for certified in (True, False):
        part = rows[(rows["certified"] == rows["runs"]) == certified]
        look = marks(style, certified)
        axes.plot(part["x"], part["mean"], linestyle="none", markersize=5.5, markeredgewidth=1.4, zorder=4, **look)


def _bound(axes: Axes, part: DataFrame, logarithmic: bool) -> bool:
    """The lower bound, which is the same for all policies; False if none is known."""
    known = part[np.isfinite(part["lower_bound"]) & (part["lower_bound"] >= (1e-300 if logarithmic else 0))]
    known = known.drop_duplicates(["problem", "delta"]).sort_values("x")
    if len(known):
        one = {"marker": "_", "markersize": 22, "markeredgewidth": 2.0}
        look: dict[str, Any] = one if len(known) == 1 else {"linestyle": (0, (1, 1)), "linewidth": 2.0}
        axes.plot(known["x"], known["lower_bound"], color=BOUND, zorder=2, **look)
    return len(known) > 0


def _slopes(axes: Axes, part: DataFrame, looks: Mapping[str, Style]) -> None:
    """A straight line through the logarithms, and its slope in a corner that the curves leave free."""
    found = []
    for name, style in looks.items():
        rows = part[(part["policy"] == name) & (part["mean"] > 0)]
        x = np.log(rows["x"].to_numpy())
        if len(np.unique(x)) < 2:
            continue
        slope, level = np.polyfit(x, np.log(rows["mean"].to_numpy()), 1)
        ends = np.array([x.min(), x.max()])
        axes.plot(np.exp(ends), np.exp(level + slope * ends), color=style.colour, linewidth=0.8, zorder=3)
        found.append((float(slope), style))
    right = sum(slope for slope, _ in found) < 0
    for i, (slope, style) in enumerate(found):
        axes.annotate(
            f"{style.label}: slope " + f"{slope:.2f}".replace("-", "−"), (0.98 if right else 0.02, 0.98), (0, -12 * i),
            xycoords="axes fraction", textcoords="offset points", ha="right" if right else "left", va="top", fontsize=8.5,
            color=style.colour, zorder=6, bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
        )  # fmt: skip


def _series(summary: DataFrame, looks: Mapping[str, Style], bound: bool) -> tuple[list[Any], list[str]]:
    """The handles and labels of the legend."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], linestyle=s.line, linewidth=1.8, markersize=5.5, **marks(s, True)) for s in looks.values()]
    labels = [s.label for s in looks.values()]
    if bound:
        handles.append(Line2D([], [], linestyle=(0, (1, 1)), color=BOUND, linewidth=2.0))
        labels.append("lower bound of any algorithm")
    if (summary["certified"] < summary["runs"]).any():
        handles.append(Line2D([], [], linestyle="none", marker="o", color=BOUND, markerfacecolor="white", markersize=5.5))
        labels.append("hollow: not all runs certified")
    return handles, labels
