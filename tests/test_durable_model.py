"""Durable studies against a model of dictionaries: whatever is done in whatever order, with restarts in between."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

import surepick as sp
from surepick.errors import ConflictError, StudyError
from surepick.study.durable import turn as turns

from . import databases
from .test_durable import explorer_of

SPEC = {"arms": ["red", "green", "blue"], "problem": {"kind": "best-arm"}, "delta": 0.2}
POOL = {**SPEC, "pool": {"items": 6, "seed": 3}}
LEASE = 100.0
WORKERS = st.sampled_from([None, "ana", "bo"])
VALUES = st.sampled_from([0.0, 0.5, 1.0])
WHICH = st.integers(0, 10_000)


class Model(RuleBasedStateMachine):
    """What a study should do, in a few dictionaries."""

    url: Callable[[], str]
    spec = SPEC
    memory = False

    @initialize()
    def begin(self) -> None:
        self.now = 1_000_000.0
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(turns.time, "time", lambda: self.now)
        self.where = type(self).url()
        self.study = sp.Study.create(self.where, self.spec, lease=LEASE)
        self.arm: dict[str, tuple[object, object]] = {}  # of every ticket, what it is about
        self.worker: dict[str, str | None] = {}
        self.expires: dict[str, float] = {}
        self.open: list[str] = []
        self.first: dict[str, float] = {}  # of every ticket that was answered, its first value
        self.entry: dict[str, int] = {}  # and its entry
        self.log: list[list[tuple[object, object, float]]] = []  # moments of what counts
        self.place: dict[int, tuple[int, int]] = {}  # of every entry, where in the log it is
        self.keys: dict[str, tuple[object, float]] = {}
        self.entries = 0
        self.corrected: set[int] = set()
        self.closed = False

    def teardown(self) -> None:
        if hasattr(self, "study"):
            self.compare()
            assert self.study.verify().faults == []
            self.study.disconnect()
            self.patch.undo()

    def note(self, *observed: tuple[object, object, float]) -> list[int]:
        """These were told, as a moment."""
        self.log.append(list(observed))
        seqs = []
        for k in range(len(observed)):
            self.entries += 1
            self.place[self.entries] = len(self.log) - 1, k
            seqs.append(self.entries)
        return seqs

    # -- rules --------------------------------------------------------------------------------------------------------------

    @rule(n=st.integers(1, 4), worker=WORKERS)
    def ask(self, n: int, worker: str | None) -> None:
        if self.closed:
            with pytest.raises(StudyError):
                self.study.ask(n, worker)
            return
        done = self.study.status().done
        given = self.study.ask(n, worker)
        if done:
            assert given == []
            return
        before = list(self.open)
        own = [ticket for ticket in self.open if worker is not None and self.worker[ticket] == worker][:n]
        assert [ticket.id for ticket in given[: len(own)]] == own
        for ticket in given[len(own) :]:
            assert ticket.id not in self.arm
            about = ticket.arm, ticket.item
            again = [one for one in before if self.arm[one] == about and self.expires[one] <= self.now and one not in own]
            if again:
                self.open.remove(again[0])
                before.remove(again[0])
            if ticket.item is not None:
                assert about not in {self.arm[one] for one in self.open}
            self.arm[ticket.id], self.worker[ticket.id], self.expires[ticket.id] = about, worker, self.now + LEASE
            self.open.append(ticket.id)
        for ticket in given:
            self.expires[ticket.id] = self.now + LEASE

    def settle(self, ticket: str, value: float, seq: int) -> None:
        """Answered; and on a pool so are all others about the same score."""
        about = self.arm[ticket]
        for one in self.arm if about[1] is not None else [ticket]:
            if self.arm[one] == about and one not in self.first:
                self.first[one], self.entry[one] = value, seq
                if one in self.open:
                    self.open.remove(one)

    def counts_as(self, ticket: str) -> float:
        moment, k = self.place[self.entry[ticket]]
        return self.log[moment][k][2]

    @precondition(lambda self: self.arm)
    @rule(which=WHICH, value=VALUES)
    def tell(self, which: int, value: float) -> None:
        ticket = list(self.arm)[which % len(self.arm)]
        if ticket in self.first:
            if value in (self.first[ticket], self.counts_as(ticket)):
                self.study.tell(ticket, value)
            else:
                with pytest.raises(ConflictError) as raised:
                    self.study.tell(ticket, value)
                assert raised.value.value == self.first[ticket]
        elif self.closed:
            with pytest.raises(StudyError):
                self.study.tell(ticket, value)
        else:
            self.study.tell(ticket, value)
            (seq,) = self.note((*self.arm[ticket], value))
            self.settle(ticket, value, seq)

    @precondition(lambda self: len(self.open) >= 2 and not self.closed)
    @rule(one=VALUES, other=VALUES)
    def tell_together(self, one: float, other: float) -> None:
        first, second = self.open[:2]
        if self.arm[first] == self.arm[second] and self.arm[first][1] is not None:
            return
        self.study.tell_many([(first, one), (second, other), (first, one)])
        seqs = self.note((*self.arm[first], one), (*self.arm[second], other))
        self.settle(first, one, seqs[0])
        self.settle(second, other, seqs[1])

    @precondition(lambda self: self.spec is SPEC)
    @rule(key=st.sampled_from(["page 1", "page 2", "page 3"]), arm=st.sampled_from(SPEC["arms"]), value=VALUES)
    def record(self, key: str, arm: str, value: float) -> None:
        if key in self.keys:
            if self.keys[key] == (arm, value):
                self.study.record(arm, value, key)
            else:
                with pytest.raises(ConflictError):
                    self.study.record(arm, value, key)
        elif self.closed:
            with pytest.raises(StudyError):
                self.study.record(arm, value, key)
        else:
            self.study.record(arm, value, key)
            self.keys[key] = arm, value
            self.note((arm, None, value))

    @precondition(lambda self: self.place)
    @rule(which=WHICH, value=VALUES)
    def correct(self, which: int, value: float) -> None:
        seq = list(self.place)[which % len(self.place)]
        moment, k = self.place[seq]
        arm, item, before = self.log[moment][k]
        if before == value:
            with pytest.raises(StudyError):
                self.study.correct(seq, value, "why")
            return
        self.study.correct(seq, value, "a slip")
        self.log[moment][k] = arm, item, value
        self.entries += 1
        self.corrected.add(seq)

    @rule(seconds=st.sampled_from([1.0, 60.0, 99.0, 101.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @precondition(lambda self: self.open)
    @rule(which=WHICH)
    def release(self, which: int) -> None:
        ticket = self.open[which % len(self.open)]
        self.study.release([ticket])
        self.worker[ticket], self.expires[ticket] = None, self.now

    @precondition(lambda self: not self.memory)
    @rule()
    def restart(self) -> None:
        self.study.disconnect()
        self.study = sp.Study.open(self.where)

    @precondition(lambda self: len(self.log) > 8)
    @rule()
    def close(self) -> None:
        self.study.close()
        self.closed = True

    # -- what holds -----------------------------------------------------------------------------------------------------------

    @invariant()
    def it_knows_what_was_told(self) -> None:
        if not hasattr(self, "study"):
            return
        status = self.study.status()
        assert status.samples == len(self.place)
        assert [ticket.id for ticket in self.study.waiting()] == sorted(self.open, key=lambda one: int(one.partition("-")[0]))
        assert status.open == len(self.open)
        assert status.expired == sum(self.expires[ticket] <= self.now for ticket in self.open)
        assert status.corrected == len(self.corrected)
        assert len(self.study.history(limit=1000)) == self.entries

    @rule()
    def compare(self) -> None:
        """An explorer that is told the same, at the same moments, certifies the same."""
        explorer = explorer_of(self.spec)
        for moment in self.log:
            if explorer.pool is None:
                explorer.tell_many([(arm, value) for arm, _, value in moment])
            else:
                explorer.expect([(arm, item) for arm, item, _ in moment])
                explorer.tell_many([((arm, item), value) for arm, item, value in moment])
        mine, theirs = self.study.certificate(), explorer.certificate()
        told = mine.to_dict()
        told.pop("corrected", None)
        same = theirs.to_dict()
        for one in (told, same):
            del one["statement"], one["conditions"]
        assert told == same


@pytest.fixture(scope="module")
def server() -> Iterator[databases.Server]:
    with databases.server() as started:
        yield started


EXAMPLES = {"memory": 20, "sqlite": 8, "postgresql": 8}


@pytest.mark.parametrize("spec", [SPEC, POOL], ids=["arms", "pool"])
@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_study_does_what_the_model_does(kind: str, spec: dict, request: pytest.FixtureRequest) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        names = iter(range(1_000_000))
        urls = {"memory": lambda: "sqlite:///:memory:", "sqlite": lambda: f"sqlite:///{folder}/{next(names)}.db"}
        url = urls[kind] if kind in urls else request.getfixturevalue("server").url
        machine = type(kind, (Model,), {"url": staticmethod(url), "spec": spec, "memory": kind == "memory"})
        # What fails is shown as it was found: to make it smaller takes many transactions.
        once = settings(max_examples=EXAMPLES[kind], stateful_step_count=25, phases=[Phase.explicit, Phase.generate])
        run_state_machine_as_test(machine, settings=once)
    finally:
        shutil.rmtree(folder)
