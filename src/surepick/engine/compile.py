"""How kernels are compiled."""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core.options import DefaultOptions

# Kernels that only read and write arrays that others own. numba counts references to arrays wherever they are handed on, which
# in small kernels takes longer than the work itself; without them a kernel cannot make arrays, and that is all.
options: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
tight = njit(cache=True, forceinline=True, **options)  # and becomes part of its callers
# numba hands ``forceinline`` on to the kernels that a kernel calls, but only to those that it has not compiled before: without a
# word here, what is part of what, and how fast it all is, would depend on what was used first.
lean = njit(cache=True, forceinline=False, **options)
