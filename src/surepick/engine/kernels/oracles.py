"""One name for the maximisers of classes that have little else, so that loops are written once for all of them."""

from __future__ import annotations

from typing import Any

from numba.extending import overload

from ...arms import Floats, Ints

ROOMS: dict[type, Any] = {}


def maximiser(data: type, kernels: Any) -> type:
    """Declare the file of kernels that has ``best``, and ``losses`` if need be, for a class; returns the class."""
    ROOMS[data] = kernels
    return data


def best(data: Any, weights: Floats, decision: Ints) -> bool:
    """phi for these weights, which are maximised; False if rounding cannot tell. For compiled code alone."""
    raise NotImplementedError


def losses(data: Any, weights: Floats, decision: Ints, loss: Floats) -> bool:
    """``best``, and by how much the best decision with another entry for an arm is worse; infinite if there is none."""
    raise NotImplementedError


@overload(best)
def _best(data, weights, decision):
    kernel = ROOMS[data.instance_class].best
    return lambda data, weights, decision: kernel(data, weights, decision)


@overload(losses)
def _losses(data, weights, decision, loss):
    kernel = ROOMS[data.instance_class].losses
    return lambda data, weights, decision, loss: kernel(data, weights, decision, loss)
