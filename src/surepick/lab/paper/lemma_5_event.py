"""Lemma 5: all confidence intervals hold at all times with probability at least 1 - delta."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..plots.house import COLOURS, STYLES, VERMILION, grid, legend, open_sides, paper
from .base import HOLDS, OPEN, Claim, Lab, Result, Table, Verdict
from .statistics import Rate, rates

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw: TypeAlias = Callable[[tuple[int, int, int]], np.ndarray[Any, np.dtype[np.float64]]]

DELTA = 0.05
ARMS = 5


class Found(NamedTuple):
    """How far off the estimates of a run ever were, as multiples of the radius; one number a run."""

    name: str
    worst: np.ndarray[Any, np.dtype[np.float64]]

    @property
    def needed(self) -> float:
        """The share of the radius that would do in all but delta of the runs."""
        return float(np.quantile(self.worst, 1 - DELTA))


def judge(found: list[Found]) -> Verdict:
    missed = rates([(int((f.worst > 1).sum()), len(f.worst)) for f in found])
    for f, rate in zip(found, missed, strict=True):
        if rate.high > DELTA:
            return Verdict(
                OPEN, f"{f.name}: {rate.errors} of {rate.of} runs leave an interval, which may be more than δ = {DELTA:g}"
            )
    slack = min(1 / f.needed**2 for f in found)
    return Verdict(
        HOLDS, f"with slack: intervals that need {slack:.1f} times fewer samples would have held as often as promised here"
    )


def measure(lab: Lab) -> Result:
    runs, rounds = lab.size(1500, 300), lab.size(2000, 500)
    rng = lab.rng("event")
    found = []
    coin: Callable[[float], Draw] = lambda p: lambda shape: (rng.random(shape) < p).astype(np.float64)
    cases: dict[str, tuple[int, float, Draw]] = {
        "mean, fair coins": (1, 0.5, coin(0.5)),
        "mean, coins of 0.05": (1, 0.05, coin(0.05)),
        "variance, coins of 0.2": (2, 0.16, coin(0.2)),
        "variance, uniform values": (2, 1 / 12, rng.random),
    }
    for i, (name, (tau, truth, draw)) in enumerate(cases.items()):
        worst = np.zeros(runs)
        for begin in range(0, runs, 100):
            part = slice(begin, min(begin + 100, runs))
            X = draw((part.stop - begin, ARMS, rounds))
            worst[part] = farthest(X, truth, tau)
            lab.step((i + part.stop / runs) / len(cases))
        found.append(Found(name, worst))
    missed: list[Rate] = rates([(int((f.worst > 1).sum()), len(f.worst)) for f in found])
    return Result(
        verdict=judge(found),
        ran=f"{runs:,} runs of {ARMS} arms, each sampled in turn {rounds:,} times. In every run the largest |estimate − "
        f"truth| / radius over all arms and all times, with the paper's radius at δ = {DELTA:g}. Above 1 an interval has "
        "missed.",
        tables=[
            Table(
                [
                    ("parameter", ""),
                    ("runs", ",d"),
                    ("missed", ",d"),
                    ("at most", ".4f"),
                    ("largest error / radius", ".3f"),
                    (f"in all but {100 * DELTA:g} % of runs", ".3f"),
                    ("samples saved", ".1f"),
                ],
                [
                    (f.name, rate.of, rate.errors, rate.high, float(f.worst.max()), f.needed, 1 / f.needed**2)
                    for f, rate in zip(found, missed, strict=True)
                ],
            )
        ],
        figure=_figure(found),
        alt="The share of runs whose estimates were ever off by more than a given share of the radius.",
        text="The lemma adds up the chances of every arm, every count and every moment. What it needs less of the radius "
        "than it has is samples wasted: intervals from mixture martingales, the default of this package, keep the same "
        "promise with a fraction of them. An experiment of finite length can only speak for its own length.",
    )


def farthest(X: np.ndarray[Any, np.dtype[np.float64]], truth: float, tau: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """For every run: the largest |estimate - truth| / radius over arms and times, when arms are sampled in turn."""
    s = np.arange(1, X.shape[2] + 1)
    estimate = np.cumsum(X, axis=2) / s
    if tau == 2:
        squares = np.cumsum(X * X, axis=2)
        estimate = (squares[..., 1:] - s[1:] * estimate[..., 1:] ** 2) / (s[1:] - 1)
        s = s[1:]
    # Radii grow with t while an arm waits, so the worst moment of each count is right after its sample.
    m = X.shape[1]
    t = np.maximum((s - 1) * m + np.arange(1, m + 1)[:, None], tau * m)
    radius = np.sqrt((math.log(4 / (tau * DELTA)) + 3 * np.log(t)) / (2 * s))
    return np.asarray((np.abs(estimate - truth) / radius).max(axis=(1, 2)))


def _figure(found: list[Found]) -> Figure:
    figure = paper(3.2, "")
    axes = figure.add_subplot()
    for i, f in enumerate(found):
        x = np.sort(f.worst)
        axes.plot(x, 1 - np.arange(len(x)) / len(x), STYLES[i], color=COLOURS[i], linewidth=1.8, label=f.name, zorder=3)
    axes.axvline(1, color=VERMILION, linewidth=1.6, zorder=2, label="the interval's end")
    axes.axhline(DELTA, color=VERMILION, linewidth=1.2, linestyle="dashed", zorder=2, label=f"δ = {DELTA:g}")
    axes.set_xlim(0, 1.08)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("largest |estimate − truth| / radius of a run")
    axes.set_ylabel("share of runs beyond")
    open_sides(axes)
    grid(axes)
    legend(figure, *axes.get_legend_handles_labels())
    return figure


CLAIM = Claim(
    "event",
    "Lemma 5",
    "All confidence intervals hold at all times with probability 1 − δ",
    "With the radius √(ln(4t³/(τδ)) / (2Tᵢ)) all arms' true parameters stay within their intervals at all times t, with "
    "probability at least 1 − δ.",
    measure,
)
