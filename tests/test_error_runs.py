"""The runs that count wrong certificates: what they cover, what they see, and how they are judged, kept and written."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import surepick as sp
from surepick.confidence import CONFIDENCES
from surepick.errors import SettingError
from surepick.policies import POLICIES
from surepick.problems import PROBLEMS

from .cases import ALONE

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))
hard, bench, marks = import_module("hard"), import_module("errors"), import_module("marks")

ROWS = hard.rows()


def row_of(*words: str) -> hard.Row:
    return next(row for row in ROWS if all(word in row.key for word in words))


def test_every_class_policy_and_sequence_is_there() -> None:
    own = {kind for kind, cls in PROBLEMS.items() if cls.__module__.startswith("surepick.")}
    assert {hard.problem_of(row.instance).kind for row in ROWS if row.table == "classes"} == own - {
        "ranking"
    }  # see benchmarks/pool.py
    assert {row.policy for row in ROWS if row.table == "policies"} == set(ALONE)
    assert {row.confidence for row in ROWS if row.table == "policies"} == {"auto", *CONFIDENCES}
    for policy in ALONE:
        for confidence in CONFIDENCES:
            counted = sum(row.runs for row in ROWS if (row.policy, row.confidence) == (policy, confidence))
            assert counted >= 20_000 or not counted
    for name in hard.CLASSES:
        assert sum(row.runs for row in ROWS if row.table == "classes" and row.group == name) >= 100_000


def test_no_pair_that_a_best_arm_accepts_is_left_out() -> None:
    problems = sp.BestArm(2), sp.BestArm(hard.coins(2), parameter="variance"), sp.BestArm(hard.normals(2))
    for policy in ALONE:
        for confidence in CONFIDENCES:
            able = 0
            for problem in problems:
                try:
                    sp.Explorer(problem, policy=policy, confidence=confidence)
                except SettingError:
                    continue
                able += 1
            assert (able > 0) == any((row.policy, row.confidence) == (policy, confidence) for row in ROWS)


def test_every_instance_is_hard() -> None:
    """There is a wrong decision, and none that the policy may certify by looking at nothing."""
    for instances in hard.CLASSES.values():
        for instance in instances.values():
            problem = hard.problem_of(instance)
            judge = hard.World.of(problem, instance.world(instance.truth))
            draws = np.random.default_rng(1).uniform(0, 1, (200, problem.m)) * np.minimum(problem.high - problem.low, 1.0)
            assert not all(judge.correct(problem.solve(theta), instance.epsilon, instance.relative) for theta in draws)


def test_a_run_depends_on_its_number_alone() -> None:
    row = row_of("classes: best arm, nearly tied")
    parts = hard.count(row, 0, 30)
    parts += hard.count(row, 30, 30)
    assert parts == hard.count(row, 0, 60)
    assert parts.runs == 60
    assert parts.full == 2
    assert parts.certified >= parts.wrong


@pytest.mark.parametrize("how", ["compiled", "looks"])
def test_wrong_certificates_are_seen(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy that forgets to divide delta is wrong about half the time where decisions nearly tie."""
    monkeypatch.setattr(POLICIES["joint"], "threshold", lambda self, delta: 0.01)
    if how == "looks":
        monkeypatch.setattr(hard, "find", lambda explorer: None)
    row = replace(row_of("classes: best arm, nearly tied", "0.05"), runs=200)
    found = hard.count(row, 0, 200)
    assert len(bench.failures({row: found})) >= 1
    assert "certified wrongly; at most" in bench.failures({row: found})[0]


def test_gaps_that_are_too_small_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(POLICIES["coci"], "gap", lambda self, view, decision: 0.0)
    monkeypatch.setattr(hard, "FULL", 1)
    row = row_of("policies: mean, nearly tied, coci, auto, 0.05")
    found = hard.count(row, 0, 40)
    assert (found.wrong, found.full) == (0, 40)
    assert "said something untrue" in bench.failures({row: found})[0]


def test_confidence_that_a_wrong_decision_attains_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(POLICIES["coci"], "attained", lambda self, view: 0.001)
    monkeypatch.setattr(hard, "FULL", 1)
    row = row_of("policies: mean, nearly tied, coci, auto, 0.05")
    found = hard.count(row, 0, 80)
    assert found.wrong == 0
    assert "said something untrue" in bench.failures({row: found})[0]


def test_thresholds_and_limits() -> None:
    assert bench.most(2000, 0.05, 1) == 149
    assert bench.most(2000, 0.05, 1000) > 149
    assert bench.limit(0, 1000) == pytest.approx(1 - 0.001 ** (1 / 1000))
    assert bench.limit(7, 7) == 1.0
    row = row_of("classes: path, lopsided", "0.05")
    assert not bench.failures({row: hard.Count(2000, 200, 149, 0, 0)})
    assert bench.failures({row: hard.Count(2000, 200, 400, 0, 0)})


def test_the_whole_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs, keeps, goes on without running anything twice, and fails when a row does."""
    few = [
        replace(row, runs=30)
        for row in ROWS
        if row.key.startswith(("classes: best arm, nearly", "policies: mean, end of range, coci, b"))
    ]
    monkeypatch.setattr(bench, "rows", lambda *runs: few)
    page, kept = tmp_path / "page.md", tmp_path / "kept.jsonl"
    page.write_text("<!-- classes -->\n<!-- /classes -->\n<!-- policies -->\n<!-- /policies -->\n", encoding="utf-8")
    arguments = ["--write", str(page), "--keep", str(kept), "--processes", "1", "--times"]
    assert bench.main(arguments) == 0
    text = page.read_text(encoding="utf-8")
    assert "| best arm | joint | 60 |" in text
    assert "| coci | beta | 60 |" in text
    lines = kept.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(few)
    kept.write_text("\n".join([*lines[:-1], lines[-1][:20]]) + "\n", encoding="utf-8")  # as after a crash
    assert bench.main(arguments) == 0
    assert len(kept.read_text(encoding="utf-8").splitlines()) == len(few) + 1
    assert page.read_text(encoding="utf-8") == text
    monkeypatch.setattr(bench, "most", lambda *given: -1)
    assert bench.main(arguments) == 1
    assert "runs certified wrongly; at most -1 are allowed" in capsys.readouterr().out
    monkeypatch.setattr(bench, "fingerprint", lambda: "other")
    assert not bench.Kept(kept).counts


def test_tables_go_between_their_marks(tmp_path: Path) -> None:
    text = "before\n<!-- a -->\nold\n<!-- /a -->\nbetween\n<!-- b -->\n<!-- /b -->\nafter\n"
    assert marks.put(text, "a", "new \\1\n") == text.replace("\nold\n", "\n\nnew \\1\n\n")
    with pytest.raises(SystemExit, match="<!-- c -->"):
        marks.put(text, "c", "new")
    file = tmp_path / "page.md"
    file.write_text(text, encoding="utf-8")
    marks.write(file, {"a": "1\n", "b": "2\n"})
    assert file.read_text(encoding="utf-8") == marks.put(marks.put(text, "a", "1\n"), "b", "2\n")
