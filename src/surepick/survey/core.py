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

STATES = 20_000  # pairs that are kept
CORE = 400  # strata that may deviate
WIDTH = 40  # interviews up or down that are tried in a stratum


def search(
    a: Floats, price: Floats, low: Ints, high: Ints, n: Ints, worth: float, limit: float, budget: bool
) -> tuple[Ints, float]:
    """The best design, starting from one that is known, and how far it is from the best at most.

    With ``budget`` the cost is at most the limit and the variance, the sum of a/n, is minimised; else the other way round.
    """
    base = np.clip(np.floor(np.sqrt(a / (price * worth) + 0.25) + 0.5), low, high).astype(np.int64)
    scale = 1.0 if budget else 1.0 / worth
    lagrange = (a / base + worth * price * base) * scale
    bound = float(lagrange.sum()) - limit * (worth if budget else scale)

    def aim(m: Ints) -> float:
        return float((a / m).sum() if budget else (price * m).sum())

    best, best_aim = n.copy(), aim(n)
    gap = best_aim - bound
    noise = 1e-13 * abs(float(lagrange.sum()))
    if gap <= noise:
        return best, 0.0
    # what deviating by d interviews costs in each stratum
    tries = np.arange(-WIDTH, WIDTH + 1)
    near = _penalty(a, price, base, np.clip(base + 1, low, high), worth) * scale
    near = np.where(base < high, near, np.inf)
    less = np.where(base > low, _penalty(a, price, base, np.maximum(base - 1, 1), worth) * scale, np.inf)
    core = np.flatnonzero(np.minimum(near, less) < gap)
    core = core[np.argsort(np.minimum(near, less)[core], kind="stable")]
    exact = len(core) <= CORE
    core = core[:CORE]
    limited, aimed = (price * base, a / base) if budget else (a / base, price * base)
    used, got = np.array([limited.sum()]), np.array([aimed.sum()])  # of the limit, and of the aim
    paid = np.zeros(1)  # penalties so far
    history: list[tuple[Ints, Ints]] = []
    for h in core:
        m = base[h] + tries
        m = m[(m >= low[h]) & (m <= high[h])]
        pay = _penalty(a[h], price[h], base[h], m, worth) * scale
        if (pay[0] < gap and m[0] > low[h]) or (pay[-1] < gap and m[-1] < high[h]):
            exact = False
        m, pay = m[pay < gap], pay[pay < gap]
        dl = price[h] * (m - base[h]) if budget else a[h] / m - a[h] / base[h]
        da = a[h] / m - a[h] / base[h] if budget else price[h] * (m - base[h])
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
