"""A decision class from outside the package: once registered, study files, the command line and saved explorers know it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import surepick as sp
from surepick.arms import Floats, make_arms
from surepick.cli import app
from surepick.errors import ProblemError, StudyError
from surepick.estimators import Estimator, make_estimator
from surepick.problems import PROBLEMS, register, registry
from surepick.problems.half_spaces import HalfSpaces
from surepick.problems.keys import PARAMETER, SENSE, Key, Keys, wholes
from surepick.problems.oracle import OracleProblem


class Shelf(OracleProblem):
    """The neighbouring seats with the largest sum, as many as a party has."""

    kind = "shelf"
    noun = "seat"

    def __init__(self, party: int, arms: Any = 6, *, sense: str = "max", parameter: str | Estimator = "mean") -> None:
        super().__init__(make_arms(arms, self.noun), make_estimator(parameter), sense)
        if not 0 < party <= self.m:
            raise ProblemError(f"A party of {party} does not fit on {self.m} seats.", key="party")
        self.party = party

    def maximise(self, weights: Floats) -> np.ndarray[Any, Any]:
        start = int(np.argmax(np.convolve(weights, np.ones(self.party), "valid")))
        y = np.zeros(self.m, dtype=np.int64)
        y[start : start + self.party] = 1
        return y

    def admits(self, decision: Floats) -> bool:
        return bool(decision.sum() == self.party and (self.maximise(decision) == decision).all())

    def keys(self) -> dict[str, Any]:
        return {"party": self.party, "sense": self.sense}

    @classmethod
    def study_keys(cls) -> Keys:
        party = Key(int, "how many seats to take", column="party", read=lambda table, column: wholes(table, column)[0])
        return {"party": party, "sense": SENSE, "parameter": PARAMETER}

    def half_spaces(self, theta: Floats) -> HalfSpaces | None:
        every = np.array([np.roll(np.arange(self.m) < self.party, i) for i in range(self.m - self.party + 1)], dtype=np.int64)
        return HalfSpaces.of_decisions(every, self.solve_at(theta), self.sign, theta)


STUDY = '[problem]\nkind = "shelf"\nparty = 2\n[simulate]\nkind = "bernoulli"\np = [0.9, 0.9, 0.1, 0.2, 0.1, 0.1]\n'


@pytest.fixture
def known() -> Iterator[None]:
    register(Shelf)
    yield
    del PROBLEMS["shelf"]


def test_nobody_knows_it_before(study: Any) -> None:
    with pytest.raises(StudyError, match="'shelf' is unknown"):
        sp.load(study(STUDY))


@pytest.mark.usefixtures("known")
def test_study_files_take_its_keys_its_columns_and_its_noun(study: Any) -> None:
    problem = sp.load(study(STUDY)).problem
    assert isinstance(problem, Shelf)
    assert (problem.party, problem.names[0]) == (2, "seat 0")
    table = sp.load(study('arms = "t.csv"\n[problem]\nkind = "shelf"\nsense = "min"\n', t="name,party\na,3\nb,3\nc,3\nd,3\n"))
    assert isinstance(table.problem, Shelf)
    assert (table.problem.party, table.problem.sense, table.problem.m) == (3, "min", 4)
    for text, key in ((STUDY.replace("2", "9", 1), "problem.party"), (STUDY.replace("party", "paryt"), "problem.paryt")):
        with pytest.raises(StudyError) as caught:
            sp.load(study(text))
        assert caught.value.key == key
    with pytest.raises(StudyError, match="already in line 2; give each seat its own name"):
        sp.load(study('arms = "t.csv"\n[problem]\nkind = "shelf"\nparty = 1\n', t="name\na\na\n"))


@pytest.mark.usefixtures("known")
def test_the_command_line_runs_it(study: Any) -> None:
    result = CliRunner().invoke(app, ["run", str(study(STUDY)), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["certificate"]["decision"] == [1, 1, 0, 0, 0, 0]


@pytest.mark.usefixtures("known")
def test_explorers_with_it_are_saved(tmp_path: Path) -> None:
    explorer = sp.Explorer(Shelf(2, ["a", "b", "c"]), 0.1)
    explorer.tell("a", [0.5, 0.7])
    explorer.save(tmp_path / "e.json")
    again = sp.Explorer.load(tmp_path / "e.json")
    assert isinstance(again.problem, Shelf)
    assert (again.problem.party, again.counts.tolist()) == (2, [2, 0, 0])
    del PROBLEMS["shelf"]
    with pytest.raises(StudyError, match="'shelf' is not known here: import the module"):
        sp.Explorer.load(tmp_path / "e.json")
    register(Shelf)


def test_hardness_asks_the_class() -> None:
    theta = [0.9, 0.8, 0.2, 0.3]
    rows = [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    listed = sp.hardness(sp.Subsets(4, rows), theta)
    assert sp.hardness(Shelf(2, 4), theta).characteristic_time == pytest.approx(listed.characteristic_time, rel=1e-4)


def test_what_cannot_be_registered() -> None:
    class NoKind(Shelf):
        kind = ""

    class Thief(sp.TopK):
        pass

    for cls, words in (
        (NoKind, "has no kind"),
        (Thief, "'top-k' belongs to"),
        (OracleProblem, "has all of its"),
        (3, "not 3"),
    ):
        with pytest.raises(ProblemError, match=words):
            register(cls)  # type: ignore[type-var]
    assert PROBLEMS["top-k"] is sp.TopK


def test_an_installed_package_names_its_classes(monkeypatch: pytest.MonkeyPatch, study: Any) -> None:
    entry = EntryPoint("shelf", f"{__name__}:Shelf", registry.GROUP)

    def installed(**wanted: str) -> EntryPoints:
        return EntryPoints([entry]).select(**wanted)

    monkeypatch.setattr(registry, "entry_points", installed)
    assert isinstance(sp.load(study(STUDY)).problem, Shelf)
    del PROBLEMS["shelf"]
