"""How far every candidate on shared items is from the one that is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arms import Bools, Floats, Ints
from ...certificate import Certificate
from ...explorer import Explorer
from ...standings import Standings
from .house import GREY, TEXT, caption, grid, legend, paper, short, small
from .intervals import share
from .rows import LOOKS, label_of, letters, look_of, name_rows, row_height

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 40  # candidates in one picture
ROOM = 0.3  # of the spread of the estimates, which the axis shows on either side of them at least


def standings(explorer: Explorer, *, title: str = "") -> Figure:
    """The difference of every candidate to the one that is chosen, or the last of those who are, on the items that both were
    judged on, and its interval, the best one on top; see :meth:`surepick.Explorer.standings`. On the right how many items these
    are.

    Of more than 40 candidates those are shown that are undecided or chosen, and those that held out longest.
    """
    found, certificate = explorer.standings(), explorer.certificate()
    low, high = explorer.problem.arms[0].low, explorer.problem.arms[0].high
    unit = 100.0 if (low, high) == (0.0, 1.0) else 1.0
    sign = getattr(explorer.problem, "sign", 1.0)
    order = _order(found, certificate, sign)
    figure = paper(1.95 + row_height(len(order)) * max(len(order), 3), title)
    axes = figure.add_subplot()
    name_rows(axes, certificate, order)
    hidden = len(found.names) - len(order)
    more = f" {hidden:,} candidate{' is' if hidden == 1 else 's are'} not shown."
    caption(axes, str(certificate) + (more if hidden else ""), letters(certificate, order))
    axes.set_xlim(*_limits(unit * found.difference[order], unit * found.lower[order], unit * found.upper[order]))
    axes.axvline(0.0, color=GREY, linewidth=1.0, zorder=1)
    _rows(axes, found, certificate, order, unit)
    _columns(axes, found, order, unit, _said(certificate, found))
    several = _said(certificate, found) == "last in"
    whom = f"{short(str(found.references[0]), 24)}{', the last one chosen' if several else ''}"
    if len(found.references) > 1:
        whom = f"the {'last one chosen' if several else 'one chosen'} of its group"
    points = "points (hundredths of the score)" if unit == 100.0 else "units of the score"
    axes.set_xlabel(
        f"difference to {whom}, in {points}\nThese intervals hold together with probability {share(found.delta)}, "
        "a statement beside that of the certificate",
        fontsize=9,
    )
    grid(axes, "x")
    legend(figure, *axes.get_legend_handles_labels())
    return figure


def _order(found: Standings, certificate: Certificate, sign: float) -> Ints:
    """The best first; of very many the references, those undecided, those chosen, and those that held out longest."""
    behind = np.nan_to_num(-sign * found.difference, nan=np.inf)
    order: Ints = np.argsort(behind, kind="stable")
    if len(order) <= MOST:
        return order
    decided = certificate.decision == 0 if np.isin(certificate.decision, (0, 1)).all() else np.zeros(len(order), dtype=np.bool_)
    matters = np.lexsort((behind, -found.items, decided, ~certificate.undecided, ~_referred(found)))[:MOST]
    return order[np.isin(order, matters)]


def _referred(found: Standings) -> Bools:
    return np.array([name == reference for name, reference in zip(found.names, found.reference, strict=True)])


def _said(certificate: Certificate, found: Standings) -> str:
    """Of a reference: whether it is the only one that is chosen, or the last of several."""
    choice = bool(np.isin(certificate.decision, (0, 1)).all())
    return "last in" if choice and certificate.decision.sum() > len(found.references) else "leads"


def _limits(difference: Floats, lower: Floats, upper: Floats) -> tuple[float, float]:
    """All estimates, and at least half of the ends of intervals on either side: the longest ones would hide the others."""
    seen = np.append(difference[np.isfinite(difference)], 0.0)
    room = ROOM * float(np.ptp(seen))
    left = max(float(lower.min()), min(float(seen.min()) - room, float(np.median(lower))))
    right = min(float(upper.max()), max(float(seen.max()) + room, float(np.median(upper))))
    pad = 0.03 * (right - left) or 1.0
    return left - pad, right + pad


def _rows(axes: Axes, found: Standings, certificate: Certificate, order: Ints, unit: float) -> None:
    left, right = axes.get_xlim()
    for look in LOOKS:
        rows = np.flatnonzero([look_of(certificate, i) is look for i in order])
        if len(rows) == 0:
            continue
        who = order[rows]
        lower, upper = unit * found.lower[who], unit * found.upper[who]
        axes.hlines(rows, lower, upper, colors=look.colour, linewidths=look.thick, linestyles=look.line, zorder=2)
        axes.plot(
            np.clip(unit * found.difference[who], lower, upper), rows, look.marker, color=look.colour, zorder=3, markersize=5.5,
            label=label_of(certificate, look), markerfacecolor=look.colour if look.filled else "white", markeredgewidth=1.4,
        )  # fmt: skip
        for at, marker, cut in ((left, "<", lower < left), (right, ">", upper > right)):
            if cut.any():  # an empty line that is not clipped would stretch the picture
                ends = np.full(int(cut.sum()), at)
                axes.plot(ends, rows[cut], marker, color=look.colour, markersize=4, clip_on=False, zorder=4)


def _columns(axes: Axes, found: Standings, order: Ints, unit: float, said: str) -> None:
    """At the right the difference in figures, and how many items it is of."""
    referred = _referred(found)
    _at_the_right(axes, -0.75, ("difference", "items"), len(order), "bottom")
    for row, i in enumerate(order):
        known = said if referred[i] else "–" if np.isnan(found.difference[i]) else _signed(unit * found.difference[i])
        _at_the_right(axes, row, (known, f"{found.items[i]:,}"), len(order), "center")


def _at_the_right(axes: Axes, row: float, texts: tuple[str, str], rows: int, va: str) -> None:
    size = small(rows)
    for wide, text in zip((6.3, 10.6), texts, strict=True):
        axes.annotate(
            text, (1.0, row), xycoords=axes.get_yaxis_transform(), xytext=(wide * size, 0), textcoords="offset points",
            ha="right", va=va, fontsize=size, color=TEXT, annotation_clip=False,
        )  # fmt: skip


def _signed(x: float) -> str:
    return "0" if x == 0 else (f"{x:+.1f}" if abs(x) >= 1 else f"{x:+.2g}").replace("-", "−")
