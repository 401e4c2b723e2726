"""One row an arm: how the kinds of arm look, which arms are shown and in which order.

Arms in the decision have a filled circle and a thick line, those left out a hollow circle, undecided ones a diamond and a dashed
line. In a decision that is certified to be near the best, arms in which the very best may differ have a diamond too, filled if
they are in the decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ...arms import Ints
from ...certificate import Certificate
from .house import BLUE, GREY, LABEL, VERMILION, caption, open_sides, paper, short, small

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


IN = Look("in the decision", BLUE, "o", "solid", 2.6, True, "")
OUT = Look("left out", GREY, "o", "solid", 1.6, False, "")
OPEN = Look("undecided", VERMILION, "D", "dashed", 1.6, False, "////")
NEAR_IN = Look("in the decision, the very best may differ", BLUE, "D", "solid", 2.6, True, "....")
NEAR_OUT = Look("left out, the very best may differ", GREY, "D", "solid", 1.6, False, "....")
LOOKS = (IN, NEAR_IN, OUT, NEAR_OUT, OPEN)


def look_of(certificate: Certificate, i: int) -> Look:
    if certificate.undecided[i] and not certificate.certified:
        return OPEN
    if certificate.decision[i] != 0:
        return NEAR_IN if certificate.undecided[i] else IN
    return NEAR_OUT if certificate.undecided[i] else OUT


def label_of(certificate: Certificate, look: Look) -> str:
    if look is OPEN or np.isin(certificate.decision, (0, 1)).all():
        return look.label
    if look in (NEAR_IN, NEAR_OUT):
        return "near the best" if look is NEAR_IN else "nothing, near the best"
    return "decided" if look is IN else "decided: nothing"


def order_of(certificate: Certificate, most: int = MOST) -> Ints:
    """Arms from the largest estimate to the smallest, those without one last. Of very many arms, those that matter most."""
    order: Ints = np.argsort(-np.nan_to_num(certificate.estimate, nan=-np.inf), kind="stable")
    if len(order) <= most:
        return order
    matters = np.lexsort((-certificate.counts, certificate.decision == 0, ~certificate.undecided))[:most]
    return order[np.isin(order, matters)]


def row_height(m: int) -> float:
    return 0.34 if m <= 12 else 0.26 if m <= 30 else 0.19


def name_rows(axes: Axes, certificate: Certificate, order: Ints, most: int = LABEL) -> None:
    m = len(order)
    axes.set_yticks(range(m), [short(str(certificate.names[i]), most) for i in order], fontsize=small(m))
    axes.set_ylim(max(m, 3) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    open_sides(axes, "top", "right", "left")


def letters(certificate: Certificate, order: Ints, most: int = LABEL) -> int:
    """How many letters fit above the rows: what stands beside them, names and columns, leaves less to the panel."""
    return 74 - round(0.65 * max(len(short(str(certificate.names[i]), most)) for i in order))


def canvas(certificate: Certificate, order: Ints, title: str) -> tuple[Figure, Axes]:
    m = len(order)
    figure = paper(1.75 + row_height(m) * max(m, 3), title)
    axes = figure.add_subplot()
    name_rows(axes, certificate, order)
    hidden = certificate.counts.size - m
    caption(axes, str(certificate) + (f" {hidden:,} arms are not shown." if hidden else ""), letters(certificate, order))
    return figure, axes


def draw(axes: Axes, certificate: Certificate, order: Ints, *, marker: float = 5.5) -> list[Artist]:
    """The interval and the estimate of every arm in its row. The limits of the axis must be set before."""
    left, right = axes.get_xlim()
    beyond = right - left
    # An arm without an interval reaches past both edges of the picture.
    lower = np.nan_to_num(certificate.lower, neginf=left - beyond)
    upper = np.nan_to_num(certificate.upper, posinf=right + beyond)
    estimate = np.clip(certificate.estimate, certificate.lower, certificate.upper)  # as the decision takes it
    drawn: list[Artist] = []
    for look in LOOKS:
        rows = np.flatnonzero([look_of(certificate, i) is look for i in order])
        if len(rows) == 0:
            continue
        arms = order[rows]
        ends = lower[arms], upper[arms]
        drawn.append(axes.hlines(rows, *ends, colors=look.colour, linewidths=look.thick, linestyles=look.line, zorder=2))
        drawn += axes.plot(
            estimate[arms], rows, look.marker, color=look.colour, zorder=3, markersize=marker, label=label_of(certificate, look),
            markerfacecolor=look.colour if look.filled else "white", markeredgewidth=1.4,
        )  # fmt: skip
    return drawn
