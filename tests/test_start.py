"""The first use: where compiled kernels are kept, what runs before they are compiled, and what a person who waits is told."""

from __future__ import annotations

import logging
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core.caching import NullCache

import surepick as sp
from surepick.engine import compile as room
from surepick.engine import keep, numba_dispatcher, start
from surepick.engine.loops import joint_rounds
from surepick.run.drive import drive, run_compiled

PACKAGE = Path(sp.__file__).parent
TINY = "from surepick.engine.kernels.mixtures import log_beta; print(log_beta(2.0, 3.0))"  # compiles one tiny kernel


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    """A path where nobody can make a folder, not even root: below a file."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "below"


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, nowhere: Path):
    """Says which places can be written to; returns where kernels are read from and written to."""

    def call(**good: bool) -> tuple[tuple[Path, ...], Path | None]:
        def place(name: str) -> Path:
            return tmp_path / name if good.get(name) else nowhere / name

        monkeypatch.setattr(keep, "HERE", place("package") if good.get("package") else nowhere)
        monkeypatch.setattr(keep, "key", lambda: "k")
        monkeypatch.setenv("XDG_CACHE_HOME", str(place("user")))
        monkeypatch.setattr(keep.tempfile, "gettempdir", lambda: str(tmp_path if good.get("temporary") else nowhere))
        if "chosen" in good:
            monkeypatch.setenv("NUMBA_CACHE_DIR", str(place("chosen")))
        else:
            monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
        return keep.folders.__wrapped__()

    return call


def test_kernels_are_kept_in_the_first_place_that_can_be_written_to(places, tmp_path: Path) -> None:
    every = {"package": True, "user": True, "temporary": True}
    assert places(chosen=True, **every)[1] == tmp_path / "chosen" / "surepick-k"
    assert places(chosen=False, **every)[1] == tmp_path / "package" / "__pycache__" / "surepick-k"
    assert places(**every)[1] == tmp_path / "package" / "__pycache__" / "surepick-k"
    assert places(user=True, temporary=True)[1] == tmp_path / "user" / "surepick" / "surepick-k"
    assert places(temporary=True)[1] == tmp_path / f"surepick-{os.getuid()}" / "surepick-k"
    assert places() == ((), None)


def test_what_somebody_else_has_compiled_is_read_where_it_cannot_be_written(
    places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warmed = tmp_path / "chosen" / "surepick-k"
    warmed.mkdir(parents=True)
    real = keep._writable
    monkeypatch.setattr(keep, "_writable", lambda folder: folder != warmed and real(folder))
    assert places(chosen=True, user=True) == ((warmed, tmp_path / "user" / "surepick" / "surepick-k"),
                                              tmp_path / "user" / "surepick" / "surepick-k")  # fmt: skip


def test_a_home_that_is_not_there_is_passed_over(places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places(temporary=True)
    monkeypatch.delenv("XDG_CACHE_HOME")

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(keep.Path, "home", homeless)
    assert keep.folders.__wrapped__()[1] == tmp_path / f"surepick-{os.getuid()}" / "surepick-k"


@pytest.mark.parametrize("trap", ["open to others", "a link", "somebody else's"])
def test_a_temporary_folder_that_others_can_write_to_is_not_used(
    places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trap: str
) -> None:
    """Kernels are code: who can put a file there could run what he likes as us."""
    folder = tmp_path / f"surepick-{os.getuid()}"
    if trap == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        folder.mkdir(mode=0o700)
    if trap == "open to others":
        folder.chmod(0o770)
    if trap == "somebody else's":
        other = os.getuid() + 1
        folder.rename(tmp_path / f"surepick-{other}")
        monkeypatch.setattr(keep.os, "getuid", lambda: other)
    assert places(temporary=True) == ((), None)


def test_what_was_compiled_from_other_sources_is_removed_beside_them_only(places, tmp_path: Path) -> None:
    beside, shared = tmp_path / "package" / "__pycache__" / "surepick-old", tmp_path / "user" / "surepick" / "surepick-old"
    beside.mkdir(parents=True)
    shared.mkdir(parents=True)
    places(package=True)
    places(user=True)
    assert not beside.exists()
    assert shared.exists()  # another installation may use it


# -- in processes of their own ----------------------------------------------------------------------------------------


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package, whose sources a test may change."""
    folder = tmp_path / "src" / "surepick"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(code: str, source: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1", **settings}
    env = {name: value for name, value in env.items() if value}
    return subprocess.run([sys.executable, "-W", "error", "-c", code], env=env, capture_output=True, text=True, timeout=300)


def test_nothing_needs_to_be_writable(copied: Path, nowhere: Path) -> None:
    (copied / "engine" / "__pycache__").write_text("")  # a file where the folder would be
    code = (
        "import tempfile\ndef none():\n    raise FileNotFoundError(2, 'No usable temporary directory found')\n"
        f"tempfile.gettempdir = none\n{TINY}\nfrom surepick.engine.keep import folders\nprint(folders())"
    )
    said = run(code, copied.parent, NUMBA_CACHE_DIR="", XDG_CACHE_HOME=str(nowhere), HOME=str(nowhere))
    assert (said.returncode, said.stderr) == (0, "")
    value, where = said.stdout.splitlines()
    assert (float(value), where) == (pytest.approx(math.log(1 / 12)), "((), None)")


def test_kernels_of_other_sources_are_not_used(copied: Path, tmp_path: Path) -> None:
    """Also if only a kernel that a kernel calls has changed, which numba does not notice."""
    cache, deep = str(tmp_path / "cache"), copied / "engine" / "kernels" / "divergence.py"
    code = (
        "from surepick.engine.kernels.intervals import kl_interval\n"
        "from surepick.engine import start\nstart.patience = 0.0\n"
        "print(kl_interval(0.5, 0.1), sum(kl_interval.stats.cache_misses.values()) > 0)"
    )
    first, again = (run(code, copied.parent, NUMBA_CACHE_DIR=cache) for _ in range(2))
    deep.write_text(deep.read_text() + "\n# another version\n")
    changed = run(code, copied.parent, NUMBA_CACHE_DIR=cache)
    assert [said.stdout.split()[-1] for said in (first, again, changed)] == ["True", "False", "True"], first.stderr
    assert first.stdout.split()[:-1] == changed.stdout.split()[:-1]
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_a_damaged_file_is_compiled_again(tmp_path: Path) -> None:
    first = run(TINY, PACKAGE.parent, NUMBA_CACHE_DIR=str(tmp_path))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        path.write_bytes(b"\x80\x04torn")
    again = run(TINY, PACKAGE.parent, NUMBA_CACHE_DIR=str(tmp_path))
    assert (first.stdout, again.stdout, again.stderr) == (first.stdout, first.stdout, "")
    assert [path for path in files if path.read_bytes() == b"\x80\x04torn"] == []


# -- what is said -------------------------------------------------------------------------------------------------------


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process."""
    monkeypatch.setattr(start, "_told", False)
    monkeypatch.setattr(start, "spoken", None)


@pytest.mark.usefixtures("silent")
def test_the_notice_comes_once_and_where_somebody_waits(capsys, monkeypatch: pytest.MonkeyPatch, caplog) -> None:
    with caplog.at_level(logging.INFO, "surepick"):
        start.notice()  # standard error is no terminal here
    assert capsys.readouterr() == ("", "")
    assert caplog.record_tuples == [("surepick", logging.INFO, "Compiling for this machine, once.")]
    monkeypatch.setattr(start, "_told", False)
    monkeypatch.setattr(start, "watched", lambda: True)
    start.notice()
    start.notice()
    assert capsys.readouterr() == ("", start.NOTICE + "\n")


@pytest.mark.usefixtures("silent")
def test_a_terminal_and_a_notebook_are_watched_and_a_worker_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not start.watched()
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    assert start.watched()
    monkeypatch.setattr(start, "parent_process", lambda: object())
    assert not start.watched()
    monkeypatch.setattr(start, "parent_process", lambda: None)
    monkeypatch.setattr(sys, "stderr", None)  # as under pythonw
    assert not start.watched()


@pytest.mark.usefixtures("silent")
def test_compiling_is_announced_and_small_kernels_are_not(capsys, monkeypatch: pytest.MonkeyPatch, caplog) -> None:
    monkeypatch.setattr(start, "spoken", True)

    def twice(x):
        return 2 * x

    small, large = room.small(twice), room.kernel(twice)
    monkeypatch.setattr(small, "_cache", NullCache())
    monkeypatch.setattr(large, "_cache", NullCache())
    assert small(2) == 4
    assert capsys.readouterr().err == ""
    with caplog.at_level(logging.INFO, "surepick"):
        assert large(2) == 4
        assert large(2.0) == 4.0
    assert capsys.readouterr().err == start.NOTICE + "\n"
    assert [r.getMessage().partition(" in ")[0] for r in caplog.records][:2] == [
        "Compiling for this machine, once.", "Compiled test_start.twice",
    ]  # fmt: skip


@pytest.mark.usefixtures("silent")
def test_commands_speak_unless_their_answer_is_json(cli, study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("surepick.cli.watch.looks", lambda *_, **__: (start.notice() for _ in "1"))  # as if it compiled
    file = study('arms = ["a", "b"]\nbudget = 0\n[problem]\nkind = "best-arm"\n[simulate]\nkind = "bernoulli"\np = [0.5, 0.4]\n')
    code, _, err = cli("run", file, "--json")
    assert (code, err) == (0, "")
    monkeypatch.setattr(start, "_told", False)
    code, _, err = cli("run", file)
    assert (code, err) == (0, start.NOTICE + "\n")


# -- until then -----------------------------------------------------------------------------------------------------------


RUNS = """
import json, surepick as sp
from surepick.run.drive import drive, run_compiled

def certificates():
    coins, five = [0.9, 0.8, 0.5, 0.4, 0.2, 0.1], [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)]
    unbounded = [sp.Arm(name, kind="subgaussian", scale=1.0) for name in "abc"]
    for problem, world, settings in (
        (sp.TopK(6, k=2), sp.Bernoulli(coins), {}),
        (sp.TopK(6, k=2), sp.Bernoulli(coins), {"confidence": "kt-kl", "policy": "coci"}),
        (sp.TopK(6, k=2), sp.Bernoulli(coins), {"confidence": "bernstein", "policy": "clucb"}),
        (sp.BestOfEach(6, [0, 0, 0, 1, 1, 1]), sp.Beta([0.8, 0.5, 0.4, 0.7, 0.3, 0.2], 4.0), {}),
        (sp.BestArm(unbounded), sp.Gaussian([1.0, 0.0, -0.5], 1.0), {}),
        (sp.SpanningTree(five), sp.Bernoulli([0.9, 0.8, 0.3, 0.7, 0.2]), {}),
        (sp.SampleAllocation([10, 20, 30], budget=6), sp.Bernoulli([0.5, 0.2, 0.05]), {}),
    ):
        explorer = sp.Explorer(problem, 0.1, budget=300, **settings)
        drive(explorer, world, seed=3)
        yield json.dumps(explorer.certificate().to_dict())
"""


def test_python_finds_what_compiled_code_does_to_the_last_bit(tmp_path: Path) -> None:
    scope: dict[str, Any] = {}
    exec(RUNS, scope)
    code = (
        RUNS + "from surepick.engine import numba_dispatcher, start\nstart.patience = float('inf')\n"
        "print(*certificates(), sep='\\n')\n"
        "from surepick.engine.kernels import exchanges\n"
        "print(exchanges.weakest_of.spent > 0, len(exchanges.weakest_of.overloads), numba_dispatcher.watch.total > 0)"
    )
    said = run(code, PACKAGE.parent, NUMBA_CACHE_DIR=str(tmp_path))
    *found, how = said.stdout.splitlines()
    assert how == "True 0 True", said.stderr  # Python ran it, and only what is small was compiled
    assert found == list(scope["certificates"]())


def test_what_takes_long_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def halve(values):
        for i in range(len(values)):
            values[i] *= 0.5
        return len(values)

    halve.__module__ = "surepick.engine.kernels.exchanges"  # where kernels are patient
    patient = room.kernel(halve)
    monkeypatch.setattr(patient, "_cache", NullCache())
    monkeypatch.setattr(NullCache, "filled", lambda *_: False, raising=False)
    monkeypatch.setattr(start, "patience", 1.0)
    few, many = np.ones(4), np.ones(numba_dispatcher.LITTLE + 1)
    assert patient(few) == 4
    assert not patient.overloads
    assert patient.spent > 0
    assert patient(many) == len(many)  # at once
    assert len(patient.overloads) == 1
    single = np.ones(4, dtype=np.float32)
    assert patient(single) == 4
    assert len(patient.overloads) == 1
    patient.spent = 1.0
    assert patient(single) == 4
    assert len(patient.overloads) == 2
    assert (few == 0.5).all()
    assert (many == 0.5).all()
    assert (single == 0.25).all()


def test_a_loop_is_compiled_when_a_run_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """And takes the same samples, whenever that is."""
    loop, used = joint_rounds.run, []
    monkeypatch.setattr("surepick.run.drive.run_compiled", lambda *args: used.append(args[1].samples) or run_compiled(*args))
    monkeypatch.setattr(numba_dispatcher.Kernel, "ready", lambda self, *args: False)
    found = []
    for patience in (0.0, 0.02, math.inf):
        monkeypatch.setattr(start, "patience", patience)
        monkeypatch.setattr(loop, "spent", 0.0)
        explorer = sp.Explorer(sp.TopK(5, k=2), 0.05)
        drive(explorer, sp.Bernoulli([0.60, 0.50, 0.35, 0.25, 0.10]), seed=1)
        found.append((explorer.samples, explorer.counts.tolist(), explorer.certificate().to_dict()))
    assert found[0] == found[1] == found[2]
    assert used[0] == 5
    assert len(used) == 2
    assert 5 < used[1] < found[0][0]


def test_kernels_that_others_call_cannot_be_called_from_python_by_mistake() -> None:
    """They are compiled without an entry for Python, which would be a null pointer; called from there, they get one."""

    def inner(x):
        return x + 1

    kernel = room.kernel(inner)
    kernel._cache = NullCache()

    @njit
    def outer(x):
        return kernel(x) * 2

    assert outer(1) == 4
    (made,) = kernel.overloads.values()
    assert not numba_dispatcher.callable_from_python(made)
    assert kernel(1) == 2
    (made,) = kernel.overloads.values()
    assert numba_dispatcher.callable_from_python(made)
    assert outer(2.0) == 6.0


def test_simulations_compile_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "patience", 7.0)
    seen = []
    monkeypatch.setattr("surepick.lab.trials.drive", lambda *_, **__: seen.append(start.patience))
    sp.simulate(sp.TopK(3, k=1), sp.Bernoulli([0.9, 0.5, 0.1]), "auto", runs=2, executor=1, progress=False)
    assert seen == [0.0, 0.0]
    assert start.patience == 7.0
