"""How many errors are too many."""

from __future__ import annotations

from scipy.stats import binom

ALARM = 1e-6  # the probability of a false alarm


def most_errors(runs: int, delta: float, among: int = 1) -> int:
    """The most errors in so many independent runs that probability ``delta`` explains, but for a false alarm in a million.

    ``among``: so many such counts share the false alarm.

    >>> most_errors(2000, 0.05)
    149
    """
    return int(binom.isf(ALARM / among, runs, delta))
