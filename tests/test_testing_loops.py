"""check_problem and check_policy see planted bugs in compiled loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import surepick as sp
from surepick.engine import loops
from surepick.engine.enums import Stop
from surepick.testing import ConformanceError, check_policy
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
        (lambda explorer, source: source is not None and source.batch > 1, "With batch=4,"),
        (lambda explorer, source: explorer.spend, "spend=True"),
        (lambda explorer, source: explorer.epsilon > 0, "epsilon="),
    ],
    ids=["batch", "spend", "epsilon"],
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
