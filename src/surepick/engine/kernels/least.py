"""The exact evidence of two arms that slope_h theta_h + more >= slope_j theta_j: the least over all parameters for which it is
false, of the evidence that h is above a level and that j is below it."""

from __future__ import annotations

import math

import numpy as np

from ..compile import kernel, lean
from ..enums import Family
from .bets import has_bets
from .glr import base_of, level_seen, seen_of, settled, whole_of
from .mixtures import LEAST_PART, alone, parts, sort_of, together
from .sides import ABOVE, BELOW, BOTH, HEDGE
from .unit import LEAST

LARGER_PART = 0.6180339887498949
STEPS, DECADES = 8, 12  # of the grid on which the least evidence is looked for
SAME_LEVEL = 1e-13  # levels nearer than this, as a share of the way, are one
UNLIKE = 30.0  # arms whose units differ by more get a finer one
SLIP, SLIP_WITHIN = 0.25, 2.0  # by how much evidence of finitely many values may rise again, over how many of them
MOST_LEVELS = 400  # levels that are looked at to tell whether the evidence is enough; if they do not tell, it is not


@lean
def sort_at(i, arms):
    return sort_of(arms.families[i], whole_of(i, arms))


@kernel
def parts_of(i, theta, base, side, arms):
    """The parts of the evidence that an arm is on one side of a parameter that is counted from ``base``."""
    return parts(seen_of(i, arms), (theta - (arms.shift[i] - base)) / arms.scale[i], arms.rho[i], side)


@kernel
def parts_at(g, h, j, slope_h, slope_j, arms, more):
    """The parts of the evidence that h is above a level, and that j is below it."""
    base = base_of(h, j, slope_h, slope_j, arms)
    return parts_of(h, (g - more) / slope_h, base, ABOVE, arms), parts_of(j, g / slope_j, base, BELOW, arms)


@kernel
def evidence_at(g, h, j, slope_h, slope_j, arms, more):
    parts_h, parts_j = parts_at(g, h, j, slope_h, slope_j, arms, more)
    return together(sort_at(h, arms), parts_h[0], parts_h[1], sort_at(j, arms), parts_j[0], parts_j[1])


@lean
def tame(i, arms):
    """The evidence of an arm is one valley. Not so for less than one whole success or failure, which are as good as none against
    parameters that are far nearer to the end."""
    yes, no = arms.n[i] * arms.p[i], arms.n[i] * (1.0 - arms.p[i])
    unbounded = arms.families[i] == Family.NORMAL or arms.families[i] == Family.STUDENT
    return unbounded or (yes >= 1.0 and no >= 1.0)


@lean
def floor_of(i, arms):
    """Evidence of an arm is nowhere below this: two-sided evidence is least about where the arm is seen, and a part of all."""
    if not tame(i, arms):
        return -np.inf
    at = arms.p[i] * (1.0 - arms.p[i]) if arms.families[i] == Family.SPREAD else arms.p[i]
    if arms.families[i] == Family.STUDENT:  # by likelihood; by symmetry it has no floor
        return min(parts(seen_of(i, arms), at, arms.rho[i], BOTH)[1], 0.0) + math.log(LEAST_PART) - 1.0
    least = min(parts(seen_of(i, arms), at, arms.rho[i], BOTH)[0], 0.0) + math.log(HEDGE) - 1.0
    return least + math.log(LEAST_PART) if has_bets(arms.families[i]) else least  # whatever the other arm is weighed by


@lean
def slip(i, g, slope, base, arms):
    """Evidence that an arm is on one side of a level falls towards what is seen of it, but for so much at the end: without
    replacement its least is up to one value of the arm away from there."""
    whole = whole_of(i, arms)
    if not whole < np.inf or arms.families[i] == Family.SPREAD:
        return 0.0
    return SLIP if abs(g - level_seen(i, slope, base, arms)) * whole <= SLIP_WITHIN * slope * arms.scale[i] else 0.0


@kernel
def cleared(a, b, h, j, slope_h, slope_j, arms, more, enough):
    """Whether the evidence is ``enough`` all the way from a to b, between the levels seen of the arms: a number below it if not.

    There evidence for h falls and evidence for j rises, so that between two levels it is at least that of h at the upper one and
    of j at the lower one. Levels are halved until this is enough everywhere, or is not at one of them.
    """
    left, right, least = np.empty(64), np.empty(64), np.empty(64)
    below, above = np.empty((64, 2)), np.empty((64, 2))  # parts for j at the left, for h at the right
    left[0], right[0], top = a, b, 1
    base, sort_h, sort_j = base_of(h, j, slope_h, slope_j, arms), sort_at(h, arms), sort_at(j, arms)
    for end in range(2):
        (m_h, k_h), (m_j, k_j) = parts_at(a if end == 0 else b, h, j, slope_h, slope_j, arms, more)
        found = together(sort_h, m_h, k_h, sort_j, m_j, k_j)
        if not found >= enough:
            return found
        if end == 0:
            below[0, 0], below[0, 1] = m_j - slip(j, a, slope_j, base, arms), k_j
        else:
            above[0, 0], above[0, 1] = m_h - slip(h, b - more, slope_h, base, arms), k_h
    least[0] = together(sort_h, above[0, 0], above[0, 1], sort_j, below[0, 0], below[0, 1])
    for _ in range(MOST_LEVELS):
        while top > 0 and least[top - 1] >= enough:
            top -= 1
        if top == 0:
            return enough
        k = top - 1
        middle = 0.5 * (left[k] + right[k])
        if not left[k] < middle < right[k] or top == 64:
            break
        (m_h, k_h), (m_j, k_j) = parts_at(middle, h, j, slope_h, slope_j, arms, more)
        found = together(sort_h, m_h, k_h, sort_j, m_j, k_j)
        if not found >= enough:
            return found
        m_h, m_j = m_h - slip(h, middle - more, slope_h, base, arms), m_j - slip(j, middle, slope_j, base, arms)
        left[top], right[top], below[top, 0], below[top, 1] = middle, right[k], m_j, k_j
        above[top, 0], above[top, 1] = above[k, 0], above[k, 1]
        right[k], above[k, 0], above[k, 1] = middle, m_h, k_h
        for q in (k, top):
            least[q] = together(sort_h, above[q, 0], above[q, 1], sort_j, below[q, 0], below[q, 1])
        top += 1
    for k in range(top):  # too near to tell: what is left
        if not least[k] >= enough:
            return least[k]
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
def lay_ends(grid, count, a, b, i, slope, base, arms, more):
    """Two levels more, in their places, if they are between a and b: where an arm comes so near to an end of [0, 1] that its
    evidence changes no more. Beside an arm of a far smaller range there can be a valley of its own."""
    for end in range(2):
        g = slope * ((arms.shift[i] - base) + arms.scale[i] * (LEAST if end == 0 else 1.0 - LEAST)) + more
        if a < g < b:
            k = count
            while grid[k - 1] > g:
                grid[k] = grid[k - 1]
                k -= 1
            grid[k] = g
            count += 1
    return count


@kernel
def valley(a, b, h, j, slope_h, slope_j, arms, more, enough):
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
        g = b - LARGER_PART * (b - a) if first else a + LARGER_PART * (b - a)
        f = evidence_at(g, h, j, slope_h, slope_j, arms, more)
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
def least_evidence(h, j, slope_h, slope_j, arms, more=0.0, enough=-np.inf):
    """The evidence for slope_h theta_h + more >= slope_j theta_j: the least over all parameters for which it is false.

    Evidence that theta_h is above u falls with u, up to some u beyond what is seen, and evidence that theta_j is below u rises
    with it, so the least is on the boundary, a search over one level g: on a grid, then by golden section around every least of
    the grid, to the end. An arm that is known very well makes a very narrow valley, and priors degenerate at the ends of [0, 1],
    so the grid gets denser towards what is seen of either arm and towards the ends. Beyond what is seen of an arm the search
    goes on only if something below the best so far can be there. Once below ``enough`` it may end; and where it is only asked
    whether the evidence is enough, ``cleared`` answers with fewer levels.
    """
    base = base_of(h, j, slope_h, slope_j, arms)
    start = max(slope_h * (arms.low[h] - base) + more, slope_j * (arms.low[j] - base))
    end = min(slope_h * (arms.high[h] - base) + more, slope_j * (arms.high[j] - base))
    if start >= end:
        if settled(h, j, slope_h, slope_j, base, more, arms):
            return np.inf
        if start > end:
            return -np.inf
    # Pairs may show a variance that no arm can have. What is seen of h beyond its range must not hide that l may lie above all of
    # that range: the least is on the boundary only if h can be where it is seen.
    at_h = min(level_seen(h, slope_h, base, arms), slope_h * (arms.high[h] - base)) + more
    at_j = min(level_seen(j, slope_j, base, arms), slope_j * (arms.high[j] - base))
    if at_h <= at_j:
        return 0.0
    # about where the least is, looked at first because most searches may end there
    middle = (arms.n[h] * at_h + arms.n[j] * at_j) / (arms.n[h] + arms.n[j])
    best = evidence_at(min(max(middle, start), end), h, j, slope_h, slope_j, arms, more)
    if not best >= enough:
        return best
    quick = (
        enough > -np.inf
        and tame(h, arms)
        and tame(j, arms)
        and arms.families[h] != Family.SPREAD
        and arms.families[j] != Family.SPREAD
    )
    far = 1e3 * (
        (at_h - at_j) + slope_h * arms.scale[h] + slope_j * arms.scale[j]
    )  # where the range of normal arms ends for the search
    unit_h, unit_j = slope_h * arms.scale[h], slope_j * arms.scale[j]
    each = 1 if max(unit_h, unit_j) <= UNLIKE * min(unit_h, unit_j) else 5  # valleys of very unlike arms are narrow
    grid, found = np.empty(2 * each * DECADES + STEPS + 6), np.empty(2 * each * DECADES + STEPS + 6)
    for part in range(3):  # between what is seen of the arms, then above and below
        a, b = (at_j, at_h) if part == 0 else (at_h, min(end, at_h + far)) if part == 1 else (max(start, at_j - far), at_j)
        a, b = min(max(a, start), end), min(max(b, start), end)
        if part > 0:
            i, other, side = (j, h, BELOW) if part == 1 else (h, j, ABOVE)
            theta = a / slope_j if part == 1 else (b - more) / slope_h
            known_parts = parts_of(i, theta, base, side, arms)
            known = alone(sort_at(i, arms), known_parts[0], known_parts[1])
            if known + floor_of(other, arms) >= (enough if quick else best):
                continue
        if part == 0 and quick:
            found_least = cleared(a, b, h, j, slope_h, slope_j, arms, more, enough)
            if not found_least >= enough:
                return found_least
            continue
        grid[0] = a
        count = lay_steps(grid, 1, a, b, each)
        count = lay_ends(grid, count, a, b, h, slope_h, base, arms, more)
        count = lay_ends(grid, count, a, b, j, slope_j, base, arms, 0.0)
        for k in range(count):
            found[k] = evidence_at(grid[k], h, j, slope_h, slope_j, arms, more)
            if not found[k] >= best:  # also if it is not a number
                best = found[k]
                if not best >= enough:
                    return best
        for k in range(count):
            left, right = max(k - 1, 0), min(k + 1, count - 1)
            while left > 0 and grid[k] - grid[left] < SAME_LEVEL * (b - a):  # rounding would tell which is less
                left -= 1
            while right < count - 1 and grid[right] - grid[k] < SAME_LEVEL * (b - a):
                right += 1
            if found[k] <= found[left] and found[k] <= found[right] and grid[left] < grid[right]:
                best = min(
                    best,
                    valley(grid[left], grid[right], h, j, slope_h, slope_j, arms, more, enough),
                )
                if not best >= enough:
                    return best
    return best
