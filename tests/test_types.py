"""What a type checker sees of the package: every public name, with its type."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import surepick as sp

SCRIPT = """
from decimal import Decimal
from fractions import Fraction
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import surepick as sp
from surepick import TopK
from surepick import NoSuchClass  # wrong: attr-defined

sp.NoSuchName  # wrong: attr-defined
sp.policies.NoSuchPolicy  # wrong: attr-defined

# Problems
top = assert_type(sp.TopK(10, k=3), TopK)
sp.TopK(["red", "blue", "green"], k=2, sense="min")
sp.TopK([sp.Arm("red", high=5.0), sp.Arm("blue")], 1)
sp.TopK(3, "x")  # wrong: arg-type
sp.TopK(3)  # wrong: call-arg
sp.TopK(3, kk=2)  # wrong: call-arg
sp.Arm("red", low="0")  # wrong: arg-type
sp.Arm("red", kind="bernouli")  # wrong: arg-type
sp.TopK(3, k=1, sense="maxx")  # wrong: arg-type
sp.Path([("a", "b")], "a", "b", sense="max")
sp.BestArm({"a": 1})  # wrong: arg-type
problems: list[sp.Problem] = [
    top,
    sp.BestArm(3),
    sp.BestOfEach(3, groups=["x", "x", "y"]),
    sp.SpanningTree([("a", "b"), ("b", "c"), ("a", "c")]),
    sp.Matching([("a", 1), ("b", 2)]),
    sp.Path([("a", "b"), ("b", "c")], "a", "c"),
    sp.Subsets(3, [[1, 1, 0], [0, 0, 1]]),
    sp.Program(3, A=[[1, 1, 1]], upper=[2]),
    sp.SampleAllocation([100, 200], budget=30),
    sp.ResourcePlan([[0.0, 1.0], [0.0, 2.0]], caps=1, require=1),
    sp.Separable(lambda x, y: x * y, [[0, 1], [0, 1]], oracle=lambda theta: [1, 0]),
]
sp.SampleAllocation([100, 200], budget="30")  # wrong: arg-type
sp.Path([("a", "b")], "a")  # wrong: call-arg
assert_type(sp.allocate([100, 200], [0.2, 0.1], budget=30), NDArray[np.int64])
sp.allocate([100, 200], budget=30)  # wrong: call-arg
assert_type(top.m, int)

# Worlds, and explorations
world = sp.Bernoulli([0.9, 0.5, 0.1])
sp.Bernoulli("0.9", 0.5)  # wrong: call-arg
worlds: list[sp.Environment] = [
    sp.Gaussian([0.0, 1.0], sd=1.0),
    sp.Beta([0.2, 0.3], 5),
    sp.Replay({"a": [0.1], "b": np.array([0.3])}),
    sp.VoterModel(["x", "y"], [(0, 1)], [0.1, 0.9]),
]
outcome = assert_type(sp.explore(sp.TopK(3, k=1), world, delta=0.1, budget=100), sp.Outcome)
assert_type(outcome.certificate, sp.Certificate)
assert_type(outcome.samples, int)
outcome.sample  # wrong: attr-defined
sp.explore(3, world)  # wrong: arg-type
sp.explore(top, world, delta="5 %")  # wrong: arg-type
sp.explore(top, world, budgget=100)  # wrong: call-arg
sp.explore(top, lambda arm, n, rng: rng.random(n))
sp.explore(top, lambda arm, n, rng: rng.random(n) < 0.5)
sp.explore(top, lambda arm, n, rng: rng.binomial(1, 0.5, n))

explorer = sp.Explorer(sp.BestArm(["red", "blue"]), delta=0.1, epsilon=0.05)
assert_type(explorer.arms_to_sample(4), list[int])
explorer.tell("red", [0.9, 0.8])
explorer.tell("red", Fraction(1, 2))
explorer.tell("red", [Decimal("0.5")])
row: dict[str, float] = {"red": 0.3, "blue": 0.4}
explorer.tell_row(row)
explorer.tell_many(list(row.items()))
pending: dict[str, int] = {"red": 3}
explorer.ask(4, pending)
explorer.tell("red")  # wrong: call-arg
explorer.tell([1], 0.3)  # wrong: arg-type
explorer.tell_row([0.3, 0.4])  # wrong: arg-type
explorer.ask("4")  # wrong: arg-type
assert_type(explorer.certified, bool)
explorer.certified()  # wrong: operator
assert_type(explorer.certificate().delta, float)
assert_type(explorer.plan(10)["red"], int)
assert_type(sp.Explorer.load("file.json"), sp.Explorer)

# Policies and confidence sequences with parameters
sp.explore(top, world, policy=sp.policies.TSExplore(q=0.3), confidence=sp.confidence.Normal(tuned=500))
sp.Explorer(top, policy="joint", confidence=sp.confidence.Bernstein())
sp.testing.check_policy(sp.policies.TSExplore(q=0.3), top)
sp.policies.TSExplore(q="0.3")  # wrong: arg-type
sp.policies.TSExplore(0.3)  # wrong: call-arg
sp.Explorer(top, policy=sp.confidence.Normal())  # wrong: arg-type

# Results as data frames
explorer.tell_frame(outcome.to_frame())
explorer.tell_frame()  # wrong: call-arg
assert_type(outcome.certificate.chosen["red"], Any)
names: list[str] = list(outcome.certificate.chosen)
names += [*explorer.plan(10), *explorer.paused, *explorer.ended, *top.names, *outcome.certificate.names]

# Hardness, simulations and studies
hard = assert_type(sp.hardness(top, [0.5] * 10), sp.Hardness)
assert_type(hard.H, float)
hard.lower_bound("0.1")  # wrong: arg-type
hard.lower_bound(0.1) + 1.0  # wrong: operator
simulation = assert_type(sp.simulate({"easy": (top, world)}, policies=["auto", "coci"], runs=5), sp.Simulation)
assert_type(sp.lab.simulate(top, world, delta=[0.1, 0.01]), sp.Simulation)
sp.simulate(top, world, runs="5")  # wrong: arg-type
sp.simulate([top], world)  # wrong: arg-type
worlds_by_name: dict[str, tuple[sp.TopK, sp.Bernoulli]] = {"easy": (top, world)}
sp.simulate(worlds_by_name, policies=[sp.policies.TSExplore(q=0.3), ("coci", "paper")])
sp.simulate(top, world, [3])  # wrong: list-item
assert_type(simulation.settings, dict[str, Any])
simulation.save(3)  # wrong: arg-type
study = sp.load("study.toml")
sp.load(3)  # wrong: arg-type
try:
    study.nothing  # wrong: attr-defined
except sp.errors.SettingError:
    pass


class Own(sp.Environment):
    def sample(self, arm: str, n: int) -> list[str]:  # wrong: override
        return []
"""
MARK = re.compile(r"# wrong: (\S+)")


def test_a_users_script(tmp_path: Path) -> None:
    """Right calls pass, and every wrong one is caught where it is."""
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary", "script.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert not run.stderr
    found = re.findall(r"^script\.py:(\d+): error: .*\[([\w-]+)\]$", run.stdout, re.MULTILINE)
    marked = [(str(n), mark[1]) for n, line in enumerate(SCRIPT.split("\n"), 1) if (mark := MARK.search(line))]
    assert found == marked, run.stdout


def test_nothing_is_left_to_guess() -> None:
    """Pyright knows the type of every public name, and the types that these are made of."""
    command = [sys.executable, "-m", "basedpyright", "--verifytypes", "surepick", "--ignoreexternal"]
    # --verifytypes asks the python it finds on the path where packages are, and takes no --pythonpath
    first = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run(command, env={**os.environ, "PATH": first}, capture_output=True, text=True)
    assert "Type completeness score: 100%" in run.stdout, (
        run.stdout[run.stdout.find("Symbols used in public interface") :] + run.stderr
    )
    assert f'Package directory: "{Path(sp.__file__).parent}"' in run.stdout


def test_the_lists_have_the_same_names() -> None:
    """The imports that type checkers read, the tables of the lazy imports, and __all__."""
    tree = ast.parse(Path(sp.__file__).read_text(encoding="utf-8"))
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    names, rooms = set(), set()
    for node in checked.body:
        assert isinstance(node, ast.ImportFrom)
        (names if node.module else rooms).update(alias.name for alias in node.names)
    assert sp.__all__ == sorted(sp._HOME)
    assert names == set(sp.__all__)
    assert rooms == set(sp._ROOMS)
    assert {*names, *rooms, "__version__"} == set(dir(sp))


def test_names_are_what_type_checkers_take_them_for() -> None:
    tree = ast.parse(Path(sp.__file__).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            module = import_module(f"surepick.{node.module}")
            assert all(getattr(module, alias.name) is getattr(sp, alias.name) for alias in node.names), node.module


def test_names_are_imported_when_they_are_used() -> None:
    code = """
import sys
import surepick as sp
sp.errors.SettingError
assert "numpy" not in sys.modules
sp.policies.COCI, sp.TopK
assert "surepick.lab" not in sys.modules
assert not hasattr(sp, "NoSuchName")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
