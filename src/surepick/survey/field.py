"""What can still be asked in each stratum, and what the budget leaves for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arms import Floats, Ints
from ..display import listed
from ..errors import InfeasibleError
from .frame import Frame
from .next_wave import Field, affordable, opening, strata_of
from .units import units

MANY_STRATA = 20  # then the small biases of all strata add up to a standard error or more for skewed values, as measured
AS_MANY = 10.0  # people whose answering as everywhere else is taken for granted, in a response rate


@dataclass(frozen=True, eq=False)
class Ground:
    """A frame with the settings of its waves; ``limit`` is on interviews, or on their cost if ``paid``."""

    frame: Frame
    limit: float
    paid: bool
    lower: int | None
    upper: int | None
    resp_rate: float | None

    @property
    def unit(self) -> str:
        return "cost" if self.paid else "budget"

    def field(self, told: Ints | None = None, missing: Ints | None = None) -> tuple[Field, list[str]]:
        """What can be asked, given who has answered and who has been asked in vain; and what should be said of it."""
        f, notes = self.frame, list[str]()
        told = np.zeros(len(f), dtype=np.int64) if told is None else told
        missing = np.zeros(len(f), dtype=np.int64) if missing is None else missing
        rate = f.resp_rate if "resp_rate" in f.given or self.resp_rate is None else np.full(len(f), self.resp_rate)
        made = units(
            f, lower=self.lower or 2, upper=self.upper, max_weight=None, rate=rate, finite=True, two_stage=False
        )  # fmt: skip
        price = f.cost if self.paid else np.ones(len(f))
        spent = float((price * told).sum())
        over, limit = spent > self.limit * (1 + 1e-12), max(self.limit, spent)
        if over:
            what = f"cost {spent:,.10g}" if self.paid else f"are {told.sum():,}"
            notes.append(f"The answers {what}, more than the {self.unit} of {self.limit:,.10g}; all count, and nothing is left.")
        high = np.minimum(np.maximum(made.high, told), np.floor(f.N).astype(np.int64) - missing)
        for h in np.flatnonzero(high < 1):
            raise InfeasibleError(
                f"{f.place(int(h))}: everybody was asked and nobody answered; merge it with another stratum.", key="answers"
            )
        low = np.minimum(np.maximum(made.low, told), high)
        if over:  # two in every stratum cannot be had any more
            low = np.minimum(np.maximum(told, 1), high)
        elif self.lower is None and (price * low).sum() > self.limit:  # one each, if there are not two for each
            one = np.where(f.take_all, made.low, np.maximum(f.lower, 1))
            low = np.minimum(np.maximum(one, told), high)
            notes.append(
                f"A {self.unit} of {self.limit:,.10g} is too small for two interviews in every stratum, which a variance "
                "takes; merge strata, or raise it."
            )
        self._refuse(told, low, price, limit)
        if {"psu_cost", "delta"} & f.given:
            notes.append("Waves are of one stage: the columns of primary units are not used.")
        if len(f) >= MANY_STRATA:
            notes.append(
                f"In waves the small biases of {len(f):,} strata add up: where values are skewed, or yes is rare, the mean may "
                "be too low by a standard error or several, and the classical interval miss it. Try it with --simulate "
                "(rehearse), or merge strata."
            )
        return Field(f.weights**2 * f.deff, f.N, price, low, high, limit, self.paid), notes

    def _refuse(self, told: Ints, low: Ints, price: Floats, limit: float) -> None:
        f, spent, needed = self.frame, float((price * told).sum()), float((price * low).sum())
        for h in np.flatnonzero(told > f.upper):
            raise InfeasibleError(
                f"{f.place(int(h))}: {told[h]:,} have answered, and at most {f.upper[h]:,} were to be asked; mend the bound.",
                key="upper",
            )
        if needed > limit * (1 + 1e-12):
            lack = np.flatnonzero(low > told)
            few = listed([f.strata[h] for h in lack])
            after = f", {spent:,.10g} of it spent," if told.any() else ""
            raise InfeasibleError(
                f"A {self.unit} of {self.limit:,.10g}{after} does not pay for the least that every stratum is to have, "
                f"{needed:,.10g} in all; {few} lack some. Raise it, lower the bounds, or merge strata.",
                key=self.unit,
            )

    def opened(self, field: Field, shares: Floats, n: int) -> Ints:
        """The first wave, which leaves enough for the lower bounds."""
        shares, n = np.maximum(shares, 1e-9), min(n, int(field.high.sum()))
        wave = opening(field, shares, n)
        if float((field.price * np.maximum(wave, field.low)).sum()) <= self.limit * (1 + 1e-12):
            return wave
        whole = affordable(field, strata_of(field, np.ones(len(shares)), np.zeros_like(wave)), shares)
        return opening(replace(field, high=whole), shares, min(n, int(whole.sum())))

    def rates(self, told: Ints, missing: Ints) -> Floats:
        """Response rates: the frame's, or what was seen, drawn towards that of all strata."""
        f = self.frame
        if "resp_rate" in f.given:
            return f.resp_rate
        if not missing.any():
            return np.full(len(f), 1.0 if self.resp_rate is None else self.resp_rate)
        overall = float(told.sum() + 1) / float(told.sum() + missing.sum() + 1) if self.resp_rate is None else self.resp_rate
        out: Floats = (told + AS_MANY * overall) / (told + missing + AS_MANY)
        return out


def first_notes(field: Field, wave: Ints, goal: Ints) -> list[str]:
    """Sentences about a first wave that is most of the survey."""
    spent, all_ = float((field.price * wave).sum()), float((field.price * goal).sum())
    if spent >= all_ * (1 - 1e-12):
        return [
            "The first wave is the whole survey: nothing is left to be split by what it says. Ask fewer at first, merge strata, "
            "or raise the budget."
        ]
    if spent > 0.5 * all_:
        return [
            f"The first wave takes {100 * spent / all_:.0f} % of the budget: little is left to be split by what it says. Ask "
            "fewer at first, merge strata, or raise the budget."
        ]
    return []
