"""Several variables and domains, each with a limit of its variance: the cheapest design in whole numbers, and how far it may be
from the best.

Minimise sum of price_h n_h subject to sum over h of A_jh (1/n_h - 1/N_h) <= 1 for every limit j, and bounds (Bethel 1989, Chromy
1987). With multipliers mu_j the sum of price n + (mu A)_h / n is least stratum by stratum, which bounds every design from below;
the multipliers are raised by Chromy's steps, then by Newton's. A linear program over the interviews around that optimum
rounds it: at most as many strata as there are limits are then left between two whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..arms import Floats, Ints
from .exchange import exchanged
from .limits import Limits, mixture
from .optimum import least_cost
from .variance import SLACK, Strata, real_optimum, total, unseen

CHROMY, NEWTON = 40, 60  # steps
PROGRAM = 20_000  # strata up to which there is a linear program


@dataclass(frozen=True, eq=False)
class Cheapest:
    """The design, its optimum in real numbers, the lower bound on the cost of any whole-number design, and the multipliers."""

    n: Ints
    real: Floats
    bound: float
    multipliers: Floats


def cheapest(limits: Limits) -> Cheapest:
    """The cheapest design within all limits, which the largest design must keep. Domains without a common limit are planned
    apart."""
    links = sparse.block_array([[None, limits.A], [limits.A.T, None]])  # a limit and the strata that it is about
    count, part = connected_components(links, directed=False)
    part = part[limits.A.shape[0] :]
    if count == 1:
        return _together(limits)
    n, real = limits.low.copy(), limits.low.astype(np.float64)
    bound, mu = 0.0, np.zeros(limits.A.shape[0])
    A = limits.A.tocsc()
    for strata in np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part, minlength=count))[:-1]):
        own = A[:, strata].tocsr()
        rows = np.flatnonzero(np.diff(own.indptr))
        if not len(rows):  # in no domain, or all alike
            bound += float(limits.price[strata] @ limits.low[strata])
            continue
        few = Limits(own[rows], limits.rest[strata], limits.price[strata], limits.low[strata], limits.high[strata])
        found = _together(few)
        n[strata], real[strata], mu[rows] = found.n, found.real, found.multipliers
        bound += found.bound
    return Cheapest(n, real, bound, mu)


def _together(limits: Limits) -> Cheapest:
    if limits.meets(limits.low):
        low = limits.low.astype(np.float64)
        return Cheapest(limits.low.copy(), low, limits.cost(low), np.zeros(limits.A.shape[0]))
    if limits.A.shape[0] == 1:
        return _single(limits)
    mu = _multipliers(limits)
    real = _feasible(limits, _real(limits, mu))
    n = _trimmed(limits, np.minimum(np.ceil(real - 1e-9), limits.high).astype(np.int64), mu)
    bound = lower_bound(limits, mu)
    if len(real) <= PROGRAM and limits.cost(n) - bound > 1e-9 * bound:
        bound, n = _rounded(limits, real, n, bound)
    return Cheapest(n, real, bound, mu)


def _single(limits: Limits) -> Cheapest:
    """One limit alone."""
    a = limits.A.toarray()[0]
    strata = Strata(a, limits.rest, limits.price, limits.low, limits.high)
    best = least_cost(strata, 1.0)
    real = real_optimum(strata, variance=1.0)
    inner = (real > limits.low) & (real < limits.high) & (a > 0)
    mu = float((limits.price * real**2 / np.where(a > 0, a, 1.0))[inner].mean()) if inner.any() else 0.0
    return Cheapest(best.n, real, limits.cost(best.n) - best.above, np.array([mu]))


def _rounded(limits: Limits, real: Floats, n: Ints, bound: float) -> tuple[float, Ints]:
    """A better bound, and a better design in whole numbers, by a program over the interviews around the real optimum."""
    duals, taken = mixture(limits, real)
    if taken is not None:
        bound = max(bound, lower_bound(limits, duals))
        n = min((n, _trimmed(limits, _repaired(limits, np.ceil(taken - 1e-7).astype(np.int64)), duals)), key=limits.cost)
    if _whole(limits.price):
        bound = float(np.ceil(bound - 1e-7))
    return bound, exchanged(limits, n, bound)


def _whole(price: Floats) -> bool:
    return bool((price == np.floor(price)).all())


def in_reals(limits: Limits) -> tuple[Floats | None, float]:
    """The optimum in real numbers, and what any whole-number design costs at least; None and infinity if there is none."""
    if not limits.meets(limits.high):
        return None, np.inf
    if limits.meets(limits.low):
        low = limits.low.astype(np.float64)
        return low, limits.cost(low)
    mu = _multipliers(limits)
    return _feasible(limits, _real(limits, mu)), lower_bound(limits, mu)


def lower_bound(limits: Limits, mu: Floats) -> float:
    """What any whole-number design within the limits costs at least: true for all multipliers of at least 0."""
    least = limits.cost(limits.low)
    with np.errstate(all="ignore"):
        B = mu @ limits.A
        n = np.clip(np.floor(np.sqrt(B / limits.price + 0.25) + 0.5), limits.low, limits.high)
        value = limits.price * n + B * unseen(n, limits.rest)
    return max(total(value) - total(mu * (1.0 + SLACK)), least) if np.isfinite(value).all() else least


def _real(limits: Limits, mu: Floats) -> Floats:
    n: Floats = np.clip(np.sqrt((mu @ limits.A) / limits.price), limits.low, limits.high)
    return n


def _multipliers(limits: Limits) -> Floats:
    """Those at which the real-valued optimum keeps every limit."""
    mu: Floats
    A, price = limits.A, limits.price
    right = 1.0 + A @ limits.rest
    alone = (A.sqrt() @ np.sqrt(price)) ** 2 / right**2  # of each limit, if it were the only one
    mu = np.maximum(alone, 1e-300) / len(alone) ** 0.5
    for _ in range(CHROMY):
        mu = np.minimum(mu * ((A @ (1.0 / _real(limits, mu))) / right) ** 2, 1e200)
    value = _dual(limits, mu, right)
    for _ in range(NEWTON):
        n = _real(limits, mu)
        slope = A @ (1.0 / n) - right
        free = (mu > 0) | (slope > 0)
        if not free.any() or np.abs(np.where(mu > 0, slope, np.maximum(slope, 0.0)) / right).max() < 1e-12:
            break
        inner = (n > limits.low) & (n < limits.high)
        curve = np.where(inner, 0.5 / (price * np.maximum(n, 1e-300) ** 3), 0.0)
        F = A[free]
        H = np.asarray((F @ sparse.diags_array(curve) @ F.T).todense())
        scale = np.sqrt(np.maximum(H.diagonal(), 1e-300))
        H = H / np.outer(scale, scale) + 1e-12 * np.eye(len(scale))
        step = np.zeros(len(mu))
        with np.errstate(all="ignore"):
            step[free] = np.linalg.solve(H, slope[free] / scale) / scale
        if not np.isfinite(step).all():
            break
        length = 1.0
        while length > 1e-9:
            new = np.maximum(mu + length * step, 0.0)
            better = _dual(limits, new, right)
            if better > value:
                mu, value = new, better
                break
            length *= 0.5
        else:
            break
    return mu


def _dual(limits: Limits, mu: Floats, right: Floats) -> float:
    n = _real(limits, mu)
    with np.errstate(all="ignore"):
        return float((limits.price * n + (mu @ limits.A) / n).sum() - mu @ right)


def _feasible(limits: Limits, n: Floats) -> Floats:
    """Raised a little until all limits are kept: multipliers are known to some digits only."""
    raised, by = n, 1e-13
    while not limits.meets(raised) and by < 1e3:
        raised = np.minimum(np.maximum(n * (1.0 + by), limits.low), limits.high).astype(np.float64)
        by *= 2
    return raised


def _repaired(limits: Limits, n: Ints) -> Ints:
    """Interviews added until all limits are kept, those first that gain most where something is missing."""
    n, tries = np.clip(n, limits.low, limits.high), 0
    while not limits.meets(n):
        tries += 1
        missing = np.maximum(limits.used(n) - 1.0, 0.0)
        gain = (missing @ limits.A) / (n * (n + 1.0) * limits.price)
        h = int(np.argmax(np.where(n < limits.high, gain, -1.0)))
        by = 1 if tries < 200 else 2 ** min((tries - 200) // 8, 40)  # where numbers differ by too much to be told apart
        n[h] = min(n[h] + by, limits.high[h])
    return n


def _trimmed(limits: Limits, n: Ints, mu: Floats) -> Ints:
    """A design within the limits, less the interviews that these do not need: those first that save most for what they use up."""
    A = limits.A.tocsc()
    spare = 1.0 + SLACK - limits.used(n)
    starts, rows, values = A.indptr, A.indices, A.data
    for _ in range(3):
        loss = (mu @ A) / (n * np.maximum(n - 1.0, 0.5))
        order = np.argsort(loss / limits.price, kind="stable")
        changed = False
        for h in order[(n > limits.low)[order]]:
            where = rows[starts[h] : starts[h + 1]]
            used = values[starts[h] : starts[h + 1]] * (1.0 / (n[h] * (n[h] - 1.0)))
            if (used <= spare[where]).all():
                spare[where] -= used
                n[h] -= 1
                changed = True
        if not changed:
            break
    return _repaired(limits, n)  # after rounding errors of the differences
