"""The driver: when it stops to be looked at, what it leaves behind, and compiled loops that say what is not so."""

from __future__ import annotations

import logging
from contextlib import closing
from itertools import count
from typing import Any

import numpy as np
import pytest

import surepick as sp
from surepick.engine import start
from surepick.engine.enums import Stop
from surepick.engine.loops import Loop, Stretch, find
from surepick.lab import History, Trace
from surepick.run.drive import drive, looks

P = [0.9, 0.8, 0.6, 0.3, 0.2]
TOP = sp.TopK(5, 2)
WORLD = sp.Bernoulli(P)
LIE = 60  # samples after which a loop says that all is decided


class Lying:
    """A compiled loop that is right for a while, and then says that all is decided."""

    spent = 0.0

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def ready(self, *_: object) -> bool:
        return True

    def __call__(self, *given: Any) -> tuple[int, int]:
        *given, limit, rounds = given
        what, arm = self.kernel(*given, min(limit, LIE), rounds)
        return (Stop.DECIDED, -1) if what == Stop.SPENT and limit > LIE else (what, arm)


@pytest.fixture
def lying(monkeypatch: pytest.MonkeyPatch) -> None:
    def lie(explorer: sp.Explorer, batch: int) -> Loop | None:
        loop = find(explorer, batch)
        assert loop is not None

        def prepare(explorer: Any, source: Any) -> Stretch:
            stretch = loop.prepare(explorer, source)
            return stretch._replace(kernel=Lying(stretch.kernel))

        return loop._replace(prepare=prepare)

    monkeypatch.setattr("surepick.run.drive.find", lie)


def by_python(seed: int, **settings: Any) -> sp.Explorer:
    explorer = sp.Explorer(TOP, **settings)
    drive(explorer, WORLD, seed=seed, compiled=False)
    assert explorer.certified
    assert explorer.samples > 2 * LIE
    return explorer


# -- a loop that lies --------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("lying")
@pytest.mark.parametrize("policy", ["auto", "coci", "clucb"])
def test_explore_goes_on_where_the_policy_is_not_content(policy: str) -> None:
    outcome = sp.explore(TOP, WORLD, policy=policy, seed=1)
    plain = by_python(1, policy=policy)
    assert outcome.certified
    assert outcome.counts.tolist() == plain.counts.tolist()


@pytest.mark.usefixtures("lying")
@pytest.mark.parametrize("record", [Trace, History])
def test_a_trace_goes_on_where_the_policy_is_not_content(record: type[Trace]) -> None:
    explorer, trace = sp.Explorer(TOP), record()
    trace.follow(explorer, WORLD, seed=1)
    assert explorer.certificate().to_dict() == by_python(1).certificate().to_dict()
    assert trace.samples[-1] == explorer.samples


@pytest.mark.usefixtures("lying")
def test_pictures_go_on_where_the_policy_is_not_content(ask, study, tmp_path) -> None:
    file = study(f'arms = 5\nproblem = {{kind = "top-k", k = 2}}\nsimulate = {{kind = "bernoulli", p = {P}}}\n')
    found = ask("run", file, "--seed", 1, "--plot", tmp_path)["certificate"]
    assert found["certified"]
    assert found["counts"] == by_python(1).counts.tolist()


# -- when a look is due ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("policy", ["auto", "coci", "clucb", "uniform"])
def test_looks_come_at_the_samples_that_are_asked_for(policy: str, compiled: bool) -> None:
    explorer, plain = (sp.Explorer(TOP, policy=policy, confidence="paper" if policy == "coci" else "auto") for _ in range(2))
    drive(plain, WORLD, seed=5)
    seen = list(looks(explorer, WORLD, seed=5, every=None, next_look=lambda n: max(3, 2 * n), compiled=compiled))
    assert seen == [*(3 * 2**i for i in range(len(seen) - 1)), plain.samples]
    assert explorer.counts.tolist() == plain.counts.tolist()


class Foreign(sp.Environment):
    """Whose values compiled code cannot draw, so that it often stops for more."""

    m = len(P)

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        return WORLD.sample(arm, n, rng)

    def truth(self, parameter: Any) -> np.ndarray[Any, Any]:
        return WORLD.truth(parameter)


@pytest.mark.parametrize("settings", [{}, {"budget": 3_000, "spend": True}], ids=str)
def test_a_batch_is_looked_at_when_it_is_complete(settings: dict[str, Any]) -> None:
    found = []
    for compiled in (True, False):
        explorer = sp.Explorer(TOP, 1e-12, **settings)
        going = looks(explorer, Foreign(), batch=150, every=None, next_look=lambda n: n + 40, compiled=compiled)
        found.append((list(going), explorer.counts.tolist()))
    assert found[0] == found[1]
    assert len(found[0][0]) > 10


class Even(sp.Environment):
    """Where nothing separates the arms, and compiled code has to stop for values."""

    def __init__(self, m: int) -> None:
        self.means, self.variances = np.full(m, 0.5), np.full(m, 0.25)

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        return (rng.random(n) < 0.5).astype(np.float64)


PLAN, ALLOCATION = sp.ResourcePlan([[0, 0.5]] * 3, [1] * 3, 0), sp.SampleAllocation([1, 2, 3], 9)
TREE = sp.SpanningTree([(0, 1)] * 3)
ROUTE = sp.Path([("s", "a"), ("s", "b"), ("a", "t"), ("b", "t")], "s", "t")
COUPLES = sp.Matching([("r", "x"), ("r", "y"), ("q", "x"), ("q", "y")])
LOOPS = [
    (PLAN, "pac"), (PLAN, "coci"), (ALLOCATION, "pac"), (ALLOCATION, "coci"), (ALLOCATION, "joint"), (TREE, "clucb"),
    (TREE, "coci"), (TREE, "joint"), (ROUTE, "clucb"), (ROUTE, "joint-linear"), (COUPLES, "unified"),
    (TOP, "clucb"), (TOP, "coci"), (TOP, "joint"),
]  # fmt: skip


def looked_at(problem: sp.Problem, policy: str, batch: int, compiled: bool, **when: Any) -> tuple[list[int], list[int]]:
    explorer = sp.Explorer(problem, 1e-9, policy=policy, budget=400 + 8 * batch)
    assert find(explorer, batch) is not None
    return list(looks(explorer, Even(problem.m), batch=batch, compiled=compiled, **when)), explorer.counts.tolist()


@pytest.mark.parametrize("batch", [1, 50, 2_000])
@pytest.mark.parametrize(("problem", "policy"), LOOPS, ids=str)
def test_every_loop_is_looked_at_where_python_is(
    problem: sp.Problem, policy: str, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surepick.engine.start.patience", 0.0)
    for step in (1, 3 * batch + 1):
        when = {"every": None, "next_look": lambda n, step=step: n + step}
        assert looked_at(problem, policy, batch, True, **when) == looked_at(problem, policy, batch, False, **when)


def test_the_loop_for_large_trees_is_looked_at_where_python_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surepick.engine.loops.coci_tree.MOST_EDGES", 2)
    test_every_loop_is_looked_at_where_python_is(TREE, "coci", 50, monkeypatch)


@pytest.mark.parametrize(("problem", "policy"), [(PLAN, "pac"), (TREE, "clucb"), (TOP, "joint"), (TOP, "coci")], ids=str)
def test_looks_by_time_come_also_where_nearly_every_batch_stops_for_values(
    problem: sp.Problem, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surepick.engine.start.patience", 0.0)
    seen, counts = looked_at(problem, policy, 2_000, True, every=0.0)
    assert counts == looked_at(problem, policy, 2_000, False, every=0.0)[1]
    assert len(seen) >= 6  # of 9 batches


def test_a_function_that_has_ended_is_not_asked_again() -> None:
    asked: list[int] = []

    def sampler(arm: int, n: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        asked.append(arm)
        if arm == 1 and asked.count(1) > 30:
            raise StopIteration
        return WORLD.sample(arm, n, rng)

    explorer = sp.Explorer(TOP, budget=400)
    drive(explorer, sampler)
    assert explorer.ended == ["arm 1"]
    assert asked.count(1) == 31
    assert explorer.counts[1] == 30


def test_without_a_wish_the_only_look_is_the_last() -> None:
    explorer = sp.Explorer(TOP)
    assert list(looks(explorer, WORLD, every=None)) == [explorer.samples]
    assert explorer.done


def test_looks_come_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = count(0.0, 0.25)
    monkeypatch.setattr("surepick.run.drive.time.monotonic", lambda: next(now))
    explorer = sp.Explorer(TOP, budget=12)
    assert list(looks(explorer, WORLD, every=0.6, compiled=False)) == [3, 6, 9, 12, 12]


@pytest.mark.parametrize("compiled", [True, False])
def test_an_arm_that_is_paused_at_a_look_is_sampled_no_more(compiled: bool) -> None:
    explorer = sp.Explorer(TOP, budget=1000, policy="uniform")
    for samples in looks(explorer, WORLD, every=None, next_look=lambda n: n + 100, compiled=compiled):
        if samples == 200:
            explorer.pause(1)
            before = explorer.counts[1]
    assert explorer.counts[1] == before > 0
    assert explorer.samples == 1000


# -- what is left behind -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("policy", ["auto", "coci", "elimination"])
def test_who_leaves_early_leaves_an_explorer_to_go_on_with(policy: str, compiled: bool) -> None:
    explorer, budgeted = sp.Explorer(TOP, policy=policy), sp.Explorer(TOP, policy=policy, budget=100)
    drive(budgeted, WORLD, seed=2)
    with closing(looks(explorer, WORLD, seed=2, every=None, next_look=lambda n: n + 50, compiled=compiled)) as going:
        for samples in going:
            if samples == 100:
                break
    assert explorer.budget is None
    assert explorer.counts.tolist() == budgeted.counts.tolist()
    assert not explorer.done
    explorer.tell(0, 1.0)  # which is refused while it is driven
    assert sp.explore(explorer, WORLD).certified


def test_a_consumer_that_raises_frees_the_explorer_at_once() -> None:
    explorer = sp.Explorer(TOP)

    def fail(progress: sp.Progress) -> None:
        raise RuntimeError(f"after {progress.samples} samples")

    with pytest.raises(RuntimeError, match="after"):
        drive(explorer, WORLD, progress=fail)
    with pytest.raises(RuntimeError, match="after 1 samples"):
        History().follow(explorer := sp.Explorer(TOP), WORLD, progress=fail)
    with pytest.raises(RuntimeError) as kept:  # the traceback keeps what was under way
        History().follow(explorer, WORLD, progress=fail)
    assert kept.value.__traceback__ is not None
    assert sp.explore(explorer, WORLD).certified


def test_two_drivers_at_once_are_refused() -> None:
    explorer = sp.Explorer(TOP)
    with closing(looks(explorer, WORLD, every=None, next_look=lambda n: n + 1)) as going:
        next(going)
        with pytest.raises(sp.errors.SettingError, match="under way"):
            drive(explorer, WORLD)
        with pytest.raises(sp.errors.ObservationError, match="under way"):
            explorer.tell(0, 1.0)
    assert sp.explore(explorer, WORLD).certified


def test_a_generator_that_never_began_holds_nothing() -> None:
    explorer = sp.Explorer(TOP)
    going = looks(explorer, WORLD)
    drive(explorer, WORLD)
    going.close()
    assert explorer.done


# -- arms that run out -------------------------------------------------------------------------------------------------------


class Finite(sp.Environment):
    """So many values an arm, and no more."""

    def __init__(self, means: list[float], most: list[int]) -> None:
        self.means, self.most, self.given = np.array(means), most, [0] * len(means)
        self.variances = self.means * (1 - self.means)

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        if self.given[arm] + n > self.most[arm]:
            raise StopIteration
        self.given[arm] += n
        return (rng.random(n) < self.means[arm]).astype(np.float64)


@pytest.mark.parametrize("compiled", [True, False])
def test_values_that_were_drawn_ahead_are_used_before_an_arm_ends(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surepick.engine.start.patience", 0.0)
    by_function, explorer = (sp.Explorer(sp.BestArm(2), 1e-6) for _ in range(2))
    drive(by_function, Finite([0.8, 0.3], [100, 100]).sample)
    drive(explorer, Finite([0.8, 0.3], [100, 100]), compiled=compiled)
    assert explorer.certified
    assert explorer.counts.tolist() == by_function.counts.tolist()
    assert explorer.samples > 2 * 64


@pytest.mark.parametrize("batch", [1, 7, 97, 700])
@pytest.mark.parametrize(("problem", "policy"), [(TOP, "joint"), (TOP, "coci"), (TREE, "clucb"), (ALLOCATION, "pac")], ids=str)
def test_an_arm_ends_after_its_last_value(problem: sp.Problem, policy: str, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surepick.engine.start.patience", 0.0)
    most, found = [400, 90, 333, 1000, 65][: problem.m], []
    for compiled, environment in ((True, True), (False, True), (False, False)):
        explorer, world = sp.Explorer(problem, 1e-9, policy=policy, budget=1_500), Finite([0.5] * problem.m, most)
        seen = list(
            looks(
                explorer, world if environment else world.sample, batch=batch, every=None, next_look=lambda n: n + 10,
                compiled=compiled,
            )
        )  # fmt: skip
        assert len(explorer.ended) >= 2
        assert all(explorer.counts[problem.index[name]] == most[problem.index[name]] for name in explorer.ended)
        found.append((seen, explorer.counts.tolist(), explorer.ended))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("error", [TimeoutError, KeyboardInterrupt])
@pytest.mark.parametrize("batch", [1, 50])
def test_what_a_sampler_gave_before_it_failed_is_recorded(error: type[BaseException], batch: int) -> None:
    given, calls = [0, 0], [0]

    def sampler(arm: int, n: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        if given[arm] + n > 60:
            raise StopIteration
        calls[0] += 1
        if calls[0] == 20:
            raise error("no answer")
        given[arm] += n
        return rng.random(n) < 0.5

    explorer = sp.Explorer(sp.BestArm(2))
    with pytest.raises((sp.errors.SamplerError, KeyboardInterrupt)) as caught:
        sp.explore(explorer, sampler, batch=batch)
    assert explorer.counts.tolist() == given
    assert sum(given) > 18
    if isinstance(caught.value, sp.errors.SamplerError):
        assert caught.value.outcome.counts.tolist() == given
        assert f"after {sum(given)} samples" in str(caught.value)


# -- a batch is one moment ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 23, 97])
def test_a_policy_that_remembers_is_told_of_whole_batches(batch: int) -> None:
    for seed in range(2 if batch == 1 else 20):
        values = np.random.default_rng(seed).random((5, 5_000)) < np.array(P)[:, None]
        driven, told = (sp.Explorer(TOP, 0.2, policy="elimination", confidence="beta", budget=2_000) for _ in range(2))

        def sampler(arm: int, n: int, rng: Any, values: Any = values, driven: sp.Explorer = driven) -> Any:
            return values[arm, driven.counts[arm] :][:n]

        drive(driven, sampler, batch=batch)
        while arms := told.ask(batch):
            told.tell_many([(i, values[i, told.counts[i] :][: arms.count(i)]) for i in sorted(set(arms))])
        assert driven.counts.tolist() == told.counts.tolist()
        assert driven.policy.memory() == told.policy.memory()


@pytest.mark.parametrize("error", [TimeoutError, KeyboardInterrupt])
def test_a_batch_that_is_cut_short_is_recorded_and_the_policy_is_told(error: type[BaseException]) -> None:
    explorer = sp.Explorer(TOP, policy="elimination", confidence="beta")

    def sampler(arm: int, n: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        if arm == 3 and explorer.counts[arm] > 0:
            raise error
        return np.full(n, float(arm < 2))

    with pytest.raises((sp.errors.SamplerError, KeyboardInterrupt)):
        drive(explorer, sampler, batch=50)
    assert explorer.counts.tolist() == [20, 20, 20, 10, 10]
    assert explorer.policy.memory() == explorer.undecided.tolist()


@pytest.mark.parametrize("compiled", [True, False])
def test_the_log_says_when_compiled_rounds_begin(
    compiled: bool, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "patience", 0.0)
    explorer = sp.Explorer(sp.TopK(4, 2), policy="coci", confidence="paper")
    with caplog.at_level(logging.INFO, "surepick"):
        drive(explorer, sp.Bernoulli([0.9, 0.8, 0.3, 0.1]), compiled=compiled)
    said = [record.getMessage() for record in caplog.records if "rounds" in record.getMessage()]
    assert said == (["Compiled rounds from 4 samples on."] if compiled else [])
