"""The exact allocation of interviews, against sorting as many numbers, at budgets from a million to a hundred million."""

from __future__ import annotations

from functools import partial

import numpy as np
from clock import Row, best, sort_seconds

import surepick as sp

M = 100_000


def rows() -> list[Row]:
    rng = np.random.default_rng(1)
    sort = sort_seconds(M)
    surveys = {
        "random sizes and variances": (rng.integers(1, 1000, M), rng.random(M)),
        "one stratum in three without variance": (rng.integers(1, 1000, M), rng.random(M) * (rng.random(M) > 1 / 3)),
        "all strata alike (every gain ties)": (np.full(M, 7), np.full(M, 0.25)),
    }
    found = []
    for what, (sizes, variances) in surveys.items():
        times = {k: best(partial(sp.allocate, sizes, variances, k)) for k in (10**6, 10**8)}
        sorts, ratio = times[10**8] / sort, max(times.values()) / min(times.values())
        found.append(Row(f"`allocate`, {M:,} strata, k = 10⁸: {what}", f"{sorts:.1f} sorts", "≤ 15", sorts <= 15))
        found.append(Row("— k = 10⁸ against k = 10⁶", f"{ratio:.2f} ×", "≤ 1.5", ratio <= 1.5))
    return found
