"""Draws with replacement from values drawn without, in compiled code; as :class:`surepick.redraws.Redraws` has them."""

from __future__ import annotations

import numpy as np

from ...redraws import MIX_1, MIX_2, STEP
from ..compile import tight

SHIFT_1, SHIFT_2, SHIFT_3, SHIFT_4 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
STRIDE, FACTOR_1, FACTOR_2, ONE = np.uint64(STEP), np.uint64(MIX_1), np.uint64(MIX_2), np.uint64(1)


@tight
def place(key, draw, population):
    """Which of an arm's values this draw is of."""
    z = key + STRIDE * (np.uint64(draw) + ONE)
    z = (z ^ (z >> SHIFT_1)) * FACTOR_1
    z = (z ^ (z >> SHIFT_2)) * FACTOR_2
    z = z ^ (z >> SHIFT_3)
    return int(float(z >> SHIFT_4) * 2.0**-53 * population)


@tight
def has_redraws(arm, redraws):
    return len(redraws.starts) > 0 and redraws.starts[arm + 1] > redraws.starts[arm]
