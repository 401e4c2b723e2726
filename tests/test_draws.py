"""Values drawn in compiled code are those that NumPy draws."""

from __future__ import annotations

import numpy as np
import pytest

import surepick as sp
from surepick.engine import compiled
from surepick.engine.data import Record
from surepick.engine.enums import Law, Shelf
from surepick.environments import ENVIRONMENTS, Environment, stream
from surepick.environments.base import law_of
from surepick.errors import ObservationError
from surepick.run.drive import drive
from surepick.run.source import Source

from .test_environments import WORLDS

EXTREME: dict[str, Environment] = {
    **WORLDS,
    "tiny shapes": sp.Beta([0.01, 0.5, 0.99, 0.5], [0.02, 0.01, 0.05, 1e-8]),
    "huge shapes": sp.Beta([0.3, 0.5, 0.999], [1e6, 2.0, 1e9]),
    "one value": sp.Replay([[3.0], [-1.0]]),
    "many values": sp.Replay([np.arange(1e5), np.arange(3.0)]),
}


def any_value(m: int) -> sp.TopK:
    """A problem whose arms take every value."""
    return sp.TopK([sp.Arm(f"a{i}", kind="subgaussian", scale=1.0) for i in range(m)], 1)


@pytest.mark.parametrize("name", EXTREME)
def test_the_same_numbers_as_numpy(name: str) -> None:
    world = EXTREME[name]
    explorer = sp.Explorer(any_value(world.m))
    source = Source(explorer, world, 7, 3)
    restock = compiled("draws").restock
    for arm in range(world.m):
        seen: list[float] = []
        known, block = source.stock[arm, Shelf.LAW] != Law.FOREIGN, 0
        while len(seen) < (40_000 if known else 9_000):
            block += 1
            if block % 10 == 9 or not known:  # draws by Python in between, as after a round that is left to it
                source.refill(arm)
            else:
                assert restock(arm, Record(np.full(world.m, 37 * block), np.zeros((world.m, 8)), False), source.lower())
            assert source.stock[arm, Shelf.USED] == 0
            seen.extend(source.buffer[arm, : source.stock[arm, Shelf.FILLED]])
        assert np.array_equal(seen, world.sample(arm, len(seen), stream(7, 3, arm)))


def test_every_environment_draws_in_compiled_code() -> None:
    for name, world in WORLDS.items():
        assert type(world) is ENVIRONMENTS[name]
        known = Source(sp.Explorer(any_value(world.m)), world, 0, 0).stock[:, Shelf.LAW] != Law.FOREIGN
        assert known.any() if name == "beta" else known.all(), name


def test_small_beta_shapes_are_left_to_numpy() -> None:
    source = Source(sp.Explorer(sp.TopK(4, 1)), sp.Beta([0.5, 0.5, 0.01, 0.99], [2.0, 2.1, 50.0, 100.0]), 0, 0)
    assert (source.stock[:, Shelf.LAW] == Law.FOREIGN).tolist() == [True, False, False, False]
    assert not compiled("draws").restock(0, Record(np.ones(4, dtype=np.int64), np.zeros((4, 8)), False), source.lower())


@pytest.mark.parametrize("policy", ["coci", "uniform", "clucb", "joint"])
def test_compiled_loops_do_not_come_back_for_values(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    plain = Source.refill
    monkeypatch.setattr(Source, "refill", lambda self, arm: (asked.append(arm), plain(self, arm))[1])
    world = sp.Bernoulli([0.55, 0.5, 0.45, 0.4])
    drive(sp.Explorer(sp.TopK(4, 2), policy=policy, budget=20_000), world)
    assert len(asked) == 4  # the first value of every arm


class Shifted(sp.Bernoulli):
    """From elsewhere: samples otherwise than its parent."""

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> np.ndarray:
        return 0.5 + super().sample(arm, n, rng) / 2


class Renamed(sp.Bernoulli):
    """From elsewhere: samples as its parent does."""


def test_a_world_from_elsewhere_has_no_law_that_is_not_its_own() -> None:
    p = [0.7, 0.2]
    assert law_of(Shifted(p)) is None
    assert law_of(Renamed(p)) is not None
    explorer = sp.Explorer(sp.BestArm(2), policy="coci", budget=5000)
    drive(explorer, Shifted(p))
    assert (explorer.view.estimates >= 0.5).all()


def test_a_world_with_a_sample_of_its_own_has_no_law(monkeypatch: pytest.MonkeyPatch) -> None:
    world = sp.Bernoulli([0.7, 0.2])
    world.sample = lambda arm, n, rng: rng.random(n)
    assert law_of(world) is None
    monkeypatch.setattr(sp.Bernoulli, "sample", lambda self, arm, n, rng: rng.random(n))
    assert law_of(sp.Bernoulli([0.7, 0.2])) is None


@pytest.mark.parametrize(
    ("arm", "world"),
    [
        (sp.Arm("x"), sp.Gaussian([0.5, 0.5], 0.2)),
        (sp.Arm("x", low=0.2), sp.Bernoulli([0.1, 0.9])),
        (sp.Arm("x", high=0.9), sp.Beta([0.5, 0.5], 3)),
        (sp.Arm("x", kind="bernoulli"), sp.Beta([0.1, 0.9], 2)),
        (sp.Arm("x", kind="bernoulli"), sp.Replay([[0, 1, 0.5], [0, 1]])),
        (sp.Arm("x", high=1.5), sp.Replay([[0, 1, 2.0], [0, 1]])),
    ],
)
def test_a_value_that_an_arm_does_not_take_is_refused(arm: sp.Arm, world: Environment) -> None:
    with pytest.raises(ObservationError, match="Nothing was recorded"):
        sp.explore(sp.BestArm([arm, sp.Arm("y", kind="subgaussian", scale=1.0)]), world, policy="coci", budget=20_000)


def test_a_law_within_bounds_is_drawn_unchecked() -> None:
    """Certain arms within narrow bounds: only values that can occur matter for a replay."""
    world = sp.Replay([[0.25, 0.5], [0.5, 0.75]])
    source = Source(sp.Explorer(sp.BestArm([sp.Arm("a", low=0.2, high=0.6), sp.Arm("b", low=0.5)])), world, 0, 0)
    assert (source.stock[:, Shelf.LAW] != Law.FOREIGN).all()
