"""Evidence against a parameter, as the logarithm of a mixture martingale, and how much of it two arms have together.

An arm is seen through n observations with mean p of one of three kinds:

* ``UNIT``: values in [0, 1] with mean u. For every q the product of (q/u)^x ((1-q)/(1-u))^(1-x) is a supermartingale, because
  it is convex in x and has mean 1 at the ends; q is mixed over Beta(rho u, rho (1 - u)).
* ``NORMAL``: 1-sub-Gaussian values with mean u; exp(l (x - u) - l^2 / 2) is mixed over l normal with variance 1 / rho.
* ``SPREAD``: 0/1 values with variance u = q (1 - q), seen through their mean as a ``UNIT``.

By Ville's inequality the evidence against the true u exceeds ln(1/alpha) at any time with probability at most alpha. Mixed over
q above (below) u only, it is one-sided evidence that the mean lies above (below) u, worth up to ln 2 more.
"""

from __future__ import annotations

import math

import numpy as np

from .compile import kernel, lean, small, tight

UNIT, NORMAL, SPREAD = 0, 1, 2
ABOVE, BELOW, BOTH = 1, -1, 0
LEAST = 1e-12  # parameters of [0, 1] are kept this far from its ends, where priors degenerate
HEDGE = 0.01  # the part of one-sided mixtures that is two-sided, so that evidence against far parameters is never very negative
GOLDEN = 0.6180339887498949
STEPS, DECADES = 8, 12  # of the grid on which the least evidence is looked for
UNLIKE = 30.0  # arms whose units differ by more get a finer one
MOST = 400  # levels that are looked at to tell whether the evidence is enough; if they do not tell, it is not
NEAR = 1e-9  # how near to its least ``rough`` is worked out


@small
def log_beta(a, b):
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@small
def fraction(a, b, x):
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    h = d
    for k in range(1, 100_000):
        for even in (True, False):
            if even:
                term = k * (b - k) * x / ((a - 1.0 + 2 * k) * (a + 2 * k))
            else:
                term = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 1.0 + 2 * k))
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = 1.0 + term / c
            c = c if abs(c) > tiny else tiny
            h *= d * c
        if abs(d * c - 1.0) < 1e-13:
            break
    return h


@small
def log_rise(b, a):
    """ln Gamma(a + b) - ln Gamma(b), to the last digits also where a is tiny; by Stirling's series."""
    total = 0.0
    while b < 25.0:
        total -= math.log1p(a / b)
        b += 1.0
    c = a + b
    series = -a / (12.0 * b * c) + a * (3.0 * b * b + 3.0 * a * b + a * a) / (360.0 * b * b * b * c * c * c)
    return total + (b - 0.5) * math.log1p(a / b) + a * (math.log(c) - 1.0) + series


@small
def log_tail(a, b, x):
    """ln P(Beta(a, b) > x)."""
    if x < (a + 1.0) / (a + b + 2.0):
        # One minus what lies below, which is nearly all if a is tiny: so its logarithm must be right to the last digit.
        first = math.lgamma(1.0 + a) if a > 1e-6 else a * (0.8224670334241132 * a - 0.5772156649015329)
        below = a * math.log(x) + b * math.log1p(-x) - first + log_rise(b, a) + math.log(fraction(a, b, x))
        return math.log(-math.expm1(min(below, -1e-17)))
    front = a * math.log(x) + b * math.log1p(-x) - log_beta(a, b)
    return front + math.log(fraction(b, a, 1.0 - x) / b)


@kernel
def log_phi(z):
    """ln of the normal distribution function."""
    if z > -30.0:
        return math.log(0.5 * math.erfc(-z / math.sqrt(2.0)))
    return -0.5 * z * z - math.log(-z) - 0.5 * math.log(2.0 * math.pi) + math.log1p(-1.0 / (z * z))


@small
def unit_evidence(n, p, u, rho, side):
    """Against mean u, from n values in [0, 1] with mean p."""
    if side == BELOW:  # that the mean is below u is that of 1 - x is above 1 - u
        p, u, side = 1.0 - p, 1.0 - u, ABOVE
    u = min(max(u, LEAST), 1.0 - LEAST)
    a, b = rho * u, rho * (1.0 - u)
    yes, no = n * p, max(n * (1.0 - p), 0.0)
    found = log_beta(a + yes, b + no) - log_beta(a, b) - yes * math.log(u) - no * math.log1p(-u)
    if side == ABOVE:
        tail = log_tail(a + yes, b + no, u) - log_tail(a, b, u)
        found += math.log((1.0 - HEDGE) * math.exp(tail) + HEDGE)
    return found


@kernel
def normal_evidence(n, p, u, rho, side):
    """Against mean u, from n 1-sub-Gaussian values with mean p."""
    s = n * (p - u)
    found = 0.5 * s * s / (n + rho) - 0.5 * math.log1p(n / rho)
    if side != BOTH:
        found += math.log((1.0 - HEDGE) * 2.0 * math.exp(log_phi(side * s / math.sqrt(n + rho))) + HEDGE)
    return found


@lean
def roots(u):
    """The two q with q (1 - q) = u."""
    width = math.sqrt(max(1.0 - 4.0 * u, 0.0))
    small = 2.0 * u / (1.0 + width)  # without cancellation
    return small, 1.0 - small


@kernel
def evidence(kind, n, p, u, rho, side):
    """Log evidence against u: that the parameter is above it, below it, or other (``side``)."""
    if kind == UNIT:
        return unit_evidence(n, p, u, rho, side)
    if kind == NORMAL:
        return normal_evidence(n, p, u, rho, side)
    small, large = roots(u)
    # Above u the mean lies between the roots. Below u it is outside, on the side where it is seen, which makes it two-sided; seen
    # between the roots there is none, and no more than the martingale of either root has, for one of them is the truth.
    between = small < p < large
    found = 0.0 if side == BELOW and between else np.inf
    for k in range(2):
        if side != BELOW or between or (p <= small) == (k == 0):
            towards = BOTH if side == BELOW else (side if k == 0 else -side)
            found = min(found, unit_evidence(n, p, small if k == 0 else large, rho, towards))
    return found


@lean
def unit_distance(p, u):
    """The divergence of Bernoulli(u) from Bernoulli(p)."""
    u = min(max(u, LEAST), 1.0 - LEAST)
    total = 0.0
    if p > 0.0:
        total += p * math.log(p / u)
    if p < 1.0:
        total += (1.0 - p) * math.log((1.0 - p) / (1.0 - u))
    return max(total, 0.0)


@lean
def distance(kind, p, u):
    """What one observation weighs in the long run: the divergence of u from p."""
    if kind == NORMAL:
        return 0.5 * (p - u) * (p - u)
    if kind == SPREAD:
        return unit_distance(min(p, 1.0 - p), roots(u)[0])  # the root on the side of p is the nearer one
    return unit_distance(p, u)


@lean
def tilt_of(kind, p, u):
    """The first and the second derivative of ``distance`` in u; very large at the ends of its range, where they are infinite."""
    if kind == NORMAL:
        return u - p, 1.0
    q = min(max(u, LEAST), 1.0 - LEAST)
    if kind == SPREAD:
        p, q = min(p, 1.0 - p), min(max(roots(u)[0], LEAST), 0.5 - LEAST)
    first, second = (q - p) / (q * (1.0 - q)), p / (q * q) + (1.0 - p) / ((1.0 - q) * (1.0 - q))
    if kind == SPREAD:
        stretch = 1.0 / (1.0 - 2.0 * q)
        return first * stretch, (second + 2.0 * first * stretch) * stretch * stretch
    return first, second


# -- intervals --------------------------------------------------------------------------------------------------------


@kernel
def reach(kind, n, p, end, rho, level):
    """How far from p towards ``end`` a parameter may lie with two-sided evidence at most ``level``; rounded outwards."""
    inside, outside = p, end
    if evidence(kind, n, p, end, rho, BOTH) <= level:
        return end
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        if evidence(kind, n, p, middle, rho, BOTH) <= level:
            inside = middle
        else:
            outside = middle
        if abs(outside - inside) <= 1e-12 * (abs(outside) + abs(inside)):
            break
    return outside


@kernel
def interval(kind, n, p, rho, level):
    """All parameters with evidence at most ``level``: an interval."""
    if kind == NORMAL:
        half = math.sqrt((n + rho) * (math.log1p(n / rho) + 2.0 * level)) / n
        return p - half, p + half
    low = reach(UNIT, n, p, 0.0, rho, level)
    high = reach(UNIT, n, p, 1.0, rho, level)
    if kind == UNIT:
        return low, high
    most = 0.25 if low <= 0.5 <= high else max(low * (1.0 - low), high * (1.0 - high))
    return min(low * (1.0 - low), high * (1.0 - high)), most


@kernel
def intervals(kinds, n, p, rho, level, old_n, old_p, lower, upper):
    """Intervals of all arms; only arms that have changed since ``old_n``, ``old_p`` are worked out again."""
    for i in range(len(n)):
        if n[i] != old_n[i] or p[i] != old_p[i]:
            lower[i], upper[i] = interval(kinds[i], n[i], p[i], rho, level)
            old_n[i], old_p[i] = n[i], p[i]


# -- two arms: is slope_h theta_h + more at least slope_j theta_j? ------------------------------------------------------


@tight
def base_of(h, j, slope_h, slope_j, shift, scale):
    """What parameters of two arms are counted from: where u = 0 is for the arm of smaller scale, so that levels keep its digits.

    Where slopes differ, as they do for variances, it must be 0.
    """
    if slope_h != slope_j:
        return 0.0
    if scale[h] == scale[j]:
        return shift[min(h, j)]  # the same whichever is to be larger, so that a problem and its mirror image round alike
    return shift[h] if scale[h] < scale[j] else shift[j]


@lean
def bracket(h, j, low, high, slope_h, slope_j, base):
    """Levels g = slope (theta - base) that both arms can be at, widened to where a claim is never or always true."""
    return (
        max(slope_h * (low[h] - base), slope_j * (low[j] - base)),
        min(slope_h * (high[h] - base), slope_j * (high[j] - base)),
    )


@lean
def rough_at(g, h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho):
    w_h = n[h] * n[h] / (n[h] + rho)
    w_j = n[j] * n[j] / (n[j] + rho)
    base = base_of(h, j, slope_h, slope_j, shift, scale)
    d_h = distance(kinds[h], p[h], (g / slope_h - (shift[h] - base)) / scale[h])
    return w_h * d_h + w_j * distance(kinds[j], p[j], (g / slope_j - (shift[j] - base)) / scale[j])


@kernel
def parts_at(g, h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho, more):
    """The evidence that h is above a level, and that j is below it."""
    e_h, e_j, base = 0.0, 0.0, base_of(h, j, slope_h, slope_j, shift, scale)
    for side in (ABOVE, BELOW):
        i = h if side == ABOVE else j
        theta = (g - more) / slope_h if side == ABOVE else g / slope_j
        found = evidence(kinds[i], n[i], p[i], (theta - (shift[i] - base)) / scale[i], rho, side)
        if side == ABOVE:
            e_h = found
        else:
            e_j = found
    return e_h, e_j


@kernel
def sure_at(g, h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho, more):
    e_h, e_j = parts_at(g, h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho, more)
    return e_h + e_j


@lean
def seen(i, slope, kinds, p, shift, scale, base):
    """The level at which an arm's observations are, counted from ``base``."""
    u = p[i] * (1.0 - p[i]) if kinds[i] == SPREAD else p[i]
    return slope * ((shift[i] - base) + scale[i] * u)


@lean
def rough(h, j, slope_h, slope_j, kinds, n, p, low, high, shift, scale, rho):
    """About how much evidence there is for slope_h theta_h >= slope_j theta_j; quick, and not a bound. It guides the sampling."""
    base = base_of(h, j, slope_h, slope_j, shift, scale)
    start, end = bracket(h, j, low, high, slope_h, slope_j, base)
    if start > end:
        return np.inf if slope_j * (high[j] - base) <= slope_h * (low[h] - base) else 0.0
    at_h, at_j = seen(h, slope_h, kinds, p, shift, scale, base), seen(j, slope_j, kinds, p, shift, scale, base)
    if at_h <= at_j:
        return 0.0
    a, b = min(max(at_j, start), end), min(max(at_h, start), end)
    w_h, w_j = n[h] * n[h] / (n[h] + rho), n[j] * n[j] / (n[j] + rho)
    g = min(max((w_h * at_h + w_j * at_j) / (w_h + w_j), a), b)
    plain = kinds[h] != SPREAD and kinds[j] != SPREAD
    if plain and kinds[h] == kinds[j] and slope_h == slope_j and scale[h] == scale[j] and shift[h] == shift[j]:
        return rough_at(g, h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho)
    unit_h, unit_j = slope_h * scale[h], slope_j * scale[j]
    least, most, stride = a, b, b - a
    for _ in range(60):  # Newton's method for the zero of the derivative, which rises; halving where that leads too little far
        h_1, h_2 = tilt_of(kinds[h], p[h], (g / slope_h - (shift[h] - base)) / scale[h])
        j_1, j_2 = tilt_of(kinds[j], p[j], (g / slope_j - (shift[j] - base)) / scale[j])
        tilt = w_h * h_1 / unit_h + w_j * j_1 / unit_j
        bend = w_h * h_2 / (unit_h * unit_h) + w_j * j_2 / (unit_j * unit_j)
        if tilt > 0.0:
            most = g
        else:
            least = g
        if abs(tilt) * (most - least) <= NEAR:  # no more than that is left, by the tangent
            break
        before, stride = stride, -tilt / bend if bend > 0.0 else most - least
        if not (least < g + stride < most and abs(stride) <= 0.5 * abs(before)):
            stride = 0.5 * (least + most) - g
        g += stride
    return rough_at(g, h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho)


# -- what ``rough`` is at least, at a fraction of its cost ---------------------------------------------------------------

# What is known of an arm, in a row of its own: kind, n and p; n^2 / (n + rho); ln(1 + n / rho) / 2; the parameter seen; its
# range; what turns it into units.
KIND, N, P, FACTOR, HALF, SEEN, LOW, HIGH, SHIFT, SCALE = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9

SLIGHT, ROUNDING = 1e-9, 1e-14  # bounds are lowered by these, the second for every observation: more than arithmetic may err


@tight
def unit_distance_least(p, u):
    """At most ``unit_distance``, and near it: ln(1 + y) <= y (6 + y) / (6 + 4 y), the same to the fourth order, for y > -1."""
    a, b = p + 2.0 * u, 3.0 - p - 2.0 * u
    if not a * b > 0.0:  # at an end of [0, 1], by rounding
        return 0.0
    return 0.5 * (p - u) * ((5.0 * p + u) * b - (6.0 - 5.0 * p - u) * a) / (a * b)


@tight
def distance_least(kind, p, u):
    """At most ``distance``."""
    if kind == NORMAL:
        return 0.5 * (p - u) * (p - u)
    if kind == SPREAD:
        p, u = min(p, 1.0 - p), roots(u)[0]
    return unit_distance_least(p, min(max(u, LEAST), 1.0 - LEAST))


@tight
def alike_least(h, j, known):
    """At most ``rough`` for two arms of the same kind, shift, scale, range and slope."""
    if known[h, SEEN] <= known[j, SEEN]:
        return 0.0
    w_h, p_h, w_j, p_j = known[h, FACTOR], known[h, P], known[j, FACTOR], known[j, P]
    if known[h, KIND] == NORMAL:
        found = 0.5 * (w_h * w_j / (w_h + w_j)) * (p_h - p_j) * (p_h - p_j)
    else:
        g = (w_h * p_h + w_j * p_j) / (w_h + w_j)
        found = w_h * unit_distance_least(p_h, g) + w_j * unit_distance_least(p_j, g)
    return found * (1.0 - SLIGHT) - ROUNDING * (w_h + w_j)


@lean
def rough_least(level, h, j, slope_h, slope_j, known):
    """At most ``rough``, and a level nearer to where its least is.

    Distances are convex in the level (that of a ``SPREAD``, in its variance, too), so they are nowhere below a tangent; here the
    tangent at ``level``, over the levels between those seen. The nearer that is to the least, the nearer the bound.
    """
    start = max(slope_h * known[h, LOW], slope_j * known[j, LOW])
    end = min(slope_h * known[h, HIGH], slope_j * known[j, HIGH])
    if start > end:
        return (np.inf if slope_j * known[j, HIGH] <= slope_h * known[h, LOW] else 0.0), level
    at_h, at_j = slope_h * known[h, SEEN], slope_j * known[j, SEEN]
    if at_h <= at_j:
        return 0.0, level
    a, b = min(max(at_j, start), end), min(max(at_h, start), end)
    both = known[h, FACTOR] + known[j, FACTOR]
    if not a <= level <= b:
        level = min(max((known[h, FACTOR] * at_h + known[j, FACTOR] * at_j) / both, a), b)
    found, tilt, bend, error = 0.0, 0.0, 0.0, 0.0
    for side in range(2):
        i, slope = (h, slope_h) if side == 0 else (j, slope_j)
        u, unit, kind = (level / slope - known[i, SHIFT]) / known[i, SCALE], slope * known[i, SCALE], known[i, KIND]
        found += known[i, FACTOR] * distance_least(kind, known[i, P], u)
        first, second = tilt_of(kind, known[i, P], u)
        tilt += known[i, FACTOR] * first / unit
        bend += known[i, FACTOR] * second / (unit * unit)
        off = ROUNDING * (abs(level / slope) + abs(known[i, SHIFT])) / known[i, SCALE]  # more than u may err
        error += known[i, FACTOR] * (abs(first) + second * off) * off
    found += tilt * (a - level) if tilt > 0.0 else tilt * (b - level)
    if bend > 0.0:
        level = min(max(level - tilt / bend, a), b)
    return found * (1.0 - SLIGHT) - ROUNDING * both - error, level


@lean
def tame(i, kinds, n, p):
    """The evidence of an arm is one valley. Not so for less than one whole success or failure, which are as good as none against
    parameters that are far nearer to the end."""
    yes, no = n[i] * p[i], n[i] * (1.0 - p[i])
    return kinds[i] == NORMAL or (yes >= 1.0 and no >= 1.0)


@lean
def floor_of(i, kinds, n, p, rho):
    """Evidence of an arm is nowhere below this: two-sided evidence is least about where the arm is seen, and a part of all."""
    if not tame(i, kinds, n, p):
        return -np.inf
    at = p[i] * (1.0 - p[i]) if kinds[i] == SPREAD else p[i]
    return min(evidence(kinds[i], n[i], p[i], at, rho, BOTH), 0.0) + math.log(HEDGE) - 1.0


@kernel
def cleared(a, b, h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho, more, enough):
    """Whether the evidence is ``enough`` all the way from a to b, between the levels seen of the arms: a number below it if not.

    There evidence for h falls and evidence for j rises, so that between two levels the sum is at least that for h at the upper
    one and that for j at the lower one. Levels are halved until this is enough everywhere, or is not at one of them.
    """
    left, right = np.empty(64), np.empty(64)
    below, above = np.empty(64), np.empty(64)  # evidence for j at the left, for h at the right
    left[0], right[0], top = a, b, 1
    for end in range(2):
        e_h, e_j = parts_at(a if end == 0 else b, h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho, more)
        if not e_h + e_j >= enough:
            return e_h + e_j
        if end == 0:
            below[0] = e_j
        else:
            above[0] = e_h
    for _ in range(MOST):
        while top > 0 and below[top - 1] + above[top - 1] >= enough:
            top -= 1
        if top == 0:
            return enough
        k = top - 1
        middle = 0.5 * (left[k] + right[k])
        if not left[k] < middle < right[k] or top == 64:
            break
        e_h, e_j = parts_at(middle, h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho, more)
        if not e_h + e_j >= enough:
            return e_h + e_j
        left[top], right[top], below[top], above[top] = middle, right[k], e_j, above[k]
        right[k], above[k] = middle, e_h
        top += 1
    for k in range(top):  # too near to tell: what is left
        if not below[k] + above[k] >= enough:
            return below[k] + above[k]
    return enough


@lean
def lay_steps(grid, count, a, b, each):
    """Levels from a to b, ever denser towards either: at tenths, hundredths, thousandths of the way, and so many ``each`` time.
    Not a itself."""
    for down in range(2):
        for k in range(each * DECADES):
            step = 10.0 ** (k / each - DECADES if down == 0 else -1.0 - k / each)
            grid[count] = a + (b - a) * step if down == 0 else b - (b - a) * step
            count += 1
        if down == 0:
            for s in range(1, STEPS):
                grid[count] = a + (b - a) * (s / STEPS)
                count += 1
    grid[count] = b
    return count + 1


@lean
def lay_ends(grid, count, a, b, i, slope, shift, scale, base, more):
    """Two levels more, in their places, if they are between a and b: where an arm comes so near to an end of [0, 1] that its
    evidence changes no more. Beside an arm of a far smaller range there can be a valley of its own."""
    for end in range(2):
        g = slope * ((shift[i] - base) + scale[i] * (LEAST if end == 0 else 1.0 - LEAST)) + more
        if a < g < b:
            k = count
            while grid[k - 1] > g:
                grid[k] = grid[k - 1]
                k -= 1
            grid[k] = g
            count += 1
    return count


@kernel
def sure(h, j, slope_h, slope_j, kinds, n, p, low, high, shift, scale, rho, more=0.0, enough=-np.inf):
    """The evidence for slope_h theta_h + more >= slope_j theta_j: the least over all parameters for which it is false.

    Evidence that theta_h is above u falls with u, up to some u beyond what is seen, and evidence that theta_j is below u rises
    with it, so the least is on the boundary, a search over one level g: on a grid, then by golden section around every least of
    the grid, to the end. An arm that is known very well makes a very narrow valley, and priors degenerate at the ends of [0, 1],
    so the grid gets denser towards what is seen of either arm and towards the ends. Beyond what is seen of an arm the search
    goes on only if something below the best so far can be there. Once below ``enough`` it may end; and where it is only asked
    whether the evidence is enough, ``cleared`` answers with fewer levels.
    """
    base = base_of(h, j, slope_h, slope_j, shift, scale)
    start = max(slope_h * (low[h] - base) + more, slope_j * (low[j] - base))
    end = min(slope_h * (high[h] - base) + more, slope_j * (high[j] - base))
    if start > end:
        return np.inf if slope_j * (high[j] - base) <= slope_h * (low[h] - base) + more else -np.inf
    # Pairs may show a variance that no arm can have. What is seen of h beyond its range must not hide that l may lie above all of
    # that range: the least is on the boundary only if h can be where it is seen.
    at_h = min(seen(h, slope_h, kinds, p, shift, scale, base), slope_h * (high[h] - base)) + more
    at_j = min(seen(j, slope_j, kinds, p, shift, scale, base), slope_j * (high[j] - base))
    if at_h <= at_j:
        return 0.0
    # about where the least is, looked at first because most searches may end there
    middle = (n[h] * at_h + n[j] * at_j) / (n[h] + n[j])
    best = sure_at(min(max(middle, start), end), h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho, more)
    if not best >= enough:
        return best
    quick = enough > -np.inf and tame(h, kinds, n, p) and tame(j, kinds, n, p) and kinds[h] != SPREAD and kinds[j] != SPREAD
    far = 1e3 * ((at_h - at_j) + slope_h * scale[h] + slope_j * scale[j])  # where the range of normal arms ends for the search
    unit_h, unit_j = slope_h * scale[h], slope_j * scale[j]
    each = 1 if max(unit_h, unit_j) <= UNLIKE * min(unit_h, unit_j) else 5  # valleys of very unlike arms are narrow
    grid, found = np.empty(2 * each * DECADES + STEPS + 6), np.empty(2 * each * DECADES + STEPS + 6)
    for part in range(3):  # between what is seen of the arms, then above and below
        a, b = (at_j, at_h) if part == 0 else (at_h, min(end, at_h + far)) if part == 1 else (max(start, at_j - far), at_j)
        a, b = min(max(a, start), end), min(max(b, start), end)
        if part > 0:
            i, other, side = (j, h, BELOW) if part == 1 else (h, j, ABOVE)
            theta = a / slope_j if part == 1 else (b - more) / slope_h
            known = evidence(kinds[i], n[i], p[i], (theta - (shift[i] - base)) / scale[i], rho, side)
            if known + floor_of(other, kinds, n, p, rho) >= (enough if quick else best):
                continue
        if part == 0 and quick:
            found_least = cleared(a, b, h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho, more, enough)
            if not found_least >= enough:
                return found_least
            continue
        grid[0] = a
        count = lay_steps(grid, 1, a, b, each)
        count = lay_ends(grid, count, a, b, h, slope_h, shift, scale, base, more)
        count = lay_ends(grid, count, a, b, j, slope_j, shift, scale, base, 0.0)
        for k in range(count):
            found[k] = sure_at(grid[k], h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho, more)
            if not found[k] >= best:  # also if it is not a number
                best = found[k]
                if not best >= enough:
                    return best
        for k in range(count):
            left, right = max(k - 1, 0), min(k + 1, count - 1)
            if found[k] <= found[left] and found[k] <= found[right] and grid[left] < grid[right]:
                best = min(
                    best,
                    valley(grid[left], grid[right], h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho, more, enough),
                )
                if not best >= enough:
                    return best
    return best


@kernel
def valley(a, b, h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho, more, enough):
    """The least between two levels, by golden section."""
    x1, x2, f1, f2, best = a, b, 0.0, 0.0, np.inf
    for step in range(82):  # the first two steps are the first two levels
        first = step == 0 or (step > 1 and f1 < f2)
        if step > 1:
            if b - a <= 1e-14 * max(abs(a), abs(b)):
                break
            if first:
                b, x2, f2 = x2, x1, f1
            else:
                a, x1, f1 = x1, x2, f2
        g = b - GOLDEN * (b - a) if first else a + GOLDEN * (b - a)
        f = sure_at(g, h, j, slope_h, slope_j, kinds, n, p, shift, scale, rho, more)
        if first:
            x1, f1 = g, f
        else:
            x2, f2 = g, f
        if not f >= best:
            best = f
            if not best >= enough:
                break
    return best


@kernel
def lead(h, j, slope_h, slope_j, kinds, n, p, low, high, shift, scale, rho, threshold):
    """By how much slope_j theta_j may be above slope_h theta_h at most, with evidence of ``threshold``; never below 0."""
    base = base_of(h, j, slope_h, slope_j, shift, scale)
    most = slope_j * (high[j] - base) - slope_h * (low[h] - base)
    if not most < np.inf:
        most = 1.0
        while sure(h, j, slope_h, slope_j, kinds, n, p, low, high, shift, scale, rho, most, threshold) < threshold:
            most *= 4.0
            if most > 1e300:
                return np.inf
    least = 0.0
    while most - least > 1e-3 * most:
        middle = 0.5 * (least + most)
        if sure(h, j, slope_h, slope_j, kinds, n, p, low, high, shift, scale, rho, middle, threshold) < threshold:
            least = middle
        else:
            most = middle
        if most < 1e-12 * (abs(slope_h) * scale[h] + abs(slope_j) * scale[j]):
            break
    return max(most, 0.0)
