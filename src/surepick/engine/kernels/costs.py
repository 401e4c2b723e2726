"""Which of two arms tells more for its cost, where their observations do not cost the same."""

from __future__ import annotations

from ..compile import lean, tight
from .bets import by_growth
from .glr import rates


@tight
def growth_of(family, n, rho):
    """By how much ``glr.factor_of`` and ``glr.price_of`` grow with one observation more: their derivatives in n."""
    if by_growth(family):
        return 1.0, 0.0
    return n * (n + 2.0 * rho) / ((n + rho) * (n + rho)), 0.5 / (n + rho)


@tight
def gain_of(i, rate, arms):
    """What the next observation of an arm adds to the evidence, beyond what it adds to what is needed, per cost."""
    factor, price = growth_of(arms.families[i], arms.n[i], arms.rho[i])
    return (rate * factor - price) / arms.costs[i]


@lean
def cheaper(h, j, slope_h, slope_j, arms, counts):
    """Of two arms the one (True: h) whose next observation adds more evidence per cost.

    The likelihood ratio is least at some level, where its derivative is 0, so that another observation of an arm adds its own
    divergence there, times by how much its weight grows. To spend as little as possible for the evidence of two arms is to
    sample always the one that adds most per cost. For normal arms that leads to counts in proportion to 1 / sqrt(cost). If
    neither adds anything, as the arms seem to tie, they are brought to these counts.
    """
    rate_h, rate_j = rates(h, j, slope_h, slope_j, arms)
    gain_h, gain_j = gain_of(h, rate_h, arms), gain_of(j, rate_j, arms)
    if gain_h <= 0.0 and gain_j <= 0.0:
        gain_j = counts[h] * (counts[h] * arms.costs[h])
        gain_h = counts[j] * (counts[j] * arms.costs[j])
    return gain_h > gain_j or (gain_h == gain_j and h < j)
