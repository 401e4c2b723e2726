"""Enumerations that compiled code and Python share, each with one meaning; importable without numba."""

from __future__ import annotations

from enum import IntEnum

FEWEST = 64  # values drawn ahead for one arm at least
FEWEST_MOVED = 4  # arms in which decisions differ, where none is at hand that says how many these are
TRIES = 8  # slopes of the linear bound that joint-linear tries for one arm


class Stop(IntEnum):
    """What a compiled loop says when it returns."""

    DECIDED = 0  # the policy would stop
    SPENT = 1  # so many samples were not to be exceeded
    EMPTY = 2  # an arm's stock of values is used up
    UNSURE = 3  # rounding cannot tell, so one round is for the Python loop
    PAUSED = 4  # time for a look at progress and Ctrl-C
    TEST = 5  # stays within a loop: all arms must be tested at this very round


class Form(IntEnum):
    """Confidence sequences, by how their intervals are worked out; see kernels/sequences.py."""

    RADIUS = 0
    U_STATISTIC = 1
    DIVERGENCE = 2
    MIXTURE = 3
    KT = 4
    BERNSTEIN = 5


class Family(IntEnum):
    """What evidence about an arm is made from; see kernels/mixtures.py."""

    UNIT = 0  # values in [0, 1], by the beta mixture
    NORMAL = 1  # 1-sub-Gaussian values
    SPREAD = 2  # the variance of 0/1 values
    BETS = 3  # values in [0, 1], by bets and by the beta mixture; a sequence declares this, and the first value says which:
    COINS = 4  # ... it was 0 or 1, and so were all later ones
    STUDENT = 5  # normal values of unknown variance
    LUMPS = 6  # ... it was 0 or 1, and some later ones were not
    SQUARES = 7  # ... these are squared differences of pairs, and it was neither 0 nor 1


class Law(IntEnum):
    """Laws of an arm's values that compiled code can draw; see kernels/draws.py."""

    FOREIGN = 0  # only the caller can
    BERNOULLI = 1
    NORMAL = 2
    BETA = 3
    REPLAY = 4
    TABLE = 5


class Status(IntEnum):
    """What is known of an arm for a stretch of rounds."""

    OPEN = 0  # undecided, whatever the bounds are in between
    CLOSED = 1  # decided
    MAYBE = 2


class Known(IntEnum):
    """Rows of ``facts`` of :class:`surepick.engine.data.Stakes`: an arm as evidence sees it, and how large its unit is."""

    FAMILY = 0
    N = 1
    P = 2
    INNER = 3
    SHARE = 4
    SCALE = 5


class Base(IntEnum):
    """Entries of ``base`` of :class:`surepick.engine.data.JointTest`: about the price of any difference, for the guide; ln(1 /
    delta) and the part of the union's price that is the same for all differences; the part that every arm adds to it; for normal
    arms the largest distance from their means that is looked at, and where all decisions are bounded at once."""

    GUIDE = 0
    LEVEL = 1
    EACH = 2
    LIMIT = 3
    WIDEST = 4


class Verdict(IntEnum):
    """What is known of the evidence of an exchange; unchanged until one of its arms is observed, or a sample of it planned."""

    UNKNOWN = 0  # and its score is only a bound
    CERTAIN = 1  # it is enough
    SHORT = 2  # it is not
    ABSENT = 3  # there is no such exchange at present
    SCORED = 4  # unknown, but its score is exact


class State(IntEnum):
    """Entries of a loop's ``state``, of which each loop uses some; see :func:`surepick.engine.data.state_of`."""

    TOTAL = 0  # samples so far, planned ones included
    WAITING = 1  # arms in the queue
    WITNESS = 2  # an arm that was undecided
    BEGUN = 3  # whether all that is kept has been set up
    OBSERVED = 4  # how many arms were observed since the last look, which come first in the plan; -1 at first
    FRESH = 5  # how many of these gave evidence
    FEWEST = 6  # samples of an arm, some time ago
    COUNT = 7  # exchanges
    HALVES = 8  # halves of pairs, whose other halves are still missing
    ALIKE = 9  # whether all arms are of one family and range
    SQUARE = 10  # whether exchange a m + b is that of a and b, and all arms are in units of [0, 1]
    CHOSEN = 11  # the option chosen last
    PARKED = 12  # how many arms are parked
    MOST = 13  # the largest power of two that a horizon may have
    HORIZON = 14  # the last round of the stretch
    LENGTH = 15  # of the stretch, in rounds
    SHORTEST = 16  # how long stretches are at least
    LONGEST = 17  # and at most
    GROWTH = 18  # whether all arms are weighed by bets, and guided by their growth


class Column(IntEnum):
    """Columns of a record: all of an arm side by side, three lines of a processor's cache."""

    SUM = 0  # of x - origin
    CARRY = 1  # what rounding took from the sum
    ORIGIN = 2
    ESTIMATE = 3
    SQUARES = 4  # sum of (x - mean)^2
    PREDICTION_ERROR = 5  # sum of (x - mean of those before)^2
    DIFFERENCES = 6  # sum of (x - x')^2 over pairs
    WAITING = 7  # the last x - origin while its partner is missing
    RANGE = 8  # high - low; what follows counts in units of it: y is a value or, for variances, the squared difference of a pair
    UPWARD = 9  # sum of y^2 (1 - y)
    DOWNWARD = 10  # sum of y (1 - y)^2
    HELD = 11  # of normal arms: how many first values are held back to set the unit; 0 until they do, -1 for other arms
    HELD_SUM = 12  # of x - origin over these
    HELD_SQUARES = 13  # sum of (x - their mean)^2
    LATER_SQUARES = 14  # sum of (x - their mean)^2 over all values after these
    FIRST = 15  # the first y, NaN before; the sums of UPWARD and DOWNWARD begin after it
    POPULATION = 16  # how many values the arm has, infinite if they never run out


class Shelf(IntEnum):
    """Columns of a stock's ``state``: how many values of an arm are used and drawn, its law, where in the list of numbers the
    law's begin and end, and the address of its generator."""

    USED = 0
    FILLED = 1
    LAW = 2
    FIRST = 3
    LAST = 4
    BITS = 5


class Unit(IntEnum):
    """Rows of a sequence's ``units``: how arms are weighed as evidence."""

    FAMILY = 0
    SHIFT = 1
    SCALE = 2
    PAIRED = 3


class Span(IntEnum):
    """Rows of a sequence's ``span``: the smallest and the largest value of every arm's parameter, its scale, what rounding may
    take from a bound, by which it is put outwards, -1 if the problem looks for small parameters, else 1, its priority,
    and its cost as a multiple of the least."""

    LOW = 0
    HIGH = 1
    WIDE = 2
    ROUNDING = 3
    SIGN = 4
    PRIORITY = 5
    COST = 6
