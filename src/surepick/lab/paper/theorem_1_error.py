"""Theorem 1, first half: COCI is wrong with probability at most delta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..plots.house import COLOURS, MARKERS, VERMILION, grid, legend, open_sides, paper
from .base import HOLDS, OPEN, Claim, Lab, Result, Table, Verdict
from .statistics import Rate, rates
from .theorem_1_worlds import classes_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def judge(found: Sequence[tuple[float, Rate]]) -> Verdict:
    """From delta and the errors of every cell: all intervals must end at or below their delta."""
    above = [f"{rate.errors} of {rate.of} at δ = {delta:g}" for delta, rate in found if rate.low > delta]
    if above:
        return Verdict(OPEN, f"more errors than δ allows ({'; '.join(above[:3])})")
    unsure = [delta for delta, rate in found if rate.high > delta]
    if unsure:
        return Verdict(OPEN, f"too few runs, or too many errors, to tell for δ = {min(unsure):g}")
    wrong, runs = sum(rate.errors for _, rate in found), sum(rate.of for _, rate in found)
    return Verdict(HOLDS, f"{wrong} wrong in {runs:,} runs")


def measure(lab: Lab) -> Result:
    simulation = classes_runs(lab)
    summary = simulation.summary
    cells = summary[["problem", "delta", "runs", "errors"]].itertuples(index=False)
    keys = [(str(cell.problem), float(cell.delta), int(cell.errors), int(cell.runs)) for cell in cells]
    found = rates([(wrong, runs) for *_, wrong, runs in keys])
    rows = [
        (problem, delta, rate.of, rate.errors, rate.low, rate.high, rate.high <= delta)
        for (problem, delta, *_), rate in zip(keys, found, strict=True)
    ]
    return Result(
        verdict=judge([(delta, rate) for (_, delta, *_), rate in zip(keys, found, strict=True)]),
        ran=f"{found[0].of} runs of COCI with the paper's radius on each of four classes at "
        f"{len(simulation.table['delta'].unique())} values of δ. A run is wrong if its decision is not optimal at the "
        "truth. The intervals are exact (Clopper and Pearson) and hold together with probability 95 %.",
        tables=[
            Table(
                [
                    ("class", ""),
                    ("δ", "g"),
                    ("runs", ",d"),
                    ("wrong", ",d"),
                    ("at least", ".4f"),
                    ("at most", ".4f"),
                    ("≤ δ", ""),
                ],
                rows,
            )
        ],
        figure=_figure(keys, found),
        alt="The share of wrong runs, with its interval, for every class and δ, beside the line of the guarantee.",
        text="How careful the paper's intervals are is measured with Lemma 5.",
    )


def _figure(keys: list[tuple[str, float, int, int]], found: list[Rate]) -> Figure:
    figure = paper(3.2, "")
    axes = figure.add_subplot()
    names, deltas = list(dict.fromkeys(key[0] for key in keys)), list(dict.fromkeys(key[1] for key in keys))
    for (name, delta, *_), rate in zip(keys, found, strict=True):
        i, x = names.index(name), deltas.index(delta) + 0.13 * (names.index(name) - (len(names) - 1) / 2)
        axes.vlines(x, rate.low, rate.high, color=COLOURS[i], linewidth=2.2, zorder=3)
        label = name if delta == deltas[0] else ""
        axes.plot(x, rate.errors / rate.of, MARKERS[i], color=COLOURS[i], markersize=6, zorder=4, label=label, clip_on=False)
    for j, delta in enumerate(deltas):
        axes.hlines(delta, j - 0.38, j + 0.38, color=VERMILION, linewidth=2.2, zorder=2, label="δ" if j == 0 else "")
    axes.set_xticks(range(len(deltas)), [f"δ = {delta:g}" for delta in deltas])
    axes.set_ylim(0, 1.1 * max(deltas[0], *(rate.high for rate in found)))
    axes.set_ylabel("share of wrong runs")
    open_sides(axes)
    grid(axes, "y")
    legend(figure, *axes.get_legend_handles_labels())
    return figure


CLAIM = Claim(
    "error",
    "Theorem 1",
    "COCI is wrong with probability at most δ",
    "With probability at least 1 − δ the algorithm returns the one optimal decision, whatever the decision class, for "
    "means and for variances of arms with values in [0, 1].",
    measure,
)
