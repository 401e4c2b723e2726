"""Results in the terminal, in a notebook and as a data frame."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import surepick as sp
from surepick import display

ODD = ["<b>red</b>", 'blüe & "日本"', ("a", 1), "x" * 90, "two\nlines"]
SHOWN = ["<b>red</b>", 'blüe & "日本"', "('a', 1)", "x" * 59 + "…", "two lines"]


@pytest.fixture(scope="module")
def outcome() -> sp.Outcome:
    return sp.explore(sp.TopK(ODD, k=2), sp.Bernoulli([0.9, 0.7, 0.3, 0.1, 0.1]), policy="coci")


@pytest.fixture(scope="module")
def hard() -> sp.Hardness:
    return sp.hardness(sp.TopK(ODD, k=2), [0.9, 0.7, 0.3, 0.1, 0.1])


@pytest.fixture(scope="module")
def simulation() -> sp.Simulation:
    worlds = {"<i>easy</i>": (sp.TopK(5, k=2), sp.Bernoulli([0.9, 0.8, 0.2, 0.1, 0.1]))}
    return sp.simulate(worlds, policies=["auto", "coci"], delta=[0.1, 0.05], runs=3)


def rows(shown: Any) -> list[list[str]]:
    """The cells of the table, as a reader sees them. Raises if the markup is not well-formed."""
    tree = ElementTree.fromstring(shown._repr_html_())
    return [["".join(cell.itertext()) for cell in row] for row in tree.iter("tr")]


def test_reprs_are_short(outcome: sp.Outcome, hard: sp.Hardness, simulation: sp.Simulation) -> None:
    many = sp.Explorer(sp.TopK(2000, 50)).certificate()
    for result in (outcome, outcome.certificate, hard, many):
        text = repr(result)
        assert text.startswith(f"<{type(result).__name__} of ")
        assert text.endswith(">")
        assert len(text) < 300
        assert "\n" not in text
        assert "array" not in text
    assert "<b>red</b>, blüe" in repr(outcome)
    assert "and 46 more" in repr(many)
    head, *lines = repr(simulation).split("\n")
    assert head == "<Simulation: 12 runs>"
    assert len(lines) == 5


def test_a_repr_has_the_amounts() -> None:
    plan = sp.Explorer(sp.SampleAllocation([10, 20], 6)).certificate()
    assert repr(plan).startswith("<Certificate of stratum 0 = 2, stratum 1 = 4: Not certified after 0 samples: 2 arms undecided")


def test_names_are_shown_as_they_are(outcome: sp.Outcome, hard: sp.Hardness, simulation: sp.Simulation) -> None:
    """And never read as markup."""
    for result in (outcome, outcome.certificate, hard):
        assert [row[0] for row in rows(result)] == ["arm", *SHOWN]
        assert "<b>red" not in result._repr_html_()
    assert [row[:2] for row in rows(simulation)][1:] == [["<i>easy</i>", policy] for policy in ("auto", "auto", "coci", "coci")]
    assert "<i>" not in simulation._repr_html_()


def test_the_numbers_of_a_table(outcome: sp.Outcome, hard: sp.Hardness) -> None:
    first, counts = rows(outcome)[1], outcome.counts
    assert first[1] == "1"
    assert float(first[2]) == pytest.approx(outcome.certificate.estimate[0], abs=1e-3)
    assert first[5] == f"{counts[0]:,}"
    assert rows(hard)[2][1:] == ["0.7", "1", "0.2", "0.4"]
    unknown = rows(sp.Explorer(sp.BestArm([sp.Arm("a", kind="subgaussian", scale=1.0), "b"])).certificate())
    assert unknown[1][2:] == ["–", "−∞", "∞", "0", "undecided"]


def test_a_certificate_says_what_it_assumes(outcome: sp.Outcome) -> None:
    text = "".join(ElementTree.fromstring(outcome._repr_html_()).itertext())
    assert text.startswith(str(outcome))
    assert all(condition in text for condition in outcome.certificate.conditions)


def test_many_arms_are_shortened() -> None:
    """The arms of the decision come first, then those that are undecided; the hardest arms of an instance."""
    best = [7, 50, 120, 150, 199]
    ex = sp.Explorer(sp.TopK(200, 5), policy="coci", confidence="beta")
    for i in range(200):
        ex.tell(i, np.full(10 if i == 180 else 2000, 0.9 if i in best else 0.2))
    found = rows(ex.certificate())
    assert len(found) == 1 + display.ROWS + 1
    assert sorted(row[0] for row in found[1:6]) == sorted(f"arm {i}" for i in ex.decision.nonzero()[0])
    assert "arm 180" in [row[0] for row in found]
    assert found[-1] == ["and 170 more arms"]
    theta = np.where(np.isin(np.arange(200), best), 0.9, 0.1)
    theta[180] = 0.8
    hardest = rows(sp.hardness(sp.TopK(200, 5), theta))
    assert len(hardest) == 1 + display.ROWS + 1
    assert "arm 180" in [row[0] for row in hardest[1:7]]


def test_frames_of_arms(outcome: sp.Outcome, hard: sp.Hardness) -> None:
    frame = outcome.to_frame()
    pd.testing.assert_frame_equal(frame, outcome.certificate.to_frame())
    assert list(frame) == ["arm", "decision", "estimate", "lower", "upper", "counts", "undecided"]
    assert frame["arm"].tolist() == ODD
    assert frame["counts"].sum() == outcome.samples
    assert frame.query("decision == 1")["arm"].tolist() == list(outcome.certificate.chosen)
    frame.loc[:, "counts"] = 0
    assert outcome.counts.all()  # the frame is the reader's own
    frame = hard.to_frame()
    assert list(frame) == ["arm", "theta", "decision", "radius", "gap"]
    assert frame["arm"].tolist() == ODD
    assert (1 / frame["radius"] ** 2).sum() == pytest.approx(hard.H)
    survey = sp.hardness(sp.SampleAllocation([1, 2], 5), [0.1, 0.2]).to_frame()
    assert survey["gap"].isna().all()


def test_frames_of_runs(simulation: sp.Simulation) -> None:
    frame = simulation.to_frame()
    pd.testing.assert_frame_equal(frame, simulation.table)
    frame["samples"] = 0
    assert (simulation.table["samples"] > 0).all()


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (None, "–"),
        (np.nan, "–"),
        (np.inf, "∞"),
        (-np.inf, "−∞"),
        (0.0, "0"),
        (-0.25, "−0.25"),
        (12345, "12,345"),
        (1 / 3, "0.3333"),
    ],
)
def test_figures(x: float | None, text: str) -> None:
    assert display.figure(x) == text


def test_texts_of_notebooks() -> None:
    assert display.listed([]) == ""
    assert display.listed(list("abcdef")) == "a, b, c, d and 2 more"
    assert "and 1 more run<" in display.table(["run"], [["1"]], 2, "run")
    assert "more" not in display.table(["run"], [["1"]], 1, "run")
    assert display.page("1 < 2", "") == "<div><p><b>1 &lt; 2</b></p></div>"


def test_an_explorer_shows_its_certificate() -> None:
    explorer = sp.Explorer(sp.TopK(ODD, k=2))
    assert explorer._repr_html_() == explorer.certificate()._repr_html_()
    assert [row[0] for row in rows(explorer)][1:] == SHOWN
