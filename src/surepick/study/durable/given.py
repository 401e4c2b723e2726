"""What users pass to a durable study, checked."""

from __future__ import annotations

import getpass
import re
import socket
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection

from ...checks import number, short
from ...errors import SettingError, StudyError
from ..spec import StudySpec, asked_once, load
from . import schema
from .database import Database

LEASE = 3600.0  # seconds
LONGEST = 200  # letters of a name or a key
OWN = "~"  # the first letter of keys that a study makes for itself

T = TypeVar("T")


def spec_of(spec: Any) -> tuple[StudySpec, str]:
    """What a study is created with, and what it is called by default."""
    called = "study"
    if isinstance(spec, StudySpec):
        made = spec
    elif isinstance(spec, Mapping):
        made = StudySpec.from_dict(spec)
    else:
        made = load(spec)
        called = Path(spec).stem or called
    return asked_once(made)[0], called


def there(database: Database, look: Callable[[Connection], T]) -> T:
    """What is read of a database whose tables must be there, and are brought up to date."""

    found = database.do(schema.found, writing=False, patience=database.first)
    if found is None:
        raise StudyError(f"{database.where}: there is no study in this database; create one.", key="name")
    schema.check(found, database.where)
    if found < schema.VERSION:
        database.do(lambda connection: schema.prepare(connection, database.where))
    return database.do(look, writing=False)


def text_of(x: object, what: str) -> str:
    text = x.strip() if isinstance(x, str) else ""
    if not text or len(text) > LONGEST or re.search(r"[\x00-\x1f]", text) or text.startswith(OWN):
        raise SettingError(
            f"{what} must be a text of at most {LONGEST} letters on one line, which does not begin with {OWN}, not {short(x)}.",
            key=what,
        )
    return text


def who_of(who: str | None) -> str:
    if who is not None:
        return text_of(who, "who")
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # nobody in particular
        user = "unknown"
    return f"{user}@{socket.gethostname()}"


def lease_of(lease: object) -> float:
    return number(lease, "lease", "a positive number of seconds", lambda x: 0 < x < 1e10)


def own_key() -> str:
    return f"{OWN}{uuid.uuid4().hex}"
