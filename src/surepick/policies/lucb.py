"""LUCB1, for the k best arms."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..arms import Bools, Ints
from ..confidence.base import Confidence
from ..problems import TopK
from ..problems.base import Problem
from .base import Policy, View, worth


class LUCB(Policy):
    """Lower and Upper Confidence Bounds (Kalyanakrishnan, Tewari, Auer and Stone 2012).

    J holds the k arms with the largest means. h is the arm of J with the lowest lower bound, l the arm outside J with the
    highest upper bound. Every round samples both; it stops when the bounds no longer overlap. Minimising, all is mirrored.
    """

    name = "lucb"
    own: ClassVar[str | Confidence] = "lucb"
    rule = "lucb"
    pace = 2

    @classmethod
    def needs(cls, problem: Problem) -> str | None:
        return None if isinstance(problem, TopK) else "best-arm or top-k"

    def critical(self, view: View) -> tuple[int, int]:
        """h and l."""
        lower, upper = worth(view)
        inside = view.decision > 0
        h = int(np.argmin(np.where(inside, lower, np.inf)))
        low = int(np.argmax(np.where(inside, -np.inf, upper)))
        return h, low

    def certified(self, view: View) -> bool:
        if view.decision.all():
            return True
        h, low = self.critical(view)
        lower, upper = worth(view)
        return bool(upper[low] <= lower[h])

    def candidates(self, view: View) -> Bools:
        out = np.zeros(self.problem.m, dtype=np.bool_)
        out[list(self.critical(view))] = True
        return out

    def choose(self, view: View, planned: Ints, n: int) -> list[int]:
        """Both arms of the round in turn, the less sampled one first."""
        if view.open is not None:
            return super().choose(view, planned, n)
        pair = sorted(self.critical(view), key=lambda i: (planned[i], i))
        return [pair[j % 2] for j in range(n)]
