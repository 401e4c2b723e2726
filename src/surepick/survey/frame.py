"""The frame of a survey: one row a stratum, as planning, waves and estimation read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arms import Bools, Floats, Ints
from ..checks import LARGEST
from ..errors import ProblemError
from .cells import Cells, read_cells
from .figures import Figures
from .titles import OF_VARIABLE, Roles, roles

YES, NO = ("1", "true", "yes", "y", "x"), ("0", "false", "no", "n", "")


@dataclass(frozen=True, eq=False)
class Frame:
    """Strata with their sizes and whatever else is known of them; a row has the same place in all arrays.

    Attributes
    ----------
    strata : tuple of str
        Their names.
    N : array
        How many people, firms, ... there are.
    variables : tuple of str
        The variables whose ``S`` is known; a plain column ``S`` is the variable ``"value"``.
    S, mean : dict of arrays
        By variable: standard deviations (divisor N - 1), and means. NaN is what was not given. A share p has the mean p and
        S = sqrt(N / (N - 1) p (1 - p)).
    domains : dict
        By column, such as ``"domain"`` or ``"DOM1"``: the domain of every stratum, ``""`` where none was given. Empty without
        such a column.
    cost, resp_rate, deff : array
        1 where not given.
    lower, upper : array of int
        Bounds on the interviews; 0 and ``LARGEST`` where not given.
    take_all : array of bool
        Strata in which everybody is asked.
    psu_cost, psus, delta : array
        For samples in two stages: the cost of a primary unit, how many of them there are, and how alike its people are. NaN
        where not given.
    given : frozenset of str
        The columns that the table had: ``"cost"``, ``"lower"``, ``"take_all"``, ...
    source : str
        The file.
    lines : tuple of int or None
        The line of every stratum in the file.
    ignored : tuple of str
        The columns that were not used.
    """

    strata: tuple[str, ...]
    N: Floats
    variables: tuple[str, ...]
    S: dict[str, Floats]
    mean: dict[str, Floats]
    domains: dict[str, tuple[str, ...]]
    cost: Floats
    resp_rate: Floats
    deff: Floats
    lower: Ints
    upper: Ints
    take_all: Bools
    psu_cost: Floats
    psus: Floats
    delta: Floats
    given: frozenset[str]
    source: str
    lines: tuple[int, ...] | None
    ignored: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.strata)

    def __repr__(self) -> str:
        many = "stratum" if len(self) == 1 else "strata"
        known = f", variables {', '.join(self.variables)}" if self.variables else ""
        return f"<Frame: {len(self):,} {many}, N = {self.N.sum():,.10g}{known}>"

    @property
    def index(self) -> dict[str, int]:
        """The place of every stratum by its name."""
        return {name: i for i, name in enumerate(self.strata)}

    @property
    def weights(self) -> Floats:
        """W_h = N_h / N."""
        share = self.N / self.N.max()  # no overflow
        W: Floats = share / share.sum()
        return W

    def place(self, row: int) -> str:
        """Where a stratum stands, for messages."""
        if self.lines is None:
            return f"{self.source}, row {row} (the first is 0, stratum {self.strata[row]!r})"
        return f"{self.source}, line {self.lines[row]} (stratum {self.strata[row]!r})"

    def groups(self) -> list[tuple[str, Bools]]:
        """The domains, each with its strata; one that is called ``"all"`` if the frame has no domains."""
        found: list[tuple[str, Bools]] = []
        for column, labels in self.domains.items():
            places, names = np.array(labels), dict.fromkeys(labels)
            names.pop("", None)
            for name in names:
                found.append((name if len(self.domains) == 1 else f"{column}={name}", places == name))
        return found or [("all", np.ones(len(self), dtype=bool))]


def read_frame(source: object) -> Frame:
    """Read the strata of a survey.

    Parameters
    ----------
    source : path, data frame, dictionary of columns, or Frame
        A table in CSV (commas, semicolons or tabs), Excel (with the extra ``excel``) or Parquet, told by its contents. Columns
        in any order and any case: ``stratum`` and ``N``; and ``S``, ``variance`` or ``p``, ``mean``, ``cost``, ``domain``,
        ``lower``, ``upper``, ``take_all``, ``resp_rate``, ``deff``. Several variables are ``S_income``, ``mean_income``, ... Also
        known are ``Nh``, ``Sh``, ``ch``, ``strata``, ``M1``, ``S1``, ``DOM1``, ``COST``, ``CENS``. Empty cells of optional
        columns are not given.

    Examples
    --------
    >>> from surepick import survey
    >>> frame = survey.read_frame({"stratum": ["north", "south"], "N": [400, 600], "p": [0.5, 0.1]})
    >>> frame
    <Frame: 2 strata, N = 1,000, variables value>
    >>> frame.S["value"].round(4)
    array([0.5006, 0.3003])
    """
    if isinstance(source, Frame):
        return source
    cells = read_cells(source)
    found = roles(cells)
    figures = _figures(cells, found)

    def optional(role: str, wanted: str, low: float, high: float, other: float, *, open_low: bool = False) -> Floats:
        if role not in found.alone:
            return np.full(len(cells), other)
        x = cells.numbers(found.alone[role], figures)
        bad = (x <= low if open_low else x < low) | (x > high)
        _refuse(cells, found.alone[role], x, bad, wanted)
        return np.where(np.isnan(x), other, x)

    strata = _strata(cells, found)
    N = _sizes(cells, found, figures)
    all_of = _take_all(cells, found)
    S, mean = _variables(cells, found, figures, N, all_of)
    lower = optional("lower", "a whole number of at least 0", 0, LARGEST, 0)
    upper = optional("upper", "a whole number of at least 1; leave out strata in which nobody is asked", 1, np.inf, LARGEST)
    for role, bounds in (("lower", lower), ("upper", upper)):
        if role in found.alone:
            _refuse(cells, found.alone[role], bounds, bounds != np.floor(bounds), "a whole number")
    for i in np.flatnonzero(lower > upper):
        cells.fail(int(i), cells.titles[found.alone["lower"]], f"at least {lower[i]:g} interviews, but at most {upper[i]:g}")
    return Frame(
        strata=strata,
        N=N,
        variables=tuple(S),
        S=S,
        mean=mean,
        domains={cells.titles[j]: tuple(cells.texts(j)) for j in found.domains},
        cost=optional("cost", "a positive number", 0, np.inf, 1, open_low=True),
        resp_rate=optional("resp_rate", "above 0 and at most 1; 60 % is 0.6", 0, 1, 1, open_low=True),
        deff=optional("deff", "a positive number", 0, np.inf, 1, open_low=True),
        lower=lower.astype(np.int64),
        upper=np.minimum(upper, LARGEST).astype(np.int64),
        take_all=all_of,
        psu_cost=optional("psu_cost", "a number of at least 0", 0, np.inf, np.nan),
        psus=optional("psus", "a number of at least 1", 1, np.inf, np.nan),
        delta=optional("delta", "from 0 to 1", 0, 1, np.nan),
        given=frozenset(found.alone),
        source=cells.source,
        lines=None if cells.lines is None else tuple(cells.lines),
        ignored=tuple(cells.titles[j] for j in found.ignored),
    )


def _figures(cells: Cells, found: Roles) -> Figures:
    """How numbers are written, by all columns that should hold some."""
    places = [j for role, j in found.alone.items() if role not in ("stratum", "take_all")]
    places += [j for parts in found.of.values() for j in parts.values()]
    return cells.figures(places)


def _strata(cells: Cells, found: Roles) -> tuple[str, ...]:
    if "stratum" not in found.alone:
        if cells.lines is None:
            return tuple(str(i + 1) for i in range(len(cells)))
        _missing(cells, "stratum", "stratum (or strata, name)", "which names each stratum")
    column = found.alone["stratum"]
    names, seen = cells.texts(column), dict[str, int]()
    for i, name in enumerate(names):
        if not name:
            cells.fail(i, cells.titles[column], "the stratum has no name; give it one, or delete the line")
        if seen.setdefault(name, i) != i:
            cells.fail(
                i, cells.titles[column], f"{name!r} is already the name in {cells.place(seen[name])}; give each stratum its own"
            )
    return tuple(names)


def _sizes(cells: Cells, found: Roles, figures: Figures) -> Floats:
    if "N" not in found.alone:
        _missing(cells, "N", "N (or Nh, size)", "which is the size of each stratum")
    j = found.alone["N"]
    N = cells.numbers(j, figures)
    _refuse(cells, j, N, np.isnan(N), "", "the cell is empty; give the size of the stratum")
    _refuse(cells, j, N, ~(N > 0), "a positive number; leave out strata that are empty")
    if N.max() > 1e75 * N.min():
        raise ProblemError(f"{cells.source}: the sizes differ by more than a factor of 1e75; give them in one unit.", key="N")
    return N


def _take_all(cells: Cells, found: Roles) -> Bools:
    if "take_all" not in found.alone:
        return np.zeros(len(cells), dtype=bool)
    j = found.alone["take_all"]
    words = [text.casefold() for text in cells.texts(j)]
    for i, word in enumerate(words):
        if word not in YES + NO:
            cells.fail(i, cells.titles[j], f"{word!r} is neither 1 (everybody is asked) nor 0")
    return np.array([word in YES for word in words])


def _variables(
    cells: Cells, found: Roles, figures: Figures, N: Floats, all_of: Bools
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """S and means by variable. Where everybody is asked, S need not be given."""
    S, mean = dict[str, Floats](), dict[str, Floats]()
    for variable, parts in found.of.items():
        mean[variable] = cells.numbers(parts["mean"], figures) if "mean" in parts else np.full(len(cells), np.nan)
        kind = next((kind for kind in OF_VARIABLE if kind in parts and kind != "mean"), None)
        if kind is None:
            continue
        j = parts[kind]
        x = cells.numbers(j, figures)
        hint = f"the cell is empty; give the stratum's {kind}" + ("" if kind == "p" else "; 0 says that all answers are equal")
        _refuse(cells, j, x, np.isnan(x) & ~all_of, "", hint)
        _refuse(cells, j, x, x < 0, "a number of at least 0")
        if kind == "p":
            _refuse(cells, j, x, x > 1, "a share from 0 to 1; 60 % is 0.6")
            mean[variable] = np.where(np.isnan(mean[variable]), x, mean[variable])
            x = np.sqrt(N / np.maximum(N - 1, 1) * x * (1 - x)) * (N > 1)
        elif kind == "variance":
            x = np.sqrt(x)
        S[variable] = np.where(np.isnan(x), 0.0, x)
    return S, mean


def _missing(cells: Cells, role: str, called: str, why: str) -> None:
    cells.fail(None, None, f"there is no column {called}, {why}; add it. The columns are {_listed(cells.titles)}")


def _listed(titles: Sequence[str]) -> str:
    return ", ".join(map(repr, titles[:20])) + (", ..." if len(titles) > 20 else "")


def _refuse(cells: Cells, column: int, values: Floats, bad: Any, wanted: str, why: str = "") -> None:
    where = np.flatnonzero(bad)
    if len(where):
        i = int(where[0])
        cells.fail(i, cells.titles[column], why or f"{values[i]:.10g} is not {wanted}")
