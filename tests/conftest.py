"""Settings and helpers that the tests share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from surepick.cli import main
from surepick.engine import start

collect_ignore = ["outside"]  # a class from elsewhere, which is known only where a test imports it

start.patience = 0.0  # compile at once: most tests are about compiled code
start._told = True  # and say nothing about it

# The same examples every time, so that a green run stays green.
settings.register_profile(
    "house",
    derandomize=True,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("house")


@pytest.fixture
def cli(capsys):
    """Runs a command in this process; returns its exit code, standard output and standard error."""

    def call(*args: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in args])
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return call


@pytest.fixture
def ask(cli):
    """A command with --json that works: its answer."""

    def call(*args: object) -> dict:
        code, out, err = cli(*args, "--json")
        assert (code, err) == (0, ""), out
        return json.loads(out)

    return call


@pytest.fixture
def study(tmp_path):
    """Writes a study file and, by name, its tables; returns the path."""

    def write(text: str, **tables: str) -> Path:
        for name, table in tables.items():
            (tmp_path / f"{name}.csv").write_text(table, encoding="utf-8")
        path = tmp_path / "study.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write
