"""The command line: results for people and as JSON, errors, Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import surepick as sp
from surepick.study import load

EXAMPLES = Path(__file__).parent.parent / "examples"

STUDY = """
title = "Three posters"
delta = 0.1
arms = ["red", "blue", "green"]
[problem]
kind = "top-k"
k = 1
"""
TRUTH = '[simulate]\nkind = "bernoulli"\np = [0.9, 0.5, 0.2]\n'


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY + TRUTH)
    return path


# -- run -----------------------------------------------------------------------------------------------------------------


def test_run_for_people(cli, study):
    code, out, err = cli("run", study)
    assert (code, err) == (0, "")
    assert "Three posters" in out
    assert "Certified after" in out
    assert "Decision: red" in out
    assert all(name in out for name in ("red", "blue", "green"))


def test_run_is_the_python_run(ask, study):
    answer = ask("run", study, "--seed", 5)
    spec = load(study)
    outcome = sp.explore(spec.problem, spec.environment, 0.1, seed=5)
    assert answer["certificate"] == outcome.certificate.to_dict()
    assert (answer["title"], answer["problem"], answer["interrupted"]) == ("Three posters", "top-k", False)


def test_options_replace_settings(ask, study):
    answer = ask("run", study, "--delta", 0.01, "--epsilon", 0.2, "--budget", 40, "--policy", "uniform", "--batch", 4)
    certificate = answer["certificate"]
    assert (certificate["delta"], certificate["epsilon"], certificate["policy"]) == (0.01, 0.2, "uniform")
    assert certificate["samples"] == 40
    assert not certificate["certified"]
    assert certificate["undecided"] == ["red", "blue", "green"]


def test_every_policy_and_its_own_confidence(ask, study):
    for policy, own in (("lucb", "lucb"), ("kl-lucb", "kl-lucb"), ("clucb", "clucb"), ("coci", "paper")):
        certificate = ask("run", study, "--policy", policy, "--confidence", "own")["certificate"]
        assert (certificate["policy"], certificate["confidence"], certificate["decision"]) == (policy, own, [1, 0, 0])


def test_a_share_of_the_best(ask, study):
    certificate = ask("run", study, "--epsilon", 0.4, "--relative", "--batch", 10)["certificate"]
    assert certificate["relative"]
    assert certificate["certified"]
    assert certificate["gap"] <= 0.4


@pytest.mark.parametrize("name", ["matching", "route", "knapsack"])
def test_classes_without_a_test_an_arm(ask, cli, tmp_path, name):
    file = EXAMPLES / f"{name}.toml"
    answer = ask("run", file, "--batch", 10)
    certificate = answer["certificate"]
    assert (certificate["certified"], certificate["rule"]) == (True, "unified")
    measured = ask("hardness", file)
    assert certificate["decision"] == measured["decision"]
    assert measured["samples"]["coci"]["expected"] > 0
    few = data(tmp_path / "d.csv", {arm: [mean] * 3 for arm, mean in zip(measured["arms"], measured["theta"], strict=True)})
    looked = ask("check", file, few, "--next", 12)
    assert sum(looked["next"].values()) == 12
    assert looked["certificate"]["decision"] == measured["decision"]
    assert "Sample next" in cli("check", file, few)[1]


def test_no_estimate_of_the_rest_with_another_radius(ask, study, tmp_path):
    file = data(tmp_path / "d.csv", {"red": [1] * 30, "blue": [0, 1] * 20, "green": [0] * 30})
    assert ask("check", study, file)["expected_left"] > 0
    study.write_text('policy = "lucb"\nconfidence = "own"\n' + STUDY)
    assert ask("check", study, file)["expected_left"] is None


def test_run_saves_pictures(ask, study, tmp_path):
    answer = ask("run", study, "--plot", tmp_path / "new" / "pictures")
    assert [Path(p).name for p in answer["pictures"]] == ["intervals.png", "samples.png"]
    assert all(Path(p).read_bytes().startswith(b"\x89PNG") for p in answer["pictures"])


def test_run_without_a_truth_explains_check(cli, study):
    study.write_text(STUDY)
    code, out, err = cli("run", study)
    assert (code, out) == (2, "")
    assert "study.toml, key simulate" in err
    assert "surepick check" in err


def test_ctrl_c_prints_what_is_known(tmp_path):
    study = tmp_path / "long.toml"
    study.write_text('arms = 2\nproblem = {kind = "best-arm"}\nsimulate = {kind = "bernoulli", p = [0.5, 0.50001]}\n')
    # Says when it has started to explore: before that, a Ctrl-C just ends the command.
    code = """
import sys
from surepick.cli import main, watch
class Telling(watch.CtrlC):
    def __enter__(self):
        super().__enter__()
        print("ready", file=sys.stderr, flush=True)
        return self
watch.CtrlC = Telling
main()
"""
    command = [sys.executable, "-c", code, "run", str(study), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, err) == (130, "")
    answer = json.loads(out)
    assert answer["interrupted"]
    assert not answer["certificate"]["certified"]
    assert answer["certificate"]["samples"] == sum(answer["certificate"]["counts"]) >= 2
    assert len(answer["certificate"]["undecided"]) == 2


# -- check ---------------------------------------------------------------------------------------------------------------


def data(path: Path, values: dict[str, list[float]]) -> Path:
    path.write_text("arm,value\n" + "".join(f"{arm},{x}\n" for arm, xs in values.items() for x in xs))
    return path


def test_check_certifies(ask, cli, study, tmp_path):
    file = data(tmp_path / "d.csv", {"red": [1] * 300, "blue": [0, 1] * 150, "green": [0] * 300})
    answer = ask("check", study, file)
    assert answer["certificate"]["certified"]
    assert answer["certificate"]["decision"] == [1, 0, 0]
    assert (answer["next"], answer["expected_left"]) == ({}, None)
    assert "Certified after 900 samples" in cli("check", study, file)[1]


def test_check_says_what_to_sample_next(ask, cli, study, tmp_path):
    file = data(tmp_path / "d.csv", {"red": [1] * 30, "blue": [0, 1] * 20, "green": [0] * 30})
    answer = ask("check", study, file, "--next", 20)
    spec = load(study)
    ex = spec.explorer()
    for arm, values in (("red", [1] * 30), ("blue", [0, 1] * 20), ("green", [0] * 30)):
        ex.tell(arm, values)
    plan = [spec.problem.names[i] for i in ex.ask(20)]
    assert answer["next"] == {name: plan.count(name) for name in set(plan)}
    assert answer["certificate"]["undecided"] == ["red", "blue", "green"]
    assert answer["expected_left"] > 0
    out = cli("check", study, file, "--next", 20, "--plot", tmp_path)[1]
    assert "Sample next (20 samples)" in out
    assert "more samples are needed" in out
    assert (tmp_path / "intervals.png").exists()


def test_check_before_every_arm_was_seen(ask, study, tmp_path):
    answer = ask("check", study, data(tmp_path / "d.csv", {"red": [1]}), "--next", 2)
    assert answer["next"] == {"blue": 1, "green": 1}
    assert answer["certificate"]["estimate"] == [1, None, None]


def test_check_refuses_bad_rows(cli, study, tmp_path):
    for text, words in (
        ("arm,value\nred,1\nred,2\n", ["line 3", "column 'value'"]),
        ("arm,value\nred,1\nrad,1\n", ["line 3", "column 'arm'", "did you mean 'red'"]),
        ("arm,value\nred,1\nred,\n", ["line 3", "column 'value'"]),
    ):
        (tmp_path / "d.csv").write_text(text)
        code, out, err = cli("check", study, tmp_path / "d.csv")
        assert (code, out) == (2, "")
        assert all(word in err for word in ("d.csv", *words)), err


# -- hardness, demo ------------------------------------------------------------------------------------------------------


def test_hardness(ask, cli):
    answer = ask("hardness", EXAMPLES / "top-k.toml")
    assert answer["radius"][2] == pytest.approx(0.05)
    assert answer["gap"][2] == pytest.approx(0.1)
    assert answer["width"] == 2
    assert answer["H"] == pytest.approx(sum(r**-2 for r in answer["radius"]))
    assert answer["samples"]["coci"]["expected"] < answer["samples"]["uniform"]["expected"]
    assert answer["samples"]["coci"]["expected"] < answer["samples"]["coci"]["upper_bound"]
    out = cli("hardness", EXAMPLES / "survey.toml")[1]
    assert "radius Λ" in out
    assert "Ticino" in out


def test_hardness_of_a_tie(ask, cli, study):
    study.write_text("theta = [0.5, 0.5, 0.25]\n" + STUDY)
    answer = ask("hardness", study)
    assert answer["radius"][0] == pytest.approx(0, abs=1e-12)
    assert answer["samples"]["coci"] == {"expected": None, "upper_bound": None}
    assert "not unique" in cli("hardness", study)[1]


def test_hardness_needs_a_truth(cli, study):
    study.write_text(STUDY)
    assert "study.toml, key theta" in cli("hardness", study)[2]
    study.write_text("theta = [0.5, 0.25, 7]\n" + STUDY)
    code, _, err = cli("hardness", study)
    assert code == 2
    assert "study.toml, key theta: theta[2] = 7" in err


def test_demo(ask, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = ask("demo")
    assert answer["certificate"]["certified"]
    assert answer["right"]
    assert answer["samples_uniform"] > answer["certificate"]["samples"]
    folder = tmp_path / "surepick-demo"
    assert {p.name for p in folder.iterdir()} == {"study.toml", "intervals.png", "samples.png"}
    assert load(folder / "study.toml").title == answer["title"]
    (folder / "study.toml").write_text(STUDY)
    code, _, err = cli("demo")
    assert code == 2
    assert "edited" in err
    assert (folder / "study.toml").read_text() == STUDY


def test_warning_of_ties(capsys, study, tmp_path):
    from surepick.cli.watch import warn_of_ties

    warn_of_ties(load(study))
    assert capsys.readouterr().out == ""
    path = tmp_path / "tie.toml"
    path.write_text(STUDY + TRUTH.replace("0.9, 0.5", "0.9, 0.9"))
    warn_of_ties(load(path))
    assert "will not end by itself" in " ".join(capsys.readouterr().out.split())


def test_check_without_a_plan_and_with_tied_estimates(cli, study, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("arm,value\n" + "".join(f"{arm},{x}\n" for arm in ("red", "blue", "green") for x in (0, 1)))
    code, out, _ = cli("check", study, data, "--next", 0)
    assert code == 0
    assert "Sample next" not in out
    assert "Best guess: red" in out
    assert "The estimates tie" in out


def test_tables_keep_their_names_and_digits_in_a_narrow_terminal(monkeypatch):
    from surepick.cli import talk

    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert talk.console(wide=True).width >= talk.NARROWEST
    assert talk.console().width == 40
