"""The house style of all pictures: paper, colours, scales, labels and files.

Things are told apart by colour and by shape, so that the pictures also work in grey. The colours are Okabe and Ito's, which
colour-blind people can tell apart. No state of pyplot is touched.
"""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...arms import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 7.5  # inches
DPI = 150
LABEL = 34  # characters of a name
BLUE, VERMILION, GREY, PALE, TEXT = "#0072B2", "#D55E00", "#7A7A7A", "#E5E5E5", "#333333"
COLOURS = (BLUE, "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")  # of several series
STYLES: tuple[Literal["-"], Literal["--"], Literal["-."], Literal[":"]] = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")  # one more than colours, so that not both repeat together


def paper(height: float, title: str) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from .picture import Picture

    figure = Picture(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(plain(textwrap.fill(title, 70)), fontsize=12, fontweight="bold", x=0.02, ha="left")
    return figure


def open_sides(axes: Axes, *sides: str) -> None:
    for side in sides or ("top", "right"):
        axes.spines[side].set_visible(False)


def grid(axes: Axes, which: Literal["x", "y", "both"] = "both") -> None:
    axes.grid(axis=which, color=PALE, linewidth=0.8, zorder=0)


def caption(axes: Axes, text: str, most: int = 86) -> None:
    """What a picture says in words, above it, in lines of about so many letters."""
    axes.set_title(plain(lines(text, most)), fontsize=8.5, loc="left", x=0, color=TEXT)


def legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], *, below: str = "") -> None:
    """Below the picture and the text that stands below all panels: in one row, or in columns as wide as the longest label."""
    if handles:
        in_one_row = sum(len(label) + 9 for label in labels) <= 110
        columns = len(labels) if in_one_row else max(1, 110 // (max(map(len, labels)) + 9))
        figure.legend(
            handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=8.5, title=plain(below) or None,
            title_fontsize=9,
        )  # fmt: skip


def note(axes: Axes, text: str, at: tuple[float, float], by: tuple[int, int], colour: str, **options: Any) -> None:
    axes.annotate(plain(text), at, xytext=by, textcoords="offset points", fontsize=8.5, color=colour, **options)


def log_scale(
    axes: Axes, which: Literal["x", "y"], values: Floats, text: Callable[[float], str], *, room: float = 1.6, most: int = 12
) -> None:
    """A logarithmic axis around the values, with a number at every power of ten, or also between them if these are few."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = (float(values.min()), float(values.max())) if len(values) else (1.0, 1.0)
    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    (axes.set_xlim if which == "x" else axes.set_ylim)(low / room, high * room)
    axis.set_major_locator(LogLocator(subs=(1.0,) if high >= 50 * low else (1.0, 2.0, 5.0), numticks=most))
    axis.set_major_formatter(lambda x, _: text(x))
    axis.set_minor_formatter(NullFormatter())
    axis.set_tick_params(labelsize=8.5)


def whole_scale(axes: Axes, which: Literal["x", "y"], high: float) -> None:
    """From 0 on, with whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xlim if which == "x" else axes.set_ylim)(0, high)
    axis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axis.set_major_formatter(lambda x, _: count(x))


def count(samples: float) -> str:
    for unit, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if samples >= unit:
            return f"{samples / unit:,.6g} {word}"
    return f"{samples:,.6g}"


def probability(p: float) -> str:
    """0.05, or 5·10⁻⁷ where that would have many zeros."""
    if p >= 1e-3 or p <= 0:
        return f"{p:.6g}"
    digits, power = f"{p:.2e}".split("e")
    digits = digits.rstrip("0").rstrip(".")
    small = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{small}" if digits == "1" else f"{digits}·10{small}"


def small(rows: int) -> float:
    """The size of letters beside so many rows."""
    return 9.0 if rows <= 12 else 8.0 if rows <= 30 else 6.5


def short(name: str, most: int = LABEL) -> str:
    """A long name keeps its beginning and its end, which often tells it from others."""
    half = (most - 1) // 2
    text = " ".join(name.split())
    return plain(text if len(text) <= most else f"{text[:half].rstrip()}…{text[-half:].lstrip()}")


def lines(text: str, most: int) -> str:
    """The text in lines of about the same length."""
    needed = -(-len(text) // most)
    return textwrap.fill(text, -(-len(text) // max(needed, 1)) + 6)


def plain(text: str) -> str:
    """Text as it stands: matplotlib takes what is between two dollar signs for mathematics."""
    return text.replace("$", r"\$")


def apart(places: Floats, least: float, low: float, high: float) -> Floats:
    """The places, moved as little as possible (in squares) so that they are so far apart, in the same order, within the ends."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(places, kind="stable")
    least = min(least, (high - low) / max(len(places) - 1, 1))
    steps = least * np.arange(len(places))
    result = np.empty(len(places))
    result[order] = steps + np.clip(isotonic_regression(places[order] - steps).x, low, high - least * (len(places) - 1))
    return result


def save(figure: Figure, path: str | Path) -> Path:
    """Write a picture as PNG, whatever the name ends in."""
    path = Path(path)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # a name in a script that the font lacks shows as boxes
        figure.savefig(path, format="png", dpi=DPI)
    return path
