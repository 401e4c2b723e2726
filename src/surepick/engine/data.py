"""What compiled code sees, as named tuples that kernels and loops take whole. Importable without numba.

A problem is lowered to one of the decision classes below (``problem.lower()``), a confidence sequence to a :class:`Sequence`, a
record of observations to a :class:`Record`, and what a sampler gives to a :class:`Stock`. Arrays are handed on as they are: loops
work on those of an explorer in place. All fields of a type are always of the same types, since numba compiles a kernel anew for
every combination.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .enums import State

Array = np.ndarray[Any, Any]


def state_of(**entries: int) -> Array:
    """The state of a loop before its first round, by the names of its entries; see :class:`surepick.engine.enums.State`."""
    state = np.zeros(len(State), dtype=np.int64)
    for name, value in entries.items():
        state[State[name]] = value
    return state


# -- one exploration ----------------------------------------------------------------------------------------------------


class Tally(NamedTuple):
    """So much of a record as one more observation changes: what is handed on whole costs time by its length."""

    counts: Array
    table: Array
    variance: bool


class Redraws(NamedTuple):
    """Draws with replacement from values drawn without, as a record of their own; see :class:`surepick.redraws.Redraws`."""

    counts: Array
    table: Array
    variance: bool
    keys: Array
    values: Array
    starts: Array


NO_REDRAWS = Redraws(np.zeros(0, np.int64), np.zeros((0, 16)), False, np.zeros(0, np.uint64), np.zeros(0), np.zeros(0, np.int64))


class Record(NamedTuple):
    """What has been observed."""

    counts: Array
    table: Array  # a row an arm, see :class:`surepick.engine.enums.Column`
    variance: bool  # the parameter is the variance
    redraws: Redraws = NO_REDRAWS


def record_of(moments: Any) -> Record:
    """A record of :class:`surepick.estimators.Moments`, for compiled code."""
    counts, table, variance, known = moments.counts, moments.table, moments.variance, moments.redraws
    if known is None:
        return Record(counts, table, variance)
    drawn = known.tally
    redraws = Redraws(drawn.counts, drawn.table, variance, known.keys, known.values, known.starts)
    return Record(counts, table, variance, redraws)


class Stock(NamedTuple):
    """Values drawn ahead, a row an arm."""

    values: Array
    state: Array  # see :class:`surepick.engine.enums.Shelf`
    laws: Array  # numbers of all laws


class Sequence(NamedTuple):
    """A confidence sequence. The logarithm in a radius is first + power ln(t) - second - third."""

    form: int  # a :class:`surepick.engine.enums.Form`, as a plain number: numba is slow to see the type of a member
    first: float
    power: float
    second: float
    third: float
    level: float
    rho: float
    norm: float
    units: Array  # see :class:`surepick.engine.enums.Unit`
    span: Array  # see :class:`surepick.engine.enums.Span`


class Seen(NamedTuple):
    """One arm as evidence sees it: n observations with mean p, in units; for bets also the inner atom and its weight; for
    normal values of unknown variance their variance, and the part of their evidence that is the same for all parameters.

    Of ``whole`` values drawn without replacement, if that is finite; bets are then on so many draws with replacement, with mean
    ``drawn``, inner atom and weight."""

    family: int
    n: float
    p: float
    inner: float
    share: float
    whole: float = np.inf
    draws: float = 0.0
    drawn: float = 0.0


class Glimpse(NamedTuple):
    """As much of :class:`Seen` as guides of the sampling need."""

    family: int
    n: float
    p: float
    inner: float
    share: float


class Arms(NamedTuple):
    """Every arm as evidence sees it: n observations with mean p, of a parameter shift + scale u between low and high."""

    families: Array
    n: Array
    p: Array
    low: Array
    high: Array
    shift: Array
    scale: Array
    rho: Array
    atoms: Array  # two rows, see :class:`Seen` and kernels/bets.py
    costs: Array  # of one observation
    finite: Array = np.zeros((3, 0))  # the rest of :class:`Seen`, if some arm has a population


class JointTest(NamedTuple):
    """A decision, and what guides the search for another one that is not certainly worse; see kernels/linear.py."""

    decision: Array
    estimate: Array  # of every arm, which the decision maximises
    value: Array  # of every arm, from the values that are weighed as evidence: a first one or a few may be held back
    spread: Array  # about the square of its error, by arm
    price: Array  # of an arm that differs
    rounding: Array  # by which a value may be off
    base: Array  # see :class:`surepick.engine.enums.Base`
    sign: Array  # one number: -1 if the problem looks for small parameters, else 1
    away: Array  # octaves from the stakes of the arm with the largest unit to those of an arm


class Stakes(NamedTuple):
    """The evidence of all arms by stakes that they share, for either side, above first; see kernels/stakes.py."""

    facts: Array  # see :class:`surepick.engine.enums.Known`
    fresh: Array  # whether what follows has been worked out for an arm
    gain: Array  # what the logarithm of every stake's capital is at the mean that is seen
    pull: Array  # and its slope there
    shape_gain: Array  # the same of stakes about each of them
    shape_pull: Array


class Exchanges(NamedTuple):
    """Single exchanges (h, l) of a decision, each asking for slope_h theta_h >= slope_l theta_l."""

    high: Array
    low: Array
    slope_high: Array
    slope_low: Array


# -- decision classes ---------------------------------------------------------------------------------------------------


class Partition(NamedTuple):
    """The k best of every group: group g has the arms members[starts[g] : starts[g + 1]]."""

    k: int
    starts: Array
    members: Array
    sign: float


class Tree(NamedTuple):
    """Spanning trees; arm i is the edge between nodes u[i] and v[i]."""

    nodes: int
    u: Array
    v: Array
    sign: float


class Allocation(NamedTuple):
    """So many units in all, least to most of every stratum; sizes compare as the strata's do, and squares are those of their
    shares of the population. ``rest`` is 1/N, which a stratum's 1/n falls to when all N are asked, or 0 if people may be asked
    again."""

    budget: int
    sizes: Array
    squares: Array
    least: Array
    most: Array
    rest: Array


class Plan(NamedTuple):
    """Convex plans: unit u of arm i costs steps[first[i] + u], u of them together costs[starts[i] + u], and at least so many are
    required."""

    require: int
    steps: Array
    first: Array
    costs: Array
    starts: Array


class Assignment(NamedTuple):
    """Matchings as a table of rows and columns; arm i is in cells[i], and columns from ``own`` on are to stay alone."""

    rows: int
    columns: int
    own: int
    cells: Array
    sign: float


class Ways(NamedTuple):
    """Paths in a graph without cycles; ``order`` has the edges that matter, each after those that lead to it."""

    nodes: int
    source: int
    target: int
    u: Array
    v: Array
    order: Array
    sign: float


class Listed(NamedTuple):
    """An explicit list of decisions, a row each."""

    decisions: Array
