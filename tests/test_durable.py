"""Durable studies: the same tests on every kind of database."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Connection

import surepick as sp
from surepick.errors import ConflictError, ObservationError, SettingError, StorageError, StudyError
from surepick.settings import make_policy as real
from surepick.study.durable import database as room
from surepick.study.durable import schema
from surepick.study.durable import turn as turns

from . import databases

TWO = {"arms": ["red", "blue"], "problem": {"kind": "best-arm"}, "delta": 0.1}
FIVE = {"arms": list("abcde"), "problem": {"kind": "top-k", "k": 2}, "delta": 0.1}
POOLED = {"arms": ["ant", "bee", "cat"], "problem": {"kind": "best-arm"}, "pool": {"items": 60}, "delta": 0.1}


@pytest.fixture(scope="module")
def server() -> Iterator[databases.Server]:
    with databases.server() as started:
        yield started


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "memory":
        return "sqlite:///:memory:"
    return f"sqlite:///{tmp_path}/study.db" if request.param == "sqlite" else request.getfixturevalue("server").url()


@pytest.fixture(params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that several can open."""
    return f"sqlite:///{tmp_path}/study.db" if request.param == "sqlite" else request.getfixturevalue("server").url()


@pytest.fixture
def file(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/study.db"


class Clock:
    """Time as a test sets it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000_000.0
        monkeypatch.setattr(turns.time, "time", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def values(study: sp.Study) -> list[tuple[object, float]]:
    return [(entry.arm, entry.value) for entry in study.history(limit=10_000)]


# -- asking and telling ---------------------------------------------------------------------------------------------------


def test_a_study_asks_is_told_and_stops(url: str) -> None:
    study = sp.Study.create(url, TWO)
    rng = np.random.default_rng(0)
    while tickets := study.ask(20):
        study.tell_many([(ticket, float(rng.random() < (0.9 if ticket.arm == "red" else 0.2))) for ticket in tickets])
    status = study.status()
    assert status.done
    assert status.certified
    assert status.samples == len(values(study))
    assert study.certificate().chosen == {"red": 1}
    assert str(status).startswith("Certified after")
    assert study.ask(3) == []
    assert study.plan(10) == {}


def test_it_asks_and_certifies_what_an_explorer_does(url: str) -> None:
    study, explorer = sp.Study.create(url, FIVE), explorer_of(FIVE)
    rng = np.random.default_rng(1)
    while tickets := study.ask(1):
        (arm,) = explorer.ask(1)
        assert [ticket.index for ticket in tickets] == [arm]
        x = float(rng.random() < [0.95, 0.9, 0.2, 0.1, 0.05][arm])
        study.tell(tickets[0], x)
        explorer.tell(arm, x)
    assert explorer.certified
    assert study.certificate().to_dict() == explorer.certificate().to_dict()


def explorer_of(spec: dict) -> sp.Explorer:
    return sp.study.StudySpec.from_dict(spec).explorer()


def test_tickets_say_what_to_sample(url: str) -> None:
    study = sp.Study.create(url, TWO, lease=60.0)
    before = datetime.now(UTC).timestamp()
    first, second = study.ask(2, worker="ana")
    assert (first.arm, first.index, first.item, first.worker) == ("red", 0, None, "ana")
    assert second.arm == "blue"
    assert first.id != second.id
    assert 55 < first.expires.timestamp() - before < 70
    study.tell(first.id, 0.5)
    study.tell(second.id.upper(), 0.25)
    assert values(study) == [("red", 0.5), ("blue", 0.25)]


def test_the_same_answer_again_is_no_news_and_another_one_a_conflict(url: str) -> None:
    study = sp.Study.create(url, TWO)
    one, two = study.ask(2)
    study.tell(one, 0.5)
    study.tell(one, 0.5)
    study.tell_many([(one, 0.5), (two, 0.75), (two, 0.75)])
    with pytest.raises(ConflictError, match="the first one stays") as raised:
        study.tell(one, 0.6)
    assert raised.value.value == 0.5
    with pytest.raises(ConflictError) as raised:
        study.tell_many([(study.ask(1)[0], 0.1), (two, 0.7)])
    assert raised.value.value == 0.75
    with pytest.raises(ConflictError):
        study.tell_many([(ticket := study.ask(1)[0], 0.1), (ticket, 0.2)])
    assert values(study) == [("red", 0.5), ("blue", 0.75)]
    assert isinstance(pickle.loads(pickle.dumps(raised.value)), ConflictError)
    assert pickle.loads(pickle.dumps(raised.value)).value == 0.75


def test_a_record_with_a_key_is_made_once(url: str) -> None:
    study = sp.Study.create(url, TWO)
    study.record("red", [0.5, 0.25], key="page 1")
    study.record("red", [0.5, 0.25], key="page 1")
    study.record(0, [0.5, 0.25])
    for arm, told in (("red", [0.5, 0.75]), ("blue", [0.5, 0.25]), ("red", 0.5)):
        with pytest.raises(ConflictError, match="page 1"):
            study.record(arm, told, key="page 1")
    assert values(study) == [("red", 0.5), ("red", 0.25)] * 2


def test_what_is_on_its_way_counts(url: str) -> None:
    study = sp.Study.create(url, {**FIVE, "arms": 50, "problem": {"kind": "top-k", "k": 2}})
    arms = [study.ask(1, worker=f"w{i}")[0].index for i in range(50)]
    assert sorted(arms) == list(range(50))
    assert study.status().open == 50


def test_a_worker_gets_its_own_back(url: str) -> None:
    study = sp.Study.create(url, TWO)
    mine = study.ask(3, worker="ana")
    others = study.ask(2, worker="bo")
    nobodys = study.ask(2)
    assert [ticket.id for ticket in study.ask(2, worker="ana")] == [ticket.id for ticket in mine[:2]]
    more = study.ask(5, worker="ana")
    assert [ticket.id for ticket in more[:3]] == [ticket.id for ticket in mine]
    assert not {ticket.id for ticket in more[3:]} & {ticket.id for ticket in [*mine, *others, *nobodys]}
    study.tell(mine[0], 0.5)
    assert mine[0].id not in {ticket.id for ticket in study.ask(5, worker="ana")}
    assert {ticket.id for ticket in study.waiting("bo")} == {ticket.id for ticket in others}


def test_tickets_expire_and_late_answers_count(url: str, clock: Clock) -> None:
    study = sp.Study.create(url, TWO, lease=60.0)
    late = study.ask(2, worker="ana")
    clock.now += 61
    assert study.status().expired == 2
    again = study.ask(2, worker="bo")
    assert [ticket.arm for ticket in again] == [ticket.arm for ticket in late]
    assert not {ticket.id for ticket in again} & {ticket.id for ticket in late}
    assert study.status().open == 2  # the others are bo's now
    assert study.ask(1, worker="ana")[0].id not in {ticket.id for ticket in late}
    study.tell(late[0], 0.5)
    study.tell(again[0], 0.75)
    study.tell(late[0], 0.5)
    with pytest.raises(ConflictError):
        study.tell(late[0], 0.75)
    assert values(study) == [("red", 0.5), ("red", 0.75)]


def test_an_expired_ticket_is_still_its_workers(url: str, clock: Clock) -> None:
    study = sp.Study.create(url, TWO, lease=60.0)
    mine = study.ask(2, worker="ana")
    clock.now += 61
    assert [ticket.id for ticket in study.ask(2, worker="ana")] == [ticket.id for ticket in mine]
    assert study.status().expired == 0  # she works on them again


def test_a_clock_that_is_set_back_reclaims_nothing(url: str, clock: Clock) -> None:
    study = sp.Study.create(url, TWO, lease=600.0)
    clock.now += 3600
    study.ask(2, worker="ana")
    clock.now -= 3600  # an hour back
    during = study.ask(2, worker="bo")
    assert study.status().expired == 0
    clock.now += 3600 + 60  # and right again: a minute later, not an hour and a minute
    assert study.status().expired == 0
    study.ask(2, worker="cy")
    assert {ticket.id for ticket in during} == {ticket.id for ticket in study.waiting("bo")}
    clock.now += 600
    assert study.status().expired == 6


def test_released_tickets_are_given_out_again(url: str) -> None:
    study = sp.Study.create(url, TWO)
    given = study.ask(2, worker="ana")
    study.release(given)
    assert [ticket.arm for ticket in study.ask(2, worker="bo")] == ["red", "blue"]
    assert study.status().open == 2
    study.tell(given[0], 0.5)
    assert values(study) == [("red", 0.5)]


def test_bad_values_change_nothing(url: str) -> None:
    study = sp.Study.create(url, TWO)
    one, two = study.ask(2)
    for bad in (1.5, float("nan"), "0.5", None, [0.1, 0.2], []):
        with pytest.raises(ObservationError):
            study.tell_many([(one, 0.5), (two, bad)])
    with pytest.raises(ObservationError):
        study.record("green", 0.5)
    with pytest.raises(ObservationError):
        study.record("red", [0.5, 2.0])
    assert values(study) == []
    assert study.status().samples == 0


@pytest.mark.parametrize("bad", ["17", "17-", "x-abcd", "1-zzzz", "99-abcd", 17, None, "", "-1-abcd", "٣-abcd"])
def test_tickets_that_are_none_are_refused(url: str, bad: object) -> None:
    study = sp.Study.create(url, TWO)
    study.ask(2)
    with pytest.raises(StudyError, match="ticket"):
        study.tell(bad, 0.5)  # type: ignore[arg-type]


def test_history_says_who_and_when(url: str, clock: Clock) -> None:
    study = sp.Study.create(url, TWO, who="lab")
    (ticket,) = study.ask(1)
    study.tell(ticket, 0.5, who="ana")
    clock.now += 100
    study.record("blue", [0.25, 0.5], key="page 2")
    study.record("blue", 0.75)
    first, second, third, fourth = study.history()
    assert (first.seq, first.arm, first.value, first.who, first.ticket, first.key) == (1, "red", 0.5, "ana", 1, None)
    assert first.told == datetime.fromtimestamp(1_000_000, UTC)
    assert (second.who, second.key, second.moment, third.moment, fourth.moment) == ("lab", "page 2", 2, 2, 3)
    assert (second.told - first.told).total_seconds() == 100
    assert fourth.key is None
    assert [entry.seq for entry in study.history(after=1, limit=2)] == [2, 3]


def test_a_closed_study_is_only_read(url: str) -> None:
    study = sp.Study.create(url, TWO)
    one, two = study.ask(2)
    study.tell(one, 0.5)
    study.close()
    study.close()
    study.tell(one, 0.5)  # no news
    for call in (lambda: study.ask(1), lambda: study.tell(two, 0.5), lambda: study.record("red", 0.5)):
        with pytest.raises(StudyError, match="closed"):
            call()
    assert study.status().done
    assert study.status().closed is not None
    assert study.plan(3) == {}
    assert len(study.history()) == 1


def test_plans_count_what_is_on_its_way(url: str) -> None:
    study = sp.Study.create(url, TWO)
    assert study.plan(10) == {"red": 5, "blue": 5}
    study.record("red", [0.5] * 4)
    study.ask(2)
    explorer = explorer_of(TWO)
    explorer.tell("red", [0.5] * 4)
    assert study.plan(10) == explorer.plan(10, {ticket.arm: 1 for ticket in study.waiting()})


def test_a_budget_ends_a_study(url: str) -> None:
    study = sp.Study.create(url, {**TWO, "budget": 5})
    tickets = study.ask(10)
    assert len(tickets) == 5
    assert study.ask(10) == []
    study.tell_many([(ticket, 0.5) for ticket in tickets])
    assert study.status().done
    assert not study.status().certified


# -- pools ----------------------------------------------------------------------------------------------------------------


def score(candidate: str, item: int) -> float:
    return float({"ant": item % 10 < 9, "bee": item % 10 < 5, "cat": item % 3 == 0}[candidate])


def test_candidates_on_shared_items(url: str) -> None:
    study, explorer = sp.Study.create(url, POOLED), explorer_of(POOLED)
    while tickets := study.ask(7):
        asked = explorer.ask(7)
        assert [(ticket.index, ticket.item) for ticket in tickets] == asked
        told = [(ticket, score(ticket.arm, ticket.item)) for ticket in tickets]
        study.tell_many(told)
        explorer.tell_many([((ticket.arm, ticket.item), x) for ticket, x in told])
    assert study.certificate().to_dict() == explorer.certificate().to_dict()
    assert study.certificate().certified


def test_two_tickets_about_one_score_must_agree(url: str, clock: Clock) -> None:
    study = sp.Study.create(url, POOLED, lease=60.0)
    (late,) = study.ask(1, worker="ana")
    clock.now += 61
    (again,) = study.ask(1, worker="bo")
    assert (again.arm, again.item) == (late.arm, late.item)
    study.tell(late, 1.0)
    assert study.waiting() == []  # bo need not evaluate it any more
    study.tell(again, 1.0)
    with pytest.raises(ConflictError):
        study.tell(again, 0.0)
    assert len(study.history()) == 1


def test_scores_of_a_pool_may_be_recorded(url: str) -> None:
    study = sp.Study.create(url, POOLED)
    tickets = study.ask(4)
    study.record((tickets[0].arm, tickets[0].item), 1.0)
    assert tickets[0].id not in {ticket.id for ticket in study.waiting()}
    study.tell(tickets[0], 1.0)
    study.record((tickets[0].arm, tickets[0].item), 1.0)
    with pytest.raises(ConflictError):
        study.record((tickets[0].arm, tickets[0].item), 0.0)
    study.tell(tickets[3], 1.0)  # before those that were asked for earlier
    assert len(study.history()) == 2


# -- opening --------------------------------------------------------------------------------------------------------------


def test_what_was_told_is_there_when_it_is_opened_again(shared: str) -> None:
    study = sp.Study.create(shared, FIVE, "first")
    tickets = study.ask(20, worker="ana")
    study.tell_many([(ticket, 0.5) for ticket in tickets[:10]])
    study.record("a", [0.25] * 700)  # more than there are between two snapshots
    study.record("b", [0.75] * 5)
    again = sp.Study.open(shared)
    assert again.certificate().to_dict() == study.certificate().to_dict()
    assert [ticket.id for ticket in again.ask(10, worker="ana")] == [ticket.id for ticket in tickets[10:]]
    assert values(again) == values(study)
    for name, held in vars(study.status()).items():
        if name != "certificate":
            assert getattr(again.status(), name) == held
    for one in (study, again):
        one.disconnect()


def test_two_that_have_it_open_see_each_other(shared: str) -> None:
    one = sp.Study.create(shared, FIVE)
    with sp.Study.open(shared) as two:
        for k in range(5):
            one.record("a", [0.5, 0.25 * (k % 4)])
            two.record("b", 0.75)
            (ticket,) = one.ask(1)
            two.tell(ticket, 0.5)
            assert one.certificate().to_dict() == two.certificate().to_dict()
        with pytest.raises(ConflictError):
            one.tell(ticket, 0.75)
    one.disconnect()


def test_the_certificate_is_that_of_its_moment_for_all(shared: str) -> None:
    """Also for who reads it later, and did not judge the moments."""
    one = sp.Study.create(shared, TWO)
    other = sp.Study.open(shared)
    other.status()
    for _ in range(40):
        one.tell_many([(ticket, float(ticket.arm == "red")) for ticket in one.ask(2)])
        if one.status().done:
            break
    assert one.status().certified
    one.record("blue", [1.0] * 3)
    one.record("red", [0.0] * 3)
    fresh = sp.Study.open(shared)
    assert one.certificate().to_dict() == other.certificate().to_dict() == fresh.certificate().to_dict()
    assert one.certificate().samples < one.status().samples
    for study in (one, other, fresh):
        study.disconnect()


def test_a_database_holds_many_studies(shared: str) -> None:
    studies = {name: sp.Study.create(shared, TWO, name) for name in ("one", "two", "three")}
    for k, study in enumerate(studies.values()):
        study.record("red", [0.5] * (k + 1))
    assert [(found.name, found.samples) for found in sp.Study.studies(shared)] == [("one", 1), ("two", 2), ("three", 3)]
    assert sp.Study.open(shared, "two").status().samples == 2
    with pytest.raises(StudyError, match="which study"):
        sp.Study.open(shared)
    with pytest.raises(StudyError, match="no study 'four'"):
        sp.Study.open(shared, "four")
    with pytest.raises(StudyError, match="already"):
        sp.Study.create(shared, TWO, "two")


def test_what_auto_stands_for_is_settled_when_it_is_created(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = sp.Study.create(file, FIVE)
    policy = study.certificate().policy

    def make(asked: object, *given: object) -> object:
        assert asked != "auto"
        return real(asked, *given)

    monkeypatch.setattr("surepick.settings.make_policy", make)
    assert sp.Study.open(file).certificate().policy == policy


def test_a_study_is_pickled_as_where_it_is(file: str) -> None:
    study = sp.Study.create(file, TWO)
    study.record("red", 0.5)
    assert pickle.loads(pickle.dumps(study)).status().samples == 1
    with pytest.raises(StudyError, match="memory"):
        pickle.dumps(sp.Study.create("sqlite:///:memory:", TWO))


def test_threads_share_a_study(url: str) -> None:
    study = sp.Study.create(url, {**FIVE, "delta": 1e-6})
    wrong: list[BaseException] = []

    def work(worker: str) -> None:
        try:
            for _ in range(10):
                (ticket,) = study.ask(1, worker=worker)
                study.tell(ticket, 0.5)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(f"w{k}",)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert study.status().samples == 40


@pytest.mark.parametrize("kind", ["ts-explore", "elimination", "coci", "lucb"])
def test_every_policy_is_in_step_with_the_log(shared: str, kind: str) -> None:
    one = sp.Study.create(shared, {**FIVE, "policy": kind})
    other = sp.Study.open(shared)
    rng = np.random.default_rng(3)
    for k in range(60):
        tickets = one.ask(3)
        if not tickets:
            break
        one.tell_many([(ticket, float(rng.random() < [0.95, 0.9, 0.1, 0.1, 0.05][ticket.index])) for ticket in tickets])
        if k % 10 == 0:
            other.status()
    fresh = sp.Study.open(shared)
    assert one.certificate().to_dict() == other.certificate().to_dict() == fresh.certificate().to_dict()
    assert one.plan(7) == other.plan(7) == fresh.plan(7)
    for study in (one, other, fresh):
        study.disconnect()


# -- what is refused ------------------------------------------------------------------------------------------------------


def test_databases_that_are_none(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no database\n" * 200)
    before = text.read_bytes()
    for refused in (lambda: sp.Study.create(text, TWO), lambda: sp.Study.open(text)):
        with pytest.raises(StorageError, match="no SQLite database"):
            refused()
    assert text.read_bytes() == before
    with pytest.raises(StorageError, match="no such file"):
        sp.Study.open(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(StorageError, match="no folder"):
        sp.Study.create(tmp_path / "none" / "study.db", TWO)
    with pytest.raises(StorageError, match="folder"):
        sp.Study.create(tmp_path, TWO)
    for bad in ("mysql://x/y", 3, None, "postgresql+nothing://x/y", "http://x"):
        with pytest.raises(StorageError):
            sp.Study.open(bad)  # type: ignore[arg-type]
    with pytest.raises(StorageError, match="server"):
        sp.Study.open(f"postgresql+psycopg://someone:secret@127.0.0.1:{databases.free_port()}/x")
    with pytest.raises(StorageError) as raised:
        sp.Study.open("mysql://someone:secret@host/x")
    assert "secret" not in str(raised.value)


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    import sqlite3

    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    for refused in (lambda: sp.Study.create(path, TWO), lambda: sp.Study.open(path)):
        with pytest.raises((StorageError, StudyError)):
            refused()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]


def test_a_newer_database_is_refused(shared: str) -> None:
    from sqlalchemy import create_engine, text

    sp.Study.create(shared, TWO).disconnect()
    engine = create_engine(shared)
    with engine.begin() as connection:
        connection.execute(text("UPDATE surepick_version SET version = 1000"))
    engine.dispose()
    for refused in (lambda: sp.Study.create(shared, TWO, "other"), lambda: sp.Study.open(shared)):
        with pytest.raises(StorageError, match="newer surepick"):
            refused()


def test_an_older_database_is_brought_up_to_date(shared: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlalchemy import text

    study = sp.Study.create(shared, TWO)
    study.record("red", 0.5)
    study.disconnect()
    steps = []

    def step(name: str) -> Callable[[Connection], None]:
        def migrate(connection: Connection) -> None:
            steps.append(name)
            connection.execute(text(f"ALTER TABLE surepick_study ADD COLUMN {name} INTEGER"))

        return migrate

    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 2)
    monkeypatch.setattr(schema, "MIGRATIONS", {schema.VERSION - 2: step("one"), schema.VERSION - 1: step("two")})
    for _ in range(2):
        with sp.Study.open(shared) as again:
            assert again.status().samples == 1
    assert steps == ["one", "two"]
    assert sp.Study.studies(shared)[0].samples == 1


def test_folders_that_computers_share_are_refused(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "22 1 0:20 / / rw - ext4 /dev/sda rw\n"
        "23 22 0:21 / /mnt/lab\\040data rw shared:1 - nfs4 host:/x rw\n"
        "24 23 0:3 / /mnt rw - ext4 x rw\n"
    )
    assert room.shared_kind(Path("/mnt/lab data/study.db"), mounts) == "nfs4"
    assert room.shared_kind(Path("/home/study.db"), mounts) is None
    assert room.shared_kind(Path("/mnt/study.db"), mounts) is None
    assert room.shared_kind(Path("/home/study.db"), tmp_path / "nothing") is None


def test_settings_that_are_wrong() -> None:
    where = "sqlite:///:memory:"
    for bad in ("", "a\nb", 3, "x" * 201, "~a"):
        with pytest.raises(SettingError):
            sp.Study.create(where, TWO, bad)  # type: ignore[arg-type]
    for lease in (0, -1, float("nan"), "1"):
        with pytest.raises(SettingError):
            sp.Study.create(where, TWO, lease=lease)  # type: ignore[arg-type]
    study = sp.Study.create(where, TWO)
    for n in (0, -1, 1.5, "2", None):
        with pytest.raises(SettingError):
            study.ask(n)  # type: ignore[arg-type]
    with pytest.raises(SettingError):
        study.record("red", 0.5, key="")
    for bad in (None, [0.5], {"1-abcd": 0.5}, [("1-abcd", 0.5, 1)]):
        with pytest.raises(ObservationError):
            study.tell_many(bad)  # type: ignore[arg-type]
    with pytest.raises(StudyError):
        sp.Study.create(where, {"arms": 3})
