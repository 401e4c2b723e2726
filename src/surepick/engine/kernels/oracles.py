"""One name for the maximisers of classes that have little else, so that loops are written once for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

from ...arms import Floats, Ints

ROOMS: dict[type, Any] = {}


def maximiser(data: type, kernels: Any) -> type:
    """Declare the file of kernels that has ``best``, and ``losses`` or ``shortfall`` if need be; returns the class."""
    ROOMS[data] = kernels
    return data


def best(data: Any, weights: Floats, decision: Ints) -> bool:
    """phi for these weights, which are maximised; False if rounding cannot tell. For compiled code alone."""
    raise NotImplementedError


def losses(data: Any, weights: Floats, decision: Ints, loss: Floats) -> bool:
    """``best``, and by how much the best decision with another entry for an arm is worse; infinite if there is none."""
    raise NotImplementedError


def shortfall(data: Any, lower: Floats, upper: Floats, decision: Ints) -> tuple[float, int, int]:
    """The most by which an arm of the decision can be behind the k-th best of its group, that arm, and the strongest other;
    infinite in a class without groups."""
    raise NotImplementedError


@overload(best)
def _best(data, weights, decision):
    kernel = ROOMS[data.instance_class].best
    return lambda data, weights, decision: kernel(data, weights, decision)


@overload(losses)
def _losses(data, weights, decision, loss):
    kernel = ROOMS[data.instance_class].losses
    return lambda data, weights, decision, loss: kernel(data, weights, decision, loss)


@overload(shortfall)
def _shortfall(data, lower, upper, decision):
    kernel = getattr(ROOMS[data.instance_class], "shortfall", None)
    if kernel is None:
        return lambda data, lower, upper, decision: (np.inf, -1, -1)
    return lambda data, lower, upper, decision: kernel(data, lower, upper, decision)
