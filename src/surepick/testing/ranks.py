"""What a class that takes the best arms of every group promises, by brute force: the groups are those that its decisions show."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from ..arms import Floats
from ..problems.base import Problem
from .cases import NEAR, Case, points


def bounds_the_shortfall(problem: Problem, decisions: np.ndarray[Any, Any], case: Case) -> str | None:
    """shortfall, if the class is ranked, returns at least what any arm of the decision is worse by than the k-th best of its
    group at any point of the box."""
    if not problem.ranked:
        return None
    _, most = problem.shortfall(case.lower, case.upper, case.decision)
    taken, groups = case.decision > 0, groups_of(decisions)
    for theta in (*_behind(problem, case), *points(case)):
        values = problem.sign * theta
        for group in groups:
            kth = np.sort(values[group])[len(group) - int(taken[group].sum())] if taken[group].any() else -np.inf
            for i in group[taken[group]]:
                if kth - values[i] > most + NEAR * (1 + abs(kth)):
                    return (
                        f"It says {most:g}, but at {theta.tolist()} arm {problem.names[i]!r} is {kth - values[i]:g} short of the "
                        "k-th best of its group."
                    )
    return None


def groups_of(decisions: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """The arms that can be exchanged for each other."""
    group, listed = np.arange(decisions.shape[1]), {tuple(y) for y in decisions.tolist()}
    for i, j in combinations(range(len(group)), 2):
        swapped = decisions[decisions[:, i] != decisions[:, j]]
        swapped[:, [i, j]] = swapped[:, [j, i]]
        if any(tuple(y) in listed for y in swapped.tolist()):
            group[group == group[j]] = group[i]
    return [np.flatnonzero(group == label) for label in np.unique(group)]


def _behind(problem: Problem, case: Case) -> Iterator[Floats]:
    """The corners at which one arm of the decision is as bad as can be, and all others are as good."""
    good, bad = (case.upper, case.lower) if problem.sign > 0 else (case.lower, case.upper)
    for i in np.flatnonzero(case.decision):
        corner = good.copy()
        corner[i] = bad[i]
        yield corner
