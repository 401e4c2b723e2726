"""Objects that are known by a name and parameters: ``TSExplore(q=0.3)`` is the text ``"ts-explore:q=0.3"``, and back.

Policies and confidence sequences are such objects. This is the one place where their texts are written and read.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from .checks import nearest, short
from .errors import SettingError

REQUIRED = inspect.Parameter.empty


class Parametric:
    """Known by its class and its parameters, and by nothing else.

    The parameters are the keywords of ``__init__``. Each is kept as the attribute of its name, and stays as it is. A class
    without parameters needs no ``__init__``.

    Examples
    --------
    >>> from surepick.policies import TSExplore
    >>> TSExplore(q=0.3), str(TSExplore(q=0.3)), str(TSExplore())
    (TSExplore(q=0.3), 'ts-explore:q=0.3', 'ts-explore')
    """

    name: ClassVar[str]

    @property
    def parameters(self) -> dict[str, Any]:
        """The values of its parameters, by name."""
        try:
            return {name: getattr(self, name) for name in defaults(type(self))}
        except AttributeError as error:
            cls = type(self).__name__
            raise SettingError(
                f"{cls} takes the parameter {error.name} but does not keep it: write self.{error.name} = {error.name} in its "
                "__init__, so that it can be copied and named."
            ) from None

    @property
    def changed(self) -> dict[str, Any]:
        """The parameters that are not at their defaults."""
        plain = defaults(type(self))
        return {name: value for name, value in self.parameters.items() if not _same(value, plain[name])}

    def fresh(self) -> Self:
        """Another one with the same parameters, which has not been used yet."""
        return type(self)(**self.parameters)

    def text(self, whole: bool = False) -> str:
        """The name, with the parameters that are not at their defaults, or with all of them."""
        given = self.parameters if whole else self.changed
        return self.name + (":" if given else "") + ",".join(f"{name}={_text(value)}" for name, value in given.items())

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.changed.items())})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, others = self.parameters, other.parameters
        return all(_same(mine[name], others[name]) for name in mine)

    def __hash__(self) -> int:
        return hash((type(self), self.text()))

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__ and name in defaults(type(self)):
            raise AttributeError(f"The parameters of {self!r} stay as they are: make another {type(self).__name__}({name}=...).")
        super().__setattr__(name, value)


Made = TypeVar("Made", bound=Parametric)

_looked_up: dict[type[Parametric], dict[str, Any]] = {}


def defaults(cls: type[Parametric]) -> dict[str, Any]:
    """The parameters of a class with their defaults, ``REQUIRED`` for those without one."""
    if cls not in _looked_up:
        _looked_up[cls] = {} if cls.__init__ is object.__init__ else _signature(cls)
    return _looked_up[cls]


def _signature(cls: type[Parametric]) -> dict[str, Any]:
    found = list(inspect.signature(cls).parameters.values())
    for one in found:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD, one.POSITIONAL_ONLY):
            raise SettingError(
                f"{cls.__name__}.__init__ takes {one}: name its parameters one by one, so that it can be copied and named."
            )
    return {one.name: one.default for one in found}


def chosen(given: object, what: str, base: type[Made], known: Mapping[str, type[Made]], words: Sequence[str]) -> Made | str:
    """What a user asks for: one of the ``words``, an object, or the text of a known one."""
    if isinstance(given, str):
        return str(given) if given in words else _named(given, what, known, words)
    if isinstance(given, type) and issubclass(given, base):
        raise SettingError(f"{what} must be an object, {given.__name__}(), and not the class {given.__name__} itself.", key=what)
    if not isinstance(given, base):
        raise SettingError(_unknown(given, what, known, words), key=what)
    if not isinstance(getattr(given, "name", None), str):
        raise SettingError(
            f"{what}={short(given)}: give the class {type(given).__name__} a name, by which certificates call it.", key=what
        )
    if known.get(given.name, type(given)) is not type(given):
        raise SettingError(
            f"{what}={short(given)}: the class {type(given).__name__} has the name {given.name!r} of another one; give it a name "
            "of its own.",
            key=what,
        )
    return given.fresh()


def _named(text: str, what: str, known: Mapping[str, type[Made]], words: Sequence[str]) -> Made:
    name, colon, rest = text.partition(":")
    if name not in known:
        raise SettingError(_unknown(text, what, known, words), key=what)
    cls = known[name]
    given: dict[str, Any] = {}
    for part in rest.split(",") if colon else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise SettingError(f"{what}={short(text)}: parameters are written as in {_example(cls)}.", key=what)
        if key not in defaults(cls):
            raise SettingError(f"{what}={short(text)}: {_has(cls, key)}.", key=what)
        if key in given:
            raise SettingError(f"{what}={short(text)}: {key} is given twice.", key=what)
        given[key] = _value(value)
    if missing := [key for key, value in defaults(cls).items() if value is REQUIRED and key not in given]:
        raise SettingError(f"{what}={short(text)}: {', '.join(missing)} is missing; write {_example(cls)}.", key=what)
    try:
        return cls(**given)
    except SettingError as error:  # about a parameter, which is part of the setting
        raise SettingError(f"{what}={short(text)}: {error}", key=what) from None


def _unknown(given: object, what: str, known: Mapping[str, object], words: Sequence[str]) -> str:
    names = ", ".join(name for name in known if name not in words)
    name = given.partition(":")[0] if isinstance(given, str) and len(given) <= 60 else ""
    if name in words:
        return f"{what}={short(given)} is unknown; {name!r} has no parameters."
    if name and (meant := nearest(name, (*words, *known))) is not None:
        return f"{what}={short(given)} is unknown; did you mean {meant!r}? It is one of {', '.join((*words, names))}."
    return f"{what}={short(given)} is unknown; use {', '.join(map(repr, words))} or one of {names}."


def _has(cls: type[Parametric], other: str) -> str:
    names = list(defaults(cls))
    if not names:
        return f"{cls.name} has no parameters; leave out {other}"
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return f"{cls.name} has the parameter{'s' * (len(names) > 1)} {listed}, not {other}"


def _example(cls: type[Parametric]) -> str:
    """A text with all parameters of the class."""
    values = {name: "..." if value is REQUIRED else _text(value) for name, value in defaults(cls).items()}
    return repr(cls.name + (":" if values else "") + ",".join(f"{name}={value}" for name, value in values.items()))


def _text(value: object) -> str:
    return value if isinstance(value, str) else repr(value.item() if isinstance(value, np.generic) else value)


def _value(text: str) -> bool | int | float | str:
    """A parameter as it is written: true, false, a number, or a text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return int(value) if "." not in text and float(value).is_integer() else value  # 1e3 is whole
    return text


def _same(a: object, b: object) -> bool:
    return a is b or bool(np.array_equal(a, b))  # type: ignore[arg-type]
