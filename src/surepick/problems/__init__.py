"""Decision classes, one file each. A new class is one file and one line here; outside of the package, ``register``."""

from __future__ import annotations

from .allocate import allocate
from .base import LinearProblem, Problem
from .best_arm import BestArm
from .best_of_each import BestOfEach
from .matching import Matching
from .path import Path
from .program import Program
from .ranking import Ranking
from .registry import PROBLEMS, register
from .resource_plan import ResourcePlan
from .sample_allocation import SampleAllocation
from .separable import Separable
from .spanning_tree import SpanningTree
from .subsets import Subsets
from .top_k import TopK

for _cls in (
    BestArm,
    TopK,
    BestOfEach,
    Ranking,
    SpanningTree,
    Matching,
    Path,
    Subsets,
    Program,
    SampleAllocation,
    ResourcePlan,
    Separable,
):
    register(_cls)

__all__ = [
    "PROBLEMS",
    "BestArm",
    "BestOfEach",
    "LinearProblem",
    "Matching",
    "Path",
    "Problem",
    "Program",
    "Ranking",
    "ResourcePlan",
    "SampleAllocation",
    "Separable",
    "SpanningTree",
    "Subsets",
    "TopK",
    "allocate",
    "register",
]
