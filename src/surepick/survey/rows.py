"""The rows of an estimation: of a variable and a domain its mean or share, and its total; of two variables their ratio."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arms import Bools, Floats
from ..display import listed
from ..errors import StudyError
from .answers import NAMED, Answers
from .anytime import Stratum, always
from .classical import Design, Linear, all_alike, logit_interval, ratio, t_interval, total
from .estimates import Estimate
from .frame import Frame

NONE = 1e-12  # a standard error, as a part of the values, that is rounding


@dataclass(frozen=True, eq=False)
class Rows:
    """What all rows share; ``said`` are sentences about them."""

    frame: Frame
    answers: Answers
    planned: Floats | None
    delta: float
    rule: str
    said: list[str] = field(default_factory=list)

    def present(self, *variables: str) -> Bools:
        here: Bools = ~np.isnan(np.array([self.answers.values[v] for v in variables])).any(axis=0)
        return here

    def design(self, *variables: str) -> tuple[Design, Bools]:
        """The people who have answered, and which rows they are."""
        here = self.present(*variables)
        n = self.answers.counts(here, len(self.frame))
        self._refuse_empty(n, " and ".join(map(repr, variables)))
        return Design(self.answers.stratum[here], self.frame.N, n), here

    def _refuse_empty(self, n: Any, variable: str) -> None:
        empty = [self.frame.strata[h] for h in np.flatnonzero(n == 0)]
        if empty:
            few = listed(empty[:NAMED]) + (f" and {len(empty) - NAMED} more" if len(empty) > NAMED else "")
            raise StudyError(
                f"{self.answers.cells.source}: no answer to {variable} from {few}; merge such a stratum with a similar one in "
                "the frame, or leave it out there if the figures need not count it.",
                key="answers",
            )

    def notes_of(self, *variables: str) -> list[str]:
        notes, named = [], " / ".join(variables)
        missing = ~self.present(*variables)
        if missing.any():
            rows = [self.answers.place(i) for i in np.flatnonzero(missing)[:NAMED].tolist()]
            more = f" and {int(missing.sum()) - NAMED:,} more" if missing.sum() > NAMED else ""
            counts = self.answers.counts(missing, len(self.frame))
            where = [f"{self.frame.strata[h]} {counts[h]:,}" for h in np.argsort(-counts, kind="stable")[:NAMED] if counts[h]]
            notes.append(
                f"{named}: {int(missing.sum()):,} of {len(missing):,} answers are missing ({', '.join(rows)}{more}; by stratum: "
                f"{', '.join(where)}). Those who answered stand for them, within their stratum; that is right if who answers "
                "does not hang on the answer there."
            )
        n = self.answers.counts(~missing, len(self.frame))
        lonely = [self.frame.strata[h] for h in np.flatnonzero((n == 1) & (self.frame.N > 1))]
        if lonely:
            notes.append(
                f"{named}: one answer from {listed(lonely[:NAMED])}{' and others' if len(lonely) > NAMED else ''}, which cannot "
                "say how much answers vary there; its distance from the mean of all is taken instead."
            )
        return notes

    def of(
        self, variable: str, domain: str, by_stratum: Bools | None, inside: Bools, limits: tuple[float, float] | None
    ) -> list[Estimate]:
        """The mean or share, and the total."""
        design, here = self.design(variable)
        y, within = self.answers.values[variable][here], inside[here]
        middle = ratio(design, y, np.ones(len(y)), within, self.rule)
        if middle is None:
            return []
        share = self.answers.binary(variable)
        people = None if by_stratum is None else float(self.frame.N[by_stratum].sum())
        # of whole strata the total is so many times the mean, and strata outside have no part in it
        whole = total(design, y, within, self.rule) if people is None else middle.times(people)
        missing = int((inside & ~here).sum())
        taken = design.n >= design.N
        wide = limits or ((0.0, 1.0) if share else None)
        census = bool(taken.all() if by_stratum is None else taken[by_stratum].all())
        reach = None if census else wide
        lower, upper, method = self._interval(design, y, within, middle, share, reach)
        watched = self._always(variable, by_stratum, limits)
        if not census and wide is None and _none(middle, 1.0, (0.0, abs(middle.estimate))):
            self.said.append(
                f"{variable}, {domain}: all answers of a stratum are alike, so that the standard error is 0, which says nothing; "
                "with bounds there is an interval."
            )
        if people is not None:
            ends, how = (lower * people, upper * people), method
        elif reach is not None and _none(whole, everybody := float(self.frame.N.sum()), reach):  # all others count as 0
            span = min(reach[0], 0.0), max(reach[1], 0.0)
            low, high = all_alike(design, np.where(within, y, 0.0), np.ones(len(y), dtype=np.bool_), self.delta, *span)
            ends, how = (low * everybody, high * everybody), "all alike"
        else:
            ends, how = t_interval(whole, self.delta), "t"
        always_total = None if watched is None or people is None else (watched[0] * people, watched[1] * people)
        return [
            _row("share" if share else "mean", variable, domain, middle, (lower, upper), method, watched, missing),
            _row("total", variable, domain, whole, ends, how, always_total, missing),
        ]

    def ratio(self, above: str, below: str, domain: str, inside: Bools) -> list[Estimate]:
        design, here = self.design(above, below)
        y, x = self.answers.values[above][here], self.answers.values[below][here]
        found = ratio(design, y, x, inside[here], self.rule)
        if found is None:
            self.said.append(f"{above} / {below}, {domain}: the total of {below} is 0 there, so that there is no ratio.")
            return []
        missing = int((inside & ~here).sum())
        ends = t_interval(found, self.delta)
        return [_row("ratio", f"{above} / {below}", domain, found, ends, "t", None, missing)]

    def _interval(
        self, design: Design, y: Floats, within: Bools, found: Linear, share: bool, reach: tuple[float, float] | None
    ) -> tuple[float, float, str]:
        """``reach``: between what values lie, if that is known and not everybody was asked."""
        if reach is not None and _none(found, 1.0, reach):
            return *all_alike(design, y, within, self.delta, *reach), "all alike"
        if share and 0.0 < found.estimate < 1.0:
            return *logit_interval(found, self.delta), "logit"
        return *t_interval(found, self.delta), "t"

    def _expected(self, variable: str) -> Floats | None:
        """How much the frame says that values vary: under the same name, or the only one there is if one question is asked."""
        S = self.frame.S
        return S.get(variable, next(iter(S.values())) if len(S) == len(self.answers.values) == 1 else None)

    def _always(self, variable: str, strata: Bools | None, limits: tuple[float, float] | None) -> tuple[float, float] | None:
        if strata is None or limits is None or not (self.frame.N == np.floor(self.frame.N)).all():
            return None
        low, high = limits
        told, here = self.answers, self.present(variable)
        order = np.arange(len(told)) if told.moment is None else np.argsort(told.moment, kind="stable")
        order = order[here[order]]
        y = (told.values[variable][order] - low) / (high - low)
        binary = variable in told.yes_no and limits == (0.0, 1.0)  # by what was declared, never by the values
        expected, found = self._expected(variable), []
        for h in np.flatnonzero(strata):
            planned = None if self.planned is None or self.planned[h] < 1 else float(self.planned[h])
            guess = None if expected is None else float(expected[h]) / (high - low)
            found.append(Stratum(float(self.frame.N[h]), y[told.stratum[order] == h], planned, binary, guess))
        N = self.frame.N[strata]
        ends = always(found, N / N.sum(), self.delta)
        return low + (high - low) * ends[0], low + (high - low) * ends[1]


def _none(found: Linear, people: float, reach: tuple[float, float]) -> bool:
    """Whether a standard error is 0, but for rounding."""
    return found.se <= NONE * people * max(abs(reach[0]), abs(reach[1]))


def _row(
    what: str,
    variable: str,
    domain: str,
    found: Linear,
    ends: tuple[float, float],
    method: str,
    watched: tuple[float, float] | None,
    missing: int,
) -> Estimate:
    low, high = watched or (None, None)
    return Estimate(
        what,
        variable,
        domain,
        found.estimate,
        found.se,
        found.cv,
        *ends,
        method,
        found.df,
        found.deff,
        low,
        high,
        found.n,
        missing,
    )


def domains(frame: Frame, answers: Answers) -> list[tuple[str, Bools | None, Bools]]:
    """The whole population, the domains of the frame, with their strata, and those that the answers name."""
    everything = np.ones(len(frame), dtype=np.bool_)
    found: list[tuple[str, Bools | None, Bools]] = [("all", everything, np.ones(len(answers), dtype=np.bool_))]
    if frame.domains:
        found += [(name, strata, strata[answers.stratum]) for name, strata in frame.groups()]
    for column, labels in answers.by.items():
        place = np.array(labels)
        names = sorted(set(labels) - {""})
        found += [(f"{column}={name}", None, place == name) for name in names]
    return found
