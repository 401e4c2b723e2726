"""What the pictures of a simulation share: its figures by panel and policy, how policies look, the scale of delta."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...arms import Floats
from .house import COLOURS, MARKERS, STYLES, legend, log_scale, open_sides, paper, plain, probability, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

COLUMNS = 3  # panels side by side


@dataclass(frozen=True)
class Style:
    """A policy looks the same in all pictures of a simulation."""

    label: str
    colour: str
    marker: str
    line: Literal["-", "--", "-.", ":"]


def styles(summary: DataFrame) -> dict[str, Style]:
    names = list(dict.fromkeys(summary["policy"]))
    return {
        name: Style(short(name), COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)], STYLES[i % len(STYLES)])
        for i, name in enumerate(names)
    }


def positive(summary: DataFrame, *columns: str) -> Floats:
    """The figures in these columns that are finite and above 0."""
    values: Floats = np.concatenate([np.asarray(summary[c], dtype=np.float64) for c in columns])
    return values[np.isfinite(values) & (values > 0)]


def panels(
    summary: DataFrame, by: str, height: float, title: str, *, always: bool = False
) -> tuple[Figure, list[tuple[Axes, DataFrame]]]:
    """A panel for every value of a column, on common scales; named if there are several, or always."""
    values = list(dict.fromkeys(summary[by]))
    across = min(len(values), COLUMNS)
    down = -(-len(values) // across)
    figure = paper(height if down == 1 else 0.6 + 0.75 * height * down, title)
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).flatten()
    for axes in grid[len(values) :]:
        axes.remove()
    for i, (axes, value) in enumerate(zip(grid, values, strict=False)):
        open_sides(axes)
        axes.tick_params(labelsize=8.5, labelbottom=i + across >= len(values))
        if always or len(values) > 1:
            name = f"δ = {probability(value)}" if by == "delta" else short(str(value), 100 // across - 4)
            axes.set_title(name, fontsize=9.5, loc="left")
    return figure, [(axes, summary[summary[by] == value]) for axes, value in zip(grid, values, strict=False)]


def delta_scale(axes: Axes, deltas: Floats, room: float = 1.6) -> None:
    """Logarithmic, smaller to the right."""
    values = np.unique(deltas)
    x_scale(axes, values, probability, room)
    axes.set_xlim(min(values[-1] * room, 1.0), values[0] / room)


def x_scale(axes: Axes, values: Floats, text: Callable[[float], str], room: float = 1.25) -> None:
    """Logarithmic, with the values themselves for numbers if they are few."""
    from matplotlib.ticker import FixedLocator, NullLocator

    values = np.unique(values)
    log_scale(axes, "x", values, text, room=room, most=8)
    if len(values) == 1 or (len(values) <= 7 and np.diff(np.log(values)).min() > 0.11 * np.log(values[-1] / values[0])):
        axes.xaxis.set_major_locator(FixedLocator(values.tolist()))
        axes.xaxis.set_minor_locator(NullLocator())


def name_axes(figure: Figure, drawn: Sequence[Axes], x: str, y: str, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """What the axes and the series are: at the axes if there is one panel, else once for all."""
    one = len(drawn) == 1
    if one:
        drawn[0].set_xlabel(plain(x), fontsize=9)
        drawn[0].set_ylabel(plain(y), fontsize=9)
    else:
        figure.supylabel(plain(y), fontsize=9)
    legend(figure, handles, labels, below="" if one else x)


def marks(style: Style, certified: Any) -> dict[str, Any]:
    """A hollow mark where not all runs were certified."""
    return {"marker": style.marker, "color": style.colour, "markerfacecolor": style.colour if certified else "white"}
