"""surepick allocate."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import surepick as sp

STRATA = "stratum,N,S\nnorth,100,2\nsouth,300,1.5\nwest,4,9\n"


@pytest.fixture
def strata(tmp_path):
    path = tmp_path / "strata.csv"
    path.write_text(STRATA)
    return path


def test_allocate(ask, cli, strata, tmp_path):
    answer = ask("allocate", strata, "--budget", 50, "--repeats", "--out", tmp_path / "out.csv")
    best = sp.allocate([100, 300, 4], [4, 2.25, 81], 50)
    assert answer["interviews"] == best.tolist()
    weights = np.array([100, 300, 4]) / 404
    assert answer["standard_error"] == pytest.approx(np.sqrt((weights**2 * [4, 2.25, 81] / best).sum()))
    assert answer["standard_error"] >= answer["standard_error_neyman"]
    assert sum(answer["neyman"]) == pytest.approx(50)
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert [int(row["interviews"]) for row in rows] == best.tolist()
    assert [row["stratum"] for row in rows] == ["north", "south", "west"]
    out = cli("allocate", strata, "--budget", 50)[1]
    assert "Standard error" in out
    assert "west" in out


def test_allocate_with_bounds(ask, strata):
    answer = ask("allocate", strata, "--budget", 50, "--cap-at-size", "--lower", 3)
    assert answer["interviews"] == sp.allocate([100, 300, 4], [4, 2.25, 81], 50, lower=3, upper=[100, 300, 4]).tolist()
    assert answer["finite_population"]
    assert ask("allocate", strata, "--budget", 50, "--upper", 20, "--repeats")["interviews"] == [20, 20, 10]
    assert ask("allocate", strata, "--budget", 50, "--upper", 20)["interviews"] == [20, 20, 4]
    census = ask("allocate", strata, "--budget", 1000)
    assert census["interviews"] == [100, 300, 4]
    assert census["taken_whole"] == ["north", "south", "west"]
    assert census["standard_error"] == 0


def test_allocate_by_another_column_and_without_spread(ask, strata):
    strata.write_text("arm,size,S1,S2\na,10,1,0\nb,20,3,0\n")
    assert ask("allocate", strata, "--budget", 10, "--s-column", "S1")["S"] == [1, 3]
    flat = ask("allocate", strata, "--budget", 10, "--s-column", "s2")
    assert flat["interviews"] == [3, 7]  # in proportion to the sizes
    assert flat["neyman"] == pytest.approx([10 / 3, 20 / 3])
    assert flat["standard_error"] == 0


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        (STRATA, ["--budget", 2], ["strata.csv", "number of strata, 3"]),
        (
            STRATA.replace("S\n", "S,lower\n").replace("9\n", "9,5\n").replace("2\n", "2,1\n").replace("1.5\n", "1.5,1\n"),
            ["--budget", 50],
            ["strata.csv", "line 4", "column 'N'", "at most 4, but at least 5"],
        ),
        (STRATA.replace("300", "0.3"), ["--budget", 50], ["strata.csv", "line 3", "column 'N'", "--repeats"]),
        (STRATA.replace("S\n", "S1\n"), ["--budget", 50], ["strata.csv", "--s-column", "S1"]),
        (STRATA.replace("1.5", "-1.5"), ["--budget", 50], ["strata.csv", "line 3", "column 'S'", "negative"]),
        (STRATA.replace("300", "nan"), ["--budget", 50], ["strata.csv", "line 3", "column 'N'"]),
        (STRATA.replace("300", "0"), ["--budget", 50], ["strata.csv", "line 3", "column 'N'", "positive"]),
    ],
)
def test_allocate_refuses(cli, strata, table, options, words):
    strata.write_text(table)
    code, out, err = cli("allocate", strata, *options)
    assert (code, out) == (2, "")
    assert all(word in err for word in words), err


def test_a_stratum_that_comes_twice_is_refused(cli, tmp_path):
    file = tmp_path / "strata.csv"
    file.write_text("stratum,N,S\na,5,1\nb,5,1\na,7,2\n")
    code, out, err = cli("allocate", file, "--budget", 9)
    assert (code, out) == (2, "")
    said = " ".join(err.split())
    assert "line 4" in said
    assert "'a' is already in line 2" in said


def test_interviews_that_the_bounds_do_not_allow_are_named(ask, cli, strata):
    code, out, err = cli("allocate", strata, "--budget", 60, "--upper", 10)
    assert (code, err) == (0, "")
    assert "36 of the 60 interviews are not spent" in " ".join(out.split())
    assert ask("allocate", strata, "--budget", 60, "--upper", 10)["unspent"] == 36


def test_the_table_of_strata_is_never_overwritten(cli, strata):
    before = strata.read_bytes()
    code, _, err = cli("allocate", strata, "--budget", 60, "--out", strata)
    assert code == 2
    assert "give another file" in " ".join(err.split())
    assert strata.read_bytes() == before


@pytest.mark.parametrize("option", [("--lower", 0), ("--budget", -4)])
def test_bad_options_are_not_blamed_on_the_file(cli, strata, option):
    code, _, err = cli("allocate", strata, *(() if option[0] == "--budget" else ("--budget", 60)), *option)
    assert code == 2
    assert err.startswith(option[0])
