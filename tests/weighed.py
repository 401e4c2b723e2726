"""Arms as evidence sees them, for tests that call the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from surepick.engine.data import Arms, Seen
from surepick.engine.kernels import mixtures

weigh = mixtures.evidence


def seen(family: int, n: float, p: float, inner: float = 0.5, share: float = 0.0) -> Seen:
    """One arm; with no weight the inner atom says nothing, as for 0/1 values."""
    return Seen(int(family), float(n), float(p), inner, share)


@njit
def evidence(family, n, p, u, rho, side, inner=0.5, share=0.0):
    return weigh(Seen(family, n, p, inner, share, np.inf, 0.0, 0.0), u, rho, side)


def arms_of(families: Any, n: Any, p: Any, low: Any, high: Any, shift: Any, scale: Any, rho: float, share: float = 0.0) -> Arms:
    """Several arms; as far as bets know, so large a share of their values is at the mean, and the others are 0 and 1."""
    one, atoms = np.ones(len(n)), np.array([np.clip(p, 0.0, 1.0), np.full(len(n), share)])
    return Arms(families, n, p, low, high, shift, scale, rho * one, atoms, one)
