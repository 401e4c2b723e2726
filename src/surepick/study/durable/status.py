"""What a study says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ...certificate import Certificate
from ...display import listed


def time_of(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def time_if(seconds: float | None) -> datetime | None:
    return None if seconds is None else time_of(seconds)


@dataclass(frozen=True)
class Summary:
    """A study in a list of them."""

    name: str
    title: str
    created: datetime
    samples: int
    certified: bool
    closed: datetime | None

    def to_dict(self) -> dict[str, Any]:
        return _plain(vars(self))


@dataclass(frozen=True)
class Entry:
    """A line of the log.

    Attributes
    ----------
    seq : int
        Its number; entries are numbered from 1 on.
    moment : int
        Entries of one moment came in together.
    arm : name
    item : name or None
        On a pool, the item.
    value : float
        As it was told.
    ticket : int or None
        The number of the ticket that it answers; None if it was recorded without one.
    who : str
    told : datetime
    key : str or None
        Under which it was recorded.
    corrects : int or None
        The entry whose value this one replaces.
    note : str or None
        Why.
    """

    seq: int
    moment: int
    arm: Any
    item: Any
    value: float
    ticket: int | None
    who: str
    told: datetime
    key: str | None
    corrects: int | None
    note: str | None

    def to_dict(self) -> dict[str, Any]:
        return {**_plain(vars(self)), "arm": str(self.arm), "item": None if self.item is None else str(self.item)}


@dataclass(frozen=True, eq=False)
class Status:
    """How a study stands.

    Attributes
    ----------
    name, title : str
    samples : int
        Observations that count.
    done : bool
        There is nothing more to ask: it is certified, or the budget is spent, or it was closed.
    certified : bool
    undecided : list
        The arms whose part in the decision is open, by name.
    open, expired : int
        Tickets that nobody has answered, and how many of them may be given out again.
    corrected : int
        Entries that were corrected.
    certificate : Certificate
        What is certain now; its text is the sentence for people.
    created, closed : datetime
    """

    name: str
    title: str
    samples: int
    done: bool
    certified: bool
    undecided: list[Any]
    open: int
    expired: int
    corrected: int
    certificate: Certificate
    created: datetime
    closed: datetime | None

    def to_dict(self) -> dict[str, Any]:
        return _plain({**vars(self), "undecided": list(map(str, self.undecided)), "certificate": self.certificate.to_dict()})

    def __str__(self) -> str:
        return str(self.certificate)

    def __repr__(self) -> str:
        arms = f", undecided {listed(self.undecided)}" if self.undecided else ""
        return (
            f"<Status of {self.name!r}: {self.samples:,} samples, {'done' if self.done else 'going on'}, {self.open} open{arms}>"
        )


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in fields.items()}
