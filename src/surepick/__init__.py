"""surepick finds the best combination from noisy samples, with a guarantee and as few samples as possible."""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what type checkers see; tests/test_types.py holds it, __all__ and the tables to the same names
    from . import confidence as confidence
    from . import environments as environments
    from . import errors as errors
    from . import lab as lab
    from . import policies as policies
    from . import problems as problems
    from . import study as study
    from . import survey as survey
    from . import testing as testing
    from .arms import Arm
    from .certificate import Certificate, Outcome
    from .difficulty.hardness import Hardness, hardness
    from .environments import Bernoulli, Beta, Environment, Gaussian, Replay, Scores, VoterModel
    from .errors import SurepickError
    from .estimators import Estimator
    from .explorer import Explorer
    from .lab.simulate import simulate
    from .lab.simulation import Simulation
    from .pool import Pool
    from .problems import (
        BestArm,
        BestOfEach,
        Matching,
        Path,
        Problem,
        Program,
        Ranking,
        ResourcePlan,
        SampleAllocation,
        Separable,
        SpanningTree,
        Subsets,
        TopK,
        allocate,
    )
    from .run.evaluate import evaluate
    from .run.explore import explore
    from .study import load, read_results
    from .study.durable import Study

__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(
    logging.NullHandler()
)  # who wants to read it adds a handler of his own; see docs/explorer.md

# Where each public name lives. Names are imported on first use, so that `surepick --help` does not wait for NumPy.
_HOME = {
    "Arm": "arms",
    "Bernoulli": "environments",
    "BestArm": "problems",
    "BestOfEach": "problems",
    "Beta": "environments",
    "Certificate": "certificate",
    "Estimator": "estimators",
    "Environment": "environments",
    "Explorer": "explorer",
    "Gaussian": "environments",
    "Hardness": "difficulty",
    "Matching": "problems",
    "Outcome": "certificate",
    "Path": "problems",
    "Pool": "pool",
    "Problem": "problems",
    "Program": "problems",
    "Ranking": "problems",
    "Replay": "environments",
    "ResourcePlan": "problems",
    "SampleAllocation": "problems",
    "Scores": "environments",
    "Separable": "problems",
    "Simulation": "lab",
    "SpanningTree": "problems",
    "Study": "study.durable",
    "Subsets": "problems",
    "SurepickError": "errors",
    "TopK": "problems",
    "VoterModel": "environments",
    "allocate": "problems",
    "evaluate": "run.evaluate",
    "explore": "run.explore",
    "hardness": "difficulty",
    "load": "study",
    "read_results": "study",
    "simulate": "lab",
}

# Rooms that are reached by their name: sp.policies.TSExplore, sp.lab.Trace.
_ROOMS = ("confidence", "environments", "errors", "lab", "policies", "problems", "study", "survey", "testing")

__all__ = [
    "Arm", "Bernoulli", "BestArm", "BestOfEach", "Beta", "Certificate", "Environment", "Estimator", "Explorer", "Gaussian",
    "Hardness", "Matching", "Outcome", "Path", "Pool", "Problem", "Program", "Ranking", "Replay", "ResourcePlan",
    "SampleAllocation", "Scores", "Separable", "Simulation", "SpanningTree", "Study", "Subsets", "SurepickError", "TopK",
    "VoterModel", "allocate", "evaluate", "explore", "hardness", "load", "read_results", "simulate",
]  # fmt: skip


def __dir__() -> list[str]:
    return [*__all__, *_ROOMS, "__version__"]


if not TYPE_CHECKING:  # to a type checker, a module with __getattr__ has every name

    def __getattr__(name):
        if name in _ROOMS:
            return import_module(f".{name}", __name__)
        if name in _HOME:
            value = getattr(import_module(f".{_HOME[name]}", __name__), name)
            globals()[name] = value
            return value
        raise AttributeError(f"module 'surepick' has no attribute {name!r}")
