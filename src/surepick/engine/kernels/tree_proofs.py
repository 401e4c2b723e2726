"""What is known of an edge of a spanning tree, and why.

What is known of an edge i rests on comparisons with some of the others. It is out if the edges on a path between its ends all
have lower bounds above its upper bound. It is in if the edges across a cut between its ends all have upper bounds below its lower
bound. It is undecided if the edges across some cut have lower bounds below its upper bound, and those on some path upper bounds
above its lower bound. The path or the cut is noted, and as long as the comparisons with its edges hold, nothing need be looked
for.

Between the bounds of i and those of the edges noted lies a pivot. The comparisons hold as long as no bound crosses it, so every
edge has limits to its bounds, by its own pivots and by those of the edges that note it. A round changes one arm; as long as it
keeps to its limits, nothing need be compared. Beyond them the notes in question are compared, and get new pivots if they hold.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ..compile import lean, tight
from ..data import Array, Tree
from ..enums import State, Status
from .heaps import push
from .order import ahead

WEIGHT, INNER_LOW, INNER_UP, OUTER_LOW, OUTER_UP, NOW_LOW, NOW_UP = 0, 1, 2, 3, 4, 5, 6  # rows of ``values``


class Limit(IntEnum):
    """Columns of ``limits``: an edge's own, by others."""

    IN_PIVOT = 0
    OUT_PIVOT = 1
    LOW_MOST = 2
    UP_LEAST = 3
    LOW_LEAST = 4
    UP_MOST = 5


MAY_BE_IN, MAY_BE_OUT, IS_OUT, IS_IN = 1, 2, 4, 8  # what a comparison of i with an edge is for
NOW_IN, NOW_OUT = 16, 32  # the first two, at this very round; not noted


class Seen(IntEnum):
    """Notes[BY, e, i] and notes[OF, i, e]: what the comparison of i with e is for."""

    BY = 0
    OF = 1


class Work(IntEnum):
    """Rows of ``work``: by arm, by node the last two."""

    KNOWN = 0
    LIMBO = 1
    AGAIN = 2
    EDGE_TO = 3
    NODES = 4


class Proofs(NamedTuple):
    """Bounds and notes, kept from round to round."""

    values: Array
    queue: Array
    limits: Array
    notes: Array
    words: Array  # the same, eight notes at once
    links: Array  # the edges at a node: first[node] .. first[node + 1]
    first: Array
    work: Array
    state: Array
    logs: Array  # the logarithm at the beginning and at the horizon


def proofs_of(data: Tree, counts: Array, priority: Array, state: Array) -> Proofs:
    """Nothing is known yet."""
    m = len(counts)
    ends_of = np.concatenate((data.u, data.v))
    order = np.argsort(ends_of, kind="stable")
    first = np.searchsorted(ends_of[order], np.arange(data.nodes + 1))
    values, work = np.zeros((7, m)), np.zeros((5, max(m, data.nodes)), dtype=np.int64)
    values[WEIGHT] = priority / counts
    work[Work.KNOWN] = Status.MAYBE
    words = np.zeros((2, m, (m + 7) // 8), np.uint64)
    limits = np.tile([0, 0, np.inf, -np.inf, -np.inf, np.inf, 0, 0], (m, 1))
    queue, notes = np.zeros((2, m), np.int64), words.view(np.uint8)
    return Proofs(values, queue, limits, notes, words, order % m, first, work, state, np.zeros(2))


@lean
def passable(why, i, e, proofs):
    """The edges among which a path between the ends of i is looked for; across a cut between them no edge is passable."""
    if why == MAY_BE_IN:
        return proofs.values[INNER_LOW, e] >= proofs.values[INNER_UP, i]
    if why == MAY_BE_OUT:
        return proofs.values[INNER_UP, e] > proofs.values[INNER_LOW, i]
    if why == IS_OUT:
        return proofs.values[OUTER_LOW, e] > proofs.values[OUTER_UP, i]
    if why == IS_IN:
        return proofs.values[OUTER_UP, e] >= proofs.values[OUTER_LOW, i]
    if why == NOW_IN:
        return ahead(proofs.values[NOW_LOW, e], e, proofs.values[NOW_UP, i], i)
    return ahead(proofs.values[NOW_UP, e], e, proofs.values[NOW_LOW, i], i)


@lean
def reach(why, i, data, proofs):
    """Go from one end of i over passable edges, in breadth, until the other is found; work[EDGE_TO] has the edge to a node.

    Returns how many nodes work[NODES] has, which are all that can be reached; 0 if the other end is one of them.
    """
    for x in range(len(proofs.first) - 1):
        proofs.work[Work.EDGE_TO, x] = -1
    proofs.work[Work.EDGE_TO, data.u[i]] = i
    proofs.work[Work.NODES, 0] = data.u[i]
    done, found = 0, 1
    while done < found:
        x = proofs.work[Work.NODES, done]
        done += 1
        for p in range(proofs.first[x], proofs.first[x + 1]):
            e = proofs.links[p]
            y = data.u[e] + data.v[e] - x
            if proofs.work[Work.EDGE_TO, y] < 0 and e != i and passable(why, i, e, proofs):
                proofs.work[Work.EDGE_TO, y] = e
                if y == data.v[i]:
                    return 0
                proofs.work[Work.NODES, found] = y
                found += 1
    return found


@tight
def note(why, i, e, proofs):
    proofs.notes[Seen.BY, e, i] |= why
    proofs.notes[Seen.OF, i, e] |= why


@lean
def note_path(why, i, data, proofs):
    x = data.v[i]
    while x != data.u[i]:
        e = proofs.work[Work.EDGE_TO, x]
        note(why, i, e, proofs)
        x = data.u[e] + data.v[e] - x


@lean
def note_cut(why, i, reached, data, proofs):
    for q in range(reached):
        x = proofs.work[Work.NODES, q]
        for p in range(proofs.first[x], proofs.first[x + 1]):
            e = proofs.links[p]
            if proofs.work[Work.EDGE_TO, data.u[e] + data.v[e] - x] < 0 and e != i:
                note(why, i, e, proofs)


@lean
def strike(i, proofs):
    """An edge notes nothing any more."""
    for w in range(proofs.words.shape[2]):
        if proofs.words[Seen.OF, i, w]:
            for e in range(8 * w, 8 * w + 8):
                if proofs.notes[Seen.OF, i, e]:
                    proofs.notes[Seen.BY, e, i] = 0
            proofs.words[Seen.OF, i, w] = 0


@tight
def between(x, y):
    """A value from x up to, but not including, y."""
    middle = 0.5 * (x + y)
    return middle if x <= middle < y else x


@tight
def narrow(why, i, e, proofs):
    """Take the pivots of i into the limits of e."""
    if why & MAY_BE_IN:
        proofs.limits[e, Limit.LOW_MOST] = min(proofs.limits[e, Limit.LOW_MOST], proofs.limits[i, Limit.IN_PIVOT])
    if why & MAY_BE_OUT:
        proofs.limits[e, Limit.UP_LEAST] = max(proofs.limits[e, Limit.UP_LEAST], proofs.limits[i, Limit.OUT_PIVOT])
    if why & IS_OUT:
        proofs.limits[e, Limit.LOW_LEAST] = max(proofs.limits[e, Limit.LOW_LEAST], proofs.limits[i, Limit.IN_PIVOT])
    if why & IS_IN:
        proofs.limits[e, Limit.UP_MOST] = min(proofs.limits[e, Limit.UP_MOST], proofs.limits[i, Limit.OUT_PIVOT])


@lean
def compare(i, proofs):
    """Compare an edge with those that it has noted. If all is as noted there are new pivots; otherwise returns False."""
    why, low_most, up_least, low_least, up_most = 0, -np.inf, np.inf, np.inf, -np.inf
    for w in range(proofs.words.shape[2]):
        if proofs.words[Seen.OF, i, w]:
            for e in range(8 * w, 8 * w + 8):
                this = proofs.notes[Seen.OF, i, e]
                why |= this
                if this & MAY_BE_IN:
                    low_most = max(low_most, proofs.values[INNER_LOW, e])
                if this & MAY_BE_OUT:
                    up_least = min(up_least, proofs.values[INNER_UP, e])
                if this & IS_OUT:
                    low_least = min(low_least, proofs.values[OUTER_LOW, e])
                if this & IS_IN:
                    up_most = max(up_most, proofs.values[OUTER_UP, e])
    if why & MAY_BE_IN:  # and then MAY_BE_OUT, too
        if not (low_most < proofs.values[INNER_UP, i] and up_least > proofs.values[INNER_LOW, i]):
            return False
        proofs.limits[i, Limit.IN_PIVOT] = between(low_most, proofs.values[INNER_UP, i])
        proofs.limits[i, Limit.OUT_PIVOT] = -between(-up_least, -proofs.values[INNER_LOW, i])
    elif why & IS_OUT:
        if not low_least > proofs.values[OUTER_UP, i]:
            return False
        proofs.limits[i, Limit.IN_PIVOT], proofs.limits[i, Limit.OUT_PIVOT] = (
            -between(-low_least, -proofs.values[OUTER_UP, i]),
            -np.inf,
        )
    elif why & IS_IN:
        if not up_most < proofs.values[OUTER_LOW, i]:
            return False
        proofs.limits[i, Limit.IN_PIVOT], proofs.limits[i, Limit.OUT_PIVOT] = (
            np.inf,
            between(up_most, proofs.values[OUTER_LOW, i]),
        )
    else:  # a bridge
        proofs.limits[i, Limit.IN_PIVOT], proofs.limits[i, Limit.OUT_PIVOT] = np.inf, -np.inf
    for w in range(proofs.words.shape[2]):
        if proofs.words[Seen.OF, i, w]:
            for e in range(8 * w, 8 * w + 8):
                if proofs.notes[Seen.OF, i, e]:
                    narrow(proofs.notes[Seen.OF, i, e], i, e, proofs)
    return True


@lean
def settle(i, data, proofs):
    """What is known of an edge, with a note of why."""
    strike(i, proofs)
    across = reach(MAY_BE_IN, i, data, proofs)
    if across > 0:
        note_cut(MAY_BE_IN, i, across, data, proofs)
    replaced = reach(MAY_BE_OUT, i, data, proofs) == 0
    if replaced and across > 0:
        note_path(MAY_BE_OUT, i, data, proofs)
        compare(i, proofs)
        return Status.OPEN
    strike(i, proofs)
    if across == 0 and reach(IS_OUT, i, data, proofs) == 0:
        note_path(IS_OUT, i, data, proofs)
        compare(i, proofs)
        return Status.CLOSED
    if not replaced:
        across = reach(IS_IN, i, data, proofs)
        if across > 0:
            note_cut(IS_IN, i, across, data, proofs)
            compare(i, proofs)
            return Status.CLOSED
    return Status.MAYBE


@tight
def crossed(why, i, e, proofs):
    """A bound of e is on the wrong side of a pivot of i."""
    return (
        (why & MAY_BE_IN and proofs.values[INNER_LOW, e] > proofs.limits[i, Limit.IN_PIVOT])
        or (why & MAY_BE_OUT and proofs.values[INNER_UP, e] < proofs.limits[i, Limit.OUT_PIVOT])
        or (why & IS_OUT and proofs.values[OUTER_LOW, e] < proofs.limits[i, Limit.IN_PIVOT])
        or (why & IS_IN and proofs.values[OUTER_UP, e] > proofs.limits[i, Limit.OUT_PIVOT])
    )


@lean
def doubt(i, everywhere, proofs):
    """What was known of an edge no longer is; a decided one goes back into the queue."""
    if proofs.work[Work.KNOWN, i] == Status.CLOSED and not everywhere:
        proofs.state[State.WAITING] = push(proofs.queue, 0, 0, proofs.state[State.WAITING], i, proofs.values, WEIGHT, -1.0)
    proofs.work[Work.KNOWN, i], proofs.work[Work.AGAIN, i] = Status.MAYBE, 0


@lean
def check(arm, everywhere, proofs):
    """The bounds of an arm have changed: is what is known, of it or by it, still so?"""
    if proofs.work[Work.KNOWN, arm] == Status.OPEN:
        beyond = not (
            proofs.values[INNER_UP, arm] > proofs.limits[arm, Limit.IN_PIVOT]
            and proofs.values[INNER_LOW, arm] < proofs.limits[arm, Limit.OUT_PIVOT]
        )
    else:
        beyond = not (
            proofs.values[OUTER_UP, arm] < proofs.limits[arm, Limit.IN_PIVOT]
            and proofs.values[OUTER_LOW, arm] > proofs.limits[arm, Limit.OUT_PIVOT]
        )
    if beyond and proofs.work[Work.KNOWN, arm] != Status.MAYBE and not compare(arm, proofs):
        doubt(arm, everywhere, proofs)
    if (
        proofs.values[INNER_LOW, arm] <= proofs.limits[arm, Limit.LOW_MOST]
        and proofs.values[INNER_UP, arm] >= proofs.limits[arm, Limit.UP_LEAST]
        and proofs.values[OUTER_LOW, arm] >= proofs.limits[arm, Limit.LOW_LEAST]
        and proofs.values[OUTER_UP, arm] <= proofs.limits[arm, Limit.UP_MOST]
    ):
        return
    proofs.limits[arm, Limit.LOW_MOST], proofs.limits[arm, Limit.UP_LEAST] = np.inf, -np.inf
    proofs.limits[arm, Limit.LOW_LEAST], proofs.limits[arm, Limit.UP_MOST] = -np.inf, np.inf
    for w in range(proofs.words.shape[2]):
        if proofs.words[Seen.BY, arm, w]:
            for i in range(8 * w, 8 * w + 8):
                why = proofs.notes[Seen.BY, arm, i]
                if not why or proofs.work[Work.KNOWN, i] == Status.MAYBE:
                    continue
                if not crossed(why, i, arm, proofs):
                    narrow(why, i, arm, proofs)
                elif not compare(i, proofs):
                    doubt(i, everywhere, proofs)


@lean
def find_out(i, t, data, proofs):
    """Find out what is known of an edge, unless that was of no avail a short while ago."""
    if t >= proofs.work[Work.AGAIN, i]:
        proofs.work[Work.KNOWN, i] = settle(i, data, proofs)
        proofs.work[Work.AGAIN, i] = t + proofs.state[State.SHORTEST]


@lean
def undecided(i, data, proofs):
    """Whether an edge is undecided at this very round."""
    return reach(NOW_IN, i, data, proofs) > 0 and reach(NOW_OUT, i, data, proofs) == 0
