"""Bounds that do not fit: what is said of a value beyond them, and of a range that is far too wide."""

from __future__ import annotations

import math

import numpy as np
import pytest

import surepick as sp
from surepick.errors import ObservationError

STUDY = """
[[arms]]
name = "ward"
high = {high}
[[arms]]
name = "clinic"
high = {high}
[problem]
kind = "{kind}"
{keys}
"""


def data(tmp_path, values: dict[str, list[float]]):
    path = tmp_path / "minutes.csv"
    path.write_text("arm,value\n" + "".join(f"{arm},{x}\n" for arm, told in values.items() for x in told))
    return path


def study(tmp_path, high: float, kind: str = "best-arm", keys: str = ""):
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(high=high, kind=kind, keys=keys))
    return path


def minutes(n: int = 30) -> dict[str, list[float]]:
    rng = np.random.default_rng(1)
    return {"ward": rng.normal(20, 2, n).tolist(), "clinic": rng.normal(25, 2, n).tolist()}


def test_a_value_beyond_the_bounds_names_three_ways_out() -> None:
    ex = sp.Explorer(sp.BestArm([sp.Arm("ward", 0, 60), sp.Arm("clinic", 0, 60)]))
    with pytest.raises(ObservationError) as caught:
        ex.tell("ward", [20.0, 75.0])
    said = str(caught.value)
    assert "Observation 75.0 at position 1 of arm 'ward' lies outside [0, 60]" in said
    assert all(way in said for way in ("physical", "kind='normal'", "transform", "Nothing was recorded"))
    assert ex.samples == 0


def test_check_suggests_a_kind_where_the_range_is_too_wide(ask, cli, tmp_path) -> None:
    values = minutes()
    found = ask("check", study(tmp_path, 1000), data(tmp_path, values))["wide_ranges"]
    assert found == {arm: pytest.approx(1000 / np.std(told, ddof=1)) for arm, told in values.items()}
    code, out, _ = cli("check", study(tmp_path, 1000), data(tmp_path, values))
    out = " ".join(out.split())
    assert code == 0
    assert "standard deviations of its values wide" in out
    assert 'kind = "normal"' in out
    assert "Not for these data" in out


@pytest.mark.parametrize(("high", "n"), [(60, 30), (1000, 9)])
def test_nothing_is_suggested_of_a_range_that_fits_or_of_few_values(ask, tmp_path, high: float, n: int) -> None:
    assert ask("check", study(tmp_path, high), data(tmp_path, minutes(n)))["wide_ranges"] == {}


def test_values_all_alike_are_said_to_be(ask, cli, tmp_path) -> None:
    values = {"ward": [20.0] * 12, "clinic": [25.0] * 12}
    code, out, _ = cli("check", study(tmp_path, 1000), data(tmp_path, values))
    assert (code, "more than 50 standard deviations" in " ".join(out.split())) == (0, True)
    assert ask("check", study(tmp_path, 1000), data(tmp_path, values))["wide_ranges"].keys() == values.keys()


def test_normal_arms_are_not_suggested_for_variances(cli, tmp_path) -> None:
    path = study(tmp_path, 1000, "sample-allocation", "budget = 10\nsizes = [40, 60]")
    code, out, _ = cli("check", path, data(tmp_path, minutes()))
    assert code == 0
    assert "standard deviations of its values wide" in " ".join(out.split())
    assert 'kind = "normal"' not in out


def test_far_from_0_the_spread_is_still_seen(ask, tmp_path) -> None:
    """By sums about the mean: squares of the values themselves would have lost it."""
    path = tmp_path / "study.toml"
    path.write_text('[[arms]]\nname = "a"\nlow = 1e9\nhigh = 1000000100\n[[arms]]\nname = "b"\n[problem]\nkind = "best-arm"\n')
    told = {"a": [1e9 + x for x in np.linspace(50, 51, 20)], "b": np.linspace(0, 1, 20).tolist()}
    found = ask("check", path, data(tmp_path, told))["wide_ranges"]
    assert found == {"a": pytest.approx(100 / np.std(np.linspace(50, 51, 20), ddof=1), rel=1e-3)}
    assert math.isfinite(found["a"])
