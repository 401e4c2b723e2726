"""The interval of one arm, for every form of confidence sequence; to the last bit as the Python classes have it."""

from __future__ import annotations

import math

import numpy as np

from ..compile import lean, tight
from ..data import Seen
from ..enums import Column, Family, Form, Span, Unit
from .bets import bets_seen
from .finite import certain
from .intervals import bernstein_reach, kl_interval, kt_regret
from .mixtures import interval
from .record import offset_of, tally_of
from .redraws import has_redraws
from .student import student_seen


@lean
def log_term(t, sequence):
    """The logarithm in a radius, after t samples of all arms; it grows with t, so intervals of arms at rest widen."""
    return sequence.first + sequence.power * math.log(t) - sequence.second - sequence.third


@tight
def within(x, low, high):
    return min(max(x, low), high)


@tight
def placed(below, above, i, origin, scale, span):
    """Bounds in the user's units, from those counted from an origin; put outwards by what rounding may take."""
    slack = span[Span.ROUNDING, i]
    return (
        within(origin + scale * below - slack, span[Span.LOW, i], span[Span.HIGH, i]),
        within(origin + scale * above + slack, span[Span.LOW, i], span[Span.HIGH, i]),
    )


@lean
def unit_of(i, units, record):
    """n and p of one arm, as ``Mixture.seen`` has them."""
    table, counts = record.table, record.counts
    if units[Unit.PAIRED, i] > 0.0:
        n = float(counts[i] // 2)
        p = table[i, Column.DIFFERENCES] / max(n, 1.0) / 2.0 / units[Unit.SCALE, i]
    else:
        n = float(counts[i])
        p = (table[i, Column.ORIGIN] - units[Unit.SHIFT, i]) + offset_of(i, record)
        if int(units[Unit.FAMILY, i]) != Family.SPREAD:  # whatever the variance of 0/1 values counts in
            p /= units[Unit.SCALE, i]
    if int(units[Unit.FAMILY, i]) != Family.NORMAL:
        p = within(p, 0.0, 1.0)
    return n, p


@tight
def seen_in(i, units, record):
    """One arm as evidence sees it, as ``Mixture.seen`` has it."""
    if has_redraws(i, record.redraws):
        return seen_anew(i, units, tally_of(record), tally_of(record.redraws))
    return seen_once(i, units, tally_of(record))


@lean
def seen_once(i, units, record):
    """An arm whose values are only drawn once."""
    family = int(units[Unit.FAMILY, i])
    if family == Family.STUDENT:
        n, p, inner, share = student_seen(i, record.counts, record.table)
        return Seen(family, n, p, inner, share, np.inf, 0.0, 0.0)
    if family == Family.BETS:
        return bets_seen(i, units[Unit.PAIRED, i] > 0.0, record.counts, record.table)
    n, p = unit_of(i, units, record)
    return Seen(family, n, p, 0.5, 0.0, record.table[i, Column.POPULATION], 0.0, 0.0)


@lean
def seen_anew(i, units, record, redraws):
    """An arm whose values are drawn with replacement, too."""
    family, inner, share, paired = int(units[Unit.FAMILY, i]), 0.5, 0.0, units[Unit.PAIRED, i] > 0.0
    if family == Family.BETS:
        anew = bets_seen(i, paired, redraws.counts, redraws.table)
        family, draws, drawn, inner, share = anew.family, anew.n, anew.p, anew.inner, anew.share
    else:
        draws, drawn = unit_of(i, units, redraws)
    if paired:
        return Seen(family, draws, drawn, inner, share, np.inf, 0.0, 0.0)
    n, p = unit_of(i, units, record)
    return Seen(family, n, p, inner, share, record.table[i, Column.POPULATION], draws, drawn)


@lean
def slow_ends(i, c, sequence, record):
    """The sequences that have no radius in closed form."""
    span, units = sequence.span, sequence.units
    n, low, scale = record.counts[i], span[Span.LOW, i], span[Span.WIDE, i]
    if sequence.form == Form.MIXTURE:
        seen = seen_in(i, units, record)
        below, above = interval(seen, sequence.rho, sequence.level)
        below, above = placed(below, above, i, units[Unit.SHIFT, i], units[Unit.SCALE, i], span)
        least, most = certain(i, span[Span.LOW, i], span[Span.HIGH, i], seen.n, seen.p, units, record)
        return within(below, least, most), within(above, least, most)
    origin, offset = record.table[i, Column.ORIGIN], offset_of(i, record)
    if sequence.form == Form.DIVERGENCE or sequence.form == Form.KT:
        p = within(((origin - low) + offset) / scale, 0.0, 1.0)
        reach = c if sequence.form == Form.DIVERGENCE else sequence.level + kt_regret(float(n), p)
        below, above = kl_interval(p, reach / n)
        return placed(below, above, i, low, scale, span)
    errors = record.table[i, Column.PREDICTION_ERROR]
    reach = bernstein_reach(0.25 + errors / (scale * scale), sequence.rho, sequence.norm, sequence.level)
    half = scale * reach / n
    return placed(offset - half, offset + half, i, origin, 1.0, span)


@tight
def ends(i, c, sequence, record):
    """Lower and upper bound of an arm, c being the logarithm of ``log_term``; wider for a larger c."""
    if sequence.form == Form.RADIUS:
        radius = sequence.span[Span.WIDE, i] * math.sqrt(c / (2.0 * record.counts[i]))
    elif sequence.form == Form.U_STATISTIC:
        radius = sequence.span[Span.WIDE, i] * math.sqrt(c / (8.0 * max(record.counts[i] // 2, 1)))
    else:
        return slow_ends(i, c, sequence, record)
    return placed(-radius, radius, i, record.table[i, Column.ESTIMATE], 1.0, sequence.span)


@tight
def worth(i, c, sequence, record):
    """The bounds of an arm's parameter, or of its opposite if the smallest are looked for: the largest are best from here on."""
    low, up = ends(i, c, sequence, record)
    if sequence.span[Span.SIGN, i] > 0.0:
        return low, up
    return -up, -low


@tight
def weight_at(i, n, sequence):
    """How soon an arm is to be sampled after n samples: radii compare as scale^2 / n does, without rounding luck."""
    return sequence.span[Span.PRIORITY, i] / n


@tight
def weight_of(i, sequence, record):
    return weight_at(i, record.counts[i], sequence)
