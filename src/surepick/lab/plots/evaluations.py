"""How many items every candidate was judged on, against evaluating everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arms import Ints
from ...certificate import Certificate
from ...errors import SettingError
from ...explorer import Explorer
from .house import PALE, TEXT, caption, grid, legend, paper, small, whole_scale
from .rows import LOOKS, OPEN, label_of, letters, look_of, name_rows, row_height

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 40  # candidates in one picture
LIGHT = "#C4C4C4"  # of those that are left out


def evaluations(of: Explorer | Certificate, *, title: str = "") -> Figure:
    """On how many items of the pool every candidate was judged, those judged on most on top; the hollow rest was not evaluated.

    Parameters
    ----------
    of : Explorer or Certificate
        On a pool. Where candidates have costs, an explorer also tells what all evaluations would cost.
    title : str
    """
    certificate = of.certificate() if isinstance(of, Explorer) else of
    if certificate.pool is None:
        raise SettingError(
            "Evaluations are counted against all items of a pool: make the explorer with pool=Pool(items). Without a pool "
            "lab.samples shows where the samples went.",
            key="pool",
        )
    counts, size = of.counts, certificate.pool[0]
    order = _order(certificate, counts)
    m = len(order)
    figure = paper(1.75 + row_height(m) * max(m, 3), title)
    axes = figure.add_subplot()
    name_rows(axes, certificate, order)
    caption(axes, _said(of, certificate, size) + _hidden(counts, order), letters(certificate, order))
    axes.barh(range(m), np.full(m, size), height=0.66, facecolor="white", edgecolor=PALE, linewidth=0.8, zorder=1)
    for look in LOOKS:
        rows = np.flatnonzero([look_of(certificate, i) is look for i in order])
        if len(rows):
            inside = "white" if look is OPEN else look.colour if look.filled else LIGHT
            axes.barh(
                rows, counts[order[rows]], height=0.66, zorder=2, hatch=look.hatch, linewidth=0.8, facecolor=inside,
                edgecolor="white" if look.filled and look.hatch else look.colour, label=label_of(certificate, look),
            )  # fmt: skip
    for row, i in enumerate(order):
        axes.annotate(
            f"{counts[i]:,}  ({_percent(int(counts[i]), size)})", (1.0, row), xycoords=axes.get_yaxis_transform(),
            xytext=(9.6 * small(m), 0), textcoords="offset points", va="center", ha="right", fontsize=small(m), color=TEXT,
        )  # fmt: skip
    whole_scale(axes, "x", size)
    axes.set_xlabel(f"items judged, of {size:,}")
    grid(axes, "x")
    legend(figure, *axes.get_legend_handles_labels())
    return figure


def _order(certificate: Certificate, counts: Ints) -> Ints:
    """Those judged on most items first; of these, those that are chosen. Of very many the first, and all that are chosen."""
    first = certificate.decision != 0
    order: Ints = np.lexsort((~first, -counts))
    if len(order) <= MOST:
        return order
    matters = np.lexsort((-counts, ~first))[:MOST] if first.sum() < MOST else order[:MOST]
    return order[np.isin(order, matters)]


def _hidden(counts: Ints, order: Ints) -> str:
    rest = np.delete(counts, order)
    if len(rest) == 0:
        return ""
    few, most = int(rest.min()), int(rest.max())
    many = f"{most:,}" if few == most else f"{few:,} to {most:,}"
    return f" {len(rest):,} candidate{' is' if len(rest) == 1 else 's are'} not shown, judged on {many} items each."


def _said(of: Explorer | Certificate, certificate: Certificate, size: int) -> str:
    """The total, its share and its cost, and what that was good for."""
    total, full = int(of.counts.sum()), size * len(certificate.names)
    text = f"{total:,} of {full:,} evaluations ({_percent(total, full)})"
    if isinstance(of, Explorer) and of.problem.priced:
        everything = size * float(of.problem.costs.sum())
        text += f", at a cost of {of.cost:,.12g} of {everything:,.12g} ({_percent(of.cost, everything)})"
    elif certificate.cost is not None:
        text += f", at a cost of {certificate.cost:,.12g}"
    return f"{text}. {certificate}"


def _percent(part: float, whole: float) -> str:
    share = 100 * part / whole
    return f"{share:.0f} %" if share in (0.0, 100.0) else "< 0.1 %" if share < 0.1 else f"{min(share, 99.9):.1f} %"
