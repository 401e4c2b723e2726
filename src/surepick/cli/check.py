"""surepick check: what observations certify, and what to sample next."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Dependent
from .talk import AsJson, File, Plot, about, emit, plain, save_pictures, say, show_certificate, table

if TYPE_CHECKING:
    from ..explorer import Explorer
    from ..problems import Problem
    from ..study import Replayed
    from ..study.tables import Table

PLANNED = 100  # samples, unless told
FEWEST = 10  # values of an arm from which its deviation is taken seriously
ASSUMED = (
    "The column N is taken as how many people a stratum has, each of whom is asked once: finite = true in the study says so, "
    "finite = false that people may be asked again, or that N are shares."
)
WIDE = 50.0  # standard deviations in a declared range, above which another kind is suggested


def check(
    file: File,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DATA.csv]",
            help="One row an observation: columns arm (or stratum, variant), value, and order (or time, date) if known. Left "
            "out, or a header without rows: nothing is observed yet.",
            show_default=False,
        ),
    ] = None,
    next_: Annotated[
        int | None,
        typer.Option("--next", metavar="N", min=0, help="How many samples to plan; 100 unless told.", show_default=False),
    ] = None,
    next_cost: Annotated[
        float | None, typer.Option("--next-cost", metavar="C", min=0, help="Plan what this cost pays for.", show_default=False)
    ] = None,
    arm: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column with the arms.", show_default=False)] = None,
    value: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column with the values.", show_default=False)] = None,
    order: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column with the order.", show_default=False)] = None,
    row: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column that says what was observed together.", show_default=False)
    ] = None,
    dependent: Dependent = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Say what observations certify, and what to sample next.

    With a column order (or time, date) every moment is judged once, so that a certificate once reached stays. It is the time
    at which a value was told, not that of the visit: nothing is added later to a moment that has been judged. Values with the
    same entry in a column row were observed together, which needs dependent = true in the study, or --dependent.

    The plan says how many of the next N samples to take of each arm, or with --next-cost of as many as that cost pays for; it
    changes when their values are in. Without DATA.csv it is the first wave.
    """
    from ..errors import SettingError, StudyError
    from ..study import Replayed, asked_once, load, read_table, tell_table

    if next_ is not None and next_cost is not None:
        raise SettingError("--next says how many samples to plan, and --next-cost what they may cost: give one of the two.")
    many = PLANNED if next_ is None else next_
    spec, assumed = asked_once(load(file).replace(dependent=dependent))
    explorer = spec.explorer()
    told = Replayed(None, 0, None, 0, [])
    if data is not None:
        observed = read_table(data, empty=True).naming(arm=arm, value=value, order=order, row=row)
        try:
            told = tell_table(explorer, observed)
        except StudyError as error:
            if assumed and _more_than_there_are(observed, spec.problem):
                raise StudyError(f"{error} {ASSUMED}") from None
            raise
    certificate = explorer.certificate()
    plan = explorer.plan(cost=next_cost) if next_cost is not None else explorer.plan(many) if many else {}
    total: float | None = None
    if explorer.started and not certificate.certified:
        from .watch import estimate_total

        total = estimate_total(explorer)
    left = None if total is None else max(total - explorer.samples, 0.0)
    pictures: list[str] = []
    if plot is not None:
        pictures = save_pictures(certificate, plot, spec.title, spec.problem.parameter.name, explorer=explorer)
    wide = wide_ranges(explorer)
    if as_json:
        emit(
            {
                "file": str(file),
                "data": None if data is None else str(data),
                "title": spec.title,
                "problem": spec.problem.kind,
                "certificate": certificate.to_dict(),
                "order": told.column,
                "moments": told.moments,
                "certified_at": told.certified_at,
                "later": told.later,
                "unused_columns": told.unused,
                "asked_once": assumed or spec.problem.finite,
                "next": plan,
                "expected_left": plain(left),
                "wide_ranges": {name: plain(many) for name, many in wide.items()},
                "pictures": pictures,
            }
        )
        return
    show_certificate(certificate, spec.title)
    if not explorer.samples:
        say("Nothing is observed yet: the plan is the first wave.")
    elif spec.problem.pool is None:
        say(_judged(told))
    else:
        say(f"Judged item by item, in the order of seed {spec.problem.pool.seed}.")
    if assumed:
        say(ASSUMED)
    if told.unused:
        say(
            f"Not used: column{'s' if len(told.unused) > 1 else ''} {', '.join(told.unused)}. Values that were observed "
            "together, on one person or one day, say so by the same entry in a column row; --row names it if it is called "
            "otherwise."
        )
    if plan:
        planned = sum(plan.values())
        paid = sum(n * spec.problem.costs[spec.problem.index[name]] for name, n in plan.items())
        say(f"Plan for the next {planned:,} samples{f', which cost {paid:,.12g}' if spec.problem.priced else ''}:")
        table(["arm", "samples"], [(str(name), f"{n:,}") for name, n in plan.items()])
    elif next_cost is not None and not explorer.done:
        say(f"A cost of {next_cost:g} pays for no sample.")
    elif not certificate.certified and many:
        what = f"{spec.budget:,} samples" if spec.budget is not None else f"{spec.cost_budget:g} in cost"
        say(f"The budget of {what} is spent; raise it in {file} to go on.")
    if spec.spend and left:
        say(f"The whole budget is to be spent: {left:,.0f} samples are left.")
    elif left is not None and math.isinf(left):
        say("The estimates tie, so there is no forecast of the samples needed yet.")
    elif left is not None:
        say(f"If the estimates are right, about {about(left)} more samples are needed." if left else "It is a close call.")
    if wide:
        say(_suggested(wide, spec.problem.parameter.name == "mean" and not spec.problem.finite))
    for picture in pictures:
        say(f"Saved {picture}")


def _more_than_there_are(observed: Table, problem: Problem) -> bool:
    """The table has more rows of an arm than its population."""
    from collections import Counter

    rows = Counter(observed.texts("arm"))
    return any(rows[str(arm.name)] > arm.size for arm in problem.arms)


def wide_ranges(explorer: Explorer) -> dict[str, float]:
    """How many standard deviations the declared ranges of arms are wide, by name, of those with more than 50; infinite where all
    values are equal."""
    from ..estimators import Moments

    record, found = explorer.record, {}
    if isinstance(record, Moments):
        for i, arm in enumerate(explorer.problem.arms):
            if arm.kind == "bounded" and FEWEST <= record.counts[i] < arm.size:
                sd = math.sqrt(record.squares[i] / (record.counts[i] - 1))
                if arm.high - arm.low > WIDE * sd:
                    found[str(arm.name)] = (arm.high - arm.low) / sd if sd > 0.0 else math.inf
    return found


def _suggested(wide: dict[str, float], unbounded: bool) -> str:
    """What to declare in the next study."""
    name, widest = max(wide.items(), key=lambda item: item[1])
    many = f"more than {WIDE:g}" if math.isinf(widest) else f"{widest:,.0f}"
    others = f" (and those of {len(wide) - 1} more arms, above {WIDE:g})" if len(wide) > 1 else ""
    normal = ' kind = "normal" if values are normally distributed, without bounds;' if unbounded else ""
    return (
        f"The declared range of {name} is {many} standard deviations of its values wide{others}, which costs samples. For the "
        f"next study: tighter bounds, if no value can ever pass them;{normal} or a transform that has tighter ones, such as a "
        "share or a capped value. Not for these data: a declaration must not be chosen by the values that it is to judge."
    )


def _judged(told: Replayed) -> str:
    """At which moments the observations were judged."""
    if told.column is None:
        return (
            "Judged as one moment: no column (order, time or date) says when each observation was told, so this is what they "
            "certify together, now."
        )
    each = "the 1 moment" if told.moments == 1 else f"each of the {told.moments:,} moments"
    judged = f"Judged at {each} of column {told.column!r}"
    if told.certified_at is None:
        return f"{judged}."
    if told.later == 0:
        return f"{judged}; certified at {told.certified_at}, the last one: that stays if no more is added to it."
    return f"{judged}; certified at {told.certified_at}. {told.later:,} later observations do not change that."
