"""Arms and problems from the keys of a study and, for what these leave out, from the columns of its CSV table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arms import Arm, make_arms
from ..checks import short
from ..errors import ProblemError
from ..problems import (
    BestArm,
    BestOfEach,
    Matching,
    Path,
    Problem,
    Program,
    ResourcePlan,
    SampleAllocation,
    SpanningTree,
    Subsets,
    TopK,
)
from ..problems.edges import edge_arms
from . import schema
from .complaints import Place
from .needs import Need
from .tables import Table, read_table

Arms = tuple[Arm, ...] | None


# -- arms ---------------------------------------------------------------------------------------------------------------


def build_arms(place: Place, arms: object, noun: str) -> tuple[Arms, Table | None]:
    """The arms, or None if the study leaves them to the problem, and the table they came from."""
    if arms is None:
        return None, None
    if isinstance(arms, str):
        table = read_table(place.path(arms))
        return table_arms(table, noun), table
    with place.blame("arms"):
        if isinstance(arms, int):
            return make_arms(arms, noun), None
        assert isinstance(arms, list)
        return make_arms([_arm(place, i, entry) for i, entry in enumerate(arms)], noun), None


def _arm(place: Place, i: int, entry: object) -> Arm:
    key = f"arms[{i}]"
    if isinstance(entry, str):
        with place.blame(key):
            return Arm(entry)
    if not isinstance(entry, dict):
        place.fail(key, f'must be a name or a table such as {{name = "north", min = 0, max = 10}}, not {short(entry)}.')
    keys = place.check(schema.ArmKeys, entry, key)
    for one, other in (("low", "min"), ("high", "max")):
        if getattr(keys, one) is not None and getattr(keys, other) is not None:
            place.fail(f"{key}.{other}", f"{other} and {one} mean the same; give only one of them.")
    low = keys.min if keys.low is None else keys.low
    high = keys.max if keys.high is None else keys.high
    with place.blame(key, ("low", "high", "kind", "scale", "name")):
        return _make(keys.name, low, high, keys.kind, keys.scale)


def _make(name: str, low: float | None, high: float | None, kind: str | None, scale: float | None) -> Arm:
    given = {"low": low, "high": high, "kind": kind, "scale": scale}
    return Arm(name, **{key: value for key, value in given.items() if value is not None})  # type: ignore[arg-type]


def table_arms(table: Table, noun: str) -> tuple[Arm, ...]:
    """One arm a row. Without the columns min and max, values lie in [0, 1]; with one of them, the other must be there.

    The rows of an edge list need no names: edges are called after their ends.
    """
    if noun == "edge" and not table.has("stratum") and table.has("u"):
        names = [str(arm.name) for arm in edge_arms(table_edges(table), None, loops=True)[1]]
    else:
        names = table.names(noun)
    bounds = table.has("min") or table.has("max")
    kinds = table.texts("kind", empty=True) if table.has("kind") else [""] * len(table)
    scales = table.texts("scale", empty=True) if table.has("scale") else [""] * len(table)
    lows = table.texts("min", "which belongs to 'max'", empty=True) if bounds else [""] * len(table)
    highs = table.texts("max", "which belongs to 'min'", empty=True) if bounds else [""] * len(table)
    arms: list[Arm] = []
    for i, (name, kind, scale, low, high) in enumerate(zip(names, kinds, scales, lows, highs, strict=True)):
        if bounds and kind in ("", "bounded"):
            for column, cell in (("min", low), ("max", high)):
                if cell == "":
                    table.fail(i, column, "the cell is empty; give the bound that every value respects")
        least = table.number(i, "min", low) if low else None
        most = table.number(i, "max", high) if high else None
        try:
            arms.append(_make(name, least, most, kind or None, table.number(i, "scale", scale) if scale else None))
        except ProblemError as error:
            said = str(error)
            column = "kind" if "has kind" in said else "scale" if "scale" in said else "min" if "low" in said else "stratum"
            table.fail(i, column, said.rstrip("."))
    return tuple(arms)


def table_edges(table: Table, column: str = "u") -> list[tuple[str, str]]:
    return list(zip(table.texts(column), table.texts("v", "the other end of every edge"), strict=True))


# -- problems -----------------------------------------------------------------------------------------------------------


def build_problem(place: Place, data: dict[str, object], arms: Arms, table: Table | None) -> Problem:
    kind = place.kind(data, schema.PROBLEM_KEYS, "problem")
    keys = place.check(schema.PROBLEM_KEYS[kind], data, "problem")
    need = Need(place, "problem", table)
    with place.blame("problem", type(keys).model_fields):
        match keys:
            case schema.TopKKeys():
                return TopK(_needed(place, arms), keys.k, sense=keys.sense, parameter=keys.parameter)
            case schema.BestOfEachKeys():
                groups = need("groups", keys.groups, "group", Table.texts)
                return BestOfEach(_needed(place, arms), groups, keys.k, sense=keys.sense, parameter=keys.parameter)
            case schema.SpanningTreeKeys():
                return SpanningTree(_edges(need, keys), sense=keys.sense, arms=arms, parameter=keys.parameter)
            case schema.MatchingKeys():
                edges, perfect = _edges(need, keys), keys.perfect
                return Matching(edges, perfect=perfect, sense=keys.sense, arms=arms, parameter=keys.parameter)
            case schema.PathKeys():
                ends = (keys.source, keys.target) if keys.edges is not None else (str(keys.source), str(keys.target))
                return Path(_edges(need, keys), *ends, sense=keys.sense, arms=arms, parameter=keys.parameter)
            case schema.SubsetsKeys():
                return Subsets(_needed(place, arms), keys.decisions, sense=keys.sense, parameter=keys.parameter)
            case schema.ProgramKeys():
                return _program(place, keys, _needed(place, arms), table)
            case schema.SampleAllocationKeys():
                sizes = need("sizes", keys.sizes, "N", Table.sizes)
                lower = need.maybe(keys.lower, "lower", Table.wholes)
                upper = need.maybe(keys.upper, "upper", Table.wholes)
                return SampleAllocation(sizes, keys.budget, lower=1 if lower is None else lower, upper=upper, arms=arms)
            case schema.ResourcePlanKeys():
                caps = need("caps", keys.caps, "cap", Table.wholes)
                m = len(arms) if arms is not None else len(caps) if isinstance(caps, list) else None
                cost = _cost(place, keys.cost, table, m)
                return ResourcePlan(cost, caps, keys.require, arms=arms, parameter=keys.parameter)
            case schema.BestArmKeys():
                return BestArm(_needed(place, arms), sense=keys.sense, parameter=keys.parameter)
    raise AssertionError(f"no builder for {kind}")


def _needed(place: Place, arms: Arms) -> tuple[Arm, ...]:
    if arms is None:
        place.fail("arms", "this key is missing; give a list of names, a list of tables or the path of a CSV file.")
    return arms


def _edges(need: Need, keys: schema.GraphKeys) -> list[tuple[schema.Label, schema.Label]]:
    """As the study lists them, or from the columns u and v, whose nodes are texts."""
    return [(u, v) for u, v in need("edges", keys.edges, "u", table_edges)]


def _program(place: Place, keys: schema.ProgramKeys, arms: tuple[Arm, ...], table: Table | None) -> Program:
    rows = [_row(place, i, row, len(arms), table) for i, row in enumerate(keys.A)]
    if not rows:
        place.fail("problem.A", "there are no constraints; give at least one row.")
    bounds = {name: _bounds(place, f"problem.{name}", getattr(keys, name), len(rows)) for name in ("lower", "upper")}
    levels = Need(place, "problem", table).maybe(keys.levels, "levels", Table.wholes)
    return Program(arms, rows, **bounds, levels=1 if levels is None else levels, sense=keys.sense, parameter=keys.parameter)


def _row(place: Place, i: int, row: list[float] | str, m: int, table: Table | None) -> list[float]:
    key = f"problem.A[{i}]"
    if isinstance(row, str):
        if table is None:
            place.fail(key, f"the column {row!r} needs a table; name a CSV file with it as arms, or give {m} numbers.")
        return table.numbers(row, f"which row {i} of A names")
    if len(row) != m:
        place.fail(key, f"the row has {len(row)} numbers but there are {m} arms; give one number an arm.")
    return row


def _bounds(place: Place, key: str, given: schema.BoundPerRow, rows: int) -> list[float]:
    bounds = [float(x) for x in given] if isinstance(given, list) else [float(given)] * rows
    if len(bounds) != rows:
        place.fail(key, f"A has {rows} rows but there are {len(bounds)} bounds; give one a row, or one for all.")
    return bounds


def _cost(place: Place, cost: object, table: Table | None, m: int | None) -> Sequence[Any]:
    """Tables as they stand; a formula as one function a site."""
    if isinstance(cost, list):
        return cost
    data = {"kind": "power"} if cost is None else cost
    assert isinstance(data, dict)
    key = "problem.cost"
    keys = place.check(schema.COST_KEYS[place.kind(data, schema.COST_KEYS, key)], data, key)
    if m is None:
        place.fail("problem.caps", "with one cap for all sites, say how many there are: give a list of caps, or arms.")
    need = Need(place, key, table)
    factor = _spread(place, need("factor", keys.factor, "cost", Table.numbers), m, f"{key}.factor")
    exponent = _spread(place, need("exponent", keys.exponent, "exponent", Table.numbers), m, f"{key}.exponent")
    for i, e in enumerate(exponent):
        if e <= 0:
            place.fail(f"{key}.exponent", f"site {i} has {e!r}; the cost factor * y ** exponent needs an exponent above 0.")
    return [lambda y, f=f, e=e: f * y**e for f, e in zip(factor, exponent, strict=True)]


def _spread(place: Place, value: float | list[float], m: int, key: str) -> list[float]:
    if not isinstance(value, list):
        return [value] * m
    if len(value) != m:
        place.fail(key, f"there are {m} sites but {len(value)} numbers; give one a site, or one for all.")
    return value
