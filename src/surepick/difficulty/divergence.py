"""How hard it is to tell one parameter of an arm from another: d(theta, lambda), by what the arm was declared to be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arms import Arm, Bools, Floats, Ints
from ..estimators import Mean, Variance
from ..problems import Problem

STEPS = 100  # of Newton's method for a variance; a handful is enough unless the root is double


class Tilt(NamedTuple):
    """Where arms go when they are pulled: lambda - theta, how that grows with the pull, and d(theta, lambda)."""

    shift: Floats
    slope: Floats
    d: Floats


class Divergence:
    """d(theta_i, lambda_i) of every arm, through the point that minimises d(theta_i, lambda) - pull * lambda.

    - The mean of a sub-Gaussian arm: normal arms with standard deviation R, d = (theta - lambda)^2 / (2 R^2).
    - The mean of a Bernoulli or bounded arm: arms that are either ``low`` or ``high``, d = kl(p, q) with
      p = (theta - low) / (high - low).
    - The variance of a bounded arm: the same arms, theta = (high - low)^2 p (1 - p). Of the two p that give theta and
      the two q that give lambda the nearest pair counts, so both are taken below 1/2. d is convex in lambda.
    """

    def __init__(self, problem: Problem, theta: Floats) -> None:
        self.theta = theta
        self.variance: bool = isinstance(problem.parameter, Variance)
        self.normal: Bools = np.array([arm.kind == "subgaussian" for arm in problem.arms])
        self.scale: Floats = np.array([_spread(arm) for arm in problem.arms])
        low = np.array([0.0 if arm.kind == "subgaussian" else arm.low for arm in problem.arms])
        if self.variance:
            self.scale = self.scale**2
            root = np.sqrt(np.clip(1.0 - 4.0 * theta / self.scale, 0.0, 1.0))  # 1 - 2p
            self.p: Floats = 2.0 * theta / self.scale / (1.0 + root)
        else:
            self.p = np.where(self.normal, 0.5, np.clip((theta - low) / self.scale, 0.0, 1.0))

    @staticmethod
    def knows(problem: Problem) -> bool:
        """Of normal arms with an unknown variance the means alone do not tell."""
        return isinstance(problem.parameter, (Mean, Variance)) and not problem.unscaled

    def tilt(self, arm: Ints, pull: Floats) -> Tilt:
        """For an arm and a pull each, in arrays of one shape."""
        if self.variance:
            return self._variance(arm, pull)
        normal = self.normal[arm]
        if normal.all():
            return self._normal(arm, pull)
        if not normal.any():
            return self._two_point(arm, pull)
        parts = zip(self._normal(arm, pull), self._two_point(arm, pull), strict=True)
        return Tilt(*(np.where(normal, a, b) for a, b in parts))

    def _normal(self, arm: Ints, pull: Floats) -> Tilt:
        square = self.scale[arm] ** 2
        return Tilt(square * pull, square, square * pull**2 / 2)

    def _two_point(self, arm: Ints, pull: Floats) -> Tilt:
        """kl(p, q) - x q is least where q - p = x q (1 - q)."""
        p, scale = self.p[arm], self.scale[arm]
        x = pull * scale
        fall, rise = 1.0 - x, 1.0 + x
        root = np.sqrt(np.maximum(fall * fall + 4.0 * x * p, 0.0))
        # Both q and 1 - q without cancellation.
        q = _ratio(np.where(fall >= 0, 2.0 * p, root - fall), np.where(fall >= 0, fall + root, 2.0 * x))
        r = _ratio(np.where(rise >= 0, 2.0 * (1.0 - p), root - rise), np.where(rise >= 0, rise + root, -2.0 * x))
        change = x * q * r
        return Tilt(scale * change, scale**2 * _ratio(q * r, root), _kl(p, q, r, change))

    def _variance(self, arm: Ints, pull: Floats) -> Tilt:
        """With u = 1 - 2q and k = x/2, kl(p, q) - x q (1 - q) is least where k u^3 - (1 + k) u + u_0 = 0.

        For k > 0 the cubic is convex in u, for k < 0 it is concave in 2q. Newton's method from 0 runs straight to the root.
        """
        p, scale = self.p[arm], self.scale[arm]
        k = pull * scale / 2.0
        up = k > 0
        three, two = np.abs(k), np.where(up, 0.0, 3.0 * k)
        one, none = np.where(up, -1.0 - k, 1.0 - 2.0 * k), np.where(up, 1.0 - 2.0 * p, -2.0 * p)
        z = np.zeros_like(k)
        for _ in range(STEPS):
            step = _ratio(((three * z + two) * z + one) * z + none, (3.0 * three * z + 2.0 * two) * z + one)
            z = np.clip(z - step, 0.0, 1.0)
            if (step >= -1e-13 * z).all():  # z only rises
                break
        u, v = np.where(up, z, 1.0 - z), np.where(up, 1.0 - z, z)
        change = k * u * v * (1.0 + u) / 2.0  # q - p
        slope = scale**2 / 4.0 * _ratio(u * u * v * (1.0 + u), 1.0 + k - 3.0 * k * u * u)
        return Tilt(scale * change * (1.0 - p - v / 2.0), np.maximum(slope, 0.0), _kl(p, v / 2.0, (1.0 + u) / 2.0, change))


def _spread(arm: Arm) -> float:
    return arm.scale if arm.scale is not None else arm.high - arm.low


def _ratio(a: Floats, b: Floats) -> Floats:
    """a / b, and 0 where b is 0."""
    out: Floats = np.divide(a, b, out=np.zeros(np.broadcast(a, b).shape), where=b != 0)
    return out


def _kl(p: Floats, q: Floats, r: Floats, change: Floats) -> Floats:
    """kl(p, q) with r = 1 - q and change = q - p, accurate for small changes and near the ends."""
    d: Floats = np.maximum(_term(p, q, change) + _term(1.0 - p, r, -change), 0.0)
    return d


def _term(p: Floats, q: Floats, change: Floats) -> Floats:
    """p ln(p / q)"""
    small = np.abs(change) < p / 2
    with np.errstate(divide="ignore"):
        log = np.where(small, np.log1p(_ratio(np.where(small, change, 0.0), p)), np.log(_ratio(q, p)))
    return np.where(p > 0, -p * np.where(p > 0, log, 0.0), 0.0)
