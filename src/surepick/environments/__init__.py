"""Worlds to simulate, one file each."""

from __future__ import annotations

from .base import Environment, stream

__all__ = ["Environment", "stream"]
