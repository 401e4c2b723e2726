"""Every decision class by its ``kind``: what study files, saved explorers and the command line know it by."""

from __future__ import annotations

from importlib.metadata import entry_points
from inspect import isabstract
from typing import TypeVar

from ..checks import short
from ..errors import ProblemError
from .base import Problem

GROUP = "surepick.problems"  # of entry points: a package that is installed names its classes there, kind by kind

PROBLEMS: dict[str, type[Problem]] = {}

Class = TypeVar("Class", bound=type[Problem])


def register(cls: Class) -> Class:
    """Make a decision class known by its ``kind``; also a decorator of the class.

    After that, study files and the command line take the kind, ``Explorer.save`` and ``Explorer.load`` take the class, and
    ``surepick.testing`` checks it. The class says the rest itself: ``study_keys``, ``keys``, ``noun``, ...

    Examples
    --------
    >>> from surepick import TopK
    >>> @register
    ... class Podium(TopK):
    ...     kind = "podium"
    >>> PROBLEMS["podium"] is Podium
    True
    >>> del PROBLEMS["podium"]
    """
    if not (isinstance(cls, type) and issubclass(cls, Problem)) or isabstract(cls):
        raise ProblemError(f"register takes a class that derives from Problem and has all of its methods, not {short(cls)}.")
    kind = getattr(cls, "kind", None)
    if not isinstance(kind, str) or not kind:
        raise ProblemError(f'{cls.__name__} has no kind: give it one, such as kind = "top-k".', key="kind")
    known = PROBLEMS.get(kind, cls)
    if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):  # the same may be run again
        raise ProblemError(
            f"kind {kind!r} belongs to {known.__module__}.{known.__qualname__}: give {cls.__name__} one of its own.", key="kind"
        )
    PROBLEMS[kind] = cls
    return cls


def find(kind: object) -> type[Problem] | None:
    """The class of a kind, from an installed package if need be; None if nobody knows it."""
    if isinstance(kind, str) and kind not in PROBLEMS:
        for entry in entry_points(group=GROUP, name=kind):
            register(entry.load())
    return PROBLEMS.get(kind) if isinstance(kind, str) else None


def study_kinds() -> list[str]:
    """The kinds that a study file can have."""
    installed = [entry.name for entry in entry_points(group=GROUP) if entry.name not in PROBLEMS]
    return [kind for kind, cls in PROBLEMS.items() if cls.study_keys() is not None] + installed
