"""``surepick evaluate``: real programs, real signals, and a file of results that survives them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import surepick as sp
from surepick.cli import under_way
from surepick.errors import SettingError
from surepick.run import evaluations
from surepick.run.command import Command, score_in
from surepick.run.hands import NoScoreError

from .processes import heed_ctrl_c

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups and shell scripts")

STUDY = """
title = "Three models"
arms = ["ant", "bee", "cat"]
[problem]
kind = "best-arm"
[pool]
items = 60
"""
SCORE = "case $1 in ant) s=9;; bee) s=5;; *) s=3;; esac; echo thinking; echo $(( $2 * 7 % 10 < s )); echo"
RUN = [sys.executable, "-c", "from surepick.cli import main; main()", "evaluate"]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluations, "PAUSE", 0.001)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def script(path: Path, text: str) -> str:
    """A program that is given a candidate and an item, as a command."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return f"{path} {{candidate}} {{item}}"


@pytest.fixture
def score(folder: Path) -> str:
    return script(folder / "score", SCORE)


def alive(pid: int) -> bool:
    """Whether it is a process that has not ended; one that nobody has asked for its exit code has."""
    with contextlib.suppress(OSError):
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def until(true: Callable[[], object]) -> None:
    """Wait for something that comes."""
    for _ in range(3000):
        if true():
            return
        time.sleep(0.01)
    pytest.fail("it never came")


def pids(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def rows(path: Path) -> list[str]:
    return path.read_text().splitlines()[1:] if path.exists() else []


# -- results ------------------------------------------------------------------------------------------------------------------


def test_a_run_for_people(cli, folder: Path, score: str) -> None:
    code, out, err = cli("evaluate", folder / "study.toml", "--command", score, "--plot", folder / "pictures")
    assert code == 0
    assert "Three models\nCertified after" in out
    assert "Decision: ant" in out
    results = folder / "study.results.csv"
    n = len(rows(results))
    assert f"{n} of 180 scores were taken, {n} of them in this run; {180 - n} evaluations are saved" in out
    assert f"The scores are in {results}." in out
    assert f"Scores are kept in {results}." in err
    assert (folder / "pictures" / "intervals.png").exists()


def test_the_same_as_python(ask_quietly, folder: Path, score: str) -> None:
    answer = ask_quietly("evaluate", folder / "study.toml", "--command", score, "--workers", 1)
    ex = sp.load(folder / "study.toml").explorer()
    outcome = sp.evaluate(ex, lambda c, i: float(i * 7 % 10 < {"ant": 9, "bee": 5, "cat": 3}[c]), workers=1)
    assert answer["certificate"] == outcome.certificate.to_dict()
    assert (answer["scores"], answer["all_scores"], answer["scores_in_this_run"]) == (ex.samples, 180, ex.samples)
    assert (answer["retried"], answer["failures"], answer["error"], answer["interrupted"]) == (0, [], None, False)
    assert answer["results"] == str(folder / "study.results.csv")
    # once certified, nothing is run any more
    script(folder / "score", "exit 1")
    again = ask_quietly("evaluate", folder / "study.toml", "--command", score)
    assert again["certificate"] == answer["certificate"]
    assert again["scores_in_this_run"] == 0
    # check reads the file
    checked = ask_quietly("check", folder / "study.toml", folder / "study.results.csv")
    assert checked["certificate"] == answer["certificate"]
    assert checked["unused_columns"] == []


@pytest.fixture
def ask_quietly(cli):
    """A command with --json: its answer, when it did its work."""

    def call(*args: object) -> dict:
        code, out, _ = cli(*args, "--json")
        assert code == 0, out
        return json.loads(out)

    return call


def test_costs_and_budgets_are_those_of_the_study(cli, ask_quietly, folder: Path, score: str) -> None:
    arms = '[{name = "ant", cost = 2}, {name = "bee", cost = 1}, {name = "cat", cost = 1}]'
    (folder / "study.toml").write_text("cost_budget = 21\n" + STUDY.replace('["ant", "bee", "cat"]', arms))
    answer = ask_quietly("evaluate", folder / "study.toml", "--command", score)
    assert not answer["certificate"]["certified"]
    assert 18 < answer["cost"] <= 21
    assert answer["cost_of_all_scores"] == 240
    _, out, _ = cli("evaluate", folder / "study.toml", "--command", score)
    assert "The budget is spent; raise it in" in out
    assert f"They cost {answer['cost']:g}; all scores cost 240." in out
    (folder / "study.toml").write_text((folder / "study.toml").read_text().replace("cost_budget = 21\n", ""))
    assert ask_quietly("evaluate", folder / "study.toml", "--command", score)["certificate"]["certified"]


def test_names_stay_in_their_argument(ask_quietly, folder: Path, tmp_path: Path) -> None:
    """Whatever they are: no shell sees them, and braces in them are no places."""
    items = [
        "plain",
        "two words",
        "; rm -rf x",
        "$(touch x)",
        "`touch x`",
        "-rf",
        "--help",
        "it's",
        'say "no"',
        "a,b",
        "x\ny",
        "{candidate}",
        "*",
        "ü",
    ]
    candidates = ["{item}", "a b", "$HOME"]
    (folder / "study.toml").write_text(
        f'arms = {json.dumps(candidates)}\n[problem]\nkind = "best-arm"\n[pool]\nitems = {json.dumps(items)}\n'
    )
    program = tmp_path / "note.py"
    program.write_text(
        "import json, os, sys\n"
        "names = os.environ['SUREPICK_CANDIDATE'], os.environ['SUREPICK_ITEM']\n"
        "print(json.dumps([sys.argv[1:], *names]), file=open(sys.argv[1], 'a'))\n"
        "print(json.dumps({'score': 0.5, 'model': sys.argv[2]}))\n"
    )
    log = tmp_path / "log"
    command = f"{sys.executable} -I -S {program} {log} c={{candidate}} '{{item}}' '{{candidate}} on {{item}} {{}}'"
    answer = ask_quietly("evaluate", folder / "study.toml", "--command", command, "--workers", 4)
    assert answer["scores"] == 3 * len(items)  # all tie
    found = [json.loads(line) for line in log.read_text().splitlines()]
    expected = [[[str(log), f"c={c}", i, f"{c} on {i} {{}}"], c, i] for c in candidates for i in items]
    assert sorted(found) == sorted(expected)
    assert ask_quietly("check", folder / "study.toml", folder / "study.results.csv")["certificate"]["certified"]


def test_workers_are_never_more_than_asked_for(ask_quietly, folder: Path) -> None:
    at_work = folder / "at-work"
    at_work.mkdir()
    command = script(
        folder / "score", f"mkdir {at_work}/$$; ls {at_work} | wc -l >> {folder}/seen; sleep 0.02; rmdir {at_work}/$$; {SCORE}"
    )
    answer = ask_quietly("evaluate", folder / "study.toml", "--command", command, "--workers", 3)
    seen = pids(folder / "seen")
    assert len(seen) == answer["scores"]
    assert 1 < max(seen) <= 3


# -- failures -----------------------------------------------------------------------------------------------------------------


def test_a_failure_stops_in_order(cli, ask_quietly, folder: Path, score: str) -> None:
    bad = script(folder / "bad", f'if [ $1 = bee ]; then echo "no such model" >&2; echo >&2; exit 3; fi; {SCORE}')
    code, out, err = cli("evaluate", folder / "study.toml", "--command", bad, "--retries", 1)
    assert code == 2
    assert "Not certified after" in out
    error = " ".join(err.split())
    assert "The evaluation of candidate 'bee' on item" in error
    assert "failed 2 times, the last time: it ended with code 3: no such model." in error
    assert "such as --failed 0" in error
    kept = rows(folder / "study.results.csv")
    assert kept
    assert not any(row.startswith("bee") for row in kept)
    code, out, _ = cli("evaluate", folder / "study.toml", "--command", bad, "--retries", 0, "--json")
    assert code == 2
    answer = json.loads(out)
    assert answer["error"]["type"] == "EvaluationError"
    assert {one["candidate"] for one in answer["failures"]} == {"bee"}
    assert answer["certificate"]["samples"] == answer["scores"] >= len(kept)
    assert ask_quietly("evaluate", folder / "study.toml", "--command", score, "--same-scorer")["certificate"]["certified"]


def test_what_a_failure_counts_as_may_be_said_once_one_was_seen(cli, ask_quietly, folder: Path) -> None:
    """As the message says: nothing of the pair was recorded, so all failures count alike."""
    bad = script(folder / "bad", f"if [ $1 = bee ]; then exit 3; fi; {SCORE}")
    code, _, err = cli("evaluate", folder / "study.toml", "--command", bad, "--retries", 0)
    assert code == 2
    assert "say what every failure counts as, such as --failed 0, and go on" in " ".join(err.split())
    answer = ask_quietly("evaluate", folder / "study.toml", "--command", bad, "--retries", 0, "--failed", 0)
    assert answer["certificate"]["certified"]
    assert answer["counted_as_failed"]


# -- other scorers and questions ------------------------------------------------------------------------------------------------


def test_another_command_is_refused(cli, ask_quietly, folder: Path, score: str) -> None:
    results = folder / "study.results.csv"
    study = folder / "study.toml"
    study.write_text("budget = 9\n" + STUDY)
    ask_quietly("evaluate", study, "--command", score, "--workers", 1)
    study.write_text(STUDY)
    before, other = results.read_bytes(), script(folder / "other", SCORE)
    code, out, err = cli("evaluate", study, "--command", other)
    assert (code, out, results.read_bytes()) == (2, "", before)
    assert "line 10: this score was made by another --command" in err
    assert "say --same-scorer" in err
    assert ask_quietly("evaluate", study, "--command", f"  {score}")["certificate"]["certified"]  # budgets and blanks may change
    results.write_bytes(before)
    assert ask_quietly("evaluate", study, "--command", other, "--same-scorer")["certificate"]["certified"]
    assert ask_quietly("evaluate", study, "--command", other)["scores_in_this_run"] == 0  # the last one counts
    assert cli("evaluate", study, "--command", score)[0] == 2
    assert ask_quietly("check", study, results)["certificate"]["certified"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("delta = 0.1", "delta = 0.2", "delta was 0.1, and is 0.2."),
        ("delta = 0.1", "delta = 0.1\nepsilon = 0.02", "epsilon was 0, and is 0.02."),
        ('"best-arm"', '"top-k"\nk = 2', "the problem was another one"),
        ('"cat"', '{name = "cat", kind = "bernoulli"}', "kinds or bounds of its candidates were"),
        ('"cat"', '{name = "cat", low = -1}', "kinds or bounds of its candidates were"),
    ],
)
def test_another_question_is_told(cli, ask_quietly, folder: Path, score: str, old: str, new: str, words: str) -> None:
    study, text = folder / "study.toml", "delta = 0.1\n" + STUDY
    study.write_text("budget = 9\n" + text)
    assert ask_quietly("evaluate", study, "--command", score, "--workers", 1)["changes"] == ""
    study.write_text("budget = 12\n" + text.replace(old, new))
    code, out, err = cli("evaluate", study, "--command", score, "--workers", 1)
    assert code == 0, err
    for said in (out, err):
        assert "Earlier scores were taken for another question: " in said
        assert words in said
    assert words in ask_quietly("evaluate", study, "--command", score)["changes"]
    study.write_text("budget = 9\n" + text)  # what was taken in the meantime stays
    assert "Earlier scores" in ask_quietly("evaluate", study, "--command", score)["changes"]


def test_files_of_earlier_versions(ask_quietly, folder: Path, score: str) -> None:
    """Their marks say nothing of the question, nor of the command."""
    study, results = folder / "study.toml", folder / "study.results.csv"
    study.write_text("budget = 9\n" + STUDY)
    ask_quietly("evaluate", study, "--command", score)
    lines = results.read_text().splitlines()
    results.write_text("".join("/".join(line.split("/")[:3]) + "\n" for line in lines))
    study.write_text("delta = 0.2\n" + STUDY)
    answer = ask_quietly("evaluate", study, "--command", script(folder / "other", SCORE))
    assert answer["certificate"]["certified"]
    assert answer["changes"] == ""
    assert ask_quietly("check", study, results)["unused_columns"] == []


def test_another_candidate_begins_with_the_scores_of_the_others(cli, ask_quietly, folder: Path, score: str) -> None:
    old = ask_quietly("evaluate", folder / "study.toml", "--command", score)
    more = folder / "more.toml"
    more.write_text(STUDY.replace('"cat"]', '"cat", "dog"]'))
    options = ("--command", score, "--from", folder / "study.results.csv")
    code, out, err = cli("evaluate", more, *options)
    assert code == 0
    assert f"{old['scores']} scores of {folder / 'study.results.csv'} count here, too." in err
    taken = len(rows(folder / "more.results.csv"))
    assert f"{taken} of 240 scores were taken, {taken - old['scores']} of them in this run" in out
    assert ask_quietly("evaluate", more, *options)["scores_in_this_run"] == 0
    code, _, err = cli(
        "evaluate", more, "--command", script(folder / "other", SCORE), *options[2:], "--results", folder / "x.csv"
    )
    assert code == 2
    assert "study.results.csv, line" in err
    assert "made by another --command" in err


def test_scores_that_were_not_needed_are_counted(cli, ask_quietly, folder: Path, score: str) -> None:
    study = folder / "study.toml"
    needed = ask_quietly("evaluate", study, "--command", score, "--workers", 1)
    assert needed["not_needed"] == 0
    study.write_text("delta = 0.001\n" + STUDY)
    more = ask_quietly("evaluate", study, "--command", score, "--workers", 1)["scores"]
    study.write_text(STUDY)
    _, out, _ = cli("evaluate", study, "--command", score)
    assert f"{more - needed['scores']} of them were not needed: it was certain before they came." in out


def test_what_a_failure_counts_as(cli, ask_quietly, folder: Path) -> None:
    bad = script(folder / "bad", f"if [ $1 = bee ]; then exit 3; fi; {SCORE}")
    answer = ask_quietly("evaluate", folder / "study.toml", "--command", bad, "--retries", 0, "--failed", 0)
    assert answer["certificate"]["certified"]
    bees = answer["certificate"]["counts"][1]
    assert {candidate for candidate, _ in answer["counted_as_failed"]} == {"bee"}
    assert len(answer["failures"]) == len(answer["counted_as_failed"]) >= bees > 0
    _, out, _ = cli("evaluate", folder / "study.toml", "--command", bad, "--failed", 0)  # those of the file are counted, too
    assert "What a failure counts as is the score of bee on" in out
    code, _, err = cli("evaluate", folder / "study.toml", "--command", bad, "--failed", 1)
    assert code == 2
    assert "what it counts as is said once" in err


def test_a_time_out_leaves_no_process_behind(cli, folder: Path) -> None:
    """Neither what was started nor what that started, also where it does not heed being asked."""
    text = f"trap '' TERM; echo $$ >> {folder}/pids; (sleep 300 & echo $! >> {folder}/pids; wait) & wait; sleep 300"
    slow, options = script(folder / "slow", text), ("--timeout", 1, "--retries", 0, "--workers", 2)
    code, _, err = cli("evaluate", folder / "study.toml", "--command", slow, *options)
    assert code == 2
    assert "no answer within 1 s" in " ".join(err.split())
    assert len(pids(folder / "pids")) == 4
    assert not any(map(alive, pids(folder / "pids")))


def test_what_a_program_leaves_behind_ends_with_it(ask_quietly, folder: Path) -> None:
    command = script(folder / "score", f"sleep 300 & echo $! >> {folder}/pids; {SCORE}")
    answer = ask_quietly("evaluate", folder / "study.toml", "--command", command)
    assert len(pids(folder / "pids")) == answer["scores"]
    until(lambda: not any(map(alive, pids(folder / "pids"))))  # they were killed, which takes a moment on a busy machine


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "it printed nothing"),
        ("yes", "last line should be the score, and it is 'yes'"),
        ("0,5", "and it is '0,5'"),
        ("1_000", "and it is '1_000'"),
        ("{score: 1}", "it is no JSON"),
        ('{"value": 1}', 'no key "score"'),
    ],
)
def test_lines_without_a_score(line: str, words: str) -> None:
    with pytest.raises(NoScoreError, match=words):
        score_in(line)


def test_lines_with_a_score() -> None:
    assert [score_in(line) for line in ("1", "-0.5", "1e-3", '{"score": 0.25, "x": {}}')] == [1, -0.5, 0.001, 0.25]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("./score {candidate}", "lacks {item}"),
        ("./score {item}", "lacks {candidate}"),
        ("", "lacks {candidate}"),
        ("./'score {candidate} {item}", "cannot be split"),
        ("./no-such-thing {candidate} {item}", "is not there"),
        (f"{__file__} {{candidate}} {{item}}", "cannot be executed"),
    ],
)
def test_commands_that_cannot_be_run(cli, folder: Path, command: str, words: str) -> None:
    if os.access(__file__, os.X_OK) and "executed" in words:
        pytest.skip("the disk has no such rights")
    with pytest.raises(SettingError, match=words):
        Command(command)
    code, _, err = cli("evaluate", folder / "study.toml", "--command", command)
    assert (code, rows(folder / "study.results.csv")) == (2, [])
    assert words in " ".join(err.split())


def test_wrong_options(cli, folder: Path, score: str) -> None:
    for options, words in (
        (("--workers", 0), "--workers"),
        (("--timeout", 0), "timeout must be a positive number"),
        (("--failed", 2), "from 0 to 1, not 2"),
        (("--results", folder / "no" / "r.csv"), "cannot be written"),
        (("--results", folder / "study.toml"), "no file of results"),
        (("--results", folder), "cannot be written"),
    ):
        code, _, err = cli("evaluate", folder / "study.toml", "--command", score, *options)
        assert code == 2
        assert words in " ".join(err.split())
    (folder / "study.toml").write_text(STUDY.partition("[pool]")[0])
    code, _, err = cli("evaluate", folder / "study.toml", "--command", score)
    assert code == 2
    assert "key pool: " in err
    assert "Add a [pool] table with items = 2000" in " ".join(err.split())
    assert not (folder / "study.results.csv").exists()


# -- what is seen on the way ----------------------------------------------------------------------------------------------------


def test_a_line_now_and_then_where_there_is_no_terminal(cli, folder: Path, score: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_way, "EVERY", 0.0)
    bad = script(folder / "bad", f"[ -e {folder}/was-here$1 ] || {{ touch {folder}/was-here$1; exit 1; }}; {SCORE}")
    _, _, err = cli("evaluate", folder / "study.toml", "--command", bad, "--workers", 2)
    lines = err.splitlines()
    assert " scores, 2 under way, after 0:0" in err
    assert " min; at most 180. 3 of 3 undecided, in the way: " in err
    assert " retries." in lines[-1]
    assert "\x1b" not in err


def test_on_a_terminal(folder: Path, score: str) -> None:
    import pty

    leader, follower = pty.openpty()
    command = [*RUN, str(folder / "study.toml"), "--command", score.replace("score ", "slow "), "--workers", "2"]
    script(folder / "slow", f"sleep 0.05; {SCORE}")
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower, env=environment, text=True) as process:
        os.close(follower)
        seen = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while some := os.read(leader, 65_536):
                seen += some
        os.close(leader)
        assert process.stdout is not None
        assert "Certified after" in process.stdout.read()
    assert process.returncode == 0
    shown = seen.decode()
    assert " scores, 2 under way, after 0:0" in shown
    assert "undecided, in the way: " in shown


# -- signals and crashes ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def running(folder: Path, command: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    """The command in a process of its own, which ends here."""
    process = subprocess.Popen(
        [*RUN, str(folder / "study.toml"), "--command", command, *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def test_killed_and_started_again(ask_quietly, folder: Path, score: str) -> None:
    """The certificate is that of a run that was not killed, and what was on file is there and is not evaluated again."""
    slow = script(folder / "slow", f'echo "$1 $2" >> {folder}/log; sleep 0.01; {SCORE}')
    results = folder / "study.results.csv"
    with running(folder, slow, "--workers", "1") as process:
        until(lambda: len(rows(results)) >= 12)
        process.send_signal(signal.SIGKILL)
        process.wait()
    before = results.read_bytes()
    known = {" ".join(line.split(",")[:2]) for line in before[: before.rindex(b"\n")].decode().splitlines()[1:]}
    until(lambda: (log := (folder / "log").read_text().split("\n")) and len(log) <= len(known) + 2)
    (folder / "log").write_text("")
    answer = ask_quietly("evaluate", folder / "study.toml", "--command", slow, "--workers", 1)
    assert results.read_bytes().startswith(before[: before.rindex(b"\n") + 1])
    assert not known & set((folder / "log").read_text().splitlines())
    assert len(rows(results)) == answer["scores"]
    plain = ask_quietly("evaluate", folder / "study.toml", "--command", score, "--workers", 1, "--results", folder / "p.csv")
    assert answer["certificate"] == plain["certificate"]


def test_killed_with_many_under_way(ask_quietly, folder: Path, score: str) -> None:
    slow = script(folder / "slow", f"sleep 0.0$(( $2 % 7 )); {SCORE}")
    results = folder / "study.results.csv"
    with running(folder, slow, "--workers", "6") as process:
        until(lambda: len(rows(results)) >= 10)
        process.send_signal(signal.SIGKILL)
        process.wait()
    known = {tuple(row.split(",")[:3]) for row in rows(results)}
    ask_quietly("check", folder / "study.toml", results)  # gaps and all
    answer = ask_quietly("evaluate", folder / "study.toml", "--command", score, "--same-scorer")
    assert answer["certificate"]["certified"]
    assert answer["certificate"]["decision"] == [1, 0, 0]
    found = [tuple(row.split(",")[:3]) for row in rows(results)]
    assert known <= set(found)
    assert len({pair[:2] for pair in found}) == len(found)


def waits(folder: Path) -> str:
    """A program that waits until there is a file."""
    return script(folder / "wait", f"echo $$ >> {folder}/pids; while [ ! -e {folder}/go ]; do sleep 0.02; done; {SCORE}")


def test_ctrl_c_once(folder: Path) -> None:
    with running(folder, waits(folder), "--workers", "3") as process:
        until(lambda: len(pids(folder / "pids")) == 3)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = iter(process.stderr.readline, "")
        assert any("Stopping: Ctrl-C again ends the 3 under way, which are waited for" in line for line in said)
        (folder / "go").touch()
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Not certified after 3 samples" in out
    assert f"Stopped by Ctrl-C. The same command goes on from {folder / 'study.results.csv'}." in out
    assert len(rows(folder / "study.results.csv")) == len(pids(folder / "pids")) == 3


@pytest.mark.parametrize("signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)])
def test_ctrl_c_twice_or_the_end_of_the_process(folder: Path, signals: tuple[signal.Signals, ...]) -> None:
    with running(folder, waits(folder), "--workers", "3", "--json") as process:
        until(lambda: len(pids(folder / "pids")) == 3)
        process.send_signal(signals[0])
        assert process.stderr is not None
        if len(signals) == 2:
            assert "Stopping: Ctrl-C again ends the 3 under way" in process.stderr.readline()
            process.send_signal(signals[1])
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + signals[-1]
    answer = json.loads(out)
    assert answer["interrupted"]
    assert (answer["scores"], answer["certificate"]["samples"]) == (0, 0)
    assert not any(map(alive, pids(folder / "pids")))
    assert rows(folder / "study.results.csv") == []


def test_two_runs_on_one_file(cli, folder: Path, score: str) -> None:
    with running(folder, waits(folder), "--workers", "1"):
        until(lambda: len(pids(folder / "pids")) == 1)
        code, _, err = cli("evaluate", folder / "study.toml", "--command", score)
        (folder / "go").touch()
    assert code == 2
    assert "another run is writing to this file" in " ".join(err.split())
    until(lambda: not any(map(alive, pids(folder / "pids"))))
