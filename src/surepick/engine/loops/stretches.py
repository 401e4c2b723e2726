"""Stretches of rounds. Intervals of arms at rest widen, all by the same known factor; so for a stretch of rounds, up to a
horizon, every bound has two values: at the beginning, when the interval is narrowest (inner), and at the horizon, when it is
widest (outer)."""

from __future__ import annotations

import numpy as np

from ..compile import lean
from ..enums import State
from ..kernels.sequences import log_term

ENDED = -1  # the horizon before a stretch begins
LOG_OFF = 1e-12  # the logarithm at the horizon is put off by this, so that its rounding does not matter


@lean
def renew(t, state, logs, sequence):
    """A new stretch begins: its horizon, and the logarithm at both its ends."""
    if sequence.power > 0.0:
        if state[State.HORIZON] != ENDED:  # the last stretch was not too long
            state[State.LENGTH] = min(2 * state[State.LENGTH], state[State.LONGEST])
        state[State.HORIZON] = t + state[State.LENGTH]
        logs[0] = log_term(t, sequence) * (1.0 - LOG_OFF)
        logs[1] = log_term(state[State.HORIZON], sequence) * (1.0 + LOG_OFF)
    else:
        state[State.HORIZON] = np.iinfo(np.int64).max
        logs[0] = logs[1] = log_term(t, sequence)


@lean
def shorten(state, logs):
    """Too close to call: a shorter stretch says more. False if it is short already."""
    if logs[0] == logs[1] or state[State.LENGTH] <= state[State.SHORTEST]:
        return False
    state[State.LENGTH], state[State.HORIZON] = (
        max(state[State.LENGTH] // 8, state[State.SHORTEST]),
        ENDED,
    )
    return True
