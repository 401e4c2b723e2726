"""How a compiled loop declares itself: for which policies and which data type, and how it is prepared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...estimators import Moments
from ..data import Record, Sequence, Stock, record_of


class Stretch(NamedTuple):
    """Runs for some rounds, up to so many samples in all, or until something needs the caller: (what, arm), what being a
    :class:`surepick.engine.enums.Stop`."""

    kernel: Any
    given: tuple[Any, ...]

    def onto(self, moments: Moments) -> Stretch:
        """The same, where the arrays of the record are others."""
        return self._replace(given=_with(self.given, record_of(moments)))

    def __call__(self, limit: int, rounds: int) -> tuple[int, int]:
        found: tuple[int, int] = self.kernel(*self.given, limit, rounds)
        return found


def _with(given: Any, record: Record) -> Any:
    """What a kernel is given, with this record in the place of its own."""
    if isinstance(given, Record):
        return record
    if not isinstance(given, tuple):
        return given
    parts = [_with(part, record) for part in given]
    return type(given)._make(parts) if hasattr(given, "_make") else tuple(parts)


def always(explorer: Any) -> bool:
    return True


class Loop(NamedTuple):
    """A compiled loop that takes the same samples as the Python loop.

    ``policies`` are names of policies of this package, or classes from elsewhere; ``data`` is the type that ``problem.lower()``
    returns. ``prepare(explorer, source)`` gets a stretch ready; ``fits`` says whether the loop can run this very explorer. Only a
    loop with ``near`` also runs with an epsilon, and only one with ``batches`` with several samples between two looks, or to the
    end of the budget (``spend``); only one with ``finite`` runs where arms have a population, one sample at a time, and not for
    variances from pairs.
    ``parameters`` are those of the policy that the loop goes by: where another one is not at its default, Python runs.
    """

    policies: tuple[str | type, ...]
    data: type
    prepare: Callable[[Any, Any], Stretch]
    fits: Callable[[Any], bool] = always
    near: bool = False
    parameters: tuple[str, ...] = ()
    batches: bool = False
    finite: bool = False


def lowered(explorer: Any, source: Any) -> tuple[Any, Sequence, Record, Stock]:
    """What every loop needs: the decision class, the confidence sequence, the record and the values."""
    record: Moments = explorer.record
    return explorer.problem.lower(), explorer.confidence.lower(record), record_of(record), source.lower()
