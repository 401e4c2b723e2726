"""COCI and uniform sampling for any class whose undecided arms have a kernel, compiled: the same samples as the Python loop.

The loop works on the arrays of an explorer's record in place and takes values from buffers that the caller fills, so any
environment will do. It returns to the caller when it stops, when a buffer is empty, when a tie needs exact fractions,
and every ``rounds`` rounds so that a progress bar and Ctrl-C work.

Undecided arms are not looked for in every round. An arm that is decided on a box is decided on every box inside it, and one that
is undecided there is so on every box around it. So for a stretch of rounds every interval gets a fence outside of it and a core
inside of it. As long as no interval leaves its fence or uncovers its core, which only the arm just sampled can do before the
horizon, arms that are decided on the fences are decided, arms that are undecided on the cores are undecided, and
only for arms in between must the very box be tested. Classes that can do with less have loops of their own: partitions.py,
trees.py, units.py.
"""

from __future__ import annotations

import numpy as np

from .allocation import allocation_undecided
from .compile import kernel
from .draws import sample
from .heaps import arrange, moved, pop, push
from .kinds import CLOSED, HAIR, MAYBE, OPEN, PAUSED, UNSURE
from .matroids import partition_undecided, tree_undecided
from .plans import plan_undecided
from .sequences import HIGH, LOW, POWER, WIDE, ends, log_term

WIDEST, NARROWEST = 1.0 / 16.0, 1.0 / 4096.0  # fences and cores are this share of an interval away from it


@kernel
def undecided(kind, ints, floats, lower, upper, warm, out):
    """C_t of a box; ``warm`` holds allocations at the two ends of a similar one. False if rounding cannot tell."""
    m = len(lower)
    if kind == 0:
        groups, low, high = ints[1], lower, upper
        if floats[0] < 0.0:
            low, high = -upper, -lower
        partition_undecided(low, high, ints[2 + groups :], ints[2 : 2 + groups], ints[0], out)
    elif kind == 1:
        low, high = lower, upper
        if ints[1] < 0:
            low, high = -upper, -lower
        by_lower = np.argsort(-low, kind="mergesort")
        by_upper = np.argsort(-high, kind="mergesort")
        tree_undecided(low, high, by_lower, by_upper, ints[2 : 2 + m], ints[2 + m :], ints[0], out)
    elif kind == 2:
        return allocation_undecided(lower, upper, floats, ints[1 : 1 + m], ints[1 + m :], warm[0], warm[1], out)
    else:
        plan_undecided(lower, upper, floats, ints[1:], ints[0], out)
    return True


@kernel
def fence_in(i, c_first, c_last, share, kind, numbers, units, span, counts, table, fence, core):
    """The fence and the core of one arm, around all that its interval will be up to the horizon if it rests."""
    lower, upper = ends(i, c_last, kind, numbers, units, span, counts, table)
    pad = share * (upper - lower)
    fence[0, i], fence[1, i] = max(lower - pad, span[LOW, i]), min(upper + pad, span[HIGH, i])
    lower, upper = ends(i, c_first, kind, numbers, units, span, counts, table)
    core[0, i], core[1, i] = lower + pad, upper - pad
    if core[0, i] > core[1, i]:
        core[0, i] = core[1, i] = 0.5 * (lower + upper)


@kernel
def kept(i, c_first, c_last, kind, numbers, units, span, counts, table, fence, core):
    """The arm's interval stays within its fence and around its core up to the horizon."""
    lower, upper = ends(i, c_last, kind, numbers, units, span, counts, table)
    if lower < fence[0, i] or upper > fence[1, i]:
        return False
    if c_first != c_last:
        lower, upper = ends(i, c_first, kind, numbers, units, span, counts, table)
    return lower <= core[0, i] and upper >= core[1, i]


@kernel
def run(
    problem, ints, floats, everywhere,
    kind, numbers, units, span, counts, table, variance, buffer, stock, laws, tuned, budget, rounds,
):  # fmt: skip
    """Explore until something needs the caller; returns (what, arm).

    ``tuned`` is how far away fences are put, which is kept between calls and changes how long it takes, not what comes out.
    """
    m = len(counts)
    weights, box, fence, core = np.empty((1, m)), np.empty((2, m)), np.empty((2, m)), np.empty((2, m))
    out, out_fence, out_core = np.empty(m, np.bool_), np.empty(m, np.bool_), np.empty(m, np.bool_)
    status = np.empty(m, np.int64)
    queue, limbo = np.empty((2, m), np.int64), np.empty(m, np.int64)
    warm = np.empty((2, 0), np.int64)
    t, horizon, waiting, opens, tests, c_first, c_last = 0, -1, 0, 0, 0, 0.0, 0.0
    for i in range(m):
        t += counts[i]
        weights[0, i] = span[WIDE, i] * span[WIDE, i] / counts[i]
    for _ in range(rounds):
        if t > horizon:  # a new stretch
            horizon, tests = t + t // 16 + 64, 0
            c_first = c_last = log_term(numbers, t)
            if numbers[POWER] > 0.0:
                c_first, c_last = c_first * (1.0 - HAIR), log_term(numbers, horizon) * (1.0 + HAIR)
            for i in range(m):
                fence_in(i, c_first, c_last, tuned[0], kind, numbers, units, span, counts, table, fence, core)
            if not undecided(problem, ints, floats, fence[0], fence[1], warm, out_fence):
                out_fence[:] = True
            if not undecided(problem, ints, floats, core[0], core[1], warm, out_core):
                out_core[:] = False
            waiting = opens = 0
            for i in range(m):
                status[i] = OPEN if out_core[i] else MAYBE if out_fence[i] else CLOSED
                opens += status[i] == OPEN
                if everywhere or status[i] != CLOSED:
                    queue[0, waiting] = i
                    waiting += 1
            arrange(queue, 0, 0, waiting, weights, 0, -1.0)
        arm, resting, tested = -1, 0, False
        while waiting > 0:
            i = queue[0, 0]
            if status[i] == OPEN or (everywhere and opens > 0):
                arm = i
                break
            if not tested:
                c = log_term(numbers, t)
                for j in range(m):
                    box[0, j], box[1, j] = ends(j, c, kind, numbers, units, span, counts, table)
                if not undecided(problem, ints, floats, box[0], box[1], warm, out):
                    return UNSURE, -1
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
        what = sample(arm, t, budget, counts, table, variance, buffer, stock, laws)
        if what != PAUSED:
            return what, arm
        t += 1
        weights[0, arm] = span[WIDE, arm] * span[WIDE, arm] / counts[arm]
        moved(queue, 0, 0, waiting, arm, weights, 0, -1.0)
        if not kept(arm, c_first, c_last, kind, numbers, units, span, counts, table, fence, core):
            horizon = -1
            if tests == 0:  # it was short, not unsure
                tuned[0] = min(2.0 * tuned[0], WIDEST)
        elif tests >= 4 and tuned[0] > NARROWEST:  # it was unsure
            horizon = -1
            tuned[0] /= 2.0
    return PAUSED, -1
