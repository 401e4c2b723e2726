"""Taking observations back: a record and a policy as they were before."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from .arms import Floats, Ints
from .estimators import Moments, Record
from .policies import Policy


class Undo:
    """Keeps what these arms' observations are about to change."""

    record: Record
    policy: Policy

    def __init__(self, record: Record, policy: Policy, arms: Iterable[int], rows: bool) -> None:
        self.record, self.policy = record, policy
        self.memory: Any = copy.copy(policy.memory())
        self.arms: list[int] = sorted(set(arms))
        if isinstance(record, Moments):
            self.counts: Ints = record.counts[self.arms]
            self.table: Floats = record.table[self.arms]
            drawn = None if record.redraws is None else record.redraws.tally
            self.drawn: tuple[Ints, Floats] | None = None if drawn is None else (drawn.counts[self.arms], drawn.table[self.arms])
            self.rows: object = copy.deepcopy(record.rows) if rows else record.rows
        else:  # an estimator of the user's, which keeps what it likes
            self.whole: Record = copy.deepcopy(record)

    def __call__(self) -> Record:
        """The record as it was; the policy remembers what it did."""
        self.policy.undo(self.memory)
        if not isinstance(self.record, Moments):
            return self.whole
        self.record.counts[self.arms], self.record.table[self.arms], self.record.rows = self.counts, self.table, self.rows
        if self.record.redraws is not None and self.drawn is not None:
            tally = self.record.redraws.tally
            tally.counts[self.arms], tally.table[self.arms] = self.drawn
        return self.record
