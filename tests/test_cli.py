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

from .processes import heed_ctrl_c

EXAMPLES = Path(__file__).parent.parent / "examples"

STUDY = """
title = "Three posters"
delta = 0.1
arms = ["red", "blue", "green"]
[problem]
kind = "top-k"
k = 1
"""
PICTURES = ["intervals.png", "samples.png", "gap.png", "allocation.png", "closing.png"]
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


def test_an_epsilon_for_every_arm(ask, cli):
    certificate = ask("run", EXAMPLES / "top-k.toml", "--epsilon", 0.2, "--per-arm", "--batch", 50)["certificate"]
    assert certificate["per_arm"]
    assert certificate["gap_per_arm"] <= 0.2
    assert certificate["statement"].endswith("each of these arms is within 0.2 of the 3rd best, if arms are independent.")
    code, _, err = cli("run", EXAMPLES / "network.toml", "--epsilon", 0.2, "--per-arm")
    assert code != 0
    assert "needs best-arm, top-k or best-of-each" in " ".join(err.split())


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


def test_a_share_of_the_best(ask, cli, study):
    options = ("--epsilon", 0.4, "--relative", "--batch", 10)
    certificate = ask("run", study, *options)["certificate"]
    assert certificate["relative"]
    assert certificate["certified"]
    assert 0 < certificate["gap"] <= 0.4
    assert len(certificate["rival"]) == 3
    assert certificate["blocking"] == "blue instead of red"
    out = cli("run", study, *options)[1]
    assert f"Certified gap: at most {100 * certificate['gap']:.3g} % of the best." in out
    assert "Most in the way: blue instead of red." in out


def test_attained_confidence_and_what_blocks(ask, cli, study):
    sure = ask("run", study)["certificate"]
    assert 0 < sure["attained"] <= 0.1
    assert (sure["rival"], sure["blocking"]) == (None, None)
    out = cli("run", study)[1]
    assert f"Attained delta: {sure['attained']:.2g}" in out
    assert "in the way" not in out
    unsure = ask("run", study, "--budget", 12)["certificate"]
    assert unsure["attained"] > 0.1
    out = " ".join(cli("run", study, "--budget", 12)[1].split())
    assert "Attained delta: none below 1" in out if unsure["attained"] == 1 else "0.1 was asked for" in out
    assert f"Most in the way: {unsure['blocking']}." in out
    assert "within" in out


def test_spend_the_budget(ask, cli, study):
    plain = ask("run", study, "--budget", 900)["certificate"]
    spent = ask("run", study, "--budget", 900, "--spend")["certificate"]
    assert plain["samples"] < spent["samples"] == 900
    assert spent["certified"]
    assert spent["attained"] < plain["attained"]
    study.write_text("budget = 900\nspend = true\n" + STUDY + TRUTH)
    assert ask("run", study)["certificate"] == spent
    assert ask("run", study, "--no-spend")["certificate"] == plain


def test_a_run_with_pictures_takes_the_same_samples(ask, study, tmp_path):
    options = ("--epsilon", 0.2, "--batch", 7, "--seed", 3)
    drawn = ask("run", study, *options, "--plot", tmp_path / "p")
    assert [Path(p).name for p in drawn["pictures"]] == PICTURES
    spec = load(study)
    outcome = sp.explore(spec.problem, spec.environment, 0.1, epsilon=0.2, batch=7, seed=3)
    assert drawn["certificate"] == ask("run", study, *options)["certificate"] == outcome.certificate.to_dict()


@pytest.mark.parametrize("name", ["matching", "route", "knapsack"])
def test_classes_without_a_test_an_arm(ask, cli, tmp_path, name):
    file = EXAMPLES / f"{name}.toml"
    answer = ask("run", file, "--batch", 10)
    certificate = answer["certificate"]
    assert (certificate["certified"], certificate["policy"]) == (True, "joint-linear")
    measured = ask("hardness", file)
    assert certificate["decision"] == measured["decision"]
    assert measured["samples"]["coci"]["expected"] > 0
    few = data(tmp_path / "d.csv", {arm: [mean] * 3 for arm, mean in zip(measured["arms"], measured["theta"], strict=True)})
    looked = ask("check", file, few, "--next", 12)
    assert sum(looked["next"].values()) == 12
    assert looked["certificate"]["decision"] == measured["decision"]
    assert "Plan for the next 100 samples" in cli("check", file, few)[1]


def test_no_estimate_of_the_rest_with_another_radius(ask, study, tmp_path):
    file = data(tmp_path / "d.csv", {"red": [1] * 30, "blue": [0, 1] * 20, "green": [0] * 30})
    assert ask("check", study, file)["expected_left"] is None
    study.write_text('policy = "coci"\nconfidence = "paper"\n' + STUDY)
    assert ask("check", study, file)["expected_left"] > 0


def test_run_saves_pictures(ask, study, tmp_path):
    answer = ask("run", study, "--plot", tmp_path / "new" / "pictures")
    assert [Path(p).name for p in answer["pictures"]] == PICTURES
    assert all(Path(p).read_bytes().startswith(b"\x89PNG") for p in answer["pictures"])
    assert answer["certificate"] == ask("run", study)["certificate"]


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
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c)
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


def test_check_plans_the_next_samples(ask, cli, study, tmp_path):
    values = {"red": [1] * 6 + [0] * 4, "blue": [0, 1] * 5, "green": [0] * 10}
    file = data(tmp_path / "d.csv", values)
    answer = ask("check", study, file, "--next", 20)
    ex = load(study).explorer()
    for arm, xs in values.items():
        ex.tell(arm, xs)
    assert answer["next"] == ex.plan(20)
    assert sum(answer["next"].values()) == 20
    certificate = answer["certificate"]
    assert certificate == ex.certificate().to_dict()
    assert (certificate["certified"], certificate["blocking"], certificate["attained"]) == (False, "blue instead of red", None)
    out = " ".join(cli("check", study, file, "--next", 20, "--plot", tmp_path)[1].split())
    assert "Plan for the next 20 samples" in out
    assert "Most in the way: blue instead of red." in out
    assert f"it is within {certificate['gap']:.3g} of the best" in out
    assert (tmp_path / "intervals.png").exists()


def test_check_forecasts_with_the_radius_of_the_paper(ask, cli, study, tmp_path):
    file = data(tmp_path / "d.csv", {"red": [1] * 30, "blue": [0, 1] * 20, "green": [0] * 30})
    study.write_text('policy = "coci"\nconfidence = "paper"\n' + STUDY)
    assert ask("check", study, file)["expected_left"] > 0
    assert "more samples are needed" in cli("check", study, file)[1]


def test_check_within_a_budget(ask, cli, study, tmp_path):
    file = data(tmp_path / "d.csv", {"red": [1] * 300, "blue": [0, 1] * 150, "green": [0] * 300})
    study.write_text("budget = 950\nspend = true\n" + STUDY)
    answer = ask("check", study, file)
    assert sum(answer["next"].values()) == answer["expected_left"] == 50
    assert "The whole budget is to be spent: 50 samples are left." in cli("check", study, file)[1]
    study.write_text("budget = 30\n" + STUDY)
    file = data(tmp_path / "d.csv", {"red": [1, 0] * 5, "blue": [0, 1] * 5, "green": [0] * 10})
    answer = ask("check", study, file)
    assert answer["next"] == {}
    assert answer["certificate"]["attained"] > 0.1
    out = cli("check", study, file)[1]
    assert "The budget of 30 samples is spent" in out
    assert "Attained delta" in out


def test_check_before_every_arm_was_seen(ask, study, tmp_path):
    answer = ask("check", study, data(tmp_path / "d.csv", {"red": [1]}), "--next", 2)
    assert answer["next"] == {"blue": 1, "green": 1}
    assert answer["certificate"]["estimate"] == [1, None, None]


def test_check_refuses_bad_rows(cli, study, tmp_path):
    for text, words in (
        ("arm,value\nred,1\nred,2\n", ["line 3", "column 'value'"]),
        ("arm,value\nred,1\nrad,1\n", ["line 3", "column 'arm'", "did you mean 'red'"]),
        ("arm,value\nred,1\nred,\n", ["line 3", "column 'value'"]),
        ("arm,value\nred,TRUE\n", ["line 2", "write 1 or 0"]),
        ("arm,time,value\nred,1,1\nred,2", ["line 3", "it may be cut off"]),
        ("poster,value\nred,1\n", ["line 1", "no column 'arm' (or 'stratum', 'variant'"]),
    ):
        (tmp_path / "d.csv").write_text(text)
        code, out, err = cli("check", study, tmp_path / "d.csv")
        assert (code, out) == (2, "")
        assert all(word in err for word in ("d.csv", *words)), err


def test_check_names_the_columns_that_it_does_not_use(ask, cli, study, tmp_path):
    """Values of one visitor depend on each other; a column that says so must not go unnoticed."""
    (tmp_path / "d.csv").write_text(
        "visitor,variant,value\n" + "".join(f"{i},red,1\n{i},blue,0\n{i},green,0\n" for i in range(9))
    )
    assert ask("check", study, tmp_path / "d.csv")["unused_columns"] == ["visitor"]
    out = " ".join(cli("check", study, tmp_path / "d.csv")[1].split())
    assert "Not used: column visitor. Values that were observed together, on one person or one day, say so" in out
    assert "If arms depend on each other, set dependent = true in the study." in out


def test_check_with_columns_of_any_title(ask, cli, study, tmp_path):
    """Also those that would be taken for something else."""
    file = tmp_path / "d.csv"
    file.write_text(
        "visitor,poster,score,date,time\n" + "".join(f"{i},red,1,1,{i}\n{i},blue,0,1,{i}\n{i},green,0,1,{i}\n" for i in range(99))
    )
    assert cli("check", study, file)[0] == 2
    given = ["--arm", "poster", "--value", "score", "--order", "time"]
    answer = ask("check", study, file, *given)
    assert (answer["order"], answer["moments"], answer["unused_columns"]) == ("time", 99, ["visitor", "date"])
    rows = ask("check", study, file, *given, "--row", "visitor", "--dependent")
    assert (rows["certificate"]["policy"], rows["unused_columns"]) == ("paired", ["date"])
    code, _, err = cli("check", study, file, "--arm", "posters")
    assert code == 2
    assert "there is no column 'posters'. The columns are 'visitor', 'poster'" in " ".join(err.split())


def test_check_says_what_may_still_change(cli, study, tmp_path):
    """A day that is not over can be added to, and then is another moment."""
    lines = [
        f"{day},{arm},{value}\n" for day in (1, 2) for _ in range(30) for arm, value in (("red", 1), ("blue", 0), ("green", 0))
    ]
    for some, says in (
        (lines[:90], "certified at 1, the last one: that stays if no more is added to it."),
        (lines, "certified at 1. 90 later observations do not change that."),
    ):
        (tmp_path / "d.csv").write_text("day,arm,value\n" + "".join(some))
        assert says in " ".join(cli("check", study, tmp_path / "d.csv")[1].split())


def test_check_of_rows_and_dependent_arms(ask, cli, study, tmp_path):
    (tmp_path / "d.csv").write_text("row,arm,value\n" + "".join(f"{i},red,1\n{i},blue,0\n{i},green,0\n" for i in range(99)))
    code, _, err = cli("check", study, tmp_path / "d.csv")
    assert code == 2
    assert "the study needs dependent = true" in " ".join(err.split())
    certificate = ask("check", study, tmp_path / "d.csv", "--dependent")["certificate"]
    assert (certificate["policy"], certificate["certified"]) == ("paired", True)
    assert certificate["statement"].endswith("this decision is the best.")


# -- hardness, demo ------------------------------------------------------------------------------------------------------


def test_hardness(ask, cli):
    answer = ask("hardness", EXAMPLES / "top-k.toml")
    assert answer["radius"][2] == pytest.approx(0.05)
    assert answer["gap"][2] == pytest.approx(0.1)
    assert answer["width"] == 2
    assert answer["H"] == pytest.approx(sum(r**-2 for r in answer["radius"]))
    assert answer["samples"]["coci"]["expected"] < answer["samples"]["uniform"]["expected"]
    assert answer["samples"]["coci"]["expected"] < answer["samples"]["coci"]["upper_bound"]
    assert answer["characteristic_time"] == pytest.approx(294.55, abs=0.01)
    assert answer["lower_bound"] == pytest.approx(780.6, abs=0.1)
    assert sum(answer["proportions"]) == pytest.approx(1)
    out = cli("hardness", EXAMPLES / "survey.toml")[1]
    assert "radius Λ" in out
    assert "share w*" in out
    assert "no algorithm takes fewer than 3,508 samples" in out
    assert "Ticino" in out


def test_hardness_of_a_tie(ask, cli, study):
    study.write_text("theta = [0.5, 0.5, 0.25]\n" + STUDY)
    answer = ask("hardness", study)
    assert answer["radius"][0] == pytest.approx(0, abs=1e-12)
    assert answer["samples"]["coci"] == {"expected": None, "upper_bound": None}
    assert (answer["characteristic_time"], answer["proportions"], answer["lower_bound"]) == (None, None, None)
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
    certificate = answer["certificate"]
    assert (certificate["certified"], certificate["policy"], certificate["decision"]) == (True, "pac", answer["interviews"])
    assert certificate["gap"] <= 0.05
    assert sum(answer["interviews"]) == sum(answer["proportional"]) == sum(answer["best"]) == 1000
    assert sum(answer["pilot_answers"]) == certificate["samples"] < 3000
    times = answer["truth"]["variance_over_best"]
    assert times["best"] == 1 <= times["interviews"] <= 1.05 < times["proportional"]
    sd = answer["standard_deviation"]
    assert all(a <= x <= b for a, x, b in zip(sd["lower"], sd["truth"], sd["upper"], strict=True))
    assert 20 * certificate["samples"] < answer["paper"]["same_certificate"] < answer["paper"]["exact_estimate"]
    folder = tmp_path / "surepick-demo"
    assert {p.name for p in folder.iterdir()} == {"study.toml", "gap.png", "intervals.png", "samples.png"}
    assert load(folder / "study.toml").title == answer["title"]
    assert ask("run", folder / "study.toml", "--batch", 50)["certificate"] == certificate
    out = " ".join(cli("demo")[1].split())
    for words in (
        "the variance of this allocation is at most 1.05 times the best one's",
        f"proportional allocation has {times['proportional']:.4f} times the best variance",
        f"{answer['paper']['same_certificate']:,} pilot answers (measured",
        "(an estimate from the truth; it was not run)",
    ):
        assert words in out
    (folder / "study.toml").write_text(STUDY)
    code, _, err = cli("demo")
    assert code == 2
    assert "edited" in err
    assert (folder / "study.toml").read_text() == STUDY


def test_progress_shows_the_gap_as_it_falls(monkeypatch, study):
    from surepick.cli import watch

    seen = []

    class Bar:
        def update(self, _task, *, description, total, completed):
            seen.append((description, total, completed))

    ex = load(study).replace(epsilon=0.02, relative=True).explorer()
    with watch.Display(ex) as display:
        display.bar, display.task = Bar(), 0
        monkeypatch.setattr(watch, "LOOK", 0.0)
        for n in (5, 45, 50, 100):
            for arm, p in enumerate((0.6, 0.6, 0.2)):
                ex.tell(arm, [1] * round(p * n) + [0] * round((1 - p) * n))
            display.next_estimate = 0.0
            display.look()
        display.bar = None
    assert "% of the best (2 % asked for), no estimate of the rest" in seen[0][0]
    assert seen[0][1] is None
    assert seen[-1][0].startswith("600 samples, within ")
    assert "left" in seen[-1][0]
    assert seen[-1][1] > 600
    gaps = [float(text.split("within ")[1].split(" %")[0].replace(",", "")) for text, *_ in seen]
    assert gaps == sorted(gaps, reverse=True)
    monkeypatch.setattr(watch, "LOOK", 60.0)
    before = len(seen)
    with watch.Display(ex) as display:
        display.bar, display.task = Bar(), 0
        for _ in range(3):
            display.look()
        display.bar = None
    assert len(seen) == before + 1


def test_foreseen():
    from surepick.cli.watch import foreseen
    from surepick.lab import Trace

    trace = Trace()
    trace.epsilon = 0.01
    assert foreseen(trace) is None
    trace.samples, trace.gap = [100, 400], [0.4, 0.2]  # as 1 / sqrt(samples)
    assert foreseen(trace) == pytest.approx(400 * 20**2)
    trace.gap = [0.4, 0.02]  # faster than 1 / samples, which does not last
    assert foreseen(trace) == pytest.approx(800)
    trace.gap = [0.4, 0.5]
    assert foreseen(trace) is None


def test_warning_of_ties(capsys, study, tmp_path):
    from surepick.cli.watch import warn_of_ties

    warn_of_ties(load(study))
    assert capsys.readouterr().out == ""
    path = tmp_path / "tie.toml"
    path.write_text(STUDY + TRUTH.replace("0.9, 0.5", "0.9, 0.9"))
    warn_of_ties(load(path))
    assert "will not end by itself" in " ".join(capsys.readouterr().out.split())


def test_check_without_a_plan_and_with_tied_estimates(cli, study, tmp_path):
    study.write_text('policy = "coci"\nconfidence = "paper"\n' + STUDY)
    file = data(tmp_path / "d.csv", {arm: [0, 1] for arm in ("red", "blue", "green")})
    code, out, _ = cli("check", study, file, "--next", 0)
    assert code == 0
    assert "Plan for" not in out
    assert "Best guess: red" in out
    assert "The estimates tie" in out


def test_sentences_are_wrapped_at_words_on_a_terminal_only(monkeypatch, capsys):
    from surepick.cli import talk

    monkeypatch.setenv("COLUMNS", "20")
    sentence = "So far, with probability at least 0.95 it is within reach."
    talk.say(sentence)
    assert capsys.readouterr().out == sentence + "\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    talk.say(sentence)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 20
    assert out.split() == sentence.split()


def test_tables_keep_their_names_and_digits_in_a_narrow_terminal(monkeypatch):
    from surepick.cli import talk

    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert talk.console(wide=True).width >= talk.NARROWEST
    assert talk.console().width == 40
