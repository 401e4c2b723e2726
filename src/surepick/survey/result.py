"""A plan: what it asks for in each stratum, what it reaches, and how far it may be from the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arms import Floats, Ints
from .frame import Frame
from .solve import Solution, strata_of
from .targets import WHOLE, Estimate
from .units import Units
from .variance import unseen
from .words import changes, guarantee, notes

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


@dataclass(frozen=True)
class Reached:
    """An estimated mean: what is planned, and its target.

    Attributes
    ----------
    variable, domain : str
        What is estimated; the domain ``"all"`` is everybody.
    cv, se : float
        The planned coefficient of variation (NaN without a mean) and standard error.
    target, target_se : float or None
        What was asked for, as a CV (None without a mean) and as a standard error.
    saves : float or None
        What a 1 % larger standard error would save: interviews, or cost where prices are given.
    """

    variable: str
    domain: str
    cv: float
    se: float
    target: float | None = None
    target_se: float | None = None
    saves: float | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """How many people to ask in each stratum.

    Attributes
    ----------
    frame : Frame
    n : array of int
        Interviews by stratum.
    fielded : array of int
        People to contact so that so many answer: the optimum in real numbers by the response rate, rounded up.
    weight, fraction : array
        N / n and n / N.
    binding : list of str or None
        Which bound a stratum is at: ``"lower"``, ``"upper"``, ``"population"``, ``"take_all"`` or ``"max_weight"``.
    share : dict of arrays
        By variable: the stratum's share of the variance of the overall mean.
    targets : list of Reached
        By variable and domain.
    overall : list of Reached
        By variable, for everybody.
    cost : float
        The sum of costs; of interviews, where no costs are given.
    priced : bool
        Whether costs decided, and not only the number of interviews.
    above : float
        By how much more the plan may cost, or how much larger its variance may be (as a share), than the best one's; 0 if exact,
        NaN where a method does not look for the best.
    guarantee : str
        The same as a sentence.
    sensitivity : dict
        ``"one_more_interview"`` and ``"one_more_cost"``: by which share the standard error of the first variable's overall mean
        changes; ``"saved_by_1_percent"``: interviews or cost that a 1 % larger standard error saves.
    psus, take : array of int
        Primary units, and interviews in each; in one stage n and 1.
    finite : bool
        Whether nobody is asked twice.
    notes : list of str
        What should be known about this plan.
    """

    frame: Frame
    method: str
    n: Ints
    fielded: Ints
    weight: Floats
    fraction: Floats
    binding: list[str | None]
    share: dict[str, Floats]
    targets: list[Reached]
    overall: list[Reached]
    cost: float
    priced: bool
    above: float
    guarantee: str
    sensitivity: dict[str, float | None]
    psus: Ints
    take: Ints
    finite: bool = True
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        main = self.overall[0]
        what = f"CV {main.cv:.4g}" if not np.isnan(main.cv) else f"standard error {main.se:.4g}"
        return f"<Plan: {self.n.sum():,} interviews in {len(self.frame):,} strata, {what}>"

    @property
    def changes(self) -> list[str]:
        """The sensitivity in sentences."""
        return changes(self.sensitivity, self.priced, "" if len(self.overall) == 1 else f" of {self.overall[0].variable!r}")

    @property
    def reached(self) -> list[Reached]:
        """Everybody, by variable, and the targets."""
        asked = {(one.variable, one.domain) for one in self.targets}
        return [*(one for one in self.overall if (one.variable, one.domain) not in asked), *self.targets]

    @property
    def two_stage(self) -> bool:
        return bool((self.take > 1).any())

    def to_frame(self) -> DataFrame:
        """One row a stratum, for pandas."""
        import pandas as pd

        f = self.frame
        columns: dict[str, Any] = {"stratum": list(f.strata)}
        columns |= {title: list(labels) for title, labels in f.domains.items()}
        columns |= {"N": f.N, "n": self.n}
        if self.two_stage:
            columns |= {"psus": self.psus, "take": self.take}
        columns |= {"fielded": self.fielded, "fraction": self.fraction, "weight": self.weight, "binding": self.binding}
        columns |= {"share" if len(self.share) == 1 else f"share_{name}": share for name, share in self.share.items()}
        return pd.DataFrame(columns)

    def to_dict(self) -> dict[str, Any]:
        """What ``surepick plan --json`` prints."""
        columns = zip(
            self.frame.strata, self.n.tolist(), self.fielded.tolist(), self.weight.tolist(), self.binding, self.fraction.tolist(),
            self.psus.tolist(), self.take.tolist(), *(share.tolist() for share in self.share.values()), strict=True,
        )  # fmt: skip
        strata = []
        for name, n, fielded, weight, binding, fraction, psus, take, *share in columns:
            row = {"stratum": name, "n": n, "fielded": fielded, "weight": weight, "binding": binding, "fraction": fraction}
            row["share"] = _number(share[0]) if len(share) == 1 else dict(zip(self.share, map(_number, share), strict=True))
            strata.append(row | ({"psus": psus, "take": take} if self.two_stage else {}))
        return {
            "n": int(self.n.sum()),
            "cost": self.cost,
            "strata": strata,
            "targets": [_reached(one) for one in self.targets],
            "overall": [_reached(one) for one in self.overall],
            "fielded": int(self.fielded.sum()),
            "method": self.method,
            "above": _number(self.above),
            "guarantee": self.guarantee,
            "sensitivity": {key: _number(value) for key, value in self.sensitivity.items()},
            "notes": self.notes,
        }

    def write(self, path: str | Path) -> Path:
        """Write the strata as CSV, or as Excel if the path ends in ``.xlsx`` (with the extra ``excel``)."""
        from .writing import write_table

        return write_table(self, path)

    def picture(self, title: str = "") -> Figure:
        """How many are asked in each stratum, of how many."""
        from .picture import picture

        return picture(self, title)

    def report(self, path: str | Path, title: str = "Plan of the survey") -> Path:
        """Write one page of HTML to hand in."""
        from .report import write_report

        return write_report(self, path, title)

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False, max_rows=40))


def planned(
    frame: Frame, solution: Solution, parts: Units, overall: Sequence[Estimate], shown: Sequence[Estimate], rate: Floats, *,
    paid: bool, method: str, limit: float | None, finite: bool,
) -> Plan:  # fmt: skip
    """A plan from the units that were found."""
    m, take = solution.units, parts.take
    n: Ints = m * take
    contacts = np.where(rate < 1, np.ceil(solution.real * take / rate * (1 - 1e-12)), n)
    contacts = np.maximum(contacts, n)
    if finite:
        contacts = np.minimum(contacts, np.maximum(np.floor(frame.N), 1))
    contacts = np.where(frame.take_all & finite, np.maximum(np.floor(frame.N), 1), contacts)
    share, rest = {}, parts.known / parts.spread
    for one in overall:
        part = one.a * parts.spread * np.maximum(unseen(m, rest), 0.0)
        share[one.variable] = part / part.sum() if part.sum() > 0 else np.zeros(len(part))

    def reach(one: Estimate, saves: float | None) -> Reached:
        variance = strata_of(one, parts, parts.cost).variance(m)
        target = one.asked_cv
        if target is None and one.target is not None and not np.isnan(one.of_mean(one.target)):
            target = one.of_mean(one.target)
        return Reached(one.variable, one.domain, one.cv(variance), one.se(variance), target, one.target, saves)

    saves = [None] * len(shown) if solution.saves is None else [float(x) for x in solution.saves]
    at_low, at_high = (m <= parts.low), (m >= parts.high)
    binding = [
        parts.at_high[i] if high else parts.at_low[i] if low else None
        for i, (low, high) in enumerate(zip(at_low.tolist(), at_high.tolist(), strict=True))
    ]
    least = solution.least or overall[0]
    variance = max(strata_of(least, parts, parts.cost).variance(m), 0.0)
    spent = float((parts.cost * m).sum()) if paid else float(n.sum())
    cost = float((parts.cost * m).sum()) if {"cost", "psu_cost"} & frame.given else float(n.sum())
    return Plan(
        frame=frame,
        method=method,
        n=n,
        fielded=contacts.astype(np.int64),
        weight=frame.N / n,
        fraction=n / frame.N,
        binding=binding,
        share=share,
        targets=[reach(one, x) for one, x in zip(shown, saves, strict=True)],
        overall=[reach(one, None) for one in overall],
        cost=cost,
        priced=paid,
        above=solution.above if solution.of != "variance" or not solution.above else solution.above / max(variance, 1e-300),
        guarantee=guarantee(
            solution,
            paid,
            variance,
            len(shown),
            bool((take > 1).any()),
            spent,
            "" if solution.least is None or (least.domain == WHOLE and len(overall) == 1) else _named(least),
        ),
        sensitivity=_sensitivity(overall[0], parts, m, solution.saved),
        psus=m,
        take=take,
        finite=finite,
        notes=notes(frame, n, m, parts, overall, shown, limit, spent, paid),
    )


def _sensitivity(one: Estimate, parts: Units, m: Ints, saved: float | None) -> dict[str, float | None]:
    """What a little more or less would give."""
    variance = max(strata_of(one, parts, parts.cost).variance(m), 0.0)
    room = m < parts.high
    gain = np.where(room, one.a * parts.spread / (m * (m + 1.0)), 0.0)
    out: dict[str, float | None] = {"one_more_interview": None, "one_more_cost": None, "saved_by_1_percent": None}
    if variance > 0:
        for key, price in (("one_more_interview", parts.take), ("one_more_cost", parts.cost)):
            best = min(float((gain / price).max()), variance)
            out[key] = float(np.sqrt(1 - best / variance) - 1)
    out["saved_by_1_percent"] = saved
    return out


def _named(one: Estimate) -> str:
    return f" of {one.variable!r}" + ("" if one.domain == WHOLE else f" in {one.domain!r}")


def _number(x: float | None) -> float | None:
    return None if x is None or not np.isfinite(x) else float(x)


def _reached(one: Reached) -> dict[str, Any]:
    return {
        "variable": one.variable, "domain": one.domain, "cv": _number(one.cv), "target": one.target, "se": _number(one.se),
        "target_se": one.target_se, "saves": _number(one.saves),
    }  # fmt: skip
