"""Kernels as Python runs them: the same source, with Python's own numbers, and without numba."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum
from functools import cache
from types import FunctionType, SimpleNamespace
from typing import Any


@cache
def plain(made: Any) -> Any:
    """A patient kernel as a plain function, which calls patient kernels as plain functions, too."""
    function = made.py_func
    return FunctionType(function.__code__, _scope(function.__globals__), function.__name__, function.__defaults__)


_scopes: dict[str, dict[str, Any]] = {}


def _scope(module: dict[str, Any]) -> dict[str, Any]:
    """The names of a module, for plain functions."""
    name = module["__name__"]
    if name not in _scopes:
        scope = _scopes[name] = {**module, "math": _math}
        for word, value in module.items():
            if getattr(value, "patient", False) is True:  # a kernel
                scope[word] = plain(value)
            elif isinstance(value, type) and issubclass(value, IntEnum):
                scope[word] = _numbers(value)
    return _scopes[name]


def _numbers(members: type[IntEnum]) -> SimpleNamespace:
    """As compiled code has them: plain numbers, with which those of NumPy are compared in a fiftieth of the time."""
    return SimpleNamespace(**{member.name: int(member) for member in members})


def _lenient(function: Callable[[float], float], pole: float = math.nan) -> Callable[[float], float]:
    """As in compiled code: infinite or not a number where Python raises an error."""

    def lenient(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return -math.inf if x == pole else math.nan

    return lenient


_math = SimpleNamespace(**vars(math))
_math.log, _math.log1p = _lenient(math.log, 0.0), _lenient(math.log1p, -1.0)
_math.exp, _math.sqrt = _lenient(math.exp), _lenient(math.sqrt)
