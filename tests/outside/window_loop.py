"""CLUCB, the unified rule, COCI and uniform sampling for windows, compiled: the same samples as the Python loop."""

from __future__ import annotations

import numpy as np
from window import Row
from window_kernel import best

from surepick.engine.compile import kernel
from surepick.engine.enums import Stop
from surepick.engine.kernels.draws import sample
from surepick.engine.loops import Loop, Stretch, lowered
from surepick.engine.loops.rivals import at_estimates, at_worst, contested, corner_of


@kernel
def run(by_gap, everywhere, data, corner, sequence, record, stock, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    t, arm = record.counts.sum(), np.int64(-1)
    for _ in range(rounds):
        at_estimates(t, arm, corner, sequence, record)
        best(data, corner.weights, corner.decision)
        at_worst(corner)
        best(data, corner.weights, corner.rival)
        what, arm = contested(by_gap, everywhere, corner)
        if what == Stop.PAUSED:  # the next sample is of this arm
            what = sample(arm, t, record, stock, limit)
        if what != Stop.PAUSED:  # it could not be taken, or the policy stops
            return what, arm
        t += 1
    return Stop.PAUSED, -1


def prepare(explorer, source):
    data, sequence, record, stock = lowered(explorer, source)
    corner = corner_of(data.sign, len(record.counts))
    name = explorer.policy.name
    return Stretch(run, (name == "clucb", name == "uniform", data, corner, sequence, record, stock))


LOOP = Loop(("clucb", "unified", "coci", "uniform"), Row, prepare)
