"""Timing for the benchmarks: figures are ratios within one run, because machines differ and are noisy."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from surepick.engine import start

start.patience = 0.0  # measure compiled code, from the first call on


class Row(NamedTuple):
    """One line of the table."""

    what: str
    figure: str
    target: str
    met: bool


def best(action: Callable[[], object], repeat: int = 9) -> float:
    """Seconds of the fastest of some calls, after one to warm up."""
    action()
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return min(times)


def sort_seconds(m: int) -> float:
    """The yardstick: np.sort of m random floats."""
    values = np.random.default_rng(0).random(m)
    return best(lambda: np.sort(values), 25)
