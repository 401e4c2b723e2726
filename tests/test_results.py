"""Scores that other tools have written: what is read, what is refused, and that nothing is guessed."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surepick as sp
from surepick.errors import ProblemError, SettingError, StudyError
from surepick.study import Results, read_results
from surepick.study.results.standing import standing

WIDE = "model,q1,q2,q3\namber,1,0,1\nbasalt,0,0.5,1\n"
TURNED = "item,amber,basalt\nq1,1,0\nq2,0,0.5\nq3,1,1\n"
LONG = "model,question,score\namber,q1,1\namber,q2,0\nbasalt,q1,0\nbasalt,q2,0.5\namber,q3,1\nbasalt,q3,1\n"
TABLE = [[1, 0, 1], [0, 0.5, 1]]
DATE, LATER = "2024-07-12T10-11-12.123456", "2024-08-01T00-00-00.000001"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def refusal(*paths: object, **options: object) -> str:
    with pytest.raises((StudyError, SettingError)) as caught:
        read_results(*paths, **options)
    return str(caught.value)


def same(scores: Results, table: object = TABLE) -> bool:
    return (
        scores.candidates == ["amber", "basalt"]
        and scores.items == ["q1", "q2", "q3"]
        and bool((scores.table == np.array(table)).all())
    )


# -- tables ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [WIDE, TURNED, LONG], ids=["wide", "turned", "long"])
@pytest.mark.parametrize("change", ["plain", "crlf", "semicolons", "tabs", "bom"])
def test_csv(tmp_path: Path, text: str, change: str) -> None:
    new = {"crlf": ("\n", "\r\n"), "semicolons": (",", ";"), "tabs": (",", "\t")}.get(change)
    path = write(tmp_path / "scores.csv", ("\ufeff" if change == "bom" else "") + (text.replace(*new) if new else text))
    scores = read_results(path)
    assert same(scores)
    assert (scores.files, scores.notes, scores.missing, scores.dropped) == ([str(path)], [], {}, [])
    assert scores.metric == ("score" if text == LONG else None)


@pytest.mark.parametrize(
    ("header", "metric"),
    [
        ("model,question_id,correct,latency", "correct"),
        ("model,sample_id,accuracy,tokens", "accuracy"),
        ("Model,ID,em,seconds", "em"),
        ("arm,prompt_id,exact_match,notes", "exact_match"),
        ("candidate,example_id,acc,score", "score"),  # what is called score is one
    ],
)
def test_long_tables_with_other_names(tmp_path: Path, header: str, metric: str) -> None:
    scores = read_results(write(tmp_path / "scores.csv", header + "\na,x,1,1\na,y,0,0\nb,x,0,0\nb,y,0.5,0.5\n"))
    assert (scores.candidates, scores.items, scores.metric) == (["a", "b"], ["x", "y"], metric)
    assert scores.table.tolist() == [[1, 0], [0, 0.5]]


def test_the_number_of_a_row_is_no_item(tmp_path: Path) -> None:
    text = "id,model,question_id,correct\n1,a,x,1\n2,b,x,0\n"
    assert read_results(write(tmp_path / "scores.csv", text)).items == ["x"]


def test_long_tables_without_a_column_for_items_or_candidates(tmp_path: Path) -> None:
    message = refusal(write(tmp_path / "scores.csv", "model,task,correct\na,1,1\na,2,0\nb,1,0\n"))
    assert "If a row is one score, no item column was found: call it item or question." in message
    message = refusal(write(tmp_path / "other.csv", "llm,question_id,correct\na,1,1\nb,1,0\n"))
    assert "If a row is one score, no candidate column was found: call it candidate or model." in message
    assert "Choose one with metric" in refusal(write(tmp_path / "two.csv", "model,item,acc,em,x\na,1,1,1,1\n"))


def test_it_can_be_explored(tmp_path: Path) -> None:
    scores = sp.read_results(write(tmp_path / "scores.csv", WIDE))
    assert isinstance(scores, sp.Scores)
    outcome = sp.explore(sp.BestArm(scores.candidates), scores)
    assert outcome.certificate.chosen == {"amber": 1}
    assert repr(scores) == "<Results: 2 candidates on 3 items>"


@pytest.mark.parametrize("shape", ["wide", "turned", "long", "index"])
def test_parquet(tmp_path: Path, shape: str) -> None:
    wide = pd.DataFrame(TABLE, columns=["q1", "q2", "q3"], index=pd.Index(["amber", "basalt"], name="model"))
    path = tmp_path / "scores.parquet"
    frame = {
        "wide": wide.reset_index(),
        "turned": wide.T.rename_axis("item").reset_index(),
        "long": wide.reset_index().melt("model", var_name="question", value_name="score"),
        "index": wide,
    }[shape]
    frame.to_parquet(path)
    assert same(read_results(path))


def test_parquet_cells(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    frame = pd.DataFrame({"model": ["a", "b"], "1": [True, None], "2": ["0.5", "true"], "3": [[1], [0]]})
    frame.to_parquet(path)
    scores = read_results(path, missing=0.25)
    assert scores.table.tolist() == [[1, 0.5, 1], [0.25, 1, 0]]
    pd.DataFrame({"model": ["a"], "1": [[1, 0]]}).to_parquet(path)
    assert f"{path}, row 1, column '1': a list of 2 values is no single score" in refusal(path)
    pd.DataFrame([[1.0]], index=["a"], columns=["q"]).to_parquet(path)
    assert "does not say what a row is. The first column is called ''" in refusal(path)
    pd.DataFrame({"model": []}).to_parquet(path)
    assert "no rows" in refusal(path)
    write(path, "model,q1\n")
    assert f"{path}: cannot be read as Parquet" in refusal(path)


def test_numpy(tmp_path: Path) -> None:
    table = np.array(TABLE)
    np.savez(tmp_path / "named.npz", scores=table, candidates=["amber", "basalt"], items=["q1", "q2", "q3"])
    assert same(read_results(tmp_path / "named.npz"))
    np.savez(tmp_path / "bytes.npz", scores=table, candidates=np.array([b"amber", b"basalt"]), items=np.arange(3))
    assert read_results(tmp_path / "bytes.npz").items == ["0", "1", "2"]
    np.save(tmp_path / "bare.npy", table)
    scores = read_results(tmp_path / "bare.npy")
    assert (scores.candidates, scores.items) == (["row 0", "row 1"], None)
    assert "called by its number" in scores.notes[0]
    assert read_results(tmp_path / "bare.npy", candidates=["amber", "basalt"]).candidates == ["amber", "basalt"]
    assert "has 2 rows: candidates must be as many names" in refusal(tmp_path / "bare.npy", candidates=["amber"])
    np.save(tmp_path / "tall.npy", table.T)
    assert "more rows than columns" in read_results(tmp_path / "tall.npy").notes[-1]
    assert "names neither its candidates nor its items" in refusal(tmp_path / "bare.npy", tmp_path / "named.npz")


def test_numpy_that_cannot_be_used(tmp_path: Path) -> None:
    def save(what: object, **options: bool) -> Path:
        np.save(tmp_path / "bad.npy", np.array(what), **options)
        return tmp_path / "bad.npy"

    assert "arrays of Python objects are not read" in refusal(save([{}, {}], allow_pickle=True))
    assert "shape (3,)" in refusal(save([1.0, 2.0, 3.0]))
    assert "an array of <U1" in refusal(save([["a", "b"]]))
    assert "is infinite" in refusal(save([[1.0, math.inf]]))
    (tmp_path / "bad.npy").write_bytes(b"not an array")
    assert "cannot be read as an array of NumPy" in refusal(tmp_path / "bad.npy")
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 broken")
    assert "cannot be read as an array of NumPy" in refusal(tmp_path / "bad.npz")
    np.savez(tmp_path / "other.npz", table=[[1.0]])
    assert "there is no array 'scores' in it, only 'table'" in refusal(tmp_path / "other.npz")
    np.savez(tmp_path / "names.npz", scores=[[1.0, 0.0]], candidates=["a"], items=["x", "x"])
    assert "items must be 2 different names" in refusal(tmp_path / "names.npz")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name,q1\na,1\n", "does not say what a row is. The first column is called 'name'"),
        ("model,q1\na,1\na,0\n", "line 3, column 'model': candidate 'a' is already in line 2"),
        ("item,a\nx,1\nx,0\n", "line 3, column 'item': item 'x' is already in line 2"),
        ("model,q1,q1\na,1,1\n", "two columns are called 'q1'"),
        ("model,q1,\na,1,1\n", "column 3 has no title"),
        ("model\na\n", "there is no column beside 'model'"),
        ("model,q1\n,1\n", "line 2, column 'model': the cell is empty"),
        ("model,q1\na,good\n", "line 2, column 'q1': 'good' is not a number; leave the cell empty"),
        ("model;q1\na;0,5\n", "'0,5' is not a number; write decimals with a point"),
        ("model,q1\na,inf\n", "'inf' is not a finite number"),
        ("model,q1\na,1_0\n", "'1_0' is not a finite number"),
        ("model,arm,q1\na,b,1\n", "'model' and 'arm' mean the same"),
        ("model,item\na,x\n", "there is no column with scores"),
        ("model,item,acc,f1\na,x,1,1\n", "which column is the score? Choose one with metric (--metric): acc, f1"),
        ("model,item,score\na,x,1\na,x,0\n", "line 3: item 'x' of 'a' has the score 0 here, and 1 in line 2"),
        ("model,item,score\na,x,1\na,x,\n", "item 'x' of 'a' has the score none here, and 1 in line 2"),
        ("model,q1\n", "a header but no rows"),
        ("", "no header"),
    ],
)
def test_tables_that_are_refused(tmp_path: Path, text: str, told: str) -> None:
    path = write(tmp_path / "scores.csv", text)
    message = refusal(path)
    assert message.startswith(str(path))
    assert told in message


def test_which_column(tmp_path: Path) -> None:
    path = write(tmp_path / "scores.csv", "model,item,acc,f1\na,x,1,0.5\nb,x,0,0.25\n")
    assert read_results(path, metric="f1").table.tolist() == [[0.5], [0.25]]
    assert "there is no column 'f2'; the columns beside those of candidates and items are 'acc', 'f1'" in refusal(
        path, metric="f2"
    )
    assert "leave out metric" in refusal(write(tmp_path / "wide.csv", WIDE), metric="acc")
    one = write(tmp_path / "one.csv", "arm,doc_id,exact\na,1,1\nb,1,0\n")
    assert read_results(one).metric == "exact"
    again = read_results(write(tmp_path / "twice.csv", "arm,item,score\na,1,1\na,1,1.0\nb,1,0\n"))
    assert "what 1 row said before counts once" in again.notes[0]


def test_several_tables(tmp_path: Path) -> None:
    one = write(tmp_path / "one.csv", "model,q1,q2,q3\namber,1,0,1\n")
    other = write(tmp_path / "other.csv", "item,basalt\nq3,1\nq1,0\nq2,0.5\n")
    assert same(read_results(one, other))
    assert same(read_results(one, other, one, str(other)))
    clash = write(tmp_path / "clash.csv", "model,q1,q2,q3\namber,1,1,1\n")
    assert f"The score of 'amber' on item 'q2' is 0 in {one} and 1 in {clash}" in refusal(one, clash)
    f1 = write(tmp_path / "f1.csv", "model,item,f1\nbasalt,q1,1\n")
    assert f"a score without a name in {one}; f1 in {f1}" in refusal(one, f1)


NAMES = (
    st.text(st.characters(categories=["L", "N"], include_characters="-_/: ,;"), min_size=1, max_size=8)
    .map(str.strip)
    .filter(lambda name: name and name.casefold() not in ("candidate", "model", "arm", "item", "question", "doc_id"))
)
NUMBERS = st.one_of(st.floats(-1e6, 1e6), st.integers(0, 1).map(float), st.just(math.nan))


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[str], np.ndarray]:
    rows, columns = (draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)) for _ in range(2))
    return rows, columns, np.array([[draw(NUMBERS) for _ in columns] for _ in rows])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("round")


@settings(max_examples=40)
@given(tables(), st.sampled_from(["wide", "turned", "long"]), st.sampled_from(["csv", "tsv", "parquet", "npz"]))
def test_what_is_written_is_read(folder: Path, given_: tuple[list[str], list[str], np.ndarray], shape: str, ending: str) -> None:
    rows, columns, table = given_
    path = folder / f"scores.{ending}"
    wide = pd.DataFrame(table, columns=columns, index=pd.Index(rows, name="model"))
    if ending == "npz":
        np.savez(path, scores=table, candidates=rows, items=columns)
    else:
        frame = wide.reset_index() if shape == "wide" else wide.T.rename_axis("item").reset_index()
        if shape == "long":
            frame = pd.DataFrame([(i, j, table[a, b]) for a, i in enumerate(rows) for b, j in enumerate(columns)])
            frame.columns = ["candidate", "question", "value"]
        if ending == "parquet":
            frame.to_parquet(path)
        else:
            # a header of CSV without commas may hold other separators in its names
            frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
            if ending == "tsv" and any(mark in "".join(rows + columns) for mark in ",;"):
                return
    scores = read_results(path, missing=-7.5)
    assert (scores.candidates, scores.items) == (rows, columns)
    np.testing.assert_array_equal(scores.table, np.where(np.isnan(table), -7.5, table))
    assert scores.filled == np.isnan(table).sum()


# -- what is missing ---------------------------------------------------------------------------------------------------------


def test_missing_scores_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "scores.csv", "model,q1,q2,q3,q4,q5,q6\na,1,,nan,N/A,null,none\nb,1,0,1,1,1,\n")
    message = refusal(path)
    assert "6 of 12 scores are missing: 'a' lacks 5 (q2, q3, q4, q5 and 1 more); 'b' lacks 1 (q6)." in message
    assert "never guessed" in message
    assert 'missing="drop" (--missing drop) leaves these items out for all, and keeps 1 of 6' in message
    dropped = read_results(path, missing="drop")
    assert (dropped.items, dropped.table.tolist()) == (["q1"], [[1], [1]])
    assert dropped.dropped == ["q2", "q3", "q4", "q5", "q6"]
    assert dropped.missing == {"a": ["q2", "q3", "q4", "q5", "q6"], "b": ["q6"]}
    assert "Left out for all candidates: 5 of 6 items, for want of 6 scores: 'a' lacks 5" in dropped.notes[-1]
    filled = read_results(path, missing=0)
    assert (filled.filled, filled.dropped, filled.table.tolist()) == (6, [], [[1, 0, 0, 0, 0, 0], [1, 0, 1, 1, 1, 0]])
    assert "6 missing scores count as 0" in filled.notes[-1]


def test_missing_everywhere(tmp_path: Path) -> None:
    path = write(tmp_path / "scores.csv", "model,q1,q2\na,,\nb,1,0\n")
    message = refusal(path)
    assert "drop" not in message
    assert "leave candidates out: 'a' without any score" in message
    assert "nothing is left" in refusal(path, missing="drop")
    assert read_results(path, candidates=["b"]).table.tolist() == [[1, 0]]


def test_candidates_with_fewer_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "scores.csv", "model,item,score\na,x,1\na,y,0\nb,x,1\n")
    assert "1 of 4 scores is missing: 'b' lacks 1 (y)." in refusal(path)


@pytest.mark.parametrize("missing", ["zero", math.nan, math.inf, True, [0]])
def test_what_missing_may_be(tmp_path: Path, missing: object) -> None:
    assert 'missing must be "drop"' in refusal(write(tmp_path / "scores.csv", WIDE), missing=missing)


def test_choosing_candidates(tmp_path: Path) -> None:
    path = write(tmp_path / "scores.csv", WIDE)
    scores = read_results(path, candidates=["basalt"])
    assert (scores.candidates, scores.table.tolist()) == (["basalt"], [[0, 0.5, 1]])
    assert "No file has a candidate 'basal'; did you mean 'basalt'?" in refusal(path, candidates=["basal"])
    for bad in ("amber", [], ["amber", "amber"], [1]):
        assert "candidates must be a list of different names" in refusal(path, candidates=bad)
    assert "metric must be the name" in refusal(path, metric=3)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "there is no such file" in refusal(tmp_path / "nothing.csv")
    (tmp_path / "latin.csv").write_bytes("model,q1\nchâteau,1\n".encode("latin-1"))
    assert "byte 11 is not UTF-8 text" in refusal(tmp_path / "latin.csv")
    assert "cannot be told from its name" in refusal(write(tmp_path / "scores.xlsx", ""))
    assert "No file is given" in refusal()
    assert "given by its path" in refusal(3)
    (tmp_path / "empty").mkdir()
    assert "neither a samples_*.jsonl" in refusal(tmp_path / "empty")


def test_names_of_scores() -> None:
    scores = sp.Scores([[1, 0], [0, 0]], candidates=["a", "b"])
    assert scores.candidates == ["a", "b"]
    assert sp.Scores([[1]]).candidates is None
    for bad, told in (
        (["a"], "as many names"),
        ("ab", "as many names"),
        (["a", "a"], "Two candidates"),
        ([1, 2], "cannot be called"),
    ):
        with pytest.raises(ProblemError, match=told):
            sp.Scores([[1, 0], [0, 0]], candidates=bad)
    with pytest.raises(ProblemError, match="The score of 'b' on item 0 is nan"):
        sp.Scores([[1], [math.nan]], candidates=["a", "b"])


# -- lm-evaluation-harness ---------------------------------------------------------------------------------------------------


def digest(x: object) -> str:
    return hashlib.sha256(str(x).encode()).hexdigest()


def sample(doc: object, model: str = "", filter_: str | None = "none", data: str = "", **scores: object) -> dict[str, object]:
    """A line as the harness writes it; without a filter as it did in early 2024."""
    line: dict[str, object] = {
        "doc_id": doc,
        "doc": {"question": f"question {doc}"},
        "target": f"{doc}",
        "arguments": {"gen_args_0": {"arg_0": "Q\u2028A", "arg_1": {"until": ["\n"]}}},
        "resps": [[" an answer"]],
        "filtered_resps": ["an answer"],
    }
    if filter_ is not None:
        line |= {"filter": filter_, "metrics": list(scores), "doc_hash": digest(f"{data}{doc}")}
        line |= {"prompt_hash": digest(f"{model}{doc}"), "target_hash": digest(doc)}
    return line | scores


def log(
    folder: Path, model: str, lines: list[dict[str, object]], task: str = "gsm8k", date: str = DATE, ending: str = ".jsonl"
) -> Path:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return write(folder / model / f"samples_{task}_{date}{ending}", text)


def two(folder: Path, task: str = "arc", **options: object) -> None:
    log(folder, "org__amber", [sample(i, acc=float(i != 1)) for i in range(3)], task, **options)
    log(folder, "basalt", [sample(i, acc=float(i == 2)) for i in (2, 0, 1)], task, **options)


def test_harness(tmp_path: Path) -> None:
    two(tmp_path, "arc_easy")
    scores = read_results(tmp_path)
    assert scores.candidates == ["basalt", "org__amber"]
    assert scores.items == ["arc_easy/0", "arc_easy/1", "arc_easy/2"]
    assert scores.table.tolist() == [[0, 0, 1], [1, 0, 1]]
    assert (scores.metric, scores.notes) == ("acc", [])
    assert [Path(file).name for file in scores.files] == [f"samples_arc_easy_{DATE}.jsonl"] * 2
    assert read_results(*scores.files).table.tolist() == scores.table.tolist()


def test_items_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for model in ("a", "b"):
        log(tmp_path, model, [sample(i, acc=1) for i in (10, 9, 2)], "t")
    assert read_results(tmp_path).items == ["t/2", "t/9", "t/10"]


def test_harness_filters(tmp_path: Path) -> None:
    for model, strict in (("amber", 0.0), ("basalt", 1.0)):
        lines = [sample(i, model, "strict-match", exact_match=strict) for i in range(3)]
        log(tmp_path, model, lines + [sample(i, model, "flexible-extract", exact_match=1.0) for i in range(3)])
    message = refusal(tmp_path)
    assert "'exact_match,strict-match', 'exact_match,flexible-extract'" in message
    assert "exact_match has several filters" in refusal(tmp_path, metric="exact_match")
    scores = read_results(tmp_path, metric="exact_match,strict-match")
    assert scores.means.tolist() == [0, 1]
    assert "The prompts differ between candidates on 3 items" in scores.notes[0]
    assert read_results(tmp_path, metric="exact_match,flexible-extract").means.tolist() == [1, 1]
    assert "no score 'exact_match,none', only 'exact_match,strict-match'" in refusal(tmp_path, metric="exact_match,none")


def test_harness_metrics(tmp_path: Path) -> None:
    for model in ("amber", "basalt"):
        log(tmp_path, model, [sample(i, acc=1.0, acc_norm=0.0, f1=[1, 0]) for i in range(2)], "arc")
    assert "choose one with metric (--metric): 'acc', 'acc_norm', 'f1'" in refusal(tmp_path)
    assert read_results(tmp_path, metric="acc_norm").means.tolist() == [0, 0]
    assert read_results(tmp_path, metric="acc,none").means.tolist() == [1, 1]
    assert "line 1, f1: a list of 2 values is no single score; choose another metric" in refusal(tmp_path, metric="f1")
    assert "no score 'em', only 'acc'" in refusal(tmp_path, metric="em")


def test_harness_values(tmp_path: Path) -> None:
    values = [True, "0.5", [1], 0]
    log(tmp_path, "a", [sample(i, acc=x) for i, x in enumerate(values)])
    log(tmp_path, "b", [sample(i, acc=x) for i, x in enumerate([1.0, math.nan, None, "N/A"])])
    assert "'b' lacks 3 (gsm8k/1, gsm8k/2, gsm8k/3)" in refusal(tmp_path)
    assert read_results(tmp_path, missing=0.5).table.tolist() == [[1, 0.5, 1, 0], [1, 0.5, 0.5, 0.5]]


def test_mixed_metrics(tmp_path: Path) -> None:
    log(tmp_path, "a", [sample(0, acc=1.0)])
    path = log(tmp_path, "b", [sample(0, exact_match=1.0)])
    assert "several scores" in refusal(tmp_path)
    assert refusal(tmp_path, metric="acc").startswith(f"{path}: it has no score 'acc', only 'exact_match'")


def test_harness_tasks(tmp_path: Path) -> None:
    two(tmp_path, "arc")
    two(tmp_path, "mmlu_world_history")
    scores = read_results(tmp_path)
    assert scores.items is not None
    assert scores.items[2:4] == ["arc/2", "mmlu_world_history/0"]
    assert "2 tasks" in scores.notes[0]
    (tmp_path / "basalt" / f"samples_arc_{DATE}.jsonl").unlink()
    assert "'basalt' lacks 3 (arc/0, arc/1, arc/2)" in refusal(tmp_path)


def test_the_newest_counts(tmp_path: Path) -> None:
    two(tmp_path)
    log(tmp_path, "basalt", [sample(i, acc=1.0) for i in range(3)], "arc", LATER)
    scores = read_results(tmp_path)
    assert scores.means.tolist() == [1, 2 / 3]
    assert scores.notes == [
        f"'basalt' has 2 files of task 'arc': the newest counts, samples_arc_{LATER}.jsonl, and not samples_arc_{DATE}.jsonl."
    ]


def test_two_folders_of_one_model(tmp_path: Path) -> None:
    two(tmp_path / "five shots")
    two(tmp_path / "no shots", date=LATER)
    assert "both hold task 'arc' of 'basalt': give one of them" in refusal(tmp_path)
    two(tmp_path / "other", "mmlu")  # another task may be anywhere
    assert read_results(tmp_path / "other", tmp_path / "no shots").table.shape == (2, 6)


def test_models_in_one_folder(tmp_path: Path) -> None:
    """--output_path FILE.json puts all models side by side; their results say which is which."""
    for date, model, good in ((DATE, "org/amber", 1.0), (LATER, "basalt", 0.0)):
        log(tmp_path, "out", [sample(0, acc=good)], "arc", date)
        write(tmp_path / "out" / f"all_{date}.json", json.dumps({"results": {}, "model_name": model}))
    scores = read_results(tmp_path)
    assert (scores.candidates, scores.table.tolist(), scores.notes) == (["basalt", "org/amber"], [[0], [1]], [])


def test_logs_of_old(tmp_path: Path) -> None:
    """Lines without filter, metrics and hashes; files that end in .json, or are called otherwise; packed ones."""
    lines = [sample(i, filter_=None, acc=float(i), acc_norm=0.0) for i in range(2)]
    for model in ("amber", "basalt"):
        log(tmp_path, model, lines, ending=".json")
    assert read_results(tmp_path, metric="acc").table.tolist() == [[0, 1], [0, 1]]
    text = "".join(json.dumps(line) + "\r\n" for line in lines)
    plain, packed = write(tmp_path / "copper.jsonl", text), tmp_path / "dune.jsonl.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    scores = read_results(plain, packed, metric="acc")
    assert (scores.candidates, scores.items) == (["copper", "dune"], ["0", "1"])
    listed = write(tmp_path / "ember.jsonl", json.dumps(lines, indent=2))
    assert read_results(listed, metric="acc").table.tolist() == [[0, 1]]
    packed.write_bytes(gzip.compress(text.encode())[:-20])
    assert "cannot be unpacked" in refusal(packed, metric="acc")


def test_filters_that_are_not_named(tmp_path: Path) -> None:
    lines = [sample(i, filter_=None, exact_match=x) for x in (0.0, 1.0) for i in range(2)]
    path = log(tmp_path, "amber", lines)
    message = refusal(path)
    assert "line 3: item 'gsm8k/0' of 'amber' has the score 1 here, and 0 in line 1." in message
    assert "one line for every filter and does not say which" in message
    again = read_results(log(tmp_path, "basalt", [sample(0, acc=1.0)] * 2))
    assert again.notes == ["What 1 line said before counts once."]
    assert "delete one of the two" in refusal(log(tmp_path, "copper", [sample(0, acc=1.0), sample(0, acc=0.0)]))


def test_other_questions_are_refused(tmp_path: Path) -> None:
    two(tmp_path)
    log(tmp_path, "copper", [sample(i, data="newer" if i else "", acc=1.0) for i in range(3)], "arc")
    message = refusal(tmp_path)
    assert message.startswith("Item 'arc/1' is not the same for 'basalt' (")
    assert "they differ in doc_hash, as on 1 other item" in message
    assert f"samples_arc_{DATE}.jsonl, line 2)" in message
    assert read_results(tmp_path, candidates=["org__amber", "basalt"]).candidates == ["org__amber", "basalt"]
    assert "No file has a candidate 'dune'; there are 'basalt', 'copper', 'org__amber'." in refusal(tmp_path, candidates=["dune"])
    lines = [sample(i, acc=1.0) | {"target_hash": digest("other")} for i in range(3)]
    log(tmp_path, "copper", lines, "arc")
    assert "they differ in target_hash, as on 2 other items" in refusal(tmp_path)


def test_broken_logs(tmp_path: Path) -> None:
    path = log(tmp_path, "amber", [sample(0, acc=1.0)])
    whole = path.read_text()
    message = refusal(write(path, whole + whole[:50]))
    assert f"{path}, line 2: not JSON" in message
    assert "the last line, and may be cut off" in message
    assert "cut off" not in refusal(write(path, whole + "{\n" + whole))
    assert "line 1: there is no doc_id" in refusal(write(path, '{"model": "a"}\n'))
    assert "line 2: there is no doc_id" in refusal(write(path, whole + "3\n"))
    assert "the file is empty" in refusal(write(path, ""))
    assert "--predict_only" in refusal(log(tmp_path, "amber", [sample(0, bypass=999)]))
    path.write_bytes(b'{"doc_id": "\xff"}\n')
    assert "line 1: byte 12 of the line is not UTF-8 text" in refusal(path)


def test_means_are_no_scores(tmp_path: Path) -> None:
    path = write(tmp_path / "results_x.json", json.dumps({"results": {"gsm8k": {"exact_match,none": 0.5}}}))
    assert "these are means over items (gsm8k)" in refusal(path)
    assert "neither a sample log" in refusal(write(path, '{"a": 1}'))
    assert "line 1: not JSON" in refusal(write(path, "{"))


# -- HELM --------------------------------------------------------------------------------------------------------------------


def stat(name: str, mean: float | None, split: str = "test", count: int = 1, **more: object) -> dict[str, object]:
    """As HELM writes it, which leaves out what is None."""
    found: dict[str, object] = {"name": {"name": name, "split": split, **more}, "count": count, "sum": (mean or 0.0) * count}
    return found | ({} if mean is None else {"sum_squared": mean**2, "min": mean, "max": mean, "mean": mean, "variance": 0.0})


def instance(i: int, *stats: dict[str, object], trial: int = 0, **more: object) -> dict[str, object]:
    return {"instance_id": f"id{i}", "train_trial_index": trial, **more, "stats": list(stats)}


def run(folder: Path, model: str, entries: object, task: str = "mmlu:subject=anatomy", texts: str = "") -> Path:
    home = folder / "runs" / "my-suite" / f"{task}{',' if ':' in task else ':'}model={model}"
    if texts:
        listed = [{"input": {"text": f"{texts} {i}"}, "references": [], "split": "test", "id": f"id{i}"} for i in range(9)]
        write(home / "instances.json", json.dumps(listed))
    write(home / "run_spec.json", json.dumps({"adapter_spec": {"model": model.replace("_", "/", 1)}}))
    return write(home / "per_instance_stats.json", json.dumps(entries, indent=2))


def results(good: set[int], split: str = "test") -> list[dict[str, object]]:
    """Basic metrics and counts come in entries of their own; perturbed instances in others."""
    known = [instance(i, stat("exact_match", float(i in good), split), stat("num_prompt_tokens", 90.0, split)) for i in range(3)]
    more = [instance(i, stat("quasi_exact_match", 1.0, split), stat("finish_reason_stop", 1.0, split)) for i in range(3)]
    robust = {"name": "typos", "robustness": True}
    changed = [instance(i, stat("exact_match", 0.0, split, perturbation=robust), perturbation=robust) for i in range(3)]
    return known + more + changed


def test_helm(tmp_path: Path) -> None:
    run(tmp_path, "openai_gpt2", results({0, 2}), texts="question")
    run(tmp_path, "org_amber", results({1}), texts="question")
    assert "several scores of an item: choose one with metric (--metric): 'exact_match', 'quasi_exact_match'." in refusal(
        tmp_path
    )
    scores = read_results(tmp_path, metric="exact_match")
    assert scores.candidates == ["openai_gpt2", "org_amber"]
    assert scores.items == [f"mmlu:subject=anatomy/id{i}" for i in range(3)]
    assert scores.table.tolist() == [[1, 0, 1], [0, 1, 0]]
    assert scores.metric == "exact_match"
    assert scores.notes == ["Left out: 6 results of perturbed instances."]
    assert read_results(tmp_path, metric="num_prompt_tokens").means.tolist() == [90, 90]
    assert "no score 'em', only 'exact_match', 'quasi_exact_match'" in refusal(tmp_path, metric="em")


def test_helm_scenarios_and_models(tmp_path: Path) -> None:
    for task in ("boolq", "mmlu:subject=law,method=joint"):
        for model in ("a", "b"):
            run(tmp_path, f"{model},model_deployment=x_{model}", results({0}), task)
    scores = read_results(tmp_path, metric="exact_match")
    assert scores.candidates == ["a", "b"]
    assert scores.items is not None
    assert (scores.items[0], scores.items[3]) == ("boolq/id0", "mmlu:subject=law,method=joint/id0")
    assert "2 scenarios" in scores.notes[0]
    home = tmp_path / "elsewhere" / "boolq"
    path = write(home / "per_instance_stats.json", json.dumps(results({0})))
    assert "neither its folder, 'boolq', nor a run_spec.json" in refusal(path)
    write(home / "run_spec.json", json.dumps({"adapter_spec": {"model": "org/c"}}))
    assert read_results(path, metric="exact_match").candidates == ["org/c"]


def test_every_task_may_have_its_own_score(tmp_path: Path) -> None:
    for model, right in (("a", 1.0), ("b", 0.0)):
        log(tmp_path, model, [sample(0, acc=right, acc_norm=0.5)], "boolq")
        both = [sample(0, exact_match=x, filter=name) for x, name in ((right, "strict-match"), (0.25, "flexible-extract"))]
        log(tmp_path, model, both, "gsm8k")
    message = refusal(tmp_path, metric="acc")
    assert "no score 'acc'" in message
    assert "--metric TASK=NAME" in message
    scores = read_results(tmp_path, metric={"gsm8k": "exact_match,strict-match", "boolq": "acc"})
    assert (scores.items, scores.table.tolist()) == (["boolq/0", "gsm8k/0"], [[1, 1], [0, 0]])
    assert scores.metric == "acc (boolq); exact_match,strict-match (gsm8k)"
    assert "choose one with metric" in refusal(tmp_path, metric={"boolq": "acc"})
    assert "names the task 'arc', and there is none; the tasks are 'boolq', 'gsm8k'." in refusal(tmp_path, metric={"arc": "acc"})
    assert "or a dict of tasks and names" in refusal(tmp_path, metric={"boolq": 1})
    table = write(tmp_path / "scores.csv", WIDE)
    assert "a table has none, so give one name" in refusal(table, metric={"boolq": "acc"})


def test_every_scenario_may_have_its_own_score(tmp_path: Path) -> None:
    for task in ("boolq", "mmlu:subject=law,method=joint"):
        run(tmp_path, "a", results({0}), task)
    scores = read_results(tmp_path, metric={"mmlu": "num_prompt_tokens", "boolq": "exact_match"})
    assert scores.table.tolist() == [[1, 0, 0, 90, 90, 90]]


def test_logs_of_several_models_in_one_folder(tmp_path: Path) -> None:
    for model in ("amber", "basalt"):
        write(tmp_path / "t8" / f"samples_boolq_{model}.jsonl", json.dumps(sample(0, acc=1.0)) + "\n")
    scores = read_results(tmp_path)
    assert scores.candidates == ["t8"]
    (note,) = [note for note in scores.notes if "of one candidate" in note]
    assert "All 2 logs are of one candidate, 't8': the folder that a log is in names its model" in note
    assert "MODEL/samples_TASK.jsonl" in note


def test_helm_splits_and_trials(tmp_path: Path) -> None:
    run(tmp_path, "a", [*results({0}), instance(7, stat("exact_match", 1.0, "valid"))])
    scores = read_results(tmp_path, metric="exact_match")
    assert scores.table.shape == (1, 3)
    assert scores.notes[0] == "Only the split 'test' counts; left out are results of instances: 1 of 'valid'."
    run(tmp_path, "a", results({0}, "valid"))
    assert read_results(tmp_path, metric="exact_match").table.shape == (1, 3)
    run(tmp_path, "a", results({0}, "valid") + results({1}, "train"))
    assert "of the splits train, valid, and none of them is 'test'" in refusal(tmp_path)
    run(tmp_path, "a", [instance(0, stat("f1", 1.0)), instance(0, stat("f1", 0.0), trial=1)])
    scores = read_results(tmp_path)
    assert scores.items == ["mmlu:subject=anatomy/id0/trial 0", "mmlu:subject=anatomy/id0/trial 1"]


def test_helm_gaps(tmp_path: Path) -> None:
    run(tmp_path, "a", results({0}))
    entries = [instance(0, stat("exact_match", None, count=0)), instance(1, stat("num_prompt_tokens", 9.0)), *results(set())[2:3]]
    run(tmp_path, "b", entries)
    assert "'b' lacks 2 (mmlu:subject=anatomy/id0, mmlu:subject=anatomy/id1)" in refusal(tmp_path, metric="exact_match")
    old = stat("exact_match", 0.5, count=2)
    del old["mean"]
    run(tmp_path, "b", [instance(i, old) for i in range(3)])
    assert read_results(tmp_path, metric="exact_match").means.tolist() == [1 / 3, 0.5]


def test_helm_that_is_refused(tmp_path: Path) -> None:
    run(tmp_path, "a", results({0}), texts="question")
    path = run(tmp_path, "b", results({0}), texts="another question")
    assert "is not the same for 'a'" in refusal(tmp_path, metric="exact_match")
    assert "they differ in their text (instances.json)" in refusal(tmp_path, metric="exact_match")
    assert read_results(tmp_path, metric="exact_match", candidates=["b"]).means.tolist() == [1 / 3]
    assert "No file has a candidate 'c'; there are 'a', 'b'." in refusal(tmp_path, metric="exact_match", candidates=["c"])
    copy = write(tmp_path / "again" / path.parent.name / path.name, path.read_text())
    assert "both hold 'mmlu:subject=anatomy' of 'b'" in refusal(path, copy)
    twice = [instance(0, stat("f1", 1.0)), instance(0, stat("f1", 0.0))]
    assert "entry 2: f1 of an instance is 0.0, and 1.0 in entry 1" in refusal(run(tmp_path, "b", twice))
    assert "entry 1: there is no instance_id" in refusal(run(tmp_path, "b", [{"stats": []}]))
    assert "entry 1: one of its stats has no name" in refusal(run(tmp_path, "b", [instance(0, {"mean": 1})]))
    assert "a list of instances is wanted" in refusal(run(tmp_path, "b", {}))
    assert "no results of instances" in refusal(run(tmp_path, "b", []))
    assert "line 1: not JSON" in refusal(write(path, "[{"))


# -- what a whole table says -------------------------------------------------------------------------------------------------


def test_standing() -> None:
    scores = sp.Scores([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0]])
    found = standing(scores, 1)
    assert found.order.tolist() == [1, 0, 2, 3]
    assert (found.lead, found.tie, found.behind.tolist()) == (0.25, False, [0.25, 0, 0.25, 0.75])
    tied = standing(scores, 2)
    assert (tied.lead, tied.tied.tolist()) == (0, [True, False, True, False])
    assert standing(scores, 1, epsilon=0.25).near.tolist() == [True, False, True, False]
    least = standing(scores, 1, sense="min")
    assert (least.order.tolist(), least.lead) == ([3, 0, 2, 1], 0.5)


def test_a_tie_is_exact_whatever_the_order_of_summing() -> None:
    rng = np.random.default_rng(0)
    row = rng.random(1000)
    found = standing(sp.Scores([row, rng.permutation(row), row - 1e-6]), 1)
    assert found.tied.tolist() == [True, True, False]
