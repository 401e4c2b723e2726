"""A decision class with compiled loops that lives outside the package: the four files of tests/outside, and nothing else.

docs/extending.md walks through them; here is shown that the walk leads somewhere.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surepick as sp
from surepick.engine import loops, numba_dispatcher
from surepick.engine.numba_cache import files_of
from surepick.errors import SettingError
from surepick.problems import PROBLEMS
from surepick.run.drive import drive
from surepick.testing import check_problem

OUTSIDE = Path(__file__).parent / "outside"
FILES = sorted(OUTSIDE.glob("*.py"))
BY_RIVAL = ["clucb", "unified", "coci", "uniform"]
WORLD = [0.3, 0.5, 0.45, 0.8, 0.7, 0.6, 0.2, 0.4]


@pytest.fixture(scope="module", autouse=True)
def outside() -> Iterator[None]:
    """The folder can be imported from, here and in processes that are started from here."""
    sys.path.insert(0, str(OUTSIDE))
    yield
    sys.path.remove(str(OUTSIDE))
    PROBLEMS.pop("window", None)
    loops._registered.clear()
    for name in ("window", "window_joint", "window_kernel", "window_loop"):
        sys.modules.pop(name, None)


def window(*given: Any, **named: Any) -> sp.Problem:
    from window import Window

    return Window(*given, **named)


def explored(problem: sp.Problem, compiled: bool, batch: int, **settings: Any) -> tuple[list[int], dict[str, Any]]:
    explorer = sp.Explorer(problem, 0.1, **settings)
    drive(explorer, sp.Bernoulli(WORLD), seed=3, batch=batch, compiled=compiled)
    return explorer.counts.tolist(), explorer.certificate().to_dict()


def test_there_are_four_files() -> None:
    assert [path.name for path in FILES] == ["window.py", "window_joint.py", "window_kernel.py", "window_loop.py"]
    package = "".join(path.read_text(encoding="utf-8").lower() for path in Path(sp.__file__).parent.rglob("*.py"))
    assert not re.search(r"\bwindow_(joint|kernel|loop)\b|import window\b", package)  # which knows nothing of them


def test_it_keeps_all_promises() -> None:
    check_problem(window(6, 2), np.array([np.roll([1, 1, 0, 0, 0, 0], s) for s in range(5)]))
    check_problem(window(5, 3, sense="min"))
    check_problem(window([sp.Arm("a", -2, 2), sp.Arm("b", 0, 8), sp.Arm("c", -1, 0)], 2), explorations=False)


@pytest.mark.parametrize("policy", [*BY_RIVAL, "joint-linear"])
@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize(("confidence", "batch"), [("auto", 1), ("paper", 7)])
def test_the_loop_takes_the_samples_of_python(policy: str, sense: str, confidence: str, batch: int) -> None:
    settings = {"policy": policy, "confidence": confidence, "budget": 400}
    problem = window(8, 3, sense=sense)
    plain, fast = (explored(problem, compiled, batch, **settings) for compiled in (False, True))
    assert plain == fast
    assert sum(fast[0]) > 100


def test_the_loop_is_found_and_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    import window_loop

    explorer = sp.Explorer(window(8, 3), policy="coci", budget=3000)
    assert loops.find(explorer) is window_loop.LOOP
    asked = []
    monkeypatch.setattr(sp.policies.COCI, "choose", lambda *given: asked.append(given) or [0])
    drive(explorer, sp.Bernoulli([0.5] * 8), seed=1)
    assert explorer.samples == 3000
    assert len(asked) <= 1  # at most the first round was Python's


@pytest.mark.parametrize(
    "settings",
    [{}, {"epsilon": 0.3}, {"epsilon": 0.2, "relative": True}, {"spend": True}],
    ids=["exact", "near", "share", "spend"],
)
@pytest.mark.parametrize("k", [1, 3, 8])
def test_joint_stopping_takes_the_samples_of_python(settings: dict[str, Any], k: int) -> None:
    import window_joint

    problem = window(8, k)
    assert loops.find(sp.Explorer(problem, budget=3000, **settings)) is window_joint.LOOP
    plain, fast = (explored(problem, compiled, 1, budget=3000, **settings) for compiled in (False, True))
    assert plain == fast
    assert fast[1]["policy"] == "joint-linear"


def test_losses_are_those_of_brute_force() -> None:
    from window_kernel import losses

    rng = np.random.default_rng(5)
    for m, k in [(1, 1), (4, 4), (5, 1), (6, 2), (9, 4)]:
        problem, weights = window(m, k), rng.normal(size=m)
        rows = np.array([[int(s <= i < s + k) for i in range(m)] for s in range(m - k + 1)])
        decision, loss = np.full(m, 7), np.full(m, np.nan)
        assert losses(problem.lower(), weights, decision, loss)
        sums = rows @ weights
        assert (decision == rows[np.argmax(sums)]).all()
        for i in range(m):
            other = sums[rows[:, i] != decision[i]]
            assert loss[i] == (pytest.approx(sums.max() - other.max()) if len(other) else np.inf)


def test_a_policy_without_a_loop_runs_in_python() -> None:
    assert loops.find(sp.Explorer(window(8, 3), policy="gap")) is None
    outcome = sp.explore(window(8, 3), sp.Bernoulli(WORLD), policy="gap", seed=0)
    assert outcome.certificate.policy == "gap"
    assert list(outcome.certificate.chosen) == ["week 3", "week 4", "week 5"]


def test_a_loop_counts_once_however_often_it_is_registered() -> None:
    window(4, 2)
    before = list(loops._registered)
    loops.register("window_loop")
    assert loops._registered == before == ["window_joint", "window_loop"]


STUDY = """
policy = "clucb"
budget = 5000
arms = ["calm", "mild", "warm", "hot"]

[problem]
kind = "window"
k = 2

[simulate]
kind = "bernoulli"
p = [0.1, 0.3, 0.9, 0.8]
"""


def test_study_files_and_the_command_line_know_it(study: Any, ask: Any) -> None:
    window(4, 2)  # whoever imports the class has registered it
    found = ask("run", study(STUDY))
    assert found["certificate"]["decision"] == [0, 0, 1, 1]
    with pytest.raises(sp.SurepickError, match="A window of 9 does not fit into 4 arms") as caught:
        sp.load(study(STUDY.replace("k = 2", "k = 9")))
    assert caught.value.key == "problem.k"


def test_other_processes_explore_it() -> None:
    runs = [
        sp.simulate(window(4, 2), sp.Bernoulli([0.1, 0.3, 0.9, 0.8]), ["coci", "clucb"], runs=6, seed=2, executor=executor)
        for executor in (1, 2)
    ]
    assert (
        runs[0]
        .to_frame()
        .drop(columns="seconds", errors="ignore")
        .equals(runs[1].to_frame().drop(columns="seconds", errors="ignore"))
    )


def test_its_kernels_are_kept_on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the folder of our own kernels; out of date when a file beside them has changed, or one of ours."""
    window(4, 2).solve([0.1, 0.2, 0.3, 0.4])
    from window_kernel import best

    assert isinstance(best, numba_dispatcher.Kernel)
    assert best._cache.cache_path is not None
    assert list(Path(best._cache.cache_path).glob("outside.window_kernel.best-*.nbi"))


def test_a_change_of_a_file_beside_is_noticed(tmp_path: Path) -> None:
    from surepick.engine.keep import key, stamp

    for path in FILES:
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    before = stamp.__wrapped__(str(tmp_path / "window_loop.py"))
    assert before.startswith(key())
    (tmp_path / "window_kernel.py").write_text("changed", encoding="utf-8")
    assert stamp.__wrapped__(str(tmp_path / "window_loop.py")) != before


def test_a_loop_of_ours_with_a_class_from_elsewhere_is_compiled_anew_when_that_changes() -> None:
    import numba

    kinds = [numba.typeof(problem.lower()) for problem in (window(4, 2), sp.TopK(4, 2))]
    assert [files_of([kind]) for kind in kinds] == [{str(OUTSIDE / "window.py")}, set()]
    assert files_of([numba.typeof((1.0, 2))]) == set()


def test_the_walk_shows_these_files() -> None:
    page = (Path(__file__).parent.parent / "docs" / "extending.md").read_text(encoding="utf-8")
    for path in FILES:
        assert f"```python {path.name}\n{path.read_text(encoding='utf-8')}```" in page, path.name


@pytest.mark.parametrize("loop", [3, None, "no.such.module", "json"])
def test_what_is_no_loop_is_refused_with_its_name(loop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "_registered", [])

    def use() -> None:
        loops.register(loop)
        loops.find(sp.Explorer(sp.TopK(3, 1)))

    with pytest.raises(SettingError, match=f"{loop}") as refused:
        use()
    assert "loops.register" in str(refused.value)
