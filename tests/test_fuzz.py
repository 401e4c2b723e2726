"""Junk in every argument of all that is public: an answer or a typed error with a sentence; no raw error, warning or hang."""

from __future__ import annotations

import contextlib
import datetime
import enum
import inspect
import itertools
import random
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import surepick as sp
from surepick.problems.oracle import OracleProblem

resource = pytest.importorskip("resource", reason="limits of time and memory are those of Linux")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of time and memory are those of Linux")

SECONDS = 2.0  # of processor time that one call may take
MEMORY = 2 << 30  # bytes that the process may grow by
ROUNDS = 24  # calls of every method, and twice as many of every constructor and function


# -- junk -----------------------------------------------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = 1


def spiteful(*methods: str) -> Any:
    """An object some of whose methods raise."""

    def refuse(*args: object, **kwargs: object) -> Any:
        raise RuntimeError("spite")

    return type("Spiteful", (), dict.fromkeys(methods, refuse))()


def spiteful_list() -> list[object]:
    return type("SpitefulList", (list,), {"__iter__": lambda self: 1 / 0, "__len__": lambda self: 1 / 0})([1, 2])


def endless() -> list[object]:
    loop: list[object] = [0.5]
    loop += [loop, loop]
    return loop


class OwnError(Exception):
    """An error of the user's own function."""


def failing(*args: object) -> float:
    raise OwnError


JUNK: list[Any] = [
    None, True, np.False_, Ellipsis, NotImplemented, slice(3),
    # numbers
    0, 1, 3, -1, 10**400, -(10**400), 10**5000, 2**63, 2**40,
    1.5, -0.5, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324,
    1j, Decimal("0.5"), Decimal("NaN"), Decimal("sNaN"), Decimal("1e999"),
    Fraction(1, 3), Fraction(10**400), Fraction(1, 10**400),
    # of NumPy
    np.uint64(2**63), np.int8(-3), np.uint8(2), np.float16(0.5), np.longdouble("1e4000"),
    np.float32(0.1), np.complex128(1j), np.timedelta64(3, "D"), np.timedelta64("NaT"),
    np.datetime64("2020-01-01"), np.str_("a"), np.bytes_(b"a"), np.void(b"ab"),
    np.array(1.0), np.array(3), np.array(None), np.array([None, 1.0]), np.array([]),
    np.empty((0, 3)), np.zeros((2, 2, 2)), np.array(["a", "b"]), np.array(["a", "b"], dtype=object),
    np.array([1, 2], dtype="m8[s]"), np.array([1j, 2]), np.zeros(2, dtype=[("x", float), ("y", int)]),
    np.array([0.5, 10**400], dtype=object), np.broadcast_to(0.5, 10**12), np.random.default_rng(0),
    np.array([2**63, 2**63 + 1], dtype=np.uint64), np.array([1e300, -1e300]), np.array([0.5, np.nan]),
    # masked, missing
    np.ma.masked, np.ma.array([0.1, 0.2], mask=[False, True]), np.ma.array([0.1, 0.2]),
    [np.ma.masked, 0.5], [np.ma.array([0.1, 0.2], mask=[True, False])] * 2,
    pd.NA, pd.NaT, [0.5, pd.NA], [0.5, None],
    # of pandas and Arrow
    pd.Series([0.1, 0.2]), pd.Series([1, None], dtype="Int64"), pd.Series([0.5, 0.25], dtype="Float64"),
    pd.Index(["a", "b"]), pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]), pd.DataFrame({"a": [1, 2]}),
    pd.Categorical(["a", "b"]), pd.Timestamp("2020-01-01"), pa.array([0.5, None]), pa.array([1, 2]),
    # texts and collections
    "", "auto", "abc", "a\0b", "x" * 300, b"abc", bytearray(b"ab"),
    memoryview(b"ab"), [], [[]], [1, [2]], [[1, 2], [3]], ["a", "a"], ("a", 0.1),
    {}, {"a": 1}, {"a": [0.5], "b": [0.1, 0.9]}, {1, 2}, frozenset("ab"), {"a": 1}.keys(),
    range(3), range(10**12), range(10**400), endless(), [("a", "b"), ("b", "c")],
    [0.5, "a"], [0.5, 0.5], [10**400, 1], [0.5, spiteful("__float__", "__repr__")],
    # objects
    object(), failing, lambda *args: "text", lambda *args: np.nan,
    lambda *args: 10**400, sp.Arm("a"), sp.BestArm(2), sp.Bernoulli([0.5, 0.25]), Colour.RED,
    datetime.date(2020, 1, 1), datetime.timedelta(3), spiteful_list(),
    spiteful("__repr__"), spiteful("__len__", "__getitem__"), spiteful("__iter__"), spiteful("__float__"),
    spiteful("__eq__", "__hash__"), spiteful("__bool__"), spiteful("__array__"), spiteful("__getattr__"),
    spiteful("__index__", "__int__"), spiteful("__fspath__"), spiteful("__str__"), spiteful("__next__"),
]  # fmt: skip
USED_UP: list[Callable[[], Any]] = [
    lambda: (x for x in (0.1, 0.2)), lambda: (x for x in "ab"), lambda: iter([]), lambda: map(str, range(3)),
    lambda: itertools.repeat(0.5),
]  # fmt: skip


def junk(rng: random.Random, good: object) -> Any:
    """Something from the list, or some of it among what would do."""
    bad = rng.choice(USED_UP)() if rng.random() < 0.05 else rng.choice(JUNK)
    if rng.random() < 0.6:
        return bad
    if isinstance(good, (list, tuple)) and good and rng.random() < 0.7:
        mixed = list(good)
        mixed[rng.randrange(len(mixed))] = bad
        return rng.choice((mixed, tuple(mixed), [*good, bad]))
    return rng.choice(([bad], (bad, bad), [good, bad], {"a": bad}, {"a": good, "b": bad}, [[bad, good], [good, good]]))


# -- what is called -------------------------------------------------------------------------------------------------------


def times(theta: float, y: float) -> float:
    return theta * y


def pick(theta: Any) -> Any:
    return np.eye(len(theta), dtype=int)[np.argmax(theta)]


EDGES = [("a", "b"), ("b", "c"), ("a", "c")]
# What each class or function takes, by its arguments; optional ones that are missing here get junk, too.
MADE: dict[str, dict[str, Any]] = {
    "Arm": {"name": "a", "low": 0, "high": 2},
    "Bernoulli": {"p": [0.9, 0.1]},
    "BestArm": {"arms": ["a", "b", "c"]},
    "BestOfEach": {"arms": ["a", "b", "c", "d"], "groups": ["x", "x", "y", "y"], "k": 1},
    "Beta": {"mean": [0.9, 0.1], "concentration": 3},
    "Explorer": {"problem": sp.TopK(3, 1), "delta": 0.1, "budget": 100},
    "Gaussian": {"mean": [1, 2], "sd": [1, 2]},
    "Matching": {"edges": [("a", 1), ("a", 2), ("b", 1), ("b", 2)]},
    "Path": {"edges": EDGES, "source": "a", "target": "c"},
    "Pool": {"items": ["x", "y"], "seed": 0},
    "Program": {"arms": 3, "A": [[3, 4, 2]], "lower": [0], "upper": [6], "levels": [1, 1, 2]},
    "Replay": {"values_by_arm": [[0.5, 1], [0.1, 0.2]]},
    "ResourcePlan": {"cost": [[0, 1, 3], [0, 2, 3]], "caps": [2, 2], "require": 2},
    "SampleAllocation": {"sizes": [6, 16, 13], "budget": 13},
    "Scores": {"table": [[1, 0, 1], [0, 0.5, 0]], "items": ["x", "y", "z"]},
    "Separable": {"rewards": times, "levels": [[0, 1], [0, 1]], "oracle": pick, "bimonotone": True},
    "Ranking": {"arms": 3},
    "SpanningTree": {"edges": EDGES},
    "Subsets": {"arms": 3, "decisions": [[1, 1, 0], [0, 0, 1]]},
    "TopK": {"arms": 4, "k": 2},
    "VoterModel": {"groups": ["x", "x", "y"], "edges": [(0, 1), (1, 2)], "innate": [1, 0, 0.5], "stubbornness": [0.5, 0.5, 0.2]},
    "allocate": {"sizes": [6, 16, 13], "variances": [0, 0.05, 0.2], "budget": 13},
    "evaluate": {"explorer": sp.Explorer(sp.BestArm(2), pool=sp.Pool(4)), "function": lambda candidate, item: 0.5, "retries": 0},
    "explore": {"problem": sp.BestArm(2), "sampler": sp.Bernoulli([0.9, 0.1]), "budget": 100},
    "hardness": {"problem": sp.TopK(3, 1), "theta": [0.9, 0.5, 0.1]},
    "load": {"path": "study.toml"},
    "read_results": {"metric": "acc", "missing": "drop", "candidates": ["a", "b"]},  # of the file below
    "simulate": {"problem": sp.BestArm(2), "environment": sp.Bernoulli([0.9, 0.1]), "policies": ["coci"], "runs": 2, "budget": 50,
                 "executor": 1},
}  # fmt: skip
BASES = {"Environment", "Estimator", "Problem"}  # abstract
RESULTS = {"Certificate", "Hardness", "Outcome", "Simulation", "SurepickError"}  # made by surepick itself
ELSEWHERE = {"Study"}  # test_durable_fuzz.py
RANDOM = {"sizes": [4, 5], "share": [0.5, 0.2], "ties": 2, "homophily": 0.7, "stubbornness": 0.2, "names": ["x", "y"], "seed": 3}


def test_every_public_name_is_called_here() -> None:
    assert set(MADE) | BASES | RESULTS | ELSEWHERE == set(sp.__all__)


def arguments(call: Callable[..., Any], known: dict[str, Any]) -> dict[str, Any]:
    """Good values of the arguments: those that are known, and defaults."""
    given = {}
    for name, parameter in inspect.signature(call).parameters.items():
        if name in known:
            given[name] = known[name]
        elif parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            given[name] = None if parameter.default is parameter.empty else parameter.default
    return given


def decide(tables: Any) -> list[int]:
    return [int(np.argmax(table)) for table in tables]


MORE = {
    "path with a cycle": sp.Path([*EDGES, ("c", "b"), ("b", "a")], "a", "c"),
    "longest path": sp.Path(EDGES, "a", "c", sense="max"),
    "loose matching": sp.Matching([("a", 1), ("a", 2), ("b", 1)], perfect=False, sense="min"),
    "real rows": sp.Subsets(2, [[0.5, 1], [2, -1.5], [0, 0]]),
    "choice": sp.Program(3, [[3, 4, 2]], upper=6),
    "uneven costs": sp.ResourcePlan([[0, 5, 1], [0, 2, 3]], [2, 2], 2),
    "tables": sp.Separable(times, [[0, 1], [0, 1, 2]], decide, table=True),
    "variances": sp.TopK(3, 1, parameter="variance"),
    "unbounded": sp.TopK([sp.Arm(name, kind="subgaussian", scale=2.0) for name in "abc"], 1),
}


def things() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Objects with methods, and what these take."""
    found: dict[str, tuple[Any, dict[str, Any]]] = {}
    classes = {name: getattr(sp, name) for name in MADE if isinstance(getattr(sp, name), type) and name != "Explorer"}
    for name, made in ({name: cls(**MADE[name]) for name, cls in classes.items()} | MORE).items():
        known: dict[str, Any] = {"values": [0.5, 1], "arm": 0, "n": 3, "rng": np.random.default_rng(0), "parameter": "mean"}
        known |= {"seed": 0, "run": 0, "pool": sp.Pool(["x", "y", "z"])}
        if isinstance(made, sp.Problem):
            lower, upper = np.maximum(made.low, -1), np.minimum(made.high, 2)
            theta = (lower + (upper - lower) * np.linspace(0.2, 0.7, made.m)).tolist()
            known |= {
                "counts": [2] * made.m,
                "theta": theta,
                "lower": lower.tolist(),
                "upper": upper.tolist(),
                "decision": made.solve(theta).tolist(),
            }
        found[name] = made, known | (RANDOM if name == "VoterModel" else {})
    for name, problem in (("means", sp.TopK(["a", "b", "c"], 1)), ("variances", sp.SampleAllocation([6, 16, 13], budget=13))):
        for told in (0, 1, 40):
            ex = sp.Explorer(problem, dependent=True)  # takes rows, too
            for i in range(problem.m):
                ex.tell(i, [i / 3] * told)
            row, pairs = {0: 0.5, 1: 0.25}, [(0, 0.5), (1, [0.25, 0.5])]
            known = {"arm": 0, "n": 4, "path": "explorer.json", "rows": [row, row], "observations": pairs}
            known["frame"] = pd.DataFrame({"arm": [0, 1, 0], "value": [0.5, 0.25, 0.5]})
            found[f"Explorer of {name} after {told}"] = ex, known | {"values": [0.5, 0.25]}
            found[f"Certificate of {name} after {told}"] = ex.certificate(), {}
    hard = sp.hardness(sp.TopK(3, 1), [0.9, 0.5, 0.1])
    found["Hardness"] = hard, {"delta": 0.1, "policy": "coci"}
    simulation = sp.simulate(sp.BestArm(2), sp.Bernoulli([0.9, 0.1]), runs=2, executor=1)
    found["Simulation"] = simulation, {"path": "table.csv"}
    return found


def poolable(thing: object) -> bool:
    """A problem of means of arms with bounds."""
    kinds = {arm.kind for arm in thing.arms} if isinstance(thing, sp.Problem) else {"none"}
    return isinstance(thing, sp.Problem) and thing.parameter.name == "mean" and kinds <= {"bounded", "bernoulli"}


# What loops ask a problem: it gets arrays that have been checked, by check_vector among others.
HOOKS = {"admits", "maximise", "maximise_within", "branches", "half_spaces", "exchanges", "check_vector"}
UNCHECKED = HOOKS | {name for name in dir(OracleProblem) if name.endswith(("_at", "_on"))}


def methods(thing: object) -> list[str]:
    names = [name for name in dir(type(thing)) if not name.startswith("_") and name not in UNCHECKED]
    return [name for name in names if callable(inspect.getattr_static(type(thing), name)) or name == "random"]


# -- the calls ------------------------------------------------------------------------------------------------------------


class Hang(BaseException):
    """Not an Exception, so that nobody catches it."""


def stop(_: int, frame: Any) -> None:
    while frame is not None:
        if "/numba/" in frame.f_code.co_filename:  # what is compiled for the first time may take longer
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            return
        frame = frame.f_back
    raise Hang


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """No call takes long, or much memory."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGPROF, stop)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def attempt(call: Callable[..., Any], given: dict[str, Any]) -> Exception | None:
    """The call's error, if it is one of ours with a sentence; fails on any other."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        call(**given)
    except sp.SurepickError as error:
        said = str(error)
        assert said.endswith("."), said
        assert 10 < len(said) < 1000, said
        assert "\n" not in said, said
        return error
    except OwnError as error:
        assert call in (sp.evaluate, sp.explore, sp.simulate)  # a sampler's or a progress function's error ends the run as it is
        return error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def starts_processes(name: str, what: str, value: object) -> bool:
    return name == "simulate" and what == "executor" and (value is None or isinstance(value, int))


def shown(given: dict[str, Any]) -> str:
    from surepick.checks import short

    return ", ".join(f"{key}={short(value)}" for key, value in given.items())


def fuzz(name: str, call: Callable[..., Any], good: dict[str, Any], rounds: int, same: Callable[[], object] | None = None) -> int:
    """Calls with one or two bad arguments; ``same`` must not change where a call is refused. Returns how many were."""
    rng, refused = random.Random(name), 0
    for _ in range(rounds):
        given = dict(good)
        for what in rng.sample(sorted(good), min(len(good), rng.choice((1, 1, 2)))):
            value = junk(rng, good[what])
            if not starts_processes(name, what, value):
                given[what] = value
        before = same() if same else None
        try:
            error = attempt(call, given)
        except BaseException as raw:
            raise AssertionError(f"{name}({shown(given)}) raised {type(raw).__name__}: {raw}") from raw
        refused += error is not None
        if error is not None and same:
            assert same() == before, f"{name}({shown(given)}) changed something"
    return refused


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Where junk that is a path does no harm."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text("model,item,acc,f1\na,x,1,1\nb,x,0,1\na,y,1,0\n", encoding="utf-8")
    (tmp_path / "study.toml").write_text('arms = ["a", "b"]\n[problem]\nkind = "best-arm"\n', encoding="utf-8")


@pytest.mark.parametrize("name", sorted(MADE))
def test_constructors_and_functions(name: str) -> None:
    call = getattr(sp, name)
    if name == "read_results":
        call = partial(call, "scores.csv")
    good = arguments(call, MADE[name])
    call(**good)  # what is good is taken, and compiled code is loaded
    with bounded():
        assert fuzz(name, call, good, 3 * ROUNDS) > ROUNDS


def test_methods() -> None:
    with bounded():
        for name, (thing, known) in things().items():
            for method in sorted(methods(thing), key=lambda method: method == "end"):  # after which nothing can be resumed
                refuses = {"shortfall": not getattr(thing, "ranked", True), "pair": "variances" in name}  # what is good as well
                refuses |= {
                    "pooled": not poolable(thing),
                    "sample": name == "Scores",
                    "standings": True,
                    "expect": True,
                }  # there is no pool
                if refuses.get(method):
                    continue
                call = getattr(thing, method)
                good = arguments(call, known)
                if method == "tell_row":
                    good["values"] = known["rows"][0]
                call(**good)
                same = (lambda thing=thing: thing.counts.tolist()) if isinstance(thing, sp.Explorer) else None
                fuzz(f"{name}.{method}", call, good, ROUNDS if good else 1, same)


def test_raw_errors_hangs_and_warnings_are_found(monkeypatch) -> None:
    """The checks above can fail."""

    def forever(x: object) -> None:
        while True:
            pass

    def warn(x: object) -> None:
        warnings.warn("careful", stacklevel=1)

    def mumble(x: object) -> None:
        raise sp.SurepickError("no")

    monkeypatch.setattr(f"{__name__}.SECONDS", 0.05)
    with bounded():
        for call, found in ((lambda x: x + 1, "Error"), (forever, "Hang"), (warn, "UserWarning"), (mumble, "AssertionError")):
            with pytest.raises(AssertionError, match=found):
                fuzz("control", call, {"x": 1}, 20)
