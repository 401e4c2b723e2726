"""Junk in every argument of a durable study: an answer or a typed error with a sentence, and nothing half done."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import surepick as sp

from .test_fuzz import arguments, bounded, fuzz

ROUNDS = 60
METHODS = ["ask", "tell", "tell_many", "record", "correct", "release", "renew", "import_data", "history", "plan", "waiting"]
METHODS += ["export", "copy"]
SPEC = {"arms": ["a", "b"], "problem": {"kind": "best-arm"}, "delta": 0.1}
POOLED = {**SPEC, "pool": {"items": ["x", "y", "z"]}}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where junk that is a path does no harm."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text('arms = ["a", "b"]\n[problem]\nkind = "best-arm"\n')
    (tmp_path / "data.csv").write_text("arm,item,value\na,x,1\nb,x,0\n")


@pytest.mark.parametrize("spec", [SPEC, POOLED], ids=["arms", "pool"])
@pytest.mark.parametrize("method", METHODS)
def test_methods(spec: dict, method: str) -> None:
    study = sp.Study.create("sqlite:///:memory:", spec)
    one, two = study.ask(2)
    study.tell(one, 0.5)
    order = study.explorer().pool
    known = {
        "n": 2, "ticket": two, "value": 0.5, "answers": [(two, 0.5)], "values": 0.5, "entry": 1, "why": "a slip", "given": [two],
        "arm": "a" if order is None else ("a", order.names[order.order[1]]), "path": "log.csv", "url": "other.db",
        "source": pd.DataFrame({"arm": ["a"], "item": ["x"], "value": [0.5]}),
    }  # fmt: skip
    if method == "import_data":
        known["arm"] = known["value"] = None

    def same() -> object:
        return len(study.history(limit=10_000)), [ticket.id for ticket in study.waiting()]

    call = getattr(study, method)
    with bounded():
        assert fuzz(f"{method} {spec is SPEC}", call, arguments(call, known), ROUNDS, same) > 3
    assert study.verify().faults == []


@pytest.mark.parametrize("name", ["create", "open", "studies"])
def test_making_and_finding(name: str) -> None:
    sp.Study.create("study.db", SPEC, "study")
    call = getattr(sp.Study, name)
    known = {"url": "study.db", "spec": SPEC, "name": "study" if name == "open" else "other", "lease": 60.0, "who": "ana"}
    with bounded():
        assert fuzz(name, call, arguments(call, known), ROUNDS) > ROUNDS // 4
