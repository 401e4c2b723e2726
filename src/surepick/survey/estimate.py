"""From answers to estimates: means, totals, shares and ratios, by domain, with intervals at one moment and at every moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arms import Floats
from ..checks import number, short
from ..display import listed
from ..errors import SettingError
from .answers import read_answers
from .estimates import Estimate, Estimates
from .frame import read_frame
from .rows import Rows, domains
from .told import bounds_of, planned_in, planned_of, refuse_shares, refuse_unknown

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
    refuse_shares(strata)
    by = [by] if isinstance(by, str) else list(by)
    told = read_answers(answers, strata, None if variables is None else _all_named(variables, ratios), by)
    asked = list(told.values) if variables is None else list(variables)
    refuse_unknown(dict.fromkeys(name for pair in ratios for name in pair), list(told.values), "ratios", told.cells.source)
    if isinstance(bounds, Mapping):
        refuse_unknown(bounds, asked, "bounds", told.cells.source)
    limits = {variable: bounds_of(variable, told, bounds) for variable in asked}
    goal = planned_of(planned_in(frame, strata) if planned is None else planned, strata)
    work = Rows(strata, told, goal, delta, df)
    rows, notes, weights = list[Estimate](), list[str](), dict[str, Floats]()
    groups = domains(strata, told)
    for variable in asked:
        design, here = work.design(variable)
        w = np.zeros(len(told))
        w[here] = design.weight
        weights[variable] = w
        notes += work.notes_of(variable)
        for name, by_stratum, inside in groups:
            rows += work.of(variable, name, by_stratum, inside, limits[variable])
    for above, below in ratios:
        notes += work.notes_of(above, below)
        for name, _, inside in groups:
            rows += work.ratio(above, below, name, inside)
    notes += work.said
    if told.ignored:
        notes.append(f"Not used, since they hold no numbers: {listed(list(told.ignored))}.")
    unbounded = [variable for variable in asked if limits[variable] is None]
    if unbounded:
        first = unbounded[0]
        low, high = ("0", "1") if told.binary(first) else ("low", "high")
        notes.append(
            f"Without bounds there is no interval that holds at every moment for {listed(unbounded)}: give "
            f"bounds={{{first!r}: ({low}, {high})}}, or --bounds {first}={low}:{high} on the command line."
        )
    return Estimates(rows, list(dict.fromkeys(notes)), weights, delta, told)


def _all_named(variables: Sequence[str], ratios: Sequence[tuple[str, str]]) -> list[str]:
    return list(dict.fromkeys([*variables, *(name for pair in ratios for name in pair)]))
