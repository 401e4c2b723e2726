"""The keys of a study's [problem] table, which every class declares for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

NEEDED: Any = ...  # in place of a default: the study, or its table, must say it

Label = str | int
Numbers = list[float]
PerArm = float | list[float]
WholePerArm = int | list[int]


class Columns(Protocol):
    """A CSV table with one row an arm. ``why`` a column is needed goes into the complaint where it is missing."""

    def has(self, column: str) -> bool: ...
    def texts(self, column: str, why: str = "") -> list[str]: ...
    def numbers(self, column: str, why: str = "") -> list[float]: ...
    def sizes(self, column: str, why: str = "") -> list[float]: ...
    def wholes(self, column: str, why: str = "") -> list[int]: ...


def texts(table: Columns, column: str) -> list[str]:
    return table.texts(column)


def finite(table: Columns, column: str) -> list[float]:
    return table.numbers(column)


def positive(table: Columns, column: str) -> list[float]:
    return table.sizes(column)


def wholes(table: Columns, column: str) -> list[int]:
    return table.wholes(column)


@dataclass(frozen=True)
class Key:
    """A key of a study.

    Attributes
    ----------
    type : type
        Of its values, such as ``int``, ``list[float]`` or ``Literal["max", "min"]``. Nothing is converted, and NaN and infinity
        are refused.
    must_be : str
        The same in words, for a complaint: "a whole number of at least 1".
    default : optional
        Without it the study must have the key, or its table the column.
    column : str, optional
        The column of the arms' CSV table that serves where the study leaves the key out.
    read : function
        Of the table and the column: ``texts``, ``finite``, ``positive``, ``wholes`` or one of your own.
    tables : dict
        If the value may also be a table with a ``kind``: the keys of every kind.
    """

    type: Any
    must_be: str
    default: Any = NEEDED
    column: str | None = None
    read: Callable[[Columns, str], Any] = texts
    tables: Mapping[str, Mapping[str, Key]] = field(default_factory=dict)


Keys = Mapping[str, Key]

PARAMETER = Key(Literal["mean", "variance"], "'mean' or 'variance'", "mean")
SENSE = Key(Literal["max", "min"], "'max' or 'min'", "max")
K = Key(int, "a whole number of at least 1")
