"""The policy ``pac`` for convex resource plans, compiled: the same samples as the Python loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compile import kernel, lean
from ..data import Plan
from ..enums import State, Stop
from ..kernels.plans import best, lead, reward, strongest, undecided
from .batch import batch_of, planned, room, take
from .declare import Loop, Stretch, lowered
from .pac import LARGER, BoxRow, aim_of, alike, look, options_of, plan_next, take_in


@lean
def amount(gap, q, data, aim, options):
    """A gap as it is asked for: the same, or a share of the best reward's size (``Problem.share_on``)."""
    if not aim.relative or gap <= 0.0:
        return max(0.0, gap)
    decision = options.decisions[q]
    least = reward(data.costs, data.starts, options.box[BoxRow.LOW], decision)
    whole = least + gap if least > 0.0 else -reward(data.costs, data.starts, options.box[BoxRow.UP], decision) - gap
    return gap / whole if whole > 0.0 else np.inf


@kernel
def weigh(q, data, aim, options):
    """The gap of an option, and its strongest rival."""
    lower, upper, decision, rival = options.box[BoxRow.LOW], options.box[BoxRow.UP], options.decisions[q], options.rivals[q]
    return amount(strongest(data.costs, data.starts, data.require, lower, upper, decision, rival), q, data, aim, options)


@lean
def worse(q, gap, data, aim, options):
    """The rival that an option had shows that its gap is larger than this one."""
    lower, upper, decision, rival = options.box[BoxRow.LOW], options.box[BoxRow.UP], options.decisions[q], options.rivals[q]
    return amount(lead(data.costs, data.starts, lower, upper, decision, rival), q, data, aim, options) > gap * (1.0 + LARGER)


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
            undecided(data, box[BoxRow.LOW], box[BoxRow.UP], options.undecided)
            for q in range(len(theta)):
                best(data, theta[q], options.decisions[q])
            first = alike(state[State.CHOSEN], options)
            chosen, gap = first, weigh(first, data, aim, options)
            for q in range(len(theta)):
                if q != first and alike(q, options) == q and not worse(q, gap, data, aim, options):
                    other = weigh(q, data, aim, options)
                    if other < gap or (other == gap and q < chosen):
                        chosen, gap = q, other
            state[State.CHOSEN] = chosen
            for i in range(len(options.stakes)):
                options.stakes[i] = abs(options.decisions[chosen, i] - options.rivals[chosen, i])
            if not plan_next(gap, size, aim, options, batch, sequence, record):
                return Stop.DECIDED.value, -1
        what, arm = take(batch, record, stock)
        if what != Stop.PAUSED:
            return what, arm
        take_in(options, batch)
    return Stop.PAUSED.value, -1


def prepare(explorer: Any, source: Any) -> Stretch:
    data, sequence, record, stock = lowered(explorer, source)
    return Stretch(run, (data, aim_of(explorer, True), options_of(explorer), batch_of(explorer, source), sequence, record, stock))


def fits(explorer: Any) -> bool:
    """Else its gaps are bounds that Python works out."""
    return bool(explorer.problem.rival_exact)


LOOP = Loop(("pac",), Plan, prepare, fits, near=True, batches=True)
