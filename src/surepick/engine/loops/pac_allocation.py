"""The policy ``pac`` for sample allocations, compiled: the same samples as the Python loop."""

from __future__ import annotations

from typing import Any

from ..compile import kernel, lean
from ..data import Allocation
from ..enums import State, Stop
from ..kernels.allocation import improve, undecided
from ..kernels.allocation_gap import gap_bound
from ..kernels.allocation_ratio import excess_of, ratio_bound, ratio_exact
from .batch import batch_of, planned, room, take
from .declare import Loop, Stretch, lowered
from .pac import LARGER, BoxRow, aim_of, alike, look, options_of, plan_next, take_in


@kernel
def weigh(q, data, aim, options):
    """The gap of an option, and its strongest rival."""
    lower, upper, decision, rival = options.box[BoxRow.LOW], options.box[BoxRow.UP], options.decisions[q], options.rivals[q]
    if not aim.relative:
        gap = gap_bound(data, lower, upper, decision, rival)
    elif aim.exact:
        gap = ratio_exact(data, lower, upper, decision, rival)
    else:
        gap = ratio_bound(data, lower, upper, decision, options.near[q], rival)
    return max(0.0, gap)


@lean
def worse(q, gap, data, aim, options):
    """The rival that an option had shows that its gap is larger than this one."""
    lower, upper, decision, rival = options.box[BoxRow.LOW], options.box[BoxRow.UP], options.decisions[q], options.rivals[q]
    share = gap * (1.0 + LARGER) if aim.relative else 0.0
    return excess_of(data, lower, upper, decision, rival, share) > (0.0 if aim.relative else gap * (1.0 + LARGER))


@kernel
def run(data, aim, options, batch, sequence, record, stock, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    state, theta, box = options.state, options.theta, options.box
    for _ in range(rounds):
        if planned(batch) == 0:  # else what is left of the last plan is this round
            size = room(state[State.TOTAL], batch, limit)
            if size <= 0:
                return Stop.SPENT.value, -1
            look(options, batch, sequence, record)
            if not undecided(data, box[BoxRow.LOW], box[BoxRow.UP], options.corners[0], options.corners[1], options.undecided):
                return Stop.UNSURE.value, -1
            for q in range(len(theta)):
                if not improve(data, theta[q], options.decisions[q]):
                    return Stop.UNSURE.value, -1
            first = alike(state[State.CHOSEN], options)
            best, gap = first, weigh(first, data, aim, options)
            for q in range(len(theta)):
                if q != first and alike(q, options) == q and not worse(q, gap, data, aim, options):
                    other = weigh(q, data, aim, options)
                    if other < gap or (other == gap and q < best):
                        best, gap = q, other
            state[State.CHOSEN] = best
            for i in range(len(options.stakes)):
                square, rest = data.squares[i], data.squares[i] * data.rest[i]
                mine, its = square / options.decisions[best, i] - rest, square / options.rivals[best, i] - rest
                options.stakes[i] = abs(mine - its)  # to the last bit what the difference of the slopes is
            if not plan_next(gap, size, aim, options, batch, sequence, record):
                return Stop.DECIDED.value, -1
        what, arm = take(batch, record, stock)
        if what != Stop.PAUSED:
            return what, arm
        take_in(options, batch)
    return Stop.PAUSED.value, -1


def prepare(explorer: Any, source: Any) -> Stretch:
    data, sequence, record, stock = lowered(explorer, source)
    aim = aim_of(explorer, explorer.problem.ratio_exact)
    return Stretch(run, (data, aim, options_of(explorer), batch_of(explorer, source), sequence, record, stock))


LOOP = Loop(("pac",), Allocation, prepare, near=True, batches=True)
