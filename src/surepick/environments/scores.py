"""Candidates whose scores on all items of a pool are known: what would have been enough?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arms import WIDEST, Floats, Ints
from ..checks import entries, is_whole, label, numbers, short
from ..errors import ParameterError, ProblemError
from ..pool import Pool
from .base import Environment


class Scores(Environment):
    """A table of scores: a row a candidate, a column an item.

    :func:`surepick.explore` reads it in the order of the explorer's pool; :func:`surepick.simulate` draws an order for every run.

    Parameters
    ----------
    table : array of numbers
        No score may be missing.
    items : sequence, optional
        The names of the items.
    candidates : sequence, optional
        The names of the candidates.

    Examples
    --------
    >>> import surepick as sp
    >>> world = sp.Scores([[1, 1, 0, 1], [0, 1, 0, 0]])
    >>> world.means, world.pool(0).size
    (array([0.75, 0.25]), 4)
    >>> explorer = sp.Explorer(sp.BestArm(2), pool=world.pool(0))
    >>> sp.explore(explorer, world).decision
    array([1, 0])
    """

    def __init__(
        self, table: ArrayLike, items: Sequence[Hashable] | None = None, candidates: Sequence[Hashable] | None = None
    ) -> None:
        given = numbers(table)
        if given is None or given.ndim != 2 or 0 in given.shape:
            raise ProblemError(
                f"Give the scores as a table of numbers, a row a candidate and a column an item, not {short(table)}.", key="table"
            )
        self.candidates: list[Any] | None = None if candidates is None else _names(candidates, given.shape[0])
        bad = np.argwhere(~(np.abs(given) <= WIDEST))
        if len(bad):
            i, item = bad[0].tolist()
            who = f"candidate {i}" if self.candidates is None else short(self.candidates[i])
            raise ProblemError(
                f"The score of {who} on item {item} is {given[i, item]}, no finite number: a missing score is never "
                "guessed; say what it counts as, or leave the item out for all candidates.",
                key="table",
            )
        self.table: Floats = np.array(given, dtype=np.float64)
        self.items: list[Any] | None = None if items is None else entries(items)
        if items is not None and (self.items is None or len(self.items) != self.table.shape[1]):
            raise ProblemError(f"There are {self.table.shape[1]} columns: give as many names of items.", key="items")
        self.means: Floats = self.table.mean(axis=1)
        self.variances: Floats = self.table.var(axis=1, ddof=1 if self.table.shape[1] > 1 else 0)

    def pool(self, seed: int | tuple[int, ...] = 0) -> Pool:
        """The items in the order of a seed."""
        return Pool(self.table.shape[1] if self.items is None else self.items, seed)

    def populations(self) -> Ints:
        return np.full(self.m, self.table.shape[1])

    def refuse_others(self, names: Sequence[Hashable]) -> None:
        """Refuse arms that are called as the rows are, but come in another order; arms without names stand for the rows."""
        if self.candidates is None or not set(names) & set(self.candidates):
            return
        for i, (name, row) in enumerate(zip(names, self.candidates, strict=False)):
            if name != row:
                raise ProblemError(
                    f"Arm {i} is {short(name)}, and row {i} of the scores is {short(row)}: give the arms in the order of the "
                    "rows, such as TopK(scores.candidates, k).",
                    key="arms",
                )

    def ordered(self, pool: Pool) -> InOrder:
        """The scores in the order of a pool."""
        if not isinstance(pool, Pool):
            raise ProblemError(f"pool must be a Pool of the items, such as scores.pool(0), not {short(pool)}.", key="pool")
        if pool.size != self.table.shape[1]:
            raise ProblemError(
                f"The table has {self.table.shape[1]:,} items and the pool {pool.size:,}: make it with pool = scores.pool(seed).",
                key="pool",
            )
        columns = pool.order
        if pool.named and self.items is not None:
            at = {name: j for j, name in enumerate(self.items)}
            strange = [name for name in pool.names if name not in at]
            if strange:
                raise ProblemError(
                    f"The table has no item {short(strange[0])}, which the pool has: make the pool with scores.pool(seed).",
                    key="pool",
                )
            columns = np.array([at[pool.names[j]] for j in pool.order])
        return InOrder(self, columns)

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> Floats:
        raise ParameterError("Scores are read in the order of a pool: make the explorer with pool=scores.pool(seed).", key="pool")


def _names(candidates: Sequence[Hashable], m: int) -> list[Any]:
    """The names of the rows, all different."""
    found = None if isinstance(candidates, (str, bytes)) else entries(candidates)
    if found is None or len(found) != m:
        raise ProblemError(f"There are {m:,} rows: give as many names of candidates, not {short(candidates)}.", key="candidates")
    seen: set[Any] = set()
    for i, name in enumerate(found):
        if name is None or is_whole(name) or isinstance(name, (bool, float)) or not label(name):
            raise ProblemError(f"A candidate cannot be called {short(name)} (row {i}): use texts or tuples.", key="candidates")
        if name in seen:
            raise ProblemError(f"Two candidates are called {short(name)}; give each a name of its own.", key="candidates")
        seen.add(name)
    return found


class InOrder(Environment):
    """Scores in the order of a pool, each candidate from where it is."""

    def __init__(self, scores: Scores, columns: Ints) -> None:
        self.means: Floats = scores.means
        self.variances: Floats = scores.variances
        self.table: Floats = scores.table[:, columns]

    def stream(self, seed: int, run: int, arm: int, begun: int = 0, failures: int = 0) -> np.random.Generator:
        return At(begun)

    def populations(self) -> Ints:
        return np.full(self.m, self.table.shape[1])

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> Floats:
        assert isinstance(rng, At)
        rng.place += n
        return self.table[arm, rng.place - n : rng.place]


class At(np.random.Generator):
    """Where in the order a candidate is; nothing is random."""

    def __init__(self, place: int) -> None:
        super().__init__(np.random.PCG64(0))
        self.place = place
