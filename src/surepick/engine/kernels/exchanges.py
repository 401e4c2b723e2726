"""Single exchanges of a decision, and which of them is known least.

An exchange (h, j) asks for slope_h theta_h >= slope_j theta_j: giving up one arm for another, or one unit of an allocation for
another, does not help. A decision of a matroid or of a separable concave allocation is optimal iff no single exchange helps.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile import kernel, lean, tight
from ..enums import Verdict
from .costs import cheaper
from .glr import by_rates, glr, price_of, rates, whole_of
from .least import least_evidence

MOST_SEEN = 2**62
SLACK = 0.5  # the quick estimate may be this far below the exact evidence; nearer than that, the exact one is worked out
ONE_SIDED = 2.0 * math.log(2.0)  # what one-sided evidence of two arms gains over the quick estimate


@lean
def need(h, j, arms, threshold):
    """About the quick evidence at which an exchange is settled."""
    price_h = price_of(arms.families[h], arms.n[h], arms.rho[h])
    return max(threshold + price_h + price_of(arms.families[j], arms.n[j], arms.rho[j]) - ONE_SIDED, 0.25)


@lean
def weakest(swaps, scores, arms):
    """The exchange with the least evidence for what it needs; of equal ones that with the fewest observations."""
    best = 0
    for e in range(1, len(swaps.high)):
        if scores[e] < scores[best] or (
            scores[e] == scores[best]
            and arms.n[swaps.high[e]] + arms.n[swaps.low[e]] < arms.n[swaps.high[best]] + arms.n[swaps.low[best]]
        ):
            best = e
    return best


@lean
def score(e, swaps, arms, threshold):
    h, j = swaps.high[e], swaps.low[e]
    found = glr(h, j, swaps.slope_high[e], swaps.slope_low[e], arms)
    return found / need(h, j, arms, threshold)


@kernel
def blocking(swaps, first, verdicts, arms, threshold):
    """An exchange whose evidence is below the threshold, looking at ``first`` first; -1 if there is none."""
    for e in range(-1, len(swaps.high)):
        at = first if e < 0 else e
        if verdicts[at] == Verdict.UNKNOWN:
            h, j = swaps.high[at], swaps.low[at]
            exact = least_evidence(h, j, swaps.slope_high[at], swaps.slope_low[at], arms, 0.0, threshold)
            verdicts[at] = Verdict.CERTAIN if exact >= threshold else Verdict.SHORT
        if verdicts[at] == Verdict.SHORT:
            return at
    return -1


@tight
def exhausted(i, counts, arms):
    """All values of an arm that has finitely many are drawn, or planned."""
    return counts[i] >= whole_of(i, arms)


@lean
def richer(e, swaps, arms, counts):
    """The arm of an exchange whose next observations add more evidence, per cost; the less observed one if neither adds any."""
    h, j = swaps.high[e], swaps.low[e]
    if exhausted(h, counts, arms) or exhausted(j, counts, arms):
        return j if exhausted(h, counts, arms) else h
    if arms.costs[h] != arms.costs[j]:
        return h if cheaper(h, j, swaps.slope_high[e], swaps.slope_low[e], arms, counts) else j
    gain_h, gain_j = 0.0, 0.0
    if by_rates(h, j, arms):
        gain_h, gain_j = rates(h, j, swaps.slope_high[e], swaps.slope_low[e], arms)
    for side in range(0 if by_rates(h, j, arms) else 2):
        i = h if side == 0 else j
        arms.n[i] += 1.0
        gain = glr(h, j, swaps.slope_high[e], swaps.slope_low[e], arms)
        arms.n[i] -= 1.0
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
def rescore(swaps, stale, scores, verdicts, arms, threshold):
    """Score the exchanges with a stale arm anew."""
    for e in range(len(swaps.high)):
        if stale[swaps.high[e]] or stale[swaps.low[e]]:
            found = score(e, swaps, arms, threshold)
            scores[e], verdicts[e] = found, Verdict.UNKNOWN


@kernel
def weakest_of(swaps, stale, scores, verdicts, arms, threshold):
    """The weakest exchange, after those with a stale arm have been scored anew; -1 if there is none."""
    rescore(swaps, stale, scores, verdicts, arms, threshold)
    return weakest(swaps, scores, arms) if len(swaps.high) > 0 else -1


@kernel
def verdict(e, swaps, scores, verdicts, arms, threshold):
    """The exchange that blocks a certificate, the weakest one (e) first, and whether the decision is certain as none does.

    With no exchange at all there is but one decision.
    """
    if e < 0:
        return e, True
    wanted = need(swaps.high[e], swaps.low[e], arms, threshold)
    if scores[e] * wanted < wanted - SLACK:
        return e, False
    f = blocking(swaps, e, verdicts, arms, threshold)
    return (f, False) if f >= 0 else (e, True)


@kernel
def look(swaps, stale, scores, verdicts, arms, threshold):
    """As ``weakest_of``, then ``verdict``."""
    e = weakest_of(swaps, stale, scores, verdicts, arms, threshold)
    return verdict(e, swaps, scores, verdicts, arms, threshold)


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
def behind(counts, costs, sizes=None):
    """An arm with far fewer observations than the others, as in track-and-stop: below sqrt(t) - m / 2; -1 if there is none. One
    that costs c times as much as the cheapest may have sqrt(c) times fewer.

    The exchange that is known least may never be settled, and the other arms should become known all the same. Arms may have
    only so many values (``sizes``); those that have given all of them are known.
    """
    least, fewest, t = 0, np.inf, 0
    for i in range(len(counts)):
        t += counts[i]
        seen = counts[i] * math.sqrt(costs[i])
        if sizes is not None:  # noqa: SIM102 - what is None is left out when types are known
            if not counts[i] < sizes[i]:
                seen = np.inf
        if seen < fewest:
            least, fewest = i, seen
    return least if fewest < math.sqrt(t) - 0.5 * len(counts) else -1


@lean
def least_seen(counts, costs, sizes=None):
    """No arm has fewer observations than this, as ``behind`` counts them."""
    fewest = np.inf
    for i in range(len(counts)):
        seen = math.floor(counts[i] * math.sqrt(costs[i]))
        if sizes is not None:  # noqa: SIM102 - as above
            if not counts[i] < sizes[i]:
                seen = MOST_SEEN
        fewest = min(fewest, seen)
    return int(min(fewest, MOST_SEEN))


@kernel
def unsure(swaps, arms, threshold):
    """For every exchange whether it is not certain; the exact evidence is worked out only where the quick one is near."""
    found = np.ones(len(swaps.high), np.bool_)
    for e in range(len(swaps.high)):
        h, j = swaps.high[e], swaps.low[e]
        near = need(h, j, arms, threshold) - SLACK
        if glr(h, j, swaps.slope_high[e], swaps.slope_low[e], arms) >= near:
            exact = least_evidence(h, j, swaps.slope_high[e], swaps.slope_low[e], arms, 0.0, threshold)
            found[e] = not exact >= threshold
    return found
