"""Single exchanges of a decision, and which of them is known least.

An exchange (h, j) asks for slope_h theta_h >= slope_j theta_j: giving up one arm for another, or one unit of an allocation for
another, does not help. A decision of a matroid or of a separable concave allocation is optimal iff no single exchange helps.
"""

from __future__ import annotations

import math

import numpy as np

from .compile import kernel, lean
from .evidence import lead, rough, sure
from .matroids import root_tree

SLACK = 0.5  # the quick estimate may be this far below the exact evidence; nearer than that, the exact one is worked out
SCORE, KNOWN = 0, 1  # rows of ``scores``
UNKNOWN, SURE, UNSURE = 0.0, 1.0, 2.0  # whether an exchange is certain; unchanged until one of its arms is observed
FREE = 2.0 * math.log(2.0)  # what one-sided evidence of two arms gains over the quick estimate


@kernel
def group_exchanges(ints, floats, decision, high, low):
    c, members = 0, ints[2 + ints[1] :]
    for g in range(ints[1] - 1):
        for a in range(ints[2 + g], ints[3 + g]):
            if decision[members[a]]:
                for b in range(ints[2 + g], ints[3 + g]):
                    if not decision[members[b]]:
                        i, j = members[a], members[b]
                        high[c], low[c] = (i, j) if floats[0] > 0.0 else (j, i)
                        c += 1
    return c


@kernel
def tree_exchanges(ints, decision, high, low):
    m, c = len(decision), 0
    u, v = ints[2 : 2 + m], ints[2 + m :]
    above, edge_above, depth = root_tree(decision, u, v, ints[0])
    for f in range(m):
        if decision[f]:
            continue
        x, y = u[f], v[f]
        while x != y:  # the tree's edges on the cycle that f closes
            if depth[x] < depth[y]:
                x, y = y, x
            e = edge_above[x]
            x = above[x]
            high[c], low[c] = (e, f) if ints[1] > 0 else (f, e)
            c += 1
    return c


@kernel
def unit_exchanges(ints, floats, decision, high, low, slope_high, slope_low):
    m, c = len(decision), 0
    least, most = ints[1 : 1 + m], ints[1 + m :]
    for i in range(m):
        if decision[i] > least[i]:
            for j in range(m):
                if j != i and decision[j] < most[j]:
                    high[c], low[c] = i, j
                    slope_high[c] = floats[i] * floats[i] / (decision[i] * (decision[i] - 1.0))
                    slope_low[c] = floats[j] * floats[j] / (decision[j] * (decision[j] + 1.0))
                    c += 1
    return c


@kernel
def exchanges(kind, ints, floats, decision, high, low, slope_high, slope_low):
    """All exchanges of a decision, written into the four arrays; returns their number."""
    if kind == 2:
        return unit_exchanges(ints, floats, decision, high, low, slope_high, slope_low)
    c = group_exchanges(ints, floats, decision, high, low) if kind == 0 else tree_exchanges(ints, decision, high, low)
    slope_high[:c] = 1.0
    slope_low[:c] = 1.0
    return c


@lean
def need(n, h, j, rho, threshold):
    """About the quick evidence at which an exchange is settled."""
    return max(threshold + 0.5 * math.log1p(n[h] / rho) + 0.5 * math.log1p(n[j] / rho) - FREE, 0.25)


@lean
def weakest(count, high, low, scores, n):
    """The exchange with the least evidence for what it needs; of equal ones that with the fewest observations."""
    best = 0
    for e in range(1, count):
        if scores[SCORE, e] < scores[SCORE, best] or (
            scores[SCORE, e] == scores[SCORE, best] and n[high[e]] + n[low[e]] < n[high[best]] + n[low[best]]
        ):
            best = e
    return best


@lean
def score(e, high, low, slope_high, slope_low, kinds, n, p, bottom, top, shift, scale, rho, threshold):
    h, j = high[e], low[e]
    found = rough(h, j, slope_high[e], slope_low[e], kinds, n, p, bottom, top, shift, scale, rho)
    return found / need(n, h, j, rho, threshold)


@kernel
def blocking(count, first, high, low, slope_high, slope_low, scores, kinds, n, p, bottom, top, shift, scale, rho, threshold):
    """An exchange whose evidence is below the threshold, looking at ``first`` first; -1 if there is none."""
    for e in range(-1, count):
        at = first if e < 0 else e
        if scores[KNOWN, at] == UNKNOWN:
            h, j = high[at], low[at]
            exact = sure(h, j, slope_high[at], slope_low[at], kinds, n, p, bottom, top, shift, scale, rho, 0.0, threshold)
            scores[KNOWN, at] = SURE if exact >= threshold else UNSURE
        if scores[KNOWN, at] == UNSURE:
            return at
    return -1


@lean
def richer(e, high, low, slope_high, slope_low, kinds, n, p, bottom, top, shift, scale, rho, counts):
    """The arm of an exchange whose next observations add more evidence; the less observed one if neither adds any."""
    h, j = high[e], low[e]
    gain_h, gain_j = 0.0, 0.0
    for side in range(2):
        i = h if side == 0 else j
        n[i] += 1.0
        gain = rough(h, j, slope_high[e], slope_low[e], kinds, n, p, bottom, top, shift, scale, rho)
        n[i] -= 1.0
        if side == 0:
            gain_h = gain
        else:
            gain_j = gain
    if gain_h != gain_j:
        return h if gain_h > gain_j else j
    if counts[h] != counts[j]:
        return h if counts[h] < counts[j] else j
    return min(h, j)


@lean
def rescore(count, high, low, slope_high, slope_low, stale, scores, kinds, n, p, bottom, top, shift, scale, rho, threshold):
    """Score the exchanges with a stale arm anew."""
    for e in range(count):
        if stale[high[e]] or stale[low[e]]:
            found = score(e, high, low, slope_high, slope_low, kinds, n, p, bottom, top, shift, scale, rho, threshold)
            scores[SCORE, e], scores[KNOWN, e] = found, UNKNOWN


@kernel
def look(count, high, low, slope_high, slope_low, stale, scores, kinds, n, p, bottom, top, shift, scale, rho, threshold):
    """The weakest exchange, and whether the decision is certain; only exchanges with a stale arm are scored anew.

    With no exchange at all there is but one decision.
    """
    if count == 0:
        return -1, True
    rescore(count, high, low, slope_high, slope_low, stale, scores, kinds, n, p, bottom, top, shift, scale, rho, threshold)
    e = weakest(count, high, low, scores, n)
    wanted = need(n, high[e], low[e], rho, threshold)
    if scores[SCORE, e] * wanted < wanted - SLACK:
        return e, False
    f = blocking(count, e, high, low, slope_high, slope_low, scores, kinds, n, p, bottom, top, shift, scale, rho, threshold)
    return (f, False) if f >= 0 else (e, True)


@lean
def halved(counts, paired):
    """An arm whose last observation waits for its partner; -1 if there is none.

    Evidence from pairs is a martingale of whole pairs. To choose by half a pair whether to complete it would break the product
    of two arms, so a pair is completed before anything else, and nothing is certain until then.
    """
    for i in range(len(counts)):
        if paired[i] and counts[i] % 2 == 1:
            return i
    return -1


@lean
def behind(counts):
    """An arm with far fewer observations than the others, as in track-and-stop: below sqrt(t) - m / 2; -1 if there is none.

    The exchange that is known least may never be settled, and the other arms should become known all the same.
    """
    least, t = 0, 0
    for i in range(len(counts)):
        t += counts[i]
        if counts[i] < counts[least]:
            least = i
    return least if counts[least] < math.sqrt(t) - 0.5 * len(counts) else -1


@kernel
def unsure(count, high, low, slope_high, slope_low, kinds, n, p, bottom, top, shift, scale, rho, threshold):
    """For every exchange whether it is not certain; the exact evidence is worked out only where the quick one is near."""
    found = np.ones(count, np.bool_)
    for e in range(count):
        h, j = high[e], low[e]
        near = need(n, h, j, rho, threshold) - SLACK
        if rough(h, j, slope_high[e], slope_low[e], kinds, n, p, bottom, top, shift, scale, rho) >= near:
            exact = sure(h, j, slope_high[e], slope_low[e], kinds, n, p, bottom, top, shift, scale, rho, 0.0, threshold)
            found[e] = not exact >= threshold
    return found


@kernel
def within(order, more, lower, upper, high, low, slope_high, slope_low, kinds, n, p, bottom, top, shift, scale, rho, threshold):
    """No exchange can gain more than ``more``, by the box or by its evidence; the most doubtful come first in ``order``."""
    for e in order:
        h, j = high[e], low[e]
        if slope_low[e] * upper[j] - slope_high[e] * lower[h] > more:
            found = sure(h, j, slope_high[e], slope_low[e], kinds, n, p, bottom, top, shift, scale, rho, more, threshold)
            if not found >= threshold:
                return False
    return True


@kernel
def largest(order, lower, upper, high, low, slope_high, slope_low, kinds, n, p, bottom, top, shift, scale, rho, threshold):
    """The most that any one exchange could gain, by the box or by its evidence; the most doubtful come first in ``order``."""
    most = 0.0
    for e in order:
        h, j, a, b = high[e], low[e], slope_high[e], slope_low[e]
        by_box = b * upper[j] - a * lower[h]
        if by_box > most and not sure(h, j, a, b, kinds, n, p, bottom, top, shift, scale, rho, most, threshold) >= threshold:
            most = max(most, min(by_box, lead(h, j, a, b, kinds, n, p, bottom, top, shift, scale, rho, threshold)))
    return most


@kernel
def together(order, most, high, low, slope_high, slope_low, kinds, n, p, bottom, top, shift, scale, rho, threshold):
    """What all exchanges together could gain: the sum over the arms on one side of the most that each could gain, for the side
    on which it is less; infinite if that is above ``most``.

    The most doubtful come first in ``order``, so that this is soon seen, and that others of the same arm could gain no more.
    """
    best = np.inf
    for side in range(2):
        gains, total, limit = np.zeros(len(n)), 0.0, min(most, best)
        for e in order:
            h, j, a, b = high[e], low[e], slope_high[e], slope_low[e]
            arm = h if side == 0 else j
            if sure(h, j, a, b, kinds, n, p, bottom, top, shift, scale, rho, gains[arm], threshold) >= threshold:
                continue
            room = gains[arm] + limit - total
            if room < np.inf and sure(h, j, a, b, kinds, n, p, bottom, top, shift, scale, rho, room, threshold) < threshold:
                total = np.inf
                break
            gain = lead(h, j, a, b, kinds, n, p, bottom, top, shift, scale, rho, threshold)
            total += max(gain - gains[arm], 0.0)
            gains[arm] = max(gains[arm], gain)
            if total > limit:
                total = np.inf
                break
        best = min(best, total)
    return best
