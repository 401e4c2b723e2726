"""Decisions of simulated runs: vectors, of which equal ones are kept once, and their short texts for files and tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problems.base import Problem

Decision = np.ndarray[Any, Any]


class Known:
    """Decisions that were seen before: most runs end with the same few."""

    def __init__(self) -> None:
        self._seen: dict[bytes, Decision] = {}
        self._read: dict[str, Decision] = {}

    def __call__(self, decision: Decision) -> Decision:
        """The first decision that was the same; of whole numbers if all entries are such."""
        plain = decision.astype(np.int64) if (decision == np.round(decision)).all() else decision
        return self._seen.setdefault(plain.dtype.kind.encode() + plain.tobytes(), plain)

    def read(self, text: str, problem: Problem) -> Decision:
        """The decision of a text."""
        if text not in self._read:
            self._read[text] = self(_vector(text, problem))
        return self._read[text]


def text_of(decision: Decision, problem: Problem) -> str:
    """A decision as a short text: {0 3} for a choice of arms, by their numbers; (2 0 1) for any other vector."""
    if problem.linear:
        return "{" + " ".join(map(str, np.flatnonzero(decision).tolist())) + "}"
    return "(" + " ".join(str(int(y)) if y == int(y) else repr(y) for y in decision.tolist()) + ")"


def _vector(text: str, problem: Problem) -> Decision:
    """What ``text_of`` wrote."""
    numbers = np.array(text[1:-1].split(), dtype=np.float64)
    if not problem.linear:
        return numbers
    chosen = np.zeros(problem.m)
    chosen[numbers.astype(np.int64)] = 1.0
    return chosen
