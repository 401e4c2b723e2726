"""Proposition 1 and Lemma 1: what the consistent optimality radius means, and when it is positive."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...difficulty import hardness
from ...problems import Subsets
from ..plots.house import BLUE, GREY, VERMILION, grid, legend, open_sides, paper
from .base import HOLDS, OPEN, Claim, Lab, Result, Table, Verdict
from .listed import KINDS, Listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINEAR = ("top-k", "spanning tree", "matching", "path", "any list")


class Found(NamedTuple):
    """One kind of class: points within the radius that changed the arm, points just outside found to change it."""

    kind: str
    instances: int
    points: int
    inside: int  # must be 0
    arms: int
    outside: int  # arms for which a point just outside the radius changes the decision
    positive: int  # instances with a unique optimum whose radii are all positive


def judge(found: list[Found]) -> Verdict:
    if broken := [f.kind for f in found if f.inside]:
        return Verdict(OPEN, f"{broken[0]}: a point closer than Λᵢ changes yᵢ")
    if broken := [f.kind for f in found if f.positive < f.instances]:
        return Verdict(OPEN, f"{broken[0]}: a radius is 0 although the optimum is unique")
    if broken := [f.kind for f in found if f.outside < f.arms]:
        return Verdict(OPEN, f"{broken[0]}: no point just beyond Λᵢ changes yᵢ, so that Λᵢ is too small")
    points = sum(f.points for f in found)
    tight = sum(f.outside for f in found) / sum(f.arms for f in found)
    return Verdict(HOLDS, f"in {points:,} points, and Λᵢ is tight for {100 * tight:.0f} % of the arms")


def measure(lab: Lab) -> Result:
    rng = lab.rng("radius")
    instances, points = lab.size(60, 10), lab.size(200, 40)
    found, example = [], None
    for i, kind in enumerate(LINEAR):
        inside = arms = outside = positive = tested = 0
        for j in range(instances):
            listed = KINDS[kind](rng)
            theta = rng.random(listed.m)
            radius = radii(listed, theta)
            positive += bool((radius > 0).all())
            best = listed.best(theta)
            for arm in np.flatnonzero(np.isfinite(radius)):
                near = theta + radius[arm] * (1 - 1e-9) * rng.uniform(-1, 1, (points, listed.m))
                inside += int((listed.Y[listed.best_rows(np.clip(near, 0, 1))][:, arm] != listed.Y[best, arm]).sum())
                tested += points
                arms += 1
                outside += changes(listed, theta, int(arm), float(radius[arm]) * (1 + 1e-6) + 1e-12)
            if kind == "spanning tree" and example is None:
                example = listed, theta, radius
            lab.step((i + (j + 1) / instances) / len(LINEAR))
        found.append(Found(kind, instances, tested, inside, arms, outside, positive))
    assert example is not None
    return Result(
        verdict=judge(found),
        ran=f"{instances} random classes of each of {len(LINEAR)} kinds with random parameters. For every arm {points} "
        "random points closer to the truth than Λᵢ, and the corners of the box just wider than Λᵢ.",
        tables=[
            Table(
                [
                    ("class", ""),
                    ("instances", ",d"),
                    ("points within Λᵢ", ",d"),
                    ("that change yᵢ", ",d"),
                    ("arms", ",d"),
                    ("changed just outside", ",d"),
                    ("instances with all Λᵢ > 0", ",d"),
                ],
                found,
            )
        ],
        figure=_figure(*example, rng, points),
        alt="For each edge of a spanning tree, random points by their distance from the truth and whether they change the "
        "arm, and Λᵢ.",
        text="Lemma 1 needs the optimum to be unique. At a tie some radius is 0, H_Λ is infinite, and COCI never stops.",
    )


def radii(listed: Listed, theta: np.ndarray) -> np.ndarray:
    return np.asarray(hardness(Subsets(listed.m, listed.Y), theta).radius)


def changes(listed: Listed, theta: np.ndarray, arm: int, reach: float) -> bool:
    """Some corner of the box theta +- reach changes the arm: a decision is possible iff it is best at its own best corner."""
    low, high = np.clip(theta - reach, 0, 1), np.clip(theta + reach, 0, 1)
    corners = np.where(listed.Y > 0, high, low)
    rows = listed.best_rows(corners)
    possible = rows == np.arange(len(listed.Y))
    return bool((listed.Y[possible, arm] != listed.Y[listed.best(theta), arm]).any())


def _figure(listed: Listed, theta: np.ndarray, radius: np.ndarray, rng: np.random.Generator, points: int) -> Figure:
    figure = paper(3.0, "")
    axes = figure.add_subplot()
    best = listed.best(theta)
    first = int(np.flatnonzero(np.isfinite(radius))[0])
    for arm in np.flatnonzero(np.isfinite(radius)).tolist():
        reach = rng.uniform(0, 0.5, 4 * points)
        moved = np.clip(theta + reach[:, None] * rng.choice([-1.0, 1.0], (len(reach), listed.m)), 0, 1)
        off = listed.Y[listed.best_rows(moved)][:, arm] != listed.Y[best, arm]
        y = arm + rng.uniform(-0.2, 0.2, len(reach))
        axes.plot(
            reach[~off], y[~off], ".", color=GREY, markersize=3, alpha=0.5, zorder=2, label="same yᵢ" if arm == first else ""
        )
        axes.plot(reach[off], y[off], "x", color=VERMILION, markersize=4, zorder=3, label="another yᵢ" if arm == first else "")
        axes.vlines(radius[arm], arm - 0.35, arm + 0.35, color=BLUE, linewidth=2.4, zorder=4, label="Λᵢ" if arm == first else "")
    axes.set_yticks(range(listed.m), [f"edge {i + 1}" for i in range(listed.m)], fontsize=9)
    axes.set_xlim(0, 0.5)
    axes.set_xlabel("distance from the truth, the same for every arm")
    open_sides(axes)
    grid(axes, "x")
    legend(figure, *axes.get_legend_handles_labels())
    return figure


CLAIM = Claim(
    "radius",
    "Proposition 1, Lemma 1",
    "Within Λᵢ the optimal yᵢ stays, and Λᵢ is positive",
    "If every parameter is closer to its true value than Λᵢ, the optimal decision has the same entry yᵢ. If the optimum is "
    "unique and the reward continuous, every Λᵢ is positive.",
    measure,
)
