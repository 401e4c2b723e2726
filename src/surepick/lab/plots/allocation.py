"""How the samples were shared out among the arms as they came in."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...arms import Floats, Ints
from ...certificate import Certificate
from ...checks import numbers
from ...errors import SettingError
from ..trace import History
from .house import COLOURS, STYLES, VERMILION, apart, caption, count, grid, legend, log_scale, open_sides, paper, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = (*COLOURS, VERMILION)  # of the arms that matter most
FAINT = "#BDBDBD"  # of the others


def allocation(history: History, *, proportions: ArrayLike | None = None, title: str = "") -> Figure:
    """The share of the samples that each arm had, as they came in.

    The seven arms with the largest shares are in colour, all others in grey.

    Parameters
    ----------
    history : History
    proportions : array, optional
        Shares to compare with, one an arm, marked at the right: as ``surepick.hardness(problem, theta).proportions``, those that
        the lower bound on the number of samples gives to the arms.

    Examples
    --------
    >>> import surepick as sp
    >>> from surepick.lab import History, allocation, save
    >>> problem, p = sp.TopK(4, k=2), [0.9, 0.8, 0.3, 0.1]
    >>> history = History()
    >>> history.follow(sp.Explorer(problem), sp.Bernoulli(p))
    >>> figure = allocation(history, proportions=sp.hardness(problem, p).proportions)
    """
    looks = looks_of(history)
    certificate, m = looks[-1], len(looks[-1].counts)
    shares: Floats = 100 * np.array([c.counts / c.samples for c in looks])
    aims = None if proportions is None else 100 * _shares(proportions, m)
    samples = np.array([c.samples for c in looks], dtype=np.float64)
    figure = paper(4.4, title)
    axes = figure.add_subplot()
    open_sides(axes)
    weight = shares[-1] if aims is None else np.maximum(shares[-1], aims)
    ranked = np.argsort(-weight, kind="stable")
    shown, others = ranked[: len(LINES)], ranked[len(LINES) :]
    dot = "o" if len(samples) == 1 else ""
    for arm in others:
        axes.plot(samples, shares[:, arm], color=FAINT, marker=dot, linewidth=0.8 if m > 30 else 1.2, zorder=2)
    for i, arm in enumerate(shown):
        axes.plot(samples, shares[:, arm], STYLES[i % len(STYLES)], marker=dot, color=LINES[i], linewidth=2.0, zorder=4)
    log_scale(axes, "x", samples, count, room=1.0 if samples[0] < samples[-1] else 1.6)
    axes.set_ylim(0, min(102.0, 1.12 * max(shares.max(), weight.max())))
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g} %")
    axes.tick_params(labelsize=8.5)
    grid(axes)
    axes.set_xlabel("samples")
    axes.set_ylabel("share of the samples so far", fontsize=9)
    rest = f" {len(others):,} arms with smaller shares are in grey." if len(others) > 1 else ""
    rest = " One arm with a smaller share is in grey." if len(others) == 1 else rest
    caption(axes, f"{certificate}{rest}")
    if aims is not None:
        at_end = axes.get_yaxis_transform()
        for i, arm in enumerate(shown):
            axes.plot([1.012], aims[arm : arm + 1], "<", color=LINES[i], markersize=6, transform=at_end, clip_on=False, zorder=5)
        [mark] = axes.plot([], [], "<", color="#555555", markersize=6)
        legend(figure, [mark], ["the shares that the lower bound gives to the arms"])
    _label(axes, certificate.names, shares[-1], shown)
    return figure


def looks_of(history: History) -> list[Certificate]:
    if not history.certificates:
        raise SettingError("The history is empty: let it follow an exploration, history.follow(explorer, world), before drawing.")
    return history.started


def _shares(proportions: ArrayLike, m: int) -> Floats:
    w = numbers(proportions)
    if w is None or w.shape != (m,) or not np.isfinite(w).all() or (w < 0).any():
        raise SettingError(f"proportions must be {m} numbers of at least 0, one an arm, as hardness(...).proportions has them.")
    return w


def _label(axes: Axes, names: Sequence[Hashable], ends: Floats, shown: Ints) -> None:
    """Every arm's name and share beside the end of its line, with a thin line where it had to move."""
    high = axes.get_ylim()[1]
    places = apart(ends[shown] / high, 0.055, 0.0, 1.0)
    for i, (arm, place) in enumerate(zip(shown, places, strict=True)):
        name = short(str(names[arm]), 22)
        thin = {"arrowstyle": "-", "color": LINES[i], "linewidth": 0.8, "shrinkA": 2, "shrinkB": 0, "relpos": (0, 0.5)}
        axes.annotate(
            f"{name}  {ends[arm]:.1f} %", (1.025, ends[arm] / high), (1.055, place), xycoords="axes fraction",
            textcoords="axes fraction", fontsize=8.5, va="center", color=LINES[i], annotation_clip=False, arrowprops=thin,
        )  # fmt: skip
