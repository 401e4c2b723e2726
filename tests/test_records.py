"""What may be late, lost, batched or corrected: one test for every row of that table in docs/explorer.md, named after it.

A row that says "breaks" is a simulation in which the share of wrong certificates exceeds delta by an exact binomial test; one
that says "holds" is the same simulation without the mistake, where it must not.
"""

from __future__ import annotations

import copy
import json
import logging
import math
import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import surepick as sp
from surepick import saving
from surepick.errors import ObservationError, SamplerError, SettingError, StudyError

RUNS = 40
DELTA = 0.05

Fate = Callable[[np.random.Generator, int, float], int | None]


def too_many(delta: float = DELTA, runs: int = RUNS) -> int:
    """More errors than this have probability below 1e-6 if each run errs with probability delta."""
    return int(binom.isf(1e-6, runs, delta))


def wrong_certificates(fate: Fate, rates: list[float], runs: int = RUNS, days: int = 40) -> int:
    """Wrong certificates if every value has a fate: told so many days after its trial, or never. The first arm is the best."""
    wrong = 0
    for run in range(runs):
        rng = np.random.default_rng((11, run))
        ex, waiting = sp.Explorer(sp.BestArm(len(rates)), DELTA), {}
        for day in range(days):
            for arm in ex.ask(20):
                value = float(rng.random() < rates[arm])
                delay = fate(rng, arm, value)
                if delay is not None:
                    waiting.setdefault(day + delay, []).append((arm, value))
            ex.tell_many(waiting.pop(day, []))
            if ex.certified:
                wrong += int(ex.decision[0] == 0)
                break
    return wrong


TIED = [0.3 + 1e-9, 0.3, 0.3, 0.3]
CLOSE = [0.55, 0.50]


# -- late and lost ------------------------------------------------------------------------------------------------------------


def test_late_whatever_the_value() -> None:
    assert wrong_certificates(lambda rng, arm, value: int(rng.integers(0, 14)), TIED) <= too_many()


def test_late_because_of_the_value() -> None:
    assert wrong_certificates(lambda rng, arm, value: 0 if value else 7, TIED) > too_many()


def test_lost_whatever_the_value() -> None:
    assert wrong_certificates(lambda rng, arm, value: None if rng.random() < 0.3 else 0, TIED) <= too_many()


def test_lost_because_of_the_value() -> None:
    assert (
        wrong_certificates(lambda rng, arm, value: None if arm == 1 and not value and rng.random() < 0.5 else 0, CLOSE)
        > too_many()
    )


# -- grouped and ordered ------------------------------------------------------------------------------------------------------


@pytest.fixture
def values() -> list[tuple[int, float]]:
    rng = np.random.default_rng(0)
    return [(int(i), float(x)) for i, x in zip(rng.integers(0, 3, 300), rng.random(300), strict=True)]


def told(values: list[tuple[int, float]], problem: sp.Problem | None = None, **settings: Any) -> sp.Explorer:
    ex = sp.Explorer(problem or sp.BestArm(3), **settings)
    for arm, value in values:
        ex.tell(arm, value)
    return ex


def test_in_batches(values: list[tuple[int, float]]) -> None:
    """What is known is the same; only the moments of looking are fewer."""
    one, many = told(values), sp.Explorer(sp.BestArm(3))
    for k in range(0, 300, 50):
        many.tell_many(values[k : k + 50])
    assert np.allclose(one.box(), many.box(), rtol=0, atol=1e-12)
    assert wrong_certificates(lambda rng, arm, value: 4, TIED, days=30) <= too_many()
    with pytest.raises(ObservationError, match="Nothing was recorded"):
        many.tell_many([(0, 0.5), (1, math.nan)])
    assert many.samples == 300


def test_in_another_order_between_arms(values: list[tuple[int, float]]) -> None:
    """Bit for bit the same record, for variances too: an arm does not know of the others."""
    for problem in (sp.BestArm(3), sp.TopK(3, 1, parameter="variance")):
        other = told(sorted(values, key=lambda pair: -pair[0]), problem)
        one = told(values, problem)
        assert not one.certified
        assert one.certificate().to_dict() == other.certificate().to_dict()


def test_in_another_order_within_an_arm(values: list[tuple[int, float]]) -> None:
    """The mean stays, and what is known of it nearly: the first value is not weighed. A variance is learnt from other pairs, and
    from sorted ones not at all."""
    shuffled = [values[k] for k in np.random.default_rng(1).permutation(300)]
    assert np.allclose(told(values, confidence="beta").box(), told(shuffled, confidence="beta").box(), rtol=0, atol=1e-12)
    assert told(values).record.estimates == pytest.approx(told(shuffled).record.estimates, abs=1e-12)
    assert np.allclose(told(values).box(), told(shuffled).box(), rtol=0, atol=0.01)
    variance = sp.TopK(3, 1, parameter="variance")
    assert not np.allclose(told(values, variance).box(), told(shuffled, variance).box(), rtol=0, atol=1e-6)
    for ordered, inside in ((shuffled, True), (sorted(values, key=lambda pair: pair[1]), False)):
        lower, upper = told(ordered * 3, variance).box()
        assert bool(((lower <= 1 / 12) & (1 / 12 <= upper)).all()) == inside


def test_told_more_than_once() -> None:
    """Evidence that counts n times is raised to the n-th power, so that delta becomes its n-th root, about."""
    wrong, runs = Counter(), 60
    for times in (1, 4):
        for run in range(runs):
            rng = np.random.default_rng((4, run))
            ex = sp.Explorer(sp.BestArm(2), DELTA)
            for look in range(60):
                for arm in (0, 1):
                    people = int(1.1**look) + 1
                    ones = rng.binomial(people, 0.5 - 1e-9 * arm)
                    for _ in range(times):
                        ex.tell(arm, np.repeat([1.0, 0.0], [ones, people - ones]))
                if ex.certified:
                    break
            wrong[times] += int(ex.certified and ex.decision[0] == 0)
    assert wrong[1] <= too_many(DELTA, runs) < wrong[4]


def test_corrected_afterwards(values: list[tuple[int, float]]) -> None:
    """Nothing takes a value back. A new explorer, told all in the same order, is as if they had been right from the start."""
    wrong = [(arm, 1.0 if k == 7 else value) for k, (arm, value) in enumerate(values)]
    ex = told(wrong)
    before = ex.counts.tolist()
    with pytest.raises(ObservationError):
        ex.tell(0, -0.5)
    assert ex.counts.tolist() == before
    assert not [name for name in dir(ex) if name.startswith(("untell", "remove", "undo"))]
    assert told(values).certificate().to_dict() != ex.certificate().to_dict()
    mended = sp.Explorer(sp.BestArm(3))
    for arm, value in values:
        mended.tell(arm, value)
    assert mended.certificate().to_dict() == told(values).certificate().to_dict()


# -- arms that cannot be sampled ------------------------------------------------------------------------------------------------


def test_an_arm_is_paused() -> None:
    """Not asked for until it is resumed; and whether it is may hang on what was told."""
    ex = sp.Explorer(sp.TopK(["a", "b", "c"], 1))
    ex.pause("b")
    assert ex.paused == ["b"]
    assert set(ex.ask(20)) == {0, 2}
    assert set(ex.plan(20)) == {"a", "c"}
    for arm in ("a", "c"):
        ex.pause(arm)
    assert ex.ask(5) == []
    assert not ex.done
    ex.tell("b", 0.5)  # what is on its way still counts
    ex.resume("b")
    assert set(ex.ask(5)) == {1}
    wrong = 0
    for run in range(RUNS):
        rng = np.random.default_rng((12, run))
        ex = sp.Explorer(sp.BestArm(4), DELTA)
        for _ in range(40):
            ex.tell_many([(arm, float(rng.random() < TIED[arm])) for arm in ex.ask(20)])
            if ex.certified:
                wrong += int(ex.decision[0] == 0)
                break
            if ex.paused:
                ex.resume(ex.paused[0])
            ex.pause(int(np.argmin(ex.record.estimates)))
    assert wrong <= too_many()


def test_an_arm_has_ended() -> None:
    """What it gave counts on; when all that is undecided has ended, so has the exploration, without a certificate."""
    ex = sp.Explorer(sp.BestArm(["a", "b", "c"]))
    for arm, rate in (("a", 0.9), ("b", 0.8), ("c", 0.0)):
        ex.tell(arm, [1.0] * int(100 * rate) + [0.0] * int(100 - 100 * rate))
    ex.end("a")
    assert ex.ended == ["a"]
    assert not ex.done
    assert 0 not in ex.ask(30)
    with pytest.raises(SettingError, match="Arm 'a' has ended, so it cannot be resumed"):
        ex.resume("a")
    ex.end("b")
    assert ex.done
    assert not ex.certified
    assert ex.ask(5) == []
    certificate = ex.certificate()
    assert certificate.ended == ["a", "b"]
    assert certificate.to_dict()["ended"] == ["a", "b"]
    assert "a, b can be sampled no more." in str(certificate)
    assert math.isfinite(certificate.gap)
    ex.tell("a", [1.0] * 2000)  # a late one
    ex.tell("b", [0.8] * 2000)
    assert ex.certified


def test_half_a_pair_of_an_ended_arm_stays_left_out() -> None:
    """Variances are learnt from pairs, and this one was judged without."""
    ex = sp.Explorer(sp.SampleAllocation([1, 1], 4))
    ex.tell_many([(0, [0.0, 1.0, 1.0]), (1, [0.0, 1.0])])
    ex.end(0)
    ex.tell(1, [1.0, 0.0])
    with pytest.raises(ObservationError, match="ended after an odd number of values"):
        ex.tell_many([(1, 0.0), (0, 1.0)])
    assert ex.counts.tolist() == [3, 4]
    ex.end(1)
    ex.tell(1, 0.0)  # begins a pair
    assert ex.counts.tolist() == [3, 5]


def test_attained_of_a_certificate_without_half_a_pair() -> None:
    rng = np.random.default_rng(0)
    ex = sp.Explorer(sp.BestArm(2, parameter="variance"), 0.1, epsilon=0.01)
    ex.tell(0, rng.random(401))
    ex.end(0)
    while not ex.certified:
        ex.tell(1, (rng.random(2) < 0.5).astype(float))
    assert 0 < ex.certificate().attained <= 0.1


def test_an_arm_that_ended_without_a_value() -> None:
    ex = sp.Explorer(sp.BestArm(2))
    ex.end(1)
    assert ex.done
    assert ex.ask(3) == []
    assert str(ex.certificate()) == "Not certified after 0 samples: 2 arms undecided. arm 1 can be sampled no more."


# -- who does the work --------------------------------------------------------------------------------------------------------


def test_told_from_several_threads() -> None:
    ex, rng = sp.Explorer(sp.TopK(4, 2)), np.random.default_rng(1)
    values = (rng.random((4, 3000)) < np.array([0.9, 0.7, 0.3, 0.1])[:, None]).astype(float)
    start, failed = threading.Barrier(4), []

    def work(k: int) -> None:
        start.wait()
        try:
            for j in range(3000):
                ex.tell((j + k) % 4, values[(j + k) % 4, j])
                if j % 100 == 0:
                    ex.ask(3)
                    str(ex.certificate())
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not failed
    assert ex.counts.tolist() == [3000] * 4
    assert ex.record.estimates == pytest.approx(values.mean(axis=1), abs=1e-12)
    assert ex.certified
    assert ex.decision.tolist() == [1, 1, 0, 0]


def test_ten_workers_are_not_all_sent_to_one_arm() -> None:
    ex = sp.Explorer(sp.TopK(["a", "b", "c", "d"], 2))
    for arm, ones in {"a": 45, "b": 33, "c": 30, "d": 10}.items():
        ex.tell(arm, [1.0] * ones + [0.0] * (50 - ones))
    assert len({ex.ask()[0] for _ in range(10)}) == 1  # asking changes nothing
    pending: Counter[str] = Counter()
    for _ in range(10):
        pending[ex.problem.names[ex.ask(1, pending)[0]]] += 1
    assert dict(pending) == ex.plan(10) == {"b": 5, "c": 5}
    assert ex.plan(4, pending={"b": 4}) == {"c": 4}
    ex = sp.Explorer(sp.BestArm(3), budget=12)
    assert len(ex.ask(20, pending={0: 5, 1: 4})) == 3
    assert ex.ask(20, pending={0: 12}) == []
    with pytest.raises(SettingError, match="pending must be a dict"):
        ex.ask(1, pending=[0, 1])
    with pytest.raises(SettingError, match=r"pending\[0\]"):
        ex.ask(1, pending={0: -1})


class Breaks:
    """A sampler that raises at some calls, and keeps what it gave."""

    def __init__(self, *calls: int) -> None:
        self.calls, self.at, self.gave = 0, calls, []

    def __call__(self, arm: int, n: int, rng: np.random.Generator) -> np.ndarray:
        self.calls += 1
        if self.calls in self.at:
            raise OSError("the line is dead")
        values = rng.random(n) * (0.5, 0.6, 0.55)[arm]
        self.gave += values.tolist()
        return values


@pytest.mark.parametrize("batch", [1, 10])
def test_a_sampler_raises(batch: int) -> None:
    sampler, ex = Breaks(2, 15, 30), sp.Explorer(sp.BestArm(3), 0.1, budget=600)
    for _ in range(3):
        with pytest.raises(
            SamplerError, match=r"The sampler raised OSError for arm 'arm \d' after \d+ samples \(the line"
        ) as caught:
            sp.explore(ex, sampler, batch=batch, seed=3)
        assert caught.value.explorer is ex
        assert caught.value.outcome.samples == ex.samples == len(sampler.gave)
        assert isinstance(caught.value.__cause__, OSError)
    outcome = sp.explore(ex, sampler, batch=batch, seed=3)
    assert outcome.samples == len(sampler.gave) > 30
    assert len(set(sampler.gave)) == len(sampler.gave)  # going on gives other random numbers
    with pytest.raises(SettingError, match="has its settings already: leave out delta"):
        sp.explore(ex, sampler, delta=0.2)


@pytest.mark.parametrize("batch", [1, 7])
def test_a_sampler_has_no_more(batch: int) -> None:
    stock = {arm: iter(np.random.default_rng((2, arm)).random(30) * scale) for arm, scale in enumerate((0.9, 1.0, 0.05))}
    outcome = sp.explore(sp.BestArm(["a", "b", "c"]), lambda arm, n, rng: [next(stock[arm]) for _ in range(n)], batch=batch)
    assert not outcome.certified
    assert outcome.certificate.ended[:2] == ["a", "b"]
    assert str(outcome).startswith(f"Not certified after {outcome.samples} samples: ")
    assert "can be sampled no more." in str(outcome)
    assert all(outcome.counts[i] > 30 - batch for i in (0, 1))


@pytest.mark.parametrize("batch", [1, 7])
def test_ctrl_c_leaves_ones_own_explorer_with_everything(batch: int) -> None:
    calls: list[int] = []

    def sampler(arm: int, n: int, rng: np.random.Generator) -> Any:
        calls.append(n)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return rng.random(n) < (0.6, 0.5)[arm]

    ex = sp.Explorer(sp.BestArm(2))
    with pytest.raises(KeyboardInterrupt):
        sp.explore(ex, sampler, batch=batch)
    assert ex.samples == sum(calls[:-1])
    before = ex.samples
    assert sp.explore(ex, sampler, batch=batch).certified
    assert ex.samples > before > 0


def test_one_explore_at_a_time() -> None:
    """Two would draw the same random numbers, and compiled loops would not see what else is told."""
    ex = sp.Explorer(sp.BestArm(2))
    refused: list[str] = []

    def meddle(_: object) -> None:
        for other in (lambda: sp.explore(ex, sp.Bernoulli([0.5, 0.5])), lambda: ex.tell(0, 1.0)):
            with pytest.raises((SettingError, ObservationError)) as error:
                other()
            refused.append(str(error.value))

    sp.explore(ex, lambda arm, n, rng: rng.random(n) < (0.7, 0.2)[arm], progress=meddle)
    assert ex.certified
    assert refused[0].startswith("explore is under way with this explorer already. Call it once; several workers share")
    assert refused[1].endswith("its sampler gives the values: tell them when it has ended. Nothing was recorded.")
    ex.tell(0, 1.0)
    assert sp.explore(ex, sp.Bernoulli([0.5, 0.5])).certified


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_who_looks_on_changes_nothing(epsilon: float) -> None:
    """Compiled with an epsilon of 0, and in Python."""
    world, problem = sp.Bernoulli([0.6, 0.5, 0.4]), sp.BestArm(3)
    alone = sp.explore(problem, world, epsilon=epsilon, seed=4)
    ex, looks, over = sp.Explorer(problem, epsilon=epsilon), [0], threading.Event()

    def look() -> None:
        while not over.is_set():
            _ = ex.certificate(), ex.ask(3)
            looks[0] += 1

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=look)
    try:
        thread.start()
        outcome = sp.explore(ex, world, seed=4)
    finally:
        over.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert looks[0] > 0
    assert outcome.certificate.to_dict() == alone.certificate.to_dict()
    assert not copy.copy(ex)._driven


def test_samplers_that_are_generators() -> None:
    def fails(arm: int, n: int, rng: np.random.Generator) -> Any:
        for _ in range(n):
            if rng.random() < 0.01:
                raise TimeoutError("no answer")
            yield float(rng.random() < (0.9, 0.1)[arm])

    ex, errors = sp.Explorer(sp.BestArm(2), 1e-9), []
    while not ex.certified and len(errors) < 50:
        try:
            sp.explore(ex, fails, seed=3, batch=5)
        except SamplerError as error:  # whose random numbers are not drawn again, or it would fail for ever
            errors.append(error)
    assert ex.certified
    assert errors
    assert all(isinstance(error.__cause__, TimeoutError) and error.explorer is ex for error in errors)
    assert {error.arm for error in errors} <= {"arm 0", "arm 1"}
    with pytest.raises(ObservationError, match="gave 2 values of arm 'arm 0' when asked for 1"):
        sp.explore(sp.BestArm(2), lambda arm, n, rng: iter([0.0] * (n + 1)))


class Fuse(logging.Handler):
    """Blows when a certificate is logged, as a full disk would."""

    def emit(self, record: logging.LogRecord) -> None:
        if "Certified" in record.getMessage():
            raise OSError("disk full")


@pytest.mark.parametrize("dependent", [False, True])
def test_a_tell_that_fails_at_the_certificate_is_taken_back(dependent: bool) -> None:
    """With the certificate, the policy that rows switch to, and what the policy has kept of the moment."""
    logger, fuse = logging.getLogger("surepick"), Fuse()
    ex, twin = (sp.Explorer(sp.BestArm(["a", "b"]), dependent=dependent) for _ in range(2))
    rows = [{"a": 1.0, "b": 0.0}] * 400
    level = logger.level
    logger.addHandler(fuse)
    logger.setLevel(logging.INFO)
    try:
        with pytest.raises(OSError, match="disk full"):
            ex.tell_rows(rows) if dependent else ex.tell_many([("a", [1.0] * 400), ("b", [0.0] * 400)])
    finally:
        logger.removeHandler(fuse)
        logger.setLevel(level)
    assert (ex.samples, ex.certified, ex.policy.name) == (0, False, twin.policy.name)
    for both in (ex, twin):
        both.tell_many([("a", 1.0), ("b", 0.0)])
    assert ex.certificate().to_dict() == twin.certificate().to_dict()


def test_a_tell_that_an_oracle_fails_is_taken_back_whatever_remembers() -> None:
    """Arms that were eliminated meanwhile, and the record of an estimator of one's own."""

    class Sums:
        def __init__(self, m: int) -> None:
            self.counts, self.sums, self.estimates = np.zeros(m, dtype=np.int64), np.zeros(m), np.full(m, np.nan)

        def update(self, i: int, values: np.ndarray) -> None:
            self.counts[i] += len(values)
            self.sums[i] += values.sum()
            self.estimates[i] = self.sums[i] / self.counts[i]

    class Own(sp.estimators.Estimator):
        name, minimum = "own", 1

        def range(self, arm: sp.Arm) -> tuple[float, float]:
            return arm.low, arm.high

        def scale(self, arm: sp.Arm) -> float:
            return arm.high - arm.low

        def record(self, m: int) -> Any:
            return Sums(m)

    calls = [0, 10**9]

    def oracle(theta: np.ndarray) -> np.ndarray:
        calls[0] += 1
        if calls[0] > calls[1]:
            raise RuntimeError("down")
        return np.eye(3, dtype=int)[int(np.argmax(theta))]

    def new(parameter: Any, **settings: Any) -> sp.Explorer:
        problem = sp.Separable(lambda t, y: t * y, [[0, 1]] * 3, oracle, bimonotone=True, parameter=parameter)
        ex = sp.Explorer(problem, 0.1, **settings)
        ex.tell_many([(arm, [1.0, 0.0] * 10) for arm in range(3)])
        return ex

    for parameter, settings in (("mean", {"policy": "elimination", "epsilon": 1e-6}), (Own(), {"confidence": "paper"})):
        failed = 0
        for fuse in range(40):
            ex, twin = new(parameter, **settings), new(parameter, **settings)
            calls[:] = 0, fuse
            try:
                ex.tell_many([(2, [0.0] * 2000), (0, [1.0, 0.0] * 5)])
            except sp.errors.SurepickError:
                failed += 1
                calls[:] = 0, 10**9
                assert ex.counts.tolist() == [20, 20, 20]
                assert ex.ask(6) == twin.ask(6)
                assert ex.certificate().to_dict() == twin.certificate().to_dict()
            calls[:] = 0, 10**9
        assert failed > 0


def test_attained_is_that_of_the_certificate() -> None:
    ex = sp.Explorer(sp.BestArm([sp.Arm("one", kind="bernoulli"), sp.Arm("other", kind="bernoulli")]), 0.2)
    ex.tell_many([(0, [1.0] * 9), (1, [0.0] * 9)])
    assert ex.certified
    attained = ex.attained()
    ex.tell_many([(0, [0.0] * 300), (1, [1.0] * 300)])  # which speaks for the other arm
    assert ex.decision.tolist() == [1, 0]
    assert ex.attained() == ex.certificate().attained == attained > 0.1


# -- files ----------------------------------------------------------------------------------------------------------------------

EDGES = [("a", "x"), ("b", "y"), ("a", "y"), ("b", "x")]
GAUGES = [sp.Arm("weir", kind="subgaussian", scale=2.0), sp.Arm("mill", kind="subgaussian", scale=1.0)]
PROBLEMS: dict[str, tuple[sp.Problem, dict[str, Any]]] = {
    "best-arm": (sp.BestArm(3), {}),
    "tuple names": (sp.TopK([("a", 1), ("b", 2), "c"], 2), {}),
    "smallest": (sp.TopK(3, 1, sense="min"), {"epsilon": 0.1, "per_arm": True}),
    "best-of-each": (sp.BestOfEach(4, ["w", "w", "v", "v"]), {}),
    "spanning-tree": (sp.SpanningTree([(0, 1), (1, 2), (2, 0)]), {"policy": "elimination"}),
    "matching": (sp.Matching(EDGES), {}),
    "path": (sp.Path([(0, 1), (1, 2), (0, 2)], 0, 2), {"policy": "unified"}),
    "subsets": (sp.Subsets(3, [[1, 0, 0], [0, 1, 1]]), {}),
    "program": (sp.Program(3, [[3, 4, 2]], upper=6), {}),
    "sample-allocation": (sp.SampleAllocation([1, 2], 6), {"epsilon": 0.05, "relative": True, "budget": 100}),
    "resource-plan": (sp.ResourcePlan([[0, 1, 3], [0, 2, 5]], [2, 2], 2), {}),
    "subgaussian": (sp.BestArm(GAUGES), {}),
    "kinds": (
        sp.TopK([sp.Arm("coin", kind="bernoulli"), sp.Arm("scale", low=-5, high=10)], 1),
        {"confidence": "paper", "policy": "coci"},
    ),
    "variance": (sp.TopK(3, 1, parameter="variance"), {}),
    "bernstein": (sp.TopK(3, 1), {"confidence": "bernstein"}),
    "ts-explore": (sp.TopK(3, 1), {"policy": "ts-explore"}),
    "dependent": (sp.TopK(3, 1), {"dependent": True, "delta": 0.2}),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_saved_and_loaded(case: str, tmp_path: Path) -> None:
    """As it was, and it goes on as the one that was never saved."""
    problem, settings = PROBLEMS[case]
    ex, rng = sp.Explorer(problem, **settings), np.random.default_rng(7)
    for i in range(problem.m):
        ex.tell(i, (rng.random(7) < 0.5).astype(float))
    file = tmp_path / "explorer.json"
    ex.save(file)
    back = sp.Explorer.load(file)
    assert (back.problem.names, back.policy.name, back.confidence.name) == (problem.names, ex.policy.name, ex.confidence.name)
    for _ in range(4):
        assert back.certificate().to_dict() == ex.certificate().to_dict()
        assert back.ask(5) == ex.ask(5)
        more = (rng.random((problem.m, 3)) < 0.5).astype(float)
        for one in (ex, back):
            one.tell_many(list(enumerate(more)))
    assert os.listdir(tmp_path) == ["explorer.json"]


def test_rows_saved_and_loaded(tmp_path: Path) -> None:
    ex, rng = sp.Explorer(sp.TopK(["a", "b", "c"], 1), dependent=True), np.random.default_rng(2)
    file = tmp_path / "explorer.json"
    while not ex.done:
        ex.tell_row(dict(zip("abc", (rng.random() < np.array([0.7, 0.5, 0.4])).astype(float), strict=True)))
        ex.save(file)
        if ex.samples in (3, 60):
            ex = sp.Explorer.load(file)
            assert ex.policy.name == "paired"
    never = sp.Explorer(sp.TopK(["a", "b", "c"], 1), dependent=True)
    rng = np.random.default_rng(2)
    while not never.done:
        never.tell_row(dict(zip("abc", (rng.random() < np.array([0.7, 0.5, 0.4])).astype(float), strict=True)))
    assert ex.certificate().to_dict() == never.certificate().to_dict()
    back = sp.Explorer.load(file)
    assert back.certified
    back.tell_row({"a": 0.0, "b": 1.0})
    assert back.certificate().to_dict() == ex.certificate().to_dict()


def test_arms_that_were_eliminated_stay_so_in_a_file(tmp_path: Path) -> None:
    ex = sp.Explorer(sp.BestArm(3), policy="elimination")
    ex.tell_many([(0, [0.5] * 400), (1, [0.5] * 400), (2, [0.0] * 400)])
    assert set(ex.ask(20)) == {0, 1}
    ex.tell(2, [1.0] * 300)  # its interval overlaps again; an arm that was eliminated does not come back
    ex.save(tmp_path / "e.json")
    assert set(sp.Explorer.load(tmp_path / "e.json").ask(20)) == set(ex.ask(20)) == {0, 1}


def test_paused_and_ended_arms_in_a_file(tmp_path: Path) -> None:
    ex = sp.Explorer(sp.TopK(["a", "b", "c", "d"], 2))
    ex.pause("a")
    ex.pause("b")
    ex.end("b")
    ex.save(tmp_path / "e.json")
    back = sp.Explorer.load(tmp_path / "e.json")
    assert (back.paused, back.ended) == (["a"], ["b"])


def test_functions_are_given_again(tmp_path: Path) -> None:
    def plan() -> sp.Problem:
        return sp.Separable(
            lambda theta, y: theta * y, [[0, 1]] * 2, lambda theta: np.eye(2, dtype=int)[np.argmax(theta)], bimonotone=True
        )

    ex = sp.Explorer(plan())
    ex.tell(0, 0.75)
    ex.save(tmp_path / "e.json")
    with pytest.raises(StudyError, match="load it with problem="):
        sp.Explorer.load(tmp_path / "e.json")
    assert sp.Explorer.load(tmp_path / "e.json", plan()).counts.tolist() == [1, 0]
    with pytest.raises(StudyError, match="saved with other arms"):
        sp.Explorer.load(tmp_path / "e.json", sp.BestArm(3))


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_killed_during_save(error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old file is left as it was, and nothing else."""

    def fail(*_: object) -> None:
        raise error

    file = tmp_path / "e.json"
    ex = sp.Explorer(sp.BestArm(2))
    ex.tell(0, 0.5)
    ex.save(file)
    ex.tell(1, 0.5)
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(StudyError if isinstance(error, OSError) else KeyboardInterrupt):
        ex.save(file)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["e.json"]
    assert sp.Explorer.load(file).counts.tolist() == [1, 0]
    ex.save(file)
    assert sp.Explorer.load(file).counts.tolist() == [1, 1]


def sealed(data: dict[str, object]) -> str:
    """A file with the right checksum, whatever it says."""
    content = {key: value for key, value in data.items() if key != "checksum"}
    return json.dumps({**content, "checksum": saving.checksum(content)})


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    ex = sp.Explorer(sp.TopK(3, 1), dependent=True)
    ex.tell_row({0: 1.0, 1: 0.0, 2: 0.5})
    file = tmp_path / "e.json"
    ex.save(file)
    good = json.loads(file.read_text())
    for text, says in (
        ("", "not a whole file that Explorer.save wrote"),
        (file.read_text()[:-20], "not a whole file that Explorer.save wrote"),
        ("\udcff", "not a whole file that Explorer.save wrote"),
        ("[1, 2]", "not a whole file that Explorer.save wrote"),
        ('{"arms": 3}', "not a whole file that Explorer.save wrote"),
        (json.dumps({**good, "counts": [1, 1, 2]}), "has changed since it was saved"),
        (json.dumps({**good, "settings": {**good["settings"], "delta": 0.1}}), "has changed since it was saved"),
        (json.dumps({k: v for k, v in good.items() if k != "checksum"}), "has changed since it was saved"),
        (sealed({**good, "policy": "best"}), "its policy .best. is unknown; if it is a class of yours, load"),
        (json.dumps({**good, "surepick": saving.VERSION + 1}), "use a newer one"),
    ):
        file.write_bytes(text.encode(errors="surrogateescape"))
        with pytest.raises(StudyError, match=says) as error:
            sp.Explorer.load(file)
        assert str(error.value).startswith(f"{file}: ")
    for key in good:
        for bad in ("gone", "x", -1, [1e308], [["a"]], {"a": 1}):
            if key == "memory" or (key, bad) == ("paused", "x"):  # this policy has none
                continue
            changed = {k: v for k, v in good.items() if k != key} if bad == "gone" else {**good, key: bad}
            for text in (json.dumps(changed), sealed(changed)) if key != "checksum" else (json.dumps(changed),):
                file.write_text(text)
                with pytest.raises(StudyError) as error:
                    sp.Explorer.load(file)
                assert str(error.value).startswith(f"{file}: "), (key, bad)
    (tmp_path / "study.toml").write_text("arms = 3")
    with pytest.raises(StudyError, match=r"surepick\.load reads study files"):
        sp.Explorer.load(tmp_path / "study.toml")
    with pytest.raises(StudyError, match=r"not TOML.*Explorer\.load reads what Explorer\.save wrote"):
        sp.load(file)
    file.write_text("[" * 200_000)
    with pytest.raises(StudyError, match="not a whole file"):
        sp.Explorer.load(file)
    ex.save(file)
    assert sp.Explorer.load(file, sp.TopK(3, 1)).samples == 3
    with pytest.raises(StudyError, match="saved with another problem"):
        sp.Explorer.load(file, sp.TopK(3, 2))
    with pytest.raises(StudyError, match="there is no such file"):
        sp.Explorer.load(tmp_path / "none.json")
    for where in (tmp_path / "none" / "e.json", tmp_path):
        with pytest.raises(StudyError, match="cannot be written"):
            ex.save(where)


# -- told again ---------------------------------------------------------------------------------------------------------------


def certified_early() -> tuple[sp.Explorer, list[tuple[int, float]]]:
    """An explorer whose later values speak a little against its certificate."""
    ex, pairs = sp.Explorer(sp.BestArm(["old", "new"]), 0.1), []
    rng = np.random.default_rng((3, 2))
    for arm in [0, 1] * 200:
        pairs.append((arm, float(rng.random() < (0.6, 0.5)[arm])))
        ex.tell(*pairs[-1])
    assert ex.certified
    assert ex.certificate().samples < ex.samples == 400
    return ex, pairs


def test_told_again_in_the_same_order() -> None:
    ex, pairs = certified_early()
    again = told(pairs, ex.problem, delta=0.1)
    assert again.certificate().to_dict() == ex.certificate().to_dict()


def test_told_again_in_one_go() -> None:
    """Right as well, and of another moment, which certifies less."""
    ex, pairs = certified_early()
    again = sp.Explorer(ex.problem, 0.1)
    again.tell_many(pairs)
    assert again.counts.tolist() == ex.counts.tolist()
    assert not again.certified


def test_the_process_is_killed(tmp_path: Path) -> None:
    """What was saved is kept; what was told since is told again, once, and nothing else."""
    ex, pairs = certified_early()
    file, saved = tmp_path / "e.json", sp.Explorer(ex.problem, 0.1)
    for pair in pairs[:100]:
        saved.tell(*pair)
        saved.save(file)
    for pair in pairs[100:110]:
        saved.tell(*pair)
    del saved
    back = sp.Explorer.load(file)
    for pair in pairs[back.samples :]:
        back.tell(*pair)
    assert back.certificate().to_dict() == ex.certificate().to_dict()


# -- rows -----------------------------------------------------------------------------------------------------------------------


def wrong_rows(missing: Callable[[np.random.Generator, bool, bool], bool]) -> int:
    """Wrong certificates if the second arm, which is worse, is left out of some rows."""
    wrong = 0
    for run in range(RUNS):
        rng = np.random.default_rng((13, run))
        ex = sp.Explorer(sp.BestArm(2), DELTA, dependent=True)
        for _ in range(40):
            rows = []
            for first, second in rng.random((10, 2)) < np.array(CLOSE):
                row = {0: float(first), 1: float(second)}
                if missing(rng, bool(first), bool(second)):
                    del row[1]
                rows.append(row)
            ex.tell_rows(rows)
            if ex.certified:
                wrong += int(ex.decision[0] == 0)
                break
    return wrong


def test_rows_with_missing_arms() -> None:
    assert wrong_rows(lambda rng, first, second: rng.random() < 0.4) <= too_many()
    assert wrong_rows(lambda rng, first, second: not second and rng.random() < 0.8) > too_many()


# -- tables ---------------------------------------------------------------------------------------------------------------------

TWO = 'delta = 0.1\narms = ["old", "new"]\n[problem]\nkind = "best-arm"\n'


def table(path: Path, marks: Callable[[int], str] | None, name: str = "order", backwards: bool = False) -> Path:
    _, pairs = certified_early()
    lines = [f"{('old', 'new')[arm]},{value:g}" + (f",{marks(k)}" if marks else "") for k, (arm, value) in enumerate(pairs, 1)]
    path.write_text("\n".join(["arm,value" + (f",{name}" if marks else ""), *(lines[::-1] if backwards else lines)]) + "\n")
    return path


def test_check_without_an_order_is_one_moment(study: Any, ask: Any, cli: Any, tmp_path: Path) -> None:
    file = study(TWO)
    data = table(tmp_path / "d.csv", None)
    answer = ask("check", file, data)
    assert not answer["certificate"]["certified"]
    assert [answer[key] for key in ("order", "moments", "certified_at", "later")] == [None, 1, None, 0]
    assert "Judged as one moment: no column (order, time or date) says when" in " ".join(cli("check", file, data)[1].split())


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    ("name", "marks"),
    [("order", str), ("time", lambda k: f"{k / 4:g}"), ("date", lambda k: f"2026-{1 + k // 28 // 2:02}-{1 + k // 2 % 28:02}")],
)
def test_check_by_order(
    name: str, marks: Callable[[int], str], backwards: bool, study: Any, ask: Any, cli: Any, tmp_path: Path
) -> None:
    """Numbers by their size, dates as they are, wherever the lines stand. Two values a date are one moment."""
    ex, _ = certified_early()
    data = table(tmp_path / "d.csv", marks, name, backwards)
    file = study(TWO)
    answer = ask("check", file, data)
    assert answer["order"] == name
    assert answer["certificate"]["certified"]
    if name == "date":
        assert answer["moments"] == 201
    else:
        assert answer["moments"] == 400
        assert answer["certificate"] == ex.certificate().to_dict()
        assert answer["certified_at"] == marks(ex.certificate().samples)
    assert answer["later"] == 400 - answer["certificate"]["samples"]
    said = " ".join(cli("check", file, data)[1].split())
    assert f"moments of column '{name}'; certified at {answer['certified_at']}. {answer['later']} later observations" in said


def test_check_with_rows(study: Any, ask: Any, cli: Any, tmp_path: Path) -> None:
    rng, ex = np.random.default_rng(4), sp.Explorer(sp.BestArm(["old", "new"]), 0.1, dependent=True)
    lines = ["row,arm,value,order"]
    for k in range(1, 150):
        values = dict(zip(("old", "new"), (rng.random() < np.array([0.7, 0.5])).astype(float), strict=True))
        ex.tell_row(values)
        lines += [f"v{k},{arm},{value:g},{k}" for arm, value in values.items()]
    assert ex.certified
    data = tmp_path / "d.csv"
    data.write_text("\n".join(lines) + "\n")
    code, out, err = cli("check", study(TWO), data)
    assert (code, out) == (2, "")
    assert "column 'row': values of one row may depend on each other, so the study needs dependent = true." in " ".join(
        err.split()
    )
    file = study("dependent = true\n" + TWO)
    answer = ask("check", file, data)
    assert answer["certificate"] == ex.certificate().to_dict()
    assert answer["certificate"]["policy"] == "paired"
    assert answer["certified_at"] == str(ex.certificate().samples // 2)
    data.write_text("\n".join([*lines, "v9,old,1,9"]) + "\n")
    code, _, err = cli("check", file, data)
    assert code == 2
    assert "row 'v9' has two values of arm 'old'" in " ".join(err.split())


# -- the page -------------------------------------------------------------------------------------------------------------------


def test_every_row_of_the_table_has_a_test() -> None:
    page = (Path(__file__).parent.parent / "docs" / "explorer.md").read_text(encoding="utf-8")
    section = page.split("## What may be late, lost, batched or corrected")[1].split("\n## ")[0]
    rows = [line.split("|")[1].partition(":")[0].strip() for line in section.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 17
    for row in rows:
        assert callable(globals().get("test_" + re.sub(r"\W+", "_", row))), row
