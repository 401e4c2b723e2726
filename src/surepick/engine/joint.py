"""The exploration loop of joint stopping by single exchanges, compiled: the same samples as the Python loop.

As in :mod:`.loop` the arrays are an explorer's own. Between two rounds one arm changes, so only the exchanges with that arm are
weighed again, unless the decision has changed too.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .allocation import improve
from .draws import ready, take
from .exchanges import behind, exchanges, halved, look, richer
from .kinds import DECIDED, EMPTY, PAUSED, SPENT, UNSURE
from .record import ESTIMATE, observe
from .rivals import best
from .sequences import unit_of


@njit(cache=True)
def run(
    kind, ints, floats, sign, kinds, shift, scale, paired, units, rho, threshold, bottom, top,
    counts, table, variance, buffer, stock, laws, decision, most, budget, rounds,
):  # fmt: skip
    """Explore until something needs the caller; returns (what, arm).

    ``decision`` is a nearby one, and kept up to date; there are at most ``most`` exchanges.
    """
    m = len(counts)
    n, p, weights = np.empty(m), np.empty(m), np.empty(m)
    t = 0
    for i in range(m):
        t += counts[i]
        n[i], p[i] = unit_of(i, counts, table, units)
        weights[i] = sign * min(max(table[ESTIMATE, i], bottom[i]), top[i])
    high, low = np.empty(most, np.int64), np.empty(most, np.int64)
    slope_high, slope_low, scores = np.empty(most), np.empty(most), np.empty((2, most))
    stale = np.ones(m, np.bool_)
    count = -1
    before = decision.copy()
    for _ in range(rounds):
        if kind == 2:
            if not improve(floats, weights, ints[1 : 1 + m], ints[1 + m :], decision):
                return UNSURE, -1
        else:
            best(kind, ints, weights, decision)
        same = count >= 0
        for i in range(m):
            same = same and decision[i] == before[i]
            before[i] = decision[i]
        if not same:
            count = exchanges(kind, ints, floats, decision, high, low, slope_high, slope_low)
            stale[:] = True
        e, certain = look(
            count, high, low, slope_high, slope_low, stale, scores, kinds, n, p, bottom, top, shift, scale, rho, threshold
        )
        stale[:] = False
        arm = halved(counts, paired)
        if certain and arm < 0:
            return DECIDED, -1
        if t >= budget:
            return SPENT, -1
        if arm < 0:
            arm = behind(counts)
        if arm < 0:
            arm = richer(e, high, low, slope_high, slope_low, kinds, n, p, bottom, top, shift, scale, rho, counts)
        if not ready(arm, counts, buffer, stock, laws):
            return EMPTY, arm
        observe(counts, table, variance, arm, take(arm, buffer, stock))
        t += 1
        stale[arm] = True
        n[arm], p[arm] = unit_of(arm, counts, table, units)
        weights[arm] = sign * min(max(table[ESTIMATE, arm], bottom[arm]), top[arm])
    return PAUSED, -1
