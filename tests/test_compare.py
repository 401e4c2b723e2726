"""surepick compare: what scores that are there say, and how many would have been enough."""

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import surepick as sp

from .processes import heed_ctrl_c

NAMES = ["amber", "basalt", "copper", "dune"]


def table(items: int = 200, seed: int = 1) -> np.ndarray:
    """Who gets which question right, by ability and difficulty."""
    rng = np.random.default_rng(seed)
    ability, difficulty = np.array([1.1, 0.5, -0.1, -0.9]), rng.normal(0, 1.2, items)
    return (rng.random((4, items)) < 1 / (1 + np.exp(-1.6 * (ability[:, None] - difficulty)))).astype(float)


def save(path: Path, scores: np.ndarray, names: list[str] = NAMES) -> Path:
    items = [f"q{j}" for j in range(scores.shape[1])]
    lines = [
        ",".join(["model", *items]),
        *(",".join([name, *map(repr, row)]) for name, row in zip(names, scores.tolist(), strict=True)),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return save(tmp_path / "scores.csv", table())


def flat(text: str) -> str:
    return " ".join(text.split())


def test_for_people(cli, file):
    code, out, err = cli("compare", file, "--orders", 5)
    assert (code, err) == (0, "")
    means = table().mean(axis=1)
    assert "4 candidates on 200 items: 800 scores" in out
    assert f"on these items amber is the best of 4, ahead of basalt by {means[0] - means[1]:.4f}." in out
    for name, mean in zip(NAMES, means, strict=True):
        assert any(line.split()[:2] == [name, f"{mean:.4f}"] for line in out.splitlines())
    assert "of the 800 scores would have been enough" in out
    assert "None of the 5 orders would have led to another decision; of all orders at most 5 % may." in out


def test_the_orders_are_explorations(ask, file):
    answer = ask("compare", file, "--orders", 3, "--seed", 7, "--top", 2)
    scores = sp.Scores(table(), [f"q{j}" for j in range(200)])
    outcomes = [
        sp.explore(sp.Explorer(sp.TopK(NAMES, 2), pool=scores.pool(seed)), scores, batch=len(NAMES)) for seed in (7, 8, 9)
    ]
    assert answer["orders"]["seeds"] == [7, 8, 9]
    assert answer["orders"]["samples"] == [outcome.samples for outcome in outcomes]
    middle = statistics.median(outcome.samples for outcome in outcomes)
    assert (answer["orders"]["median"], answer["orders"]["saved"]) == (middle, 800 - middle)
    assert answer["orders"]["share"] == middle / 800
    counts = np.median([outcome.counts for outcome in outcomes], axis=0)
    assert [entry["enough"] for entry in answer["candidates"]] == counts.tolist()
    assert answer["decision"] == ["amber", "basalt"]


def test_all_of_it_as_json(ask, file):
    answer = ask("compare", file, "--orders", 2, "--epsilon", 0.2)
    means = table().mean(axis=1)
    assert set(answer) == {
        "given", "files", "metric", "notes", "missing", "dropped", "filled", "items", "scores", "ranking", "top", "sense",
        "epsilon", "delta", "low", "high", "equal",
        "statement", "decision", "lead", "tied", "near", "candidates", "orders", "interrupted", "pictures",
    }  # fmt: skip
    assert [entry["mean"] for entry in answer["candidates"]] == pytest.approx(means.tolist())
    assert [entry["rank"] for entry in answer["candidates"]] == [1, 2, 3, 4]
    assert answer["lead"] == pytest.approx(means[0] - means[1])
    assert answer["near"] == [name for name, mean in zip(NAMES[1:], means[1:], strict=True) if mean >= means[0] - 0.2] != []
    assert (answer["items"], answer["scores"], answer["interrupted"], answer["tied"]) == (200, 800, False, [])
    assert answer["files"] == answer["given"] == [str(file)]


def test_within_epsilon(cli, file):
    means = table().mean(axis=1)
    _, out, _ = cli("compare", file, "--orders", 0, "--epsilon", means[0] - means[1] + 0.001)
    assert "of the best: basalt." in out
    assert "near" in out
    assert "enough" not in out
    _, out, _ = cli("compare", file, "--orders", 0, "--epsilon", 0.001)
    assert "Within 0.001 of the best: nobody else." in out


def test_exact_ties_are_named(cli, ask, tmp_path):
    scores = table(60)
    file = save(tmp_path / "scores.csv", np.array([scores[0], scores[0][::-1], scores[2], scores[3]]))
    _, out, _ = cli("compare", file, "--orders", 1)
    assert "1 of 2 that tie exactly, amber, basalt: any of these will do." in out
    assert out.count("tied") == 2
    assert "A tie is only certain at the end of the items: --epsilon" in flat(out)
    answer = ask("compare", file, "--orders", 1)
    assert (answer["tied"], answer["lead"], answer["orders"]["wrong"]) == (["amber", "basalt"], 0.0, [])
    assert answer["orders"]["samples"][0] >= 120
    # whom a tie is between does not matter among those that are chosen anyway
    assert ask("compare", file, "--orders", 0, "--top", 2)["tied"] == []
    three = save(tmp_path / "three.csv", np.array([scores[0], scores[2], scores[2], scores[3]]))
    _, out, _ = cli("compare", three, "--orders", 0, "--top", 2)
    assert "the best 2 are amber and 1 of 2 that tie exactly, basalt, copper: any of these will do for the last place." in out


def test_the_smallest_is_the_best(cli, ask, tmp_path):
    file = save(tmp_path / "scores.csv", 100 * table())
    answer = ask("compare", file, "--minimise", "--high", 100, "--orders", 2)
    assert (answer["decision"], answer["sense"], answer["orders"]["wrong"]) == (["dune"], "min", [])
    assert answer["candidates"][0]["rank"] == 4
    assert answer["lead"] == pytest.approx(100 * (table()[2].mean() - table()[3].mean()))


def test_what_misled_is_counted(cli, tmp_path):
    """At delta 0.9 orders may stop early, and do."""
    rng = np.random.default_rng(0)
    scores = (rng.random((2, 200)) < 0.5).astype(float)
    scores[0, :] = scores[1]
    scores[0, np.flatnonzero(scores[0] == 0)[:2]] = 1
    scores[1] = rng.permutation(scores[1])
    file = save(tmp_path / "scores.csv", scores, NAMES[:2])
    _, out, _ = cli("compare", file, "--delta", 0.9, "--orders", 12, "--json")
    wrong = json.loads(out)["orders"]["wrong"]
    assert wrong
    _, out, _ = cli("compare", file, "--delta", 0.9, "--orders", 12)
    assert f"{len(wrong)} of the 12 orders would have led to another decision (seed" in out
    assert "; of all orders at most 90 % may, so that up to 12 of 12 are no surprise." in out


def test_missing_scores(cli, ask, tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("model,q1,q2,q3\namber,1,1,\nbasalt,0,1,0\n")
    code, out, err = cli("compare", file)
    assert (code, out) == (2, "")
    assert "'amber' lacks 1 (q3)" in err
    assert "--missing drop" in err
    assert ask("compare", file, "--missing", "drop")["dropped"] == ["q3"]
    filled = ask("compare", file, "--missing", 0)
    assert (filled["filled"], filled["missing"]) == (1, {"amber": ["q3"]})
    _, out, _ = cli("compare", file, "--missing", "drop")
    assert "Left out for all candidates: 1 of 3 items" in flat(out)
    assert "say drop" in cli("compare", file, "--missing", "guess")[2]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--top", 4], "there are 4 candidates, so choose at most 3"),
        (["--top", 0], "Invalid value for '--top'"),
        (["--high", 0.5], "The score of 'amber' on item"),
        (["--low", 1], "--low 1 and --high 1: the least"),
        (["--low", "nan"], "the least that a score can be must be below the most"),
        (["--delta", 2, "--orders", 0], "delta must be a probability"),
        (["--epsilon", "inf", "--orders", 0], "epsilon must be a number"),
        (["--candidate", "amber"], "There is only one candidate, 'amber'"),
        (["--candidate", "ambre", "--candidate", "dune"], "did you mean 'amber'?"),
        (["--metric", "acc"], "leave out metric"),
        (["--missing", "x"], "say drop"),
    ],
)
def test_what_is_refused(cli, file, options, told):
    code, out, err = cli("compare", file, *options)
    assert (code, out) == (2, "")
    assert told in flat(err)


def test_bounds_are_asked_for(cli, tmp_path):
    file = save(tmp_path / "scores.csv", 100 * table())
    message = flat(cli("compare", file)[2])
    assert "is 100, not from 0 to 1, and" in message
    assert "bounds must not be chosen by the scores" in message
    assert json.loads(cli("compare", file, "--json")[1])["error"]["key"] == "high"


def test_eighty_columns(cli, tmp_path):
    """Tables fit, whatever candidates are called."""
    names = [f"organisation__a-model-with-a-long-name-{i}" + "x" * 30 * i for i in range(4)]
    _, out, _ = cli("compare", save(tmp_path / "scores.csv", table(), names), "--orders", 2, "--epsilon", 0.3)
    lines = [line.rstrip() for line in out.splitlines() if line.startswith(" ") and line.strip()]
    assert len(lines) > 2 + len(names)
    assert max(map(len, lines)) <= 80
    assert "".join(line.split()[0] for line in lines[2:]) == "".join(names)


def test_many_candidates(cli, ask, tmp_path):
    rng = np.random.default_rng(3)
    file = save(tmp_path / "scores.csv", (rng.random((70, 40)) < 0.5).astype(float), [f"c{i}" for i in range(70)])
    _, out, _ = cli("compare", file, "--orders", 0)
    assert "10 more candidates are not shown; --json has them all." in out
    assert len(ask("compare", file, "--orders", 0)["candidates"]) == 70


def test_small_differences_have_their_digits(cli, tmp_path):
    scores = np.full((3, 10), 0.5)
    scores[0, 0] += 1e-5
    scores[1, 1] += 2e-5
    _, out, _ = cli("compare", save(tmp_path / "scores.csv", scores, NAMES[:3]), "--orders", 0)
    assert "0.500002 " in out
    assert "0.500001 " in out


def test_means_have_four_decimals_where_these_tell_them_apart(cli, tmp_path):
    scores = np.zeros((3, 2000))
    scores[0, :1001], scores[1, :1000] = 1, 1
    _, out, _ = cli("compare", save(tmp_path / "scores.csv", scores, NAMES[:3]), "--orders", 0)
    assert [line.split()[1] for line in out.splitlines() if line.startswith((" amber", " basalt"))] == ["0.5005", "0.5000"]


def test_pictures(cli, file, tmp_path):
    code, out, _ = cli("compare", file, "--orders", 1, "--plot", tmp_path / "pictures")
    assert code == 0
    for name in ("standings.png", "evaluations.png"):
        assert (tmp_path / "pictures" / name).stat().st_size > 1000
        assert name in out


def test_ctrl_c_says_what_is_known(tmp_path):
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
    rng = np.random.default_rng(0)
    file = save(tmp_path / "scores.csv", (rng.random((4, 3000)) < 0.5).astype(float))
    command = [sys.executable, "-c", code, "compare", str(file), "--orders", "100000", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c)
    try:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, err) == (130, "")
    answer = json.loads(out)
    assert answer["interrupted"]
    assert answer["orders"]["done"] == len(answer["orders"]["samples"]) < 100_000
    assert len(answer["candidates"]) == 4


def test_the_whole_order(cli, ask, file, tmp_path):
    means = table().mean(axis=1)
    answer = ask("compare", file, "--orders", 2, "--ranking", "--plot", tmp_path / "pictures")
    assert answer["ranking"]
    assert answer["top"] is None
    assert answer["decision"] == [NAMES[i] for i in np.argsort(-means, kind="stable")]
    assert answer["orders"]["wrong"] == []
    assert max(answer["orders"]["samples"]) <= answer["scores"]
    assert (tmp_path / "pictures" / "ranks.png").is_file()
    _, out, _ = cli("compare", file, "--orders", 1, "--ranking", "--epsilon", 0.001)
    assert "the order on these items is that of the table, from " in out
    assert "Within 0.001 of each other: 0 of 6 pairs." in out
    code, _, err = cli("compare", file, "--ranking", "--top", 2)
    assert code == 2
    assert "give one of the two" in err


def test_equal_ones_of_an_order_are_named(cli, tmp_path):
    path = tmp_path / "equal.csv"
    path.write_text("model,q1,q2,q3\na,1,0,1\nb,0,1,1\nc,0,0,0\n")
    _, out, _ = cli("compare", path, "--orders", 1, "--ranking")
    assert "a, b tie exactly." in out
    assert [line.split()[:2] for line in out.splitlines() if line[:3] in (" a ", " b ", " c ")] == [
        ["a", "1="],
        ["b", "1="],
        ["c", "3"],
    ]


def test_why_it_takes_many(cli, tmp_path):
    """Few items are no close call, and an epsilon would not help."""
    rng = np.random.default_rng(5)
    few = np.vstack([np.ones(12), np.arange(12) < 4])
    _, out, _ = cli("compare", save(tmp_path / "few.csv", few, NAMES[:2]), "--orders", 3)
    assert "It takes many because there are few items: of 12 a good part must be seen to tell anything." in out
    assert "--epsilon" not in out
    close = (rng.random((3, 300)) < 0.5).astype(float)
    close[2] = 0
    file = save(tmp_path / "close.csv", close, NAMES[:3])
    _, out, _ = cli("compare", file, "--orders", 3)
    assert "It takes many because it is a close call: --epsilon says what difference does not matter, but takes some" in out
    _, out, _ = cli("compare", file, "--orders", 3, "--ranking")
    assert "It takes many because 1 neighbour is a close call: --epsilon" in out


@pytest.mark.parametrize(("orders", "delta", "most"), [(20, 0.05, 3), (20, 0.01, 1), (1, 0.05, 1), (100, 0.05, 10), (5, 1e-9, 0)])
def test_how_many_orders_are_no_surprise(orders, delta, most):
    """The 97.5 % quantile of the binomial distribution."""
    from scipy.stats import binom

    from surepick.cli.comparison import _no_surprise

    assert _no_surprise(orders, delta) == binom.ppf(0.975, orders, delta) == most


def test_tiny_deltas(cli, file):
    _, out, _ = cli("compare", file, "--orders", 2, "--delta", 1e-9)
    assert "of all orders at most a share of 1e-09 may." in out


def test_results_of_evaluate_are_not_compared(cli, ask, file, tmp_path):
    """They stop where a decision is certain, also if there happen to be as many of each candidate."""
    ex = sp.Explorer(sp.BestArm(NAMES[:2]), pool=sp.Pool([f"q{i}" for i in range(40)]), budget=8)
    sp.evaluate(ex, lambda model, item: model == "amber", workers=1, results=tmp_path / "r.csv")
    code, _, err = cli("compare", tmp_path / "r.csv")
    assert code == 2
    assert "this is a file of results of surepick evaluate" in err
    assert "surepick check STUDY.toml r.csv" in err
    kept = [line.split(",")[:3] for line in (tmp_path / "r.csv").read_text().splitlines()]
    (tmp_path / "table.csv").write_text("".join(",".join(row) + "\n" for row in kept))
    assert ask("compare", tmp_path / "table.csv", "--orders", 0)["decision"] == ["amber"]


def test_logs_in_one_folder_are_one_candidate(cli, ask, tmp_path):
    for name, right in (("amber", 1.0), ("basalt", 0.0)):
        line = json.dumps({"doc_id": 0, "filter": "none", "metrics": ["acc"], "acc": right})
        (tmp_path / f"samples_boolq_{name}.jsonl").write_text(line)
        folder = tmp_path / "apart" / name
        folder.mkdir(parents=True)
        (folder / "samples_boolq.jsonl").write_text(line)
        (folder / "samples_gsm8k.jsonl").write_text(line.replace("acc", "exact_match"))
    flat = [tmp_path / f"samples_boolq_{name}.jsonl" for name in ("amber", "basalt")]
    code, _, err = cli("compare", *flat)
    assert code == 2
    assert "There is only one candidate" in err
    assert "put those of each into a folder that is called as the model is" in err
    options = ("--metric", "boolq=acc", "--metric", "gsm8k=exact_match", "--orders", 0)
    assert ask("compare", tmp_path / "apart", *options)["decision"] == ["amber"]
    for wrong in (("acc", "em"), ("boolq=acc", "boolq=em"), ("boolq=",)):
        code, _, err = cli("compare", tmp_path / "apart", *(word for one in wrong for word in ("--metric", one)))
        assert code == 2
        assert "each is that of another task" in err
