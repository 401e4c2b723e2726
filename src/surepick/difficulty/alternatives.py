"""Which of a problem's alternatives there are within the arms' ranges, and whether theta is on the edge of one."""

from __future__ import annotations

import numpy as np

from ..arms import Floats
from ..problems import Problem
from ..problems.half_spaces import HalfSpaces

TIE = 1e-13  # a smaller gap, as a share of the arms' scales, is rounding


def tie(spaces: HalfSpaces, problem: Problem, theta: Floats) -> bool:
    """Theta itself is on the edge of one of the half-spaces."""
    rounding = TIE * problem.scales + 1e-15 * np.abs(theta)
    return bool((spaces.gap <= (np.abs(spaces.c) * rounding[spaces.arms]).sum(axis=1)).any())


def reachable(spaces: HalfSpaces, problem: Problem, theta: Floats) -> HalfSpaces:
    """Those that hold parameters within the arms' ranges, where the other decision is better and not just as good."""
    arms, c, gap = spaces
    up, down = problem.high - theta, problem.low - theta
    with np.errstate(invalid="ignore"):  # 0 * inf of a coefficient that only fills up
        most = np.where(c > 0, c * up[arms], np.where(c < 0, c * down[arms], 0.0)).sum(axis=1)
    kept = most > gap * (1.0 + 1e-9)
    return HalfSpaces(arms[kept], c[kept], gap[kept])
