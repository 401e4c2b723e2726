"""Study files that are wrong: every complaint names the file and the key, or the line and the column of a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import surepick as sp
from surepick.errors import StudyError
from surepick.study import StudySpec, load, read_observations, read_table

TOP = """
delta = 0.1
arms = ["a", "b", "c"]
[problem]
kind = "top-k"
k = 2
"""


def refused(path: Path, *words: str) -> str:
    with pytest.raises(StudyError) as caught:
        load(path)
    message = str(caught.value)
    for word in words:
        assert word in message, message
    return message


def problem(text: str) -> str:
    return 'arms = ["a", "b", "c"]\n[problem]\n' + text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("delta = \narms = 3\n", ["not TOML", "line 1"]),
        ("delta = 0.1\n", ["key problem", "missing"]),
        (TOP.replace("delta", "dleta"), ["key dleta", "did you mean 'delta'?"]),
        (TOP.replace("0.1", "2"), ["key delta", "between 0 and 1"]),
        (TOP.replace("0.1", "nan"), ["key delta", "not nan"]),
        (TOP.replace("0.1", "true"), ["key delta", "not True"]),
        (TOP.replace("0.1", '"0.1"'), ["key delta", "not '0.1'"]),
        ("epsilon = -1\n" + TOP, ["key epsilon", "at least 0"]),
        ("epsilon = inf\n" + TOP, ["key epsilon", "not inf"]),
        ("relative = 1\n" + TOP, ["key relative", "true or false"]),
        ("budget = 1.5\n" + TOP, ["key budget", "whole number"]),
        ("budget = -3\n" + TOP, ["key budget", "-3"]),
        ("spend = 1\nbudget = 5\n" + TOP, ["key spend", "true or false"]),
        ("spend = true\n" + TOP, ["key spend", "needs a budget"]),
        ("seed = -1\n" + TOP, ["key seed", "at least 0"]),
        ('policy = "best"\n' + TOP, ["key policy", "coci"]),
        ('confidence = "sure"\n' + TOP, ["key confidence", "paper"]),
        ("theta = [0.1, nan, 0.2]\n" + TOP, ["key theta[1]", "not nan"]),
        ("theta = [0.1]\n" + TOP, ["key theta", "3 arms"]),
        ("theta = [0, 0, 1]\n" + TOP + '[simulate]\nkind = "bernoulli"\np = [0, 0, 1]\n', ["key theta", "only one"]),
        (TOP.replace('"b"', '"a"'), ["key arms", "Two arms are called 'a'"]),
        (TOP.replace('"b"', '""'), ["key arms[1]", "non-empty"]),
        (TOP.replace('"b"', "7"), ["key arms[1]", "not 7"]),
        (TOP.replace('["a", "b", "c"]', "[]"), ["key arms", "no arms"]),
        (TOP.replace('"b"', '{name = "b", high = 0}'), ["key arms[1]", "low < high"]),
        (TOP.replace('"b"', '{name = "b", min = 0, low = 0}'), ["key arms[1].min", "mean the same"]),
        (TOP.replace('"b"', '{name = "b", hihg = 2}'), ["key arms[1].hihg", "did you mean 'high'?"]),
        (TOP.replace('"b"', "{low = 0}"), ["key arms[1].name", "missing"]),
        (TOP.replace('"b"', '{name = "b", kind = "subgaussian"}'), ["key arms[1].scale", "positive"]),
        (TOP.replace("arms", "arsm"), ["key arsm", "did you mean 'arms'?"]),
        (problem("k = 1"), ["key problem.kind", "missing", "top-k"]),
        (problem("kind = 3"), ["key problem.kind", "not 3"]),
        (problem('kind = "topk"\nk = 1'), ["key problem.kind", "did you mean 'top-k'?"]),
        (problem('kind = "top-k"'), ["key problem.k", "missing", "whole number"]),
        (problem('kind = "top-k"\nk = 4'), ["key problem.k", "at most 3"]),
        (problem('kind = "top-k"\nk = 0'), ["key problem.k", "at least 1"]),
        (problem('kind = "top-k"\nk = 1.0'), ["key problem.k", "not 1.0"]),
        (problem('kind = "top-k"\nk = 1\nsizes = [1]'), ["key problem.sizes", "no such key"]),
        (problem('kind = "best-arm"\nparameter = "median"'), ["key problem.parameter", "'variance'"]),
        (problem('kind = "best-of-each"'), ["key problem.groups", "missing"]),
        (problem('kind = "best-of-each"\ngroups = ["x"]'), ["key problem.groups", "3 arms but 1"]),
        (problem('kind = "subsets"\ndecisions = []'), ["key problem.decisions", "empty"]),
        (problem('kind = "subsets"\ndecisions = [[1, 0]]'), ["key problem.decisions", "3 arms"]),
        (problem('kind = "subsets"\ndecisions = [[1, 0, nan]]'), ["key problem.decisions[0][2]", "nan"]),
        (problem('kind = "spanning-tree"\nedges = [[1, 2], [2, 3], [3]]'), ["key problem.edges[2]", "pairs"]),
        (problem('kind = "spanning-tree"\nedges = [[1, 2], [3, 4], [4, 5]]'), ["key problem", "not connected"]),
        ('[problem]\nkind = "matching"\nedges = [["a", 1], ["b", 1], ["c", 2], ["c", 3]]', ["key problem.edges", "stay alone"]),
        (problem('kind = "matching"\nedges = [["a", 1]]'), ["key problem.edges", "1 edges but 3 arms"]),
        (problem('kind = "matching"'), ["key problem.edges", "missing", "column 'u'"]),
        (problem('kind = "matching"\nedges = [[1, 2]]\nperfect = 1'), ["key problem.perfect", "true or false"]),
        (problem('kind = "path"\nedges = [[1, 2], [2, 3], [1, 3]]\nsource = 1'), ["key problem.target", "missing"]),
        (problem('kind = "path"\nedges = [[1, 2], [2, 3], [1, 3]]\nsource = 9\ntarget = 3'), ["key problem.source", "9"]),
        (problem('kind = "path"\nedges = [[1, 2], [2, 3], [1, 3]]\nsource = 1\ntarget = 1'), ["key problem.target", "both 1"]),
        (problem('kind = "path"\nedges = [[1, 2], [2, 3], [1, 3]]\nsource = 3\ntarget = 1'), ["key problem.edges", "No path"]),
        (problem('kind = "path"\nedges = [[1, 2], [2, 1], [1, 3]]\nsource = 1\ntarget = 3\nsense = "mni"'),
         ["key problem.sense", "'min' or 'max'"]),
        (problem('kind = "program"'), ["key problem.A", "missing"]),
        (problem('kind = "program"\nA = []'), ["key problem.A", "no constraints"]),
        (problem('kind = "program"\nA = [[1, 2, 3], [1, 2]]'), ["key problem.A[1]", "2 numbers but there are 3 arms"]),
        (problem('kind = "program"\nA = [[1, 2, inf]]'), ["key problem.A[0][2]", "finite", "inf"]),
        (problem('kind = "program"\nA = ["weight"]'), ["key problem.A[0]", "'weight' needs a table"]),
        (problem('kind = "program"\nA = [[1, 2, 3]]\nupper = [1, 2]'), ["key problem.upper", "1 rows but there are 2"]),
        (problem('kind = "program"\nA = [[1, 2, 3]]\nupper = nan'), ["key problem.upper", "not nan"]),
        (problem('kind = "program"\nA = [[1, 2, 3]]\nupper = ["none"]'), ["key problem.upper[0]", "inf for no bound", "'none'"]),
        (problem('kind = "program"\nA = [[1, 2, 3]]\nlower = 5\nupper = 4'), ["key problem.lower", "swap or loosen"]),
        (problem('kind = "program"\nA = [[1, 2, 3]]\nlower = 7'), ["key problem.lower", "No whole decision"]),
        (problem('kind = "program"\nA = [[1, 2, 3]]\nlevels = [1, 2]'), ["key problem.levels", "one an arm"]),
        ('[problem]\nkind = "program"\nA = [[1]]', ["key arms", "missing"]),
        ('policy = "lucb"\n' + problem('kind = "program"\nA = [[1, 2, 3]]\nupper = 4'), ["key policy", "unified"]),
        ('[problem]\nkind = "top-k"\nk = 1', ["key arms", "missing"]),
        ('[problem]\nkind = "sample-allocation"\nsizes = [1, 2, 3]\nbudget = 2', ["key problem.budget", "number of strata, 3"]),
        ('[problem]\nkind = "sample-allocation"\nsizes = [1, 0, 3]\nbudget = 9', ["key problem.sizes", "positive"]),
        ('[problem]\nkind = "sample-allocation"\nbudget = 9', ["key problem.sizes", "column 'N'"]),
        ('[problem]\nkind = "sample-allocation"\nsizes = [1, 2]\nbudget = 9\nlower = 0', ["key problem.lower", "at least 1"]),
        (problem('kind = "sample-allocation"\nsizes = [1, 2]\nbudget = 9'), ["key problem.sizes", "2 sizes but 3 arms"]),
        (problem('kind = "resource-plan"\ncaps = [1, 1, 1]\nrequire = 4\ncost = {kind = "power", factor = 1, exponent = 1}'),
         ["key problem.caps", "add up to 3"]),
        (problem('kind = "resource-plan"\ncaps = 1\nrequire = 1\ncost = {kind = "poly"}'), ["key problem.cost.kind", "power"]),
        (problem('kind = "resource-plan"\ncaps = 1\nrequire = 1\ncost = {kind = "power", factor = [1], exponent = 1}'),
         ["key problem.cost.factor", "3 sites but 1"]),
        (problem('kind = "resource-plan"\ncaps = 1\nrequire = 1\ncost = {kind = "power", factor = 1, exponent = 0}'),
         ["key problem.cost.exponent", "above 0"]),
        (problem('kind = "resource-plan"\ncaps = 1\nrequire = 1\ncost = {kind = "power", factor = 1}'),
         ["key problem.cost.exponent", "missing"]),
        (problem('kind = "resource-plan"\ncaps = 1\nrequire = 1\ncost = [[0, 1], [0, 1], [0]]'), ["key problem.cost", "'c'"]),
        (TOP + '[simulate]\nkind = "bernouli"\n', ["key simulate.kind", "did you mean 'bernoulli'?"]),
        (TOP + '[simulate]\nkind = "bernoulli"\n', ["key simulate.p", "missing"]),
        (TOP + '[simulate]\nkind = "bernoulli"\np = [0.1, 0.2]\n', ["key simulate", "2 arms", "3"]),
        (TOP + '[simulate]\nkind = "bernoulli"\np = [0.1, 0.2, 1.2]\n', ["key simulate.p", "1.2"]),
        (TOP + '[simulate]\nkind = "beta"\nmean = [0.1, 0.2, 0.3]\n', ["key simulate.concentration", "missing"]),
        (TOP + '[simulate]\nkind = "gaussian"\nmean = [1, 2, 3]\nsd = 1\n', ["key simulate.kind", "subgaussian"]),
        (TOP + '[simulate]\nkind = "replay"\nfile = "gone.csv"\n', ["gone.csv", "no such file"]),
        (TOP + '[simulate]\nkind = "voter-model"\ngroups = ["a", "c", "b"]\nedges = []\ninnate = [0, 0, 1]\n',
         ["key simulate.groups", "in order"]),
        ('arms = [{name = "a", max = 0.5}, "b"]\nproblem = {kind = "best-arm"}\nsimulate = {kind = "bernoulli", p = [0, 1]}\n',
         ["key simulate.kind", "[0, 0.5]", "'a'"]),
        ('arms = "gone.csv"\nproblem = {kind = "best-arm"}\n', ["gone.csv", "no such file"]),
    ],
)  # fmt: skip
def test_bad_studies(study, text, words):
    message = refused(study(text), *words)
    assert message.count(".csv" if "no such file" in words else "study.toml") == 1


ALLOCATION = 'arms = "t.csv"\n[problem]\nkind = "sample-allocation"\nbudget = 20\n'


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("", ["no header"]),
        ("stratum,N\n", ["no rows"]),
        ("N,S\n5,1\n", ["line 1", "no column 'stratum'", "'arm'"]),
        ("stratum,S\na,1\n", ["line 1", "no column 'N'", "'size'"]),
        ("stratum,arm,N\na,b,5\n", ["line 1", "'stratum' and 'arm' mean the same"]),
        ("stratum,N\na,5\nb,\n", ["line 3", "column 'N'", "empty"]),
        ("stratum,N\na,5\nb,x\n", ["line 3", "column 'N'", "'x' is not a number"]),
        ("stratum;N\na;5\nb;2,5\n", ["line 3", "column 'N'", "decimals with a point"]),
        ("stratum,N\na,5\n\nb,nan\n", ["line 4", "column 'N'", "not a finite number"]),
        ("stratum,N\na,5\nb,-2\n", ["line 3", "column 'N'", "positive"]),
        ("stratum,N\na,5\nb,5\na,6\n", ["line 4", "column 'stratum'", "already in line 2"]),
        ("stratum,N\na,5,7\n", ["line 2", "3 cells", "2 columns"]),
        ("stratum,N,min\na,5,0\n", ["line 1", "no column 'max'"]),
        ("stratum,N,min,max\na,5,0,\n", ["line 2", "column 'max'", "empty"]),
        ("stratum,N,min,max\na,5,3,2\n", ["line 2", "column 'min'", "low < high"]),
        ("stratum,N,kind\na,5,gaussian\n", ["line 2", "column 'kind'", "bernoulli"]),
        ('stratum,N\n"a,5\n', ["line 2", "not a CSV table"]),
        ("stratum,N,lower\na,5,1.5\n", ["line 2", "column 'lower'", "whole number"]),
    ],
)
def test_bad_tables(study, table, words):
    refused(study(ALLOCATION, t=table), "t.csv", *words)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("a,b\nx,y\n", ["line 1", "no column 'stratum'"]),
        ("u,w\nx,y\n", ["line 1", "no column 'v'", "other end"]),
        ("u,v\nx,y\ny,\n", ["line 3", "column 'v'", "empty"]),
        ("arm,u,v\na,x,y\na,y,z\n", ["line 3", "already in line 2", "each edge"]),
        ("u,v,min\nx,y,0\n", ["line 1", "no column 'max'"]),
    ],
)
def test_bad_edge_lists(study, table, words):
    text = 'arms = "t.csv"\n[problem]\nkind = "path"\nsource = "x"\ntarget = "y"\n'
    refused(study(text, t=table), "t.csv", *words)


def test_a_row_of_a_program_that_is_no_column(study):
    text = 'arms = "t.csv"\n[problem]\nkind = "program"\nA = ["weight"]\nupper = 1\n'
    refused(study(text, t="arm,wieght\na,1\n"), "t.csv", "line 1", "no column 'weight'", "row 0 of A")
    refused(study(text, t="arm,weight\na,x\n"), "t.csv", "line 2", "column 'weight'", "not a number")


def test_truth_columns_that_make_no_sense(study):
    with pytest.raises(StudyError, match=r"t\.csv, line 3, column 'S': -1.0 is negative"):
        load(study(ALLOCATION, t="stratum,N,S\na,5,1\nb,5,-1\n")).theta()
    with pytest.raises(StudyError, match=r"t\.csv, line 1: .*delete one"):
        load(study(ALLOCATION, t="stratum,N,S,variance\na,5,1,1\nb,5,1,1\n")).theta()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("arm,value\na,0.5\nd,0.5\n", ["line 3", "column 'arm'", "'d'"]),
        ("arm,value\na,0.5\nb,1.5\n", ["line 3", "column 'value'", "[0, 1]"]),
        ("arm,value\na,0.5\nb,\n", ["line 3", "column 'value'", "empty"]),
        ("arm,value\na,0.5\nb,inf\n", ["line 3", "column 'value'", "finite"]),
        ("arm,value\na,0.5\nb,yes\n", ["line 3", "column 'value'", "'yes'"]),
        ("arm,answer\na,0.5\n", ["line 1", "no column 'value'", "'answer'"]),
    ],
)
def test_bad_observations(tmp_path, data, words):
    path = tmp_path / "d.csv"
    path.write_text(data)
    with pytest.raises(StudyError) as caught:
        read_observations(read_table(path), sp.TopK(["a", "b", "c"], 1))
    for word in ("d.csv", *words):
        assert word in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    refused(tmp_path / "none.toml", "none.toml", "no such file")
    refused(tmp_path, "folder")
    latin = tmp_path / "latin.toml"
    latin.write_bytes('title = "Zürich"'.encode("latin-1"))
    refused(latin, "latin.toml", "UTF-8")


def test_not_a_dict():
    with pytest.raises(StudyError, match="The study: "):
        StudySpec.from_dict([1, 2])  # type: ignore[arg-type]
    with pytest.raises(StudyError, match=r"The study, key problem\.k: "):
        StudySpec.from_dict({"arms": ["a"], "problem": {"kind": "top-k", "k": np.int64(1)}})
