"""How many errors are too many."""

from __future__ import annotations

from scipy.stats import binom

ALARM = 1e-6  # the probability of a false alarm


def most_errors(runs: int, delta: float) -> int:
    """The most errors in so many independent runs that probability ``delta`` explains, but for a false alarm in a million.

    >>> most_errors(2000, 0.05)
    149
    """
    return int(binom.isf(ALARM, runs, delta))
