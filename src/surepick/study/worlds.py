"""The world that a study's [simulate] table describes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from ..arms import Arm
from ..environments import Bernoulli, Beta, Environment, Gaussian, Replay, Scores, VoterModel
from ..errors import StudyError
from ..problems import Problem
from . import schema
from .complaints import Place
from .needs import Need
from .observations import read_observations, read_scores
from .tables import Table, read_table


def build_world(place: Place, data: dict[str, object], problem: Problem, table: Table | None) -> Environment:
    kind = place.kind(data, schema.SIMULATE_KEYS, "simulate")
    model = schema.SIMULATE_KEYS[kind]
    if kind == "voter-model" and "groups" in data:
        model = schema.VoterKeys
    keys = place.check(model, data, "simulate")
    need = Need(place, "simulate", table)
    with place.blame("simulate"):
        match keys:
            case schema.BernoulliKeys():
                world: Environment = Bernoulli(need("p", keys.p, "mean", Table.numbers))
            case schema.BetaKeys():
                world = Beta(need("mean", keys.mean, "mean", Table.numbers), keys.concentration)
            case schema.GaussianKeys():
                mean, sd = need("mean", keys.mean, "mean", Table.numbers), need("sd", keys.sd, "S", Table.numbers)
                world = Gaussian(mean, sd)
            case schema.ReplayKeys():
                return _replay(read_table(place.path(keys.file)), problem, keys.replace)
            case schema.ScoresKeys():
                return _scores(place, read_table(place.path(keys.file)), problem)
            case schema.VoterKeys():
                edges = [(u, v) for u, v in keys.edges]
                world = VoterModel(keys.groups, edges, keys.innate, keys.stubbornness)
                if list(world.names) != problem.names:
                    place.fail(
                        "simulate.groups",
                        f"the groups, in order, are {_list(world.names)}, but the arms are {_list(problem.names)}.",
                    )
            case schema.RandomVoterKeys():
                sizes = keys.sizes
                if sizes is None and problem.sizes is not None:
                    sizes = [int(n) if n == int(n) else n for n in problem.sizes.tolist()]
                world = VoterModel.random(
                    need("sizes", sizes, "N", Table.wholes),
                    share=keys.share,
                    ties=keys.ties,
                    homophily=keys.homophily,
                    stubbornness=keys.stubbornness,
                    names=problem.names,
                    seed=keys.seed,
                )
            case _:
                raise AssertionError(f"no builder for {kind}")
    if world.m != problem.m:
        place.fail("simulate", f"it describes {world.m} arms, but the problem has {problem.m}: give one truth an arm.")
    for i, arm in enumerate(problem.arms):
        _fits(place, world, i, arm)
    return world


def _replay(table: Table, problem: Problem, replace: bool) -> Replay:
    values = read_observations(table, problem)
    for name, seen in zip(problem.names, values, strict=True):
        if len(seen) == 0:
            raise StudyError(f"{table.path}: no row is about arm {name!r}; give at least one value an arm to replay.")
    return Replay(values, replace=replace)


def _scores(place: Place, table: Table, problem: Problem) -> Scores:
    """Every candidate's score on every item of the pool."""
    pool = problem.pool
    if pool is None:
        place.fail("simulate.kind", "scores are those of items, so the study needs a [pool] with items = ...")
    found = np.full((problem.m, pool.size), np.nan)
    for row, ((name, item), score) in enumerate(read_scores(table, problem)):
        i, place_ = problem.index[name], pool[item]
        if not np.isnan(found[i, place_]):
            table.fail(row, "item", f"item {item!r} of {name!r} has a score already; give a repetition an item of its own")
        found[i, place_] = score
    missing = np.argwhere(np.isnan(found))
    if len(missing):
        i, item = missing[0].tolist()
        raise StudyError(
            f"{table.path}: {len(missing):,} scores are missing, the first that of {problem.names[i]!r} on item "
            f"{pool.names[item]!r}: a missing score is never guessed; say what it counts as."
        )
    return Scores(found, pool.names if pool.named else None)


def _fits(place: Place, world: Environment, i: int, arm: Arm) -> None:
    """Values that the arm would refuse, or that its scale does not cover, are better refused before the run."""
    if isinstance(world, Gaussian):
        sd = float(world.sd[i])
        if arm.scale is None and arm.kind != "normal" and sd > 0:
            place.fail(
                "simulate.kind",
                f'arm {arm.name!r} is {arm.kind} but normal values are unbounded; give the arm kind = "normal", or '
                f'kind = "subgaussian" and scale = {sd:g}, or simulate another kind.',
            )
        if arm.scale is not None and arm.scale < sd:
            place.fail("simulate.sd", f"arm {arm.name!r} has sd {sd:g}, above its scale {arm.scale:g}; raise the scale.")
    elif arm.low > 0 or arm.high < 1:
        place.fail(
            "simulate.kind",
            f"its values lie in [0, 1], outside the bounds [{arm.low:g}, {arm.high:g}] of arm {arm.name!r}; "
            "widen the bounds, or replay values of your own.",
        )
    elif arm.kind == "bernoulli" and not isinstance(world, Bernoulli):
        support = getattr(world, "support", np.array([0.5]))
        if not np.isin(support, (0.0, 1.0)).all():
            place.fail("simulate.kind", f"arm {arm.name!r} is declared bernoulli but would get other values than 0 and 1.")


def _list(names: Sequence[Hashable]) -> str:
    return ", ".join(map(repr, names[:6])) + (", ..." if len(names) > 6 else "")
