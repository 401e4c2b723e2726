"""What happens until compiled code is there: when it is worth waiting for, and what a person who waits is told. Without numba.

Python can do what short runs need in less time than compiling takes. So what may run in Python (see ``compile.patient`` and
``surepick.run.drive``) does so at first, and is compiled once that has taken ``patience`` seconds. The results are the same.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process

log: logging.Logger = logging.getLogger("surepick")

NOTICE = "surepick: compiling for this machine, once; this takes some seconds"

patience: float = 2.0  # seconds of work that Python may take for the work of one kernel, or of one loop
spoken: bool | None = None  # whether the notice goes to standard error; None: if somebody is likely to read it there
_told = False


@contextmanager
def at_once() -> Iterator[None]:
    """Compile without delay: there is much to do."""
    global patience
    before, patience = patience, 0.0
    try:
        yield
    finally:
        patience = before


def notice() -> None:
    """Say that compiling begins, once a process."""
    global _told
    if _told:
        return
    _told = True
    log.info("Compiling for this machine, once.")
    if watched() if spoken is None else spoken:
        print(NOTICE, file=sys.stderr, flush=True)


def watched() -> bool:
    """Standard error is a terminal or goes to a notebook, and this is no worker of a simulation, which shows a bar."""
    if sys.stderr is None or parent_process() is not None:
        return False
    return sys.stderr.isatty() or "ipykernel" in sys.modules
