"""What was told can be put right, checked, brought in and taken out, and goes from one database to another."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.dialects import sqlite

import surepick as sp
from surepick.errors import ConflictError, ObservationError, RowsError, SettingError, StudyError
from surepick.study.durable import tables, tickets

from . import databases
from .test_durable import FIVE, POOLED, TWO, explorer_of, score, values


@pytest.fixture(scope="module")
def server() -> Iterator[databases.Server]:
    with databases.server() as started:
        yield started


@pytest.fixture(params=["sqlite", "postgresql"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/study.db" if request.param == "sqlite" else request.getfixturevalue("server").url()


@pytest.fixture
def file(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/study.db"


def change(url: str, statement: str) -> None:
    """What nobody should do: write into the tables by hand."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def run(study: sp.Study, means: dict[str, float], seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    while tickets := study.ask(2):
        for ticket in tickets:
            study.tell(ticket, float(rng.random() < means[ticket.arm]))


# -- corrections ------------------------------------------------------------------------------------------------------------


def test_a_correction_is_as_if_it_had_been_right_all_along(shared: str) -> None:
    study, explorer = sp.Study.create(shared, FIVE), explorer_of(FIVE)
    rng = np.random.default_rng(0)
    told = []
    for _ in range(30):
        (ticket,) = study.ask(1)
        x = round(float(rng.random()), 3)
        study.tell(ticket, x)
        told.append((ticket.index, x))
    study.correct(7, 0.999, "a comma")
    study.correct(3, 0.001, "read from the wrong scale")
    study.correct(7, 0.5, "again")
    told[6], told[2] = (told[6][0], 0.5), (told[2][0], 0.001)
    for arm, x in told:
        explorer.tell(arm, x)
    certificate = study.certificate()
    assert certificate.corrected == 2
    assert str(certificate).endswith("2 entries were corrected.")
    assert certificate.to_dict()["corrected"] == 2
    for name in ("lower", "upper", "estimate", "counts", "decision"):
        assert (getattr(certificate, name) == getattr(explorer.certificate(), name)).all(), name
    assert study.plan(9) == explorer.plan(9)
    fresh = sp.Study.open(shared)
    assert fresh.certificate().to_dict() == certificate.to_dict()
    assert fresh.verify().ok
    assert fresh.status().samples == 30
    study.disconnect()


def test_a_correction_names_what_it_corrects_and_leaves_it(file: str) -> None:
    study = sp.Study.create(file, TWO, who="ana")
    (ticket,) = study.ask(1)
    study.tell(ticket, 0.9)
    seq = study.correct(ticket, 0.09, "the decimal point", who="bo")
    first, second = study.history()
    assert (first.value, first.corrects, first.who) == (0.9, None, "ana")
    assert (second.seq, second.value, second.corrects, second.note, second.who) == (seq, 0.09, 1, "the decimal point", "bo")
    study.tell(ticket, 0.9)  # who told it does not know
    study.tell(ticket, 0.09)
    with pytest.raises(ConflictError):
        study.tell(ticket, 0.5)
    study.correct(seq, 0.08, "look again")  # of the correction: of what it corrects
    assert study.history()[-1].corrects == 1
    assert study.certificate().estimate[0] == 0.08
    assert study.status().samples == 1


def test_what_was_certified_on_wrong_values_is_judged_again(shared: str) -> None:
    study = sp.Study.create(shared, TWO)
    run(study, {"red": 0.95, "blue": 0.05})
    before = study.certificate()
    assert before.certified
    wrong = [entry.seq for entry in study.history(limit=1000) if entry.arm == "red"]
    for seq in wrong:
        entry = study.history(after=seq - 1, limit=1)[0]
        study.correct(seq, 1.0 - entry.value, "red and its opposite were mixed up")
    after = study.certificate()
    assert not after.certified
    assert after.corrected == len(wrong)
    assert not study.status().done
    assert study.verify().ok
    run(study, {"red": 0.05, "blue": 0.95})
    assert study.certificate().chosen == {"blue": 1}
    assert "were corrected" in str(study.certificate())
    assert any("corrected" in condition for condition in study.certificate().conditions)
    assert study.verify().ok
    assert sp.Study.open(shared).certificate().to_dict() == study.certificate().to_dict()
    study.disconnect()


def test_others_see_a_correction(shared: str) -> None:
    one = sp.Study.create(shared, TWO)
    one.record("red", [0.5] * 10)
    with sp.Study.open(shared) as two:
        two.status()
        one.correct(3, 0.75, "a slip")
        assert two.certificate().to_dict() == one.certificate().to_dict()
        two.record("blue", 0.5)
        assert two.certificate().to_dict() == one.certificate().to_dict()
    one.disconnect()


def test_scores_of_a_pool_are_corrected(file: str) -> None:
    study, explorer = sp.Study.create(file, POOLED), explorer_of(POOLED)
    tickets = study.ask(12)
    study.tell_many([(ticket, score(ticket.arm, ticket.item)) for ticket in tickets])
    wrong = score(tickets[4].arm, tickets[4].item)
    study.correct(tickets[4], 1.0 - wrong, "scored with the wrong key")
    asked = explorer.ask(12)
    explorer.tell_many(
        [((i, item), score(["ant", "bee", "cat"][i], item) if k != 4 else 1.0 - wrong) for k, (i, item) in enumerate(asked)]
    )
    assert (study.certificate().estimate == explorer.certificate().estimate).all()
    assert study.verify().ok


def test_corrections_that_are_none(file: str) -> None:
    study = sp.Study.create(file, TWO)
    one, _ = study.ask(2)
    study.record("red", 0.5)
    for call, kind in (
        (lambda: study.correct(2, 0.5, "why"), StudyError),
        (lambda: study.correct(0, 0.5, "why"), SettingError),
        (lambda: study.correct(1, 0.5, "it says so already"), StudyError),
        (lambda: study.correct(1, 1.5, "why"), ObservationError),
        (lambda: study.correct(1, 0.6, " "), SettingError),
        (lambda: study.correct(one, 0.6, "why"), StudyError),
    ):
        with pytest.raises(kind):
            call()
    assert len(study.history()) == 1
    assert study.verify().ok


# -- audits -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [TWO, FIVE, {**FIVE, "policy": "ts-explore"}, {**TWO, "budget": 20, "spend": True}, POOLED])
def test_a_study_is_verified_from_its_log(file: str, spec: dict) -> None:
    study = sp.Study.create(file, spec)
    assert study.verify().ok
    rng = np.random.default_rng(5)
    for _ in range(60):
        tickets = study.ask(3)
        if not tickets:
            break
        if "pool" in spec:
            study.tell_many([(ticket, score(ticket.arm, ticket.item)) for ticket in tickets])
        else:
            study.tell_many([(ticket, float(rng.random() < 0.9 - 0.15 * ticket.index)) for ticket in tickets])
    found = sp.Study.open(file).verify()
    assert found.faults == []
    assert found.certificate.to_dict() == study.certificate().to_dict()
    assert json.dumps(found.to_dict(), allow_nan=False)
    assert str(found).startswith("Verified")


TAMPERED = {
    "a value": "UPDATE surepick_observation SET value = 1 - value WHERE seq = 3",
    "a value after the certificate": "UPDATE surepick_observation SET arm = 1 - arm WHERE seq = 2",
    "a lost entry": "DELETE FROM surepick_observation WHERE seq = 4",
    "a lost moment": "DELETE FROM surepick_moment WHERE moment = 4",
    "the certificate": "UPDATE surepick_certificate SET content = replace(content, 'true', 'false')",
    "the moment of it": "UPDATE surepick_study SET certified = certified - 1",
    "no certificate": "DELETE FROM surepick_certificate",
    "the question": "UPDATE surepick_study SET spec = replace(spec, '0.1', '0.2')",
    "a ticket": "UPDATE surepick_ticket SET seq = 1 WHERE seq = 2",
    "a ticket that is open again": "UPDATE surepick_ticket SET seq = NULL, state = 0 WHERE seq = 2",
}


@pytest.mark.parametrize("statement", TAMPERED.values(), ids=TAMPERED)
def test_what_was_changed_by_hand_is_found(file: str, statement: str) -> None:
    study = sp.Study.create(file, TWO)
    run(study, {"red": 0.95, "blue": 0.05})
    assert study.certificate().certified
    study.disconnect()
    change(file, statement)
    try:
        found = sp.Study.open(file).verify()
    except StudyError:
        return  # it cannot even be read
    assert not found.ok
    assert "do not agree" in str(found)


# -- tables -----------------------------------------------------------------------------------------------------------------


def test_a_table_is_imported_once(shared: str, tmp_path: Path) -> None:
    study = sp.Study.create(shared, TWO)
    table = tmp_path / "data.csv"
    table.write_text("arm,value,by\nred,0.5,x\nblue,0.25,y\n\nred,0.75,x\n")
    first, again = study.import_data(table), study.import_data(table)
    assert (first.rows, first.new, again.rows, again.new) == (3, 3, 3, 0)
    assert "before" in str(again)
    assert values(study) == [("red", 0.5), ("blue", 0.25), ("red", 0.75)]
    assert {entry.moment for entry in study.history()} == {1}
    frame = pd.DataFrame({"Variant": ["red", "blue"], "VALUE": [0.125, 0.5]})
    assert study.import_data(frame, arm="Variant", value="VALUE").new == 2
    frame.rename(columns={"Variant": "arm"}).to_parquet(tmp_path / "data.parquet")
    assert study.import_data(tmp_path / "data.parquet").new == 0  # the same observations
    assert study.import_data(tmp_path / "data.parquet", key="the second time").new == 2
    assert study.verify().ok
    study.disconnect()


def test_a_name_that_is_not_there_is_looked_for_once() -> None:
    """A million rows of a wrong table are refused as fast as those of a right one are taken: a hint is dear."""
    study, looked = sp.Study.create("sqlite:///:memory:", TWO), []

    class Index(dict):
        def __missing__(self, name: str) -> int:
            looked.append(name)
            return study.explorer().problem.index[name]

    bad: dict[int, str] = {}
    found = tables._positions(["rad", "red", "rad", "rad", "grün"], Index(red=0), bad)
    assert looked == ["rad", "grün"]
    assert found.tolist() == [-1, 0, -1, -1, -1]
    assert list(bad) == [0, 2, 3, 4]
    assert bad[0] == bad[2] == bad[3] != bad[4]


def test_bad_rows_are_all_named_and_nothing_is_imported(file: str, tmp_path: Path) -> None:
    study = sp.Study.create(file, TWO)
    table = tmp_path / "data.csv"
    bad = {3: "rad,0.5", 5: "red,", 6: "red,much", 7: "blue,1.5", 8: "red,nan", 9: ",0.5", 11: "blue,1_0"}
    table.write_text("arm,value\n" + "\n".join(bad.get(line, "red,0.5") for line in range(2, 13)) + "\n")
    with pytest.raises(RowsError, match="7 rows are no observation") as raised:
        study.import_data(table)
    assert [row.line for row in raised.value.rows] == list(bad)
    assert "did you mean 'red'" in raised.value.rows[0].why
    assert values(study) == []
    found = study.import_data(table, skip_bad=True)
    assert (found.new, [row.line for row in found.bad]) == (4, list(bad))
    frame = pd.DataFrame({"arm": ["red", "green", "blue"], "value": [0.5, 0.5, None]})
    with pytest.raises(RowsError) as raised:
        study.import_data(frame)
    assert [row.line for row in raised.value.rows] == [2, 3]
    for wrong in (tmp_path / "none.csv", tmp_path / "none.parquet", 3, None, pd.DataFrame({"a": [1]})):
        with pytest.raises(StudyError):
            study.import_data(wrong)
    assert len(values(study)) == 4


def test_moments_come_in_their_order(file: str) -> None:
    study, explorer = sp.Study.create(file, TWO), explorer_of(TWO)
    frame = pd.DataFrame({"arm": ["red", "blue", "red", "blue"], "value": [0.1, 0.2, 0.3, 0.4], "day": [3, 1, 1, 2]})
    study.import_data(frame, order="day")
    assert values(study) == [("blue", 0.2), ("red", 0.3), ("blue", 0.4), ("red", 0.1)]
    assert [entry.moment for entry in study.history()] == [1, 1, 2, 3]
    for arms in ({"blue": 0.2, "red": 0.3}, {"blue": 0.4}, {"red": 0.1}):
        explorer.tell_many(list(arms.items()))
    assert study.certificate().to_dict() == explorer.certificate().to_dict()
    dates = frame.assign(day=["2026-01-03", "2026-01-01", "2026-01-01", "2026-01-02"])
    assert study.import_data(dates, order="day", key="dates").new == 4
    with pytest.raises(StudyError, match="order"):
        study.import_data(frame.assign(day=["x"] * 4), order="day", key="x")
    assert study.verify().ok


def test_scores_are_imported_in_the_order_of_the_pool(file: str) -> None:
    study = sp.Study.create(file, POOLED)
    order = study._do(lambda turn: turn.explorer.pool.order.tolist(), writing=False)
    rows = [{"arm": arm, "item": item, "value": score(arm, item)} for arm in ("ant", "bee", "cat") for item in order[:20]]
    assert study.import_data(pd.DataFrame(rows)).new == 60
    assert study.import_data(pd.DataFrame(rows[:30]), key="part").new == 0
    with pytest.raises(ConflictError):
        study.import_data(pd.DataFrame([{**rows[0], "value": 1 - rows[0]["value"]}]))
    with pytest.raises(ObservationError, match="out of order"):
        study.import_data(pd.DataFrame([{"arm": "ant", "item": order[40], "value": 1.0}]))
    assert study.verify().ok


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_log_is_exported(file: str, tmp_path: Path, kind: str) -> None:
    study = sp.Study.create(file, TWO, who="ana")
    (ticket,) = study.ask(1)
    study.tell(ticket, 0.1 + 0.2)
    study.record("blue", [0.25], key="page 1")
    study.correct(2, 0.5, "a slip, or so")
    path = tmp_path / f"log.{kind}"
    assert study.export(path) == 3
    frame = pd.read_csv(path) if kind == "csv" else pd.read_parquet(path)
    assert frame["arm"].tolist() == ["red", "blue", "blue"]
    assert frame["value"].tolist() == pytest.approx([0.1 + 0.2, 0.25, 0.5], rel=1e-15)
    assert frame["counts_as"].tolist()[:2] == pytest.approx([0.1 + 0.2, 0.5], rel=1e-15)
    assert frame["corrects"].isna().tolist() == [True, True, False]
    assert frame["note"].tolist()[2] == "a slip, or so"
    with pytest.raises(StudyError):
        study.export(tmp_path / "none" / "log.csv")


# -- copies -----------------------------------------------------------------------------------------------------------------


def test_a_study_moves_to_another_database(file: str, shared: str, tmp_path: Path) -> None:
    source = sp.Study.create(tmp_path / "lab.db", FIVE, "posters")
    tickets = source.ask(12, worker="ana")
    source.tell_many([(ticket, 0.5) for ticket in tickets[:8]])
    source.record("a", [0.75] * 600, key="page 1")
    source.correct(2, 0.25, "a slip")
    source.copy(shared)
    moved = sp.Study.open(shared, "posters")
    assert moved.certificate().to_dict() == source.certificate().to_dict()
    assert [vars(entry) for entry in moved.history(limit=1000)] == [vars(entry) for entry in source.history(limit=1000)]
    assert [ticket.id for ticket in moved.ask(4, worker="ana")] == [ticket.id for ticket in tickets[8:]]
    moved.tell(tickets[0], 0.5)
    moved.tell(tickets[9], 0.5)
    moved.record("a", [0.75] * 600, key="page 1")
    assert moved.verify().ok
    with pytest.raises(StudyError, match="already"):
        source.copy(shared)
    with pytest.raises(StudyError, match="another database"):
        source.copy(tmp_path / "lab.db", "again")
    source.copy(shared, "again")
    moved.disconnect()


# -- size -------------------------------------------------------------------------------------------------------------------


def seconds(call: Callable[[], object], times: int) -> float:
    """The least that a call takes: what else goes on here makes it only longer."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        found.append(time.perf_counter() - began)
    return min(found)


def filled(path: Path, many: int, arms: int) -> sp.Study:
    study = sp.Study.create(path, {"arms": arms, "problem": {"kind": "top-k", "k": 5}, "delta": 1e-9})
    rng = np.random.default_rng(0)
    names = np.array(study.explorer().problem.names)
    study.import_data(pd.DataFrame({"arm": names[rng.integers(0, arms, many)], "value": rng.random(many)}))
    return study


def test_asking_does_not_slow_down_with_history(tmp_path: Path) -> None:
    few, many = filled(tmp_path / "few.db", 1_000, 50), filled(tmp_path / "many.db", 100_000, 50)
    least = [math.inf, math.inf]
    for _ in range(5):  # in turn, so that both see the same machine
        for k, study in enumerate((few, many)):
            least[k] = min(least[k], seconds(lambda study=study: study.release(study.ask(1)), 10))
    assert least[1] < 1.5 * least[0]


def test_open_tickets_are_found_by_their_index(file: str) -> None:
    """However many were answered."""
    study = sp.Study.create(file, TWO)
    with study._database.engine.connect() as connection:
        for asked in (tickets.WAITING, tickets.COUNT):
            words = str(asked.compile(dialect=sqlite.dialect()))
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {words}", (0,) * words.count("?"))
            assert "surepick_ticket_open" in str(plan.all())


@pytest.mark.slow
def test_a_million_observations(tmp_path: Path) -> None:
    few, path = filled(tmp_path / "few.db", 1_000, 1_000), tmp_path / "many.db"
    table = tmp_path / "table.csv"
    rng = np.random.default_rng(0)
    names = np.array([f"arm {i}" for i in range(1_000)])
    frame = pd.DataFrame({"arm": names[rng.integers(0, 1_000, 1_000_000)], "value": rng.random(1_000_000).round(5)})
    frame.to_csv(table, index=False)
    many = sp.Study.create(path, {"arms": 1_000, "problem": {"kind": "top-k", "k": 5}, "delta": 1e-9})
    began = time.perf_counter()
    assert many.import_data(table).new == 1_000_000
    assert time.perf_counter() - began < 20
    assert seconds(lambda: sp.Study.open(path).status(), 3) < 1
    least = [math.inf, math.inf]
    for _ in range(5):
        for k, study in enumerate((few, many)):
            least[k] = min(least[k], seconds(lambda study=study: study.release(study.ask(1)), 10))
    assert least[1] < 1.5 * least[0]
    assert many.verify().ok
