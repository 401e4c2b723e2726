"""Draws with replacement from values drawn without, in compiled code; as :class:`surepick.redraws.Redraws` has them."""

from __future__ import annotations

import numpy as np

from ...redraws import MIX_1, MIX_2, STEP
from ..compile import tight

FIRST, SECOND, THIRD, CUT = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
ONWARD, ONE, TWO, NEXT = np.uint64(STEP), np.uint64(MIX_1), np.uint64(MIX_2), np.uint64(1)


@tight
def place(key, draw, population):
    """Which of an arm's values this draw is of."""
    z = key + ONWARD * (np.uint64(draw) + NEXT)
    z = (z ^ (z >> FIRST)) * ONE
    z = (z ^ (z >> SECOND)) * TWO
    z = z ^ (z >> THIRD)
    return int(float(z >> CUT) * 2.0**-53 * population)


@tight
def has_redraws(arm, redraws):
    return len(redraws.starts) > 0 and redraws.starts[arm + 1] > redraws.starts[arm]
