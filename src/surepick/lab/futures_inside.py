"""What a pool of ``concurrent.futures`` does not tell: the fence around its private attributes.

Used are ``_max_workers`` of an executor, and ``_result_queue._writer`` of a pool of processes, the end of the pipe through which
workers send results.

Seen so in Python 3.11 to 3.14. Where it is otherwise the number of workers is unknown, and a pool that is given up is not waited
for.
"""

from __future__ import annotations

from concurrent.futures import Executor, ProcessPoolExecutor


def workers(executor: Executor) -> int | None:
    """How many workers an executor has; None if it does not say."""
    known = getattr(executor, "_max_workers", None)
    return known if isinstance(known, int) else None


def let_go(pool: ProcessPoolExecutor) -> bool:
    """Close this process's own end of the pipe of results; False if it is not to be found.

    A worker that is ended in the middle of a result leaves a piece of it in the pipe. The pool would wait for the rest for ever,
    as long as this process could still write it.
    """
    try:
        pool._result_queue._writer.close()  # type: ignore[attr-defined]
    except AttributeError:
        return False
    return True
