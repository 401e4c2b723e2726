"""CLUCB, the unified rule, COCI and uniform sampling for windows, compiled: the same samples as the Python loop."""

from __future__ import annotations

from window import Row
from window_kernel import best

from surepick.engine.compile import kernel
from surepick.engine.enums import Stop
from surepick.engine.loops import Loop, Stretch, lowered
from surepick.engine.loops.batch import batch_of, distinct, finish, planned, room, take
from surepick.engine.loops.rivals import at_estimates, at_worst, corner_of, plan_rivals


@kernel
def run(by_gap, everywhere, data, corner, batch, sequence, record, stock, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    what, arm, rounds = finish(rounds, batch, record, stock)
    if what != Stop.PAUSED:
        return what, arm
    t, many = record.counts.sum(), -1
    for _ in range(rounds):
        size = room(t, batch, limit)  # how many samples to plan
        if size <= 0:
            return Stop.SPENT.value, -1
        at_estimates(t, many, corner, batch, sequence, record)
        best(data, corner.weights, corner.decision)
        at_worst(corner)
        best(data, corner.weights, corner.rival)
        what = plan_rivals(by_gap, everywhere, size, corner, batch, sequence, record)
        if what != Stop.PAUSED:  # the policy stops, or rounding cannot tell
            return what, -1
        what, arm = take(batch, record, stock)
        if what != Stop.PAUSED:  # an arm has no values left
            return what, arm
        t += planned(batch)
        many = distinct(batch)
    return Stop.PAUSED.value, -1


def prepare(explorer, source):
    data, sequence, record, stock = lowered(explorer, source)
    corner, batch, name = corner_of(data.sign, len(record.counts)), batch_of(explorer, source), explorer.policy.name
    return Stretch(run, (name == "clucb", name == "uniform", data, corner, batch, sequence, record, stock))


LOOP = Loop(("clucb", "unified", "coci", "uniform"), Row, prepare, batches=True)
