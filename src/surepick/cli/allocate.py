"""surepick allocate: split a survey's interviews over strata whose variances are known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .talk import AsJson, emit, number, plain, plain_list, say, table


def allocate(
    strata: Annotated[
        Path, typer.Argument(metavar="STRATA.csv", help="Columns stratum, N, and S or variance.", show_default=False)
    ],
    budget: Annotated[int, typer.Option(metavar="K", help="Interviews in all.", show_default=False)],
    lower: Annotated[
        int | None, typer.Option(help="Interviews in every stratum at least.  [default: 1]", show_default=False)
    ] = None,
    upper: Annotated[int | None, typer.Option(help="Interviews in every stratum at most.", show_default=False)] = None,
    cap_at_size: Annotated[bool, typer.Option("--cap-at-size", help="Ask nobody twice: at most N interviews a stratum.")] = False,
    s_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column of standard deviations, if not S.", show_default=False)
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="CSV", help="Write the allocation there.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Split a survey's interviews over its strata.

    The allocation is the one at which the estimated population mean varies least, exactly. The table may also have
    columns lower and upper with bounds of its own for every stratum. --lower replaces the one, --upper or --cap-at-size
    the other.
    The standard error is without correction for a finite population, but for --cap-at-size.
    """
    import numpy as np

    from .. import problems
    from ..errors import SettingError, StudyError, SurepickError
    from ..study import read_table, table_variances

    if cap_at_size and upper is not None:
        raise SettingError("--upper and --cap-at-size both bound the interviews from above; give only one of them.")
    if lower is not None and lower < 1:
        raise SettingError(f"--lower must be at least 1, not {lower}: a stratum with no interviews has no estimate.")
    if budget < 1:
        raise SettingError(f"--budget must be a whole number of interviews of at least 1, not {budget}.")
    if out is not None and out.exists() and out.samefile(strata):
        raise SettingError(f"--out {out} is the table of strata itself; give another file.")
    rows = read_table(strata)
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

    least = bound(lower, "lower")
    most = rows.wholes("N") if cap_at_size else bound(upper, "upper")
    for i in range(len(rows)):
        low = 1 if least is None else least[i] if isinstance(least, list) else least
        high = low if most is None else most[i] if isinstance(most, list) else most
        if high < low:
            column = "N" if cap_at_size else "upper" if rows.has("upper") else "stratum"
            way = "give the stratum a smaller least number in a column 'lower'" if cap_at_size else "lower one or raise the other"
            rows.fail(i, column, f"interviews: at most {high}, but at least {low}; {way}")
    try:
        interviews = problems.allocate(sizes, variances, budget, lower=1 if least is None else least, upper=most)
    except StudyError:
        raise
    except SurepickError as error:
        raise StudyError(f"{strata}: {error}") from None

    weights = sizes / sizes.sum()
    spread = sizes * np.sqrt(variances)
    neyman = budget * spread / spread.sum() if spread.any() else np.full(len(sizes), np.nan)
    deviations = np.sqrt(variances)
    known = float((weights**2 * variances / sizes).sum()) if cap_at_size else 0.0  # the finite population's share
    error_of_mean = max(float((weights**2 * variances / interviews).sum()) - known, 0.0) ** 0.5
    ideal = None if cap_at_size else float((weights * deviations).sum()) / budget**0.5
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
                "out": None if out is None else str(out),
            }
        )
        return
    table(
        ["stratum", "N", "S", "interviews", "Neyman, unrounded"],
        [
            (name, f"{n:,.10g}", number(s), f"{y:,}", "–" if np.isnan(z) else f"{z:,.2f}")
            for name, n, s, y, z in zip(names, sizes, deviations, interviews, neyman, strict=True)
        ],
    )
    kind = "corrected for a finite population" if cap_at_size else "without correction for a finite population"
    say(f"{interviews.sum():,} interviews. Standard error of the estimated mean: {number(error_of_mean)} ({kind}).", "bold")
    if interviews.sum() < budget:
        say(f"The bounds allow no more: {budget - interviews.sum():,} of the {budget:,} interviews are not spent.", "yellow")
    if ideal is not None:
        say(f"Neyman's shares, if fractions of an interview were possible and no bounds applied: {number(ideal)}.")
    if out is not None:
        say(f"Saved {out}")


def _write(path: Path, names: list[str], *columns: object) -> None:
    import csv

    import numpy as np

    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["stratum", "N", "S", "interviews", "neyman"])
        for name, *cells in zip(names, *(np.asarray(c).tolist() for c in columns), strict=True):
            writer.writerow([name, *("" if isinstance(x, float) and np.isnan(x) else f"{x:.10g}" for x in cells)])
