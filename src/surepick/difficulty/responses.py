"""The nearest parameters in every half-space, when nearness is sum_i w_i d(theta_i, lambda_i)."""

from __future__ import annotations

import math

import numpy as np

from ..arms import Floats
from ..problems.half_spaces import HalfSpaces
from .divergence import Divergence, Tilt

NEWTON = 200


def best_responses(divergence: Divergence, spaces: HalfSpaces, w: Floats) -> tuple[Floats, Floats]:
    """For every half-space the least sum_i w_i d(theta_i, lambda_i) (from below), and d(theta_i, lambda_i) of its arms there.

    The minimiser is lambda_i = argmin w_i d(theta_i, lambda) - nu c_i lambda with nu just strong enough to reach the half-space:
    Newton's method within a bracket. The lambda returned is inside, and the dual value of its nu is below the least.
    """
    share = w[spaces.arms]
    rate = spaces.c / share
    flat = np.maximum(divergence.tilt(spaces.arms, np.zeros_like(rate)).slope, 1e-9 * divergence.scale[spaces.arms] ** 2)
    nu = spaces.gap / (spaces.c * rate * flat).sum(axis=1)
    low, high, done = np.zeros_like(nu), np.full_like(nu, math.inf), np.zeros(len(nu), dtype=np.bool_)
    moved = np.full_like(nu, math.inf)

    def pulled(nu: Floats) -> tuple[Tilt, Floats]:
        tilt = divergence.tilt(spaces.arms, nu[:, None] * rate)
        return tilt, (spaces.c * tilt.shift).sum(axis=1) - spaces.gap

    for _ in range(NEWTON):
        tilt, excess = pulled(nu)
        inside = excess >= 0
        high, low = np.where(inside, nu, high), np.where(inside, low, nu)
        spare = 1e-9 * (share * tilt.d).sum(axis=1) / nu  # what keeps the dual value as close to the sum
        done |= (inside & (excess <= spare)) | (high - low <= 1e-14 * nu)
        if done.all():
            break
        slope = (spaces.c * rate * tilt.slope).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = nu - (excess - spare / 2) / slope
            middle = np.where(np.isinf(high), 8.0 * nu, np.where(low > 0, np.sqrt(low * high), high / 8.0))
        # A step of Newton's that is not much shorter than the one before may lead round in circles.
        good = (step > low) & (step < high) & (np.abs(step - nu) <= moved / 2)
        new = np.where(done, nu, np.where(good, step, middle))
        nu, moved = new, np.abs(new - nu)
    tilt, excess = pulled(high)
    return (share * tilt.d).sum(axis=1) - high * excess, tilt.d
