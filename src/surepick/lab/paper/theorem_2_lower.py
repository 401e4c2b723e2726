"""Theorem 2: no algorithm does with fewer samples than the hardness says, on some instances."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...difficulty import hardness
from ...environments import Bernoulli
from ...problems import Subsets
from ..plots.house import COLOURS, MARKERS, TEXT, VERMILION, count, grid, legend, log_scale, open_sides, paper
from .base import HOLDS, OPEN, Claim, Lab, Result, Table, Verdict, samples_by
from .statistics import Mean, mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DELTA = 0.05
GAP = 0.5
POLICIES = ("auto", "coci/paper", "clucb/own")


class Found(NamedTuple):
    """One instance: its hardness and bounds, and what the policies took."""

    m: int
    decisions: int
    H: float
    limit: float  # 4 m / gap^2
    wrong_sum: float  # sum of 1/Lambda, as the proof has it
    bound: float  # T* kl(delta, 1 - delta), for every algorithm
    term: float  # H ln(1/delta) / m, the second term of the theorem
    samples: dict[str, Mean]


def judge(found: list[Found]) -> Verdict:
    if broken := [f.m for f in found if f.H > f.limit * (1 + 1e-9)]:
        return Verdict(OPEN, f"H is above 4m/Δ² for m = {broken[0]}")
    for f in found:
        for policy, samples in f.samples.items():
            if samples.value + 4 * samples.error < f.bound:
                return Verdict(OPEN, f"{policy} takes fewer samples than the bound for every algorithm at m = {f.m}")
    constants = [f.bound / f.term for f in found]
    if min(constants) < 0.5 * max(constants):
        return Verdict(OPEN, f"the constant of the term H ln(1/δ)/m falls from {max(constants):.2g} to {min(constants):.2g}")
    return Verdict(HOLDS, f"for the term H ln(1/δ)/m, with constant {min(constants):.2f}; the term H is not measured")


def measure(lab: Lab) -> Result:
    rng = lab.rng("lower")
    sizes = (8, 12, 16, 24) if not lab.quick else (8, 12)
    runs = lab.size(8, 3)
    worlds = {}
    for m in sizes:
        sets = code(m, rng)
        mean_of = 0.5 + GAP * (sets[0] - 0.5)
        worlds[f"m = {m}"] = Subsets(m, sets), Bernoulli(mean_of)
    table = lab.simulate("Theorem 2", worlds, POLICIES, delta=DELTA, runs=runs, end=0.9).table
    found = []
    for (name, (problem, world)), m in zip(worlds.items(), sizes, strict=True):
        h = hardness(problem, world.means)
        bound = h.lower_bound(DELTA)
        assert bound is not None
        samples = {policy: mean(samples_by(table, problem=name, policy=policy)) for policy in POLICIES}
        found.append(
            Found(
                m,
                len(problem.decisions),
                h.H,
                4 * m / GAP**2,
                float((1 / h.radius).sum()),
                bound,
                h.H / m * math.log(1 / DELTA),
                samples,
            )
        )
    least = min(s.value / f.H for f in found for s in f.samples.values())
    return Result(
        verdict=judge(found),
        ran="The proof's construction: many subsets of equal size of which any two share at most half, the arms of one of "
        f"them better by Δ = {GAP:g}. The arms are coins around 1/2 rather than at 0, where they would have no noise. T* "
        "kl(δ, 1 − δ) is the exact bound for every algorithm on the instance (Garivier and Kaufmann 2016), worked out at δ "
        f"= {DELTA:g}; {runs} runs of three policies.",
        tables=[
            Table(
                [
                    ("m", ",d"),
                    ("decisions", ",d"),
                    ("H_Λ", ",.0f"),
                    ("4m/Δ²", ",.0f"),
                    ("Σ 1/Λᵢ", ",.0f"),
                    ("every algorithm", ",.0f"),
                    ("H ln(1/δ)/m", ",.0f"),
                    *((policy, ",.0f") for policy in POLICIES),
                ],
                [(*f[:5], f.bound, f.term, *(f.samples[p].value for p in POLICIES)) for f in found],
            )
        ],
        figure=_figure(found),
        alt="Samples of three policies against the number of arms, beside the bound for every algorithm and H.",
        text="The bound that can be worked out proves the term with ln(1/δ). The term Ω(H) comes from counting "
        "exponentially many decisions, and holds for algorithms that nobody has written, so it is not measured; the "
        f"policies here take at least {least:.1f} times H.\n\nErratum 3: the proof writes H_Λ as Σ 1/Λᵢ. The sum of squares "
        "is what satisfies H_Λ ≤ 4m/Δ²; the column Σ 1/Λᵢ shows that the sum as printed is another number.",
    )


def code(m: int, rng: np.random.Generator) -> np.ndarray:
    """Subsets of m/2 arms of which any two share at most m/4, as many as a random search finds; together they touch every arm."""
    half = np.arange(m) < m // 2
    sets = [half.astype(np.int64), (~half).astype(np.int64)]
    for _ in range(300):
        new = rng.permutation(sets[0])
        if len(sets) < m and all((new & old).sum() <= m // 4 for old in sets):
            sets.append(new)
    return np.array(sets)


def _figure(found: list[Found]) -> Figure:
    figure = paper(3.4, "")
    axes = figure.add_subplot()
    m = [f.m for f in found]
    for i, policy in enumerate(POLICIES):
        label = {"auto": "default of this package", "coci/paper": "COCI", "clucb/own": "CLUCB"}[policy]
        axes.plot(m, [f.samples[policy].value for f in found], color=COLOURS[i], marker=MARKERS[i], label=label, zorder=3)
    axes.plot(m, [f.bound for f in found], color=VERMILION, linewidth=2, label="every algorithm: T* kl(δ, 1 − δ)", zorder=3)
    axes.plot(m, [f.H for f in found], color=TEXT, linestyle="dotted", label="H", zorder=2)
    values = [v for f in found for v in (f.bound, f.H, *(s.value for s in f.samples.values()))]
    log_scale(axes, "y", np.array(values), count)
    axes.set_xticks(m)
    axes.set_xlabel("arms m")
    axes.set_ylabel("samples")
    open_sides(axes)
    grid(axes)
    legend(figure, *axes.get_legend_handles_labels())
    return figure


CLAIM = Claim(
    "lower-bound",
    "Theorem 2",
    "Some instances cost every algorithm Ω(H + (H/m) ln(1/δ))",
    "For any number of arms there is an instance with a linear reward on which every algorithm that is wrong with "
    "probability at most δ takes at least of the order of H_Λ + (H_Λ/m) ln(1/δ) samples on average: the hardness H_Λ is "
    "not an artefact of COCI.",
    measure,
)
