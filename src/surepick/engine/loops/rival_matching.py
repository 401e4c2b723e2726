"""CLUCB, the unified rule, COCI and uniform sampling for matchings, compiled: the same samples as the Python loop.

COCI and uniform sampling stop as the unified rule does where undecided arms are hard to find.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile import kernel
from ..data import Assignment
from ..enums import Stop
from ..kernels.assignment import best
from ..kernels.draws import sample
from .declare import Loop, Stretch, lowered
from .rivals import at_estimates, at_worst, contested, corner_of


@kernel
def run(by_gap, everywhere, data, corner, sequence, record, stock, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    t, arm = record.counts.sum(), np.int64(-1)
    for _ in range(rounds):
        at_estimates(t, arm, corner, sequence, record)
        if not best(data, corner.weights, corner.decision):
            return Stop.UNSURE, -1
        at_worst(corner)
        if not best(data, corner.weights, corner.rival):
            return Stop.UNSURE, -1
        what, arm = contested(by_gap, everywhere, corner)
        if what == Stop.PAUSED:
            what = sample(arm, t, record, stock, limit)
        if what != Stop.PAUSED:
            return what, arm
        t += 1
    return Stop.PAUSED, -1


def prepare(explorer: Any, source: Any) -> Stretch:
    data, sequence, record, stock = lowered(explorer, source)
    corner = corner_of(data.sign, len(record.counts))
    name = explorer.policy.name
    return Stretch(run, (name == "clucb", name == "uniform", data, corner, sequence, record, stock))


LOOP = Loop(("clucb", "unified", "coci", "uniform"), Assignment, prepare)
