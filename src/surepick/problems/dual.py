"""Upper bounds by Lagrangian duality: any price gives a valid bound, the best price a tight one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..engine import compiled


def least_bound(bound: Callable[[float], float], highest: float) -> tuple[float, float]:
    """Price in [0, highest] at which a convex ``bound`` is about least, and the bound there; it is valid at every price."""
    best = (0.0, bound(0.0))
    if highest > 0.0:
        # The price matters by its order of magnitude, so search its square root.
        brent, most = compiled("brent"), highest**0.5
        state = np.empty(brent.ENTRIES)
        root = brent.begin(state, 0.0, most, 1e-7 * most)
        while brent.step(state, bound(root * root)):
            root = float(state[brent.Entry.ASKED])
        best = min(best, (float(state[brent.Entry.BEST]) ** 2, float(state[brent.Entry.VALUE])), key=lambda pair: pair[1])
    return best
