"""About what every exchange could gain, as if all arms were normal.

With an epsilon it guides the sampling, and says when it is worth while to work out exactly what could be gained.
"""

from __future__ import annotations

import math

import numpy as np

from ..compile import kernel, lean, tight
from ..enums import Family
from .bets import grows_by_bets
from .exchanges import ONE_SIDED
from .glr import level_seen, price_of, seen_of
from .student import about_variance

DEVIATIONS = 16.0  # the square of how many standard deviations an interval is wide, about
REACH = 1.25  # about what bets gain less than one that were all on one value


@lean
def blur(i, arms):
    """About the variance of what is known of an arm's parameter, as evidence sees it."""
    n, one = arms.n[i], 1.0
    if grows_by_bets(arms.families[i]):  # of values that hardly vary, bets learn no faster than this
        inner, share = arms.atoms[0, i], arms.atoms[1, i]
        one = max(arms.p[i] * (1.0 - arms.p[i]) - share * inner * (1.0 - inner), 0.0) + 0.2 / n
        return one * (arms.scale[i] * arms.scale[i]) / n
    if arms.families[i] == Family.STUDENT:
        return about_variance(seen_of(i, arms)) * (arms.scale[i] * arms.scale[i]) / n
    if arms.families[i] != Family.NORMAL:
        p = (n * arms.p[i] + 1.0) / (n + 2.0)
        one = p * (1.0 - p)
    if arms.families[i] == Family.SPREAD:  # by how much q (1 - q) changes with q, some deviations from p
        steep = abs(1.0 - 2.0 * arms.p[i]) + math.sqrt(DEVIATIONS * one * (n + arms.rho[i])) / n
        one *= steep * steep
    return one * (arms.scale[i] * arms.scale[i]) * (n + arms.rho[i]) / (n * n)


@lean
def reach(i, above, arms):
    """About how far from where an arm is seen one unit of evidence is, that it is ``above`` a parameter or below it, however
    little its values vary: a value that is 1 % above u makes a bet richer by 1 % at most."""
    if not grows_by_bets(arms.families[i]):
        return 0.0
    return REACH * (arms.p[i] if above else 1.0 - arms.p[i]) * arms.scale[i] / arms.n[i]


@tight
def gain(half_h, half_j, blurred, reached, at_h, at_j, threshold):
    """About how far slope_j theta_j may be above slope_h theta_h, which are seen at these; ``blurred`` is their variance, and
    ``reached`` the larger of their ``reach``."""
    need = max(threshold + (half_h + half_j) - ONE_SIDED, 0.25)
    far = 0.5 * need * reached
    return max(far + math.sqrt(far * far + 2.0 * need * blurred) - at_h + at_j, 0.0)


@kernel
def gains(swaps, arms, threshold):
    """About what every exchange could gain."""
    found = np.empty(len(swaps.high))
    for e in range(len(found)):
        h, j, a, b = swaps.high[e], swaps.low[e], swaps.slope_high[e], swaps.slope_low[e]
        half_h = price_of(arms.families[h], arms.n[h], arms.rho[h])
        half_j = price_of(arms.families[j], arms.n[j], arms.rho[j])
        at_h, at_j = level_seen(h, a, 0.0, arms), level_seen(j, b, 0.0, arms)
        blurred, reached = a * a * blur(h, arms) + b * b * blur(j, arms), max(a * reach(h, True, arms), b * reach(j, False, arms))
        found[e] = gain(half_h, half_j, blurred, reached, at_h, at_j, threshold)
    return found


@kernel
def most_of(swaps, found, arms, each):
    """About the most that all exchanges together could gain, or any one of them (``each``); no more than the ranges allow."""
    most, above, below = 0.0, np.zeros(len(arms.n)), np.zeros(len(arms.n))
    for e in range(len(found)):
        h, j = swaps.high[e], swaps.low[e]
        one = min(found[e], swaps.slope_low[e] * arms.high[j] - swaps.slope_high[e] * arms.low[h])
        most, above[h], below[j] = max(most, one), max(above[h], one), max(below[j], one)
    if each:
        return most
    total_above, total_below = 0.0, 0.0
    for i in range(len(above)):
        total_above, total_below = total_above + above[i], total_below + below[i]
    return min(total_above, total_below)
