"""Confidence sequences, one file each. A new one is one file and one line in ``CONFIDENCES``."""

from __future__ import annotations

from ..parameters import chosen
from ..problems.base import Problem
from .auto import Auto
from .base import Confidence
from .bernoulli_variance import BernoulliVariance
from .bernstein import Bernstein
from .beta import Beta
from .betting import Betting
from .clucb import CLUCBRadius
from .elimination import EliminationRadius
from .kl_lucb import KLLUCBInterval
from .kt_kl import KTKL
from .lucb import LUCBRadius
from .mixture import Mixture, weighable
from .normal import Normal
from .pairs import Pairs
from .paper import Paper
from .student import Student
from .u_statistic import UStatistic

OWN = "own"  # the sequence of the policy's own paper

CONFIDENCES: dict[str, type[Confidence]] = {
    cls.name: cls
    for cls in (
        Paper, Normal, Student, Beta, Betting, KTKL, Bernstein, Pairs, BernoulliVariance, UStatistic,
        CLUCBRadius, LUCBRadius, KLLUCBInterval, EliminationRadius,
    )
}  # fmt: skip


def asked_confidence(confidence: str | Confidence) -> str | Confidence:
    """``"auto"``, ``"own"``, or the sequence that is meant by an object or by a text such as ``"normal:tuned=500"``."""
    return chosen(confidence, "confidence", Confidence, {Auto.name: Auto, **CONFIDENCES}, (Auto.name, OWN))  # type: ignore[type-abstract]


def make_confidence(confidence: str | Confidence, problem: Problem, delta: float) -> Confidence:
    """The sequence for the problem; ``"auto"`` is the tightest one that is valid for the arms as declared."""
    asked = asked_confidence(confidence)
    if isinstance(asked, str):
        asked = Auto() if weighable(problem) else Paper()
    return asked.bound(problem, delta)


__all__ = [
    "CONFIDENCES",
    "KTKL",
    "Auto",
    "BernoulliVariance",
    "Bernstein",
    "Beta",
    "Betting",
    "CLUCBRadius",
    "Confidence",
    "EliminationRadius",
    "KLLUCBInterval",
    "LUCBRadius",
    "Mixture",
    "Normal",
    "Pairs",
    "Paper",
    "Student",
    "UStatistic",
    "asked_confidence",
    "make_confidence",
]
