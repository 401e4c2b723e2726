"""A whole-number design within several limits made cheaper: one interview more, two others fewer."""

from __future__ import annotations

import numpy as np

from ..arms import Ints
from .limits import Limits
from .variance import SLACK, unseen

MOST = 400  # strata up to which pairs are looked at
ROUNDS = 60  # exchanges
TRIED = 60  # strata that may get one more, those with the best worth first


def exchanged(limits: Limits, n: Ints, bound: float) -> Ints:
    """The design after all exchanges that save something, or until it costs what the bound says; of very many, some."""
    if len(n) > MOST:
        return n
    A = limits.A.toarray()
    n = n.copy()
    for _ in range(ROUNDS):
        if limits.cost(n) <= bound * (1 + 1e-12) or not _one(limits, A, n):
            break
    return n


def _one(limits: Limits, A: np.ndarray, n: Ints) -> bool:
    """Make one exchange that saves cost, if there is one: the first in a fixed order."""
    price = limits.price
    spare = 1.0 + SLACK - A @ unseen(n, limits.rest)
    down = np.flatnonzero(n > limits.low)
    loss = A[:, down] / (n[down] * (n[down] - 1.0))
    up = np.flatnonzero(n < limits.high)
    worth = (A[:, up] / (n[up] * (n[up] + 1.0)) / np.maximum(spare, 1e-9)[:, None]).sum(axis=0) / price[up]
    pay = price[down][:, None] + price[down][None, :]
    np.fill_diagonal(pay, 0.0)
    for h in up[np.argsort(-worth, kind="stable")][:TRIED]:
        room = spare + A[:, h] / (n[h] * (n[h] + 1.0))
        fits = np.flatnonzero((loss <= room[:, None]).all(axis=0) & (down != h))
        if len(fits) < 2:
            continue
        some = loss[:, fits]
        both = np.ones((len(fits), len(fits)), dtype=bool)
        for j in np.argsort(room):  # the tightest limit rules out most
            both &= some[j][:, None] + some[j][None, :] <= room[j]
        saves = np.where(both, pay[np.ix_(fits, fits)], 0.0) - price[h]
        best = int(np.argmax(saves))
        if saves.flat[best] > 1e-9 * price[h]:
            i, k = np.unravel_index(best, saves.shape)
            new = n.copy()
            new[h] += 1
            new[down[fits[i]]] -= 1
            new[down[fits[k]]] -= 1
            if limits.meets(new):
                n[:] = new
                return True
    return False
