"""What holds of the sources themselves."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import surepick as sp

PACKAGE = Path(sp.__file__).parent
MOST = 14  # arguments of a function in compiled code: what belongs together is a named tuple, passed whole


def arguments(source: str) -> dict[str, int]:
    """How many arguments every function takes, also those within others."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            given = node.args
            many = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
            found[f"{getattr(node, 'name', 'lambda')}, line {node.lineno}"] = many
    return found


@pytest.mark.parametrize("room", ["engine", "problems", "policies", "confidence", "run", "difficulty"])
def test_no_function_takes_many_arguments(room: str) -> None:
    most = MOST if room != "run" else MOST + 2  # explore has all settings of an explorer by name
    many = {
        f"{path.relative_to(PACKAGE)}: {name}": n
        for path in (PACKAGE / room).rglob("*.py")
        for name, n in arguments(path.read_text(encoding="utf-8")).items()
        if n > most
    }
    assert many == {}


def test_arguments_are_counted() -> None:
    assert arguments("def f(a, /, b, *c, d=1, **e): return lambda x, y: x") == {"f, line 1": 3, "lambda, line 1": 2}


def constants(source: str) -> dict[str, str]:
    """The constants of a module, as they are written."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=True))
                found |= {name: ast.unparse(value) for a, value in pairs if (name := ast.unparse(a)).isupper()}
    return found


def test_a_constant_of_compiled_code_means_one_thing() -> None:
    meanings: dict[str, dict[str, str]] = {}
    for path in (PACKAGE / "engine").rglob("*.py"):
        for name, value in constants(path.read_text(encoding="utf-8")).items():
            meanings.setdefault(name, {})[value] = path.name
    del meanings["LOOP"]  # every loop declares itself by this name
    assert {name: found for name, found in meanings.items() if len(found) > 1} == {}


def test_constants_are_found() -> None:
    assert constants("A, B = 0, 1\nC = 2.5\nd = 3\nclass E:\n    F = 4") == {"A": "0", "B": "1", "C": "2.5"}
