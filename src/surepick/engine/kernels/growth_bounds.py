"""Lower bounds of the likelihood ratio of one arm and each of many, all weighed by bets: without a branch, so that several are
worked out at once."""

from __future__ import annotations

import math
from enum import IntEnum

from ..compile import inline, lean
from .bets import LARGEST
from .glr import BOUND_ERROR
from .near_log import LOG_ERROR, near_log
from .unit import LEAST

ERROR_EACH = 16.0 * LOG_ERROR  # more than arithmetic may err in the growth of an observation, whose terms are below 15


class Peer(IntEnum):
    """Rows of what is known of the arms that one is compared with, a column each."""

    N = 0
    P = 1
    INNER = 2
    SHARE = 3
    LOW = 4
    HIGH = 5
    SHIFT = 6
    SCALE = 7


@inline
def growth_of(p, inner, share, u):
    """As ``bets.growth`` for a mean above u, and no more than that, but for its derivatives: the first one is that at the bet
    that is found, which need not be the best to the last digit, and the second one only near."""
    none, all_ = max((1.0 - p) - share * (1.0 - inner), 0.0), max(p - share * inner, 0.0)
    each = 1.0 / u
    rise, turn = (1.0 - u) * each, (inner - u) * each
    start = all_ * rise + share * turn - none
    slope = all_ * rise * (turn - 1.0) + share * turn * (rise - 1.0) - none * (rise + turn)
    bend = -(none + all_ + share) * rise * turn
    root = math.sqrt(max(slope * slope - 4.0 * bend * start, 0.0))
    c = 2.0 * start / (root - slope)
    free = (root > slope) & (c > 0.0) & (c < LARGEST)
    c = c if free else LARGEST
    c = c if start > 0.0 else 0.0
    up, mid = 1.0 + c * rise, 1.0 + c * turn
    value = none * near_log(1.0 - c) + all_ * near_log(up) + share * near_log(mid)
    less, least = 1.0 / up, 1.0 / mid
    one, two = all_ * each * less, share * inner * each * least
    first = -c * (one + two) * each
    lost, more, some = 1.0 / (1.0 - c), rise * less, turn * least
    by_c = none * lost * lost + all_ * more * more + share * some * some
    by_u = (one * less + two * least) * each
    second = c * (one * (2.0 - c * each * less) + two * (2.0 - c * inner * each * least)) * each * each
    second = c * each * each + by_u * each / by_c if free & (by_c > 0.0) else second
    return value, first, second if c > 0.0 else 1.0


@lean
def growth_bounds(mine, slope, upper, levels, slopes, theirs, found):
    """As ``glr.glr_bound`` for one arm and each of others; ``mine`` and the columns of ``theirs`` are :class:`Peer`. The levels
    are replaced by better ones."""
    n_i, p_i, inner_i, share_i = mine[Peer.N], mine[Peer.P], mine[Peer.INNER], mine[Peer.SHARE]
    shift_i, scale_i = mine[Peer.SHIFT], mine[Peer.SCALE]
    low_i, high_i, at_i = slope * mine[Peer.LOW], slope * mine[Peer.HIGH], slope * (shift_i + scale_i * p_i)
    per_level_i = 1.0 / scale_i / slope
    ns, ps, inners, shares = theirs[Peer.N], theirs[Peer.P], theirs[Peer.INNER], theirs[Peer.SHARE]
    lows, highs, shifts, scales = theirs[Peer.LOW], theirs[Peer.HIGH], theirs[Peer.SHIFT], theirs[Peer.SCALE]
    p_up, inner_up = (p_i, inner_i) if upper else (1.0 - p_i, 1.0 - inner_i)
    for q in range(len(found)):
        scale, shift = scales[q], shifts[q]
        low, high, at = slopes[q] * lows[q], slopes[q] * highs[q], slopes[q] * (shift + scale * ps[q])
        start, end, both = max(low_i, low), min(high_i, high), n_i + ns[q]
        at_h, at_j = (at_i, at) if upper else (at, at_i)
        a, b = min(max(at_j, start), end), min(max(at_h, start), end)
        level, middle = levels[q], min(max((n_i * at_i + ns[q] * at) / both, a), b)
        level = level if (a <= level) & (level <= b) else middle
        per_level = 1.0 / scale / slopes[q]
        theta_i, theta = level / slope, level / slopes[q]
        u_i, u = (theta_i - shift_i) / scale_i, (theta - shift) / scale
        off_i, off = ERROR_EACH * (abs(theta_i) + abs(shift_i)) / scale_i, ERROR_EACH * (abs(theta) + abs(shift)) / scale
        u_i, u = (u_i, 1.0 - u) if upper else (1.0 - u_i, u)  # from the end that is bet on
        p, inner = (1.0 - ps[q], 1.0 - inners[q]) if upper else (ps[q], inners[q])
        u_i, u = min(max(u_i, LEAST), 1.0 - LEAST), min(max(u, LEAST), 1.0 - LEAST)
        value_i, first_i, second_i = growth_of(p_up, inner_up, share_i, u_i)
        value, first, second = growth_of(p, inner, shares[q], u)
        tilt_i, tilt = n_i * first_i * per_level_i, ns[q] * first * per_level
        tilt = tilt_i - tilt if upper else tilt - tilt_i
        bend = n_i * second_i * per_level_i * per_level_i + ns[q] * second * per_level * per_level
        error = n_i * (abs(first_i) + second_i * off_i) * off_i + ns[q] * (abs(first) + second * off) * off
        total = n_i * value_i + ns[q] * value
        total += tilt * (a - level) if tilt > 0.0 else tilt * (b - level)
        total = total * (1.0 - BOUND_ERROR) - ERROR_EACH * both - error
        total = 0.0 if at_h <= at_j else total
        never = (high <= low_i) if upper else (high_i <= low)
        found[q] = (math.inf if never else 0.0) if start > end else total
        levels[q] = min(max(level - tilt / bend, 0.5 * (level + a)), 0.5 * (level + b))  # not too far towards either end
