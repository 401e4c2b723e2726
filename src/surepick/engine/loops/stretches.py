"""Stretches of rounds. Intervals of arms at rest widen, all by the same known factor; so for a stretch of rounds, up to a
horizon, every bound has two values: at the beginning, when the interval is narrowest (inner), and at the horizon, when it is
widest (outer)."""

from __future__ import annotations

import numpy as np

from ..compile import lean
from ..kernels.sequences import log_term

# Entries of a loop's ``state``: samples so far; arms in the queue; the last round of the stretch; how long it is; an arm that was
# undecided; how long stretches are at least and at most.
TOTAL, WAITING, HORIZON, LENGTH, WITNESS, SHORTEST, LONGEST = 0, 1, 2, 3, 4, 5, 6
ENDED = -1  # the horizon before a stretch begins
HAIR = 1e-12  # the logarithm at the horizon is put off by this, so that its rounding does not matter


@lean
def renew(t, state, logs, sequence):
    """A new stretch begins: its horizon, and the logarithm at both its ends."""
    if sequence.power > 0.0:
        if state[HORIZON] != ENDED:  # the last stretch was not too long
            state[LENGTH] = min(2 * state[LENGTH], state[LONGEST])
        state[HORIZON] = t + state[LENGTH]
        logs[0] = log_term(t, sequence) * (1.0 - HAIR)
        logs[1] = log_term(state[HORIZON], sequence) * (1.0 + HAIR)
    else:
        state[HORIZON] = np.iinfo(np.int64).max
        logs[0] = logs[1] = log_term(t, sequence)


@lean
def shorten(state, logs):
    """Too close to call: a shorter stretch says more. False if it is short already."""
    if logs[0] == logs[1] or state[LENGTH] <= state[SHORTEST]:
        return False
    state[LENGTH], state[HORIZON] = max(state[LENGTH] // 8, state[SHORTEST]), ENDED
    return True
