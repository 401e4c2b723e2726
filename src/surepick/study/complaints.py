"""Says what is wrong in a study: which file, which key, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from ..checks import nearest, short
from ..errors import StudyError, SurepickError

Model = TypeVar("Model", bound=BaseModel)


class Place:
    """A study file, or a dict that stands for one: where its tables are, and how it is called in messages."""

    def __init__(self, source: str, folder: Path) -> None:
        self.source = source
        self.folder = folder

    def path(self, name: str) -> Path:
        """A file that the study names, relative to the study's own."""
        return self.folder / name

    def fail(self, key: str, sentence: str) -> NoReturn:
        raise StudyError(f"{self.source}, key {key}: {sentence}", key=key)

    def check(self, model: type[Model], data: Mapping[str, object], prefix: str = "") -> Model:
        """The data as a model; a complaint names the first key that is wrong."""
        self.no_strangers(model, data, prefix)
        try:
            return model.model_validate(data)
        except ValidationError as error:
            errors = error.errors(include_url=False)
            name = str(errors[0]["loc"][0])
            # Where several readings of a value fail, the one that got furthest into it points best.
            first = max((e for e in errors if e["loc"][0] == name), key=lambda e: len(e["loc"]))
            what = model.model_fields[name].description or first["msg"]
            if first["type"] == "missing":
                self.fail(join(prefix, name), f"this key is missing; add it. It must be {what}.")
            value, at = data[name], ""
            for part in first["loc"][1:]:
                if isinstance(part, int) and isinstance(value, list):
                    value, at = value[part], at + f"[{part}]"
            self.fail(join(prefix, name) + at, f"{name if at else 'this'} must be {what}, not {short(value)}.")

    def no_strangers(self, model: type[BaseModel], data: Mapping[str, object], prefix: str) -> None:
        for name in data:
            if name not in model.model_fields:
                self.fail(join(prefix, str(name)), f"there is no such key{did_you_mean(str(name), model.model_fields)}")

    def kind(self, data: Mapping[str, object], known: Iterable[str], prefix: str) -> str:
        """The ``kind`` of a table, which must be one of the known ones."""
        names, key = list(known), join(prefix, "kind")
        if "kind" not in data:
            self.fail(key, f"this key is missing; use one of {', '.join(names)}.")
        kind = data["kind"]
        if not isinstance(kind, str):
            self.fail(key, f"must be a text, one of {', '.join(names)}, not {short(kind)}.")
        if kind not in names:
            self.fail(key, f"{kind!r} is unknown{did_you_mean(kind, names)}")
        return kind

    @contextmanager
    def blame(self, prefix: str) -> Iterator[None]:
        """Pass on an error of the package as a complaint about its key in the table ``prefix``; arms are the study's own."""
        try:
            yield
        except StudyError:
            raise
        except SurepickError as error:
            own = error.key is not None and error.key.partition("[")[0] != "arms"
            key = join(prefix, error.key or "") if own else error.key or prefix
            if not key:
                raise StudyError(f"{self.source}: {error}") from None
            self.fail(key, str(error))


def join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def did_you_mean(word: str, known: Iterable[str]) -> str:
    names = list(known)
    meant = nearest(word, names)
    if meant is not None:
        return f"; did you mean {meant!r}?"
    return f"; use one of {', '.join(names)}."
