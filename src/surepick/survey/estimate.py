"""From answers to estimates: means, totals, shares and ratios, by domain, with intervals at one moment and at every moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arms import Bools, Floats
from ..checks import number, numbers, short
from ..display import listed
from ..errors import SettingError, StudyError
from .answers import NAMED, Answers, read_answers
from .anytime import Stratum, always
from .cells import read_cells
from .classical import Design, Linear, all_alike, logit_interval, ratio, t_interval, total
from .estimates import Estimate, Estimates
from .figures import Figures
from .frame import Frame, read_frame

NONE = 1e-12  # a standard error, as a part of the values, that is rounding
RULES = ("satterthwaite", "n-H")


def estimate(
    frame: object,
    answers: object,
    variables: Sequence[str] | None = None,
    *,
    ratios: Sequence[tuple[str, str]] = (),
    by: str | Sequence[str] = (),
    delta: float = 0.05,
    bounds: tuple[float, float] | Mapping[str, tuple[float, float]] | None = None,
    planned: object = None,
    df: str = "satterthwaite",
) -> Estimates:
    """Estimate means, shares, totals and ratios of a population from a stratified sample without replacement.

    Parameters
    ----------
    frame : path, data frame, dictionary of columns, or Frame
        The strata, of which ``stratum`` and ``N`` are used, the columns of domains, and ``S`` as a first guess of how much values
        vary.
    answers : path, data frame or dictionary of columns
        One row a person: ``stratum``, and a column for every question. An empty cell is an answer that is missing. A column
        ``id`` (or ``person``) says who it was, so that nobody counts twice; ``wave`` (or ``order``, ``date``, ``time``) when.
    variables : list of str, optional
        The questions; by default all other columns of numbers, or of yes and no.
    ratios : list of pairs, optional
        ``("income", "hours")`` is total income over total hours.
    by : str or list of str, optional
        Columns of the answers that say which domain a person belongs to. Domains of the frame are always there.
    delta : float
        Every interval holds with probability 1 - delta, on its own.
    bounds : pair, or dict of pairs by variable, optional
        Between what all values of the population lie; for answers of yes and no (words, or truth values) they need not be
        given. Without them there is no interval that holds at every moment.
    planned : list of int, or dict by stratum, optional
        How many interviews every stratum is to have in the end, fixed before the first answer. The interval that holds at every
        moment is narrowest there, and it is valid whatever is planned. By default the column ``n`` of the frame, if it has one.
    df : str
        Degrees of freedom: ``"satterthwaite"``, which counts strata by their part of the variance, or ``"n-H"``, answers minus
        strata.

    Notes
    -----
    A missing answer is made up for by the answers of its stratum, each of which then stands for N_h / r_h people, r_h being those
    who answered the question: right if, within a stratum, who answers does not hang on the answer.

    Examples
    --------
    >>> from surepick import survey
    >>> frame = {"stratum": ["north", "south"], "N": [400, 600]}
    >>> answers = {"stratum": ["north"] * 4 + ["south"] * 4, "reads": [1, 1, 0, 1, 0, 0, 1, 0]}
    >>> found = survey.estimate(frame, answers).find("reads")
    >>> round(found.estimate, 3), round(found.se, 4)
    (0.45, 0.1796)
    """
    delta = number(delta, "delta", "between 0 and 1", lambda x: 0 < x < 1)
    if df not in RULES:
        raise SettingError(f"df must be one of {listed(list(RULES))}, not {short(df)}.", key="df")
    strata = read_frame(frame)
    _refuse_shares(strata)
    by = [by] if isinstance(by, str) else list(by)
    told = read_answers(answers, strata, None if variables is None else _all_named(variables, ratios), by)
    asked = list(told.values) if variables is None else list(variables)
    limits = {variable: _bounds(variable, told, bounds) for variable in asked}
    goal = _planned(_planned_in(frame, strata) if planned is None else planned, strata)
    work = _Work(strata, told, goal, delta, df)
    rows, notes, weights = list[Estimate](), list[str](), dict[str, Floats]()
    domains = _domains(strata, told)
    for variable in asked:
        design, here = work.design(variable)
        w = np.zeros(len(told))
        w[here] = design.weight
        weights[variable] = w
        notes += work.notes_of(variable)
        for name, by_stratum, inside in domains:
            rows += work.of(variable, name, by_stratum, inside, limits[variable])
    for above, below in ratios:
        notes += work.notes_of(above, below)
        rows += [row for name, _, inside in domains if (row := work.ratio(above, below, name, inside)) is not None]
    notes += work.said
    if told.ignored:
        notes.append(f"Not used, since they hold texts: {listed(list(told.ignored))}.")
    unbounded = [variable for variable in asked if limits[variable] is None]
    if unbounded:
        first = unbounded[0]
        low, high = ("0", "1") if told.binary(first) else ("low", "high")
        notes.append(
            f"Without bounds there is no interval that holds at every moment for {listed(unbounded)}: give "
            f"bounds={{{first!r}: ({low}, {high})}}, or --bounds {first}={low}:{high} on the command line."
        )
    return Estimates(rows, list(dict.fromkeys(notes)), weights, delta, told)


class _Work:
    """What all estimates share."""

    def __init__(self, frame: Frame, answers: Answers, planned: Floats | None, delta: float, rule: str) -> None:
        self.frame, self.answers, self.planned, self.delta, self.rule = frame, answers, planned, delta, rule
        self.said = list[str]()

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
        whole = total(design, y, within, self.rule)
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
        people = float(self.frame.N[by_stratum].sum()) if by_stratum is not None else None
        ends, how = t_interval(whole, self.delta), "t"
        everybody = float(self.frame.N.sum())
        if reach is not None and _none(whole, everybody, reach):  # all others count as 0
            span = min(reach[0], 0.0), max(reach[1], 0.0)
            low, high = all_alike(design, np.where(within, y, 0.0), np.ones(len(y), dtype=np.bool_), self.delta, *span)
            ends, how = (low * everybody, high * everybody), "all alike"
        if people is not None:  # whole strata: the total is so many times the mean
            ends, how = (lower * people, upper * people), method
        always_total = None if watched is None or people is None else (watched[0] * people, watched[1] * people)
        return [
            _row("share" if share else "mean", variable, domain, middle, (lower, upper), method, watched, missing),
            _row("total", variable, domain, whole, ends, how, always_total, missing),
        ]

    def ratio(self, above: str, below: str, domain: str, inside: Bools) -> Estimate | None:
        design, here = self.design(above, below)
        y, x = self.answers.values[above][here], self.answers.values[below][here]
        found = ratio(design, y, x, inside[here], self.rule)
        if found is None:
            return None
        missing = int((inside & ~here).sum())
        return _row("ratio", f"{above} / {below}", domain, found, t_interval(found, self.delta), "t", None, missing)

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


def _domains(frame: Frame, answers: Answers) -> list[tuple[str, Bools | None, Bools]]:
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


def _bounds(
    variable: str, answers: Answers, given: tuple[float, float] | Mapping[str, tuple[float, float]] | None
) -> tuple[float, float] | None:
    """Between what the values lie; yes and no need not say so, but numbers that were 0 and 1 so far may be others later."""
    pair: Any = given.get(variable) if isinstance(given, Mapping) else given
    if pair is None:
        return (0.0, 1.0) if variable in answers.yes_no else None
    ends = numbers(pair)
    if ends is None or ends.shape != (2,) or not np.isfinite(ends).all() or not ends[0] < ends[1]:
        raise SettingError(f"bounds of {variable!r} must be a pair (low, high), not {short(pair)}.", key="bounds")
    y = answers.values[variable]
    outside = np.flatnonzero((y < ends[0]) | (y > ends[1]))
    if len(outside):
        i = int(outside[0])
        wrong = f"{y[i]:.10g} lies outside the bounds {ends[0]:g} to {ends[1]:g}; give bounds that hold for all people"
        answers.cells.fail(i, variable, wrong)
    return float(ends[0]), float(ends[1])


def _planned_in(source: object, frame: Frame) -> object:
    """The column ``n`` that a plan leaves beside N."""
    if isinstance(source, Frame):
        return None
    cells = read_cells(source)
    if not ("n" in cells.titles and "N" in cells.titles):
        return None
    return cells.numbers(cells.titles.index("n"), Figures())


def _planned(planned: object, frame: Frame) -> Floats | None:
    if planned is None:
        return None
    if isinstance(planned, Mapping):
        unknown = [name for name in planned if name not in frame.index]
        if unknown:
            raise SettingError(f"planned names a stratum {unknown[0]!r} that the frame has not.", key="planned")
        planned = [planned.get(name, 0) for name in frame.strata]
    found = numbers(planned)
    if found is None or found.shape != (len(frame),) or not (np.isfinite(found) & (found >= 0)).all():
        raise SettingError(f"planned must be a number of interviews for each of the {len(frame)} strata, not {short(planned)}.")
    return np.minimum(found, frame.N)


def _all_named(variables: Sequence[str], ratios: Sequence[tuple[str, str]]) -> list[str]:
    return list(dict.fromkeys([*variables, *(name for pair in ratios for name in pair)]))


def _refuse_shares(frame: Frame) -> None:
    for h in np.flatnonzero(frame.N != np.floor(frame.N)):
        raise StudyError(
            f"{frame.place(int(h))}: N = {frame.N[h]:.10g} is no number of people; totals and the correction for a finite "
            "population need them.",
            key="N",
        )
