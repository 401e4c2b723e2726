"""surepick allocate: split a survey's interviews over strata whose variances are known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .talk import AsJson, emit, number, plain, plain_list, say, table

if TYPE_CHECKING:
    from ..arms import Floats


def allocate(
    strata: Annotated[
        Path,
        typer.Argument(
            metavar="STRATA", help="CSV, Excel or Parquet with columns stratum, N, and S or variance.", show_default=False
        ),
    ],
    budget: Annotated[int, typer.Option(metavar="K", help="Interviews in all.", show_default=False)],
    lower: Annotated[
        int | None, typer.Option(help="Interviews in every stratum at least.  [default: 1]", show_default=False)
    ] = None,
    upper: Annotated[int | None, typer.Option(help="Interviews in every stratum at most.", show_default=False)] = None,
    cap_at_size: Annotated[
        bool,
        typer.Option("--cap-at-size/--repeats", help="Ask nobody twice (the default), or let sizes be shares or weights."),
    ] = True,
    s_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column of standard deviations, if not S.", show_default=False)
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="CSV", help="Write the allocation there.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Split a survey's interviews over its strata.

    The allocation is the one at which the estimated population mean varies least, exactly. N is how many people a stratum has,
    and nobody is asked twice; the standard error is corrected for that. With --repeats people may be asked again, or sizes are
    shares or weights: no stratum is ever full, and nothing is corrected.
    The table may also have columns lower and upper with bounds of its own for every stratum, which --lower and --upper replace.
    """
    import numpy as np

    from .. import problems
    from ..display import listed
    from ..errors import SettingError, StudyError, SurepickError
    from ..problems.allocate import even_out, unrounded
    from ..study import table_variances
    from ..survey.strata import read_strata

    if lower is not None and lower < 1:
        raise SettingError(f"--lower must be at least 1, not {lower}: a stratum with no interviews has no estimate.")
    if budget < 1:
        raise SettingError(f"--budget must be a whole number of interviews of at least 1, not {budget}.")
    if out is not None and out.exists() and out.samefile(strata):
        raise SettingError(f"--out {out} is the table of strata itself; give another file.")
    rows = read_strata(strata, s_column)
    names = rows.names("stratum")
    sizes = np.array(rows.sizes("N", "which is the size of every stratum"))
    if s_column is None and not (rows.has("S") or rows.has("variance")):
        raise StudyError(
            f"{strata}, line 1: there is no column S or variance; say with --s-column which one holds the standard deviations. "
            f"The columns are {', '.join(rows.header)}."
        )
    variances = table_variances(rows, s_column)

    def bound(option: int | None, column: str) -> int | list[int] | None:
        if option is None and rows.has(column):
            return rows.wholes(column)
        return option

    if cap_at_size:
        for i, size in enumerate(sizes.tolist()):
            if size != int(size):
                rows.fail(i, "N", f"{size!r} is no number of people; if sizes are shares or weights, say --repeats")
    given_least, given_most = bound(lower, "lower"), bound(upper, "upper")
    least = np.full(len(rows), 1) if given_least is None else np.broadcast_to(given_least, len(rows)).copy()
    most = np.full(len(rows), budget) if given_most is None else np.broadcast_to(given_most, len(rows)).copy()
    if cap_at_size:
        most = np.minimum(most, sizes).astype(np.int64)
        if lower is not None:
            least = np.minimum(least, sizes).astype(np.int64)
    for row in np.flatnonzero(most < least).tolist() if cap_at_size or given_most is not None else ():
        column = "N" if most[row] == sizes[row] else "upper" if rows.has("upper") else "stratum"
        rows.fail(row, column, f"interviews: at most {most[row]}, but at least {least[row]}; lower one or raise the other")
    most = np.maximum(most, least)
    try:
        interviews = even_out(sizes, variances, problems.allocate(sizes, variances, budget, lower=least, upper=most), least, most)
    except StudyError:
        raise
    except SurepickError as error:
        raise StudyError(f"{strata}: {error}") from None

    people = sizes if cap_at_size else np.full(len(sizes), np.inf)
    deviations = np.sqrt(variances)
    spread = sizes / sizes.sum() * deviations

    def error_with(split: Floats) -> float:
        return float(np.sqrt((spread**2 * (1.0 - split / people) / split).sum()))  # never a difference of large numbers

    neyman = unrounded(sizes, variances, float(min(budget, most.sum())), least, most)
    error_of_mean, ideal = error_with(interviews.astype(np.float64)), error_with(neyman)
    whole = [name for name, y, n in zip(names, interviews, people, strict=True) if y == n]
    if out is not None:
        _write(out, names, sizes, deviations, interviews, neyman)
    if as_json:
        emit(
            {
                "file": str(strata),
                "budget": budget,
                "strata": names,
                "N": plain_list(sizes),
                "S": plain_list(deviations),
                "interviews": interviews.tolist(),
                "unspent": budget - int(interviews.sum()),
                "neyman": plain_list(neyman),
                "standard_error": plain(error_of_mean),
                "standard_error_neyman": plain(ideal),
                "finite_population": cap_at_size,
                "taken_whole": whole,
                "out": None if out is None else str(out),
            }
        )
        return
    table(
        ["stratum", "N", "S", "interviews", "unrounded"],
        [
            (name, f"{n:,.10g}", number(s), f"{y:,}", f"{z:,.2f}")
            for name, n, s, y, z in zip(names, sizes, deviations, interviews, neyman, strict=True)
        ],
    )
    kind = "corrected for a finite population" if cap_at_size else "without correction for a finite population"
    say(f"{interviews.sum():,} interviews. Standard error of the estimated mean: {number(error_of_mean)} ({kind}).", "bold")
    if ideal < error_of_mean:
        say(f"With fractions of an interview, within the same bounds: {number(ideal)}.")
    if len(whole) == len(names):
        say("Every stratum is taken whole: this is a census.", "yellow")
    elif whole:
        say(f"Taken whole, everybody is asked: {listed(whole)}.")
    if interviews.sum() < budget:
        why = "There are no more people" if len(whole) == len(names) else "The bounds allow no more"
        say(f"{why}: {budget - interviews.sum():,} of the {budget:,} interviews are not spent.", "yellow")
    if not variances.any():
        say("S is 0 everywhere, so that any allocation is as good; this one is in proportion to N. Is S right?", "yellow")
    if out is not None:
        say(f"Saved {out}")


def _write(path: Path, names: list[str], *columns: object) -> None:
    import csv

    import numpy as np

    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["stratum", "N", "S", "interviews", "unrounded"])
        for name, *cells in zip(names, *(np.asarray(c).tolist() for c in columns), strict=True):
            writer.writerow([name, *("" if isinstance(x, float) and np.isnan(x) else f"{x:.10g}" for x in cells)])
