"""The instances that Theorem 1 is measured on: one of each kind, and families whose hardness spans two decades."""

from __future__ import annotations

import numpy as np

from ...environments import Bernoulli
from ...problems import ResourcePlan, SampleAllocation, SpanningTree, TopK
from ..simulation import Simulation
from .base import Lab, Worlds

K4 = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
DELTAS = (0.2, 0.1, 0.05, 0.02)
QUICK_DELTAS = (0.3, 0.2)  # few runs cannot tell less


def classes() -> Worlds:
    """Means and variances, sets and whole numbers."""
    return {
        "top 2 of 5": (TopK(5, 2), Bernoulli([0.9, 0.8, 0.5, 0.4, 0.2])),
        "spanning tree of K4": (SpanningTree(K4), Bernoulli([0.9, 0.8, 0.8, 0.4, 0.4, 0.3])),
        "7 interviews, 3 strata": (SampleAllocation([3, 2, 1], 7), Bernoulli([0.5, 0.2, 0.1])),
        "plan of 4 sites": (ResourcePlan(Square(0.1), [4] * 4, 8), Bernoulli([0.8, 0.6, 0.4, 0.2])),
    }


def classes_runs(lab: Lab) -> Simulation:
    """The runs that both the error and the bound are read from."""
    return lab.simulate("Theorem 1", classes(), "coci/paper", delta=QUICK_DELTAS if lab.quick else DELTAS, runs=lab.size(400, 40))


def families(lab: Lab) -> dict[str, Worlds]:
    """Of each kind the same instance with ever smaller gaps."""
    n = lab.size(7, 5)
    far = 40.0 if lab.quick else 110.0  # the largest hardness over the smallest
    shrink = far ** (-0.5 * np.linspace(0, 1, n))
    top, tree = np.array([1.3, 0.8, -0.2, -0.4, -0.8, -1.3]), np.array([1.4, 1.0, 0.6, -0.4, -0.8, -1.4])
    made: dict[str, list[tuple[object, Bernoulli]]] = {
        "top 2 of 6": [(TopK(6, 2), Bernoulli(0.5 + 0.36 * g * top)) for g in shrink],
        "spanning tree of K4": [(SpanningTree(K4), Bernoulli(0.5 + 0.3 * g * tree)) for g in shrink],
        "3 interviews, 2 strata": [(SampleAllocation([1, 1], 3), Bernoulli([0.5, 0.5 - (0.23 * g) ** 0.5])) for g in shrink],
        "plan of 3 sites": [
            (ResourcePlan(Square(0.25), [2] * 3, 2), Bernoulli([0.75 - 0.2 * g, 0.25 + 0.2 * g, 0.75 + 0.2 * g])) for g in shrink
        ],
    }
    return {name: {f"{name} {i}": pair for i, pair in enumerate(pairs)} for name, pairs in made.items()}  # type: ignore[misc]


class Square:
    """The cost factor * y^2; a class, since functions inside functions cannot be sent to other processes."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, y: int) -> float:
        return self.factor * y * y
