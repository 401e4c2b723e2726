"""Compiled kernels. numba is imported on first use, so ``import surepick`` stays fast."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def kernels(room: str) -> ModuleType:
    """The compiled kernels of one room: the name of a file in this folder."""
    return import_module(f".{room}", __name__)
