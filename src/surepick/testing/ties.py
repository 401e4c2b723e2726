"""Decisions that tie at the worst corner of the box: where a rule that stops at a gap of 0 and one that stops when there is no
other decision part ways. Arms that may be anywhere in the same range hardly ever tie, so these are given ranges that touch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arms import Arm
from ..environments import Environment
from ..errors import SurepickError
from ..problems import PROBLEMS
from ..problems.base import Problem
from .engines import Way
from .worlds import world_of

MIDDLE = 0.5  # where the ranges of the arms of the best decision and of the others touch
APART = 0.25  # of its range, an arm is away from there: so little that its interval contains the middle for long
TIES = 2  # arms outside of the decision that may be anywhere, one in every problem
WAY = Way(1, {"confidence": "normal"})  # whose intervals are cut off at the ends of the ranges


class Tie(NamedTuple):
    """A problem and a world in which the best decision ties with another one until the ends of the ranges are ruled out."""

    problem: Problem
    world: Environment


def in_files(problem: Problem) -> bool:
    """A file can name the class and hold what it is made from."""
    return PROBLEMS.get(problem.kind) is type(problem) and problem.keys() is not None


def ties(problem: Problem) -> list[Tie]:
    """The class with other arms: those of one decision are at least in the middle, those outside at most; but one of these may
    be anywhere, so that it takes some samples until only ties are left."""
    if not (problem.linear and problem.parameter.name == "mean" and in_files(problem)):
        return []
    best = _behind(problem)
    return [made for i in np.flatnonzero(best == 0)[:TIES].tolist() if (made := _tie(problem, best == 1, i)) is not None]


def _behind(problem: Problem) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """A decision that is not the one taken where all arms are equal, and has little in common with it: the best where the later
    arms are better."""
    theta = np.linspace(0.0, 1.0, problem.m)
    return np.asarray(problem.solve(theta if problem.sign > 0 else 1.0 - theta))


def _tie(problem: Problem, inside: np.ndarray[tuple[int], np.dtype[np.bool_]], free: int) -> Tie | None:
    above = inside if problem.sign > 0 else ~inside
    ranges = [(MIDDLE, 1.0) if up else (0.0, MIDDLE) for up in above.tolist()]
    shares = np.where(above, APART, 1.0 - APART)
    ranges[free], shares[free] = (0.0, 1.0), float(above[free])
    arms = [Arm(name, low, high) for name, (low, high) in zip(problem.names, ranges, strict=True)]
    try:
        other = type(problem).from_keys(arms, problem.parameter.name, problem.keys() or {})
    except SurepickError:  # not with such arms
        return None
    return Tie(other, world_of(other, shares))
