"""What a plan says in sentences: how far it may be from the best, and what should be known about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arms import Ints
from .frame import Frame
from .solve import Solution
from .targets import Estimate
from .units import Units


def guarantee(solution: Solution, paid: bool, variance: float, targets: int, two_stage: bool, spent: float, which: str) -> str:
    """How far the plan may be from the best one."""
    said = _guarantee(solution, paid, variance, targets, spent, which)
    return f"With so many interviews in each primary unit: {said[0].lower()}{said[1:]}" if two_stage else said


def _guarantee(solution: Solution, paid: bool, variance: float, targets: int, spent: float, which: str) -> str:
    above = solution.above
    if solution.of == "flat":
        return "All S are 0: every plan estimates the mean without error."
    if np.isnan(above):
        return "Not the best plan, but one to compare with."
    if solution.of == "cost":
        the = "the target" if targets == 1 else "all targets"
        if paid and above <= 1e-9 * spent:
            return f"No cheaper plan reaches {the}."
        if paid:
            return f"At most {above:,.4g} above the least cost that reaches {the}."
        most = int(np.floor(above + 1e-9))
        return (
            f"At most {most:,} {'interview' if most == 1 else 'interviews'} above the optimum."
            if most
            else (f"No plan with fewer interviews reaches {the}.")
        )
    what = "of this cost" if paid else "of this size"
    if above <= 0 or variance <= 0:
        return f"No plan {what} has a smaller variance{which if solution.of == 'variance' else ''}."
    by = above / variance if solution.of == "variance" else above
    the = f"the variance{which}" if solution.of == "variance" else "the largest variance, as a multiple of its target,"
    return f"For this {'cost' if paid else 'size'}, {the} is at most {100 * by:.2g} % above the least."


def notes(
    frame: Frame, n: Ints, m: Ints, parts: Units, overall: Sequence[Estimate], shown: Sequence[Estimate], limit: float | None,
    spent: float, paid: bool,
) -> list[str]:  # fmt: skip
    """Sentences that a careful colleague would add."""
    said = []
    flat = [one.variable for one in overall if not one.a.any()]
    if flat:
        split = " The interviews are split in proportion to the sizes." if limit is not None and len(flat) == len(overall) else ""
        said.append(f"All S of {', '.join(map(repr, flat))} are 0: nobody differs, as far as the table says.{split}")
    if (m >= parts.high).all() and not (parts.high == parts.low).all():
        everybody = "population" in parts.at_high
        said.append("Everybody who can be had is asked." if everybody else "All strata are at their upper bounds.")
    if limit is not None and (m >= parts.high).all() and spent < limit * (1 - 1e-12):
        unit = "of the cost" if paid else "of the interviews"
        said.append(f"{limit - spent:,.10g} {unit} of {limit:,.10g} are not used.")
    if limit is not None and paid and not {"cost", "psu_cost"} & frame.given:
        said.append("There is no column cost, so that every interview costs 1.")
    single = np.flatnonzero((n == 1) & (frame.N > 1))
    if len(single):
        which = (
            f"{frame.strata[single[0]]!r}"
            if len(single) == 1
            else f"{len(single):,} strata (the first is {frame.strata[single[0]]!r})"
        )
        said.append(f"One interview only in {which}: two or more are needed to estimate a variance (lower=2).")
    for title, labels in frame.domains.items():
        if "" in labels:
            said.append(f"{labels.count(''):,} strata belong to no domain of {title!r}, and to no target of one.")
    if frame.ignored:
        said.append(f"Columns that are not used: {', '.join(frame.ignored[:8])}{', ...' if len(frame.ignored) > 8 else ''}.")
    return said


def changes(sensitivity: Mapping[str, float | None], paid: bool, which: str) -> list[str]:
    """What a little more or less would give."""
    said = []
    more, dearer, saved = (sensitivity[key] for key in ("one_more_interview", "one_more_cost", "saved_by_1_percent"))
    if more is not None:
        said.append(f"One more interview changes the standard error of the overall mean{which} by {100 * more:.2g} %.")
    if paid and dearer is not None:
        said.append(f"One more unit of cost changes it by {100 * dearer:.2g} %.")
    if saved:
        said.append(f"Standard errors 1 % larger save {saved:,.3g} {'of the cost' if paid else 'interviews'}.")
    return said
