"""COCI and uniform sampling for spanning trees of more edges than the proofs of coci_tree.py have memory for, compiled.

An edge that is decided on a box is decided on every box inside it, and one that is undecided there is so on every box around it.
So for a stretch of rounds every interval gets a fence outside of it and a core inside of it. As long as no interval leaves its
fence or uncovers its core, which only the arm just sampled can do before the horizon, edges that are decided on the fences are
decided, edges that are undecided on the cores are undecided, and only for edges in between must the very box be tested.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compile import kernel
from ..data import Array, Tree
from ..enums import Span, Status, Stop
from ..kernels.heaps import arrange, holds, moved, pop, push
from ..kernels.sequences import ends, log_term, weight_of
from ..kernels.trees import undecided
from .batch import batch_of, distinct, finish, heaviest, plan_by, planned, room, take
from .coci_tree import fits as fits_proofs
from .declare import Loop, Stretch, lowered
from .stretches import LOG_OFF

WIDEST, NARROWEST = 1.0 / 16.0, 1.0 / 4096.0  # fences and cores are this share of an interval away from it


class Fences(NamedTuple):
    fence: Array
    core: Array


@kernel
def undecided_in(box, out, data):
    """The undecided edges of a box."""
    low, high = (box[0], box[1]) if data.sign > 0.0 else (-box[1], -box[0])
    undecided(data, low, high, np.argsort(-low, kind="mergesort"), np.argsort(-high, kind="mergesort"), out)


@kernel
def fence_in(i, c_first, c_last, share, fences, sequence, record):
    """The fence and the core of one arm, around all that its interval will be up to the horizon if it rests."""
    lower, upper = ends(i, c_last, sequence, record)
    pad = share * (upper - lower)
    fences.fence[0, i], fences.fence[1, i] = (
        max(lower - pad, sequence.span[Span.LOW, i]),
        min(upper + pad, sequence.span[Span.HIGH, i]),
    )
    lower, upper = ends(i, c_first, sequence, record)
    fences.core[0, i], fences.core[1, i] = lower + pad, upper - pad
    if fences.core[0, i] > fences.core[1, i]:
        fences.core[0, i] = fences.core[1, i] = 0.5 * (lower + upper)


@kernel
def inside(i, c_first, c_last, fences, sequence, record):
    """The arm's interval stays within its fence and around its core up to the horizon."""
    lower, upper = ends(i, c_last, sequence, record)
    if lower < fences.fence[0, i] or upper > fences.fence[1, i]:
        return False
    if c_first != c_last:
        lower, upper = ends(i, c_first, sequence, record)
    return lower <= fences.core[0, i] and upper >= fences.core[1, i]


@kernel
def run(everywhere, tuned, data, batch, sequence, record, stock, limit, rounds):
    """Explore until something needs the caller; returns (what, arm).

    ``tuned`` is how far away fences are put, which is kept between calls and changes how long it takes, not what comes out.
    """
    m = len(record.counts)
    what, arm, rounds = finish(rounds, batch, record, stock)
    if what != Stop.PAUSED:
        return what, arm
    weights, box, fence, core = np.empty((1, m)), np.empty((2, m)), np.empty((2, m)), np.empty((2, m))
    fences = Fences(fence, core)
    out, out_fence, out_core = np.empty(m, np.bool_), np.empty(m, np.bool_), np.empty(m, np.bool_)
    status = np.empty(m, np.int64)
    queue, limbo = np.empty((2, m), np.int64), np.empty(m, np.int64)
    t, horizon, waiting, opens, tests, c_first, c_last = 0, -1, 0, 0, 0, 0.0, 0.0
    for i in range(m):
        t += record.counts[i]
        weights[0, i] = weight_of(i, sequence, record)
    for _ in range(rounds):
        if t > horizon:  # a new stretch
            horizon, tests = t + t // 16 + 64, 0
            c_first = c_last = log_term(t, sequence)
            if sequence.power > 0.0:
                c_first, c_last = c_first * (1.0 - LOG_OFF), log_term(horizon, sequence) * (1.0 + LOG_OFF)
            for i in range(m):
                fence_in(i, c_first, c_last, tuned[0], fences, sequence, record)
            undecided_in(fence, out_fence, data)
            undecided_in(core, out_core, data)
            waiting = opens = 0
            for i in range(m):
                status[i] = Status.OPEN if out_core[i] else Status.MAYBE if out_fence[i] else Status.CLOSED
                opens += status[i] == Status.OPEN
                if everywhere or status[i] != Status.CLOSED:
                    queue[0, waiting] = i
                    waiting += 1
            arrange(queue, 0, 0, waiting, weights, 0, -1.0)
        size, tested = room(t, batch, limit), False
        if size <= 0:
            return Stop.SPENT.value, -1
        while planned(batch) < size:
            arm, resting = -1, 0
            while waiting > 0:
                i = queue[0, 0]
                if status[i] == Status.OPEN or (everywhere and (opens > 0 or batch.spend or planned(batch) > 0)):
                    arm = i
                    break
                if not tested:
                    c = log_term(t, sequence)
                    for j in range(m):
                        box[0, j], box[1, j] = ends(j, c, sequence, record)
                    undecided_in(box, out, data)
                    tested = True
                    tests += 1
                if everywhere:
                    arm = i if out.any() else -1
                    break
                if out[i]:
                    arm = i
                    break
                waiting = pop(queue, 0, 0, waiting, weights, 0, -1.0)
                limbo[resting] = i
                resting += 1
            for p in range(resting):
                waiting = push(queue, 0, 0, waiting, limbo[p], weights, 0, -1.0)
            if arm < 0 and not batch.spend:
                return Stop.DECIDED.value, -1
            if arm < 0:  # nothing is in question
                arm = heaviest(0, weights)
            plan_by(arm, 0, weights, batch, sequence, record)
            if holds(queue, 0, 0, waiting, arm):
                moved(queue, 0, 0, waiting, arm, weights, 0, -1.0)
        what, arm = take(batch, record, stock)
        if what != Stop.PAUSED:
            return what, arm
        t += planned(batch)
        short = False
        for q in range(distinct(batch)):
            short = short or not inside(batch.arms[q], c_first, c_last, fences, sequence, record)
        if short:
            horizon = -1
            if tests == 0:  # it was short, not unsure
                tuned[0] = min(2.0 * tuned[0], WIDEST)
        elif tests >= 4 and tuned[0] > NARROWEST:  # it was unsure
            horizon = -1
            tuned[0] /= 2.0
    return Stop.PAUSED.value, -1


def fits(explorer: Any) -> bool:
    return not fits_proofs(explorer)


def prepare(explorer: Any, source: Any) -> Stretch:
    data, sequence, record, stock = lowered(explorer, source)
    batch = batch_of(explorer, source)
    return Stretch(run, (explorer.policy.name == "uniform", np.array([1 / 64]), data, batch, sequence, record, stock))


LOOP = Loop(("coci", "uniform"), Tree, prepare, fits, batches=True)
