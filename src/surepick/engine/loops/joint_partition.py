"""Joint stopping for the best k of every group, compiled: the same samples as the Python loop.

The exchanges of a group are a table: rows for the arms taken and columns for the others. Two arms change seats when one takes the
other's place in the decision.
"""

from __future__ import annotations

from typing import Any

from ..compile import lean, tight
from ..data import Partition
from ..enums import State
from ..kernels.order import ahead
from ..kernels.tournament import ORDER
from .declare import Loop, Stretch
from .joint import joined
from .joint_rounds import seated, stretch_of
from .joint_scores import line_up, rescore
from .joint_table import LOWER, UPPER, Line


@lean
def settle(data, table):
    """The best of every group, from a nearby choice: the best arm outside replaces the worst one inside while it is ahead."""
    weights, decision = table.weights, table.decision
    for g in range(len(data.starts) - 1):
        while True:
            inside, outside = -1, -1
            for a in range(data.starts[g], data.starts[g + 1]):
                i = data.members[a]
                if decision[i] > 0:
                    if inside < 0 or ahead(weights[inside], inside, weights[i], i):
                        inside = i
                elif outside < 0 or ahead(weights[i], i, weights[outside], outside):
                    outside = i
            if inside < 0 or outside < 0 or ahead(weights[inside], inside, weights[outside], outside):
                break
            decision[inside], decision[outside] = 0, 1


@lean
def lay(data, taken, table):
    """Seats for groups, those of the arms taken first.

    ``taken`` is the row of ``pair`` with the arms taken: the upper one if the largest parameters are looked for.
    """
    count, q, s = 0, 0, 0
    k, starts, members = data.k, data.starts, data.members
    for g in range(len(starts) - 1):
        width = starts[g + 1] - starts[g] - k
        for inside in (True, False):
            own = 0
            for a in range(starts[g], starts[g + 1]):
                i = members[a]
                table.place[i] = a
                if (table.decision[i] > 0) != inside:
                    continue
                table.seats[i], table.sitting[s], table.first[s] = s, i, q
                table.rows[s] = width if inside else 0
                for other in range(width if inside else k):
                    table.links[q] = count + (own * width + other if inside else other * width + own)
                    table.pair[taken if inside else 1 - taken, table.links[q]] = i
                    q += 1
                own += 1
                s += 1
        count += k * width
    table.first[s] = q
    for e in range(count):
        table.scores[ORDER, e] = table.place[table.pair[taken, e]] * len(members) + table.place[table.pair[1 - taken, e]]
    for a in range(len(members)):
        line_up(members[a], table)
    table.state[State.COUNT] = count


@tight
def group_of(i, data, table):
    g = 0
    while data.starts[g + 1] <= table.place[i]:
        g += 1
    return g


@tight
def stays(i, g, data, table):
    """An arm of a group keeps its seat, by its weight alone. If all arms whose weights have changed do, so does every arm."""
    start, edge, end = data.starts[g], data.starts[g] + data.k, data.starts[g + 1]
    inside, weight, misplaced = table.seats[i] < edge, table.weights[i], 0
    others = table.lined[Line.WEIGHT, edge:end] if inside else table.lined[Line.WEIGHT, start:edge]
    for s in range(len(others)):  # all of them, without a branch, so that several are compared at once
        misplaced += others[s] >= weight if inside else others[s] <= weight
    return misplaced == 0


@tight
def replaced(i, data, table):
    """The arm that changes seats with i, after the weight of i alone has changed; -1 if there is none."""
    g, weights = group_of(i, data, table), table.weights
    start, end = data.starts[g], data.starts[g + 1]
    edge, found = start + data.k, -1
    inside = table.seats[i] < edge
    if stays(i, g, data, table):
        return -1
    for s in range(edge if inside else start, end if inside else edge):
        j = table.sitting[s]
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
def change_seats(i, j, taken, table):
    """One of two arms takes the other's place in the decision."""
    decision, seats, first, place = table.decision, table.seats, table.first, table.place
    decision[i], decision[j] = decision[j], decision[i]
    seats[i], seats[j] = seats[j], seats[i]
    for side in range(2):
        arm = i if (decision[i] > 0) == (side == taken) else j
        table.sitting[seats[arm]] = arm
        line_up(arm, table)
        for q in range(first[seats[arm]], first[seats[arm] + 1]):
            table.pair[side, table.links[q]] = arm
    for side in range(2):
        seat = seats[i] if side == 0 else seats[j]
        for q in range(first[seat], first[seat + 1]):
            e = table.links[q]
            table.scores[ORDER, e] = place[table.pair[taken, e]] * len(place) + place[table.pair[1 - taken, e]]


@lean
def reseat(g, many, data, taken, table):
    """Make a group's decision right, after several weights have changed; returns how many arms of ``moved`` there are then."""
    weights, sitting, edge = table.weights, table.sitting, data.starts[g] + data.k
    while True:
        inside, outside = sitting[data.starts[g]], sitting[edge]
        for s in range(data.starts[g], data.starts[g + 1]):
            i = sitting[s]
            if s < edge and ahead(weights[inside], inside, weights[i], i):
                inside = i
            elif s >= edge and ahead(weights[i], i, weights[outside], outside):
                outside = i
        if not ahead(weights[outside], outside, weights[inside], inside):
            return many
        change_seats(inside, outside, taken, table)
        many = joined(outside, joined(inside, many, table), table)


@tight
def seat(data, game):
    """See joint_rounds.py."""
    table, taken = game.table, UPPER if data.sign > 0.0 else LOWER
    observed, many = table.state[State.OBSERVED], table.state[State.FRESH]
    if observed < 0:
        settle(data, table)
        lay(data, taken, table)
    elif observed == 1:
        arm = game.batch.arms[0]
        other = replaced(arm, data, table)
        if other >= 0:
            change_seats(arm, other, taken, table)
            table.moved[0], table.moved[1], many = arm, other, 2
    else:
        for q in range(observed):
            arm = game.batch.arms[q]
            g = group_of(arm, data, table)
            if not stays(arm, g, data, table):
                many = reseat(g, many, data, taken, table)
    rescore(observed < 0, many, game)
    return True, observed < 0, many


def prepare(explorer: Any, source: Any) -> Stretch:
    return stretch_of(explorer, source, explorer.policy.pairs, True)


LOOP = Loop(("joint",), seated(Partition, seat), prepare, batches=True, finite=True, parameters=("box_share",))
