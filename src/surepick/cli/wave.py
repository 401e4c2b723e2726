"""surepick wave: a survey in waves, what to ask next and what is known so far."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .talk import ROWS, AsJson, emit, number, say, table

if TYPE_CHECKING:
    from ..survey import Estimate, Rehearsal, Wave, Waves


def wave(
    frame: Annotated[
        Path, typer.Argument(metavar="FRAME", help="The strata: a table with columns stratum, N.", show_default=False)
    ],
    answers: Annotated[
        Path | None,
        typer.Argument(
            metavar="[ANSWERS]",
            help="One row a person who was asked: stratum, and a column for every question. Left out: the first wave.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(metavar="B", help="Interviews in all, those of ANSWERS among them.", show_default=False)
    ] = None,
    cost: Annotated[float | None, typer.Option(metavar="C", help="Or: what all may cost.", show_default=False)] = None,
    next_: Annotated[
        int | None,
        typer.Option("--next", metavar="N", help="Interviews of the next wave; a tenth, at first a fifth.", show_default=False),
    ] = None,
    variable: Annotated[str | None, typer.Option(metavar="COLUMN", help="The question, if several.", show_default=False)] = None,
    first: Annotated[str, typer.Option(help="The first wave: auto, known, proportional, root or equal.")] = "auto",
    rule: Annotated[str, typer.Option(help="What is taken for S²: shrunk, optimistic or plug-in.")] = "shrunk",
    lower: Annotated[
        int | None, typer.Option(help="Interviews in every stratum at least; 2 if that can be.", show_default=False)
    ] = None,
    upper: Annotated[int | None, typer.Option(help="Interviews in every stratum at most.", show_default=False)] = None,
    resp_rate: Annotated[
        float | None, typer.Option(metavar="R", help="Response rate, if the frame gives none.", show_default=False)
    ] = None,
    bounds: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH", help="Bounds that hold for all people.", show_default=False)
    ] = None,
    cv: Annotated[
        float | None, typer.Option(metavar="CV", help="Say the chance to reach this in the end.", show_default=False)
    ] = None,
    se: Annotated[float | None, typer.Option(metavar="SE", help="Or this standard error.", show_default=False)] = None,
    delta: Annotated[float, typer.Option(help="Intervals hold with probability 1 - delta each.")] = 0.05,
    out: Annotated[Path | None, typer.Option(metavar="CSV", help="Write the next wave.", show_default=False)] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", "--picture", metavar="PNG", help="Save a picture.", show_default=False)
    ] = None,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Try all rules on a known population instead; takes no ANSWERS.")
    ] = False,
    population: Annotated[
        Path | None,
        typer.Option(metavar="VALUES", help="With --simulate: values of people, by stratum.", show_default=False),
    ] = None,
    waves: Annotated[int, typer.Option(help="With --simulate: waves in all.")] = 9,
    share: Annotated[float, typer.Option(help="With --simulate: the first wave's share of the budget.")] = 0.2,
    runs: Annotated[int, typer.Option(help="With --simulate: surveys.")] = 200,
    seed: Annotated[int, typer.Option(help="With --simulate: where random numbers begin.", min=0)] = 0,
    watch: Annotated[
        bool, typer.Option("--watch", help="With --simulate: also the interval that holds at every moment.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say whom to ask next in a survey that goes on in waves.

    The rest of the budget is planned by the exact optimum with what was collected as lower bounds; the next wave is the part of
    it that gains most. Strata with few answers, or all alike, are judged by the others too. Nobody is asked twice, and all
    answers count.
    """
    from ..errors import SettingError

    ends = None if bounds is None else _bounds(bounds)
    for path in (out, plot):
        if path is not None and any(p.exists() and path.exists() and path.samefile(p) for p in (frame, answers) if p is not None):
            raise SettingError(f"{path} is a table that is read; give another file.")
    if simulate:
        _rehearse(
            frame, answers, budget, cost, population, as_json,
            variable=variable, first=first, share=share, waves=waves, runs=runs, seed=seed, lower=lower,
            watch=watch, bounds=ends, delta=delta,
        )  # fmt: skip
        return
    if population is not None:
        raise SettingError("--population is for --simulate.", key="population")
    from ..lab import save
    from ..survey import Waves

    survey = Waves(
        frame, budget, cost=cost, variable=variable, first=first, rule=rule, lower=lower, upper=upper, resp_rate=resp_rate,
        bounds=ends, delta=delta,
    )  # fmt: skip
    if answers is not None:
        survey.tell(answers)
    made = survey.next(next_)
    known = _known(survey, cv, se)
    written = []
    if out is not None:
        made.to_frame().to_csv(out, index=False)
        written.append(out)
    if plot is not None:
        written.append(save(survey.picture(next_), plot))
    if as_json:
        files = {"frame": str(frame), "answers": None if answers is None else str(answers), "written": list(map(str, written))}
        emit({**made.to_dict(), **{key: value for key, (value, _) in known.items()}, **files})
        return
    _show(made)
    for _, sentences in known.values():
        for sentence in sentences:
            say(sentence)
    for note in made.notes:
        say(note, "yellow")
    if written:
        say(f"Saved {', '.join(map(str, written))}")


def _known(survey: Waves, cv: float | None, se: float | None) -> dict[str, tuple[Any, list[str]]]:
    """The estimate so far, the certificate and the chance: for machines, and in sentences."""
    from ..errors import StudyError

    if survey.answers is None:
        return {
            "estimate": (None, ["Nothing is answered yet: this is the first wave."]),
            "certificate": (None, []),
            "chance": (None, []),
        }
    try:
        found = survey.estimate()
        row = found.find(next(iter({row.variable for row in found})))
        estimate: tuple[Any, list[str]] = (found.to_dict(), [_told(row, survey.delta), *found.notes])
    except StudyError as error:  # strata that nobody has answered in yet
        estimate = (None, [f"No estimate yet. {error}"])
    proof = survey.certificate()
    chance: tuple[Any, list[str]] = (None, [])
    if cv is not None or se is not None:
        part = survey.chance(cv=cv, se=se)
        goal = f"a CV of {cv:g}" if cv is not None else f"a standard error of {se:g}"
        chance = (
            {"cv": cv, "se": se, "chance": part},
            [f"The chance of {goal} when the budget is spent as planned: {100 * part:.0f} %, if what is believed of S is right."],
        )
    return {"estimate": estimate, "certificate": (proof.to_dict(), [proof.sentence]), "chance": chance}


def _told(row: Estimate, delta: float) -> str:
    text = (
        f"{row.variable}, {row.what} so far: {number(row.estimate)}, standard error {number(row.se)}; {100 * (1 - delta):g} %: "
        f"{number(row.lower)} to {number(row.upper)}"
    )
    if row.always_lower is not None and row.always_upper is not None:
        text += f"; at every moment: {number(row.always_lower)} to {number(row.always_upper)}"
    return text + "."


def _show(made: Wave) -> None:
    rate, missing = bool((made.contacts != made.n).any()), bool(made.missing.any())
    columns = ["stratum", "N", "answered", *(["missing"] if missing else []), "next", *(["contacts"] if rate else [])]
    rows = []
    for i, name in enumerate(made.frame.strata[:ROWS]):
        row = [name, f"{made.frame.N[i]:,.10g}", f"{made.answered[i]:,}", *([f"{made.missing[i]:,}"] if missing else [])]
        row += [f"{made.n[i]:,}", *([f"{made.contacts[i]:,}"] if rate else []), f"{made.planned[i]:,}", number(float(made.S[i]))]
        rows.append(row)
    table([*columns, "in the end", "S used"], rows)
    if len(made.frame) > ROWS:
        say(f"{len(made.frame) - ROWS:,} more strata are not shown; --json and --out have them.")
    asked = f" ({made.contacts.sum():,} people to contact)" if rate else ""
    say(
        f"Next: {made.n.sum():,} interviews{asked}, after {made.answered.sum():,} of {made.planned.sum():,}."
        if made.n.any()
        else f"Done: {made.answered.sum():,} answers; nothing is left to ask.",
        "bold",
    )


def _rehearse(
    frame: Path,
    answers: Path | None,
    budget: int | None,
    cost: float | None,
    population: Path | None,
    as_json: bool,
    **settings: Any,
) -> None:
    from ..errors import SettingError
    from ..survey import rehearse

    if answers is not None:
        raise SettingError("--simulate takes no answers; values of people are given by --population.", key="answers")
    if budget is None or cost is not None:
        raise SettingError("--simulate takes --budget, a number of interviews.", key="budget")
    found = rehearse(frame, budget, population, **settings)
    if as_json:
        emit({"frame": str(frame), "budget": budget, **found.to_dict()})
        return
    _show_rehearsal(found, budget)


def _show_rehearsal(found: Rehearsal, budget: int) -> None:
    watched = any(row.always_covered is not None for row in found.rows)
    columns = ["split", "variance over best", "19 of 20 below", "bias / SE", "interval right"]
    rows = []
    for row in found.rows:
        cells = [row.method, f"{row.ratio:.3f} ± {row.ratio_se:.3f}", f"{row.worst:.3f}", f"{row.bias:+.2f} ± {row.bias_se:.2f}"]
        cells.append(f"{100 * row.covered:.1f} %")
        if watched:
            cells.append("–" if row.always_covered is None else f"{100 * row.always_covered:.1f} %")
        rows.append(cells)
    table([*columns, *(["at every moment"] if watched else [])], rows)
    best = min(found.rows, key=lambda row: row.error)
    say(
        f"{found.runs:,} surveys of {budget:,} interviews in {found.waves} waves on {found.source}. The best split, by the true "
        f"S, has a standard error of {number(found.best_se)}."
    )
    say(f"Least error here, variance and squared bias: {best.method}.", "bold")


def _bounds(text: str) -> tuple[float, float]:
    from ..errors import SettingError

    low, sign, high = text.rpartition("=")[2].partition(":")
    try:
        if not sign:
            raise ValueError
        return float(low), float(high)
    except ValueError:
        raise SettingError(f"--bounds {text}: write two numbers, such as 0:20000.", key="bounds") from None
