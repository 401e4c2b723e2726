"""Which claims to measure, and who does the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager

from ...errors import SettingError
from .. import executors
from . import CLAIMS, Claim


def chosen(names: Sequence[str] | None) -> list[Claim]:
    """The claims of these names in the order of the report; all of them if none is named."""
    unknown = [name for name in names or () if name not in CLAIMS]
    if unknown:
        raise SettingError(f"There is no claim {unknown[0]!r}; the claims are {', '.join(CLAIMS)}.")
    return [claim for claim in CLAIMS.values() if not names or claim.name in names]


@contextmanager
def workers(processes: int | None) -> Iterator[Executor | int]:
    """One pool for all claims, so that its processes start and load the compiled loops once; 1 is this process."""
    many = executors.processes(processes)
    if many in (None, 1):
        yield 1
        return
    with executors.process_pool(many) as pool:
        yield pool
