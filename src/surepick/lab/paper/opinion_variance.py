"""Section 4.2: the variance of a poll at one moment, when people copy each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...arms import Floats
from ...environments import VoterModel
from ...problems import SampleAllocation
from ..plots.house import BLUE, COLOURS, TEXT, VERMILION, grid, legend, open_sides, paper
from .base import HOLDS, OPEN, WRONG, Claim, Lab, Result, Table, Verdict
from .opinion import town

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS = 80  # after so many the start is forgotten: (1 - stubbornness)^80 is below 10^-7
BUDGETS = (9, 30, 100, 300)
POLLS = 40  # of each budget in every town


class Found(NamedTuple):
    """A poll of so many interviews, optimally split: its variance by the formula, and measured, with a 95 % interval."""

    budget: int
    split: str
    formula: float
    measured: float
    low: float
    high: float
    corrected: float
    same: bool  # the corrected variances have the same optimal split


def judge(found: list[Found]) -> Verdict:
    """The formula must lie within the interval of every poll; if not, the corrected one must explain what was measured."""
    if all(f.low <= f.formula <= f.high for f in found):
        return Verdict(HOLDS, "the formula is within the interval of every poll")
    if all(f.low <= f.corrected <= f.high for f in found):
        worst = max(found, key=lambda f: f.measured / f.formula)
        return Verdict(
            WRONG,
            f"at {worst.budget} interviews the variance is {worst.measured / worst.formula:.2f} times the formula's; "
            "corrected: add what all opinions vary together",
        )
    return Verdict(OPEN, "neither the formula nor its correction explains what was measured")


def measure(lab: Lab) -> Result:
    world = town()
    chains = lab.size(3000, 500)
    rng = lab.rng("opinion variance")
    shares = np.concatenate([group_means(world, 250, rng, lab, done / chains) for done in range(0, chains, 250)])
    found = [poll(world, shares, budget, rng) for budget in BUDGETS]
    within = (shares * (1 - shares)).mean(axis=0)
    lab.step(1.0)
    return Result(
        verdict=judge(found),
        ran=f"{chains:,} independent towns of the voter model above, run for {STEPS} steps each. At the last moment {POLLS} "
        "polls of every size are drawn in each town, with replacement. The variance is measured about the exact mean of "
        "the model, with 95 % intervals that count towns, since polls in one town vary together.",
        tables=[
            Table(
                [
                    ("interviews", ",d"),
                    ("split", ""),
                    ("variance by the formula", ".6f"),
                    ("measured", ".6f"),
                    ("from", ".6f"),
                    ("to", ".6f"),
                    ("corrected formula", ".6f"),
                    ("same best split", ""),
                ],
                found,
            ),
            Table(
                [
                    ("group", ""),
                    ("variance of an answer", ".4f"),
                    ("measured", ".4f"),
                    ("within the group at one moment", ".4f"),
                    ("of the group's share over time", ".5f"),
                ],
                [
                    (
                        world.names[i],
                        float(world.variances[i]),
                        float(shares[:, i].mean() * (1 - shares[:, i].mean())),
                        float(within[i]),
                        float(shares[:, i].var()),
                    )
                    for i in range(world.m)
                ],
            ),
        ],
        figure=_figure(found),
        alt="The variance of a poll against the number of interviews: by the formula, measured, and corrected.",
        text="A remark rather than an erratum of the theory: the paper calls the answers of one moment independent. They "
        "are not, because neighbours copy each other: answers of one moment vary together with the town. By the law of "
        "total variance Var f̂ = Σ (nᵢ/n)² Eᵢ/yᵢ + Var f̄, where Eᵢ is the mean variance within group i at one moment and "
        "f̄ the mean opinion of the town, which the formula leaves out. Var f̄ does not depend on the split, and Eᵢ is "
        "nearly Var Xᵢ in large groups, so that the best split, and with it the algorithm, hardly changes. As an error of "
        "the estimate of f̄ at that moment, Σ (nᵢ/n)² Eᵢ/yᵢ alone is right.",
    )


def group_means(world: VoterModel, chains: int, rng: np.random.Generator, lab: Lab, begin: float) -> Floats:
    """The share of yes in every group at one moment of the steady state, of so many independent towns."""
    n = len(world.group)
    ends = np.concatenate([world.edges, world.edges[:, ::-1]])
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    degree = np.bincount(ends[:, 0], minlength=n)
    first = np.concatenate(([0], np.cumsum(degree)[:-1]))
    # People without neighbours keep their own opinion.
    stubborn = np.where(degree > 0, world.stubbornness, 1.0)[:, None]
    opinion: np.ndarray[Any, Any] = np.repeat(world.innate[:, None], chains, axis=1)
    for step in range(STEPS):
        who = first[:, None] + (rng.random((n, chains)) * degree[:, None]).astype(np.int64)
        copied = np.take_along_axis(opinion, ends[np.minimum(who, len(ends) - 1), 1], axis=0)
        opinion = np.where(rng.random((n, chains)) < stubborn, world.innate[:, None], copied)
        if step % 10 == 0:
            lab.step(min(begin + (1 - begin) * 0.05 * step / STEPS, 1.0))
    return np.array([opinion[world.group == g].mean(axis=0) for g in range(world.m)]).T


def poll(world: VoterModel, shares: Floats, budget: int, rng: np.random.Generator) -> Found:
    problem = SampleAllocation(world.sizes, budget)
    y = problem.solve(world.variances)
    weight = world.sizes / world.sizes.sum()
    centre = shares @ weight  # what a poll estimates in each town
    polls = rng.binomial(y, shares[:, None, :], (len(shares), POLLS, world.m)) / y @ weight
    squares = ((polls - world.means @ weight) ** 2).mean(axis=1)  # polls in one town vary together
    measured, error = float(squares.mean()), float(squares.std(ddof=1) / np.sqrt(len(squares)))
    within = (shares * (1 - shares)).mean(axis=0)
    corrected = float((weight**2 * within / y).sum() + centre.var(ddof=1))
    formula = float((weight**2 * world.variances / y).sum())
    same = bool((problem.solve(within) == y).all())
    reach = 2.5 * error  # 95 % for all budgets together
    return Found(budget, str(tuple(y.tolist())), formula, measured, measured - reach, measured + reach, corrected, same)


def _figure(found: list[Found]) -> Figure:
    figure = paper(3.2, "")
    axes = figure.add_subplot()
    k = [f.budget for f in found]
    axes.plot(
        k, [f.formula for f in found], "--", color=VERMILION, marker="s", linewidth=1.6, label="the paper's formula", zorder=3
    )
    axes.errorbar(k, [f.measured for f in found], yerr=[f.high - f.measured for f in found], fmt="o", color=BLUE, capsize=3,
                  label="measured", zorder=4)  # fmt: skip
    axes.plot(k, [f.corrected for f in found], color=COLOURS[1], linewidth=1.4, label="corrected formula", zorder=2)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(k, [str(x) for x in k])
    axes.xaxis.set_minor_formatter(lambda *_: "")
    axes.set_xlabel("interviews", color=TEXT)
    axes.set_ylabel("variance of the poll")
    open_sides(axes)
    grid(axes)
    legend(figure, *axes.get_legend_handles_labels())
    return figure


CLAIM = Claim(
    "poll-variance",
    "Section 4.2",
    "The variance of a poll is Σ nᵢ² Var[Xᵢ] / (n² yᵢ)",
    "Interviews with random members of the groups at one moment t are independent, so the variance of the stratified "
    "estimate of the mean opinion at that moment is Σ nᵢ² Var[Xᵢ] / (n² yᵢ), Xᵢ being the answer of a random member of "
    "group i in the steady state.",
    measure,
)
