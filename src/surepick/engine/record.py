"""One observation more, in the arrays of an explorer's record (``Moments.arrays``)."""

from __future__ import annotations

import math

from numba import njit


@njit(cache=True)
def observe(moments, arm, x):
    """As ``Moments.update`` does for one value, to the last bit."""
    counts, means, squares, estimates, surprises, pairs, differences, waiting, variance = moments
    counts[arm] += 1
    n = counts[arm]
    step = x - means[arm]
    means[arm] += step / n
    squares[arm] += step * (x - means[arm])
    if n > 1:
        surprises[arm] += step * step
    if math.isnan(waiting[arm]):
        waiting[arm] = x
    else:
        gap = waiting[arm] - x
        pairs[arm] += 1
        differences[arm] += gap * gap
        waiting[arm] = math.nan
    if variance:
        if n > 1:
            estimates[arm] = squares[arm] / (n - 1)
    else:
        estimates[arm] = means[arm]
