"""The commands of durable studies, as people type them."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import surepick as sp

TOML = """
title = "Which poster?"
delta = 0.1
arms = ["harbour", "owl", "teapot"]
[problem]
kind = "best-arm"
"""
POOL = """
arms = ["ant", "bee"]
[problem]
kind = "best-arm"
[pool]
items = ["q1", "q2", "q3", "q4"]
"""


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a study file."""
    (tmp_path / "posters.toml").write_text(TOML)
    (tmp_path / "bench.toml").write_text(POOL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SUREPICK_DATABASE", raising=False)
    return tmp_path


def test_a_lab_with_a_spreadsheet(lab: Path, cli, ask) -> None:
    assert ask("study", "create", "posters.toml")["arms"] == ["harbour", "owl", "teapot"]
    assert (lab / "study.db").exists()  # in the working directory
    assert [one["name"] for one in ask("study", "list")["studies"]] == ["posters"]
    code, out, _ = cli("study", "ask", "-n", "3", "--worker", "ana", "--sheet", "tasks.csv")
    assert code == 0
    for name in ("harbour", "owl", "teapot", "study tell --sheet tasks.csv"):
        assert name in out
    with open("tasks.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["arm"] for row in rows] == ["harbour", "owl", "teapot"]
    rows[1]["value"] = "0.25"
    with open("tasks.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert ask("study", "tell", "--sheet", "tasks.csv")["new"] == 1
    assert ask("study", "tell", "--sheet", "tasks.csv")["new"] == 0
    assert ask("study", "tell", rows[0]["ticket"], "0.5", rows[2]["ticket"], "0.75", "--who", "bo")["samples"] == 3
    code, out, err = cli("study", "tell", rows[0]["ticket"], "0.6")
    assert code == 2
    assert "the first one stays" in err
    assert ask("study", "record", "owl", "0.5", "0.25", "--key", "page 1")["samples"] == 5
    assert ask("study", "record", "owl", "0.5", "0.25", "--key", "page 1")["samples"] == 5
    found = ask("study", "correct", rows[0]["ticket"], "0.05", "--why", "a comma")
    assert found["corrected"] == 1
    entries = ask("study", "history")["entries"]
    assert [entry["who"] for entry in entries][1:3] == ["bo", "bo"]
    assert entries[-1]["note"] == "a comma"
    assert ask("study", "verify")["ok"]
    assert ask("study", "export", "log.csv")["entries"] == 6
    assert ask("study", "close")["closed"] is not None
    assert cli("study", "ask")[0] == 2


def test_what_people_see(lab: Path, cli) -> None:
    cli("study", "create", "posters.toml")
    cli("study", "ask", "--worker", "ana")
    code, out, _ = cli("study", "status", "--plot", "pictures")
    assert code == 0
    assert "That means: go on." in out
    assert "10 tickets are open: ana 10." in out
    assert {"intervals.png", "samples.png"} <= {path.name for path in (lab / "pictures").iterdir()}
    study = sp.Study.open("study.db")
    study.record("owl", [1.0] * 200)
    for arm in ("harbour", "teapot"):
        study.record(arm, [0.0] * 200)
    study.disconnect()
    assert "That means: you may stop." in cli("study", "status")[1]
    assert "Nothing to sample: Certified after 600 samples" in cli("study", "ask")[1]
    assert "Certified" in cli("study", "watch")[1]
    assert "certified" in cli("study", "list")[1]
    assert "Verified" in cli("study", "verify")[1]
    assert "owl" in cli("study", "history")[1]


def test_tables_and_bad_rows(lab: Path, cli, ask) -> None:
    cli("study", "create", "posters.toml", "-d", "lab.db", "--study", "first")
    (lab / "data.csv").write_text("arm,value\nowl,0.5\nowk,0.5\nteapot,7\nowl,0.25\n")
    code, _, err = cli("study", "import", "data.csv", "-d", "lab.db")
    assert code == 2
    assert "line 3: There is no arm called 'owk'; did you mean 'owl'?" in err
    assert "line 4:" in err
    assert "2 rows are no observation. Nothing was imported." in err
    code, out, _ = cli("study", "import", "data.csv", "-d", "lab.db", "--json")
    assert [row["line"] for row in json.loads(out)["error"]["rows"]] == [3, 4]
    assert ask("study", "import", "data.csv", "-d", "lab.db", "--skip-bad")["new"] == 2
    assert ask("study", "copy", "other.db", "-d", "lab.db", "--as", "second")["samples"] == 2
    assert ask("study", "status", "-d", "other.db", "-s", "second")["samples"] == 2


def test_pools_and_the_database_by_environment(lab: Path, cli, ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREPICK_DATABASE", f"sqlite:///{lab}/bench.db")
    cli("study", "create", "bench.toml")
    tickets = ask("study", "ask", "-n", "2")["tickets"]
    assert {ticket["arm"] for ticket in tickets} == {"ant", "bee"}
    assert ask("study", "tell", tickets[0]["id"], "1")["new"] == 1
    assert ask("study", "record", tickets[1]["arm"], "0", "--item", tickets[1]["item"])["samples"] == 2
    assert "q" in cli("study", "history")[1]
    assert "on item" in cli("study", "ask")[1]


@pytest.mark.parametrize(
    "words",
    [
        ("tell",), ("tell", "1-abcd"), ("tell", "1-abcd", "0.5"), ("tell", "1-abcd", "much"), ("tell", "--sheet", "none.csv"),
        ("record", "owk", "0.5"), ("record", "owl", "1_0"), ("correct", "9", "0.5", "--why", "x"), ("ask", "-d", "none.db"),
        ("ask", "-s", "other"), ("import", "none.csv"), ("create", "none.toml"), ("create", "posters.toml"), ("status", "-d", "http://x"),
        ("export", "none/log.csv"), ("copy", "study.db"), ("list", "-d", "posters.toml"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(lab: Path, cli, words: tuple[str, ...]) -> None:
    cli("study", "create", "posters.toml")
    code, out, err = cli("study", *words)
    assert (code, out) == (2, "")
    assert err.strip().endswith((".", "?"))
    code, out, err = cli("study", *words, "--json")
    assert (code, err) == (2, "")
    assert json.loads(out)["error"]["message"]


def test_a_log_that_was_changed_ends_with_a_code(lab: Path, cli) -> None:
    import sqlite3

    cli("study", "create", "posters.toml")
    cli("study", "record", "owl", "0.5")
    with sqlite3.connect("study.db") as connection:
        connection.execute("DELETE FROM surepick_moment")
    code, out, _ = cli("study", "verify")
    assert code == 1
    assert "do not agree" in out


def test_watching_ends_with_ctrl_c(lab: Path, cli) -> None:
    cli("study", "create", "posters.toml")
    from .processes import heed_ctrl_c

    words = [sys.executable, "-c", "from surepick.cli import main; main()", "study", "watch", "--every", "0.1", "--json"]
    watching = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c, env={**os.environ})
    try:
        assert watching.stdout is not None
        assert json.loads(watching.stdout.readline())["samples"] == 0
        cli("study", "record", "owl", "0.5")
        assert json.loads(watching.stdout.readline())["samples"] == 1
        time.sleep(0.1)
        watching.send_signal(signal.SIGINT)
        assert watching.wait(20) == 130
    finally:
        watching.kill()
        watching.wait()
        watching.stdout.close()  # type: ignore[union-attr]
