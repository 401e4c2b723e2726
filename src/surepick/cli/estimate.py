"""surepick estimate: from the answers of a survey to figures of the population."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .talk import AsJson, emit, number, say, table

if TYPE_CHECKING:
    from ..survey import Estimate


def estimate(
    frame: Annotated[Path, typer.Argument(metavar="FRAME.csv", help="Columns stratum and N; domain, S.", show_default=False)],
    answers: Annotated[
        Path,
        typer.Argument(metavar="ANSWERS.csv", help="One row a person: stratum, and a column a question.", show_default=False),
    ],
    variable: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A question; may be repeated.  [default: all]", show_default=False)
    ] = None,
    ratio: Annotated[
        list[str] | None, typer.Option(metavar="A/B", help="Total A over total B; may be repeated.", show_default=False)
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column of domains of the answers.", show_default=False)
    ] = None,
    delta: Annotated[float, typer.Option(help="Every interval holds with probability 1 - delta.")] = 0.05,
    bounds: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=LOW:HIGH", help="Between what all values of a question lie.", show_default=False),
    ] = None,
    df: Annotated[str, typer.Option(metavar="RULE", help="Degrees of freedom: satterthwaite or n-H.")] = "satterthwaite",
    weights: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Save the answers with weights.", show_default=False)
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="CSV", help="Save the estimates.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate means, shares, totals and ratios from the answers of a stratified sample.

    Standard errors are corrected for a finite population. The first interval is the classical one, for one look at a sample whose
    size was fixed before; "at every moment" is one that stays right however often it is looked at, and whenever the survey stops.
    Missing answers are empty cells; those who answered stand for them, within their stratum.
    """
    from ..errors import SettingError
    from ..survey import estimate as made
    from ..survey.writing import write_csv

    for path in (weights, out):
        if path is not None and any(path.exists() and path.samefile(other) for other in (frame, answers) if other.exists()):
            raise SettingError(f"{path} is a table that is read; give another file.")
    pairs = [_pair(text) for text in ratio or []]
    found = made(
        frame, answers, variable or None, ratios=pairs, by=by or [], delta=delta, df=df, bounds=dict(map(_bounds, bounds or []))
    )  # fmt: skip
    for path, rows in ((weights, found.weights_frame), (out, found.to_frame)):
        if path is not None:
            write_csv(rows(), path)
    if as_json:
        files = {"weights": None if weights is None else str(weights), "out": None if out is None else str(out)}
        emit({"frame": str(frame), "answers": str(answers), **found.to_dict(), **files})
        return
    always = any(row.always_lower is not None for row in found)
    table(
        [
            *("variable", "figure", "domain", "estimate", "se", f"{100 * (1 - delta):g} %"),
            *(["at every moment"] if always else []),
            *("deff", "answers"),
        ],
        [
            (
                row.variable,
                row.what,
                row.domain,
                number(row.estimate),
                number(row.se),
                f"{number(row.lower)} to {number(row.upper)}",
                *([_watched(row)] if always else []),
                "–" if row.deff is None else f"{row.deff:.2f}",
                f"{row.n:,}",
            )
            for row in found
        ],
    )
    for note in found.notes:
        say(note)
    for path in (weights, out):
        if path is not None:
            say(f"Saved {path}")


def _watched(row: Estimate) -> str:
    if row.always_lower is None or row.always_upper is None:
        return "–"
    return f"{number(row.always_lower)} to {number(row.always_upper)}"


def _pair(text: str) -> tuple[str, str]:
    from ..errors import SettingError

    above, sign, below = text.partition("/")
    if not (sign and above.strip() and below.strip()):
        raise SettingError(f"--ratio {text}: write two columns with a slash between them, such as income/hours.")
    return above.strip(), below.strip()


def _bounds(text: str) -> tuple[str, tuple[float, float]]:
    from ..errors import SettingError

    column, _, ends = text.rpartition("=")
    low, sign, high = ends.partition(":")
    try:
        if not (column and sign):
            raise ValueError
        return column, (float(low), float(high))
    except ValueError:
        raise SettingError(f"--bounds {text}: write the column and its bounds, such as income=0:20000.") from None
