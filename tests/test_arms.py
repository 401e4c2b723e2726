from __future__ import annotations

import math

import numpy as np
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
        ({"kind": "normal"}, "bounded, bernoulli, subgaussian"),
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
