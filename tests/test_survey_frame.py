"""Frames of surveys: one table format, the names of the trade, and complaints that say where."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from surepick import survey
from surepick.errors import StudyError
from surepick.problems.allocate import LARGEST
from surepick.survey.figures import Figures

PLAIN = "stratum,N,S,mean,cost,domain,lower,upper,take_all,resp_rate,deff\n"


@pytest.fixture
def read(tmp_path: Path):
    def call(text: str, name: str = "frame.csv") -> survey.Frame:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return survey.read_frame(path)

    return call


def test_all_columns(read) -> None:
    frame = read(PLAIN + "a,100,2,10,1.5,North,5,50,0,0.6,1.2\nb,200,3,20,2,South,,,1,,\n")
    assert frame.strata == ("a", "b")
    assert frame.variables == ("value",)
    assert frame.N.tolist() == [100, 200]
    assert frame.S["value"].tolist() == [2, 3]
    assert frame.mean["value"].tolist() == [10, 20]
    assert frame.cost.tolist() == [1.5, 2]
    assert frame.domains == {"domain": ("North", "South")}
    assert frame.lower.tolist() == [5, 0]
    assert frame.upper.tolist() == [50, LARGEST]
    assert frame.take_all.tolist() == [False, True]
    assert frame.resp_rate.tolist() == [0.6, 1]
    assert frame.deff.tolist() == [1.2, 1]
    assert frame.lines == (2, 3)
    assert [name for name, _ in frame.groups()] == ["North", "South"]


def test_a_share_has_its_own_standard_deviation(read) -> None:
    frame = read("stratum,N,p\na,5,0.4\nb,1,0.5\n")
    answers = np.array([1, 1, 0, 0, 0])
    assert frame.S["value"][0] == pytest.approx(answers.std(ddof=1))
    assert frame.S["value"][1] == 0  # a stratum of one does not vary
    assert frame.mean["value"].tolist() == [0.4, 0.5]
    assert read("stratum,N,variance\na,5,9\n").S["value"].tolist() == [3]


def test_names_of_the_trade(read) -> None:
    frame = read("STRATA;Nh;M1;S1;M2;S2;DOM1;DOM2;COST;CENS\nx;10;1;2;3;4;1;north;5;0\ny;20;5;6;7;8;1;south;9;1\n")
    assert frame.variables == ("1", "2")
    assert frame.S["2"].tolist() == [4, 8]
    assert frame.mean["1"].tolist() == [1, 5]
    assert [name for name, _ in frame.groups()] == ["DOM1=1", "DOM2=north", "DOM2=south"]
    assert frame.take_all.tolist() == [False, True]
    assert read("strata,Nh,Sh,ch\na,3,1,2\n").cost.tolist() == [2]


def test_several_variables_in_any_case(read) -> None:
    frame = read("stratum,N,S_Income,mean_income,p_smoker\na,10,4,2,0.3\n")
    assert frame.variables == ("Income", "smoker")
    assert frame.mean["Income"].tolist() == [2]


def test_what_is_not_used_is_named(read) -> None:
    assert read("stratum,N,S,resp_rat,note\na,3,1,0.5,x\n").ignored == ("resp_rat", "note")


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1.234", "0.5"], [1.234, 0.5]),
        (["1,5", "2,25"], [1.5, 2.25]),
        (["1.234,5", "2.000"], [1234.5, 2000]),
        (["1,234.5", "2,000"], [1234.5, 2000]),
        (["1,000", "0.5"], [1000, 0.5]),
        (["1,000", "0,5"], [1, 0.5]),
        (["1'000", "1 000 000", "2,5"], [1000, 1e6, 2.5]),
        (["1,234,567", "1,000"], [1234567, 1000]),
        (["1e3", "-2.5E-1"], [1000, -0.25]),
        (["12", ".5", "5."], [12, 0.5, 5]),
    ],
)
def test_figures(cells: list[str], values: list[float]) -> None:
    figures = Figures.of(cells)
    assert [figures.read(cell) for cell in cells] == [(value, "") for value in values]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["1,000", "5"], "may mean 1000 or 1.000"),
        (["1.500", "0,5"], "may mean 1500 or 1.500"),
        (["0.25", "0,25"], "both decimal points and decimal commas"),
        (["1_000"], "not a number"),
        (["nan"], "not a number"),
        (["1e999"], "not a finite number"),
        (["12 34"], "not a number"),
        (["1,2,3"], "not a number"),
    ],
)
def test_what_is_not_clear_is_refused(cells: list[str], said: str) -> None:
    assert said in Figures.of(cells).read(cells[0])[1]


def test_points_between_semicolons_may_stand_between_thousands(read) -> None:
    with pytest.raises(StudyError, match=r"line 2, column 'N': '4\.000' may mean 4000 or 4\.000"):
        read("stratum;N;S\na;4.000;1\nb;300;2\n")
    assert read("stratum;N;S\na;4000;1.250\nb;300;0.5\n").S["value"].tolist() == [1.25, 0.5]
    assert read("stratum,N,S\na,4.000,1\nb,300,2\n").N.tolist() == [4, 300]


def test_what_r_writes_for_nothing(read) -> None:
    frame = read('"stratum","N","S","lower"\n"NA",10,1,NA\n"EU",20,2,3\n')
    assert frame.strata == ("NA", "EU")
    assert frame.lower.tolist() == [0, 3]
    with pytest.raises(StudyError, match="line 2, column 'S': the cell is empty"):
        read("stratum,N,S\na,4,NA\n")


def test_a_per_cent_is_told_how_to_be_written(read) -> None:
    with pytest.raises(StudyError, match=r"'62,5 %' is not a number; write 62,5 % as 0\.625"):
        read("stratum;N;S;resp_rate\na;4;1;62,5 %\n")


def test_semicolons_and_tabs(read) -> None:
    frame = read("stratum;N;S\na;1.000;1,5\nb;20.000;2.000,25\n")
    assert frame.N.tolist() == [1000, 20000]
    assert frame.S["value"].tolist() == [1.5, 2000.25]
    assert read("stratum\tN\tS\na\t10\t1,5\n").S["value"].tolist() == [1.5]


TABLE = {"stratum": ["a", "b"], "N": [10, 20], "S": [1.5, 2.0], "lower": [None, 3], "domain": ["x", None]}


@pytest.mark.parametrize("kind", ["dict", "frame", "parquet", "excel", "excel called csv"])
def test_other_tables(kind: str, tmp_path: Path) -> None:
    source: object = TABLE
    if kind != "dict":
        source = pd.DataFrame(TABLE)
    if kind == "parquet":
        source = tmp_path / "frame.parquet"
        pd.DataFrame(TABLE).to_parquet(source)
    if kind.startswith("excel"):
        pytest.importorskip("openpyxl")
        source = tmp_path / "frame.xlsx"
        pd.DataFrame(TABLE).to_excel(source, index=False)
        if kind.endswith("csv"):
            source = source.rename(tmp_path / "frame.csv")
    frame = survey.read_frame(source)
    assert frame.strata == ("a", "b")
    assert frame.S["value"].tolist() == [1.5, 2]
    assert frame.lower.tolist() == [0, 3]
    assert frame.domains == {"domain": ("x", "")}
    assert survey.read_frame(frame) is frame


def test_an_old_excel_file_and_a_zip(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100))
    with pytest.raises(StudyError, match=r"old format \.xls; save it as"):
        survey.read_frame(tmp_path / "a.csv")
    pytest.importorskip("openpyxl")
    (tmp_path / "b.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(StudyError, match="no Excel table"):
        survey.read_frame(tmp_path / "b.xlsx")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("N,S\n1,2\n", "line 1: there is no column stratum"),
        ("stratum,S\na,2\n", "line 1: there is no column N"),
        ("stratum,N,S\na,10,1\na,20,1\n", "line 3, column 'stratum': 'a' is already the name in"),
        ("stratum,N,S\na,10,1\n,20,1\n", "line 3, column 'stratum': the stratum has no name"),
        ("stratum,N,S\na,0,1\n", "line 2, column 'N': 0 is not a positive number"),
        ("stratum,N,S\na,,1\n", "line 2, column 'N': the cell is empty"),
        (
            "stratum,N,S\na,10,\n",
            "line 2, column 'S': the cell is empty; give the stratum's S; 0 says that all answers are equal",
        ),
        ("stratum,N,S\na,10,-1\n", "line 2, column 'S': -1 is not a number of at least 0"),
        ("stratum,N,S\na,10,x\n", "line 2, column 'S': 'x' is not a number"),
        ("stratum,N,p\na,10,30\n", "line 2, column 'p': 30 is not a share from 0 to 1"),
        ("stratum,N,S,resp_rate\na,10,1,60\n", "above 0 and at most 1; 60 % is 0.6"),
        ("stratum,N,S,cost\na,10,1,0\n", "column 'cost': 0 is not a positive number"),
        ("stratum,N,S,lower\na,10,1,2.5\n", "column 'lower': 2.5 is not a whole number"),
        ("stratum,N,S,lower,upper\na,10,1,5,4\n", "column 'lower': at least 5 interviews, but at most 4"),
        ("stratum,N,S,take_all\na,10,1,maybe\n", "column 'take_all': 'maybe' is neither 1"),
        ("stratum,N,S,variance\na,10,1,1\n", "both say how much 'value' varies"),
        ("stratum,N,S,sd\na,10,1,1\n", "the columns 'S' and 'sd' mean the same"),
        ("stratum,N,S2\na,10,1\n", "it may be a variance, or the S of a second variable"),
        ('stratum,N,S\na,"1,000",1\n', "line 2, column 'N': '1,000' may mean 1000 or 1.000"),
        ("stratum,N,S\n", "no rows"),
    ],
)
def test_complaints_say_where(read, text: str, said: str) -> None:
    with pytest.raises(StudyError) as raised:
        read(text)
    assert said in str(raised.value)
    assert "frame.csv" in str(raised.value)


@pytest.mark.parametrize("source", [3, None, [1, 2], pd.DataFrame, {"N": [1, 2], "S": [1]}, {"N": 3}, {}])
def test_what_is_no_frame(source: object) -> None:
    with pytest.raises(StudyError):
        survey.read_frame(source)


def test_rows_of_a_data_frame_are_counted_as_in_python() -> None:
    with pytest.raises(StudyError, match=r"The frame, row 1 \(the first is 0\), column 'S': -2 is not"):
        survey.read_frame({"stratum": ["a", "b"], "N": [1, 2], "S": [1, -2]})


def test_s_is_not_needed_where_everybody_is_asked(read) -> None:
    frame = read("stratum,N,S,take_all\na,10,,1\nb,10,2,\n")
    assert frame.S["value"].tolist() == [0, 2]


def test_a_plan_can_be_read_as_a_frame(tmp_path: Path) -> None:
    made = survey.plan({"stratum": ["a", "b"], "N": [10, 20], "S": [1, 2]}, budget=6)
    frame = survey.read_frame(made.write(tmp_path / "plan.csv"))
    assert frame.N.tolist() == [10, 20]
    assert "n" in frame.ignored
