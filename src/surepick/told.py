"""What is told to an explorer: checked, as a whole, before any of it is recorded."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from .arms import Floats, Values
from .checks import entries, short
from .errors import ObservationError, UnknownArmError
from .pool import Board, Pool
from .problems.base import Problem


def values_of(problem: Problem, arm: Hashable, values: Values) -> tuple[int, Floats]:
    """The position of an arm, and its values."""
    try:
        i = problem.index[arm]
    except UnknownArmError as error:
        raise UnknownArmError(f"{error} Nothing was recorded.", arm=error.arm) from None
    return i, problem.arms[i].check(values)


def pairs_of(problem: Problem, observations: Iterable[tuple[Hashable, Values]]) -> list[tuple[int, Floats]]:
    """The pairs of ``tell_many``."""
    given, found = entries(observations), []
    for entry in [None] if given is None or isinstance(observations, Mapping) else given:
        pair = entries(entry) if isinstance(entry, (tuple, list)) else None
        if pair is None or len(pair) != 2:
            hint = ": give a dict by its items()" if isinstance(observations, Mapping) else ""
            raise ObservationError(
                f"tell_many takes a list of (arm, values) pairs, not {short(observations)}{hint}. Nothing was recorded."
            )
        found.append(values_of(problem, *pair))
    return found


def candidate_and_place(problem: Problem, pool: Pool, pair: object) -> tuple[int, int]:
    """A (candidate, item) pair: the number of the candidate, and where in the order the item comes."""
    given = entries(pair) if isinstance(pair, (tuple, list)) else None
    if given is None or len(given) != 2:
        raise ObservationError(
            f"On a pool a score is that of a pair (candidate, item), such as ask gives, not of {short(pair)}. "
            "Nothing was recorded."
        )
    try:
        return problem.index[given[0]], int(pool.places[pool[given[1]]])
    except UnknownArmError as error:
        raise UnknownArmError(f"{error} Nothing was recorded.", arm=error.arm) from None
    except ObservationError as error:
        raise ObservationError(f"{error} Nothing was recorded.") from None


def scores_of(problem: Problem, board: Board, observations: object) -> dict[tuple[int, int], float]:
    """The ((candidate, item), score) pairs of ``tell_many`` that are new, by candidate and place."""
    pool = problem.pool
    assert pool is not None
    given = None if isinstance(observations, Mapping) else entries(observations)
    if given is None:
        raise ObservationError(
            f"On a pool tell_many takes a list of ((candidate, item), score) pairs, not {short(observations)}. "
            "Nothing was recorded."
        )
    new: dict[tuple[int, int], float] = {}
    for entry in given:
        pair = entries(entry) if isinstance(entry, (tuple, list)) else None
        if pair is None or len(pair) != 2:
            raise ObservationError(
                f"On a pool tell_many takes ((candidate, item), score) pairs, and one of them is {short(entry)}. "
                "Nothing was recorded."
            )
        i, place = candidate_and_place(problem, pool, pair[0])
        name, item = problem.names[i], pool.names[pool.order[place]]
        data = problem.arms[i].check(pair[1])
        if len(data) != 1:
            raise ObservationError(
                f"Candidate {name!r} has one score on item {item!r}, and was told {len(data)}: give every repetition an item of "
                "its own. Nothing was recorded.",
                arm=name,
            )
        score = float(data[0])
        before = new.get((i, place), board.known(i, place))
        if before is None:
            new[i, place] = score
        elif before != score:
            raise ObservationError(
                f"The score of candidate {name!r} on item {item!r} is {before:g}, and was told again as {score:g}: a score is "
                "one number; give a repetition an item of its own. Nothing was recorded.",
                arm=name,
            )
    _refuse_out_of_order(problem, pool, board, new)
    return new


def _refuse_out_of_order(problem: Problem, pool: Pool, board: Board, new: Mapping[tuple[int, int], float]) -> None:
    """Scores come in the pool's order, or have been asked for."""
    for i in {i for i, _ in new}:
        end = int(board.counts[i])
        while (i, end) in new or (i, end) in board.ahead:
            end += 1
        wrong = [place for j, place in new if j == i and place >= max(end, board.offered[i])]
        if wrong:
            missing, item = pool.names[pool.order[end]], pool.names[pool.order[min(wrong)]]
            raise ObservationError(
                f"The score of candidate {problem.names[i]!r} on item {item!r} is out of order: of this candidate item "
                f"{missing!r} comes first. What is certified rests on items in one random order. Scores on items that were "
                "picked otherwise, such as the first of a list or those that a candidate did well on, say nothing about the "
                "rest: tell scores in the order of the pool, up to where there are some. Nothing was recorded.",
                arm=problem.names[i],
            )


def rows_of(problem: Problem, rows: Iterable[Mapping[Any, float]]) -> list[dict[int, Floats]]:
    """The rows of ``tell_rows``: one value of each arm that a row has."""
    listed = None if hasattr(rows, "to_dict") or isinstance(rows, Mapping) else entries(rows)
    if listed is None:
        way = ": of a table with a column an arm, [row.dropna().to_dict() for _, row in table.iterrows()]"
        hint = way if hasattr(rows, "iterrows") else ""
        raise ObservationError(
            f"tell_rows takes a list of rows, each a dict of arms and their values, not {short(rows)}{hint}. "
            "Nothing was recorded."
        )
    return [_row_of(problem, row) for row in listed]


def _row_of(problem: Problem, values: Mapping[Any, float]) -> dict[int, Floats]:
    if not isinstance(values, Mapping) or not values:
        hint = ": give a series by its to_dict()" if hasattr(values, "to_dict") else ""
        raise ObservationError(f"A row is a dict of arms and their values, not {short(values)}{hint}. Nothing was recorded.")
    row: dict[int, Floats] = {}
    for arm, value in values.items():
        i, data = values_of(problem, arm, value)
        if len(data) != 1 or i in row:
            raise ObservationError(
                f"A row has one value of an arm, and arm {problem.names[i]!r} has {'two' if i in row else len(data)}. "
                "Nothing was recorded."
            )
        row[i] = data
    return row
