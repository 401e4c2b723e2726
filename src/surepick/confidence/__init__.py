"""Confidence sequences, one file each. A new one is one file and one line in ``CONFIDENCES``."""

from __future__ import annotations

from ..checks import among, short
from ..errors import SettingError
from ..problems.base import Problem
from .auto import Auto
from .base import Confidence
from .bernoulli_variance import BernoulliVariance
from .bernstein import EmpiricalBernstein
from .beta import BetaMixture
from .clucb import CLUCBRadius
from .elimination import EliminationRadius
from .kl_lucb import KLLUCBInterval
from .kt_kl import KTMixture
from .lucb import LUCBRadius
from .mixture import Mixture, weighable
from .normal import NormalMixture
from .pairs import Pairs
from .paper import Paper
from .u_statistic import UStatistic

CONFIDENCES: dict[str, type[Confidence]] = {
    cls.name: cls
    for cls in (
        Paper, NormalMixture, BetaMixture, KTMixture, EmpiricalBernstein, Pairs, BernoulliVariance, UStatistic,
        CLUCBRadius, LUCBRadius, KLLUCBInterval, EliminationRadius,
    )
}  # fmt: skip


def make_confidence(confidence: str, problem: Problem, delta: float) -> Confidence:
    """The sequence of that name; ``"auto"`` is the tightest one that is valid for the arms as declared."""
    auto = among(confidence, (Auto.name,))
    if auto and weighable(problem):
        return Auto(problem, delta)
    name = Paper.name if auto else confidence
    if not among(name, CONFIDENCES):
        raise SettingError(f"confidence={short(confidence)} is unknown; use 'auto', 'own' or one of {', '.join(CONFIDENCES)}.")
    return CONFIDENCES[name](problem, delta)


__all__ = ["CONFIDENCES", "Auto", "Confidence", "Mixture", "Paper", "make_confidence"]
