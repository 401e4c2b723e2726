"""Evidence of many arms together, by stakes that all of them share.

Who stakes s against values in [0, 1] with mean at most u has Prod((1 + b x) / (1 + b u)) afterwards, b = e^s - 1: a bet of the
share b u / (1 + b u) of the capital (see bets.py). It is a supermartingale from 1, and its logarithm is

    ln K_s(u) = sum of ln(1 + b x) - n ln(1 + b u),

of which the values and u have a term each, and which is convex in u. That the mean is at least u is the same of 1 - x and 1 - u.
The sum is bounded below from three moments, as in bets.py: ln(1 + b x) has negative fourth derivative too. 1-sub-Gaussian values
have exp(s (x - u) - s^2 / 2).

A product over arms pays for what it does not know beforehand. If every arm mixed over stakes by itself, each would pay. But when
a decision is about to be excluded, the stakes that suit its arms are all alike: about the common slope mu over an arm's n. So all
arms have stakes about one, S_k, which alone is mixed over: K = sum over k of w_k Prod over arms of sum over j of v_kj K_j. The
v_kj fall off on either side of k, and allow for arms that are known better than others.

For the joint test evidence is needed through its conjugate alone: the least over u of ln sum over j of v_kj K_j(u) + mu (u - p)
(above; below alike). For any weights w over stakes ln sum v_j K_j >= sum of w_j (ln K_j + ln(v_j / w_j)) (Jensen's inequality),
which is convex in u, and whose slope at p is the sum of w_j n b_j / (1 + b_j p). If that is mu, the least is at p:

    sum over j of w_j (ln K_j(p) + ln(v_j / w_j)).

Weights on two neighbouring stakes, and mixtures of the v_q themselves, have any slope up to that of the largest stake; the better
one counts. Beyond it u is where the largest stake has the slope. All of them are lower bounds, so that the test is valid.

Normal arms of unknown variance have their evidence by likelihood, which is a mixture by itself. It does not grow for ever in
proportion to the distance, so only distances up to a limit are looked at; linear_proof.py says why these are enough.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compile import kernel, lean, tight
from ..data import Seen, Stakes
from ..enums import Family, Known
from .bets import ends_of
from .student import by_likelihood

SIZES = tuple(8.0 * 0.5**j for j in range(13))  # the stakes, the largest first; after them there is none at all
NO_STAKE = len(SIZES)
GROWTHS = tuple(math.expm1(s) for s in SIZES)
TERM_ERROR = 4e-15  # more than a value's term may be off, in units of 1 + s
NOTHING = -1e12  # the evidence of an arm that has none
NEAR = 1.03  # slopes nearer than this, as a factor, are as good


def priors() -> np.ndarray[Any, Any]:
    """v: what every stake has of an arm's capital where stakes are about S_k, a row each."""
    found = np.empty((NO_STAKE, NO_STAKE + 1))
    for k in range(NO_STAKE):
        for j in range(NO_STAKE + 1):
            away = j - k
            found[k, j] = 0.5 if away == 0 else 0.2 * 10.0 ** (away + 1) if away < 0 else 0.2 * 3.5 ** (1 - away)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def weights() -> np.ndarray[Any, Any]:
    """w: what every S_k has of the capital of all arms. The least ones are for differences so small that much is spent anyway."""
    found = np.array([1.0 if k < 9 else 0.6 ** (k - 8) for k in range(NO_STAKE)])
    return np.asarray(found / found.sum())


SHAPES = priors()
LOG_PRIORS = np.log(SHAPES)
PAYS = -np.log(weights())  # for the choice of S_k
PRICES = np.array(
    [[float((SHAPES[q] * (LOG_PRIORS[k] - LOG_PRIORS[q])).sum()) for q in range(NO_STAKE)] for k in range(NO_STAKE)]
)


@tight
def variance_of(seen):
    """About the variance of an arm's values, in its unit, by what the evidence can see of it. It guides the sampling."""
    few = 0.125 / (seen.n + 1.0)
    if seen.family == Family.NORMAL:
        return 1.0
    if seen.family == Family.STUDENT:
        return seen.inner + few
    return max(max(seen.p - seen.share * seen.inner, 0.0) + seen.share * seen.inner * seen.inner - seen.p * seen.p, 0.0) + few


@tight
def spread_of(seen, scale):
    """About the square of an arm's error."""
    return scale * scale * variance_of(seen) / max(seen.n, 1e-9)


@tight
def note(i, seen, scale, stakes):
    """What is known of an arm by now."""
    facts = stakes.facts
    facts[Known.FAMILY, i], facts[Known.N, i], facts[Known.P, i] = seen.family, seen.n, seen.p
    facts[Known.INNER, i], facts[Known.SHARE, i], facts[Known.SCALE, i] = seen.inner, seen.share, scale
    stakes.fresh[i] = False


@lean
def stake(i, stakes):
    """The logarithm of what every stake has made at p, and its slope there, for both sides of an arm; and the same of all v_q."""
    facts = stakes.facts
    family, n, scale = int(facts[Known.FAMILY, i]), facts[Known.N, i], facts[Known.SCALE, i]
    for side in range(2):
        gain, pull = stakes.gain[side, i], stakes.pull[side, i]
        p = facts[Known.P, i] if side == 0 else 1.0 - facts[Known.P, i]
        inner, share = facts[Known.INNER, i] if side == 0 else 1.0 - facts[Known.INNER, i], facts[Known.SHARE, i]
        for j in range(NO_STAKE):
            s, b = SIZES[j], GROWTHS[j]
            if family == Family.NORMAL:
                gain[j], pull[j] = -0.5 * s * s * n, s * n / scale
            else:
                all_ = ends_of(p, inner, share)[1]
                mean = all_ * s - math.log1p(b * p)
                if share > 0.0:
                    mean += share * math.log1p(b * inner)
                gain[j] = n * (mean - TERM_ERROR * (1.0 + s))
                pull[j] = n * b / (1.0 + b * p) / scale
        gain[NO_STAKE], pull[NO_STAKE] = 0.0, 0.0
        for q in range(NO_STAKE):
            both, slope = 0.0, 0.0
            for j in range(NO_STAKE + 1):
                both += SHAPES[q, j] * gain[j]
                slope += SHAPES[q, j] * pull[j]
            stakes.shape_gain[side, i, q], stakes.shape_pull[side, i, q] = both, slope
    stakes.fresh[i] = True


@tight
def suiting(mu, i, stakes):
    """The stake of an arm that has a slope, as a number of octaves from the largest."""
    if int(stakes.facts[Known.FAMILY, i]) == Family.STUDENT:
        return NO_STAKE / 2.0
    if not stakes.fresh[i]:
        stake(i, stakes)
    pull, j = stakes.pull[0, i], 0
    while j < NO_STAKE - 1 and pull[j] > mu:
        j += 1
    return float(j)


@lean
def normal_conjugate(mu, limit, i, stakes):
    """The least of the evidence by likelihood (see student.py) less mu times the distance, for distances from 0 to a limit: where
    the derivative n d / (v + d^2) first is mu, or at the limit, since the evidence bends down beyond."""
    facts = stakes.facts
    n, v, fixed, scale = facts[Known.N, i], facts[Known.INNER, i], facts[Known.SHARE, i], facts[Known.SCALE, i]
    if n < 1.0 or not v > 0.0:
        return NOTHING * (1.0 + mu * limit)
    mu, far = mu * scale, limit / scale
    found = by_likelihood(n, v, fixed, far) - mu * far
    root = n * n - 4.0 * mu * mu * v
    if root > 0.0:
        d = 2.0 * mu * v / (n + math.sqrt(root))
        if d < far:
            found = min(found, by_likelihood(n, v, fixed, d) - mu * d)
    return found - TERM_ERROR * n


@lean
def conjugate(k, mu, side, limit, i, stakes):
    """At most the least over u of the evidence of an arm on one side, stakes about S_k, and mu times the distance from p to u;
    for normal arms of distances up to a limit."""
    if int(stakes.facts[Known.FAMILY, i]) == Family.STUDENT:
        return normal_conjugate(mu, limit, i, stakes)
    if not stakes.fresh[i]:
        stake(i, stakes)
    gain, pull, prior = stakes.gain[side, i], stakes.pull[side, i], LOG_PRIORS[k]
    if mu > pull[0]:
        if int(stakes.facts[Known.FAMILY, i]) == Family.NORMAL:
            return -np.inf
        over = mu / pull[0]
        return prior[0] + gain[0] + stakes.facts[Known.N, i] * (math.log(over) - over + 1.0)
    j = 0
    while pull[j + 1] > mu:
        j += 1
    part = (mu - pull[j + 1]) / (pull[j] - pull[j + 1])
    found = part * (prior[j] + gain[j]) + (1.0 - part) * (prior[j + 1] + gain[j + 1])
    if 0.0 < part < 1.0:
        found -= part * math.log(part) + (1.0 - part) * math.log(1.0 - part)
    wide_gain, wide_pull = stakes.shape_gain[side, i], stakes.shape_pull[side, i]
    q = min(j, NO_STAKE - 1)
    while q > 0 and wide_pull[q] < mu:
        q -= 1
    while q + 1 < NO_STAKE and wide_pull[q + 1] >= mu:
        q += 1
    if wide_pull[q] >= mu:
        if q + 1 < NO_STAKE:
            part = (mu - wide_pull[q + 1]) / (wide_pull[q] - wide_pull[q + 1])
            wide = part * (wide_gain[q] + PRICES[k, q]) + (1.0 - part) * (wide_gain[q + 1] + PRICES[k, q + 1])
        else:  # or no stake at all
            part = mu / wide_pull[q]
            wide = part * (wide_gain[q] + PRICES[k, q]) + (1.0 - part) * prior[NO_STAKE]
        found = max(found, wide)
    return found


@kernel
def see_all(families, seen, scales, stakes, spread):
    """All arms as evidence sees them, and about the squares of their errors."""
    for i in range(len(families)):
        arm = Seen(families[i], seen[0, i], seen[1, i], seen[2, i], seen[3, i], np.inf, 0.0, 0.0)
        note(i, arm, scales[i], stakes)
        spread[i] = spread_of(arm, scales[i])


def stakes_of(m: int) -> Stakes:
    """Room for so many arms."""
    return Stakes(
        np.zeros((len(Known), m)),
        np.zeros(m, np.bool_),
        np.empty((2, m, NO_STAKE + 1)),
        np.empty((2, m, NO_STAKE + 1)),
        np.empty((2, m, NO_STAKE)),
        np.empty((2, m, NO_STAKE)),
    )
