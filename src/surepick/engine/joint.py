"""The exploration loop of joint stopping by single exchanges, compiled: the same samples as the Python loop.

As in :mod:`.loop` the arrays are an explorer's own. Between two rounds one arm changes, and with it the scores of its exchanges
alone. These get a lower bound that costs a fraction of the score itself; a tournament finds the least, and what wins by its bound
is scored and plays again. So few exchanges are scored, and those of other arms are not looked at.

An arm has a seat, and every seat a list of its exchanges. For groups these are the rows and the columns of a table, rows for the
arms taken and columns for the others, and two arms change seats when one takes the other's place in the decision. Allocations
have a row and a column for every arm, and some exchanges that are none at present. For trees the lists are made anew with the
tree.
"""

from __future__ import annotations

import math

import numpy as np

from .allocation import improve
from .compile import kernel, lean, tight
from .draws import sample
from .evidence import FACTOR, HALF, HIGH, KIND, LOW, SCALE, SEEN, SHIFT, SPREAD, N, P, alike_least, rough, rough_least, sure
from .exchanges import FREE, SLACK, behind, halved, richer, tree_exchanges
from .kinds import PAUSED, UNSURE
from .matroids import ahead
from .minima import LOOSE, ORDER, SCORE, SECOND, enter, play, play_one, size_of
from .record import ESTIMATE, ORIGIN, offset_of
from .rivals import best_tree
from .sequences import unit_of

GROUPS, TREE, ALLOCATION = 0, 1, 2
OPEN, SURE, SHORT, NONE = 0, 1, 2, 3  # whether an exchange is certain; unchanged until one of its arms is observed, or none
UPPER, LOWER = 0, 1  # rows of ``pair`` and ``slopes``


# -- scores -----------------------------------------------------------------------------------------------------------


@tight
def need(h, j, known, threshold):
    """As ``exchanges.need``, to the last bit."""
    return max(threshold + known[h, HALF] + known[j, HALF] - FREE, 0.25)


@tight
def bound(e, alike, pair, slopes, levels, scores, certain, known, threshold):
    """The score of an exchange one of whose arms has changed, as a lower bound."""
    if certain[e] == NONE:
        scores[SCORE, e], scores[LOOSE, e] = np.inf, 0.0
        return
    h, j = pair[UPPER, e], pair[LOWER, e]
    if alike:
        found = alike_least(h, j, known)
    else:
        found, levels[e] = rough_least(levels[e], h, j, slopes[UPPER, e], slopes[LOWER, e], known)
    scores[SCORE, e] = found / need(h, j, known, threshold) if found > 0.0 else 0.0  # also if it is not a number
    scores[SECOND, e], scores[LOOSE, e] = known[h, N] + known[j, N], 1.0
    certain[e] = OPEN


@lean
def weakest(tree, pair, slopes, scores, kinds, n, p, known, bottom, top, shift, scale, rho, threshold):
    """The exchange with the least evidence for what it needs; of equal ones that with the fewest observations."""
    while True:
        e = tree[1]
        if scores[LOOSE, e] == 0.0:
            return e
        h, j = pair[UPPER, e], pair[LOWER, e]
        found = rough(h, j, slopes[UPPER, e], slopes[LOWER, e], kinds, n, p, bottom, top, shift, scale, rho)
        scores[SCORE, e], scores[LOOSE, e] = found / need(h, j, known, threshold), 0.0
        play_one(tree, e, scores)


@kernel
def short(e, pair, slopes, certain, kinds, n, p, bottom, top, shift, scale, rho, threshold):
    """The evidence of an exchange is below the threshold."""
    if certain[e] == OPEN:
        h, j = pair[UPPER, e], pair[LOWER, e]
        exact = sure(h, j, slopes[UPPER, e], slopes[LOWER, e], kinds, n, p, bottom, top, shift, scale, rho, 0.0, threshold)
        certain[e] = SURE if exact >= threshold else SHORT
    return certain[e] == SHORT


# -- seats ------------------------------------------------------------------------------------------------------------


@lean
def touch(seat, first, links, rows, tree, alike, pair, slopes, levels, scores, certain, known, threshold):
    """The exchanges of a seat anew, after its arm has changed; the first ``rows[seat]`` of them lie side by side."""
    for q in range(first[seat], first[seat + 1]):
        bound(links[q], alike, pair, slopes, levels, scores, certain, known, threshold)
    beside = first[seat] + rows[seat]
    if rows[seat] > 0:
        play(tree, links[first[seat]], links[beside - 1] + 1, scores)
    for q in range(beside, first[seat + 1]):
        play_one(tree, links[q], scores)


@lean
def change_seats(i, j, taken, decision, seats, sitting, first, links, place, pair, scores):
    """One of two arms takes the other's place in the decision; ``taken`` is the row of ``pair`` with the arms that it takes."""
    decision[i], decision[j] = decision[j], decision[i]
    seats[i], seats[j] = seats[j], seats[i]
    for side in range(2):
        arm = i if (decision[i] > 0) == (side == taken) else j
        sitting[seats[arm]] = arm
        for q in range(first[seats[arm]], first[seats[arm] + 1]):
            pair[side, links[q]] = arm
    for side in range(2):
        seat = seats[i] if side == 0 else seats[j]
        for q in range(first[seat], first[seat + 1]):
            e = links[q]
            scores[ORDER, e] = place[pair[taken, e]] * len(place) + place[pair[1 - taken, e]]


@kernel
def lay_groups(ints, taken, decision, seats, sitting, first, links, rows, place, pair, scores):
    """Seats for groups, those of the arms taken first; returns the number of exchanges.

    ``taken`` is the row of ``pair`` with the arms taken: the upper one if the largest parameters are looked for.
    """
    k, groups = ints[0], ints[1] - 1
    starts, members = ints[2 : 3 + groups], ints[3 + groups :]
    count, q, s = 0, 0, 0
    for g in range(groups):
        width = starts[g + 1] - starts[g] - k
        for inside in (True, False):
            own = 0
            for a in range(starts[g], starts[g + 1]):
                i = members[a]
                place[i] = a
                if (decision[i] > 0) != inside:
                    continue
                seats[i], sitting[s], first[s] = s, i, q
                rows[s] = width if inside else 0
                for other in range(width if inside else k):
                    links[q] = count + (own * width + other if inside else other * width + own)
                    pair[taken if inside else 1 - taken, links[q]] = i
                    q += 1
                own += 1
                s += 1
        count += k * width
    first[s] = q
    for e in range(count):
        scores[ORDER, e] = place[pair[taken, e]] * len(members) + place[pair[1 - taken, e]]
    return count


@kernel
def lay_tree(ints, decision, seats, first, links, rows, pair, scores):
    """Seats for a tree's edges; returns the number of exchanges."""
    count = tree_exchanges(ints, decision, pair[UPPER], pair[LOWER])
    first[:] = 0
    rows[:] = 0
    for e in range(count):
        scores[ORDER, e] = e
        first[pair[UPPER, e] + 1] += 1
        first[pair[LOWER, e] + 1] += 1
    for i in range(len(seats)):
        seats[i] = i
        first[i + 1] += first[i]
    for e in range(count):
        for side in range(2):
            i = pair[side, e]
            links[first[i]] = e
            first[i] += 1
    for i in range(len(seats), 0, -1):  # back to where every list begins
        first[i] = first[i - 1]
    first[0] = 0
    return count


@kernel
def lay_allocation(seats, first, links, rows, pair, scores):
    """Seats for an allocation's arms, each with its row and its column; returns the number of places in the table."""
    m = len(seats)
    for i in range(m):
        seats[i], first[i], rows[i] = i, i * (2 * m - 1), m
        for j in range(m):
            links[first[i] + j] = i * m + j
            if j != i:
                links[first[i] + m + j - (j > i)] = j * m + i
            pair[UPPER, i * m + j], pair[LOWER, i * m + j] = i, j
            scores[ORDER, i * m + j] = i * m + j
    first[m] = m * (2 * m - 1)
    return m * m


@lean
def refit(i, sizes, least, most, decision, slopes, certain):
    """The slopes of an allocation's arm whose units have changed, and which of its exchanges there are."""
    m, units = len(decision), decision[i]
    for j in range(m):
        for side in range(2):
            a, b = (i, j) if side == UPPER else (j, i)
            e = a * m + b
            certain[e] = OPEN if a != b and decision[a] > least[a] and decision[b] < most[b] else NONE
            if side == UPPER and units > 1:
                slopes[UPPER, e] = sizes[i] * sizes[i] / (units * (units - 1.0))
            elif side == LOWER:
                slopes[LOWER, e] = sizes[i] * sizes[i] / (units * (units + 1.0))


# -- the decision -----------------------------------------------------------------------------------------------------


@lean
def settle(ints, weights, decision):
    """The best of every group, from a nearby choice: the best arm outside replaces the worst one inside while it is ahead."""
    groups = ints[1] - 1
    starts, members = ints[2 : 3 + groups], ints[3 + groups :]
    for g in range(groups):
        while True:
            inside, outside = -1, -1
            for a in range(starts[g], starts[g + 1]):
                i = members[a]
                if decision[i] > 0:
                    if inside < 0 or ahead(weights[inside], inside, weights[i], i):
                        inside = i
                elif outside < 0 or ahead(weights[i], i, weights[outside], outside):
                    outside = i
            if inside < 0 or outside < 0 or ahead(weights[inside], inside, weights[outside], outside):
                break
            decision[inside], decision[outside] = 0, 1


@lean
def replaced(i, ints, place, seats, sitting, weights):
    """The arm that changes seats with i, after the weight of i has changed; -1 if there is none."""
    k, g = ints[0], 2
    while ints[g + 1] <= place[i]:
        g += 1
    start, end = ints[g], ints[g + 1]
    inside, found = seats[i] < start + k, -1
    for s in range(start + k if inside else start, end if inside else start + k):
        j = sitting[s]
        if inside:  # the best of the others
            better = i if found < 0 else found
            if ahead(weights[j], j, weights[better], better):
                found = j
        else:  # the worst of those taken
            worse = i if found < 0 else found
            if ahead(weights[worse], worse, weights[j], j):
                found = j
    return found


@lean
def overtaken(i, first, links, pair, decision, weights):
    """Some exchange of an edge improves the tree, after the weight of i has changed."""
    for q in range(first[i], first[i + 1]):
        a, b = pair[UPPER, links[q]], pair[LOWER, links[q]]
        if decision[a] == 0:
            a, b = b, a
        if ahead(weights[b], b, weights[a], a):
            return True
    return False


@kernel
def blocking(
    kind, ints, decision, seats, first, links, pair, slopes, certain, count,
    kinds, n, p, bottom, top, shift, scale, rho, threshold,
):  # fmt: skip
    """The first exchange whose evidence is below the threshold, in the order of ``exchanges.exchanges``; -1 if there is none."""
    if kind != GROUPS:
        for e in range(count):
            if short(e, pair, slopes, certain, kinds, n, p, bottom, top, shift, scale, rho, threshold):
                return e
        return -1
    k, groups = ints[0], ints[1] - 1
    starts, members = ints[2 : 3 + groups], ints[3 + groups :]
    for g in range(groups):
        for a in range(starts[g], starts[g + 1]):
            if decision[members[a]] == 0:
                continue
            row = first[seats[members[a]]]
            for b in range(starts[g], starts[g + 1]):
                if decision[members[b]] == 0:
                    e = links[row + seats[members[b]] - starts[g] - k]
                    if short(e, pair, slopes, certain, kinds, n, p, bottom, top, shift, scale, rho, threshold):
                        return e
    return -1


@lean
def see(i, sign, reference, counts, table, variance, units, rho, bottom, top, n, p, weights, known):
    """What is known of an arm by now."""
    n[i], p[i] = unit_of(i, counts, table, units)
    theta = table[i, ESTIMATE] if variance else (table[i, ORIGIN] - reference) + offset_of(i, counts, table)
    weights[i] = sign * min(max(theta, bottom[i] - reference), top[i] - reference)
    known[i, N], known[i, P] = n[i], p[i]
    known[i, FACTOR], known[i, HALF] = n[i] * n[i] / (n[i] + rho), 0.5 * math.log1p(n[i] / rho)
    known[i, SEEN] = known[i, SHIFT] + known[i, SCALE] * (p[i] * (1.0 - p[i]) if known[i, KIND] == SPREAD else p[i])


@kernel
def run(
    kind, grouped, rooted, shared, ints, floats, sign, reference, kinds, shift, scale, paired, units, rho, threshold, bottom, top,
    counts, table, variance, buffer, stock, laws, decision, most, budget, rounds,
):  # fmt: skip
    """Explore until something needs the caller; returns (what, arm).

    ``decision`` is a nearby one, and kept up to date; there are at most ``most`` exchanges. What parameters are counted from to
    choose the decision is ``reference``. Of ``grouped``, ``rooted`` and ``shared`` all are None but that of the kind: numba does
    not compile what it sees will not run.
    """
    m = len(counts)
    n, p, weights, known = np.empty(m), np.empty(m), np.empty(m), np.empty((m, 10))
    t, last = np.int64(0), np.int64(-1)  # not plain numbers, of which numba compiles what they are handed to once more
    halves, fewest, alike = 0, 0, kind != ALLOCATION
    for i in range(m):
        t += counts[i]
        halves += paired[i] and counts[i] % 2 == 1
        known[i, KIND], known[i, LOW], known[i, HIGH] = kinds[i], bottom[i], top[i]
        known[i, SHIFT], known[i, SCALE] = shift[i], scale[i]
        see(i, sign, reference, counts, table, variance, units, rho, bottom, top, n, p, weights, known)
        alike = alike and kinds[i] == kinds[0] and scale[i] == scale[0] and shift[i] == shift[0]
        alike = alike and kinds[i] != SPREAD and bottom[i] == bottom[0] and top[i] == top[0]
    spots = m * m if kind == ALLOCATION else most
    pair, slopes, levels = np.zeros((2, spots), np.int64), np.ones((2, spots)), np.full(spots, np.nan)
    scores, certain, tree = np.zeros((4, spots)), np.zeros(spots, np.int64), np.zeros(2 * size_of(spots), np.int64)
    seats, sitting, rows, place = np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros(m, np.int64)
    first, links = np.zeros(m + 1, np.int64), np.zeros(2 * spots, np.int64)
    before, moved = decision.copy(), np.empty(m + 1, np.int64)
    count, fresh, taken = 0, True, UPPER if sign > 0.0 else LOWER
    for _ in range(rounds):
        # the decision, and the exchanges of what has changed with it
        anew, many = last < 0, 0
        if fresh:
            moved[0], many = last, 1
        if grouped is not None:
            if anew:
                settle(ints, weights, decision)
                count = lay_groups(ints, taken, decision, seats, sitting, first, links, rows, place, pair, scores)
            else:
                other = replaced(last, ints, place, seats, sitting, weights)
                if other >= 0:
                    change_seats(last, other, taken, decision, seats, sitting, first, links, place, pair, scores)
                    moved[0], moved[1], many = last, other, 2
        if rooted is not None and (anew or overtaken(last, first, links, pair, decision, weights)):
            anew = True
            best_tree(ints, weights, decision)
            count = lay_tree(ints, decision, seats, first, links, rows, pair, scores)
        if shared is not None:
            if not improve(floats, weights, ints[1 : 1 + m], ints[1 + m :], decision):
                return UNSURE, -1
            if anew:
                count = lay_allocation(seats, first, links, rows, pair, scores)
            for i in range(m):
                if anew or decision[i] != before[i]:
                    refit(i, floats, ints[1 : 1 + m], ints[1 + m :], decision, slopes, certain)
                    before[i] = decision[i]
                    if i != last or not fresh:
                        moved[many] = i
                        many += 1
        if anew:
            for e in range(count):
                bound(e, alike, pair, slopes, levels, scores, certain, known, threshold)
            enter(tree, count)
            play(tree, np.int64(0), spots, scores)
        else:
            for q in range(many):
                touch(
                    seats[moved[q]], first, links, rows, tree, alike, pair, slopes, levels, scores, certain, known, threshold
                )  # fmt: skip
        # the stop
        e, certified = -1, True
        if count > 0:
            e = weakest(tree, pair, slopes, scores, kinds, n, p, known, bottom, top, shift, scale, rho, threshold)
            wanted = need(pair[UPPER, e], pair[LOWER, e], known, threshold)
            certified = scores[SCORE, e] * wanted >= wanted - SLACK
            if certified and short(e, pair, slopes, certain, kinds, n, p, bottom, top, shift, scale, rho, threshold):
                certified = False
            elif certified:
                f = blocking(
                    kind, ints, decision, seats, first, links, pair, slopes, certain, count,
                    kinds, n, p, bottom, top, shift, scale, rho, threshold,
                )  # fmt: skip
                if f >= 0:
                    e, certified = f, False
        # the choice
        arm = halved(counts, paired) if halves > 0 else -1
        if arm < 0 and not certified:
            if fewest < math.sqrt(t) - 0.5 * m:
                arm = behind(counts)
                fewest = counts[0]
                for i in range(1, m):
                    fewest = min(fewest, counts[i])
            if arm < 0:
                arm = richer(
                    e, pair[UPPER], pair[LOWER], slopes[UPPER], slopes[LOWER], kinds, n, p, bottom, top, shift, scale, rho, counts
                )
        what = sample(arm, t, budget, counts, table, variance, buffer, stock, laws)
        if what != PAUSED:
            return what, arm
        t += 1
        last, fresh = arm, True
        if paired[arm]:
            fresh = counts[arm] % 2 == 0  # half a pair is no evidence yet
            halves += -1 if fresh else 1
        see(arm, sign, reference, counts, table, variance, units, rho, bottom, top, n, p, weights, known)
    return PAUSED, -1
