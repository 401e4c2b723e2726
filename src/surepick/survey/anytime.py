"""Intervals of a population mean that hold at every moment: a survey may be watched, and stopped early.

Let stratum h have N values in [0, 1] with mean u, of which n were drawn without replacement: X_1, X_2, ... with the sums
S_1, S_2, ... Of what is left before draw t the mean is u_t = (N u - S_{t-1}) / (N - t + 1). So for every fixed l > 0

    K_l(u) = prod_t exp(l X_t) / (1 + u_t (e^l - 1))                  (a tilt, best for 0/1 values)
    K_c(u) = prod_t (1 - c + c X_t / u_t),  0 < c < 1                   (a bet, for values that vary little)

are supermartingales from 1 where u is the mean (e^{l x} lies below its chord on [0, 1]), and so is every average of them with
weights that are fixed in advance, and every product of those of several strata, however it was decided which stratum comes next.
They are evidence that the mean is above u; of 1 - X they are evidence that it is below.

The logarithm of each falls in u and is convex, for u_t is affine in u, and so is that of averages. A population mean mu is ruled
out from below if the least of sum_h ln K_h(u_h) over all u with sum W_h u_h = mu is at least ln(2 / delta): at the truth that
happens, ever, with probability at most delta / 2 (Ville). Functions that fall and are convex are bounded from below by their
tangents, so the least is found by walking down the segments of all strata in the order of their slopes for a unit of mu: the one
multiplier of a separable convex problem. That the tangents lie below makes the interval wider by a thousandth, and not wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..arms import Floats

OWN = np.geomspace(1.8, 20.0, 8)  # a stratum's own tilts, times the root of what is planned, were it alone
SHARED = np.geomspace(4.0, 40.0, 8)  # tilts that all strata share, in units of one over the planned error at deviations of 1
EXPECTED = np.geomspace(1.5, 6.0, 5)  # the same, at the deviations that are expected
STEEPEST, BOLDEST = 3.0, 0.95  # no tilt and no bet is above these
UNPLANNED = np.geomspace(0.02, 2.0, 12)
BETS = np.geomspace(0.01, BOLDEST, 10)
BY_PLAN = 0.9  # the part of the capital that counts on the plan, if there is one
NODES = np.unique(np.concatenate([-np.geomspace(0.05, 14.0, 40), np.geomspace(0.05, 9.0, 24), [0.0]]))  # in standard errors
PRIOR = 4.0  # answers of one half that a guess of a mean begins with
CELLS = 2_000_000  # numbers that are worked on at once


@dataclass(frozen=True, eq=False)
class Stratum:
    """What one stratum has shown: its size, its answers on [0, 1] in the order in which they came, how many were planned (None if
    that was not said), whether answers are 0 or 1 by nature, and the standard deviation that was expected (None if none was)."""

    N: float
    x: Floats
    planned: float | None
    binary: bool
    expected: float | None = None


def own_stakes(stratum: Stratum, strata: int) -> list[Floats]:
    """The tilts, or bets, of a stratum by itself, all with the same weight; fixed before the first answer.

    The best tilt at n answers is about z / (s sqrt(n)), z being how many errors the stratum is off: of some 4 errors in all, each
    of several strata has fewer.
    """
    if not stratum.binary:
        return [np.array(one) for one in BETS]
    if stratum.planned is None:
        return [np.array(one) for one in UNPLANNED]
    alone = OWN / math.sqrt(_worth(stratum.planned, stratum.N) * min(strata, 6) ** 0.7)
    return [np.array(one) for one in np.minimum(alone, STEEPEST)]


def shared_stakes(strata: list[Stratum], weights: Floats) -> list[list[list[Floats]]]:
    """Of every part of the capital that all strata share, the one tilt or bet of every stratum: proportional to W_h / n_h.

    Then the evidence about u_h falls by the same for a unit of mu in all strata once the plan is carried out, or any part of it
    evenly, so that it is about mu alone, and one average is paid for instead of one a stratum.
    """
    n = np.array([_worth(s.planned or 1.0, s.N) for s in strata])
    known = all(s.expected for s in strata)
    spread = np.array([s.expected or 1.0 for s in strata]) if known else np.ones(len(strata))
    error = math.sqrt(float((weights**2 * spread**2 / n).sum()))
    return [
        [[_shared(s, float(one / error * w / m))] for s, w, m in zip(strata, weights, n, strict=True)]
        for one in (EXPECTED if known else SHARED)
    ]


def _shared(stratum: Stratum, tilt: float) -> Floats:
    if stratum.binary:
        return np.array(math.log1p(min(tilt, math.expm1(STEEPEST))))
    # As a bet against u it has to be about tilt * u; u is guessed by the answers before.
    x = stratum.x
    guess = (np.cumsum(x) - x + 0.5 * PRIOR) / (np.arange(len(x)) + PRIOR)
    return np.minimum(tilt * guess, BOLDEST)


def evidence(stratum: Stratum, x: Floats, u: Floats, share: list[Floats]) -> tuple[Floats, Floats]:
    """ln K(u) that the mean of the stratum is above u, and how steeply it falls, at several u; ``x`` are its values, or 1 - x."""
    N, n = stratum.N, len(x)
    if not n:
        return np.zeros(len(u)), np.zeros(len(u))
    left = N - np.arange(n)
    past, rise = np.cumsum(x) - x, N / left
    logs, slopes = np.empty((len(u), len(share))), np.empty((len(u), len(share)))
    width = max(1, CELLS // n)
    for start in range(0, len(u), width):
        rows = slice(start, start + width)
        now = np.clip((N * u[rows, None] - past) / left, 1e-300, 1.0)
        for k, one in enumerate(share):
            if stratum.binary:
                lift = math.expm1(float(one))
                below = 1.0 + now * lift
                logs[rows, k] = float(one) * float(x.sum()) - np.log(below).sum(axis=1)
                slopes[rows, k] = -(lift * rise / below).sum(axis=1)
            else:
                over = one * x / now
                logs[rows, k] = np.log(1.0 - one + over).sum(axis=1)
                slopes[rows, k] = -(over / now * rise / (1.0 - one + over)).sum(axis=1)
    most = logs.max(axis=1, keepdims=True)
    parts = np.exp(logs - most)
    whole = parts.sum(axis=1)
    return most[:, 0] + np.log(whole / len(share)), (parts * slopes).sum(axis=1) / whole


def segments(stratum: Stratum, share: list[Floats]) -> tuple[float, float, Floats, Floats]:
    """The evidence of a stratum from below, by its tangents: the largest mean that is possible, the bound there, and going down
    from it the lengths of the pieces and how steeply the bound rises on each."""
    N, x, n = stratum.N, stratum.x, len(stratum.x)
    low, high = float(x.sum()) / N, (float(x.sum()) + N - n) / N
    if n >= N or high - low < 1e-12:
        at = evidence(stratum, x, np.array([min(low, 1.0)]), share)[0]
        return min(low, 1.0), float(at[0]), np.empty(0), np.empty(0)
    middle = float(x.mean()) if n else 0.5
    spread = math.sqrt(max(middle * (1 - middle) if stratum.binary else float(x.var()) if n else 0.25, 0.25 / (n + 1)))
    error = spread * math.sqrt((1.0 - n / N) / max(n, 1))
    edge = 1e-9 * (high - low)  # at the very ends tangents may be vertical
    u = np.unique(np.clip(np.concatenate([middle + NODES * error, np.linspace(low, high, 12)]), low + edge, high - edge))[::-1]
    value, slope = evidence(stratum, x, u, share)
    fall = np.maximum.accumulate(np.maximum(-slope, 0.0))
    # Between two nodes the bound is the larger of their tangents, which cross in between.
    gap, step = value[1:] - value[:-1], u[:-1] - u[1:]
    turn = fall[1:] - fall[:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(turn > 0.0, (fall[1:] * step - gap) / turn, step)
    first = np.clip(np.nan_to_num(first, nan=0.0), 0.0, step)
    lengths = np.concatenate([[high - u[0]], np.column_stack([first, step - first]).ravel(), [u[-1] - low]])
    steep = np.concatenate([[fall[0]], np.column_stack([fall[:-1], fall[1:]]).ravel(), [fall[-1]]])
    return high, float(value[0] - fall[0] * (high - u[0])), lengths, steep


def least(strata: list[Stratum], weights: Floats, shares: list[list[Floats]]) -> tuple[Floats, Floats]:
    """Means of the population, going down, and the least evidence against each: straight in between, and never more."""
    mean, total = 0.0, 0.0
    lengths, steep = [], []
    for stratum, weight, share in zip(strata, weights.tolist(), shares, strict=True):
        high, value, parts, slopes = segments(stratum, share)
        mean, total = mean + weight * high, total + value
        lengths.append(parts * weight)
        steep.append(slopes / weight)
    length, slope = np.concatenate(lengths), np.concatenate(steep)
    order = np.argsort(slope, kind="stable")
    length, slope = length[order], slope[order]
    down = np.concatenate([[0.0], np.cumsum(length)])
    return mean - down, total + np.concatenate([[0.0], np.cumsum(length * slope)])


def lowest(strata: list[Stratum], weights: Floats, level: float) -> float:
    """The population mean on [0, 1] up to which all are ruled out."""
    curves = [(0.0, *least(strata, weights, [own_stakes(s, len(strata)) for s in strata]))]
    if all(s.planned for s in strata):
        curves = [(math.log(1.0 - BY_PLAN), *curves[0][1:])]
        shared = shared_stakes(strata, weights)
        curves += [(math.log(BY_PLAN / len(shared)), *least(strata, weights, shares)) for shares in shared]
    means = np.unique(np.concatenate([mean for _, mean, _ in curves]))
    found = np.full(len(means), -np.inf)
    for part, mean, value in curves:
        found = np.logaddexp(found, part + np.interp(means, mean[::-1], value[::-1]))
    # It falls, and between two of these means it is at least what it is at the larger one, and nearly straight.
    ruled = np.flatnonzero(found >= level)
    if not len(ruled):
        return float(means[0])
    i = int(ruled[-1])
    if i + 1 == len(means):
        return float(means[-1])
    low, high = float(means[i]), float(means[i + 1])
    for _ in range(40):
        middle = 0.5 * (low + high)
        at = -np.inf
        for part, mean, value in curves:
            at = np.logaddexp(at, part + np.interp(middle, mean[::-1], value[::-1]))
        low, high = (middle, high) if at >= level else (low, middle)
    return low


def always(strata: list[Stratum], weights: Floats, delta: float) -> tuple[float, float]:
    """An interval of the population mean on [0, 1] that holds at all moments together with probability at least 1 - delta."""
    level = math.log(2.0 / delta)
    low = lowest(strata, weights, level)
    high = 1.0 - lowest([replace(s, x=1.0 - s.x) for s in strata], weights, level)
    if low > high:  # then the data are such as happen with probability delta at most; what is certain is said
        known = np.array([s.x.sum() / s.N for s in strata])
        rest = np.array([1.0 - len(s.x) / s.N for s in strata])
        low, high = float(weights @ known), float(weights @ (known + rest))
    return low, high


def _worth(n: float, N: float) -> float:
    """About how many draws with replacement so many without are worth."""
    return max(n / max(1.0 - n / N, 0.02), 1.0)
