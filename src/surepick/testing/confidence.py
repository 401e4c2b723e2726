"""What every confidence sequence promises, and a check of it all."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..arms import Arm, Floats
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
from .worlds import truth_of, world_of

DELTA = 0.1
LONGEST = 1000  # observations of an arm
SHARES = (0.5, 1 / 16)  # probabilities of the upper value: the most spread, and a skewed one


def check_confidence(confidence: Any, problem: Problem | None = None, *, runs: int = 100) -> None:
    """Check a confidence sequence by simulation.

    Parameters
    ----------
    confidence : str or Confidence
        As for :class:`~surepick.Explorer`.
    problem : Problem, optional
        Whose arms to look at; by default three arms with values in [0, 1] or, if need be, 0 and 1, for their means or variances.
    runs : int
        Paths of observations on which to count intervals that ever miss the truth.

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
    for share in SHARES:
        shares = np.full(arms.m, share)
        for promise in PROMISES:
            for record in path(arms, shares, run=0):
                if (found := promise(sequence, record)) is not None:
                    raise _broken(confidence, promise, found, record)
        if (missed := covers(sequence, shares, runs)) is not None:
            raise _broken(confidence, covers, *missed)


def _usual(confidence: Any) -> Problem:
    for kind, parameter in itertools.product(("bounded", "bernoulli"), ("mean", "variance")):
        problem = BestArm([Arm(f"arm {i}", kind=kind) for i in range(3)], parameter=parameter)
        try:
            make_confidence(confidence, problem, DELTA)
        except SettingError:
            continue
        return problem
    raise SettingError(f"confidence={confidence!r} is neither for means nor for variances of values in [0, 1]: give a problem.")


def looks() -> list[int]:
    """Counts at which the intervals are looked at: all small ones, then ever fewer."""
    return sorted({*range(2, 16), *np.geomspace(16, LONGEST, 20).astype(int).tolist()})


def path(problem: Problem, shares: Floats, run: int) -> Iterator[Record]:
    """Observations of all arms, the last arm ever fewer than the others; the record at every look."""
    world, record = world_of(problem, shares), problem.record()
    values = [world.sample(arm, LONGEST, np.random.default_rng([run, arm])) for arm in range(problem.m)]
    for n in looks():
        for arm in range(problem.m):
            wanted, had = n if arm < problem.m - 1 else max(2, n // 3), int(record.counts[arm])
            record.update(arm, values[arm][had:wanted])
        yield record


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


def covers(sequence: Confidence, shares: Floats, runs: int) -> tuple[str, Record] | None:
    """All intervals contain the truth at all times together, with probability at least 1 - delta; and they shrink."""
    problem = sequence.problem
    truth = truth_of(problem, world_of(problem, shares))
    missed: list[tuple[str, Record]] = []
    for run in range(runs):
        first = None
        for record in path(problem, shares, run):
            lower, upper = sequence.box(record)
            first = upper - lower if first is None else first
            outside = np.flatnonzero((truth < lower) | (truth > upper))
            if len(outside):
                i = int(outside[0])
                missed.append((f"arm {i} is at {truth[i]:g}, outside of {lower[i]:g} to {upper[i]:g}", record))
                break
        else:
            if first is not None and not (upper - lower < first).all():
                return (
                    f"After {LONGEST:,} observations they are {(upper - lower).tolist()} wide, and were {first.tolist()}.",
                    record,
                )
    if len(missed) > (most := most_errors(runs, sequence.delta)):
        told, record = missed[0]
        return (
            f"On {len(missed)} of {runs} paths one misses, where {most} is a lot at delta = {sequence.delta:g}; first, {told}.",
            record,
        )
    return None


def _broken(confidence: Any, promise: Callable[..., object], found: str, record: Record) -> ConformanceError:
    assert promise.__doc__ is not None
    example = {"counts": record.counts, "estimates": record.estimates}
    return ConformanceError(f"confidence={confidence!r}", " ".join(promise.__doc__.split()), found, example)
