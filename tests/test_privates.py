"""Private parts of other packages: each is used in one file, which says what it does without them; here is who tells when they
break."""

from __future__ import annotations

import ast
import builtins
import importlib.util
import sys
import tomllib
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
import typer

import surepick as sp
from surepick.cli.typed import Typed
from surepick.engine import numba_cache, numba_dispatcher, numba_generator, numba_nrt
from surepick.engine.compile import kernel, lean
from surepick.engine.data import Record, Stock
from surepick.engine.enums import Law, Shelf
from surepick.lab.futures_inside import let_go, workers

PACKAGE = Path(sp.__file__).parent
ROOT = Path(__file__).parent.parent

# The only files that may use what begins with an underscore in another package, or import what is inside numba.
FENCES = {
    "engine/numba_cache.py",
    "engine/numba_dispatcher.py",
    "engine/numba_generator.py",
    "engine/numba_nrt.py",
    "lab/futures_inside.py",
    "cli/typed.py",
}
PUBLIC = {"_exit", "_fields", "_replace", "_asdict", "_make"}  # of os and of named tuples: documented
INSIDE = ("numba.core", "numba.np", "llvmlite")


# -- nothing else uses them --------------------------------------------------------------------------------------------


@cache
def sources() -> dict[str, ast.Module]:
    return {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name.isidentifier() and name not in PUBLIC


def own_names(trees: dict[str, ast.Module]) -> set[str]:
    """What the package itself defines somewhere outside of the fences, or keeps as an attribute of its own objects."""
    found = set()
    for file, tree in trees.items():
        for node in ast.walk(tree) if file not in FENCES else ():
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
    return found


def foreign(tree: ast.Module, own: set[str]) -> list[str]:
    """Private names of others in one file: as attributes, in the texts of getattr and the like, and in imports."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and private(node.attr) and node.attr not in own:
            found.append(ast.unparse(node))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "hasattr", "setattr"):
            named = node.args[1]
            if isinstance(named, ast.Constant) and private(named.value) and named.value not in own:
                found.append(ast.unparse(node))
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            words = [*node.module.split("."), *(alias.name for alias in node.names)]
            if any(map(private, words)) or node.module.startswith(INSIDE):
                found.append(ast.unparse(node))
        elif isinstance(node, ast.Import):
            found += [ast.unparse(node) for alias in node.names if alias.name.startswith(INSIDE)]
    return found


def test_privates_of_others_are_used_behind_their_fences_only() -> None:
    trees = sources()
    own = own_names(trees)
    used = {file: names for file, tree in trees.items() if (names := foreign(tree, own)) and file not in FENCES}
    assert used == {}
    assert set(trees) >= FENCES


@pytest.mark.parametrize(
    "line",
    [
        "pool._result_queue._writer.close()",
        "from numba.core.caching import FunctionCache",
        "from llvmlite import ir",
        "getattr(executor, '_max_workers')",
        "from typer._click.exceptions import ClickException",
    ],
)
def test_a_private_part_elsewhere_is_seen(line: str) -> None:
    assert foreign(ast.parse(line), own_names(sources()))


def test_every_fence_says_what_it_uses_and_what_happens_without() -> None:
    for file in FENCES:
        told = ast.get_docstring(sources()[file]) or ""
        assert "the fence around" in told, file
        assert "Seen " in told, file
        assert "Where " in told, file


def test_numba_is_pinned_to_what_was_seen() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (pin,) = [need for need in project["dependencies"] if need.startswith("numba")]
    most = pin.partition("<")[2]
    assert most
    minor = int(most.split(".")[1])
    assert int(numba.__version__.split(".")[1]) < minor
    for file in ("requirements.txt", "requirements-test.txt"):
        (line,) = [line for line in (ROOT / file).read_text(encoding="utf-8").splitlines() if line.startswith("numba==")]
        assert int(line.removeprefix("numba==").split(".")[1]) < minor
    for name in ("numba_cache", "numba_dispatcher", "numba_generator", "numba_nrt"):
        assert f"0.{minor - 1}" in (ast.get_docstring(sources()[f"engine/{name}.py"]) or ""), "seen and pinned must agree"


# -- they are as expected in the installed versions ------------------------------------------------------------------------


def without(monkeypatch: pytest.MonkeyPatch, room: ModuleType, *missing: str) -> ModuleType:
    """A second copy of a module, made as if some modules could not be imported."""
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith(missing):
            raise ImportError(f"No module named {name!r}", name=name)
        return real(name, *rest, **named)

    assert room.__spec__ is not None
    assert room.__spec__.origin is not None
    spec = importlib.util.spec_from_file_location(room.__name__, room.__spec__.origin)
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "__import__", refuse)
        spec.loader.exec_module(copy)
    return copy


def test_kernels_need_no_reference_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert numba_nrt.LEAN == {"_nrt": False}
    assert without(monkeypatch, numba_nrt, "numba.core.options").LEAN == {}


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels that a test makes are not kept: they are not what their files say."""
    monkeypatch.setattr(numba_cache, "folders", lambda: ((), None))


def fresh(n):
    return np.zeros(n)


def add(values):
    total = 0.0
    for x in values:
        total += x
    return total


def test_a_lean_kernel_makes_no_arrays(nothing_kept: None) -> None:
    assert kernel(fresh)(3).tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(numba.core.errors.NumbaError, match="Only accept returning of array passed"):
        lean(fresh)(3)


def test_kernels_are_kept_on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(numba_cache, "folders", lambda: ((tmp_path,), tmp_path))
    first = kernel(add)
    assert first(np.ones(2)) == 2.0
    assert list(tmp_path.glob("*.nbi"))
    assert list(tmp_path.glob("*.nbc"))
    sig = (numba.typeof(np.ones(2)),)
    again = kernel(add)
    assert again._cache.filled(sig, again.targetctx.codegen())
    assert again(np.ones(2)) == 2.0
    assert sum(again.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("error", [RuntimeError("no compiled object yet for <Library>"), OSError("the disk is full")], ids=repr)
def test_what_cannot_be_written_is_not_kept_and_all_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception
) -> None:
    monkeypatch.setattr(numba_cache, "folders", lambda: ((tmp_path,), tmp_path))
    tries = []

    def fail(self: Any, sig: Any, data: Any) -> None:
        tries.append(sig)
        raise error

    monkeypatch.setattr(numba_cache._Shelf, "save_overload", fail)
    made = kernel(add)
    assert made(np.ones(2)) == 2.0
    assert len(tries) == (1 if isinstance(error, OSError) else 2)
    assert not made._cache.last.within
    assert not list(tmp_path.glob("*.nbc"))


def test_without_numbas_cache_nothing_is_kept_and_all_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    room = without(monkeypatch, numba_cache, "numba.core.caching")
    monkeypatch.setattr(room, "folders", lambda: ((tmp_path,), tmp_path))
    made = kernel(add)
    made._cache = room.Shelves(add)
    assert made(np.ones(2)) == 2.0
    assert (made._cache.shelves, made._cache.cache_path, list(tmp_path.iterdir())) == ([], None, [])


def test_kernels_are_dispatchers_of_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    made = kernel(add)
    assert made(np.ones(2)) == 2.0
    (version,) = made.overloads.values()
    assert numba_dispatcher.callable_from_python(version)
    assert numba_dispatcher.watch.depth == 0
    with pytest.raises(ImportError, match=r"has moved what surepick uses .*: install numba 0\.61 to 0\.68"):
        without(monkeypatch, numba_dispatcher, "numba.core.sigutils")


def test_compiled_code_draws_what_numpy_draws() -> None:
    from surepick.engine.kernels.draws import generator, next_double
    from surepick.run.source import _address

    @numba.njit
    def draw(address):
        return next_double(generator(address))

    assert numba_generator.DRAWS
    rng, same = (np.random.default_rng(7) for _ in range(2))
    address = _address(rng.bit_generator.capsule, b"BitGenerator")
    assert [draw(address) for _ in range(3)] == same.random(3).tolist()


@pytest.mark.parametrize("missing", ["llvmlite", "numba.np.random"])
def test_without_numbas_generators_the_caller_draws(monkeypatch: pytest.MonkeyPatch, nothing_kept: None, missing: str) -> None:
    from surepick.engine.kernels import draws

    room = without(monkeypatch, numba_generator, missing)
    assert not room.DRAWS
    monkeypatch.setitem(sys.modules, numba_generator.__name__, room)
    other = without(monkeypatch, draws)
    state, table = np.zeros((1, 8), dtype=np.int64), np.zeros((1, 8))
    state[0, Shelf.LAW] = Law.BERNOULLI
    record, stock = Record(np.zeros(1, dtype=np.int64), table, False), Stock(np.zeros((1, 64)), state, np.ones(1))
    assert not other.restock(0, record, stock)
    assert state[0, Shelf.FILLED] == 0  # the loop says that the stock is empty, and the caller fills it


def test_a_pool_tells_its_workers_and_lets_go() -> None:
    with ThreadPoolExecutor(3) as threads:
        assert workers(threads) == 3
    pool = ProcessPoolExecutor(2)
    assert workers(pool) == 2
    assert let_go(pool)
    assert pool._result_queue._writer.closed
    pool.shutdown()


def test_a_pool_that_is_otherwise_is_not_waited_for() -> None:
    class Strange:
        pass

    assert workers(Strange()) is None
    assert not let_go(Strange())


def test_every_complaint_about_typing_is_caught() -> None:
    assert issubclass(typer.BadParameter, Typed)
    assert Typed is not typer.BadParameter
    assert not issubclass(typer.Abort, Typed)
    assert not issubclass(typer.Exit, Typed)
    app = typer.Typer()
    app.command()(lambda: None)
    with pytest.raises(Typed, match="nonsense"):
        typer.main.get_command(app).main(["nonsense"], standalone_mode=False)
