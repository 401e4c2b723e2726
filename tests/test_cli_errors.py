"""The command line when something is wrong: one sentence and exit code 2, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import surepick as sp

from .test_cli import STUDY, TRUTH


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY + TRUTH)
    return path


@pytest.mark.parametrize(
    "args",
    [["run", "none.toml"], ["hardness", "none.toml"], ["check", "none.toml", "d.csv"], ["allocate", "none.csv", "--budget", "5"]],
)
def test_missing_files(cli, args):
    code, out, err = cli(*args)
    assert (code, out) == (2, "")
    assert "no such file" in err
    assert err.count("\n") == 1
    code, out, err = cli(*args, "--json")
    assert (code, err) == (2, "")
    error = json.loads(out)["error"]
    assert error["type"] == "StudyError"
    assert "none." in error["message"]


def test_bad_settings(cli, study):
    for option, value in (
        ("--delta", "1.5"),
        ("--policy", "best"),
        ("--confidence", "sure"),
        ("--seed", "-1"),
        ("--batch", "0"),
        ("--budget", "-4"),
    ):
        code, out, err = cli("run", study, option, value)
        assert (code, out) == (2, ""), option
        assert option.lstrip("-") in err
    code, out, err = cli("run", study, "--spend")
    assert (code, out) == (2, "")
    assert "spend=True needs a budget" in err
    assert cli("check", study, study, "--next", "-1")[0] == 2
    assert cli("run", study, "--json", "--delta", "1.5")[1].startswith('{\n  "error"')


def test_bad_typing(cli, study):
    code, out, err = cli("run", study, "--delta", "x")
    assert (code, out) == (2, "")
    assert "--delta" in err
    code, out, err = cli("run", "--json")
    assert (code, err) == (2, "")
    assert "FILE" in json.loads(out)["error"]["message"]
    assert cli("rnu")[0] == 2


def test_what_cannot_be_written(cli, study, tmp_path):
    strata = tmp_path / "strata.csv"
    strata.write_text("stratum,N,S\na,9,1\n")
    code, _, err = cli("run", study, "--plot", strata)
    assert code == 2
    assert "strata.csv: a folder is wanted" in err
    code, _, err = cli("simulate", study, "--plot", strata / "pictures")
    assert code == 2
    assert "a folder is wanted" in err
    code, _, err = cli("allocate", strata, "--budget", 9, "--out", tmp_path / "no" / "out.csv")
    assert code == 2
    assert "out.csv" in err


def test_help_and_version(cli):
    code, out, _ = cli("--help")
    assert code == 0
    assert all(name in out for name in ("demo", "run", "check", "allocate", "hardness"))
    for name in ("demo", "run", "check", "allocate", "hardness"):
        code, out, _ = cli(name, "--help")
        assert code == 0
        assert "--json" in out
    assert cli("--version")[1].strip() == sp.__version__


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom surepick.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'numba', 'matplotlib', 'pydantic'} & set(sys.modules)\nassert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL, timeout=60, env=os.environ)
