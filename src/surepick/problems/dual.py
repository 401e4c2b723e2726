"""Upper bounds by Lagrangian duality: any price gives a valid bound, the best price a tight one."""

from __future__ import annotations

from collections.abc import Callable


def least_bound(bound: Callable[[float], float], highest: float) -> tuple[float, float]:
    """Price in [0, highest] at which a convex ``bound`` is about least, and the bound there; it is valid at every price."""
    from scipy.optimize import minimize_scalar

    best = (0.0, bound(0.0))
    if highest > 0.0:
        # The price matters by its order of magnitude, so search its square root.
        most = highest**0.5
        found = minimize_scalar(lambda r: bound(r * r), bounds=(0.0, most), method="bounded", options={"xatol": 1e-7 * most})
        best = min(best, (float(found.x) ** 2, float(found.fun)), key=lambda pair: pair[1])
    return best
