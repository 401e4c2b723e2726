"""What is drawn in each stratum: people, or primary units and people within them; at which price, and within which bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arms import Bools, Floats, Ints
from ..checks import LARGEST
from ..errors import InfeasibleError, StudyError
from .frame import Frame
from .twostage import MOST, best_take

ENDLESS, MANY = 1e10, 1e12  # interviews of a stratum at most: where people may be asked again, and where not


@dataclass(frozen=True, eq=False)
class Units:
    """A stratum's units are people (``take`` 1), or primary units of which every one gives ``take`` interviews.

    The variance of a stratum's mean is S^2 (spread / m - known): with one stage 1/m - 1/N, with two stages and a likeness
    delta of people in one primary unit (delta + (1 - delta) / take) / m - delta / M - (1 - delta) / N.
    """

    take: Ints
    spread: Floats
    known: Floats
    cost: Floats  # of a unit
    low: Ints
    high: Ints
    at_low: list[str]  # what the lower bound is called, where it binds
    at_high: list[str]


def units(
    frame: Frame,
    *,
    lower: int,
    upper: int | None,
    max_weight: float | None,
    rate: Floats,
    finite: bool,
    two_stage: bool,
) -> Units:
    """The units of a frame, whose bounds are checked against each other."""
    N = frame.N
    stages = two_stage & ~frame.take_all & ~np.isnan(frame.delta) & ~np.isnan(frame.psu_cost)
    if two_stage and not stages.any():
        raise StudyError(f"{frame.source}: two stages take columns delta and psu_cost; no stratum has both.", key="two_stage")
    delta, psu = np.where(stages, frame.delta, 0.0), np.where(stages, frame.psu_cost, 0.0)
    M = np.where(stages & ~np.isnan(frame.psus), frame.psus, np.inf)
    _refuse(frame, (N < 1) & finite, "N is below 1; give head counts, or let people be asked again (finite=False)")
    reachable = np.clip(np.floor(N * rate * (1 + 1e-12)), 1.0, MANY) if finite else np.full(len(N), ENDLESS)
    low, high, at_low, at_high = _bounds(frame, reachable, lower, upper, max_weight, finite)
    answering = np.where(np.isfinite(M), N / M, N) * (rate if finite else 1.0)  # people in a primary unit who can be had
    most = np.clip(np.floor(answering * (1 + 1e-12)), 1, np.maximum(high, 1))
    many = np.where(np.isfinite(M), np.floor(M), LARGEST).astype(np.int64)
    take = np.where(stages, best_take(psu, frame.cost, delta, most), 1).astype(np.int64)
    for i in np.flatnonzero(stages & (-(-low // take) > np.minimum(high // take, many))).tolist():
        take[i] = _fitting(frame, i, psu[i], delta[i], int(low[i]), int(high[i]), int(most[i]), int(many[i]))
    spread = np.where(stages, delta + (1 - delta) / take, 1.0)
    known = np.where(stages, delta / M + (1 - delta) / N, 1.0 / N) if finite else np.zeros(len(N))
    low_units = np.maximum(-(-low // take), 1)
    high_units = np.maximum(np.minimum(high // take, many), 1)
    return Units(
        take, spread, known, psu + frame.cost * take, np.minimum(low_units, high_units), high_units, at_low, at_high
    )  # fmt: skip


def _fitting(frame: Frame, i: int, psu: float, delta: float, low: int, high: int, most: int, many: int) -> int:
    """The cheapest number of interviews in each primary unit with which a multiple of it is within the bounds."""
    take = np.arange(1, min(most, MOST) + 1)
    take = take[-(-low // take) <= np.minimum(high // take, many)]
    if not len(take):
        raise InfeasibleError(
            f"{frame.place(i)}: in two stages no equal number of interviews from each primary unit makes at least {low:,} and "
            f"at most {high:,}, with at most {many:,} units of {most:,} that can be had; lower the lower bound.",
            key="lower",
        )
    return int(take[np.argmin((psu + frame.cost[i] * take) * (delta + (1 - delta) / take))])


def _bounds(
    frame: Frame, reachable: Floats, lower: int, upper: int | None, max_weight: float | None, finite: bool
) -> tuple[Ints, Ints, list[str], list[str]]:
    """Bounds on the interviews of each stratum, and what they are called."""
    all_of = frame.take_all
    weight = np.ceil(frame.N / max_weight * (1 - 1e-12)) if max_weight is not None else np.zeros(len(frame))
    asked = np.maximum(frame.lower, lower)
    low = np.minimum(np.maximum(asked, weight), reachable)
    top = np.minimum(frame.upper, LARGEST if upper is None else upper)
    _refuse(
        frame,
        ~all_of & (np.minimum(asked, reachable) > top),
        "the bounds leave no choice: at least {low}, at most {top}",
        low,
        top,
    )
    _refuse(
        frame,
        ~all_of & (low > top),
        "the maximal weight takes at least {low} interviews, but at most {top} are allowed",
        low,
        top,
    )
    _refuse(
        frame, all_of & (np.floor(frame.N) > top), "everybody is to be asked, but at most {top} interviews are allowed", low, top
    )
    if max_weight is not None:
        _refuse(
            frame,
            ~all_of & (weight > reachable),
            "the maximal weight takes more interviews than the {low} that can be had",
            low,
            top,
        )
    high = np.minimum(reachable, top)
    low = np.where(all_of, high, low)
    at_low = np.where(all_of, "take_all", np.where((weight > asked), "max_weight", "lower"))
    at_high = np.where(all_of, "take_all", np.where(top < reachable, "upper", "population"))
    return low.astype(np.int64), high.astype(np.int64), at_low.tolist(), at_high.tolist()


def _refuse(frame: Frame, bad: Bools, what: str, low: Floats | None = None, top: Floats | Ints | None = None) -> None:
    where = np.flatnonzero(bad)
    if len(where):
        i = int(where[0])
        numbers = {} if low is None or top is None else {"low": f"{low[i]:,.0f}", "top": f"{top[i]:,.0f}"}
        raise InfeasibleError(f"{frame.place(i)}: {what.format(**numbers)}.", key="upper")
