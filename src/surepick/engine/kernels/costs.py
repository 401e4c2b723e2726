"""Which of two arms tells more for its cost, where their observations do not cost the same."""

from __future__ import annotations

from ..compile import lean, tight
from ..enums import Family
from .glr import rates


@tight
def growth_of(family, n, rho):
    """By how much ``glr.factor_of`` grows with one observation more: the derivative of n^2 / (n + rho)."""
    return 1.0 if family == Family.BETS else n * (n + 2.0 * rho) / ((n + rho) * (n + rho))


@lean
def cheaper(h, j, slope_h, slope_j, arms, counts):
    """Of two arms the one (True: h) whose next observation adds more evidence per cost.

    The likelihood ratio is least at some level, where its derivative is 0, so that another observation of an arm adds its own
    divergence there, times by how much its weight grows. To spend as little as possible for the evidence of two arms is to
    sample always the one that adds most per cost. For normal arms that leads to counts in proportion to 1 / sqrt(cost). If
    neither adds anything, as the arms seem to tie, they are brought to these counts.
    """
    gain_h, gain_j = rates(h, j, slope_h, slope_j, arms)
    gain_h *= growth_of(arms.families[h], arms.n[h], arms.rho) / arms.costs[h]
    gain_j *= growth_of(arms.families[j], arms.n[j], arms.rho) / arms.costs[j]
    if gain_h == gain_j:
        gain_j = counts[h] * (counts[h] * arms.costs[h])
        gain_h = counts[j] * (counts[j] * arms.costs[j])
    return gain_h > gain_j or (gain_h == gain_j and h < j)
