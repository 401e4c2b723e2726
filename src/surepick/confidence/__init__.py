"""Confidence sequences, one file each. A new one is one file and one line in ``CONFIDENCES``."""

from __future__ import annotations

from ..errors import SettingError
from ..problems.base import Problem
from .base import Confidence
from .clucb import CLUCBRadius
from .elimination import EliminationRadius
from .kl_lucb import KLLUCBInterval
from .lucb import LUCBRadius
from .paper import Paper

CONFIDENCES: dict[str, type[Confidence]] = {
    cls.name: cls for cls in (Paper, CLUCBRadius, LUCBRadius, KLLUCBInterval, EliminationRadius)
}


def make_confidence(confidence: str, problem: Problem, delta: float) -> Confidence:
    """The sequence of that name; ``"auto"`` is the tightest one that is valid for the arms as declared."""
    name = Paper.name if confidence == "auto" else confidence
    if not isinstance(name, str) or name not in CONFIDENCES:
        raise SettingError(f"confidence={confidence!r} is unknown; use 'auto', 'own' or one of {', '.join(CONFIDENCES)}.")
    return CONFIDENCES[name](problem, delta)


__all__ = ["CONFIDENCES", "Confidence", "Paper", "make_confidence"]
