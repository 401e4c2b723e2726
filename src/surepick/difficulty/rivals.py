"""The other decisions of a class that only has an oracle: those that are hardest to rule out by samples shared out as w.

For a decision y let c = a(y) - a(best) and f(y) = min sum_i w_i d(theta_i, lambda_i) over <c, lambda> >= 0. By duality f(y) is
the maximum over nu >= 0 of the sum, over the arms in which y differs from the best decision, of

    h_i(nu) = min over lambda of w_i d(theta_i, lambda) - nu c_i lambda.

At a fixed nu that is linear in y: one oracle call finds its least value L(nu) over a set of decisions. L is concave and at most
min f, so a set with L(nu) >= value for some nu holds no y with f(y) < value. A set for which bisection finds no such nu is split
(Lawler 1972) into those decisions that agree with the one found on its first arms and differ in the next.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..arms import Floats
from ..problems.half_spaces import HalfSpaces
from ..problems.oracle import OracleProblem
from .alternatives import reachable
from .divergence import Divergence
from .responses import best_responses

Decision = np.ndarray[Any, Any]

PARTS = 3000  # up to which the decisions are split
HALVINGS = 60


class Part(NamedTuple):
    """The decisions with some arms and without some others."""

    taken: tuple[int, ...] = ()
    left: tuple[int, ...] = ()


class Rivals:
    """All decisions of a problem but the best one."""

    problem: OracleProblem
    theta: Floats

    def __init__(self, problem: OracleProblem, theta: Floats) -> None:
        self.problem, self.theta = problem, theta
        self.best: np.ndarray[Any, Any] = problem.solve_at(theta)
        self.c: Floats = problem.sign * (1.0 - 2.0 * self.best)  # what the other entry of an arm adds to the reward

    def first(self) -> HalfSpaces:
        """The best decision of every part, the second best of all among them, and one that can be best if any can."""
        found = [self._least(-self.c * self.theta, part) for part in self._split(Part(), self.best)]
        corner = np.where(self.c > 0, self.problem.high, self.problem.low)
        if np.isfinite(corner).all():
            y = self.problem.solve_at(corner)
            found.append(y if (y != self.best).any() else None)
        return self._spaces([y for y in found if y is not None])

    def beating(self, divergence: Divergence, w: Floats, value: float) -> HalfSpaces | None:
        """Decisions y with f(y) < value; an empty list only if there are none at all, None if that is not settled."""
        found: list[Decision] = []
        parts = list(self._split(Part(), self.best))
        for _ in range(PARTS):
            if not parts:
                return self._spaces(found)
            part = parts.pop()
            doubtful = self._doubtful(divergence, w, value, part)
            if doubtful is None:
                continue
            spaces = reachable(self._spaces([doubtful]), self.problem, self.theta)
            if len(spaces.gap) and best_responses(divergence, spaces, w)[0][0] < value:
                found.append(doubtful)
            elif not found:  # with one found there will be another call
                parts.extend(self._split(part, doubtful))
        return self._spaces(found) if found else None

    def _doubtful(self, divergence: Divergence, w: Floats, value: float, part: Part) -> Decision | None:
        """None if f >= value all over the part; else the decision with the least h at about the best nu."""
        arms = np.arange(self.problem.m)
        low, high, nu = 0.0, math.inf, value / float(np.abs(self.theta).max() or 1.0)
        y: Decision | None = None
        for _ in range(HALVINGS):
            tilt = divergence.tilt(arms, nu * self.c / w)
            gain = self.c * (self.theta + tilt.shift)
            h = w * tilt.d - nu * gain
            y = self._least(h, part)
            if y is None or h[y != self.best].sum() >= value:
                return None
            if gain[y != self.best].sum() < 0:  # minus the slope of L
                low, nu = nu, min(8.0 * nu, math.sqrt(nu * high))
            else:
                high, nu = nu, max(nu / 8.0, math.sqrt(low * nu))
            if high - low <= 1e-9 * high:
                break
        return y

    def _least(self, h: Floats, part: Part) -> Decision | None:
        """The decision of the part with the least sum of h over the arms in which it differs from the best one."""
        weights = np.where(self.best > 0, h, -h)
        return self.problem.maximise_within(weights, list(part.taken), list(part.left))

    def _split(self, part: Part, y: Decision) -> Iterator[Part]:
        """The part without y, in parts: agree with y on some arms, differ in the next."""
        taken, left = part
        for i in self.problem.branches(y):
            if i in part.taken or i in part.left:
                continue
            if y[i]:
                yield Part(taken, (*left, i))
                taken = (*taken, i)
            else:
                yield Part((*taken, i), left)
                left = (*left, i)

    def _spaces(self, decisions: list[Decision]) -> HalfSpaces:
        c = self.problem.sign * (np.array(decisions).reshape(-1, self.problem.m) - self.best)
        return HalfSpaces.of(c, -(c @ self.theta))
