"""Joint stopping by single exchanges: what the loops of all classes share. The samples are those of the Python loop.

Between two rounds one arm changes, and with it the scores of its exchanges alone. These get a lower bound that costs a fraction
of the score itself; a tournament finds the least, and what wins by its bound is scored and plays again. So few exchanges are
scored, and those of other arms are not looked at.

An arm has a seat, and every seat a list of its exchanges. How seats are laid, and what changes with the decision, is up to the
class: joint_partition.py, joint_tree.py, joint_allocation.py.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from ..compile import apart, lean, tight
from ..data import Arms, Array, Record, Sequence, Stock
from ..enums import Column, Family, Span, Verdict
from ..kernels.exchanges import FREE, SLACK, behind, halved
from ..kernels.glr import FOUND, LEVEL, SLOPE, Fact, glr, glr_bound, glr_bound_alike, glr_bounds, glr_of_two
from ..kernels.heaps import arrange, pop
from ..kernels.least import least_evidence
from ..kernels.record import offset_of
from ..kernels.sequences import unit_of
from ..kernels.tournament import LOOSE, ORDER, SCORE, SECOND, enter, play, play_one, size_of
from .batch import PLANNED, TAKEN, Batch, batch_of, plan, planned
from .declare import lowered

UPPER, LOWER = 0, 1  # rows of ``pair`` and ``slopes``
# Entries of ``state``: samples so far, with those planned; exchanges; half pairs; the fewest samples of an arm, some time ago;
# how many arms were observed since the last look, -1 at first, and how many of them gave evidence; whether all arms are of one
# kind and range; whether all arms have been seen; whether exchange a m + b is that of a and b, and all arms are in units of
# [0, 1].
TOTAL, COUNT, HALVES, FEWEST, OBSERVED, FRESH, ALIKE, BEGUN, SQUARE = 0, 1, 2, 3, 4, 5, 6, 7, 8
FAR = 4  # bounds hold for so many planned samples of an arm; then there are new ones


class Line(IntEnum):
    """Rows of ``lined``."""

    N = 0
    P = 1
    FACTOR = 2
    AHEAD = 3
    WEIGHT = 4


class Rule(NamedTuple):
    """When the policy stops: the evidence that every exchange needs; what parameters are counted from to choose the decision."""

    threshold: float
    reference: float


class Table(NamedTuple):
    """The exchanges of the decision, kept from round to round."""

    pair: Array
    slopes: Array
    levels: Array  # where the least of the likelihood ratio was
    scores: Array  # see kernels/tournament.py
    verdicts: Array
    tree: Array  # the tournament
    seats: Array  # of the arms
    sitting: Array  # the arms, by seat
    rows: Array  # how many exchanges of a seat lie side by side
    place: Array  # of an arm among those of its group
    first: Array  # where in ``links`` the exchanges of a seat begin
    links: Array
    known: Array  # of every arm, see kernels/glr.py
    lined: Array  # some of that, and the weights, in the order of seats; see :class:`Line`
    spare: Array  # room for the bounds of an arm's exchanges
    poor: Array  # room for those that need another
    weights: Array  # what the decision maximises
    paired: Array
    counts: Array  # with the samples that are planned
    moved: Array  # arms whose exchanges have changed
    decision: Array
    before: Array  # the decision of the last round
    state: Array


def table_of(spots: int, decision: Array, alike: bool, record: Record, arms: Arms, paired: Array) -> Table:
    """The table before the first round, for at most so many exchanges; ``decision`` is a nearby one."""
    m, whole = len(record.counts), np.int64
    known = np.empty((m, len(Fact)))
    known[:, Fact.FAMILY], known[:, Fact.LOW], known[:, Fact.HIGH] = arms.families, arms.low, arms.high
    known[:, Fact.SHIFT], known[:, Fact.SCALE] = arms.shift, arms.scale
    for values in (arms.families, arms.scale, arms.shift, arms.low, arms.high):
        alike = alike and bool((values == values[0]).all())
    alike = alike and arms.families[0] != Family.SPREAD
    halves = int((paired & (record.counts % 2 == 1)).sum())
    return Table(
        pair=np.zeros((2, spots), whole), slopes=np.ones((2, spots)), levels=np.full(spots, np.nan), scores=np.zeros((4, spots)),
        verdicts=np.zeros(spots, np.int8), tree=np.zeros(2 * size_of(spots), np.int32),
        seats=np.zeros(m, whole), sitting=np.zeros(m, whole), rows=np.zeros(m, whole), place=np.zeros(m, whole),
        first=np.zeros(m + 1, whole), links=np.zeros(2 * spots, whole), known=known, lined=np.empty((len(Line), m)),
        spare=np.empty((3, m)), poor=np.empty(2 * m, whole),
        weights=np.empty(m), paired=paired, counts=record.counts.copy(), moved=np.empty(2 * m, whole),
        decision=decision.astype(whole),
        before=np.zeros(m, whole), state=np.array([record.counts.sum(), 0, halves, 0, -1, 0, int(alike), 0, 0]),
    )  # fmt: skip


class Game(NamedTuple):
    """All that a round needs besides the decision class."""

    rule: Rule
    table: Table
    arms: Arms
    sequence: Sequence
    record: Record
    stock: Stock
    batch: Batch


def game_of(explorer: Any, source: Any, spots: int, alike: bool) -> Game:
    """An explorer with the policy ``joint`` as these loops see it."""
    policy, view = explorer.policy, explorer.view
    _, sequence, record, stock = lowered(explorer, source)
    arms = policy.weigh(view)
    arms = arms._replace(n=arms.n.copy(), p=arms.p.copy())
    rule = Rule(float(policy.threshold(explorer.delta)), float(policy.reference(view)))
    table = table_of(spots, policy.decision(view), alike, record, arms, explorer.confidence.paired)
    return Game(rule, table, arms, sequence, record, stock, batch_of(explorer, source))


# -- scores -----------------------------------------------------------------------------------------------------------


@tight
def see(i, game):
    """What is known of an arm by now."""
    table, arms, record, span = game.table, game.arms, game.record, game.sequence.span
    n, p = unit_of(i, game.sequence.units, record)
    arms.n[i], arms.p[i] = n, p
    reference = game.rule.reference
    if record.variance:
        theta = record.table[i, Column.ESTIMATE]
    else:
        theta = (record.table[i, Column.ORIGIN] - reference) + offset_of(i, record)
    theta = min(max(theta, span[Span.LOW, i] - reference), span[Span.HIGH, i] - reference)
    table.weights[i] = span[Span.SIGN, i] * theta
    known = table.known
    known[i, Fact.P] = p
    number(i, n, game)
    known[i, Fact.AHEAD] = (
        known[i, Fact.HALF] if game.batch.size == 1 else 0.5 * math.log1p((n + game.batch.size) / game.arms.rho)
    )
    u = p * (1.0 - p) if int(known[i, Fact.FAMILY]) == Family.SPREAD else p
    known[i, Fact.SEEN] = known[i, Fact.SHIFT] + known[i, Fact.SCALE] * u
    line_up(i, table)


@tight
def number(i, n, game):
    """So many observations of an arm count."""
    known, rho = game.table.known, game.arms.rho
    known[i, Fact.N] = n
    known[i, Fact.FACTOR], known[i, Fact.HALF] = n * n / (n + rho), 0.5 * math.log1p(n / rho)


@tight
def line_up(i, table):
    """What is known of an arm, where its seat is."""
    known, lined, s = table.known, table.lined, table.seats[i]
    lined[Line.N, s], lined[Line.P, s], lined[Line.WEIGHT, s] = known[i, Fact.N], known[i, Fact.P], table.weights[i]
    lined[Line.FACTOR, s], lined[Line.AHEAD, s] = known[i, Fact.FACTOR], known[i, Fact.AHEAD]


@tight
def need(h, j, game):
    """As ``exchanges.need``, to the last bit."""
    known = game.table.known
    return max(game.rule.threshold + known[h, Fact.HALF] + known[j, Fact.HALF] - FREE, 0.25)


@tight
def bound(e, game):
    """The score of an exchange one of whose arms has changed, as a lower bound: also when samples are planned, which add to the
    likelihood ratio, and to what it needs."""
    table = game.table
    scores = table.scores
    if table.verdicts[e] == Verdict.ABSENT:
        scores[SCORE, e], scores[LOOSE, e] = np.inf, 0.0
        return
    h, j = table.pair[UPPER, e], table.pair[LOWER, e]
    if table.state[ALIKE]:
        found = glr_bound_alike(h, j, table.known)
    else:
        slope_h, slope_j = table.slopes[UPPER, e], table.slopes[LOWER, e]
        found, table.levels[e] = glr_bound(table.levels[e], h, j, slope_h, slope_j, table.known)
        if found < 0.0:  # by a tangent far from the least
            found, table.levels[e] = glr_bound(table.levels[e], h, j, slope_h, slope_j, table.known)
    wanted = max(game.rule.threshold + table.known[h, Fact.AHEAD] + table.known[j, Fact.AHEAD] - FREE, 0.25)
    scores[SCORE, e] = found / wanted if found > 0.0 else 0.0  # also if it is not a number
    # Only arms that are seen in the wrong order have a bound of just 0, which is then the likelihood ratio itself.
    exact = found == 0.0 and table.known[h, Fact.SHIFT] == table.known[j, Fact.SHIFT] == 0.0
    scores[SECOND, e], scores[LOOSE, e] = table.known[h, Fact.N] + table.known[j, Fact.N], 0.0 if exact else 1.0
    table.verdicts[e] = Verdict.UNKNOWN


@lean
def sweep(arm, upper, e, s, rule, table):
    """As ``bound`` for exchanges e, e + 1, ... of an arm with those in the seats s, s + 1, ...: without a branch, so that several
    are worked out at once. All arms are alike."""
    many = table.rows[table.seats[arm]]
    n, p, w = table.known[arm, Fact.N], table.known[arm, Fact.P], table.known[arm, Fact.FACTOR]
    normal, exact = int(table.known[arm, Fact.FAMILY]) == Family.NORMAL, table.known[arm, Fact.SHIFT] == 0.0
    base = rule.threshold + table.known[arm, Fact.AHEAD] - FREE
    their_n, their_p = table.lined[Line.N, s : s + many], table.lined[Line.P, s : s + many]
    their_w, their_half = table.lined[Line.FACTOR, s : s + many], table.lined[Line.AHEAD, s : s + many]
    score, second = table.scores[SCORE, e : e + many], table.scores[SECOND, e : e + many]
    loose, verdicts = table.scores[LOOSE, e : e + many], table.verdicts[e : e + many]
    for q in range(many):
        found = glr_of_two(w, p, their_w[q], their_p[q], normal)
        found = found if (p > their_p[q] if upper else p < their_p[q]) else 0.0
        score[q] = (found if found > 0.0 else 0.0) / max(base + their_half[q], 0.25)  # also if it is not a number
        second[q] = n + their_n[q]
        loose[q] = 0.0 if exact and found == 0.0 else 1.0
        verdicts[q] = Verdict.UNKNOWN


@lean
def cross(i, rule, table, arms):
    """As ``bound`` for all exchanges of an arm where they are a square, row i and column i of it; returns how many of them are
    listed in ``poor``, whose bounds by a tangent far from the least say nothing."""
    m, known, lined, scores, poor = len(table.seats), table.known, table.lined, table.scores, 0
    for side in range(2):
        first, step = (i * m, 1) if side == UPPER else (i, m)
        for q in range(m):
            table.spare[LEVEL, q] = table.levels[first + q * step]
            table.spare[SLOPE, q] = table.slopes[1 - side, first + q * step]
        slope = table.slopes[side, i * m + i]
        glr_bounds(i, side == UPPER, slope, table.spare, lined[Line.P], lined[Line.FACTOR], arms)
        for q in range(m):
            e = first + q * step
            if table.verdicts[e] == Verdict.ABSENT:
                scores[SCORE, e], scores[LOOSE, e] = np.inf, 0.0
                continue
            found, table.levels[e] = table.spare[FOUND, q], table.spare[LEVEL, q]
            wanted = max(rule.threshold + known[i, Fact.AHEAD] + lined[Line.AHEAD, q] - FREE, 0.25)
            scores[SCORE, e] = found / wanted if found > 0.0 else 0.0
            exact = found == 0.0 and arms.shift[i] == arms.shift[q] == 0.0
            scores[SECOND, e], scores[LOOSE, e] = known[i, Fact.N] + lined[Line.N, q], 0.0 if exact else 1.0
            table.verdicts[e] = Verdict.UNKNOWN
            if found < 0.0:
                table.poor[poor] = e
                poor += 1
    return poor


@tight
def touch(seat, game):
    """The exchanges of a seat anew, after its arm has changed; the first ``rows[seat]`` of them lie side by side."""
    table = game.table
    first, links = table.first, table.links
    beside, known = first[seat] + table.rows[seat], table.state[SQUARE] > 0
    if known:
        for q in range(cross(seat, game.rule, table, game.arms)):
            bound(table.poor[q], game)
    if table.rows[seat] > 0:
        e = links[first[seat]]
        if known:
            pass
        elif table.state[ALIKE]:
            arm, upper = table.sitting[seat], table.pair[UPPER, e] == table.sitting[seat]
            other = table.pair[LOWER if upper else UPPER, e]
            sweep(arm, upper, e, table.seats[other], game.rule, table)
        else:
            for q in range(first[seat], beside):
                bound(links[q], game)
        play(table.tree, e, links[beside - 1] + 1, table.scores)
    for q in range(beside, first[seat + 1]):
        if not known:
            bound(links[q], game)
        play_one(table.tree, links[q], table.scores)


@tight
def rescore(anew, many, game):
    """The exchanges of all arms anew, or of the first so many of ``moved``."""
    table = game.table
    if anew:
        for e in range(table.state[COUNT]):
            bound(e, game)
        enter(table.tree, table.state[COUNT])
        play(table.tree, np.int64(0), len(table.levels), table.scores)
    else:
        for q in range(many):
            touch(table.seats[table.moved[q]], game)


@tight
def weakest(game):
    """The exchange with the least evidence for what it needs; of equal ones that with the fewest observations."""
    table = game.table
    scores = table.scores
    while True:
        e = table.tree[1]
        if scores[LOOSE, e] == 0.0:
            return e
        h, j = table.pair[UPPER, e], table.pair[LOWER, e]
        found = glr(h, j, table.slopes[UPPER, e], table.slopes[LOWER, e], game.arms)
        scores[SCORE, e], scores[LOOSE, e] = found / need(h, j, game), 0.0
        if game.batch.size > 1:
            scores[SECOND, e] = table.known[h, Fact.N] + table.known[j, Fact.N]
        play_one(table.tree, e, scores)


@tight
def near(e, game):
    """The likelihood ratio of the weakest exchange is so near to what it needs that the exact evidence is looked at."""
    table = game.table
    wanted = need(table.pair[UPPER, e], table.pair[LOWER, e], game)
    return table.scores[SCORE, e] * wanted >= wanted - SLACK


@apart
def short(e, game):
    """The evidence of an exchange is below the threshold."""
    table, threshold = game.table, game.rule.threshold
    if table.verdicts[e] == Verdict.UNKNOWN:
        h, j = table.pair[UPPER, e], table.pair[LOWER, e]
        exact = least_evidence(h, j, table.slopes[UPPER, e], table.slopes[LOWER, e], game.arms, 0.0, threshold)
        table.verdicts[e] = Verdict.CERTAIN if exact >= threshold else Verdict.SHORT
    return table.verdicts[e] == Verdict.SHORT


@apart
def blocking(game):
    """The first exchange, in the order of the class, whose evidence is below the threshold; -1 if there is none."""
    verdicts, scores, count, many = game.table.verdicts, game.table.scores, game.table.state[COUNT], 0
    heap = np.empty((2, count), np.int64)
    for e in range(count):
        if verdicts[e] == Verdict.UNKNOWN or verdicts[e] == Verdict.SHORT:
            heap[0, many] = e
            many += 1
    arrange(heap, 0, 0, many, scores, ORDER, 1.0)
    while many > 0:
        e = heap[0, 0]
        if short(e, game):
            return e
        many = pop(heap, 0, 0, many, scores, ORDER, 1.0)
    return -1


@tight
def look(game):
    """The weakest exchange, or the first that is known too little, and whether the decision is certain."""
    if game.table.state[COUNT] == 0:
        return -1, True
    e = weakest(game)
    if not near(e, game) or short(e, game):
        return e, False
    f = blocking(game)
    return (f, False) if f >= 0 else (e, True)


# -- a round ----------------------------------------------------------------------------------------------------------


@lean
def begin(game):
    """All arms are seen once; from then on those that are observed."""
    if game.table.state[BEGUN] == 0:
        game.table.state[BEGUN] = 1
        for i in range(len(game.record.counts)):
            see(i, game)


@tight
def richer(e, game):
    """As ``exchanges.richer``."""
    table, arms, counts = game.table, game.arms, game.table.counts
    h, j = table.pair[UPPER, e], table.pair[LOWER, e]
    gain_h, gain_j = 0.0, 0.0
    for side in range(2):
        i = h if side == 0 else j
        arms.n[i] += 1.0
        gain = glr(h, j, table.slopes[UPPER, e], table.slopes[LOWER, e], arms)
        arms.n[i] -= 1.0
        if side == 0:
            gain_h = gain
        else:
            gain_j = gain
    if gain_h != gain_j:
        return h if gain_h > gain_j else j
    if counts[h] != counts[j]:
        return h if counts[h] < counts[j] else j
    return min(h, j)


@tight
def choose(e, certified, game):
    """The next arm, -1 if there is none: half a pair first, then an arm that is far behind, then one of the exchange."""
    state, counts = game.table.state, game.table.counts
    arm = halved(counts, game.table.paired) if state[HALVES] > 0 else -1
    if arm >= 0 or certified:
        return arm
    if state[FEWEST] < math.sqrt(state[TOTAL]) - 0.5 * len(counts):
        arm = behind(counts)
        fewest = counts[0]
        for i in range(1, len(counts)):
            fewest = min(fewest, counts[i])
        state[FEWEST] = fewest
    return arm if arm >= 0 else richer(e, game)


@tight
def lacking(e, game):
    """There is no exchange, and so but one decision."""
    return e < 0 or game.table.verdicts[e] == Verdict.ABSENT


@tight
def sampling(arm, game):
    """Plan a sample of an arm."""
    table = game.table
    table.state[TOTAL] += 1
    table.counts[arm] += 1
    if table.paired[arm]:
        table.state[HALVES] += -1 if table.counts[arm] % 2 == 0 else 1
    plan(arm, game.batch)


@tight
def foresee(game):
    """The sample that was planned last weighs as if it agreed with those before."""
    table, known, scores, verdicts = game.table, game.table.known, game.table.scores, game.table.verdicts
    arm = game.batch.arms[planned(game.batch) - 1]
    seat = table.seats[arm]
    if table.paired[arm] and table.counts[arm] % 2 == 1:
        return
    n = game.arms.n[arm] + 1.0
    game.arms.n[arm] = n
    number(arm, n, game)
    if known[arm, Fact.HALF] > known[arm, Fact.AHEAD]:
        known[arm, Fact.AHEAD] = 0.5 * math.log1p((n + FAR) / game.arms.rho)
        line_up(arm, table)
        touch(seat, game)
        return
    for q in range(table.first[seat], table.first[seat + 1]):
        e = table.links[q]
        if verdicts[e] == Verdict.ABSENT:
            continue
        verdicts[e] = Verdict.UNKNOWN
        if scores[LOOSE, e] == 0.0:  # others have bounds that still hold
            if scores[SCORE, e] == 0.0:
                scores[SECOND, e] = known[table.pair[UPPER, e], Fact.N] + known[table.pair[LOWER, e], Fact.N]
            else:
                bound(e, game)
            play_one(table.tree, e, scores)


@tight
def take_in(game):
    """The arms of the plan were observed; those that gave evidence come first in ``moved``: half a pair is none yet."""
    table, batch, state = game.table, game.batch, game.table.state
    many, fresh = 0, 0
    for q in range(planned(game.batch)):
        arm = batch.arms[q]
        n = batch.ahead[arm]
        if n == 0:
            continue
        see(arm, game)
        batch.ahead[arm], batch.arms[many] = 0, arm
        many += 1
        if not table.paired[arm] or table.counts[arm] // 2 != (table.counts[arm] - n) // 2:
            table.moved[fresh] = arm
            fresh += 1
    state[OBSERVED], state[FRESH] = many, fresh
    batch.state[PLANNED] = batch.state[TAKEN] = 0


@tight
def observed(arm, game):
    """As ``sampling`` and ``take_in``, of one arm that was sampled at once."""
    table, state = game.table, game.table.state
    state[TOTAL] += 1
    table.counts[arm] += 1
    game.batch.arms[0], table.moved[0] = arm, arm
    state[OBSERVED], state[FRESH] = 1, 1
    if table.paired[arm]:
        state[FRESH] = table.counts[arm] % 2 == 0
        state[HALVES] += -1 if state[FRESH] else 1
    see(arm, game)


@tight
def joined(arm, many, table):
    """Put an arm among the first so many of ``moved``, unless it is there; returns how many these are then."""
    for q in range(many):
        if table.moved[q] == arm:
            return many
    table.moved[many] = arm
    return many + 1
