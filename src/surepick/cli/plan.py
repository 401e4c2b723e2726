"""surepick plan: from the frame of a survey to the number of interviews in each stratum."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .talk import ROWS, AsJson, emit, number, say, table
from .talk import plain as known

if TYPE_CHECKING:
    from ..survey import Plan

FORM = "0.02, or income=0.02,age=0.05, or income:North=0.03"


def plan(
    frame: Annotated[
        Path,
        typer.Argument(metavar="FRAME", help="The strata: CSV, Excel or Parquet with columns stratum, N, S.", show_default=False),
    ],
    cv: Annotated[
        str | None, typer.Option(metavar="CV", help=f"Coefficient of variation to reach: {FORM}.", show_default=False)
    ] = None,
    se: Annotated[str | None, typer.Option(metavar="SE", help="Or the standard error.", show_default=False)] = None,
    moe: Annotated[str | None, typer.Option(metavar="MOE", help="Or the margin of error.", show_default=False)] = None,
    variance: Annotated[str | None, typer.Option(metavar="V", help="Or the variance of the mean.", show_default=False)] = None,
    budget: Annotated[
        int | None, typer.Option(metavar="N", help="Or: how many interviews there are.", show_default=False)
    ] = None,
    cost: Annotated[float | None, typer.Option(metavar="C", help="Or: what all may cost.", show_default=False)] = None,
    confidence: Annotated[float, typer.Option(help="Of the margin of error.")] = 0.95,
    lower: Annotated[int, typer.Option(help="Interviews in every stratum at least.")] = 1,
    upper: Annotated[int | None, typer.Option(help="Interviews in every stratum at most.", show_default=False)] = None,
    max_weight: Annotated[
        float | None, typer.Option(metavar="W", help="People that an interview stands for at most.", show_default=False)
    ] = None,
    resp_rate: Annotated[
        float | None, typer.Option(metavar="R", help="Response rate, if the frame gives none.", show_default=False)
    ] = None,
    deff: Annotated[
        float | None, typer.Option(metavar="D", help="Design effect, if the frame gives none.", show_default=False)
    ] = None,
    variable: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Plan for this variable; may be repeated.", show_default=False)
    ] = None,
    method: Annotated[str, typer.Option(help="optimum; to compare: proportional, power or equal.")] = "optimum",
    power: Annotated[float, typer.Option(help="Of N, with --method power.")] = 0.5,
    with_replacement: Annotated[
        bool, typer.Option("--with-replacement", help="People may be asked again; no finite population correction.")
    ] = False,
    two_stage: Annotated[bool, typer.Option("--two-stage", help="Primary units first: columns delta, psu_cost, psus.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the plan: .csv or .xlsx.", show_default=False)] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Also show proportional, power and equal allocation.")] = False,
    report: Annotated[Path | None, typer.Option(metavar="HTML", help="Write a page to hand in.", show_default=False)] = None,
    picture: Annotated[Path | None, typer.Option(metavar="PNG", help="Save a picture.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Plan how many people to ask in each stratum of a survey.

    For a target the plan is the cheapest that reaches it, for a number of interviews or a cost the most precise. Nobody is
    asked twice.
    """
    from ..errors import SettingError
    from ..lab import save
    from ..survey import plan as make
    from ..survey import read_frame
    from ..survey.plan import METHODS

    for path in (out, report, picture):
        if path is not None and path.exists() and frame.exists() and path.samefile(frame):
            raise SettingError(f"{path} is the frame itself; give another file.")
    strata = read_frame(frame)
    targets = {"cv": cv, "se": se, "moe": moe, "variance": variance}
    settings: dict[str, Any] = dict(
        budget=budget, cost=cost, confidence=confidence, lower=lower, upper=upper, max_weight=max_weight,
        resp_rate=resp_rate, deff=deff, variables=variable, finite=not with_replacement, two_stage=two_stage,
        power=power, **{kind: _target(f"--{kind}", text) for kind, text in targets.items() if text is not None},
    )  # fmt: skip
    made = make(strata, method=method, **settings)
    others = {name: make(strata, method=name, **settings) for name in METHODS} if compare else {}
    written = [] if out is None else [made.write(out)]
    written += [] if report is None else [made.report(report)]
    written += [] if picture is None else [save(made.picture(), picture)]
    if as_json:
        beside = {
            name: {"n": int(one.n.sum()), "cost": one.cost, "se": one.overall[0].se, "cv": known(one.overall[0].cv)}
            for name, one in others.items()
        }
        more = {"compare": beside} if compare else {}
        emit({**made.to_dict(), "file": str(frame), "written": [str(path) for path in written], **more})
        return
    _show(made)
    if others:
        table(
            ["allocation", "interviews", "cost", "standard error", "CV"],
            [
                (name, f"{one.n.sum():,}", f"{one.cost:,.10g}", number(one.overall[0].se), number(one.overall[0].cv))
                for name, one in others.items()
            ],
        )
    if written:
        say(f"Saved {', '.join(map(str, written))}")


def _target(option: str, text: str) -> Any:
    """0.02, income=0.02,age=0.05, or income:North=0.03."""
    from ..errors import SettingError

    found: dict[str, Any] = {}
    for part in text.split(","):
        name, _, figure = part.rpartition("=")
        try:
            value = float(figure)
        except ValueError:
            raise SettingError(f"{option} {text}: {figure!r} is not a number; write {FORM}.", key=option) from None
        if not name:
            if "," in text:
                raise SettingError(f"{option} {text}: decimals have a point; say what each number is for, {FORM}.", key=option)
            return value
        variable, colon, domain = name.strip().partition(":")
        if colon and isinstance(found.setdefault(variable, {}), dict) and domain not in found[variable]:
            found[variable][domain] = value
        elif not colon and variable not in found:
            found[variable] = value
        else:
            raise SettingError(f"{option} {text}: there are two targets for {name.strip()!r}.", key=option)
    return found


def _show(made: Plan) -> None:
    from ..survey.tables import reached_table, strata_table

    strata = len(made.frame)
    table(*strata_table(made, ROWS))
    if strata > ROWS:
        say(f"{strata - ROWS:,} more strata are not shown; --json, --out and --report have them.")
    cost = f", cost {made.cost:,.10g}" if made.priced else ""
    asked = f", {made.fielded.sum():,} people to contact" if (made.fielded != made.n).any() else ""
    say(f"{made.n.sum():,} interviews{asked}{cost}. {made.guarantee}", "bold")
    columns, rows = reached_table(made)
    table(columns, rows[:ROWS])
    if len(rows) > ROWS:
        say(f"{len(rows) - ROWS:,} more are not shown; --json has them all.")
    for change in made.changes:
        say(change)
    for note in made.notes:
        say(note, "yellow")
