"""A pool: the finitely many items that all candidates are judged on, and the scores that are known."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .arms import Arm, Floats, Ints
from .checks import MANY, SEEDS, entries, is_whole, label, nearest, short, whole
from .errors import ObservationError, ProblemError
from .estimators import Moments
from .redraws import Redraws

FEW = 10_000  # items among which one that resembles an unknown one is looked for
SHOWN = 4  # items that a message names


class Pool:
    """Items that every candidate is judged on: questions of a benchmark, test cases, patients' records, past orders.

    The items come in one random order, the same for all candidates, which the seed fixes. The first score of every candidate is
    on the first item of that order, and so on: what two candidates differ by on the same items varies little.

    Parameters
    ----------
    items : int or sequence
        How many items there are, or their names: texts, tuples, anything that can be the key of a dict and is not a whole number.
    seed : int
        Of the order.

    Attributes
    ----------
    size : int
        How many items there are.
    names : list
        Their names; their numbers if they have none.
    order : array
        The numbers of the items in the order in which they are judged.

    Examples
    --------
    >>> import surepick as sp
    >>> pool = sp.Pool(["q1", "q2", "q3", "q4"], seed=0)
    >>> pool.size, [pool.names[i] for i in pool.order]
    (4, ['q3', 'q1', 'q2', 'q4'])
    """

    def __init__(self, items: int | Sequence[Hashable], seed: int | tuple[int, ...] = 0) -> None:
        self.seed: int | tuple[int, ...] = (
            tuple(whole(part, "seed", 0, SEEDS) for part in seed)
            if isinstance(seed, tuple) and seed
            else whole(seed, "seed", 0, SEEDS)
        )
        if is_whole(items):
            self.size: int = whole(items, "items", 1, MANY, ProblemError)
            self.names: list[Any] = list(range(self.size))
            self._index: dict[Any, int] | None = None
        else:
            self.names = _named(items)  # type: ignore[arg-type]
            self.size = len(self.names)
            self._index = {name: i for i, name in enumerate(self.names)}
        self.order: Ints = np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed))).permutation(self.size)
        self.places: Ints = np.empty(self.size, dtype=np.int64)  # of every item, where in the order it comes
        self.places[self.order] = np.arange(self.size)

    @property
    def named(self) -> bool:
        """The items have names."""
        return self._index is not None

    def __getitem__(self, item: Hashable) -> int:
        """The number of an item, given by its name or its number."""
        if is_whole(item):
            if 0 <= int(item) < self.size:
                return int(item)
            raise ObservationError(f"There is no item {short(item)}: the {self.size:,} items are numbered from 0.")
        try:
            if self._index is not None and item in self._index:
                return self._index[item]
        except TypeError:  # it has no hash
            pass
        hint = "; the items have no names, only numbers"
        if self._index is not None:
            meant = nearest(item, map(str, self.names)) if isinstance(item, str) and self.size <= FEW else None
            hint = f"; did you mean {meant!r}?" if meant else f"; the first ones are {', '.join(map(short, self.names[:SHOWN]))}"
        raise ObservationError(f"There is no item called {short(item)}{hint}.")

    def __repr__(self) -> str:
        return f"Pool({self.size} items, seed={self.seed})"


def _named(items: Sequence[Hashable]) -> list[Any]:
    given = None if isinstance(items, (str, bytes, Mapping)) else entries(items)
    if given is None:
        raise ProblemError(f"Give the items as a number of them or a list of their names, not {short(items)}.", key="items")
    if not given:
        raise ProblemError("The pool has no items; give at least one.", key="items")
    seen: dict[Any, int] = {}
    for i, name in enumerate(given):
        if name is None or is_whole(name) or isinstance(name, (bool, float)) or not label(name):
            raise ProblemError(
                f"An item cannot be called {short(name)} (position {i}): use texts or tuples, or say how many items there are.",
                key="items",
            )
        if name in seen:
            raise ProblemError(
                f"Two items are called {short(name)} (positions {seen[name]} and {i}): an item is judged once by every "
                "candidate; give repetitions names of their own.",
                key="items",
            )
        seen[name] = i
    return given


class Board(Moments):
    """The scores of all candidates on the items of a pool.

    What counts is what a candidate has from the first item on without a gap: ``counts`` of them. Scores that came before those of
    earlier items, as they do from several workers, wait in ``ahead``.
    """

    def __init__(self, m: int, size: int) -> None:
        super().__init__(m, variance=False)
        self.scores: Floats = np.full((m, size), np.nan)  # in the pool's order
        self.ahead: dict[tuple[int, int], float] = {}
        self.offered: Ints = np.zeros(m, dtype=np.int64)  # up to which place items have been asked for

    def __getstate__(self) -> Any:
        return super().__getstate__(), self.scores, self.ahead, self.offered

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state[0])
        self.scores, self.ahead, self.offered = state[1:]

    def place(self, arms: Sequence[Arm]) -> Any:
        super().place(arms)
        self.redraws: Redraws | None = None  # differences on shared items are what is weighed, and not draws anew
        return self

    @property
    def told(self) -> Ints:
        found = self.counts.copy()
        for i, _ in self.ahead:
            found[i] += 1
        return found

    def update(self, arm: int, values: Floats) -> None:
        """The next scores of a candidate, in the pool's order."""
        first = int(self.counts[arm])
        for place, score in enumerate(values.tolist(), first) if self.ahead else ():
            before = self.ahead.get((arm, place), score)
            if before != score:
                raise ObservationError(
                    f"The score of candidate {arm} at place {place} of the order was {before:g}, and came in again as {score:g}: "
                    "a score is one number."
                )
        for place in range(first, first + len(values)):
            self.ahead.pop((arm, place), None)
        self.scores[arm, first : first + len(values)] = values
        super().update(arm, values)

    def known(self, i: int, place: int) -> float | None:
        """A score that was told before."""
        return float(self.scores[i, place]) if place < self.counts[i] else self.ahead.get((i, place))

    def take_in(self, found: Mapping[tuple[int, int], float]) -> None:
        """Scores by candidate and place, checked: those without a gap count from now on."""
        self.ahead.update(found)
        for i in sorted({i for i, _ in found}):
            place, ready = int(self.counts[i]), list[float]()
            while (i, place) in self.ahead:
                ready.append(self.ahead.pop((i, place)))
                place += 1
            if ready:
                self.update(i, np.array(ready))

    def free(self, i: int, waiting: Iterable[tuple[int, int]]) -> Iterable[int]:
        """The places of a candidate without a score, told or on its way, in their order."""
        taken = {place for j, place in waiting if j == i}
        for place in range(int(self.counts[i]), self.scores.shape[1]):
            if (i, place) not in self.ahead and place not in taken:
                yield place
