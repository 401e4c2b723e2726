"""The exchanges of a decision, with all that a round of joint stopping needs; see joint.py."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from ..data import Arms, Array, Record, Sequence, Stock, state_of
from ..enums import Family
from ..kernels.glr import Fact
from ..kernels.growth_bounds import Peer
from ..kernels.tournament import size_of
from .batch import Batch, batch_of
from .declare import lowered

UPPER, LOWER = 0, 1  # rows of ``pair`` and ``slopes``


BLOCK = 64  # exchanges side by side of which it is asked at once whether anything is known of them
FAR = 4  # bounds hold for so many planned samples of an arm; then there are new ones


class Line(IntEnum):
    """Rows of ``lined``, after those of ``growth_bounds.Peer``."""

    FACTOR = 8
    AHEAD = 9
    WEIGHT = 10


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
    known = np.full((m, len(Fact)), np.nan)
    known[:, Fact.FAMILY], known[:, Fact.LOW], known[:, Fact.HIGH] = arms.families, arms.low, arms.high
    known[:, Fact.SHIFT], known[:, Fact.SCALE] = arms.shift, arms.scale
    for values in (arms.families, arms.scale, arms.shift, arms.low, arms.high):
        alike = alike and bool((values == values[0]).all())
    alike = alike and arms.families[0] in (Family.UNIT, Family.COINS, Family.NORMAL) and arms.finite.size == 0
    growth = bool(np.isin(arms.families, (Family.BETS, Family.LUMPS, Family.SQUARES)).all()) and arms.finite.size == 0
    halves = int((paired & (record.counts % 2 == 1)).sum())
    return Table(
        pair=np.zeros((2, spots), whole), slopes=np.ones((2, spots)), levels=np.full(spots, np.nan), scores=np.zeros((4, spots)),
        verdicts=np.zeros(spots, np.int8), tree=np.zeros(2 * size_of(spots), np.int32),
        seats=np.zeros(m, whole), sitting=np.zeros(m, whole), rows=np.zeros(m, whole), place=np.zeros(m, whole),
        first=np.zeros(m + 1, whole), links=np.zeros(2 * spots, whole), known=known, lined=np.empty((len(Peer) + len(Line), m)),
        spare=np.empty((3, m)), poor=np.empty(2 * m, whole),
        weights=np.empty(m), paired=paired,
        counts=record.counts.copy(), moved=np.empty(2 * m, whole),
        decision=decision.astype(whole), before=np.zeros(m, whole),
        state=state_of(TOTAL=record.counts.sum(), HALVES=halves, OBSERVED=-1, ALIKE=int(alike), GROWTH=int(growth)),
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
    arms = arms._replace(families=arms.families.copy(), n=arms.n.copy(), p=arms.p.copy(), atoms=arms.atoms.copy())
    arms = arms._replace(low=arms.low.copy(), high=arms.high.copy(), finite=arms.finite.copy())
    rule = Rule(float(policy.threshold(explorer.delta)), float(policy.reference(view)))
    table = table_of(spots, policy.decision(view), alike, record, arms, explorer.confidence.paired)
    return Game(rule, table, arms, sequence, record, stock, batch_of(explorer, source))
