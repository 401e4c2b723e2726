"""Pictures of what an exploration has learnt, and of simulations."""

from __future__ import annotations

from .plots import (
    allocation,
    animate,
    closing,
    compare,
    errors,
    evaluations,
    gap,
    intervals,
    ranks,
    samples,
    samples_against,
    save,
    standings,
)
from .simulate import simulate
from .simulation import Simulation
from .trace import History, Trace
from .work import Standing

__all__ = [
    "History",
    "Simulation",
    "Standing",
    "Trace",
    "allocation",
    "animate",
    "closing",
    "compare",
    "errors",
    "evaluations",
    "gap",
    "intervals",
    "ranks",
    "samples",
    "samples_against",
    "save",
    "simulate",
    "standings",
]
