"""Every block of code in the documentation runs, and prints what the page says it prints.

In README.md, CONTRIBUTING.md and docs/*.md the fences mean:

    ```python           runs; all blocks of a page share one namespace
    ```console          lines that begin with "surepick " run; others (make, pip) do not
    ```text             if it follows one of these directly, what that block prints, exactly
    ```toml study.toml  is written to that file first; without a name it must at least be TOML
    ```csv strata.csv   the same
    ```python mine.py   the same; blocks that follow can import it

A page runs in a folder of its own that holds a copy of examples/. ``python -m tests.test_docs`` writes all outputs anew.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest
from pydantic import BaseModel
from typer.main import get_command

import surepick as sp
from surepick.cli import app, main
from surepick.confidence import CONFIDENCES
from surepick.engine import loops, start
from surepick.environments import ENVIRONMENTS
from surepick.policies import POLICIES
from surepick.problems import PROBLEMS
from surepick.study import schema

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LANGUAGES = {"python", "console", "text", "toml", "csv", "bibtex", ""}
LARGEST_IMAGE = 120_000  # bytes

FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    language: str
    file: str  # the name behind the language, if there is one
    code: str
    line: int  # of the first line of code

    @property
    def runs(self) -> bool:
        return self.language in ("python", "console") and not self.file


def blocks(text: str) -> list[Block]:
    found = []
    for match in FENCE.finditer(text):
        language, _, file = match[1].strip().partition(" ")
        found.append(Block(language, file.strip(), match[2], text.count("\n", 0, match.start(2)) + 1))
    return found


def expected(page: list[Block], i: int) -> str | None:
    """What the page says that block i prints."""
    return page[i + 1].code if i + 1 < len(page) and page[i + 1].language == "text" else None


def run_python(block: Block, page: Path, names: dict[str, object]) -> str:
    out = io.StringIO()
    code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
    with contextlib.redirect_stdout(out):
        exec(code, names)
    return out.getvalue()


def run_commands(block: Block) -> tuple[str, set[int]]:
    """What the surepick commands of a block print, and their exit codes."""
    out, codes = io.StringIO(), set()
    for line in block.code.splitlines():
        if not line.startswith("surepick "):
            continue
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), pytest.raises(SystemExit) as ended:
            main(shlex.split(line, comments=True)[1:])
        codes.add(int(ended.value.code or 0))
    return out.getvalue(), codes


def trimmed(text: str) -> list[str]:
    """Lines without the blanks at their ends, and without empty lines around them."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n").splitlines()


@contextlib.contextmanager
def at_home(folder: Path) -> Iterator[None]:
    """In a folder, with 80 columns and no colours; what a page registers or imports from there is forgotten afterwards."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(patch.dict(os.environ, {"COLUMNS": "80"}))
        for registry in (POLICIES, CONFIDENCES, PROBLEMS):
            stack.enter_context(patch.dict(registry))
        stack.enter_context(patch.object(loops, "_registered", list(loops._registered)))
        stack.enter_context(patch.object(sys, "path", [str(folder), *sys.path]))
        os.environ.pop("FORCE_COLOR", None)
        before = set(sys.modules)
        yield
        for name in set(sys.modules) - before:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]


def outputs(page: Path, folder: Path) -> Iterator[tuple[int, str, str | None, str]]:
    """Runs a page in a folder: for every block that runs its number, its place, what the page says, what it prints."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    found = blocks(page.read_text(encoding="utf-8"))
    names: dict[str, object] = {"__name__": page.stem}
    for i, block in enumerate(found):
        where = f"{page.name}, line {block.line}"
        assert block.language in LANGUAGES, f"{where}: what is {block.language!r}?"
        if block.language == "toml":
            tomllib.loads(block.code)
        if block.file:
            assert block.language in ("toml", "csv", "python"), where
            Path(block.file).write_text(block.code, encoding="utf-8")
        if not block.runs:
            continue
        says = expected(found, i)
        if block.language == "python":
            output = run_python(block, page, names)
        else:
            output, codes = run_commands(block)
            # An error is fine where the page shows its message.
            assert codes <= {0} or (codes == {2} and says is not None), f"{where}: {output}"
        yield i, where, says, output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_runs(page: Path, tmp_path: Path) -> None:
    with at_home(tmp_path):
        for _, where, says, output in outputs(page, tmp_path):
            if says is not None:
                assert trimmed(output) == trimmed(says), where


def prose() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in LINK.findall(text):
        if target.startswith(("https://", "http://")):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{page.name} links to {target}"
        if anchor:
            titles = re.findall(r"^#+ +(.+)$", FENCE.sub("", there.read_text(encoding="utf-8")), re.MULTILINE)
            assert anchor in {slug(title) for title in titles}, f"{page.name} links to {target}"


def slug(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or f"]({page.name})" in index, page.name


def test_pictures_are_small_and_used() -> None:
    text = prose()
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.stat().st_size < LARGEST_IMAGE, picture.name
        assert picture.name in text


def test_every_public_name_is_documented() -> None:
    text = prose()
    missing = [name for name in sp.__all__ if not re.search(rf"\b{name}\b", text)]
    assert not missing, "describe these in docs/"


@pytest.mark.parametrize("registry", [PROBLEMS, POLICIES, CONFIDENCES, ENVIRONMENTS], ids=["problems", "policies", "conf", "env"])
def test_every_kind_is_documented(registry: dict[str, object]) -> None:
    text = prose()
    missing = [kind for kind in registry if f"`{kind}`" not in text and f'"{kind}"' not in text]
    assert not missing, "describe these in docs/"


def test_every_key_of_a_study_is_documented() -> None:
    text = (ROOT / "docs" / "study-files.md").read_text(encoding="utf-8")
    models: list[type[BaseModel]] = [schema.StudyKeys, schema.ArmKeys, schema.VoterKeys]
    models += schema.SIMULATE_KEYS.values()
    names = {name for model in models for name in model.model_fields}
    for cls in PROBLEMS.values():
        for name, key in (cls.study_keys() or {}).items():
            names |= {name, *(inner for keys in key.tables.values() for inner in keys)}
    missing = {name for name in names if f"`{name}`" not in text}
    assert not missing, "describe these in docs/study-files.md"


def test_every_command_and_option_is_documented() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    group = get_command(app)
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        assert f"## `surepick {name}" in text
        section = re.split(r"^## ", text.split(f"## `surepick {name}", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
        within = getattr(command, "commands", {})  # of a group
        for word in within:
            assert f"`{word}" in section, f"{name} {word}"
        for parameter in [one for each in (command, *within.values()) for one in each.params]:
            for option in parameter.opts:
                if option.startswith("--") and option not in ("--help", "--json"):
                    assert f"`{option}" in section, f"{name} {option}"


def rewrite(page: Path) -> None:
    """Puts what the blocks print into the text blocks that follow them."""
    with tempfile.TemporaryDirectory() as folder, at_home(Path(folder)):
        news = {i + 1: output for i, _, says, output in outputs(page, Path(folder)) if says is not None}
    text = page.read_text(encoding="utf-8")
    for i, match in reversed(list(enumerate(FENCE.finditer(text)))):
        if i in news:
            text = text[: match.start(2)] + "\n".join([*trimmed(news[i]), ""]) + text[match.end(2) :]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    start._told = True  # that something is compiled is no part of a page
    for one in PAGES:
        rewrite(one)
