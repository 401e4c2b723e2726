"""The mark of a score on file: of which pool it is, for which question it was taken, and by which scorer.

``seed/items/candidates/delta/epsilon/problem/scorer``, where items, candidates, problem and scorer are digests. Files of earlier
versions have the first three parts only, and what Python functions have scored lacks the last one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..problems.base import Problem
from ..settings import Settings

PARTS = 3  # of a pool, and of a question
WHOLE = rb"(/[^/,\"\r\n]+/[^/,\"\r\n]+/[0-9a-f]{8}(/[0-9a-f]{8})?)?"  # what may follow the mark of a pool, none of it cut off


@dataclass(frozen=True)
class Mark:
    """What is written beside a score; a question or a scorer that nobody knows is empty."""

    pool: str
    question: str = ""
    scorer: str = ""

    @classmethod
    def read(cls, text: str) -> Mark | None:
        """The mark that a text is; None if it is none."""
        parts = text.split("/")
        if len(parts) not in (PARTS, 2 * PARTS, 2 * PARTS + 1):
            return None
        return cls("/".join(parts[:PARTS]), "/".join(parts[PARTS : 2 * PARTS]), "/".join(parts[2 * PARTS :]))

    def __str__(self) -> str:
        return "/".join(filter(None, (self.pool, self.question, self.scorer)))


def mark(problem: Problem) -> str:
    """What tells a pool and its candidates from others: seed, items and candidates, the latter two in their order."""
    pool = problem.pool
    assert pool is not None
    items = [str(name) for name in pool.names] if pool.named else [str(pool.size)]
    return f"{pool.seed}/{_digest(items)}/{_digest(list(map(str, problem.names)))}"


def question(problem: Problem, settings: Settings) -> str:
    """What has to be fixed before any score is seen. Costs, budgets and the policy are none of it."""
    asked: list[Any] = [problem.kind, problem.keys(), settings.relative]
    asked += [[arm.kind, arm.low, arm.high] for arm in problem.arms]
    return f"{settings.delta:g}/{settings.epsilon:g}/{_digest(asked)}"


def scorer(words: list[str]) -> str:
    """Of a command, as it was split."""
    return _digest(words)


def changes(earlier: Iterable[str], now: str) -> str:
    """How questions of earlier runs differ from that of this one, as a sentence; "" if none does."""
    found: dict[str, None] = {}
    mine = now.split("/")
    for told in earlier:
        theirs = told.split("/")
        if len(theirs) != len(mine):
            continue  # an earlier version said nothing of it
        for name, before, after in zip(("delta", "epsilon"), theirs, mine, strict=False):
            if before != after:
                found[f"{name} was {before}, and is {after}"] = None
        if theirs[-1] != mine[-1]:
            found["the problem was another one, or kinds or bounds of its candidates were"] = None
    if not found:
        return ""
    return (
        f"Earlier scores were taken for another question: {'; '.join(found)}. What is certified needs its question fixed before "
        "any score is seen, and is not certain of one that was chosen by looking at scores."
    )


def of_pool(pool: str) -> re.Pattern[bytes]:
    """The mark of a pool with whatever may follow, at the end of a file or of a line in it."""
    return re.compile(re.escape(pool.encode()) + WHOLE + rb"(?=\r?\n|\Z)")


def _digest(found: object) -> str:
    return hashlib.sha256(json.dumps(found, default=str).encode()).hexdigest()[:8]
