"""Small random examples for the checks of a problem, and how one that breaks a promise is made smaller."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..arms import Floats
from ..problems.base import Problem

NEAR = 1e-9  # of the size of the numbers: what rounding may do
PARTS = 16  # parameters are sixteenths of their range: ties are common, and sums of few are exact
FREE = 5  # arms that are not known exactly, up to which all corners of a box are looked at
POINTS = 16  # of a box with more corners
DECISIONS = 4096  # listed at most
PICKS = 1024  # calls of solve to list them


class Case(NamedTuple):
    """Parameters, a box around them, and a decision."""

    theta: Floats
    lower: Floats
    upper: Floats
    decision: np.ndarray[Any, Any]

    def example(self) -> dict[str, Any]:
        return self._asdict()


def ranges(problem: Problem) -> tuple[Floats, Floats]:
    """Where parameters are looked for; for unbounded ones within a scale of 0."""
    known = np.isfinite(problem.high - problem.low)
    return np.where(known, problem.low, -problem.scales), np.where(known, problem.high, problem.scales)


def draw_theta(problem: Problem, rng: np.random.Generator) -> Floats:
    low, high = ranges(problem)
    return np.asarray(low + rng.integers(0, PARTS + 1, problem.m) / PARTS * (high - low))


def draw_case(problem: Problem, decisions: np.ndarray[Any, Any], rng: np.random.Generator) -> Case:
    """A wide box or a narrow one, in which some arms are decided; a decision that is the best in its middle, or any."""
    theta, (low, high) = draw_theta(problem, rng), ranges(problem)
    if rng.random() < 0.5:
        other = draw_theta(problem, rng)
        lower, upper = np.minimum(theta, other), np.maximum(theta, other)
    else:
        reach = rng.integers(0, 4) / PARTS * (high - low)
        lower, upper = np.maximum(theta - reach, low), np.minimum(theta + reach, high)
    best = rng.random() < 0.5
    decision = problem.solve((lower + upper) / 2) if best else decisions[rng.integers(len(decisions))]
    return Case(theta, lower, upper, decision)


def points(case: Case) -> Iterator[Floats]:
    """Points of the box: all corners if there are few, else some, and some inside."""
    free = case.lower < case.upper
    yield case.theta
    if free.sum() <= FREE:
        for ends in itertools.product(*[(a, b) if a < b else (a,) for a, b in zip(case.lower, case.upper, strict=True)]):
            yield np.array(ends)
    rng = np.random.default_rng(0)
    for j in range(POINTS):
        share = rng.random(len(free)) if j % 2 else rng.integers(0, 2, len(free))
        yield np.clip(case.lower + share * (case.upper - case.lower), case.lower, case.upper)


def smaller(problem: Problem, case: Case) -> Iterator[Case]:
    """The case with one arm known exactly, at the end of its range or where it is."""
    low, _ = ranges(problem)
    for i in range(problem.m):
        for value in (low[i], case.lower[i], case.upper[i], case.theta[i]):
            simple = Case(*(array.copy() for array in case))
            simple.theta[i] = simple.lower[i] = simple.upper[i] = value
            yield simple


def smallest(problem: Problem, case: Case, broken: Callable[[Case], str | None]) -> tuple[Case, str]:
    """A case that breaks the promise as this one does, and none of those next smaller to it do; and what was found."""
    found = broken(case)
    assert found is not None
    size = _size(problem, case)
    while True:
        for simple in smaller(problem, case):
            if _size(problem, simple) < size and (less := broken(simple)) is not None:
                case, found, size = simple, less, _size(problem, simple)
                break
        else:
            return case, found


def _size(problem: Problem, case: Case) -> tuple[int, int]:
    """Arms that are not known exactly, and arms away from the end of their range."""
    return int((case.lower < case.upper).sum()), int((case.theta != ranges(problem)[0]).sum())


class Listed(NamedTuple):
    """Decisions of a class, one a row; ``complete``: there are no others."""

    decisions: np.ndarray[Any, Any]
    complete: bool


def list_decisions(problem: Problem, rng: np.random.Generator) -> Listed:
    """Decisions of a class that nobody has listed: those that are the best somewhere, and, if the class says what it contains,
    all others with such entries, if they are not too many."""
    seen = np.unique([problem.solve(draw_theta(problem, rng)) for _ in range(200)], axis=0)
    if type(problem).admits is Problem.admits:  # says yes to everything
        return _picked(problem) if problem.linear and problem.any_weights and 2**problem.m <= PICKS else Listed(seen, False)
    levels = [_levels(column) for column in seen.T]
    if np.prod([float(len(values)) for values in levels]) > 16 * DECISIONS:
        return Listed(seen, False)
    grid = [y for y in itertools.product(*levels) if problem.contains(y)]
    return Listed(np.array(grid[:DECISIONS]), len(grid) <= DECISIONS) if grid else Listed(seen, False)


def _picked(problem: Problem) -> Listed:
    """All decisions of a 0/1 class with linear reward that takes any weights: each is the only best one somewhere."""
    signs = itertools.product((-problem.sign, problem.sign), repeat=problem.m)
    return Listed(np.unique([problem.solve(theta) for theta in signs], axis=0), True)


def _levels(column: np.ndarray[Any, Any]) -> list[float]:
    """The entries that an arm was seen with; whole ones with all in between, and 0 and 1 together."""
    values = np.unique(column)
    if (values == np.rint(values)).all():
        least, most = int(values[0]), int(values[-1])
        return list(range(min(least, 0) if most <= 1 else least, max(most, 1) + 1))
    return list(values.tolist())
