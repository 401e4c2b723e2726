"""Kernels without reference counts: the fence around numba's option ``_nrt``.

Kernels that only read and write arrays that others own need no reference counts. numba counts references to arrays wherever they
are handed on, which in small kernels takes longer than the work itself; without them a kernel cannot make arrays, and that is
all. The option is not public.

Seen in numba 0.61, 0.64 and 0.68. Where there is none kernels count references: the same results, more slowly.
"""

from __future__ import annotations

from typing import Any

try:
    from numba.core.options import DefaultOptions
except ImportError:
    DefaultOptions = object

LEAN: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
FULL: dict[str, Any] = {"_nrt": True} if LEAN else {}
