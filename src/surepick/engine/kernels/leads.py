"""What exchanges could gain at most, by the exact evidence of their two arms: each, or all together.

What one could gain is found by bisection, to a thousandth and rounded up. Evidence rises with the gain that it speaks against. So
the last step of the bisection is guessed, from witnesses: if there is too little evidence at its lower end and enough at its
upper end, the bisection would have ended there.
"""

from __future__ import annotations

import numpy as np

from ..compile import kernel, lean
from .exchanges import SLACK, need
from .gains import blur
from .glr import base_of, glr
from .least import least_evidence
from .witnesses import Point, divide, sharpen

BISECTED_WITHIN = 1e-3  # how near bisection comes, as a share
GUESSES = 8
WORTH_SHARING = 2e-3  # what there must be to spare, as a share, to share it out
POINT = len(Point)


@kernel
def may(more, h, j, slope_h, slope_j, arms, threshold):
    """The exchange may gain more than this: there is too little evidence against it."""
    return least_evidence(h, j, slope_h, slope_j, arms, more, threshold) < threshold


@kernel
def about(h, j, arms, threshold):
    """About by how much theta_j may be above theta_h, and no more than that; 0 if nothing is known."""
    if not (arms.n[h] > 0.0 and arms.n[j] > 0.0):
        return 0.0
    points, blurs = np.empty((2, POINT)), np.zeros(len(arms.n))
    blurs[h], blurs[j] = blur(h, arms), blur(j, arms)
    x, tilt = divide(points, 0, h, j, threshold, blurs, arms)
    found = x if points[0, Point.EVIDENCE] + points[1, Point.EVIDENCE] < threshold else 0.0
    return max(found, sharpen(points, 0, h, j, x, tilt, threshold, blurs, arms), 0.0)


@lean
def last_step(at, most, tiny):
    """The last step of the bisection from 0 to ``most``, if that is where it leads."""
    least = 0.0
    while most - least > BISECTED_WITHIN * most and most >= tiny:
        middle = 0.5 * (least + most)
        if middle < at:
            least = middle
        else:
            most = middle
    return least, most


@kernel
def lead(h, j, slope_h, slope_j, arms, threshold):
    """By how much slope_j theta_j may be above slope_h theta_h at most, with evidence of ``threshold``; never below 0."""
    base = base_of(h, j, slope_h, slope_j, arms)
    most = slope_j * (arms.high[j] - base) - slope_h * (arms.low[h] - base)
    if not most < np.inf:
        most = 1.0
        while may(most, h, j, slope_h, slope_j, arms, threshold):
            most *= 4.0
            if most > 1e300:
                return np.inf
    if not most > 0.0:
        return 0.0
    tiny = 1e-12 * (abs(slope_h) * arms.scale[h] + abs(slope_j) * arms.scale[j])
    above, below = 0.0, most  # it is in between
    guess, off = about(h, j, arms, threshold) * (1.0 + 0.5 * BISECTED_WITHIN), BISECTED_WITHIN
    for _ in range(GUESSES if slope_h == 1.0 and slope_j == 1.0 else 0):
        least, top = last_step(min(max(guess, above * (1.0 + 1e-9)), below), most, tiny)
        if top < below:
            if may(top, h, j, slope_h, slope_j, arms, threshold):
                above, guess, off = top, top * (1.0 + off), 4.0 * off
                continue
            below = top
        if least > above and not may(least, h, j, slope_h, slope_j, arms, threshold):
            below, guess, off = least, least * (1.0 - off), 4.0 * off
            continue
        return below
    least = 0.0
    while most - least > BISECTED_WITHIN * most and most >= tiny:
        middle = 0.5 * (least + most)
        if middle <= above or (middle < below and may(middle, h, j, slope_h, slope_j, arms, threshold)):
            least = middle
        else:
            most = middle
    return most


@kernel
def within(order, more, lower, upper, swaps, arms, threshold):
    """No exchange can gain more than ``more``, by the box or by its evidence; the most doubtful come first in ``order``."""
    for e in order:
        h, j = swaps.high[e], swaps.low[e]
        if swaps.slope_low[e] * upper[j] - swaps.slope_high[e] * lower[h] > more:
            found = least_evidence(h, j, swaps.slope_high[e], swaps.slope_low[e], arms, more, threshold)
            if not found >= threshold:
                return False
    return True


@kernel
def largest(order, lower, upper, swaps, arms, threshold):
    """The most that any one exchange could gain, by the box or by its evidence; the most doubtful come first in ``order``."""
    most = 0.0
    for e in order:
        h, j, a, b = swaps.high[e], swaps.low[e], swaps.slope_high[e], swaps.slope_low[e]
        by_box = b * upper[j] - a * lower[h]
        if by_box > most and not least_evidence(h, j, a, b, arms, most, threshold) >= threshold:
            most = max(most, min(by_box, lead(h, j, a, b, arms, threshold)))
    return most


@kernel
def together(order, most, swaps, arms, threshold):
    """What all exchanges together could gain: the sum over the arms on one side of the most that each could gain, for the side
    on which it is less; infinite if that is above ``most``.

    The most doubtful come first in ``order``, so that this is soon seen, and that others of the same arm could gain no more.
    """
    best = np.inf
    for side in range(2):
        gains, total, limit = np.zeros(len(arms.n)), 0.0, min(most, best)
        for e in order:
            h, j, a, b = swaps.high[e], swaps.low[e], swaps.slope_high[e], swaps.slope_low[e]
            arm = h if side == 0 else j
            if least_evidence(h, j, a, b, arms, gains[arm], threshold) >= threshold:
                continue
            gain = lead(h, j, a, b, arms, threshold)
            total += max(gain - gains[arm], 0.0)
            gains[arm] = max(gains[arm], gain)
            if total > limit:
                total = np.inf
                break
        best = min(best, total)
    return best


@kernel
def within_together(order, most, swaps, arms, threshold):
    """All exchanges together can gain no more than ``most``: whether ``together`` is finite, mostly from less.

    Witnesses show about what every exchange could gain, and that it could gain as much. If that is too much, all is known; else
    what the arms on one side may gain is shared out, and it is asked whether every exchange keeps to it. Only if that does not
    tell is everything worked out.
    """
    tops, sums = np.zeros((2, len(arms.n))), np.zeros(2)
    for e in order:
        h, j = swaps.high[e], swaps.low[e]
        if swaps.slope_high[e] != 1.0 or swaps.slope_low[e] != 1.0:
            return together(order, most, swaps, arms, threshold) < np.inf
        if glr(h, j, 1.0, 1.0, arms) < need(h, j, arms, threshold) + SLACK:
            guess = about(h, j, arms, threshold)
            for q in range(2):
                i = h if q == 0 else j
                sums[q] += max(guess - tops[q, i], 0.0)
                tops[q, i] = max(tops[q, i], guess)
            if min(sums[0], sums[1]) * (1.0 - 1e-9) > most:  # the most doubtful come first, so that this is soon seen
                return False
    side = 0 if tops[0].sum() <= tops[1].sum() else 1
    total = tops[side].sum()
    if total > most:
        return False
    spare = (1.0 - 2.0 * BISECTED_WITHIN) * most / total - 1.0 if total > 0.0 else 0.0  # bisection rounds up
    if spare > WORTH_SHARING:
        allowed = True
        for e in order:
            limit = (1.0 + spare) * tops[side, swaps.high[e] if side == 0 else swaps.low[e]]
            allowed = allowed and not may(limit, swaps.high[e], swaps.low[e], 1.0, 1.0, arms, threshold)
            if not allowed:
                break
        if allowed:
            return True
    return together(order, most, swaps, arms, threshold) < np.inf
