"""COCI and uniform sampling for sample allocations, compiled: a round looks at few arms, samples are the plain loop's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile import kernel
from ..data import Allocation
from ..enums import State, Stop
from ..kernels.allocation import undecided
from ..kernels.corners import Hand
from .batch import batch_of
from .declare import Loop, Stretch, lowered
from .units import begin, bounds, corners_of, rounds_of


@kernel
def run(everywhere, data, hand, corners, batch, sequence, record, stock, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    m = len(record.counts)
    begin(everywhere, hand, corners, sequence, record)
    out, lower, upper, tested = np.empty(m, np.bool_), np.empty(m), np.empty(m), False
    last = corners.state[State.TOTAL] + rounds * batch.size
    while True:
        left = (last - corners.state[State.TOTAL]) // batch.size
        what, arm = rounds_of(everywhere, tested, out, hand, corners, batch, sequence, record, stock, limit, left)
        if what != Stop.TEST:
            return what, arm
        bounds(corners.state[State.TOTAL], lower, upper, sequence, record)
        if not undecided(data, lower, upper, corners.warm[0], corners.warm[1], out):
            return Stop.UNSURE.value, -1
        tested = True


def prepare(explorer: Any, source: Any) -> Stretch:
    data, sequence, record, stock = lowered(explorer, source)
    hand = Hand(False, data.budget, data.sizes, np.zeros(0, dtype=np.int64), data.least, data.most)
    near = np.array([explorer.problem.solve_at(end) for end in explorer.box()])
    corners = corners_of(near, record.counts, explorer.problem.priority)
    batch = batch_of(explorer, source)
    return Stretch(run, (explorer.policy.name == "uniform", data, hand, corners, batch, sequence, record, stock))


LOOP = Loop(("coci", "uniform"), Allocation, prepare, batches=True)
