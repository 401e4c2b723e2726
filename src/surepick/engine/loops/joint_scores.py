"""Scores of exchanges: bounds, which cost little, for all that have changed; the exact ones of those that win by their bounds."""

from __future__ import annotations

import math

import numpy as np

from ..compile import lean, tight
from ..enums import Column, Family, Span, State, Verdict
from ..kernels.exchanges import ONE_SIDED
from ..kernels.finite import certain
from ..kernels.glr import (
    Fact,
    Spare,
    factor_of,
    glr,
    glr_bound,
    glr_bound_alike,
    glr_bounds,
    glr_of_two,
    in_order,
    price_of,
    whole_of,
)
from ..kernels.growth_bounds import Peer, growth_bounds
from ..kernels.record import offset_of
from ..kernels.sequences import seen_in
from ..kernels.tournament import LOOSE, SCORE, SECOND, enter, play, play_one
from .joint_table import BLOCK, FAR, LOWER, UPPER, Line


@tight
def see(i, game):
    """What is known of an arm by now."""
    table, arms, record, span = game.table, game.arms, game.record, game.sequence.span
    seen = seen_in(i, game.sequence.units, record)
    n, p, family = seen.n, seen.p, seen.family
    if family != arms.families[i]:  # its values are of another sort than was thought
        arms.families[i], table.known[i, Fact.FAMILY], table.known[i, Fact.N] = family, family, np.nan
        table.state[State.ALIKE] = table.state[State.SQUARE] = table.state[State.GROWTH] = 0
    arms.n[i], arms.p[i], arms.atoms[0, i], arms.atoms[1, i] = n, p, seen.inner, seen.share
    if arms.finite.shape[1] > 0:
        arms.finite[1, i], arms.finite[2, i] = seen.draws, seen.drawn
        least, most = certain(i, span[Span.LOW, i], span[Span.HIGH, i], n, p, game.sequence.units, record)
        arms.low[i], arms.high[i], table.known[i, Fact.LOW], table.known[i, Fact.HIGH] = least, most, least, most
    reference = game.rule.reference
    if record.variance:
        theta = record.table[i, Column.ESTIMATE]
    else:
        theta = (record.table[i, Column.ORIGIN] - reference) + offset_of(i, record)
    theta = min(max(theta, span[Span.LOW, i] - reference), span[Span.HIGH, i] - reference)
    table.weights[i] = span[Span.SIGN, i] * theta
    known = table.known
    known[i, Fact.P], known[i, Fact.INNER], known[i, Fact.SHARE] = p, seen.inner, seen.share
    if known[i, Fact.N] != n:  # else it was foreseen
        number(i, n, game)
    look_ahead(i, game)
    u = p * (1.0 - p) if family == Family.SPREAD else p
    known[i, Fact.SEEN] = known[i, Fact.SHIFT] + known[i, Fact.SCALE] * u
    line_up(i, table)


@tight
def number(i, n, game):
    """So many observations of an arm count."""
    known, rho, family = game.table.known, game.arms.rho[i], int(game.table.known[i, Fact.FAMILY])
    known[i, Fact.N] = n
    known[i, Fact.FACTOR], known[i, Fact.HALF] = factor_of(family, n, whole_of(i, game.arms), rho), price_of(family, n, rho)


@tight
def look_ahead(i, game):
    """What an exchange may need for an arm until ``FAR`` more samples of it are planned: no more than by the tangent."""
    known = game.table.known
    known[i, Fact.AHEAD] = known[i, Fact.HALF] + 0.5 * min(FAR, game.batch.size - 1) / (known[i, Fact.N] + game.arms.rho[i])


@tight
def line_up(i, table):
    """What is known of an arm, where its seat is."""
    known, lined, s = table.known, table.lined, table.seats[i]
    lined[Peer.N, s], lined[Peer.P, s], lined[Line.WEIGHT, s] = known[i, Fact.N], known[i, Fact.P], table.weights[i]
    lined[Line.FACTOR, s], lined[Line.AHEAD, s] = known[i, Fact.FACTOR], known[i, Fact.AHEAD]
    if table.state[State.GROWTH]:
        lined[Peer.INNER, s], lined[Peer.SHARE, s] = known[i, Fact.INNER], known[i, Fact.SHARE]
        lined[Peer.LOW, s], lined[Peer.HIGH, s] = known[i, Fact.LOW], known[i, Fact.HIGH]
        lined[Peer.SHIFT, s], lined[Peer.SCALE, s] = known[i, Fact.SHIFT], known[i, Fact.SCALE]


@tight
def need(h, j, game):
    """As ``exchanges.need``, to the last bit."""
    known = game.table.known
    return max(game.rule.threshold + known[h, Fact.HALF] + known[j, Fact.HALF] - ONE_SIDED, 0.25)


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
    if table.state[State.ALIKE]:
        found = glr_bound_alike(h, j, table.known)
    else:
        slope_h, slope_j = table.slopes[UPPER, e], table.slopes[LOWER, e]
        found, table.levels[e] = glr_bound(table.levels[e], h, j, slope_h, slope_j, table.known)
        if found < 0.0:  # by a tangent far from the least
            found, table.levels[e] = glr_bound(table.levels[e], h, j, slope_h, slope_j, table.known)
    wanted = max(game.rule.threshold + table.known[h, Fact.AHEAD] + table.known[j, Fact.AHEAD] - ONE_SIDED, 0.25)
    scores[SCORE, e] = found / wanted if found > 0.0 else 0.0  # also if it is not a number
    # Only arms that are seen in the wrong order have a bound of just 0, which is then the likelihood ratio itself.
    exact = found == 0.0 and table.known[h, Fact.SHIFT] == table.known[j, Fact.SHIFT] == 0.0
    scores[SECOND, e], scores[LOOSE, e] = table.known[h, Fact.N] + table.known[j, Fact.N], 0.0 if exact else 1.0
    table.verdicts[e] = Verdict.SCORED if exact else Verdict.UNKNOWN


@tight
def sweep(arm, upper, e, s, size, rule, table):
    """As ``bound`` for exchanges e, e + 1, ... of an arm with those in the seats s, s + 1, ...: without a branch, so that several
    are worked out at once. All arms are alike. There are ``size`` samples between two looks, see ``foresee`` for several."""
    many = table.rows[table.seats[arm]]
    n, p, w = table.known[arm, Fact.N], table.known[arm, Fact.P], table.known[arm, Fact.FACTOR]
    normal, exact = int(table.known[arm, Fact.FAMILY]) == Family.NORMAL, table.known[arm, Fact.SHIFT] == 0.0
    base = rule.threshold + table.known[arm, Fact.AHEAD] - ONE_SIDED
    their_n, their_p = table.lined[Peer.N, s : s + many], table.lined[Peer.P, s : s + many]
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
    if exact and size > 1 and many >= BLOCK:  # on its own, for the loop above would do fewer at once
        for q in range(many):
            verdicts[q] = Verdict.SCORED if loose[q] == 0.0 else Verdict.UNKNOWN


@lean
def sweep_growth(arm, upper, e, s, rule, table):
    """As ``sweep`` where all arms are weighed by bets, in any units; returns how many exchanges are listed in ``poor``."""
    many, poor, scores, lined = table.rows[table.seats[arm]], 0, table.scores, table.lined
    mine, slopes = lined[:, table.seats[arm]], table.slopes[LOWER if upper else UPPER, e : e + many]
    found = scores[SCORE, e : e + many]
    growth_bounds(
        mine, table.slopes[UPPER if upper else LOWER, e], upper, table.levels[e : e + many], slopes, lined[:, s : s + many], found
    )
    base, exact = rule.threshold + table.known[arm, Fact.AHEAD] - ONE_SIDED, table.known[arm, Fact.SHIFT] == 0.0
    for q in range(many):
        if found[q] < 0.0:
            table.poor[poor] = e + q
            poor += 1
        settled = exact and found[q] == 0.0 and lined[Peer.SHIFT, s + q] == 0.0
        found[q] = (found[q] if found[q] > 0.0 else 0.0) / max(base + lined[Line.AHEAD, s + q], 0.25)  # also if no number
        scores[SECOND, e + q], scores[LOOSE, e + q] = mine[Peer.N] + lined[Peer.N, s + q], 0.0 if settled else 1.0
        table.verdicts[e + q] = Verdict.SCORED if settled else Verdict.UNKNOWN
    return poor


@lean
def cross(i, rule, table, arms):
    """As ``bound`` for all exchanges of an arm where they are a square, row i and column i of it; returns how many of them are
    listed in ``poor``, whose bounds by a tangent far from the least say nothing."""
    m, known, lined, scores, poor = len(table.seats), table.known, table.lined, table.scores, 0
    for side in range(2):
        first, step = (i * m, 1) if side == UPPER else (i, m)
        for q in range(m):
            table.spare[Spare.LEVEL, q] = table.levels[first + q * step]
            table.spare[Spare.SLOPE, q] = table.slopes[1 - side, first + q * step]
        slope = table.slopes[side, i * m + i]
        if table.state[State.GROWTH]:
            levels, slopes, found = table.spare[Spare.LEVEL], table.spare[Spare.SLOPE], table.spare[Spare.FOUND]
            growth_bounds(lined[:, i], slope, side == UPPER, levels, slopes, lined, found)
        else:
            glr_bounds(i, side == UPPER, slope, table.spare, lined[Peer.P], lined[Line.FACTOR], arms)
        for q in range(m):
            e = first + q * step
            if table.verdicts[e] == Verdict.ABSENT:
                scores[SCORE, e], scores[LOOSE, e] = np.inf, 0.0
                continue
            found, table.levels[e] = table.spare[Spare.FOUND, q], table.spare[Spare.LEVEL, q]
            wanted = max(rule.threshold + known[i, Fact.AHEAD] + lined[Line.AHEAD, q] - ONE_SIDED, 0.25)
            scores[SCORE, e] = found / wanted if found > 0.0 else 0.0
            exact = found == 0.0 and arms.shift[i] == arms.shift[q] == 0.0
            scores[SECOND, e], scores[LOOSE, e] = known[i, Fact.N] + lined[Peer.N, q], 0.0 if exact else 1.0
            table.verdicts[e] = Verdict.SCORED if exact else Verdict.UNKNOWN
            if found < 0.0:
                table.poor[poor] = e
                poor += 1
    return poor


@tight
def touch(seat, game):
    """The exchanges of a seat anew, after its arm has changed; the first ``rows[seat]`` of them lie side by side."""
    table = game.table
    first, links = table.first, table.links
    beside, known = first[seat] + table.rows[seat], table.state[State.SQUARE] > 0
    if known:
        for q in range(cross(seat, game.rule, table, game.arms)):
            bound(table.poor[q], game)
    if table.rows[seat] > 0:
        e = links[first[seat]]
        arm, upper = table.sitting[seat], table.pair[UPPER, e] == table.sitting[seat]
        beyond = table.seats[table.pair[LOWER if upper else UPPER, e]]
        if known:
            pass
        elif table.state[State.ALIKE]:
            sweep(arm, upper, e, beyond, game.batch.size, game.rule, table)
        elif table.state[State.GROWTH]:
            for q in range(sweep_growth(arm, upper, e, beyond, game.rule, table)):
                bound(table.poor[q], game)
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
        for e in range(table.state[State.COUNT]):
            bound(e, game)
        enter(table.tree, table.state[State.COUNT])
        play(table.tree, np.int64(0), len(table.levels), table.scores)
    else:
        for q in range(many):
            touch(table.seats[table.moved[q]], game)


@tight
def hopeless(e, scores):
    """There is no evidence for an exchange, however much its arms were observed, as they are seen in the wrong order; a score of
    -0.0 is 0 by rounding, and may be another with the next observation."""
    return scores[SCORE, e] == 0.0 and math.copysign(1.0, scores[SCORE, e]) > 0.0


@tight
def score(e, found, game):
    """The exact score of an exchange, whose likelihood ratio is found; of equal scores that with the fewest observations wins,
    which samples that are planned add to."""
    table = game.table
    h, j = table.pair[UPPER, e], table.pair[LOWER, e]
    table.scores[SCORE, e], table.scores[LOOSE, e] = found / need(h, j, game), 0.0
    if game.batch.size > 1:
        if table.verdicts[e] == Verdict.UNKNOWN:
            table.verdicts[e] = Verdict.SCORED
        table.scores[SECOND, e] = table.known[h, Fact.N] + table.known[j, Fact.N]


@tight
def weakest(game):
    """The exchange with the least evidence for what it needs; of equal ones that with the fewest observations."""
    table = game.table
    scores = table.scores
    while True:
        e = table.tree[1]
        if scores[LOOSE, e] == 0.0 and (game.batch.size == 1 or scores[SCORE, e] != 0.0):
            return e
        h, j = table.pair[UPPER, e], table.pair[LOWER, e]
        if scores[LOOSE, e] == 0.0:
            many = table.known[h, Fact.N] + table.known[j, Fact.N]
            if scores[SECOND, e] == many:
                return e
            scores[SECOND, e] = many  # samples were planned since, see ``foresee``
            play_one(table.tree, e, scores)
            continue
        slope_h, slope_j = table.slopes[UPPER, e], table.slopes[LOWER, e]
        found = glr(h, j, slope_h, slope_j, game.arms)
        score(e, found, game)
        if game.batch.size > 1 and found == 0.0 and in_order(h, j, slope_h, slope_j, game.arms):
            scores[SCORE, e] = -0.0
        play_one(table.tree, e, scores)
