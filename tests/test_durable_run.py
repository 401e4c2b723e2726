"""Study.run: a function takes the samples, in threads, processes and coroutines, until the study is done."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import surepick as sp
from surepick.errors import EvaluationError, SettingError
from surepick.run import evaluations

from .test_durable import POOLED, TWO, score


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluations, "PAUSE", 0.01)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/study.db"


def sample(arm: str) -> float:
    return float(arm == "red")


async def sample_later(arm: str) -> float:
    await asyncio.sleep(0)
    return float(arm == "red")


def test_in_threads(file: str) -> None:
    study = sp.Study.create(file, TWO)
    outcome = study.run(sample, workers=4)
    assert outcome.certified
    assert outcome.certificate.chosen == {"red": 1}
    assert study.status().open == 0
    assert len(study.history(limit=1000)) == study.status().samples
    assert study.verify().ok
    assert study.run(sample).samples == outcome.samples  # it is done


def test_coroutines_and_executors(file: str) -> None:
    found = [sp.Study.create(file, TWO, "coroutines").run(sample_later, workers=4)]
    with ThreadPoolExecutor(3) as executor:
        found.append(sp.Study.create(file, TWO, "threads").run(sample, workers=4, executor=executor))
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        study = sp.Study.create(file, POOLED, "processes")
        found.append(study.run(score, workers=4, executor=processes))
    assert [outcome.certified for outcome in found] == [True] * 3


def test_candidates_on_items(file: str) -> None:
    study = sp.Study.create(file, POOLED)
    outcome = study.run(score, workers=3)
    assert outcome.certificate.chosen == {"ant": 1}
    assert study.verify().ok


def test_several_runs_share_a_study(file: str) -> None:
    study = sp.Study.create(file, {**TWO, "budget": 60, "spend": True})
    runs = [threading.Thread(target=sp.Study.open(file).run, args=(sample,), kwargs={"workers": 3}) for _ in range(3)]
    for one in runs:
        one.start()
    for one in runs:
        one.join()
    assert study.status().samples == 60
    assert study.status().done


def test_failures_are_tried_again_and_named(file: str) -> None:
    tries: dict[str, int] = {}

    def flaky(arm: str) -> float:
        tries[arm] = tries.get(arm, 0) + 1
        if tries[arm] % 3:
            raise OSError("the pump is off")
        return float(arm == "red")

    study = sp.Study.create(file, {**TWO, "budget": 6, "spend": True})
    assert study.run(flaky, workers=1, retries=2).samples == 6
    again = sp.Study.create(file, TWO, "again")

    def broken(arm: str) -> float:
        if arm == "blue":
            raise OSError("the pump is off")
        return 1.0

    with pytest.raises(EvaluationError, match="the pump is off") as raised:
        again.run(broken, workers=2, retries=1)
    assert raised.value.failures[0].candidate == "blue"
    assert isinstance(raised.value.__cause__, OSError)
    ticket = again.ask(1, worker="ana")[0]  # what was given up is given to others
    assert ticket.arm == "blue"
    assert again.run(broken, workers=2, retries=0, failed=0.0).certified
    for wrong in ({"workers": 0}, {"retries": -1}, {"executor": 3}, {"failed": 7.0}, {"worker": ""}, {"lease": 0}):
        with pytest.raises(SettingError):
            again.run(sample, **wrong)
    with pytest.raises(SettingError):
        again.run(3)  # type: ignore[arg-type]


def test_a_run_answers_what_a_dead_one_left(file: str) -> None:
    study = sp.Study.create(file, {**TWO, "budget": 10, "spend": True})
    left = study.ask(4, worker="gpu")
    study.run(sample, workers=2, worker="gpu")
    answered = {entry.ticket for entry in study.history()}
    assert {ticket.number for ticket in left} <= answered
    assert study.status().samples == 10


def test_a_run_that_takes_long_keeps_its_tickets(file: str) -> None:
    study = sp.Study.create(file, {**TWO, "budget": 2, "spend": True})
    gone, seen = threading.Event(), []

    def slow(arm: str) -> float:
        gone.wait(10)
        return 0.5

    running = threading.Thread(target=study.run, args=(slow,), kwargs={"workers": 2, "lease": 0.3})
    running.start()
    with sp.Study.open(file) as other:
        for _ in range(15):
            threading.Event().wait(0.1)
            seen += other.ask(1, worker="thief")
        gone.set()
        running.join()
        assert seen == []
        assert other.status().samples == 2
