"""Compiled code. numba is imported on first use, so ``import surepick`` stays fast.

data.py has what compiled code sees, kernels/ one mathematics a file, loops/ one exploration loop a file.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def compiled(room: str) -> ModuleType:
    """The compiled kernels of one mathematics: the name of a file in kernels/."""
    return import_module(f".kernels.{room}", __name__)
