"""The benchmarks against peers, as far as they run without the peers: instances, our own side, tables, the runner."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import surepick as sp

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks" / "peers"
sys.path.append(str(FOLDER))
instances, tables, ours = import_module("instances"), import_module("tables"), import_module("ours")
measure, solvers, bench = import_module("measure"), import_module("peer_solvers"), import_module("compare")

SMALL = instances.Survey("small", np.array([4, 9, 6, 12]), np.array([0.5, 0.2, 0.4, 0.1]), 11)
BOUNDED = instances.Survey("bounded", np.array([4, 9, 6, 12]), np.array([0.5, 0.2, 0.4, 0.1]), 20, lower=2, capped=True)


def splits(survey: instances.Survey) -> list[np.ndarray]:
    tops = survey.sizes if survey.capped else [survey.k] * len(survey.sizes)
    ranges = [range(survey.lower, top + 1) for top in tops]
    return [np.array(y) for y in itertools.product(*ranges) if sum(y) == survey.k]


@pytest.mark.parametrize("survey", [SMALL, BOUNDED], ids=lambda survey: survey.name)
def test_only_the_optimum_is_called_best(survey: instances.Survey) -> None:
    found = splits(survey)
    least = min(survey.variance(y) for y in found)
    for y in found:
        assert survey.is_best(y) == (survey.variance(y) <= least * (1 + 1e-12))
    assert 1 <= sum(survey.is_best(y) for y in found) < len(found) / 10


def test_a_split_of_another_sum_or_outside_bounds_is_not_best() -> None:
    best = sp.allocate(BOUNDED.sizes, BOUNDED.variances, BOUNDED.k, lower=2, upper=BOUNDED.sizes)
    assert BOUNDED.is_best(best)
    assert not BOUNDED.is_best(best - np.array([0, 1, 0, 0]))
    assert not BOUNDED.is_best(np.array([5, 7, 6, 2]))


def test_our_allocations_are_best_in_every_survey() -> None:
    for survey in instances.surveys()[:5]:
        y = ours.METHODS[0].prepare(survey)()
        assert survey.is_best(y)


def test_the_best_units_are_the_best_split() -> None:
    for survey in (SMALL, BOUNDED, *instances.surveys()[:5]):
        units = solvers.Units(survey)
        taken = np.zeros(len(units.gains))
        taken[np.argsort(-units.gains)[: units.rest]] = 1
        assert survey.is_best(units.split(taken))


def test_highs_finds_the_best_split() -> None:
    for prepare in (solvers.milp, solvers.linprog):
        assert SMALL.is_best(prepare(SMALL)())


def test_a_tape_plays_what_surepick_draws() -> None:
    task = instances.TASKS["best of 10"]
    for run in (0, 3):
        assert ours.asked(task, run) == ours.compiled(task, run)
    assert ours.asked(task, 0)[0] != ours.asked(task, 3)[0]


def test_mistakes_are_counted_by_the_arms_chosen() -> None:
    task = instances.TASKS["top-3 of 10"]
    assert not task.wrong((2, 0, 1), 0.0)
    assert task.wrong((0, 1, 3), 0.0)
    assert not task.wrong((0, 1, 3), 0.1)
    assert task.wrong((0, 1, 4), 0.1)
    assert task.wrong((0, 1, 1), 0.0)
    assert all(list(task.means) == sorted(task.means, reverse=True) for task in instances.TASKS.values())


def test_clopper_pearson() -> None:
    assert tables.clopper_pearson(0, 10) == pytest.approx((0, 1 - 0.025**0.1))
    assert tables.clopper_pearson(10, 10) == pytest.approx((0.025**0.1, 1))
    assert tables.clopper_pearson(5, 20) == pytest.approx((0.0866, 0.4910), abs=1e-4)


@pytest.mark.parametrize(
    ("x", "text"),
    [(1234567, "1,200,000"), (98.7, "99"), (9.87, "9.9"), (0.01234, "0.012"), (0, "0"), (10.4, "10"), (4.6e-6, "0.0000046")],
)
def test_few_digits(x: float, text: str) -> None:
    assert tables.significant(x) == text


@pytest.mark.parametrize(("seconds", "text"), [(12.3, "12 s"), (0.0123, "12 ms"), (4.2e-5, "42 µs")])
def test_durations(seconds: float, text: str) -> None:
    assert tables.duration(seconds) == text


def rule(name: str, **settings: object) -> instances.Rule:
    return instances.Rule(name, "package", "package", "the best", {}, lambda task, run: (0, ()), **settings)


def runs(samples: list[int], seconds: float) -> tables.Measured:
    record = {"samples": samples, "seconds": [seconds] * len(samples), "wrong": [False] * len(samples)}
    return tables.Measured("package 1", runs=record)


def test_ratios_are_those_of_the_runs_that_both_took() -> None:
    rows = [
        (rule("mine", reference=True), runs([100, 300, 800], 0.001)),
        (rule("loose", reference=True, epsilon=0.1), runs([10, 30], 0.001)),
        (rule("theirs"), runs([400, 400], 0.1)),
        (rule("theirs, loose", epsilon=0.1), runs([40], 0.1)),
        (rule("gone"), tables.Measured(problem="not installed")),
        (rule("slow"), tables.Measured("package 1")),
    ]
    lines = tables.exploration(instances.TASKS["best of 10"], rows).splitlines()
    cells = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")] for line in lines if line.startswith("|")}
    assert cells["mine"][4:6] == ["400 ± 170", ""]
    assert cells["mine"][6] == "0 (0 to 71 %)"
    assert cells["theirs"][4:6] == ["400", "2"]  # against 100 and 300, not 800
    assert cells["theirs"][7:9] == ["4,000", "75"]  # medians of a run: 300,000 against 4,000 a second
    assert cells["theirs, loose"][5] == "4"
    assert cells["gone"][3] == "*not installed*"
    assert cells["slow"][3] == "*stopped*"
    assert len({line.count("|") for line in lines if line.startswith("|")}) == 1


def test_verdicts() -> None:
    report = {"sum": 11, "bounds": True, "best": False, "variance": 2.06}
    assert tables.verdict(SMALL, report, 2.0) == "+3 %"
    assert tables.verdict(SMALL, report | {"best": True}, 2.06) == "exact"
    assert tables.verdict(SMALL, report | {"sum": 12}, 2.0) == "12 interviews"
    assert tables.verdict(SMALL, report | {"sum": 12, "bounds": False}, 2.0) == "12 interviews, outside bounds"
    assert tables.verdict(SMALL, report | {"bounds": False}, 2.0) == "outside bounds"
    assert tables.verdict(SMALL, {"refused": "too many"}, 2.0) == "refused"


def test_what_was_not_reached_was_stopped() -> None:
    mine = {"sum": 11, "bounds": True, "best": True, "variance": 2.0, "seconds": 0.001}
    method = ours.METHODS[0]
    rows = [
        (method, tables.Measured("a 1", surveys={"small": mine, "bounded": mine | {"sum": 20}})),
        (method, tables.Measured("b 1", surveys={"small": mine | {"seconds": 0.1}})),
        (method, tables.Measured(problem="not installed")),
    ]
    text = tables.allocation([SMALL, BOUNDED], rows, 30)
    assert text.count("> 30 s") == 2  # once a table
    assert text.count("*not installed*") == 4
    assert "100 ms (100 ×)" in text


def test_every_pin_is_a_name_and_a_version() -> None:
    found = dict(bench.blocks((FOLDER / "requirements.txt").read_text(encoding="utf-8")))
    for pins in found.values():
        assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", pin) for pin in pins)
    versions: dict[str, set[str]] = {}
    for pin in itertools.chain(*found.values()):
        versions.setdefault(*pin.split("==")[:1], set()).add(pin)
    assert all(len(pins) == 1 for pins in versions.values()), "one environment holds one version"
    assert {job.way.package for job in bench.jobs()} == {*found, "surepick", "scipy"}


def test_the_page_has_a_row_for_everything_measured() -> None:
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
    for job in bench.jobs():
        part = page.split(f"**{job.task}**", 1)[1].split("\n\n**", 1)[0] if job.task else page.split("<!-- strata -->", 1)[1]
        assert f"| {job.way.name} |" in part, job.label
    for survey in instances.surveys():
        assert f"| {survey.name} |" in page or f"| {survey.name} " in page


def test_a_peer_that_is_not_there_is_said_to_be_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pymab", None)
    measure.main("peer_pymab", "0", "best of 10")
    measured = tables.Measured()
    measured.take(json.loads(capsys.readouterr().out))
    assert measured.problem == "not installed"


def test_one_peer_that_cannot_be_installed_leaves_the_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran = []

    def fake(command: list[object], check: bool = False) -> subprocess.CompletedProcess[str]:
        ran.append(" ".join(map(str, command)))
        return subprocess.CompletedProcess(command, int("alibi==" in ran[-1]))

    monkeypatch.setattr(bench.subprocess, "run", fake)
    monkeypatch.setattr(bench, "VENV", tmp_path)
    bench.install()
    assert any("alibi==" in command for command in ran[:-1])
    assert "ortools==" in ran[-1]
    assert not (tmp_path / "installed").exists()  # so that the next run tries again
    monkeypatch.setattr(bench.subprocess, "run", lambda *a, **k: subprocess.CompletedProcess(a, 0))
    bench.install()
    assert (tmp_path / "installed").exists()


def test_ctrl_c_leaves_the_page_as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "peers.md"
    page.write_text("<!-- arms -->\n<!-- /arms -->\n<!-- strata -->\n<!-- /strata -->\n", encoding="utf-8")
    before = page.read_text(encoding="utf-8")

    def interrupted(todo: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bench, "install", lambda: None)
    monkeypatch.setattr(bench, "measure", interrupted)
    monkeypatch.setattr(sys, "argv", ["compare.py", "--write", str(page)])
    assert bench.main() == 130
    assert page.read_text(encoding="utf-8") == before
