"""A disk that is full: a clear error, nothing that was acknowledged is lost, and the study goes on when there is room."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import surepick as sp
from surepick.errors import StorageError

from . import workers
from .test_durable import TWO

ROOM = 1_500_000  # bytes
LIMIT = 1_000_000  # bytes of a file


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, with little room."""
    folder = tmp_path / "small"
    folder.mkdir()
    try:
        words = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        why = done.stderr.strip()
    except OSError as error:
        why = str(error)
    if why or not os.path.ismount(folder):
        pytest.skip(f"A small disk cannot be mounted here without rights ({why}); files of a limited size are tested instead.")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(says: workers.Says, url: str) -> None:
    """Ask, tell and record until there is no more room."""
    study = sp.Study.open(url, who="ana")
    try:
        for k in range(100_000):
            (ticket,) = study.ask(1, worker="ana")
            says("telling", ticket.id, k % 2)
            study.tell(ticket, k % 2)
            says("told", ticket.id, k % 2)
            study.record("red", [0.25] * 200, key=f"page {k}")
            says("recorded", f"page {k}")
    except StorageError as error:
        says("refused", error)


def fill_small_files(says: workers.Says, url: str) -> None:
    """The same, where no file may grow beyond a limit."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
    fill(says, url)


def filled(path: Path, lines: list[list[str]]) -> sp.Study:
    """What was acknowledged is there, once, and the error says what is wrong."""
    assert lines[-1][0] == "refused", lines[-1]
    why = " ".join(lines[-1][1:])
    assert str(path) in why
    assert "full" in why
    assert "Nothing was recorded" in why or "may not be on the disk" in why
    study = sp.Study.open(path, who="ana")
    entries = study.history(limit=1_000_000)
    answers = {entry.ticket: entry.value for entry in entries if entry.ticket is not None}
    told = {int(line[1].partition("-")[0]): float(line[2]) for line in lines if line[0] == "told"}
    telling = {int(line[1].partition("-")[0]): float(line[2]) for line in lines if line[0] == "telling"}
    keys = [entry.key for entry in entries if entry.key is not None]
    recorded = {line[2] for line in lines if line[0] == "recorded"}
    assert len(told) > 10
    assert told.items() <= answers.items() <= telling.items()
    assert sum(entry.ticket is not None for entry in entries) == len(answers)
    assert len(keys) == 200 * len(set(keys))
    assert recorded <= {key.removeprefix("page ") for key in keys}
    assert study.verify().faults == []
    return study


def goes_on(study: sp.Study) -> None:
    before = study.status().samples
    for ticket in study.ask(2, worker="ana"):
        study.tell(ticket, 0.5)
    assert study.status().samples == before + 2
    assert study.verify().faults == []
    study.disconnect()


def test_a_small_disk_that_is_full(small: Path, tmp_path: Path) -> None:
    path, ballast = small / "study.db", small / "ballast"
    ballast.write_bytes(bytes(ROOM // 10))
    sp.Study.create(path, {**TWO, "delta": 1e-12}).disconnect()
    with workers.processes(tmp_path, fill, (str(path),)) as running:
        one, said = running[0]
        one.join(120)
        assert one.exitcode == 0, workers.said(said)[-1:]
        lines = workers.said(said)
    study = filled(path, lines)  # it can be read on a full disk
    ballast.unlink()
    goes_on(study)


def test_files_that_may_not_grow(tmp_path: Path) -> None:
    """Without rights to mount anything: a process whose files may not grow beyond a limit."""
    path = tmp_path / "study.db"
    sp.Study.create(path, {**TWO, "delta": 1e-12}).disconnect()
    with workers.processes(tmp_path, fill_small_files, (str(path),)) as running:
        one, said = running[0]
        one.join(120)
        assert one.exitcode == 0, workers.said(said)[-1:]
        lines = workers.said(said)
    goes_on(filled(path, lines))  # here files may grow
