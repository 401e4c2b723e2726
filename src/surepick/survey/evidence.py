"""What the answers prove of an allocation: by how much its variance is above that of the best one, at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arms import Arm, Floats, Ints
from ..explorer import Explorer
from ..problems import SampleAllocation
from .answers import Answers
from .frame import Frame
from .next_wave import Field

LITTLE = 10.0  # a gap that is not worth a figure


@dataclass(frozen=True, eq=False)
class Evidence:
    """How far from the best an allocation may be.

    Attributes
    ----------
    gap : float or None
        With probability 1 - delta, whenever one looks, the variance of the plan is at most 1 + gap times that of the best split
        of the same budget. None where nothing can be said, and infinite where nothing is known yet.
    ahead : float or None
        The same among the splits that keep the answers that were collected: what can still be changed.
    lower, upper : array or None
        The S^2 of every stratum lie between these, all together with that probability.
    sentence : str
    """

    gap: float | None
    ahead: float | None
    delta: float
    lower: Floats | None
    upper: Floats | None
    sentence: str

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts, ready for JSON."""
        gap, ahead = (None if x is None or not np.isfinite(x) else x for x in (self.gap, self.ahead))
        return {"gap": gap, "ahead": ahead, "delta": self.delta, "sentence": self.sentence}


def within_of_best(
    frame: Frame, told: Answers, variable: str, bounds: tuple[float, float] | None, least: Ints, field: Field, goal: Ints,
    delta: float,
) -> Evidence:  # fmt: skip
    """The gap of ``goal`` among all designs with at least ``least``; by a box around the S^2 from bets on pairs of answers."""
    yes_no = variable in told.yes_no
    if bounds is None and not yes_no:
        return _none(delta, "No certificate of the split: it takes bounds of the values, fixed before the first answer.")
    if field.paid or (frame.deff != 1).any():
        return _none(delta, "No certificate of the split: it is for interviews that cost the same, without design effects.")
    if len(frame) == 1 or (frame.N != np.floor(frame.N)).any():
        return _none(delta, "No certificate of the split: it takes several strata, and head counts.")
    low, high = bounds or (0.0, 1.0)
    share = yes_no and (low, high) == (0.0, 1.0)
    arms = [Arm(name, low=low, high=high, kind="bernoulli" if share else "bounded") for name in frame.strata]
    size = int(goal.sum())

    def splits(low: Ints) -> SampleAllocation:
        return SampleAllocation(frame.N, size, lower=np.maximum(low, 1), upper=field.high, arms=arms, finite=True)

    explorer = Explorer(splits(least), delta, policy="pac", epsilon=0.05, relative=True)
    y = told.values[variable]
    order = np.arange(len(y)) if told.moment is None else np.argsort(told.moment, kind="stable")
    order = order[~np.isnan(y[order])]
    explorer.tell_many([(h, y[order][told.stratum[order] == h]) for h in range(len(frame)) if (told.stratum[order] == h).any()])
    box = explorer.certificate()
    # field.low holds what was collected
    gap, ahead = (float(splits(low).relative_rival(box.lower, box.upper, goal)[1]) for low in (least, field.low))
    return Evidence(gap, ahead, delta, box.lower, box.upper, _said(gap, ahead, delta, size))


def _said(gap: float, ahead: float, delta: float, size: int) -> str:
    sure = (
        f"With probability {1 - delta:g}, whenever one looks, the variance of the planned split of {size:,} interviews is at most"
    )
    if not ahead < LITTLE:
        return (
            f"The answers prove little of the split yet: its variance may be over {LITTLE:g} times the least. Tighter bounds "
            "of the values, or answers of yes and no, prove more."
        )
    if not gap < LITTLE:
        return f"{sure} {1 + ahead:.3g} times the least that can be had from here."
    start = f"{1 + gap:.3g} times that of the best split from the start"
    return f"{sure} {1 + ahead:.3g} times the least that can be had from here, and {start}."


def _none(delta: float, why: str) -> Evidence:
    return Evidence(None, None, delta, None, None, why)
