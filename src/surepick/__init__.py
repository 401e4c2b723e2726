"""surepick finds the best combination from noisy samples, with a guarantee and as few samples as possible."""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .arms import Arm as Arm

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
    "Problem": "problems",
    "Program": "problems",
    "Replay": "environments",
    "ResourcePlan": "problems",
    "SampleAllocation": "problems",
    "Separable": "problems",
    "Simulation": "lab",
    "SpanningTree": "problems",
    "Subsets": "problems",
    "SurepickError": "errors",
    "TopK": "problems",
    "VoterModel": "environments",
    "allocate": "problems",
    "explore": "run.explore",
    "hardness": "difficulty",
    "load": "study",
    "simulate": "lab",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'surepick' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
