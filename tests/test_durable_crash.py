"""Durable studies under kills, races and failures: what was acknowledged is there, once, and the study goes on."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

import surepick as sp
from surepick.errors import ConflictError, StorageError, SurepickError
from surepick.study.durable import database as room

from . import databases, workers
from .test_durable import FIVE, POOLED, TWO, score


@pytest.fixture(scope="module")
def server() -> Iterator[databases.Server]:
    with databases.server() as started:
        yield started


@pytest.fixture(params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/study.db" if request.param == "sqlite" else request.getfixturevalue("server").url()


# -- races ----------------------------------------------------------------------------------------------------------------


def done(running: list) -> list[list[list[str]]]:
    """What all have said, when they have come to their end."""
    for one, path in running:
        one.join(300)
        assert one.exitcode == 0, workers.said(path)[-1:]
    return [workers.said(path) for _, path in running]


def race(url: str, folder: Path, many: int, several: int) -> None:
    """Every ticket is told by two processes, with different values: one of them wins, and the other one is told who."""
    study = sp.Study.create(url, {**FIVE, "arms": 50, "delta": 1e-12, "problem": {"kind": "top-k", "k": 3}})
    tickets = [ticket for _ in range(0, many, 500) for ticket in study.ask(min(500, many))][:many]
    orders: list[list[tuple[str, float]]] = [[] for _ in range(several)]
    for k, ticket in enumerate(tickets):
        first, second = random.Random(k).sample(range(several), 2)
        orders[first].append((ticket.id, (k % 50) / 100))
        orders[second].append((ticket.id, (k % 50 + 50) / 100))
    with workers.processes(folder, workers.race, *((url, k, orders[k]) for k in range(several))) as running:
        lines = [line for found in done(running) for line in found]
    heard: dict[str, list[tuple[str, float]]] = {}
    for ticket, how, value in lines:
        heard.setdefault(ticket, []).append((how, float(value)))
    entries = study.history(limit=100_000)
    kept = {entry.ticket: entry.value for entry in entries}
    assert len(kept) == len(entries) == many
    for ticket in tickets:
        answers = heard[ticket.id]
        assert sorted(how for how, _ in answers) == ["lost", "won"], ticket
        assert {value for _, value in answers} == {kept[ticket.number]}, ticket  # the loser is told the value that stays
    assert sp.Study.open(url).certificate().to_dict() == study.certificate().to_dict()
    study.disconnect()


def test_one_of_two_answers_wins(shared: str, tmp_path: Path) -> None:
    race(shared, tmp_path, 100, 3)


@pytest.mark.slow
def test_one_of_two_answers_wins_in_thousands(shared: str, tmp_path: Path) -> None:
    race(shared, tmp_path, 5_000, 8)


def test_workers_never_share_a_ticket(shared: str, tmp_path: Path) -> None:
    study = sp.Study.create(shared, {**FIVE, "delta": 1e-12})
    with workers.processes(tmp_path, workers.pairs, *((shared, f"w{k}", 25) for k in range(3))) as running:
        ids = [line[0] for found in done(running) for line in found]
    assert len(ids) == len(set(ids)) == 75
    assert study.status().samples == 75
    assert study.verify().ok
    study.disconnect()


def test_several_create_studies_in_a_new_database(shared: str, tmp_path: Path) -> None:
    with workers.processes(tmp_path, workers.create, *((shared, f"study {k}") for k in range(4))) as running:
        done(running)
    assert sorted(one.name for one in sp.Study.studies(shared)) == [f"study {k}" for k in range(4)]
    assert [one.samples for one in sp.Study.studies(shared)] == [1] * 4


# -- kills ----------------------------------------------------------------------------------------------------------------


def killed(url: str, folder: Path, times: int, server: databases.Server | None = None) -> None:
    """Workers are killed, or the server is; whatever was acknowledged is there, and nothing twice."""
    sp.Study.create(url, {**FIVE, "delta": 1e-12}).disconnect()
    chance = random.Random(1)
    acknowledged: dict[int, float] = {}
    told: dict[int, set[float]] = {}
    keys: set[str] = set()
    for k in range(times):
        with workers.processes(folder, workers.work, (url, "ana", 2 * k), (url, "bo", 2 * k + 1)) as running:
            until = time.monotonic() + 60
            while not all(len(workers.said(path)) > 1 for _, path in running):
                assert time.monotonic() < until
                time.sleep(0.01)
            time.sleep(chance.uniform(0.0, 0.2))
            if server is not None:
                server.kill()
                server.start()
                many = [len(workers.said(path)) for _, path in running]
                while not all(len(workers.said(path)) > m + 2 for (_, path), m in zip(running, many, strict=True)):  # they go on
                    assert time.monotonic() < until, [workers.said(path)[-1] for _, path in running]
                    time.sleep(0.01)
            for one, _ in running:
                one.kill()
                one.join()
            for what, number, *value in [line for _, path in running for line in workers.said(path)]:
                assert what != "failed", (number, value)
                if what == "recorded":
                    keys.add(number)
                    continue
                told.setdefault(int(number), set()).add(float(value[0]))
                if what == "told":
                    acknowledged[int(number)] = float(value[0])
    study = sp.Study.open(url)
    entries = study.history(limit=1_000_000)
    answers = [(entry.ticket, entry.value) for entry in entries if entry.ticket is not None]
    there = dict(answers)
    assert len(answers) == len(there)  # none twice
    assert {number: there.get(number) for number in acknowledged} == acknowledged  # none lost
    assert all(value in told[number] for number, value in answers)  # nothing that nobody told
    found = [entry.key for entry in entries if entry.key is not None]
    assert keys <= set(found)
    assert all(found.count(key) == 2 for key in set(found))
    assert study.verify().faults == []
    assert len(acknowledged) >= times
    study.tell(study.ask(1, worker="ana")[0], 0.5)  # it goes on
    study.disconnect()


def test_workers_that_are_killed_lose_nothing(shared: str, tmp_path: Path) -> None:
    killed(shared, tmp_path, 4)  # two workers each time, on two databases


def test_a_server_that_is_killed_loses_nothing(server: databases.Server, tmp_path: Path) -> None:
    killed(server.url(), tmp_path, 2, server)


@pytest.mark.slow
def test_workers_that_are_killed_often_lose_nothing(shared: str, tmp_path: Path) -> None:
    killed(shared, tmp_path, 100)


@pytest.mark.slow
def test_a_server_that_is_killed_often_loses_nothing(server: databases.Server, tmp_path: Path) -> None:
    killed(server.url(), tmp_path, 50, server)


# -- failures -------------------------------------------------------------------------------------------------------------


class Broken(Exception):  # noqa: N818
    """What a test has break."""


@contextmanager
def breaking(engine: Engine, at: int) -> Iterator[None]:
    """The n-th statement from now on fails, a commit being one."""
    seen = 0

    def count(*_: object) -> None:
        nonlocal seen
        seen += 1
        if seen == at:
            raise Broken

    names = ("before_cursor_execute", "commit")
    for name in names:
        event.listen(engine, name, count)
    try:
        yield
    finally:
        for name in names:
            event.remove(engine, name, count)


ACTIONS = {
    "ask": lambda study, tickets, n: study.ask(2, worker="ana"),
    "ask again": lambda study, tickets, n: study.ask(9, worker="bo"),
    "tell": lambda study, tickets, n: study.tell(tickets[0], 0.5),
    "tell many": lambda study, tickets, n: study.tell_many([(ticket, 0.5) for ticket in tickets]),
    "record": lambda study, tickets, n: study.record("red", [0.5] * 3, key="k"),
    "import": lambda study, tickets, n: study.import_data(n),
    "correct": lambda study, tickets, n: study.correct(1, 0.125, "why"),
    "close": lambda study, tickets, n: study.close(),
    "certify": lambda study, tickets, n: study.record("red", [1.0] * 300),
}


@pytest.mark.parametrize("action", ACTIONS)
def test_a_statement_that_fails_leaves_nothing_half_done(tmp_path: Path, action: str) -> None:
    import pandas as pd

    table = pd.DataFrame({"arm": ["red", "blue"] * 1500, "value": [0.5, 0.25] * 1500})
    failures = 0
    for at in range(1, 60):
        path = tmp_path / f"{at}.db"
        study = sp.Study.create(path, TWO)
        tickets = study.ask(3, worker="bo")
        study.record("red", 0.25)
        study.record("blue", [0.0] * 300)
        before, log = study.status().to_dict(), [vars(entry) for entry in study.history(limit=10_000)]
        failed = False
        with breaking(study._database.engine, at):
            try:
                ACTIONS[action](study, tickets, table)
            except Broken:
                failed = True
        fresh = sp.Study.open(path)
        assert fresh.verify().faults == []
        if failed:
            failures += 1
            assert fresh.status().to_dict() == before
            assert [vars(entry) for entry in fresh.history(limit=10_000)] == log
            # The one that failed goes on, and knows no more than the log.
            assert study.status().to_dict() == before
            ACTIONS[action](study, tickets, table)
        assert fresh.status().to_dict() == study.status().to_dict()
        assert study.certificate().to_dict() == fresh.certificate().to_dict()
        for one in (study, fresh):
            one.disconnect()
        if not failed:
            break
    assert failures >= 3  # to read the study, to change it, to commit
    assert not failed


def test_a_creation_that_fails_leaves_no_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, failures = room.Database._engine, 0
    for at in range(1, 80):
        path = tmp_path / f"{at}.db"

        with ExitStack() as stack:

            def engine(self: room.Database, at: int = at, stack: ExitStack = stack) -> Engine:
                found = made(self)
                stack.enter_context(breaking(found, at))
                return found

            monkeypatch.setattr(room.Database, "_engine", engine)
            failed = False
            try:
                sp.Study.create(path, TWO).disconnect()
            except Broken:
                failed = True
                failures += 1
        monkeypatch.setattr(room.Database, "_engine", made)
        if failed:
            with pytest.raises(SurepickError):
                sp.Study.open(path)
            sp.Study.create(path, TWO).disconnect()
        assert sp.Study.open(path).verify().ok
        if not failed:
            break
    assert failures > 10
    assert not failed


def test_an_interrupt_leaves_the_explorer_with_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = sp.Study.create(tmp_path / "study.db", TWO)
    study.record("red", 0.5)

    def press(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("surepick.study.durable.log.add", press)
        with pytest.raises(KeyboardInterrupt):
            study.record("red", [0.75] * 10)
    assert study.status().samples == 1
    study.record("red", 0.25)
    assert study.certificate().to_dict() == sp.Study.open(tmp_path / "study.db").certificate().to_dict()


# -- files and disks ------------------------------------------------------------------------------------------------------


@contextmanager
def nobody() -> Iterator[None]:
    """As a user without rights, if we are root."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


def test_a_file_that_is_read_only_is_read_or_refused(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    folder.mkdir()
    path = folder / "study.db"
    study = sp.Study.create(path, TWO)
    study.record("red", 0.5)
    study.disconnect()
    os.chmod(path, 0o444)
    os.chmod(folder, 0o555)
    for above in [folder, *folder.parents][1:5]:
        os.chmod(above, os.stat(above).st_mode | 0o055)
    with nobody():
        try:
            opened = sp.Study.open(path, who="x")
            said = ""
        except StorageError as error:  # SQLite may need to write beside the file only to read it
            said = str(error)
        if said:
            assert "cannot be" in said
        else:
            assert opened.status().samples == 1
            for call in (lambda: opened.record("red", 0.5), lambda: opened.ask(1)):
                with pytest.raises(StorageError, match="cannot be written to"):
                    call()
            opened.disconnect()
    os.chmod(folder, 0o755)
    os.chmod(path, 0o644)
    study = sp.Study.open(path)
    study.record("red", 0.5)
    assert study.status().samples == 2


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    """SQLite may use so many pages and no more, which it takes as a disk that is full."""
    path = tmp_path / "study.db"
    study = sp.Study.create(path, TWO)
    study.record("red", [0.5] * 100)
    (ticket,) = study.ask(1)
    engine = study._database.engine
    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    def fill() -> None:
        for k in range(200):
            study.record("blue", [0.5] * 100, key=f"{k}")

    with pytest.raises(StorageError, match="disk is full"):
        fill()
    kept = study.status().samples
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
    assert study.status().samples == kept
    study.tell(ticket, 0.5)
    fresh = sp.Study.open(path)
    assert fresh.status().samples == kept + 1
    assert fresh.verify().ok


def test_one_that_never_lets_go_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "study.db"
    study = sp.Study.create(path, TWO)
    (ticket,) = study.ask(1)
    holding = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holding.execute("BEGIN IMMEDIATE")
    assert study.status().samples == 0  # who reads does not wait
    monkeypatch.setattr(room, "PATIENCE", 0.2)
    with pytest.raises(StorageError, match="another program has been writing") as raised:
        study.tell(ticket, 0.5)
    assert "database is locked" not in str(raised.value)
    monkeypatch.setattr(room, "PATIENCE", 20.0)
    threading.Timer(0.3, holding.rollback).start()
    study.tell(ticket, 0.5)
    holding.close()


def test_a_fork_has_connections_of_its_own(shared: str) -> None:
    study = sp.Study.create(shared, TWO)
    study.record("red", 0.5)
    child = os.fork()
    if child == 0:
        try:
            study.record("blue", 0.25)
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    study.record("red", 0.75)
    assert study.status().samples == 3
    study.disconnect()


def test_scores_of_a_pool_are_told_once_in_a_race(shared: str) -> None:
    study = sp.Study.create(shared, POOLED)
    others = [sp.Study.open(shared) for _ in range(3)]
    lost = 0
    for k in range(8):
        (ticket,) = study.ask(1)
        for j, one in enumerate(others):
            try:
                one.tell(ticket, float((k + j) % 2))
            except ConflictError:
                lost += 1
    assert study.status().samples == 8
    assert lost == 8
    assert score("ant", 0) == 1.0
    for one in (study, *others):
        one.disconnect()
