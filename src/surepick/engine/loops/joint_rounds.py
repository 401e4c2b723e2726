"""Joint stopping with one sample or several between two looks, written once for all classes: each brings its own ``seat``."""

from __future__ import annotations

from typing import Any

from numba.extending import overload

from ..compile import kernel
from ..enums import State, Stop
from ..kernels.draws import sample
from ..numba_nrt import LEAN
from .batch import planned, room, take
from .declare import Stretch
from .joint import begin, choose, foresee, lacking, observed, sampling, take_in
from .joint_table import Game, game_of
from .joint_verdicts import look

SEATS: dict[type, Any] = {}


def seated(data: type, kernel: Any) -> type:
    """Declare the ``seat`` of a class; returns the class."""
    SEATS[data] = kernel
    return data


def seat(data: Any, game: Game) -> tuple[bool, bool, int]:
    """The decision after observations, and the exchanges that have changed with it and with them; for compiled code alone.
    Returns (whether rounding can tell which it is, whether all exchanges have changed, else of how many arms of ``moved``)."""
    raise NotImplementedError


@overload(seat, jit_options={"forceinline": True, **LEAN})
def _seat(data, game):
    kernel = SEATS[data.instance_class]
    return lambda data, game: kernel(data, game)


@kernel
def run(data, game, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    state = game.table.state
    begin(game)
    for _ in range(rounds):
        if not seat(data, game)[0]:
            return Stop.UNSURE.value, -1
        e, certified = look(game)
        if game.batch.spend and lacking(e, game):
            return Stop.UNSURE.value, -1
        arm, _ = choose(e, certified, game)
        what = sample(arm, state[State.TOTAL], game.record, game.stock, limit)
        if what != Stop.PAUSED:
            return what, arm
        observed(arm, game)
    return Stop.PAUSED.value, -1


@kernel
def run_in_batches(data, game, limit, rounds):
    """As ``run``, with several samples between two looks."""
    batch, state = game.batch, game.table.state
    begin(game)
    for _ in range(rounds):
        if planned(batch) == 0:
            if not seat(data, game)[0]:
                return Stop.UNSURE.value, -1
            size = room(state[State.TOTAL], batch, limit)
            if size <= 0:
                return Stop.SPENT.value, -1
            while planned(batch) < size:
                e, certified = look(game)
                if lacking(e, game):
                    return Stop.UNSURE.value, -1
                arm, gain = choose(e, certified and planned(batch) == 0, game)
                if arm < 0:
                    return Stop.DECIDED.value, -1
                sampling(arm, game)
                if planned(batch) < size:
                    foresee(e, gain, game)
        what, arm = take(batch, game.record, game.stock)
        if what != Stop.PAUSED:
            return what, arm
        take_in(game)
    return Stop.PAUSED.value, -1


def stretch_of(explorer: Any, source: Any, spots: int, alike: bool) -> Stretch:
    """A loop made ready: there are at most so many exchanges, with slopes that are ``alike`` or not."""
    game = game_of(explorer, source, spots, alike)
    return Stretch(run if source.batch == 1 else run_in_batches, (explorer.problem.lower(), game))
