from __future__ import annotations

import datetime
import enum
import json
import math
from collections.abc import Hashable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import surepick as sp
from surepick.errors import ObservationError, ProblemError, SurepickError, UnknownArmError


def test_defaults() -> None:
    arm = sp.Arm("a")
    assert (arm.low, arm.high, arm.kind, arm.scale) == (0.0, 1.0, "bounded", None)
    assert sp.Arm("g", kind="subgaussian", scale=2).low == -math.inf


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"name": ""}, "non-empty"),
        ({"name": 3}, "positions"),
        ({"low": 1, "high": 1}, "low < high"),
        ({"low": math.nan}, "finite bounds"),
        ({"high": math.inf}, "subgaussian"),
        ({"kind": "gaussian"}, "bounded, bernoulli, subgaussian, normal"),
        ({"kind": "subgaussian"}, "scale=R"),
        ({"kind": "subgaussian", "scale": -1}, "positive"),
        ({"kind": "subgaussian", "scale": math.nan}, "positive"),
        ({"kind": "bernoulli", "high": 2}, "0 and 1"),
        ({"scale": 1.0}, "leave it out"),
    ],
)
def test_bad_arms(how: dict[str, object], words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        sp.Arm(**({"name": "a"} | how))


@pytest.mark.parametrize(
    ("arms", "words"),
    [
        (["a", "b", "a"], r"Two arms are called 'a' \(positions 0 and 2\)"),
        (0, "no arms"),
        ([], "no arms"),
        ("abc", "list of names"),
        (2.0, "whole number"),
        (True, "whole number"),
        ([1, 2], "positions"),
    ],
)
def test_bad_lists_of_arms(arms: object, words: str) -> None:
    with pytest.raises(ProblemError, match=words):
        sp.BestArm(arms)


ARMS = [sp.Arm("yes", kind="bernoulli"), sp.Arm("price", low=10, high=20), sp.Arm("free", kind="subgaussian", scale=1.0)]


@pytest.mark.parametrize(
    ("arm", "values", "error", "words"),
    [
        ("price", math.nan, ObservationError, "not a finite number"),
        ("price", [11, math.inf], ObservationError, "position 1"),
        ("price", 9.99, ObservationError, r"outside \[10, 20\]"),
        ("price", [[11, 12]], ObservationError, "flat list"),
        ("price", "12", ObservationError, "flat list"),
        ("price", None, ObservationError, "flat list"),
        ("price", np.ma.array([11.0, 12.0], mask=[False, True]), ObservationError, "position 1 is masked"),
        ("price", [np.ma.array([11.0, 12.0], mask=[False, True])], ObservationError, "flat list"),
        ("price", np.ma.masked, ObservationError, "flat list"),
        ("price", [11, None], ObservationError, "position 1 is None"),
        ("price", [11, pd.NA, 12], ObservationError, "position 1 is <NA>"),
        ("price", pd.Series([11, None], dtype="Int64"), ObservationError, "flat list|not a finite number"),
        ("price", pd.NaT, ObservationError, "flat list"),
        ("price", [Decimal("NaN")], ObservationError, "not a finite number"),
        ("price", [11, Decimal("20.5")], ObservationError, r"outside \[10, 20\]"),
        ("price", (x for x in (11, 12, 30)), ObservationError, "30.0 at position 2"),
        ("price", iter(["11"]), ObservationError, "flat list"),
        ("price", range(10**12), ObservationError, "flat list"),
        ("price", {11, 12}, ObservationError, "flat list"),
        ("price", [11, "12"], ObservationError, "position 1 is '12'"),
        ("yes", 0.5, ObservationError, "neither 0 nor 1"),
        ("free", [0.0, -math.inf], ObservationError, "not a finite number"),
        ("prices", 12, UnknownArmError, "did you mean 'price'"),
        (3, 12, UnknownArmError, "numbered 0 to 2"),
        (-1, 12, UnknownArmError, "numbered 0 to 2"),
        (True, 12, UnknownArmError, "name or its whole number"),
        (1.0, 12, UnknownArmError, "name or its whole number"),
    ],
)
def test_bad_observations_record_nothing(arm: object, values: object, error: type[SurepickError], words: str) -> None:
    explorer = sp.Explorer(sp.BestArm(ARMS))
    explorer.tell("price", [11, 12])
    before = explorer.certificate().to_dict()
    with pytest.raises(error, match=words) as raised:
        explorer.tell(arm, values)
    assert "othing was recorded" in str(raised.value)
    assert explorer.certificate().to_dict() == before


def test_good_observations_of_many_types() -> None:
    explorer = sp.Explorer(sp.BestArm(ARMS))
    for values in (True, 1, 0.0, [1, 0], np.array([1, 0], dtype=np.uint8), np.float32(1), []):
        explorer.tell(0, values)
    explorer.tell(np.int64(2), [-1e9, 1e9])
    assert explorer.counts.tolist() == [8, 0, 2]


@pytest.mark.parametrize(
    "values",
    [
        [0.5, 0.25],
        (0.5, 0.25),
        np.ma.array([0.5, 0.25]),
        np.array([0.5, 0.25], dtype=np.float32),
        [Decimal("0.5"), Fraction(1, 4)],
        np.array([Decimal("0.5"), 0.25], dtype=object),
        pd.Series([0.5, 0.25], index=["x", "y"]),
        pd.Series([0.5, 0.25], dtype="Float64"),
        pd.Series([0.5, 0.25], dtype="double[pyarrow]"),
        pd.Index([0.5, 0.25]),
        pd.array([0.5, 0.25], dtype="Float64"),
        pa.array([0.5, 0.25]),
        pa.chunked_array([[0.5], [0.25]]),
        [np.array(0.5), np.float16(0.25)],
    ],
)
def test_values_come_in_many_ways(values: object) -> None:
    assert sp.Arm("a").check(values).tolist() == [0.5, 0.25]


def test_a_generator_is_used_once() -> None:
    explorer = sp.Explorer(sp.BestArm(["a", "b"]))
    values = (x / 4 for x in range(5))
    explorer.tell("a", values)
    explorer.tell("a", values)  # nothing is left
    assert explorer.counts.tolist() == [5, 0]
    assert explorer.certificate().estimate[0] == 0.5


def test_an_error_of_a_generator_is_its_own_and_records_nothing() -> None:
    explorer = sp.Explorer(sp.BestArm(2))
    with pytest.raises(ZeroDivisionError):
        explorer.tell(0, (1 / x for x in (2, 1, 0)))
    assert explorer.samples == 0


def test_values_beyond_what_is_taken_at_once() -> None:
    """More than are looked at together, in the right order."""
    values = np.arange(150_000) / 150_000
    assert (sp.Arm("a").check(iter(values.tolist())) == values).all()


# -- names ----------------------------------------------------------------------------------------------------------------


class Size(enum.Enum):
    SMALL = 1
    LARGE = 2


@pytest.mark.parametrize(
    ("arms", "names"),
    [
        ([("lr", 0.1), ("lr", 0.2)], [("lr", 0.1), ("lr", 0.2)]),
        ([0.1, 0.25], [0.1, 0.25]),
        (list(Size), [Size.SMALL, Size.LARGE]),
        ([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]),
        (pd.Index(["x", "y"]), ["x", "y"]),
        (pd.Series(["x", "y"], index=[7, 8]), ["x", "y"]),
        (pd.MultiIndex.from_product([["x"], [1, 2]]), [("x", 1), ("x", 2)]),
        (pd.date_range("2020", periods=2), [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02")]),
        (np.array(["x", "y"]), ["x", "y"]),
        (np.array([0.1, 0.25]), [0.1, 0.25]),
        ([b"x", frozenset("ab")], [b"x", frozenset("ab")]),
    ],
)
def test_names_are_whatever_can_be_a_key(arms: object, names: list[Hashable]) -> None:
    explorer = sp.Explorer(sp.TopK(arms, 1), delta=0.1)
    assert explorer.problem.names == names
    assert explorer.plan(3) == {names[0]: 2, names[1]: 1}
    explorer.tell(names[0], [0.9, 0.8])
    explorer.tell(names[1], [0.7, 0.6])
    certificate = explorer.certificate()
    assert certificate.counts.tolist() == [2, 2]
    assert certificate.blocking == f"{names[1]} instead of {names[0]}"
    said = json.loads(json.dumps(certificate.to_dict()))
    assert said["arms"] == said["undecided"] == [str(name) for name in names]
    explorer.tell(names[0], [0.9] * 200)
    explorer.tell(names[1], [0.1] * 200)
    assert explorer.certificate().chosen == {names[0]: 1}


@pytest.mark.parametrize("name", [3, True, np.True_, np.int8(3), 2.0, Decimal(2), Fraction(2), -1, 10**400])
def test_a_whole_number_is_no_name(name: object) -> None:
    """It would be taken for a position."""
    with pytest.raises(ProblemError, match="positions"):
        sp.BestArm([name, "b"])


@pytest.mark.parametrize("name", [None, math.nan, ("a", math.nan), [], {}, pd.NA, pd.NaT, np.ma.masked, np.datetime64("NaT"), ""])
def test_names_that_are_none(name: object) -> None:
    with pytest.raises(ProblemError, match="name must be"):
        sp.BestArm([name, "b"])


def test_an_unknown_name_of_any_kind() -> None:
    explorer = sp.Explorer(sp.BestArm([("lr", 0.1), ("lr", 0.2)]))
    with pytest.raises(UnknownArmError, match=r"no arm called \('lr', 0.3\); the arms are \('lr', 0.1\), \('lr', 0.2\)\."):
        explorer.tell(("lr", 0.3), 1.0)
    for name in (["lr", 0.1], 0.1, None):
        with pytest.raises(UnknownArmError, match="name or its whole number"):
            explorer.tell(name, 0.5)


def test_names_that_read_the_same(capsys, tmp_path) -> None:
    """Tables, pictures and stores go by position."""
    from surepick.cli.talk import show_certificate
    from surepick.lab import History, allocation, closing, intervals, samples

    problem, world = sp.TopK([0.5, "0.5", Fraction(1, 2) + Fraction(1, 3), "5/6"], 2), sp.Bernoulli([0.9, 0.8, 0.2, 0.1])
    history = History()
    explorer = sp.Explorer(problem)
    history.follow(explorer, world)
    certificate = explorer.certificate()
    assert certificate.chosen == {0.5: 1, "0.5": 1}
    for picture in (intervals(certificate), samples(certificate), allocation(history), closing(history)):
        texts = [text.get_text() for text in picture.findobj(lambda artist: hasattr(artist, "get_text"))]
        assert sum("5/6" in text for text in texts) >= 2
    show_certificate(certificate)
    said = capsys.readouterr().out
    assert "Decision: 0.5, 0.5" in said
    assert [line.split()[0] for line in said.splitlines() if line.strip().endswith((" 0", " 1"))] == ["0.5", "0.5", "5/6", "5/6"]
    table = sp.simulate(problem, world, runs=2, executor=1, store=tmp_path / "store").table
    assert table["decision"].tolist() == ["{0 1}"] * 2


@pytest.mark.parametrize("many", [10_000_001, 10**400, np.uint64(2**63)])
def test_too_many(many: int) -> None:
    with pytest.raises(ProblemError, match="at most 10,000,000"):
        sp.BestArm(many)
    explorer = sp.Explorer(sp.BestArm(2))
    for question in (explorer.ask, explorer.plan):
        with pytest.raises(SurepickError, match="from 1 to 10,000,000"):
            question(many)
