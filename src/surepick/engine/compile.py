"""How kernels are compiled: the decorators of all compiled code."""

from __future__ import annotations

from typing import Any

from numba import njit

from .numba_cache import Shelves
from .numba_dispatcher import Kernel
from .numba_nrt import FULL, LEAN

# Rooms whose kernels Python may run as they stand: what asking, telling and certificates need, which for few arms is little work.
PATIENT = {
    f"{__package__}.kernels.{room}"
    for room in (
        "allocation_gap", "bets", "brent", "divergence", "exchanges", "finite", "gains", "glr", "intervals", "leads", "least",
        "linear", "linear_proof", "mixtures", "order", "partitions", "stakes", "trees", "witnesses",
    )
}  # fmt: skip


def _make(function: Any, *, small: bool = False, **options: Any) -> Any:
    # nobody calls it from C, and no kernel waits for a division by 0 to raise
    made = njit(no_cfunc_wrapper=True, error_model="numpy", **options)(function)
    if made is not function:  # as it is with NUMBA_DISABLE_JIT
        made.__class__ = Kernel
        made.patient, made.small, made._cache = function.__module__ in PATIENT and not small, small, Shelves(function)
        made._seen = {}
    return made


def kernel(function: Any) -> Any:
    return _make(function)


def small(function: Any) -> Any:
    """Compiled when first called, which takes a moment, also by a kernel that Python runs: where that is called very often, and
    where Python's results differ in the last bit, as those of the gamma function do."""
    return _make(function, small=True)


def inline(function: Any) -> Any:
    """Becomes part of its callers before types are known."""
    return _make(function, inline="always")


def tight(function: Any) -> Any:
    """Makes no arrays, and becomes part of its callers."""
    return _make(function, forceinline=True, **LEAN)


def lean(function: Any) -> Any:
    """Makes no arrays.

    numba hands ``forceinline`` on to the kernels that a kernel calls, but only to those that it has not compiled before: without
    a word here, what is part of what, and how fast it all is, would depend on what was used first.
    """
    return _make(function, forceinline=False, **LEAN)


def apart(function: Any) -> Any:
    """May make arrays, and stays a function of its own, also where one calls it that makes none or becomes part of its callers:
    numba hands on both (see ``lean``)."""
    return _make(function, forceinline=False, **FULL)
