"""How hard an instance is, when the truth is known: radii, gaps and the bounds that follow from them."""

from __future__ import annotations

from .hardness import Hardness, hardness

__all__ = ["Hardness", "hardness"]
