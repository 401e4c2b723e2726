"""COCI and uniform sampling for spanning trees, compiled: a round looks at few edges, the samples are the plain loop's.

What is known of an edge i rests on comparisons with some of the others. It is out if the edges on a path between its ends all
have lower bounds above its upper bound. It is in if the edges across a cut between its ends all have upper bounds below its lower
bound. It is undecided if the edges across some cut have lower bounds below its upper bound, and those on some path upper bounds
above its lower bound. The path or the cut is noted, and as long as the comparisons with its edges hold, nothing need be looked
for.

Between the bounds of i and those of the edges noted lies a pivot. The comparisons hold as long as no bound crosses it, so every
edge has limits to its bounds, by its own pivots and by those of the edges that note it. A round changes one arm; as long as it
keeps to its limits, nothing need be compared. Beyond them the notes in question are compared, and get new pivots if they hold.

As in partitions.py, bounds count as they are at the beginning of a stretch (inner) or at its horizon (outer), whichever is worse.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .compile import kernel, lean, tight
from .draws import sample
from .heaps import arrange, fall, pop, push
from .kinds import CLOSED, HAIR, MAYBE, OPEN, PAUSED
from .matroids import ahead
from .sequences import POWER, WIDE, ends, log_term

WEIGHT, INNER_LOW, INNER_UP, OUTER_LOW, OUTER_UP, NOW_LOW, NOW_UP = 0, 1, 2, 3, 4, 5, 6  # rows of ``values``
IN_PIVOT, OUT_PIVOT, LOW_MOST, UP_LEAST, LOW_LEAST, UP_MOST = 0, 1, 2, 3, 4, 5  # columns of ``limits``: an edge's own, by others
MAY_BE_IN, MAY_BE_OUT, IS_OUT, IS_IN = 1, 2, 4, 8  # what a comparison of i with an edge is for
NOW_IN, NOW_OUT = 16, 32  # the first two, at this very round; not noted
BY, OF = 0, 1  # notes[BY, e, i] and notes[OF, i, e]: what the comparison of i with e is for
KNOWN, LIMBO, AGAIN, EDGE_TO, NODES = 0, 1, 2, 3, 4  # rows of ``work``: by arm, by node the last two
TOTAL, WAITING, HORIZON, STRETCH, WITNESS, SHORTEST, LONGEST = 0, 1, 2, 3, 4, 5, 6  # entries of ``state``
NONE = -1  # the horizon before a stretch begins
LARGEST = 4096  # edges; the notes take twice the square of it in bytes


class Kept(NamedTuple):
    """What is kept between two calls."""

    values: np.ndarray[Any, Any]
    queue: np.ndarray[Any, Any]
    limits: np.ndarray[Any, Any]
    notes: np.ndarray[Any, Any]
    words: np.ndarray[Any, Any]  # the same, eight notes at once
    links: np.ndarray[Any, Any]  # the edges at a node: first[node] .. first[node + 1]
    first: np.ndarray[Any, Any]
    work: np.ndarray[Any, Any]
    state: np.ndarray[Any, Any]
    logs: np.ndarray[Any, Any]  # the logarithm at the beginning and at the horizon


def kept(kernel: np.ndarray[Any, Any], counts: np.ndarray[Any, Any], scales: np.ndarray[Any, Any]) -> Kept:
    """What is kept before the first stretch begins."""
    m, nodes = len(counts), int(kernel[0])
    ends_of = np.concatenate((kernel[2 : 2 + m], kernel[2 + m :]))
    order = np.argsort(ends_of, kind="stable")
    first = np.searchsorted(ends_of[order], np.arange(nodes + 1))
    values, work = np.zeros((7, m)), np.zeros((5, max(m, nodes)), dtype=np.int64)
    values[WEIGHT] = scales * scales / counts
    work[KNOWN] = MAYBE
    state = np.array([counts.sum(), 0, NONE, 64 * m, 0, max(m // 4, 16), 64 * m])
    words = np.zeros((2, m, (m + 7) // 8), np.uint64)
    limits = np.tile([0, 0, np.inf, -np.inf, -np.inf, np.inf, 0, 0], (m, 1))
    queue, notes = np.zeros((2, m), np.int64), words.view(np.uint8)
    return Kept(values, queue, limits, notes, words, order % m, first, work, state, np.zeros(2))


@lean
def passable(why, i, e, values):
    """The edges among which a path between the ends of i is looked for; across a cut between them no edge is passable."""
    if why == MAY_BE_IN:
        return values[INNER_LOW, e] >= values[INNER_UP, i]
    if why == MAY_BE_OUT:
        return values[INNER_UP, e] > values[INNER_LOW, i]
    if why == IS_OUT:
        return values[OUTER_LOW, e] > values[OUTER_UP, i]
    if why == IS_IN:
        return values[OUTER_UP, e] >= values[OUTER_LOW, i]
    if why == NOW_IN:
        return ahead(values[NOW_LOW, e], e, values[NOW_UP, i], i)
    return ahead(values[NOW_UP, e], e, values[NOW_LOW, i], i)


@lean
def reach(why, i, u, v, values, links, first, work):
    """Go from one end of i over passable edges, in breadth, until the other is found; work[EDGE_TO] has the edge to a node.

    Returns how many nodes work[NODES] has, which are all that can be reached; 0 if the other end is one of them.
    """
    for x in range(len(first) - 1):
        work[EDGE_TO, x] = -1
    work[EDGE_TO, u[i]] = i
    work[NODES, 0] = u[i]
    done, found = 0, 1
    while done < found:
        x = work[NODES, done]
        done += 1
        for p in range(first[x], first[x + 1]):
            e = links[p]
            y = u[e] + v[e] - x
            if work[EDGE_TO, y] < 0 and e != i and passable(why, i, e, values):
                work[EDGE_TO, y] = e
                if y == v[i]:
                    return 0
                work[NODES, found] = y
                found += 1
    return found


@tight
def note(why, i, e, notes):
    notes[BY, e, i] |= why
    notes[OF, i, e] |= why


@lean
def note_path(why, i, u, v, notes, work):
    x = v[i]
    while x != u[i]:
        e = work[EDGE_TO, x]
        note(why, i, e, notes)
        x = u[e] + v[e] - x


@lean
def note_cut(why, i, u, v, notes, links, first, work, reached):
    for q in range(reached):
        x = work[NODES, q]
        for p in range(first[x], first[x + 1]):
            e = links[p]
            if work[EDGE_TO, u[e] + v[e] - x] < 0 and e != i:
                note(why, i, e, notes)


@lean
def strike(i, notes, words):
    """An edge notes nothing any more."""
    for w in range(words.shape[2]):
        if words[OF, i, w]:
            for e in range(8 * w, 8 * w + 8):
                if notes[OF, i, e]:
                    notes[BY, e, i] = 0
            words[OF, i, w] = 0


@tight
def between(x, y):
    """A value from x up to, but not including, y."""
    middle = 0.5 * (x + y)
    return middle if x <= middle < y else x


@tight
def limit(why, i, e, limits):
    """Take the pivots of i into the limits of e."""
    if why & MAY_BE_IN:
        limits[e, LOW_MOST] = min(limits[e, LOW_MOST], limits[i, IN_PIVOT])
    if why & MAY_BE_OUT:
        limits[e, UP_LEAST] = max(limits[e, UP_LEAST], limits[i, OUT_PIVOT])
    if why & IS_OUT:
        limits[e, LOW_LEAST] = max(limits[e, LOW_LEAST], limits[i, IN_PIVOT])
    if why & IS_IN:
        limits[e, UP_MOST] = min(limits[e, UP_MOST], limits[i, OUT_PIVOT])


@lean
def compare(i, values, limits, notes, words):
    """Compare an edge with those that it has noted. If all is as noted there are new pivots; otherwise returns False."""
    why, low_most, up_least, low_least, up_most = 0, -np.inf, np.inf, np.inf, -np.inf
    for w in range(words.shape[2]):
        if words[OF, i, w]:
            for e in range(8 * w, 8 * w + 8):
                this = notes[OF, i, e]
                why |= this
                if this & MAY_BE_IN:
                    low_most = max(low_most, values[INNER_LOW, e])
                if this & MAY_BE_OUT:
                    up_least = min(up_least, values[INNER_UP, e])
                if this & IS_OUT:
                    low_least = min(low_least, values[OUTER_LOW, e])
                if this & IS_IN:
                    up_most = max(up_most, values[OUTER_UP, e])
    if why & MAY_BE_IN:  # and then MAY_BE_OUT, too
        if not (low_most < values[INNER_UP, i] and up_least > values[INNER_LOW, i]):
            return False
        limits[i, IN_PIVOT] = between(low_most, values[INNER_UP, i])
        limits[i, OUT_PIVOT] = -between(-up_least, -values[INNER_LOW, i])
    elif why & IS_OUT:
        if not low_least > values[OUTER_UP, i]:
            return False
        limits[i, IN_PIVOT], limits[i, OUT_PIVOT] = -between(-low_least, -values[OUTER_UP, i]), -np.inf
    elif why & IS_IN:
        if not up_most < values[OUTER_LOW, i]:
            return False
        limits[i, IN_PIVOT], limits[i, OUT_PIVOT] = np.inf, between(up_most, values[OUTER_LOW, i])
    else:  # a bridge
        limits[i, IN_PIVOT], limits[i, OUT_PIVOT] = np.inf, -np.inf
    for w in range(words.shape[2]):
        if words[OF, i, w]:
            for e in range(8 * w, 8 * w + 8):
                if notes[OF, i, e]:
                    limit(notes[OF, i, e], i, e, limits)
    return True


@lean
def settle(i, u, v, values, limits, notes, words, links, first, work):
    """What is known of an edge, with a note of why."""
    strike(i, notes, words)
    across = reach(MAY_BE_IN, i, u, v, values, links, first, work)
    if across > 0:
        note_cut(MAY_BE_IN, i, u, v, notes, links, first, work, across)
    replaced = reach(MAY_BE_OUT, i, u, v, values, links, first, work) == 0
    if replaced and across > 0:
        note_path(MAY_BE_OUT, i, u, v, notes, work)
        compare(i, values, limits, notes, words)
        return OPEN
    strike(i, notes, words)
    if across == 0 and reach(IS_OUT, i, u, v, values, links, first, work) == 0:
        note_path(IS_OUT, i, u, v, notes, work)
        compare(i, values, limits, notes, words)
        return CLOSED
    if not replaced:
        across = reach(IS_IN, i, u, v, values, links, first, work)
        if across > 0:
            note_cut(IS_IN, i, u, v, notes, links, first, work, across)
            compare(i, values, limits, notes, words)
            return CLOSED
    return MAYBE


@tight
def crossed(why, i, e, values, limits):
    """A bound of e is on the wrong side of a pivot of i."""
    return (
        (why & MAY_BE_IN and values[INNER_LOW, e] > limits[i, IN_PIVOT])
        or (why & MAY_BE_OUT and values[INNER_UP, e] < limits[i, OUT_PIVOT])
        or (why & IS_OUT and values[OUTER_LOW, e] < limits[i, IN_PIVOT])
        or (why & IS_IN and values[OUTER_UP, e] > limits[i, OUT_PIVOT])
    )


@lean
def doubt(i, everywhere, values, queue, work, state):
    """What was known of an edge no longer is; a decided one goes back into the queue."""
    if work[KNOWN, i] == CLOSED and not everywhere:
        state[WAITING] = push(queue, 0, 0, state[WAITING], i, values, WEIGHT, -1.0)
    work[KNOWN, i], work[AGAIN, i] = MAYBE, 0


@lean
def check(arm, everywhere, values, queue, limits, notes, words, work, state):
    """The bounds of an arm have changed: is what is known, of it or by it, still so?"""
    if work[KNOWN, arm] == OPEN:
        beyond = not (values[INNER_UP, arm] > limits[arm, IN_PIVOT] and values[INNER_LOW, arm] < limits[arm, OUT_PIVOT])
    else:
        beyond = not (values[OUTER_UP, arm] < limits[arm, IN_PIVOT] and values[OUTER_LOW, arm] > limits[arm, OUT_PIVOT])
    if beyond and work[KNOWN, arm] != MAYBE and not compare(arm, values, limits, notes, words):
        doubt(arm, everywhere, values, queue, work, state)
    if (
        values[INNER_LOW, arm] <= limits[arm, LOW_MOST]
        and values[INNER_UP, arm] >= limits[arm, UP_LEAST]
        and values[OUTER_LOW, arm] >= limits[arm, LOW_LEAST]
        and values[OUTER_UP, arm] <= limits[arm, UP_MOST]
    ):
        return
    limits[arm, LOW_MOST], limits[arm, UP_LEAST], limits[arm, LOW_LEAST], limits[arm, UP_MOST] = np.inf, -np.inf, -np.inf, np.inf
    for w in range(words.shape[2]):
        if words[BY, arm, w]:
            for i in range(8 * w, 8 * w + 8):
                why = notes[BY, arm, i]
                if not why or work[KNOWN, i] == MAYBE:
                    continue
                if not crossed(why, i, arm, values, limits):
                    limit(why, i, arm, limits)
                elif not compare(i, values, limits, notes, words):
                    doubt(i, everywhere, values, queue, work, state)


@lean
def find_out(i, t, u, v, values, limits, notes, words, links, first, work, state):
    """Find out what is known of an edge, unless that was of no avail a short while ago."""
    if t >= work[AGAIN, i]:
        work[KNOWN, i] = settle(i, u, v, values, limits, notes, words, links, first, work)
        work[AGAIN, i] = t + state[SHORTEST]


@lean
def undecided(i, u, v, values, links, first, work):
    """Whether an edge is undecided at this very round."""
    return reach(NOW_IN, i, u, v, values, links, first, work) > 0 and reach(NOW_OUT, i, u, v, values, links, first, work) == 0


@lean
def bound(i, sign, values, logs, kind, numbers, units, span, counts, table):
    """Both intervals of an edge, turned round if the smallest tree is looked for."""
    for side in range(2):
        low, up = ends(i, logs[side], kind, numbers, units, span, counts, table)
        if sign < 0:
            low, up = -up, -low
        values[INNER_LOW + 2 * side, i], values[INNER_UP + 2 * side, i] = low, up


@lean
def bound_now(t, sign, values, kind, numbers, units, span, counts, table):
    """The intervals of all edges at this very round."""
    c = log_term(numbers, t)
    for i in range(len(counts)):
        low, up = ends(i, c, kind, numbers, units, span, counts, table)
        values[NOW_LOW, i], values[NOW_UP, i] = (low, up) if sign > 0 else (-up, -low)


@lean
def begin(
    t, sign, everywhere, values, queue, limits, notes, words, work, state, logs, kind, numbers, units, span, counts, table
):  # fmt: skip
    """A new stretch: all intervals anew; what is known is kept if its comparisons still hold."""
    m = len(counts)
    if state[WAITING] == 0:  # the first
        for i in range(m):
            queue[0, i] = i
        arrange(queue, 0, 0, m, values, WEIGHT, -1.0)
        state[WAITING] = m
    if numbers[POWER] > 0.0:
        if state[HORIZON] != NONE:  # the last stretch was not too long
            state[STRETCH] = min(2 * state[STRETCH], state[LONGEST])
        state[HORIZON] = t + state[STRETCH]
        logs[0] = log_term(numbers, t) * (1.0 - HAIR)
        logs[1] = log_term(numbers, state[HORIZON]) * (1.0 + HAIR)
    else:
        state[HORIZON] = np.iinfo(np.int64).max
        logs[0] = logs[1] = log_term(numbers, t)
    for i in range(m):
        bound(i, sign, values, logs, kind, numbers, units, span, counts, table)
        work[AGAIN, i] = 0
    for i in range(m):
        check(i, everywhere, values, queue, limits, notes, words, work, state)


@lean
def shorten(state, logs):
    """Too close to call: a shorter stretch says more. False if it is short already."""
    if logs[0] == logs[1] or state[STRETCH] <= state[SHORTEST]:
        return False
    state[STRETCH], state[HORIZON] = max(state[STRETCH] // 8, state[SHORTEST]), NONE
    return True


@lean
def witness(t, u, v, values, limits, notes, words, links, first, work, state):
    """Some edge is undecided, whatever the bounds are in between."""
    if work[KNOWN, state[WITNESS]] == OPEN:
        return True
    for i in range(len(u)):
        if work[KNOWN, i] == MAYBE:
            find_out(i, t, u, v, values, limits, notes, words, links, first, work, state)
        if work[KNOWN, i] == OPEN:
            state[WITNESS] = i
            return True
    return False


@lean
def rounds_of(
    everywhere, values, queue, limits, notes, words, links, first, work, state, logs, sign, u, v,
    kind, numbers, units, span, counts, table, variance, buffer, stock, laws, budget, rounds,
):  # fmt: skip
    """Rounds until something needs the caller."""
    t = state[TOTAL]
    for _ in range(rounds):
        if t > state[HORIZON]:
            begin(
                t, sign, everywhere, values, queue, limits, notes, words, work, state, logs,
                kind, numbers, units, span, counts, table,
            )  # fmt: skip
        arm, resting, now = -1, 0, False
        if everywhere:
            arm = queue[0, 0]
            if not witness(t, u, v, values, limits, notes, words, links, first, work, state):
                if shorten(state, logs):
                    continue
                bound_now(t, sign, values, kind, numbers, units, span, counts, table)
                arm = -1
                for i in range(len(counts)):
                    if work[KNOWN, i] == MAYBE and undecided(i, u, v, values, links, first, work):
                        arm = queue[0, 0]
                        break
        else:
            while state[WAITING] > 0:
                i = queue[0, 0]
                if work[KNOWN, i] == MAYBE:
                    find_out(i, t, u, v, values, limits, notes, words, links, first, work, state)
                if work[KNOWN, i] == MAYBE and not now:
                    if shorten(state, logs):
                        break
                    bound_now(t, sign, values, kind, numbers, units, span, counts, table)
                    now = True
                if work[KNOWN, i] == OPEN or (work[KNOWN, i] == MAYBE and undecided(i, u, v, values, links, first, work)):
                    arm = i
                    break
                state[WAITING] = pop(queue, 0, 0, state[WAITING], values, WEIGHT, -1.0)
                if work[KNOWN, i] == MAYBE:  # decided in this round, but too close to be left alone
                    work[LIMBO, resting] = i
                    resting += 1
            for p in range(resting):
                state[WAITING] = push(queue, 0, 0, state[WAITING], work[LIMBO, p], values, WEIGHT, -1.0)
            if state[HORIZON] == NONE:
                continue
        what = sample(arm, t, budget, counts, table, variance, buffer, stock, laws)
        if what != PAUSED:
            return what, arm
        t += 1
        state[TOTAL] = t
        values[WEIGHT, arm] = span[WIDE, arm] * span[WIDE, arm] / counts[arm]
        fall(queue, 0, 0, state[WAITING], queue[1, arm], values, WEIGHT, -1.0)
        bound(arm, sign, values, logs, kind, numbers, units, span, counts, table)
        check(arm, everywhere, values, queue, limits, notes, words, work, state)
    return PAUSED, -1


@kernel
def run(
    everywhere, values, queue, limits, notes, words, links, first, work, state, logs, ints,
    kind, numbers, units, span, counts, table, variance, buffer, stock, laws, budget, rounds,
):  # fmt: skip
    """Explore until something needs the caller; returns (what, arm)."""
    m = len(counts)
    return rounds_of(
        everywhere, values, queue, limits, notes, words, links, first, work, state, logs, ints[1], ints[2 : 2 + m], ints[2 + m :],
        kind, numbers, units, span, counts, table, variance, buffer, stock, laws, budget, rounds,
    )  # fmt: skip
