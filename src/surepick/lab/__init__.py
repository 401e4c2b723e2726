"""Pictures of what an exploration has learnt."""

from __future__ import annotations

from .plots import intervals, samples, save

__all__ = ["intervals", "samples", "save"]
