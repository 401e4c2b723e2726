"""Arms and problems from the keys of a study and, for what these leave out, from the columns of its CSV table."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any

from ..arms import Arm, make_arms
from ..checks import short
from ..errors import ProblemError
from ..pool import Pool
from ..problems import Problem
from ..problems.keys import NEEDED, Keys
from ..problems.registry import find, study_kinds
from . import schema
from .complaints import Place, join
from .needs import Need
from .tables import Table, read_table

Arms = tuple[Arm, ...] | None


# -- arms ---------------------------------------------------------------------------------------------------------------


def build_arms(place: Place, arms: object, cls: type[Problem], problem: dict[str, object]) -> tuple[Arms, Table | None]:
    """The arms, or None if the study leaves them to the problem, and the table they came from."""
    if arms is None:
        return None, None
    if isinstance(arms, str):
        table = read_table(place.path(arms))
        return table_arms(table, cls, _takes_costs(cls, problem)), table
    with place.blame("arms"):
        if isinstance(arms, int):
            return make_arms(arms, cls.noun), None
        assert isinstance(arms, list)
        return make_arms([_arm(place, i, entry) for i, entry in enumerate(arms)], cls.noun), None


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
    with place.blame(key):
        return _make(keys.name, low, high, keys.kind, keys.scale, keys.cost, keys.population)


def _make(
    name: str,
    low: float | None,
    high: float | None,
    kind: str | None,
    scale: float | None,
    cost: float | None,
    population: int | None,
) -> Arm:
    given = {"low": low, "high": high, "kind": kind, "scale": scale, "cost": cost, "population": population}
    return Arm(name, **{key: value for key, value in given.items() if value is not None})  # type: ignore[arg-type]


def _takes_costs(cls: type[Problem], problem: dict[str, object]) -> bool:
    """A column ``cost`` is about observations, and not one that the decision is about: its plans, or a constraint."""
    rows = problem.get("A")
    named = [row.casefold() for row in rows if isinstance(row, str)] if isinstance(rows, list) else []
    return "cost" not in (cls.study_keys() or {}) and "cost" not in named


def table_arms(table: Table, cls: type[Problem], priced: bool) -> tuple[Arm, ...]:
    """One arm a row. Without the columns min and max, values lie in [0, 1]; with one of them, the other must be there.

    If ``priced``, the column ``cost`` is what an observation costs.
    """
    names = (None if table.has("stratum") else cls.row_names(table)) or table.names(cls.noun)
    bounds = table.has("min") or table.has("max")
    kinds = table.texts("kind", empty=True) if table.has("kind") else [""] * len(table)
    scales = table.texts("scale", empty=True) if table.has("scale") else [""] * len(table)
    costs = table.texts("cost", empty=True) if priced and table.has("cost") else [""] * len(table)
    counts = table.texts("population", empty=True) if table.has("population") else [""] * len(table)
    lows = table.texts("min", "which belongs to 'max'", empty=True) if bounds else [""] * len(table)
    highs = table.texts("max", "which belongs to 'min'", empty=True) if bounds else [""] * len(table)
    arms: list[Arm] = []
    rows = zip(names, kinds, scales, costs, counts, lows, highs, strict=True)
    for i, (name, kind, scale, cost, count, low, high) in enumerate(rows):
        if bounds and kind in ("", "bounded"):
            for column, cell in (("min", low), ("max", high)):
                if cell == "":
                    table.fail(i, column, "the cell is empty; give the bound that every value respects")
        least = table.number(i, "min", low) if low else None
        most = table.number(i, "max", high) if high else None
        wide, each = (table.number(i, column, cell) if cell else None for column, cell in (("scale", scale), ("cost", cost)))
        try:
            arms.append(
                _make(name, least, most, kind or None, wide, each, table.whole(i, "population", count) if count else None)
            )
        except ProblemError as error:
            column = {"kind": "kind", "scale": "scale", "low": "min", "cost": "cost", "population": "population"}.get(
                error.key or "", "stratum"
            )
            table.fail(i, column, str(error).rstrip("."))
    return tuple(arms)


# -- problems -----------------------------------------------------------------------------------------------------------


def build_problem(place: Place, data: dict[str, object], arms: Arms, table: Table | None) -> Problem:
    cls = find(data.get("kind"))
    keys = None if cls is None else cls.study_keys()
    if cls is None or keys is None:
        kind = place.kind(data, study_kinds(), "problem")
        place.fail("problem.kind", f"{kind!r} cannot be written in a study file; set it up in Python.")
    filled = _filled(place, keys, data, "problem", table)
    needed = signature(cls).parameters.get("arms")
    if arms is None and needed is not None and needed.default is Parameter.empty:
        place.fail("arms", "this key is missing; give a list of names, a list of tables or the path of a CSV file.")
    with place.blame("problem"):
        return cls.from_study(arms, filled, table)


def build_pool(place: Place, data: dict[str, object], problem: Problem) -> Problem:
    """The problem, all arms of which are judged on the items of a pool."""
    keys = place.check(schema.PoolKeys, data, "pool")
    items = keys.items
    if isinstance(items, str):
        named = read_table(place.path(items))
        items = named.texts("item", "which names the items")
        if named.find("arm") is not None:  # a table of scores has each item once a candidate
            items = list(dict.fromkeys(items))
    with place.blame("pool"):
        return problem.pooled(Pool(items, keys.seed))


def _filled(place: Place, keys: Keys, data: dict[str, object], prefix: str, table: Table | None) -> dict[str, Any]:
    """The value of every key: the study's, the table's column, or the default."""
    checked = place.check(schema.model_of(keys), data, prefix)
    need, filled = Need(place, prefix, table), {}
    for name, key in keys.items():
        value = getattr(checked, name)
        if key.column and key.default is NEEDED:
            value = need(name, value, key.column, key.read)
        elif key.column:
            value = need.maybe(value, key.column, key.read)
        filled[name] = key.default if value is None else value
        if key.tables and isinstance(filled[name], dict):
            inner = join(prefix, name)
            kind = place.kind(filled[name], key.tables, inner)
            filled[name] = {"kind": kind, **_filled(place, key.tables[kind], filled[name], inner, table)}
    return filled
