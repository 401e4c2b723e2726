"""Modules ask a problem only what it answers in public."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import surepick as sp

SOURCE = Path(sp.__file__).parent
FILES = sorted(path for path in SOURCE.rglob("*.py") if "problems" not in path.relative_to(SOURCE).parts)


def private_questions(source: str) -> list[str]:
    """Every ``problem._name`` and ``something.problem._name`` of a module."""
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and ast.unparse(node.value).rpartition(".")[2] == "problem"
    ]


def test_a_private_question_is_noticed() -> None:
    assert private_questions("a = self.problem._solve(theta)\nb = problem.solve_at(theta)") == ["line 1: self.problem._solve"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_module_asks_a_problem_in_private(path: Path) -> None:
    assert private_questions(path.read_text(encoding="utf-8")) == []
