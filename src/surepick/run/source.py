"""The values of every arm in their order: streams of random numbers, the stock drawn ahead, laws for compiled code."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from ..arms import Floats, Ints, Values
from ..certificate import Outcome
from ..engine.data import Stock
from ..engine.enums import FEWEST, Law, Shelf
from ..environments.base import Environment, Laws, law_of, stream
from ..environments.scores import At, Scores
from ..errors import ObservationError, SamplerError, SettingError
from ..estimators import Moments
from ..explorer import Explorer
from ..pool import Board, Pool
from ..problems.base import Problem

Sampler: TypeAlias = Environment | Callable[[int, int, np.random.Generator], Values]

MOST = 512  # values that NumPy draws ahead for one arm at most, about twice as many as it has had; the same however many

# Where a generator of NumPy keeps its functions for compiled code (bitgen_t), from the capsule that NumPy hands out.
_address = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def _same_sizes(problem: Problem, world: Environment) -> None:
    """Arms have a population, and the one that the environment has, if it draws without replacement."""
    sizes = world.populations()
    for i, arm in enumerate(problem.arms):
        if sizes is not None and arm.population != sizes[i]:
            raise SettingError(
                f"The environment draws the {sizes[i]:,} values of arm {arm.name!r} without replacement, and the arm "
                + ("was declared without a population" if arm.population is None else f"has a population of {arm.population:,}")
                + f": declare it with population={sizes[i]}, or draw with replacement."
            )
        if sizes is None and arm.population is not None and law_of(world) is not None:
            raise SettingError(
                f"Arm {arm.name!r} has a population of {arm.population:,}, and {type(world).__name__} draws with replacement: "
                "use Replay(values, replace=False), or leave population out."
            )


def of_pool(problem: Problem, record: object, sampler: Sampler) -> Sampler:
    """Where arms share a pool, what gives their scores item by item."""
    if problem.pool is None:
        if isinstance(sampler, Scores):
            raise SettingError(
                "Scores are read in the order of a pool: make the explorer with pool=scores.pool(seed).",
                key="pool",
            )
        return sampler
    assert isinstance(record, Board)
    if isinstance(sampler, Scores):
        sampler.refuse_others(problem.names)
        return sampler.ordered(problem.pool)
    if isinstance(sampler, Environment):
        raise SettingError(
            f"{type(sampler).__name__} draws values of no item: where arms share a pool give Scores, or a function "
            "(candidate, item) -> score.",
            key="pool",
        )
    return ItemByItem(problem.pool, record, sampler)


class ItemByItem(Environment):
    """A user's function (candidate, item) -> score, in numbers, in the order of a pool. It is not asked for what is known."""

    def __init__(self, pool: Pool, board: Board, function: Callable[..., Any]) -> None:
        self.pool: Pool = pool
        self.board: Board = board
        self.function: Callable[..., Any] = function

    def stream(self, seed: int, run: int, arm: int, begun: int = 0, failures: int = 0) -> np.random.Generator:
        return At(begun)

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> Floats:
        assert isinstance(rng, At)
        found = []
        for place in range(rng.place, rng.place + n):
            known = self.board.known(arm, place)
            found.append(self.function(arm, int(self.pool.order[place])) if known is None else known)
        rng.place += n
        return found  # type: ignore[return-value]  # checked as any value of a user's function


class Source:
    """Hands over every arm's values in their order. Environments are drawn from ahead; a user's function, which may be
    a real experiment, is asked for what is needed and no more."""

    explorer: Explorer
    batch: int

    def __init__(self, explorer: Explorer, sampler: Sampler, seed: int, run: int, batch: int = 1) -> None:
        m = explorer.problem.m
        sampler = of_pool(explorer.problem, explorer.record, sampler)
        self.explorer, self.batch = explorer, batch  # samples between two looks
        if explorer.samples == 0:  # else its numbers were drawn before, and a moment is judged once
            explorer.policy.seed(seed, run)
        self.one_by_one: bool = isinstance(sampler, ItemByItem)  # what is paid for is recorded at once
        asked = self.one_by_one
        self.draw: Callable[[int, int, np.random.Generator], Values] = (
            sampler.sample if isinstance(sampler, Environment) else sampler
        )
        self.chunk = MOST if isinstance(sampler, Environment) and not asked else 1
        if isinstance(sampler, Environment) and not asked:
            _same_sizes(explorer.problem, sampler)
        begin = sampler.stream if isinstance(sampler, Environment) else stream
        self.rngs: list[np.random.Generator] = [
            begin(seed, run, i, int(n), explorer.failures) for i, n in enumerate(explorer.record.counts)
        ]
        self.stock: Ints = np.zeros((m, 8), dtype=np.int64)  # one line of a processor's cache an arm; see engine/enums.py
        self.laws: Floats = np.zeros(0)
        law = law_of(sampler) if isinstance(sampler, Environment) and not asked else None
        self.sure: bool = False  # whether no value need be checked
        if law is not None and self._fits(law) and not explorer.problem.finite:  # whose values are kept
            self.laws = np.ascontiguousarray(law.numbers)
            self.stock[:, Shelf.LAW], self.stock[:, Shelf.FIRST], self.stock[:, Shelf.LAST] = (
                law.kinds,
                law.starts[:-1],
                law.starts[1:],
            )
            self.stock[:, Shelf.BITS] = [_address(rng.bit_generator.capsule, b"BitGenerator") for rng in self.rngs]
            self.sure = bool((self.stock[:, Shelf.LAW] != Law.FOREIGN).all())
            if self.sure:  # compiled code draws few at a time as quickly, and they stay in the cache
                self.chunk = FEWEST
        self.buffer: Floats = np.empty((m, self.chunk))
        self.plan: tuple[Ints, Ints] | None = None  # a compiled loop's batch: its arms; how many are planned, how many taken

    @property
    def ahead(self) -> bool:
        """Values are drawn ahead: an environment gives them, and nobody is asked for each."""
        return self.chunk > 1

    def lower(self) -> Stock:
        """The values for compiled loops."""
        return Stock(self.buffer, self.stock, self.laws)

    def _fits(self, law: Laws) -> bool:
        """Every value that the law can give is one that its arm takes, so that none need be checked."""
        arms = self.explorer.problem.arms
        low, high = np.array([arm.low for arm in arms]), np.array([arm.high for arm in arms])
        far = np.array([arm.farthest for arm in arms])
        within = (law.least >= np.maximum(low, -far)).all() and (law.most <= np.minimum(high, far)).all()
        return bool(within) and (law.binary or all(arm.kind != "bernoulli" for arm in arms))

    def drawn(self, arm: int, n: int) -> Floats | None:
        """The arm's next n values, checked; None if it has not so many."""
        try:
            given = self.draw(arm, n, self.rngs[arm])
            if isinstance(given, Iterator):  # which may raise as well
                given = list(islice(given, n + 1))
        except StopIteration:
            return None
        except Exception as error:
            name, outcome = self.explorer.problem.names[arm], Outcome.of(self.explorer.certificate())
            self.explorer.failures += 1
            raise SamplerError(
                f"The sampler raised {type(error).__name__} for arm {name!r} after {self.explorer.samples:,} samples ({error}). "
                "Nothing is lost: error.outcome is what they say, and surepick.explore(error.explorer, sampler) goes on.",
                self.explorer,
                outcome,
                name,
            ) from error
        try:
            values = np.asarray(given) if self.sure else self.explorer.problem.arms[arm].check(given)
            if len(values) != n:
                name = self.explorer.problem.arms[arm].name
                raise ObservationError(f"The sampler gave {len(values)} values of arm {name!r} when asked for {n}.")
        except ObservationError as error:
            error.explorer, error.outcome = self.explorer, Outcome.of(self.explorer.certificate())
            raise
        return values

    def refill(self, arm: int) -> bool:
        """Draw values of an arm ahead. It ends when there is none: what was drawn before has been used by now. Says whether the
        record has moved to have room for them."""
        n = min(self.chunk, max(FEWEST, 2 * int(self.explorer.record.counts[arm])))
        if (size := self.explorer.problem.arms[arm].population) is not None:
            n = min(n, size - int(self.explorer.record.counts[arm]))
        values = self.drawn(arm, n)
        while values is None and n > 1:
            n //= 2
            values = self.drawn(arm, n)
        if values is None:
            self.explorer.end(arm)
            values = np.empty(0)
        self.buffer[arm, : len(values)] = values
        self.stock[arm, Shelf.USED], self.stock[arm, Shelf.FILLED] = 0, len(values)
        record = self.explorer.record
        if not isinstance(record, Moments) or record.redraws is None:
            return False
        return record.redraws.reserve(arm, record.counts, len(values))

    def take_all(self, arms: list[int]) -> None:
        """Tell the explorer one value more for every time that an arm is listed, those of one arm together: one moment."""
        for arm, n in Counter(arms).items() if len(arms) != 1 else ((arms[0], 1),):
            self.take(arm, n)
        with self.explorer.lock:
            self.explorer.forget()

    def take(self, arm: int, n: int) -> None:
        """Tell the explorer the next n values of an arm, all that there are before more are asked for; if it has not so many,
        it ends."""
        used, filled = int(self.stock[arm, Shelf.USED]), int(self.stock[arm, Shelf.FILLED])
        if n == 1 and used >= filled and self.explorer.able[arm]:
            self.refill(arm)
            used, filled = 0, int(self.stock[arm, Shelf.FILLED])
        ready = min(n, filled - used)
        if ready > 0:
            self.stock[arm, Shelf.USED] += ready
            self._tell(arm, self.buffer[arm, used : used + ready])
        missing = n - ready
        size = 1 if self.one_by_one else missing
        while missing > 0 and self.explorer.able[arm]:
            size = min(size, missing)
            values = self.drawn(arm, size)
            if values is not None:
                self._tell(arm, values)
                missing -= size
            elif size == 1:
                self.explorer.end(arm)
            else:
                size = size // 2 if self.ahead else 1

    def _tell(self, arm: int, values: Floats) -> None:
        with self.explorer.lock:  # others may look meanwhile
            self.explorer.record.update(arm, values)
            self.explorer.forget(complete=False)

    def left(self) -> list[int]:
        """The arms of a batch that a compiled loop has planned and not yet sampled."""
        if self.plan is None:
            return []
        arms, (planned, taken) = self.plan
        left: list[int] = arms[taken:planned].tolist()
        return left
