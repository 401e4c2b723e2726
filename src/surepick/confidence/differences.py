"""Differences of arms that were observed together, for arms that depend on each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arms import Floats, Ints

BETS = (0.015, 0.03, 0.06, 0.12, 0.25, 0.5, 0.9)  # fixed before any data; small ones for small differences


class Differences:
    """For every two arms the capital of bets that the first has the larger mean, over the rows in which both were observed.

    D = X_h - X_l lies in [-r, r], r from the arms' bounds, and has mean theta_h - theta_l whatever the dependence. If
    that is not above 0, 1 + c D / r has mean at most 1 for every bet 0 <= c < 1, so the product over rows is a
    supermartingale, and so is the average over a few bets (Waudby-Smith and Ramdas 2023). By Ville's inequality it ever reaches
    1 / alpha with probability at most alpha, however rows are chosen before their values are seen. For 0/1 values rows in which
    both are the same drop out: this is McNemar's test, at all times at once.
    """

    def __init__(self, low: Floats, high: Floats) -> None:
        m = len(low)
        self.reach: Floats = np.maximum(high[:, None] - low, high - low[:, None])  # r, for every two arms
        self.logs: Floats = np.zeros((len(BETS), m, m))  # of the capitals; [b, h, l] bets that h is above l
        self.count: Ints = np.zeros((m, m), dtype=np.int64)  # rows with both

    def add(self, arms: Ints, values: Floats) -> None:
        """One row: the values of some arms."""
        where = np.ix_(arms, arms)
        shares = (values[:, None] - values) / self.reach[where]
        self.logs[:, where[0], where[1]] += np.log1p(np.multiply.outer(BETS, shares))
        self.count[where] += 1

    def evidence(self, h: Any, low: Any) -> Floats:
        """ln of the capital for h above l, for single arms or arrays of them."""
        logs = self.logs[:, h, low]
        top = logs.max(axis=0)
        found: Floats = top + np.log(np.exp(logs - top).sum(axis=0)) - math.log(len(BETS))
        return found
