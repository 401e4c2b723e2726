"""Estimates against those of R's package survey 4.1-1 (R 4.2.2), which ``benchmarks/peers/survey/survey.R`` wrote."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from surepick import survey
from surepick.survey.classical import Design

ROOT = Path(__file__).parents[1]
HERE = ROOT / "benchmarks" / "peers" / "survey"
TABLES = {
    "made up": survey.estimate(HERE / "frame.csv", HERE / "answers.csv", by="sex", ratios=[("rent", "income")], df="n-H"),
    "wooded": survey.estimate(ROOT / "examples" / "strata.csv", ROOT / "examples" / "wooded.csv", df="n-H"),
}
with (HERE / "survey.csv").open(encoding="utf-8") as stream:
    LINES = list(csv.DictReader(stream))


def away(line: dict[str, str], column: str) -> float:
    """By how much ours is away from R's, as a share; 0 where one of them has none."""
    ours = getattr(TABLES[line["table"]].find(line["variable"], line["figure"], line["domain"]), column)
    return abs(ours / float(line[column]) - 1) if line[column] and ours is not None else 0.0


def largest(columns: list[str], lines: list[dict[str, str]]) -> float:
    assert lines
    return max(away(line, column) for line in lines for column in columns)


def test_estimates_standard_errors_and_design_effects():
    assert {line["figure"] for line in LINES} == {"mean", "total", "share", "ratio"}
    assert largest(["estimate", "se", "deff"], LINES) < 1e-9


def test_intervals_and_degrees_of_freedom():
    """Totals of shares in domains of whole strata have the share's logit interval here, and the t interval there."""
    assert largest(["df"], LINES) == 0
    other = [line for line in LINES if (line["figure"], line["variable"]) == ("total", "owner") and "=" not in line["domain"]]
    assert largest(["lower", "upper"], [line for line in LINES if line not in other]) < 1e-8


def test_planted_bug_no_correction(monkeypatch):
    variances = Design.variances
    monkeypatch.setattr(Design, "variances", lambda self, score: variances(replace(self, N=self.N * 1e6), score) / 1e12)
    wrong = survey.estimate(ROOT / "examples" / "strata.csv", ROOT / "examples" / "wooded.csv", df="n-H")
    right = TABLES["wooded"]
    assert wrong.find("value").estimate == right.find("value").estimate
    assert wrong.find("value").se > right.find("value").se * 1.05
