"""Pictures of what an exploration has learnt."""

from __future__ import annotations

from .plots import gap, intervals, samples, save
from .trace import Trace

__all__ = ["Trace", "gap", "intervals", "samples", "save"]
