"""How a compiled loop declares itself: for which policies and which data type, and how it is prepared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...estimators import Moments
from ..data import Record, Sequence, Stock


class Stretch(NamedTuple):
    """Runs for some rounds, up to so many samples in all, or until something needs the caller: (what, arm), what being a
    :class:`surepick.engine.enums.Stop`."""

    kernel: Any
    given: tuple[Any, ...]

    def __call__(self, limit: int, rounds: int) -> tuple[int, int]:
        found: tuple[int, int] = self.kernel(*self.given, limit, rounds)
        return found


def always(explorer: Any) -> bool:
    return True


class Loop(NamedTuple):
    """A compiled loop that takes the same samples as the Python loop.

    ``policies`` are names of policies of this package, or classes from elsewhere; ``data`` is the type that ``problem.lower()``
    returns. ``prepare(explorer, source)`` gets a stretch ready; ``fits`` says whether the loop can run this very explorer. Only a
    loop with ``near`` also runs with an epsilon, and only one with ``batches`` with several samples between two looks, or to the
    end of the budget (``spend``). ``parameters`` are those of the policy that the loop goes by: where another one is not at its
    default, Python runs.
    """

    policies: tuple[str | type, ...]
    data: type
    prepare: Callable[[Any, Any], Stretch]
    fits: Callable[[Any], bool] = always
    near: bool = False
    parameters: tuple[str, ...] = ()
    batches: bool = False


def lowered(explorer: Any, source: Any) -> tuple[Any, Sequence, Record, Stock]:
    """What every loop needs: the decision class, the confidence sequence, the record and the values."""
    record: Moments = explorer.record
    seen = Record(record.counts, record.table, record.variance)
    return explorer.problem.lower(), explorer.confidence.lower(record), seen, source.lower()
