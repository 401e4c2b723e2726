"""Lemma 2: an arm whose radius is below half of Lambda_i is not sampled any more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...difficulty import hardness
from ...explorer import Explorer
from ...run.drive import drive
from ..plots.house import COLOURS, MARKERS, VERMILION, count, grid, legend, log_scale, open_sides, paper
from .base import HOLDS, OPEN, Claim, Lab, Result, Table, Verdict
from .theorem_1_worlds import classes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DELTA = 0.05


class Found(NamedTuple):
    """The samples of one arm over many runs, and the largest share of what the lemma allows."""

    name: str
    arm: str
    radius: float
    mean: float
    allowed: float  # the mean of what the lemma allows, which depends on the run's T
    largest: float  # share


def judge(found: list[Found]) -> Verdict:
    worst = max(found, key=lambda f: f.largest)
    if worst.largest > 1:
        return Verdict(OPEN, f"{worst.name}, {worst.arm}: {worst.largest:.2f} times what the lemma allows")
    return Verdict(HOLDS, f"with slack: no arm has more than {100 * worst.largest:.0f} % of the samples that the lemma allows")


def measure(lab: Lab) -> Result:
    runs = lab.size(60, 10)
    found: list[Found] = []
    worlds = classes()
    for done, (name, (problem, world)) in enumerate(worlds.items()):
        hard = hardness(problem, world.truth(problem.parameter))
        counts, allowed = [], []
        for run in range(runs):
            explorer = Explorer(problem, DELTA, policy="coci", confidence="paper")
            drive(explorer, world, seed=lab.seed, run=run)
            # The last time that arm i was sampled its radius was at least Lambda_i / 2, with one sample less.
            log = math.log(4 / (hard.minimum * DELTA)) + 3 * math.log(explorer.samples)
            counts.append(explorer.counts)
            allowed.append(1 + 2 / hard.radius**2 * log)
            lab.step((done + (run + 1) / runs) / len(worlds))
        T, most = np.array(counts), np.array(allowed)
        found += [
            Found(name, str(problem.names[i]), float(hard.radius[i]), float(T[:, i].mean()), float(most[:, i].mean()),
                  float((T[:, i] / most[:, i]).max()))
            for i in range(problem.m)
        ]  # fmt: skip
    return Result(
        verdict=judge(found),
        ran=f"{runs} runs of COCI at δ = {DELTA:g} on each of the four classes of Theorem 1. The samples of every arm "
        "against what follows from the lemma, Tᵢ ≤ 1 + (2/Λᵢ²) ln(4T³/(τδ)), with the T of the run.",
        tables=[
            Table(
                [
                    ("class", ""),
                    ("arm", ""),
                    ("Λᵢ", ".4f"),
                    ("mean samples", ",.0f"),
                    ("allowed, mean", ",.0f"),
                    ("largest share", ".2f"),
                ],
                found,
            )
        ],
        figure=_figure(found),
        alt="Mean samples of every arm against its radius, beside what the lemma allows.",
    )


def _figure(found: list[Found]) -> Figure:
    figure = paper(3.4, "")
    axes = figure.add_subplot()
    for i, name in enumerate(dict.fromkeys(f.name for f in found)):
        mine = [f for f in found if f.name == name]
        x = np.array([f.radius for f in mine])
        axes.plot(x, [f.mean for f in mine], MARKERS[i], color=COLOURS[i], markersize=6, zorder=3, label=name)
        order = np.argsort(x)
        axes.plot(x[order], np.array([f.allowed for f in mine])[order], color=VERMILION, linewidth=1.1, zorder=2,
                  label="allowed by the lemma" if i == 0 else None)  # fmt: skip
    log_scale(axes, "x", np.array([f.radius for f in found]), lambda x: f"{x:g}")
    log_scale(axes, "y", np.array([v for f in found for v in (f.mean, f.allowed)]), count)
    axes.set_xlabel("Λᵢ of the arm")
    axes.set_ylabel("samples of the arm")
    open_sides(axes)
    grid(axes)
    legend(figure, *axes.get_legend_handles_labels())
    return figure


CLAIM = Claim(
    "arms",
    "Lemma 2",
    "An arm is left alone once its radius is below Λᵢ/2",
    "As long as all confidence intervals hold, an arm whose confidence radius is below Λᵢ/2 is not sampled. This is what "
    "ties the samples of each arm, and with them Theorem 1, to Λᵢ.",
    measure,
)
