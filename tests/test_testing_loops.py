"""check_problem and check_policy see planted bugs in compiled loops."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import surepick as sp
from surepick.engine import loops
from surepick.engine.enums import Stop
from surepick.problems import PROBLEMS
from surepick.testing import ConformanceError, check_policy, check_problem
from surepick.testing.engines import said
from surepick.testing.problem import same_samples


class Early:
    """In place of compiled code: says that the budget is spent before it is."""

    spent = 0.0

    def ready(self, *given: Any) -> bool:
        return True

    def __call__(self, *given: Any) -> tuple[int, int]:
        return Stop.SPENT, 0


def planted(wrong: Callable[[Any, Any], bool]) -> loops.Loop:
    """COCI's own loop for the best k, which ends early if so."""
    own = loops.find(sp.Explorer(sp.TopK(4, 2), policy="coci"))
    assert own is not None

    def prepare(explorer: Any, source: Any) -> loops.Stretch:
        return loops.Stretch(Early(), ()) if wrong(explorer, source) else own.prepare(explorer, source)

    return own._replace(prepare=prepare, near=True, fits=lambda explorer: explorer.epsilon == 0 or wrong(explorer, None))


@pytest.mark.parametrize(
    ("wrong", "way"),
    [
        (lambda explorer, source: source is not None and source.batch > 1, "With batch=2,"),
        (lambda explorer, source: source is not None and source.batch >= 8, "With batch=9,"),
        (lambda explorer, source: source is not None and source.batch == 3 and explorer.spend, "With batch=3, spend=True"),
        (lambda explorer, source: explorer.spend, "spend=True"),
        (lambda explorer, source: explorer.epsilon > 0, "epsilon="),
    ],
    ids=["batch", "large-batch", "threes-to-spend", "spend", "epsilon"],
)
def test_a_bug_in_a_loop_is_seen_however_it_runs(
    wrong: Callable[[Any, Any], bool], way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops, "_registered", [planted(wrong)])
    with pytest.raises(ConformanceError, match="whether a compiled loop runs or Python") as seen:
        check_policy("coci", sp.TopK(4, 2))
    assert way in str(seen.value)
    found = same_samples(sp.TopK(4, 2))
    assert found is not None
    assert way in found[0]


# -- a loop from elsewhere, as in docs/extending.md -----------------------------------------------------------------------------

OUTSIDE = Path(__file__).parent / "outside"
TAKES = "        what, arm = take(batch, record, stock)\n"
ASTRAY = """        if batch.spend and batch.size == 1:
            batch.ahead[batch.arms[0]] -= 1
            batch.arms[0] = 0
            batch.ahead[0] += 1
"""  # takes the first arm instead
TWOS = ASTRAY.replace("batch.spend and batch.size == 1", "batch.size == 2")


@pytest.fixture
def window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], sp.Problem]]:
    """A problem of the three files, with something else in the place of a line of the loop."""
    folder = tmp_path / "outside"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(loops, "_registered", [])

    def write(right: str, wrong: str) -> sp.Problem:
        for path in OUTSIDE.glob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert path.stem != "window_loop" or text.count(right) == 1
            (folder / path.name).write_text(text.replace(right, wrong) if path.stem == "window_loop" else text, encoding="utf-8")
        from window import Window

        problem: sp.Problem = Window(5, 2)
        return problem

    yield write
    PROBLEMS.pop("window", None)
    for name in ("window", "window_joint", "window_kernel", "window_loop"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("right", "wrong", "way"),
    [
        (TAKES, ASTRAY + TAKES, "With batch=1, spend=True"),
        (TAKES, TWOS + TAKES, "With batch=2"),
        ('(name == "clucb", ', '(name == "coci", ', "policy='clucb': With batch=1, confidence='normal', counts is"),
    ],
    ids=["spends-astray", "twos-astray", "stops-by-another-test"],
)
def test_a_bug_in_a_loop_from_elsewhere_is_seen(
    window: Callable[[str, str], sp.Problem], right: str, wrong: str, way: str
) -> None:
    with pytest.raises(ConformanceError, match="A compiled loop takes the same samples as the Python loop") as seen:
        check_problem(window(right, wrong), cases=1)
    assert way in str(seen.value)


@pytest.mark.parametrize("name", ["estimate", "lower", "upper", "gap", "attained"])
def test_what_is_said_is_compared_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same samples, but Python and the compiled loop do not say the same of them."""
    told = []

    def wrong(explorer: sp.Explorer) -> dict[str, Any]:
        told.append(explorer)
        found = said(explorer)
        return found | {name: found[name] + 1e-6} if len(told) % 2 else found

    monkeypatch.setattr("surepick.testing.engines.said", wrong)
    found = same_samples(sp.TopK(4, 2))
    assert found is not None
    assert f"{name} is" in found[0]
