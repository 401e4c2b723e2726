"""Observations from data frames: what is taken, and what is said of a bad row."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surepick as sp
from surepick.errors import ObservationError, UnknownArmError

ARMS = ["red", "blue", "green"]


def explorer(**settings: Any) -> sp.Explorer:
    return sp.Explorer(sp.TopK(ARMS, 1), 0.1, **settings)


class Columns:
    """As little as a frame can be; polars has this much, and no index."""

    def __init__(self, **columns: Any) -> None:
        self.columns, self._columns = list(columns), columns

    def __getitem__(self, name: str) -> Any:
        return iter(self._columns[name])


@given(st.lists(st.tuples(st.sampled_from([*ARMS, 0, 1, 2]), st.floats(0, 1)), max_size=60))
def test_a_frame_is_the_same_as_its_rows(rows: list[tuple[Any, float]]) -> None:
    told, pairs = explorer(), explorer()
    told.tell_frame(pd.DataFrame(rows, columns=["arm", "value"]))
    pairs.tell_many(rows)
    assert told.counts.tolist() == pairs.counts.tolist()
    np.testing.assert_allclose(told.record.estimates, pairs.record.estimates, rtol=1e-12)
    assert told.certified == pairs.certified


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"value": [0, 1, 1], "day": ["Mon", "Tue", None], "arm": ["red", "red", "green"]}, index=[7, 7, 9]),
        pd.DataFrame({"arm": pd.Categorical(["red", "red", "green"]), "value": [False, True, True]}),
        pd.DataFrame({"arm": [0, 0, 2], "value": pd.array([0.0, 1.0, 1.0], dtype="Float64")}),
        Columns(arm=["red", "red", "green"], value=np.array([0.0, 1.0, 1.0])),
        pd.DataFrame({"Arm": ["red", "red", "green"], "VALUE": [0, 1, 1]}),
        pd.DataFrame({"Arm": [9, 9, 9], "arm": ["red", "red", "green"], "Value": [0, 1, 1]}),
    ],
    ids=["other columns", "categories", "positions", "polars", "capitals", "the exact title counts first"],
)
def test_kinds_of_frames(frame: object) -> None:
    ex = explorer()
    ex.tell_frame(frame)
    assert ex.counts.tolist() == [2, 0, 1]
    assert ex.record.estimates[[0, 2]].tolist() == [0.5, 1.0]


def test_a_frame_is_one_moment() -> None:
    """Halfway through the frame the decision would be certified, and at its end it is not."""
    ex, piecemeal = explorer(), explorer()
    good = pd.DataFrame({"arm": ARMS * 100, "value": [0.9, 0.1, 0.1] * 100})
    bad = pd.DataFrame({"arm": ARMS * 100, "value": [0.1, 0.9, 0.1] * 100})
    piecemeal.tell_frame(good)
    assert piecemeal.certified
    ex.tell_frame(pd.concat([good, bad]))
    assert not ex.certified


@pytest.mark.parametrize(
    ("arms", "values", "error", "said"),
    [
        (["red", "rde"], [0.1, 0.2], UnknownArmError, r"Row 1 .*'rde'; did you mean 'red'\?"),
        (["red", None], [0.1, 0.2], UnknownArmError, "Row 1 .*nan"),
        (["red", "red"], [0.1, np.nan], ObservationError, "Row 1 .*nan of arm 'red' is not a finite number"),
        (["red", "red"], pd.array([0.1, None], dtype="Float64"), ObservationError, "Row 1 .*<NA>.*missing"),
        (["red", "blue", "red"], [0.1, 1.5, -3.0], ObservationError, r"Row 1 .*1\.5 of arm 'blue' lies outside \[0, 1\]"),
        (["red", "red"], [0.1, "0.2"], ObservationError, r"Row 1 .*'0\.2'.*float\(\)"),
        (["red", "red"], [0.1, [0.2]], ObservationError, r"Row 1 .*\[0\.2\] is not a number"),
        (["red", "red"], [[0.1], [0.2]], ObservationError, r"Row 0 .*\[0\.1\] is not a number"),
    ],
)
def test_a_bad_row(arms: list[Any], values: Any, error: type[sp.SurepickError], said: str) -> None:
    ex = explorer()
    ex.tell("red", 0.3)
    with pytest.raises(error, match=said + r".* Nothing was recorded\.$") as caught:
        ex.tell_frame(pd.DataFrame({"arm": arms, "value": values}))
    row = re.match(r"Row (\d)", said)
    assert row
    assert caught.value.key == f"{'arm' if error is UnknownArmError else 'value'}[{row[1]}]"
    assert ex.samples == 1


class Query(Columns):
    """As a lazy frame: its columns have names, and no values yet."""

    def __getitem__(self, name: str) -> Any:
        raise TypeError


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pd.DataFrame({"variant": ["red"], "value": [0.1]}), "has no column 'arm'; its columns are 'variant', 'value'"),
        (pd.DataFrame([["red", "red", 0.1]], columns=["arm", "arm", "value"]), "has 2 columns 'arm'"),
        (pd.DataFrame([["red", "red", 0.1]], columns=["Arm", "ARM", "value"]), "has 2 columns 'arm'"),
        (pd.DataFrame({str(i): [1] for i in range(20)}), "'7' and 12 more"),
        ({"arm": ["red"], "value": [0.1]}, "tell_frame takes a data frame"),
        (pd.DataFrame, "tell_frame takes a data frame"),
        (Columns(arm=["red"], value=[]), "row by row"),
        (Query(arm=["red"], value=[0.1]), "row by row"),
    ],
)
def test_no_such_frame(frame: object, said: str) -> None:
    ex = explorer()
    with pytest.raises(ObservationError, match=said):
        ex.tell_frame(frame)
    assert ex.samples == 0
