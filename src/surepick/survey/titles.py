"""What the columns of a frame may be called: plain names, and those of the trade."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .cells import Cells

PLAIN_VARIABLE = "value"  # what the variable of a plain S and mean is called

ALONE = {
    "stratum": ("stratum", "strata", "strato", "arm", "name", "site", "variant"),
    "N": ("n", "nh", "n_h", "size", "population", "pop"),
    "cost": ("cost", "costs", "ch", "c_h", "cost_h"),
    "lower": ("lower", "n_min", "nmin", "min_n"),
    "upper": ("upper", "n_max", "nmax", "max_n"),
    "take_all": ("take_all", "takeall", "take-all", "cens", "census"),
    "resp_rate": ("resp_rate", "response_rate", "resp_rate_h", "rr"),
    "deff": ("deff", "deff_h"),
    "psu_cost": ("psu_cost", "cost_psu"),
    "psus": ("psus", "n_psus"),
    "delta": ("delta", "icc", "rho", "roh"),
}
OF_VARIABLE = {
    "S": ("s", "sd", "sh", "s_h", "sd_h", "std"),
    "variance": ("variance", "var", "variance_h", "var_h"),
    "p": ("p", "ph", "p_h"),
    "mean": ("mean", "m", "mh", "mean_h", "ybar", "ybarh", "ybar_h"),
}
NAMED = re.compile(r"(s|sd|variance|var|p|mean)_(.+)", re.IGNORECASE)
NUMBERED = re.compile(r"(s|sd|m|mean|p|var|variance)(\d+)", re.IGNORECASE)
DOMAIN = re.compile(r"domain|dom|(?:domain|dom)_?\w+", re.IGNORECASE)
PREFIX = {"s": "S", "sd": "S", "variance": "variance", "var": "variance", "p": "p", "mean": "mean", "m": "mean"}


@dataclass
class Roles:
    """Which column, by its position, has which role."""

    alone: dict[str, int] = field(default_factory=dict)
    of: dict[str, dict[str, int]] = field(default_factory=dict)  # variable: {"S": 3, "mean": 4}
    domains: list[int] = field(default_factory=list)
    ignored: list[int] = field(default_factory=list)


def roles(cells: Cells) -> Roles:
    """The roles of all columns; two with one role are refused."""
    found, spelled = Roles(), dict[str, str]()
    alone = {name: role for role, names in ALONE.items() for name in names}
    plain = {name: role for role, names in OF_VARIABLE.items() for name in names}
    for j, title in enumerate(cells.titles):
        low = title.casefold()
        if title == "n" and "N" in cells.titles:  # the interviews of a plan
            found.ignored.append(j)
            continue
        if low in alone:
            _put(cells, found.alone, alone[low], j)
        elif low in plain:
            _put(cells, found.of.setdefault(PLAIN_VARIABLE, {}), plain[low], j)
        elif match := NAMED.fullmatch(title) or NUMBERED.fullmatch(title):
            variable = spelled.setdefault(match[2].casefold(), match[2])
            _put(cells, found.of.setdefault(variable, {}), PREFIX[match[1].casefold()], j)
        elif DOMAIN.fullmatch(title):
            found.domains.append(j)
        else:
            found.ignored.append(j)
    for variable, parts in found.of.items():
        spread = [parts[kind] for kind in ("S", "variance", "p") if kind in parts]
        if len(spread) > 1:
            both = " and ".join(repr(cells.titles[j]) for j in spread)
            cells.fail(None, None, f"the columns {both} both say how much {variable!r} varies; keep one of them")
        if len(spread) == 1 and cells.titles[spread[0]].casefold() == "s2" and "1" not in found.of and "mean" not in parts:
            cells.fail(
                None,
                cells.titles[spread[0]],
                "it may be a variance, or the S of a second variable; call it 'variance' or 'S_2'",
            )
    return found


def _put(cells: Cells, where: dict[str, int], role: str, j: int) -> None:
    if role in where:
        both = f"{cells.titles[where[role]]!r} and {cells.titles[j]!r}"
        cells.fail(None, None, f"the columns {both} mean the same; rename or delete all but one")
    where[role] = j
