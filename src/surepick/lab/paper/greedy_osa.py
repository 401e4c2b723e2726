"""Algorithm 2 of the paper, GreedyOSA, to the letter: right for positive variances, wrong when some are 0.

It is here to be measured. :func:`surepick.allocate` is the algorithm to use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Greedy(NamedTuple):
    """What GreedyOSA returns, the base that it starts from, and the steps that it takes."""

    y: list[int]
    base: list[int]
    steps: int


def greedy_osa(n: Sequence[float], theta: Sequence[float], k: int) -> Greedy:
    """The allocation of k interviews to strata of sizes n and variances theta that Algorithm 2 finds.

    It raises ZeroDivisionError if all variances are 0. If the base exceeds k there is nothing left to add, and it is returned:
    the paper does not say what to do.

    Examples
    --------
    >>> greedy_osa([16, 13], [0.05, 0.2], 12).y
    [5, 7]
    >>> greedy_osa([6, 16, 13], [0, 0.05, 0.2], 13).y  # the optimum is (1, 5, 7)
    [1, 4, 8]
    """
    m = len(n)
    Z = 1 / sum(n[j] * math.sqrt(theta[j]) for j in range(m))
    real = [Z * n[i] * math.sqrt(theta[i]) * k for i in range(m)]
    slack = [0.0 if math.ceil(a) * (math.ceil(a) - 1) >= a**2 else math.ceil(a) - a for a in real]
    base = [max(1, math.floor(real[i] - (sum(slack) - slack[i]))) for i in range(m)]
    y, steps = list(base), 0
    while sum(y) < k:
        gain = [n[i] ** 2 * theta[i] / y[i] - n[i] ** 2 * theta[i] / (y[i] + 1) for i in range(m)]
        best = [i for i in range(m) if gain[i] == max(gain)]
        for i in best[-min(len(best), k - sum(y)) :]:  # the largest indices, if there are too many
            y[i] += 1
        steps += 1
    return Greedy(y, base, steps)
