"""Moments: what holds now is a question, what held at a judged moment is kept, and certificates are made when asked for."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surepick as sp
from surepick.run.drive import drive

SURE = [(0, [1.0] * 60), (1, [0.0] * 60)]
CONTRARY = [(0, [0.0] * 300), (1, [1.0] * 300)]


def put_in(explorer: sp.Explorer, pairs: list[tuple[int, list[float]]]) -> None:
    """As a driver does in the middle of a batch."""
    for arm, values in pairs:
        explorer.record.update(arm, np.array(values))
    explorer.forget()


def ask_everything(explorer: sp.Explorer) -> None:
    _ = explorer.certified, explorer.done, explorer.undecided, explorer.decision, explorer.certificate(), explorer.ask(3)
    _ = explorer.attained(), repr(explorer), explorer.box()


def test_asking_keeps_nothing() -> None:
    ex = sp.Explorer(sp.BestArm(2))
    put_in(ex, SURE)
    ask_everything(ex)
    assert ex.certified
    assert ex.certificate().certified
    put_in(ex, [(0, [0.0] * 60), (1, [1.0] * 60)])
    assert not ex.certified
    assert ex.undecided.all()


def test_a_moment_that_was_judged_is_kept() -> None:
    ex = sp.Explorer(sp.BestArm(2))
    put_in(ex, SURE)
    ex.judge()
    then = ex.certificate()
    ex.tell_many(CONTRARY)
    assert ex.certified
    assert ex.certificate() is then
    assert ex.decision.tolist() == [1, 0]


def test_a_moment_that_a_driver_left_is_judged_before_more_is_told() -> None:
    ex = sp.Explorer(sp.BestArm(2))
    put_in(ex, SURE)
    ex.tell_many(CONTRARY)
    assert ex.certificate().samples == 120
    assert ex.decision.tolist() == [1, 0]


@pytest.mark.parametrize(
    "settings",
    [{}, {"policy": "elimination"}, {"policy": "coci"}, {"epsilon": 0.3}, {"dependent": True}],
    ids=str,
)
def test_the_certificate_is_of_its_moment_whether_it_was_asked_for_or_not(settings: dict[str, Any]) -> None:
    curious, silent = (sp.Explorer(sp.TopK(3, 1), 0.1, **settings) for _ in range(2))
    for ex in (curious, silent):
        ex.policy.seed(3, 0)
    rng = np.random.default_rng(8)
    for k in range(120):
        row = dict(enumerate((rng.random(3) < [0.9, 0.3, 0.2]).astype(float) if k < 80 else [0.0, 1.0, 1.0]))
        for ex in (curious, silent):
            ex.tell_row(row) if settings.get("dependent") else ex.tell_many(row.items())
            if k == 100:
                ex.end(2)
        ask_everything(curious)
    found = silent.certificate()
    assert found.certified
    assert found.samples < silent.samples == 360
    assert found.ended == []
    assert found.to_dict() == curious.certificate().to_dict()
    assert silent.undecided.tolist() == curious.undecided.tolist()
    assert silent.attained() == curious.attained() == found.attained


@pytest.mark.parametrize("settings", [{}, {"epsilon": 0.5}, {"budget": 120, "spend": True}], ids=str)
def test_no_certificate_is_made_before_it_is_asked_for(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulation of many short runs would spend most of its time on them."""
    monkeypatch.setattr(sp.Explorer, "certificate", lambda _: pytest.fail("nobody asked for it"))
    ex = sp.Explorer(sp.BestArm(2), **settings)
    ex.tell_many(SURE)
    assert ex.certified
    assert ex.done
    assert not ex.undecided.any()
    assert ex.decision.tolist() == [1, 0]
    drive(sp.Explorer(sp.BestArm(2)), sp.Bernoulli([0.9, 0.1]))


def test_what_was_certified_survives_copies_and_files(tmp_path: Path) -> None:
    ex = sp.Explorer(sp.BestArm(2))
    ex.tell_many(SURE)
    ex.save(tmp_path / "x.json")
    others = [copy.copy(ex), pickle.loads(pickle.dumps(ex)), sp.Explorer.load(tmp_path / "x.json")]
    for other in others:
        other.tell_many(CONTRARY)
        assert other.certificate().to_dict() == ex.certificate().to_dict()
        assert not other.undecided.any()


def test_an_arm_that_ends_within_a_batch_ends_no_moment() -> None:
    """What a batch certifies is what all of it says, not what stood there when one of its arms ran out."""
    left = {0: 400, 1: 400, 2: 130}

    def sampler(arm: int, n: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        if left[arm] < n:
            raise StopIteration
        left[arm] -= n
        return (rng.random(n) < (0.9, 0.5, 0.05)[arm]).astype(float)

    ex = sp.Explorer(sp.TopK(3, 1), policy="uniform")
    outcome = sp.explore(ex, sampler, batch=300)
    assert ex.ended == ["arm 2"]
    assert outcome.certified
    assert outcome.samples == ex.samples == int(ex.counts.sum())
