"""What every confidence sequence promises, and a check of it all."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..arms import Arm, Floats, Kind
from ..checks import vouched
from ..confidence import Confidence, make_confidence
from ..engine import compiled
from ..engine.data import Record as Lowered
from ..errors import SettingError
from ..estimators import Mean, Moments, Record
from ..problems import BestArm
from ..problems.base import Problem
from .chance import most_errors
from .error import ConformanceError
from .paths import LONGEST, Cumulated, drawn, path
from .worlds import truth_of, world_of

DELTA = 0.1
MANY = 400  # arms, to see whether the intervals hold for all at once
MANY_LOOKS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)  # observations of every one of them
MANY_RUNS = 60
MANY_DELTA = 0.6  # intervals that hold for each arm but not for all of them miss most clearly where delta is large
RARE = (1 / 64, 1 / 64, 1 / 16, 1 / 4)  # probabilities of their upper values, in turn
SHARES = (0.5, 1 / 16)  # probabilities of the upper value: the most spread, and a skewed one
COUNTS = 3  # of intervals that miss, in one check: they share the false alarm


def check_confidence(confidence: Any, problem: Problem | None = None, *, runs: int = 300) -> None:
    """Check a confidence sequence by simulation.

    Parameters
    ----------
    confidence : str or Confidence
        As for :class:`~surepick.Explorer`.
    problem : Problem, optional
        Whose arms to look at; by default three arms with values in [0, 1] or, if need be, 0 and 1, for their means or variances.
    runs : int
        Paths of 20,000 observations an arm on which to count intervals that ever miss the truth; where the values are skewed,
        a third of it.

    Raises
    ------
    ConformanceError
        With the promise, and the observations that break it.

    Examples
    --------
    >>> from surepick.testing import check_confidence
    >>> check_confidence("normal", runs=50)
    """
    arms = problem if problem is not None else _usual(confidence)
    sequence = make_confidence(confidence, arms, DELTA)
    for share, paths in zip(SHARES, (runs, runs // 3), strict=True):
        shares = np.full(arms.m, share)
        truth = truth_of(arms, world_of(arms, shares))
        for promise in PROMISES:
            for record in path(arms, shares, truth, run=0):
                if (found := promise(sequence, record)) is not None:
                    raise _broken(confidence, promise, found, record)
        if (missed := covers(sequence, shares, paths)) is not None:
            raise _broken(confidence, covers, *missed)
    if (missed := covers_many_arms(confidence, arms)) is not None:
        raise _broken(confidence, covers_many_arms, *missed)


def _usual(confidence: Any) -> Problem:
    kinds: tuple[Kind, ...] = ("bounded", "bernoulli")
    for kind, parameter in itertools.product(kinds, ("mean", "variance")):
        problem = BestArm([Arm(f"arm {i}", kind=kind) for i in range(3)], parameter=parameter)
        try:
            make_confidence(confidence, problem, DELTA)
        except SettingError:
            continue
        return problem
    raise SettingError(f"confidence={confidence!r} is neither for means nor for variances of values in [0, 1]: give a problem.")


# -- the promises: each returns what was found instead, or None ------------------------------------------------------------------


def is_a_box(sequence: Confidence, record: Record) -> str | None:
    """Bounds are numbers within the range of the parameter, the lower one not above the upper one."""
    lower, upper = sequence.box(record)
    problem = sequence.problem
    if not ((problem.low <= lower) & (lower <= upper) & (upper <= problem.high)).all():
        return f"They are {lower.tolist()} and {upper.tolist()}."
    return None


def contains_the_estimate(sequence: Confidence, record: Record) -> str | None:
    """The interval of a mean contains the estimate."""
    if type(sequence.problem.parameter) is not Mean:
        return None
    lower, upper = sequence.box(record)
    near = 1e-9 * sequence.problem.scales
    outside = np.flatnonzero((record.estimates < lower - near) | (record.estimates > upper + near))
    if len(outside):
        i = int(outside[0])
        return f"Arm {i} has estimate {record.estimates[i]:g}, and the interval from {lower[i]:g} to {upper[i]:g}."
    return None


def gives_the_same_again(sequence: Confidence, record: Record) -> str | None:
    """The same record has the same box."""
    first, second = sequence.box(record), sequence.at(sequence.delta).box(record)
    for one, other in zip(first, second, strict=True):
        if (one != other).any():
            return f"It was {one.tolist()}, and is {other.tolist()} after at({sequence.delta})."
    return None


def is_wider_for_a_smaller_delta(sequence: Confidence, record: Record) -> str | None:
    """A smaller delta has wider intervals."""
    lower, upper = sequence.box(record)
    low, high = sequence.at(sequence.delta / 10).box(record)
    near = 1e-12 * sequence.problem.scales
    if ((low > lower + near) | (high < upper - near)).any():
        return f"At delta = {sequence.delta / 10:g} they end at {high.tolist()}, at {sequence.delta:g} at {upper.tolist()}."
    inside = (lower > sequence.problem.low) | (upper < sequence.problem.high)
    if inside.any() and not ((low < lower) | (high > upper)).any():
        return f"At delta = {sequence.delta / 10:g} they are the same as at {sequence.delta:g}, and end at {high.tolist()}."
    return None


def orders_arms(sequence: Confidence, record: Record) -> str | None:
    """radius is positive, and smaller for an arm with more observations."""
    counts = record.counts
    less, more = sequence.radius(np.maximum(counts, 2)), sequence.radius(np.maximum(counts, 2) * 16)
    if not ((more > 0) & (more < less)).all():
        return f"It is {less.tolist()}, and with 16 times as many observations {more.tolist()}."
    return None


def is_lowered_as_it_is(sequence: Confidence, record: Record) -> str | None:
    """Compiled loops see the same bounds: lower(record) is None, or stands for what box(record) gives."""
    if not isinstance(record, Moments) or not vouched(sequence, "lower"):
        return None
    data = sequence.lower(record)
    if data is None:
        return None
    kernels, seen = compiled("sequences"), Lowered(record.counts, record.table, record.variance)
    c = kernels.log_term(int(record.counts.sum()), data)
    lower, upper = sequence.box(record)
    for i in range(sequence.problem.m):
        low, high = kernels.ends(i, c, data, seen)
        near = 1e-9 * sequence.problem.scales[i]
        if abs(low - lower[i]) > near or abs(high - upper[i]) > near:
            return f"Arm {i} has the interval from {lower[i]:g} to {upper[i]:g}; compiled, from {low:g} to {high:g}."
    return None


PROMISES: tuple[Callable[[Confidence, Record], str | None], ...] = (
    is_a_box, contains_the_estimate, gives_the_same_again, is_wider_for_a_smaller_delta, orders_arms, is_lowered_as_it_is,
)  # fmt: skip


def covers(sequence: Confidence, shares: Floats, runs: int) -> Missed | None:
    """All intervals contain the truth at all times together, with probability at least 1 - delta; and they shrink."""
    problem = sequence.problem
    truth = truth_of(problem, world_of(problem, shares))
    missed: list[Missed] = []
    most = most_errors(runs, sequence.delta, COUNTS)
    for run in range(runs):
        widths: list[Floats] = []
        for record in path(problem, shares, truth, run):
            lower, upper = sequence.box(record)
            widths.append(upper - lower)
            if (told := _outside(truth, lower, upper, record)) is not None:
                missed.append((told, record))
                break
        else:
            if not (widths[-1] < widths[0]).all():
                wide = f"{widths[-1].tolist()} wide, and were {widths[0].tolist()}"
                return f"After {LONGEST:,} observations they are {wide}.", record
        if len(missed) > most:
            return _too_many(missed, run + 1, runs, most, sequence.delta)
    return None


def covers_many_arms(confidence: Any, problem: Problem) -> Missed | None:
    """All intervals of many arms contain the truth together, with probability at least 1 - delta, also if some arms hardly ever
    give their upper value."""
    arms = [replace(problem.arms[i % problem.m], name=f"arm {i}") for i in range(MANY)]
    many, shares = BestArm(arms, parameter=problem.parameter), np.resize(RARE, MANY)
    try:
        sequence = make_confidence(confidence, many, MANY_DELTA)
    except SettingError:  # for other problems than this
        return None
    if type(many.record()) is not Moments:
        return None
    truth = truth_of(many, world_of(many, shares))
    missed: list[Missed] = []
    most = most_errors(MANY_RUNS, MANY_DELTA, COUNTS)
    for run in range(MANY_RUNS):
        sums = Cumulated(many, drawn(many, shares, MANY_LOOKS[-1], run))
        for n in MANY_LOOKS[many.parameter.minimum - 1 :]:
            record = sums.record(np.full(MANY, n))
            if (told := _outside(truth, *sequence.box(record), record)) is not None:
                missed.append((told, record))
                break
        if len(missed) > most:
            return _too_many(missed, run + 1, MANY_RUNS, most, MANY_DELTA)
    return None


Missed = tuple[str, Record]


def _outside(truth: Floats, lower: Floats, upper: Floats, record: Record) -> str | None:
    """The first arm whose interval misses the truth, in words."""
    outside = np.flatnonzero((truth < lower) | (truth > upper))
    if not len(outside):
        return None
    i = int(outside[0])
    return f"arm {i} is at {truth[i]:g}, outside of {lower[i]:g} to {upper[i]:g} after {record.counts[i]:,} observations"


def _too_many(missed: list[Missed], seen: int, runs: int, most: int, delta: float) -> Missed:
    told, record = missed[0]
    many = f"{len(record.counts)} arms together have an interval that misses on {len(missed)} of {seen} paths"
    return f"With delta = {delta:g}, {many}, where {most} of {runs} is a lot; first, {told}.", record


def _broken(confidence: Any, promise: Callable[..., object], found: str, record: Record) -> ConformanceError:
    assert promise.__doc__ is not None
    example = {"counts": record.counts, "estimates": record.estimates} if len(record.counts) < MANY else {}
    return ConformanceError(f"confidence={confidence!r}", " ".join(promise.__doc__.split()), found, example)
