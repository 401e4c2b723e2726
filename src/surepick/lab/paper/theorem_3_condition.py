"""Theorem 3 with its lemmas: where the decision is bi-monotone, two calls of the oracle find out whether an arm is undecided."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...arms import Floats
from ...problems import ResourcePlan
from ..plots.house import BLUE, GREY, VERMILION, grid, legend, open_sides, paper
from .base import HOLDS, OPEN, WRONG, Claim, Lab, Result, Table, Verdict
from .listed import KINDS, Listed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMED = {  # what the paper says is bi-monotone, and where
    "top-k": "Section 3.1",
    "best of each group": "(a matroid)",
    "spanning tree": "(a matroid)",
    "sample allocation": "Lemma 9",
    "plan, increasing marginal cost, not tight": "(beyond Lemma 3)",
    "plan, increasing marginal cost, tight": "Lemma 3",
    "plan, decreasing marginal cost, tight": "Lemma 3",
    "matching": "",
    "path": "",
    "knapsack": "",
}
FALSE = "plan, decreasing marginal cost, tight"
EXAMPLE = ([2, 3, 4], 5, 1.3, (0.30, 0.95), (0.75, 0.70))  # caps, requirement, cost factor, theta_1 before and after, the others


class Found(NamedTuple):
    """One class: moves of one parameter that break bi-monotonicity, and undecided arms that two calls miss."""

    kind: str
    where: str
    moves: int
    broken: int
    boxes: int
    undecided: int
    missed: int


def judge(found: list[Found]) -> Verdict:
    """Right where nothing is broken in a class that the paper names, and nothing missed in any class that is not broken."""
    named = [f for f in found if f.where]
    bad = [f.kind for f in named if f.broken]
    if wild := [f.kind for f in found if f.missed and not f.broken]:
        return Verdict(OPEN, f"{wild[0]}: two calls miss arms although no move breaks bi-monotonicity")
    if other := [kind for kind in bad if kind != FALSE]:
        return Verdict(OPEN, f"{', '.join(other)}: bi-monotonicity is broken")
    if bad:
        return Verdict(
            WRONG,
            "Lemma 3 fails for decreasing marginal costs; corrected: it holds for increasing ones, tight or not. Theorem "
            "3, Lemma 9 and the other classes that the paper names hold",
        )
    return Verdict(HOLDS, f"in {sum(f.moves for f in named):,} moves")


def measure(lab: Lab) -> Result:
    rng = lab.rng("bi-monotone")
    instances, moves = lab.size(400, 60), lab.size(50, 20)
    found, examples = [], {}
    for i, (kind, where) in enumerate(CLAIMED.items()):
        broken = undecided = missed = 0
        for j in range(instances):
            listed = KINDS[kind](rng)
            before, after = moved(rng, moves, listed.m)
            wrong = breaks(listed, before, after)
            broken += int(wrong.sum())
            if wrong.any() and kind not in examples:
                k = int(np.flatnonzero(wrong)[0])
                examples[kind] = _told(listed, before[k], after[k])
            low, high = box(rng, listed.m)
            true, two = varies(listed, low, high, rng), by_two_calls(listed, low, high)
            undecided += int(true.sum())
            missed += int((true & ~two).sum())
            lab.step((i + (j + 1) / instances) / len(CLAIMED))
        found.append(Found(kind, where, instances * moves, broken, instances, undecided, missed))
    caps, require, factor, (low_1, high_1), rest = EXAMPLE
    plan = ResourcePlan(lambda y: y + factor * y**0.5, caps, require)
    before_y, after_y = (plan.solve([first, *rest]).tolist() for first in (low_1, high_1))
    return Result(
        verdict=judge(found),
        ran=f"{instances} random classes of each kind, small enough to list every decision. {moves} times one parameter is "
        "raised; bi-monotone means that its own yᵢ does not fall and no other yⱼ rises. Then a random box in each class: "
        "which arms' yᵢ changes within it (looked up in its corners and many points), and which of these the two calls of "
        "Theorem 3 find.",
        tables=[
            Table(
                [
                    ("class", ""),
                    ("named in", ""),
                    ("moves", ",d"),
                    ("broken", ",d"),
                    ("boxes", ",d"),
                    ("undecided arms", ",d"),
                    ("missed by two calls", ",d"),
                ],
                found,
            ),
            Table(
                [("class", ""), ("the first move that breaks it", "")],
                [
                    (
                        "plan, decreasing marginal cost, by hand",
                        f"caps {caps}, {require} units, cost y + {factor:g}√y: θ = ({low_1:g}, {rest[0]:g}, {rest[1]:g}) has the "
                        "optimum "
                        f"{tuple(before_y)}; with θ₁ = {high_1:g} it is {tuple(after_y)}",
                    ),
                    *examples.items(),
                ],
                "Counterexamples",
            ),
        ],
        figure=_figure(plan, rest),
        alt="The optimal plan against θ₁ for decreasing marginal cost: y₂ rises with θ₁ at one point, which "
        "bi-monotonicity forbids.",
        text="Erratum 2: the proof of Lemma 3 sets a gradient to zero, which for decreasing marginal cost finds a minimum. "
        "In the example the marginal cost is always above 1, so that the requirement is tight at every optimum, as the "
        "lemma asks.\n\nThe paper says that sets of size k are bi-monotone and leaves other classes open. Every matroid "
        "is; matchings, paths and knapsacks are not, and there the two calls miss arms. surepick never uses them there.",
    )


def moved(rng: np.random.Generator, n: int, m: int) -> tuple[Floats, Floats]:
    """Parameters, and the same with one of them raised; which one, the difference tells."""
    before = rng.random((n, m))
    after = before.copy()
    rows, arms = np.arange(n), rng.integers(0, m, n)
    after[rows, arms] += (1 - before[rows, arms]) * rng.random(n)
    return before, after


def breaks(listed: Listed, before: Floats, after: Floats) -> np.ndarray:
    """Moves after which the raised arm's entry is smaller, or another one is larger."""
    change = listed.Y[listed.best_rows(after)] - listed.Y[listed.best_rows(before)]
    raised = after > before
    return np.asarray(((change < 0) & raised).any(axis=1) | ((change > 0) & ~raised).any(axis=1))


def box(rng: np.random.Generator, m: int) -> tuple[Floats, Floats]:
    ends = np.sort(rng.random((2, m)) * rng.uniform(0.2, 1.0), axis=0)
    return ends[0], ends[1]


def by_two_calls(listed: Listed, low: Floats, high: Floats) -> np.ndarray:
    """Theorem 3 to the letter."""
    up = np.where(np.eye(listed.m, dtype=bool), high, low)
    down = np.where(np.eye(listed.m, dtype=bool), low, high)
    arms = np.arange(listed.m)
    return np.asarray(listed.Y[listed.best_rows(up), arms] != listed.Y[listed.best_rows(down), arms])


def varies(listed: Listed, low: Floats, high: Floats, rng: np.random.Generator) -> np.ndarray:
    """Arms whose entry of phi differs between corners of the box or random points of it."""
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * listed.m)).reshape(listed.m, -1).T
    points = low + np.concatenate([corners, rng.random((200, listed.m))]) * (high - low)
    Y = listed.Y[listed.best_rows(points)]
    return np.asarray((Y != Y[0]).any(axis=0))


def _told(listed: Listed, before: Floats, after: Floats) -> str:
    arm = int(np.flatnonzero(after > before)[0])
    y, z = (tuple(listed.Y[listed.best(theta)].tolist()) for theta in (before, after))
    parameters = ", ".join(f"{x:.3f}" for x in before)
    return f"{listed.what}: θ = ({parameters}) has {y}; with θ{_sub(arm + 1)} = {after[arm]:.3f} it is {z}"


def _sub(i: int) -> str:
    return str(i).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _figure(plan: ResourcePlan, rest: tuple[float, ...]) -> Figure:
    figure = paper(2.8, "")
    axes = figure.add_subplot()
    first = np.linspace(0, 1, 401)
    Y = np.array([plan.solve([x, *rest]) for x in first])
    looks = ((GREY, "-", "y₁"), (VERMILION, "-", "y₂ (rises with θ₁)"), (BLUE, "--", "y₃"))
    for i, (colour, style, label) in enumerate(looks):
        axes.step(first, Y[:, i] + 0.04 * (i - 1), style, color=colour, linewidth=2.2, label=label, where="post", zorder=3)
    axes.set_yticks(range(5))
    axes.set_xlabel("θ₁")
    axes.set_ylabel("units in the optimal plan")
    open_sides(axes)
    grid(axes)
    legend(figure, *axes.get_legend_handles_labels())
    return figure


CLAIM = Claim(
    "bi-monotone",
    "Theorem 3, Lemmas 3 and 9",
    "Two calls of the oracle tell whether an arm is undecided",
    "If raising a parameter never lowers its own yᵢ and never raises another one (bi-monotonicity; or all the other way "
    "round), arm i is undecided exactly if φᵢ(others low, own high) ≠ φᵢ(others high, own low). The paper says that this "
    "is so for sets of k arms, for sample allocation (Lemma 9), and for plans whose marginal costs all rise or all fall "
    "and whose requirement is tight (Lemma 3).",
    measure,
)
