"""Joint stopping with an epsilon for classes whose decisions differ by exchanges, compiled: the samples of the Python loop."""

from __future__ import annotations

from typing import Any

from ..compile import kernel
from ..enums import State, Stop
from ..kernels.oracles import best, shortfall
from .batch import planned, room, take
from .declare import Stretch
from .joint import begin, choose, foresee, lacking, sampling, take_in
from .joint_rounds import seat
from .joint_table import game_of
from .joint_verdicts import look
from .near import behind, consider, far, follow, gainable, narrow, near_of, open_box, seen, settle, tied, worst


@kernel
def by_box(inwards, data, game, near):
    """How far the decision, or an arm of it, is from the best at most; how far the arms that matter are from where they are
    seen; by points inside the box."""
    open_box(inwards, game, near)
    if near.each:
        gap, way = shortfall(data, near.inner[0], near.inner[1], game.table.decision)[0], 0.0
        for i in range(len(near.most)):
            way = max(way, near.inner[1, i] - seen(i, game, near), seen(i, game, near) - near.inner[0, i])
        return gap, 2.0 * way
    worst(game, near)
    best(data, near.corner, near.rival)
    return behind(game, near)


@kernel
def renew(data, game, near):
    """Lay witnesses anew; whether the decision may be within epsilon after all."""
    gap, way = by_box(0.0, data, game, near)
    inwards = consider(gap, way, game, near)
    if inwards > 0.0:
        gap, way = by_box(inwards, data, game, near)
        settle(gap, game, near)
    return inwards < 0.0


@kernel
def run(data, game, near, limit, rounds):
    """Explore until something needs the caller; returns (what, arm)."""
    batch, state = game.batch, game.table.state
    begin(game)
    for _ in range(rounds):
        if planned(batch) == 0:
            _, anew, many = seat(data, game)
            follow(anew, many, game, near)
            size = room(state[State.TOTAL], batch, limit)
            if size <= 0:
                return Stop.SPENT.value, -1
            e, certified = look(game)
            if certified and state[State.HALVES] == 0:
                return Stop.DECIDED.value, -1
            unknown = not near.holds[0] and not batch.spend and not far(gainable(game, near), game, near)
            if lacking(e, game) or (unknown and renew(data, game, near)):
                return Stop.UNSURE.value, -1
            close = tied(e, game, near)
            if close:
                near.plan[:] = near.gains
            while planned(batch) < size:
                if close:
                    e = narrow(game, near)
                elif planned(batch) > 0:
                    e = look(game)[0]
                arm, gain = choose(e, False, game)
                sampling(arm, game)
                if planned(batch) < size:
                    foresee(e, gain, game)
        what, arm = take(batch, game.record, game.stock)
        if what != Stop.PAUSED:
            return what, arm
        take_in(game)
    return Stop.PAUSED.value, -1


def prepare(explorer: Any, source: Any) -> Stretch:
    data = explorer.problem.lower()
    game = game_of(explorer, source, explorer.policy.pairs, True)
    return Stretch(run, (data, game, near_of(explorer, game, data.sign)))


def fits(explorer: Any) -> bool:
    return bool(explorer.epsilon > 0)
