"""surepick wave."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from surepick.survey import Waves, rehearse

FRAME = "stratum,N\na,400\nb,300\nc,60\n"


@pytest.fixture
def frame(tmp_path):
    path = tmp_path / "frame.csv"
    path.write_text(FRAME)
    return path


@pytest.fixture
def answers(tmp_path):
    rng = np.random.default_rng(0)
    rows = [(h, f"{x:.3f}") for h, s in (("a", 5), ("b", 20), ("c", 1)) for x in rng.normal(50, s, 8)] + [("a", "")]
    path = tmp_path / "answers.csv"
    path.write_text("stratum,rent\n" + "".join(f"{h},{x}\n" for h, x in rows))
    return path


def test_the_first_wave(ask, cli, frame, tmp_path):
    answer = ask("wave", frame, "--budget", 100, "--next", 30, "--out", tmp_path / "next.csv")
    expected = Waves(frame, 100).next(30)
    assert [row["next"] for row in answer["strata"]] == expected.n.tolist()
    assert answer["next"] == 30
    assert answer["estimate"] is None
    rows = list(csv.DictReader((tmp_path / "next.csv").read_text().splitlines()))
    assert [int(row["next"]) for row in rows] == expected.n.tolist()
    assert "this is the first wave" in cli("wave", frame, "--budget", 100)[1]


def test_a_later_wave(ask, cli, frame, answers, tmp_path):
    options = ("--budget", 100, "--next", 30, "--bounds", "0:200", "--cv", 0.05, "--plot", tmp_path / "wave.png")
    answer = ask("wave", frame, answers, *options)
    waves = Waves(frame, 100, bounds=(0, 200))
    waves.tell(answers)
    wave = waves.next(30)
    assert [row["next"] for row in answer["strata"]] == wave.n.tolist()
    assert [row["planned"] for row in answer["strata"]] == wave.planned.tolist()
    assert answer["strata"][0]["missing"] == 1
    assert answer["estimate"]["estimates"][0]["estimate"] == waves.estimate()[0].estimate
    assert answer["certificate"]["gap"] == pytest.approx(waves.certificate().gap)
    assert answer["chance"]["chance"] == waves.chance(cv=0.05)
    assert (tmp_path / "wave.png").stat().st_size > 10_000
    out = cli("wave", frame, answers, *options)[1]
    for words in ("rent, mean so far", "at every moment", "the split", "The chance of a CV", "1 of 25 answers are missing"):
        assert words in out
    again = ask("wave", frame, answers, *options)
    assert again == answer


def test_a_stratum_without_answers_has_no_estimate_yet(ask, cli, frame, answers):
    answers.write_text("stratum,rent\na,5\na,6\nb,7\n")
    assert ask("wave", frame, answers, "--budget", 50)["estimate"] is None
    out = cli("wave", frame, answers, "--budget", 50)[1]
    assert "No estimate yet" in out
    answers.write_text("stratum,rent\n")
    assert "first wave" in cli("wave", frame, answers, "--budget", 50)[1]


def test_all_is_asked(cli, frame, answers):
    assert "nothing is left to ask" in cli("wave", frame, answers, "--budget", 24)[1]
    assert "Only 6 of 100 interviews" in cli("wave", frame, answers, "--budget", 30, "--next", 100)[1]
    assert "too small for two interviews" in cli("wave", frame, "--budget", 3)[1]
    assert "Everybody who can be had" in cli("wave", frame, answers, "--budget", 2000)[1]


def test_rehearsal(ask, cli, frame, tmp_path):
    values = tmp_path / "values.csv"
    rng = np.random.default_rng(1)
    rows = [f"{h},{x:.4f}\n" for h, n, s in (("a", 400, 1), ("b", 300, 5), ("c", 60, 20)) for x in rng.normal(50, s, n)]
    values.write_text("stratum,y\n" + "".join(rows))
    answer = ask("wave", frame, "--budget", 80, "--simulate", "--population", values, "--runs", 10)
    assert json.loads(json.dumps(rehearse(frame, 80, values, runs=10).to_dict()))["methods"] == answer["methods"]
    out = cli("wave", frame, "--budget", 80, "--simulate", "--population", values, "--runs", 10)[1]
    for words in ("shrunk", "plug-in, one wave", "proportional", "variance over best", "bias"):
        assert words in out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "budget"),
        (("--budget", 100, "--cost", 5), "either a budget"),
        (("--budget", 2), "does not pay for the least"),
        (("--budget", 100, "--next", 0), "next"),
        (("--budget", 100, "--rule", "best"), "rule must be one of"),
        (("--budget", 100, "--first", "known"), "no column S"),
        (("--budget", 100, "--bounds", "5"), "write two numbers"),
        (("--budget", 100, "--population", "x.csv"), "for --simulate"),
        (("--simulate",), "--budget"),
        (("--simulate", "--budget", 50), "made from the S"),
        (("--simulate", "--budget", 50, "--population", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_wrong_options(cli, frame, options, words):
    code, _, err = cli("wave", frame, *options)
    assert code == 2
    assert words in " ".join(err.split())


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("stratum,rent\nd,5\n", "no stratum 'd'"),
        ("stratum,rent\n" + "c,1\n" * 61, "61 answers and 60 people"),
        ("stratum,rent\n" + "a,1\n" * 51, "does not pay for the least"),
        ("stratum,rent\n" + "a,1\n" * 49, "does not pay for the least"),
        ("stratum,rent,age\na,5,3\n", "say which"),
        ("person,rent\na,5\n", "no column stratum"),
        ("stratum,rent\na,dear\n", "no column holds answers"),
    ],
)
def test_wrong_answers(cli, frame, answers, table, words):
    answers.write_text(table)
    code, _, err = cli("wave", frame, answers, "--budget", 50)
    assert code == 2
    assert words in " ".join(err.split())


def test_tables_are_not_overwritten(cli, frame, answers):
    before = answers.read_text()
    for path in (frame, answers):
        code, _, err = cli("wave", frame, answers, "--budget", 50, "--out", path)
        assert code == 2
        assert "give another file" in " ".join(err.split())
    assert answers.read_text() == before
