"""Where prices differ: a look through all designs that a Lagrange multiplier does not rule out.

With the worth w of one unit of cost, sum of a/n + w price n is least at whole numbers that are known stratum by stratum, which
bounds every design from below. A design that is better than the best one known can deviate from those numbers only where
the deviations together cost less than what that one is above the bound. What is left is gone through stratum by stratum,
keeping pairs (cost, variance) that no other pair beats in both. If these become too many, only the most promising are kept;
then the bound says how far the result may be from the best.
"""

from __future__ import annotations

import numpy as np

from ..arms import Floats, Ints
from .variance import Strata

STATES = 20_000  # pairs that are kept
CORE = 400  # strata that may deviate
PAIRS = 2_000_000  # pairs that are made at once
WIDTH = 40  # interviews up or down that are tried in a stratum at least, if that many are not ruled out


def search(strata: Strata, n: Ints, worth: float, limit: float, budget: bool) -> tuple[Ints, float]:
    """The best design, starting from one that is known, and how far it is from the best at most.

    With ``budget`` the cost is at most the limit and the variance is minimised; else the other way round.
    """
    a, price, low, high = strata.a, strata.price, strata.low, strata.high
    base = np.clip(np.floor(np.sqrt(a / (price * worth) + 0.25) + 0.5), low, high).astype(np.int64)
    scale = 1.0 if budget else 1.0 / worth
    aim, other = (strata.variance, strata.cost) if budget else (strata.cost, strata.variance)
    best, best_aim = n.copy(), aim(n)
    bound = aim(base) + (other(base) - limit) * (worth if budget else scale)
    gap = best_aim - bound
    noise = 1e-13 * (aim(base) + limit * (worth if budget else scale))
    if gap <= noise:
        return best, 0.0
    # what deviating by d interviews costs in each stratum
    near = _penalty(a, price, base, np.clip(base + 1, low, high), worth) * scale
    near = np.where(base < high, near, np.inf)
    less = np.where(base > low, _penalty(a, price, base, np.maximum(base - 1, 1), worth) * scale, np.inf)
    core = np.flatnonzero(np.minimum(near, less) < gap)
    core = core[np.argsort(np.minimum(near, less)[core], kind="stable")]
    exact = len(core) <= CORE
    core = core[:CORE]
    used, got = np.array([other(base)]), np.array([aim(base)])  # of the limit, and of the aim
    paid = np.zeros(1)  # penalties so far
    history: list[tuple[Ints, Ints]] = []
    for h in core:
        width = max(WIDTH, PAIRS // (2 * len(used)))
        first, last = _not_ruled_out(a[h], price[h], base[h], worth, gap / scale)
        first, last = max(first, low[h]), min(last, high[h])
        if max(base[h] - first, last - base[h]) > width:
            exact = False
        m = np.arange(max(first, base[h] - width), min(last, base[h] + width) + 1)
        pay = _penalty(a[h], price[h], base[h], m, worth) * scale
        m, pay = m[pay < gap], pay[pay < gap]
        dear, wide = price[h] * (m - base[h]), a[h] * (base[h] - m) / (m * float(base[h]))
        dl, da = (dear, wide) if budget else (wide, dear)
        sums = paid[:, None] + pay[None, :]
        left, right = np.nonzero(sums < gap)
        new_used, new_got, new_paid = used[left] + dl[right], got[left] + da[right], sums[left, right]
        keep = _undominated(new_used, new_got)
        if len(keep) > STATES:
            exact = False
            keep = keep[np.argpartition(new_paid[keep], STATES)[:STATES]]
        used, got, paid = new_used[keep], new_got[keep], new_paid[keep]
        history.append((left[keep], m[right[keep]]))
        # whoever fits already, with the strata that are left as they are
        fits = np.flatnonzero(used <= limit)
        if len(fits):
            at = fits[np.argmin(got[fits])]
            if got[at] < best_aim - noise:
                best = _design(base, core, history, int(at))
                best_aim = aim(best)
                gap = best_aim - bound
    return best, 0.0 if exact else max(gap - noise, 0.0)


def _penalty(a: Floats, price: Floats, base: Ints, m: Ints, worth: float) -> Floats:
    """a/m + worth price m, less what it is at the base, without a difference of large numbers."""
    d = m - base
    out: Floats = d * (worth * price - a / (base * m.astype(np.float64)))
    return np.maximum(out, 0.0)


def _not_ruled_out(a: float, price: float, base: int, worth: float, gap: float) -> tuple[int, int]:
    """Whole numbers from and up to which the penalty may be below the gap: w m^2 - c m + a < 0 with w = worth price."""
    w = worth * price
    c = a / base + w * base + gap
    last = (c + np.sqrt(max(c * c - 4.0 * w * a, 0.0))) / (2.0 * w)
    return max(int(a / (w * last)), 1), int(min(last + 1.0, 2.0**62))


def _undominated(used: Floats, got: Floats) -> Ints:
    order = np.lexsort((got, used))
    least = np.minimum.accumulate(got[order])
    first = np.concatenate(([True], got[order][1:] < least[:-1]))
    return order[first]


def _design(base: Ints, core: Ints, history: list[tuple[Ints, Ints]], at: int) -> Ints:
    n = base.copy()
    for h, (before, chosen) in zip(core[: len(history)][::-1], history[::-1], strict=True):
        n[h] = chosen[at]
        at = int(before[at])
    return n
