"""Lemma 8: the base that GreedyOSA starts from cannot be raised in general."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...problems import allocate
from ..plots.house import COLOURS, MARKERS, VERMILION, grid, legend, open_sides, paper
from .base import HOLDS, OPEN, Claim, Lab, Result, Table, Verdict
from .greedy_osa import greedy_osa

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Found(NamedTuple):
    """One instance of the proof: how far the optimum of the first stratum is below its real-valued share."""

    m: int
    c: int
    k: int
    real: float
    optimum: int
    below: float
    said: float  # 0.5 (m - 1)
    base: int


def judge(found: list[Found]) -> Verdict:
    """The lemma is for large c: it holds if from some c on the first entry lies 0.5 (m - 1) below, at every m."""
    large = max(f.c for f in found)
    wrong = [f for f in found if abs(f.below - f.said) > 1e-9]
    if any(f.c == large for f in wrong):
        return Verdict(OPEN, f"even for c = {large} the optimum is not 0.5(m − 1) below the real-valued share")
    first = 1 + max((f.c for f in wrong), default=0)
    return Verdict(HOLDS, f"from c = {first} on (“large enough” in the paper)" if wrong else "for every c that was tried")


def measure(lab: Lab) -> Result:
    found = [instance(m, c) for m in (3, 5, 9, 15, 25) for c in range(1, lab.size(13, 9))]
    return Result(
        verdict=judge(found),
        ran="The instance of the proof, n₁√θ₁ = c(m − 1), all others 1, k = 1.5(c + 1)(m − 1), for odd m up to 25 and c "
        "from 1 on. The optimum by surepick.allocate, the base by GreedyOSA.",
        tables=[
            Table(
                [
                    ("m", "d"),
                    ("c", "d"),
                    ("k", ",d"),
                    ("real-valued y₁", ".1f"),
                    ("optimal y₁", ",d"),
                    ("below by", ".1f"),
                    ("0.5(m − 1)", ".1f"),
                    ("base", ",d"),
                ],
                [f for f in found if f.c in (1, 4, 5, 6, 12)],
            )
        ],
        figure=_figure(found),
        alt="How far the optimum lies below the real-valued split, as a share of 0.5 (m − 1), against c.",
        text="The last case of the proof needs c/(1.5c − 0.5) < √½, which is true from c = 6 on for every m; for small m "
        "less is enough. Where the base, computed in floating point, is one lower than the optimum, a square root was "
        "rounded down just below a whole number.",
    )


def instance(m: int, c: int) -> Found:
    k = 3 * (c + 1) * (m - 1) // 2
    n, theta = [c * (m - 1)] + [1] * (m - 1), [1.0] * m
    real, y = 1.5 * c * (m - 1), int(allocate(n, theta, k)[0])
    return Found(m, c, k, real, y, real - y, 0.5 * (m - 1), greedy_osa(n, theta, k).base[0])


def _figure(found: list[Found]) -> Figure:
    figure = paper(2.9, "")
    axes = figure.add_subplot()
    for i, m in enumerate(dict.fromkeys(f.m for f in found)):
        mine = [f for f in found if f.m == m]
        axes.plot([f.c for f in mine], [f.below / f.said for f in mine], color=COLOURS[i], marker=MARKERS[i], markersize=5,
                  label=f"m = {m}", zorder=3)  # fmt: skip
    axes.axhline(1, color=VERMILION, linewidth=1.2, linestyle="dashed", zorder=2)
    axes.set_xlabel("c")
    axes.set_ylabel("y₁ below its share,\nover 0.5 (m − 1)")
    axes.set_xticks(np.arange(1, max(f.c for f in found) + 1))
    axes.set_ylim(0, 1.1)
    open_sides(axes)
    grid(axes)
    legend(figure, *axes.get_legend_handles_labels())
    return figure


CLAIM = Claim(
    "base",
    "Lemma 8",
    "GreedyOSA's base is tight",
    "There are surveys in which the optimum of a stratum is as low as GreedyOSA's base, 0.5(m − 1) interviews below the "
    "real-valued share.",
    measure,
)
