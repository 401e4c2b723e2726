"""Errors say for programs what they are about, and no code reads their sentences."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import surepick as sp
from surepick.errors import InfeasibleError, ObservationError, ParameterError, ProblemError, SettingError, SurepickError

SOURCE = Path(sp.__file__).parent
BUILDING = (ProblemError, SettingError, ParameterError, InfeasibleError)


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        (lambda: sp.TopK(3, k=4), "k"),
        (lambda: sp.TopK(3, k=1, sense="up"), "sense"),
        (lambda: sp.TopK(0, k=1), "arms"),
        (lambda: sp.BestArm(2, parameter="median"), "parameter"),
        (lambda: sp.Arm("a", low=2, high=1), "low"),
        (lambda: sp.Arm("a", kind="subgaussian"), "scale"),
        (lambda: sp.SpanningTree([(1, 2), (3, 3)]), "edges[1]"),
        (lambda: sp.Path([(1, 2)], 1, 1), "target"),
        (lambda: sp.Subsets(2, [[1, 0], [1, 0]]), "decisions[1]"),
        (lambda: sp.Program(2, [[1, 1]], levels=-1), "levels"),
        (lambda: sp.SampleAllocation([5, 0, 5], 9), "sizes[1]"),
        (lambda: sp.SampleAllocation([5, 5], 1), "budget"),
        (lambda: sp.ResourcePlan([[0, 1]], caps=[1], require=2), "caps"),
        (lambda: sp.ResourcePlan([[0, 1], [0]], caps=[1, 1], require=1), "cost"),
        (lambda: sp.TopK(3, 1).solve([1, 2]), "theta"),
        (lambda: sp.TopK(3, 1).rival([0, 0, 0], [1, 1, 1], [1, 1, 0]), "decision"),
        (lambda: sp.Bernoulli([0.5, 1.5]), "p[1]"),
        (lambda: sp.Gaussian([0, 0], [1, -1]), "sd[1]"),
        (lambda: sp.Explorer(sp.BestArm(2), delta=2), "delta"),
        (lambda: sp.Explorer(sp.BestArm(2), spend=True), "spend"),
        (lambda: sp.Explorer(sp.BestArm(2), policy="best"), "policy"),
        (lambda: sp.Explorer(sp.BestArm(2), confidence="sure"), "confidence"),
        (lambda: sp.Explorer(sp.BestArm(2), policy="ts-explore:q=9"), "policy"),
        (lambda: sp.policies.TSExplore(q=9), "q"),
    ],
)
def test_an_error_has_the_key_that_it_is_about(wrong: Callable[[], object], key: str) -> None:
    with pytest.raises(SurepickError) as caught:
        wrong()
    assert caught.value.key == key


def test_an_error_about_observations_has_the_arm() -> None:
    explorer = sp.Explorer(sp.BestArm(["a", "b"]))
    for arm, value in (("b", 2.0), ("c", 0.5)):
        with pytest.raises(ObservationError) as caught:
            explorer.tell(arm, value)
        assert caught.value.arm == arm


def test_errors_travel_between_processes_with_their_keys() -> None:
    for error in (SettingError("Too much.", key="delta"), ObservationError("Too large.", arm="b")):
        for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


# -- the source ---------------------------------------------------------------------------------------------------------


def without_key(source: str) -> list[int]:
    """Lines that refuse what a class, an environment or an exploration is made from, and do not say what of it."""
    names = {cls.__name__ for cls in BUILDING} | {"error"}
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and ast.unparse(node.exc.func) in names
        and not any(keyword.arg == "key" for keyword in node.exc.keywords)
    ]


def sentences_read(source: str) -> list[str]:
    """Tests of what the text of an error says."""
    text = r"(str\((error|exc|e)\)|(error|exc|e)\.args\[0\])"
    tests = rf"( in {text}|{text}\.(startswith|endswith|find|index|split|partition)\b|re\.\w+\(.*{text})"
    return [line.strip() for line in source.splitlines() if re.search(tests, line)]


def test_a_sentence_that_is_read_is_noticed() -> None:
    assert sentences_read('if "scale" in str(error):\n    pass\nfail(key, str(error))') == ['if "scale" in str(error):']
    assert sentences_read("found = re.search(name, str(error))") != []


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_code_reads_a_sentence(path: Path) -> None:
    assert sentences_read(path.read_text(encoding="utf-8")) == []


KEYED = [*sorted((SOURCE / "problems").glob("*.py")), SOURCE / "settings.py", SOURCE / "checks.py"]
METHODS = {"base.py": 4, "registry.py": 1, "checks.py": 1}  # which refuse no argument: methods that a class must write, a file


@pytest.mark.parametrize("path", KEYED, ids=lambda path: path.name)
def test_every_refusal_names_its_key(path: Path) -> None:
    assert len(without_key(path.read_text(encoding="utf-8"))) == METHODS.get(path.name, 0)
