"""Compiled kernels. numba is imported on first use, so ``import surepick`` stays fast."""

from __future__ import annotations

from types import ModuleType


def kernels() -> ModuleType:
    """The module of compiled kernels for decision classes."""
    from . import classes

    return classes


def interval_kernels() -> ModuleType:
    """The module of compiled confidence intervals."""
    from . import intervals

    return intervals


def loops() -> ModuleType:
    """The module of compiled exploration loops."""
    from . import loop

    return loop
