"""The simulation laboratory: the same table wherever runs are done, counted right, and kept through a crash."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import surepick as sp
from surepick.environments import stream
from surepick.errors import ProblemError, SettingError, SurepickError
from surepick.lab import work
from surepick.lab.bar import span, words
from surepick.lab.decisions import Known, text_of
from surepick.lab.fingerprint import fingerprint
from surepick.lab.simulation import clopper_pearson
from surepick.lab.store import VERSION, Store
from surepick.lab.trials import World, run_chunk
from surepick.lab.work import Cell, Standing
from surepick.policies import COCI, POLICIES
from surepick.policies.base import Policy
from surepick.problems import PROBLEMS as CLASSES
from surepick.settings import Settings

from .processes import heed_ctrl_c

PROBLEMS = {
    "posters": (sp.TopK(4, k=2), sp.Bernoulli([0.9, 0.8, 0.3, 0.1])),
    "survey": (sp.SampleAllocation([3, 2, 1], 8), sp.Beta([0.5, 0.3, 0.6], [0.5, 5.0, 2.0])),
}
EDGES = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]
MAKERS = {  # one of every class
    "best-arm": lambda: sp.BestArm(4),
    "top-k": lambda: sp.TopK(4, k=2),
    "best-of-each": lambda: sp.BestOfEach(4, [0, 0, 1, 1]),
    "ranking": lambda: sp.Ranking(4),
    "spanning-tree": lambda: sp.SpanningTree(EDGES),
    "matching": lambda: sp.Matching([(u, v) for u in "ab" for v in "cd"]),
    "path": lambda: sp.Path(EDGES, "a", "d"),
    "subsets": lambda: sp.Subsets(4, [[1, 0.5, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1.5]]),
    "program": lambda: sp.Program(4, [[1, 2, 1, 2]], upper=4, levels=2),
    "sample-allocation": lambda: sp.SampleAllocation([1, 2, 3, 2], 9),
    "resource-plan": lambda: sp.ResourcePlan([concave] * 4, 2, 3),
    "separable": lambda: sp.Separable(plain, [[0, 1]] * 4, best_first, bimonotone=True),
}
QUICK = {"policies": ["auto", "coci/paper"], "delta": [0.1, 0.05], "runs": 6, "seed": 3, "epsilon": 0.05, "budget": 120}


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that are done from here on, in this process."""
    done: list[int] = []

    def count(world: World, settings: Settings, seed: int, runs: range) -> Any:
        done.extend(runs)
        return run_chunk(world, settings, seed, runs)

    monkeypatch.setattr(work, "run_chunk", count)
    return done


# -- the same whoever does it ---------------------------------------------------------------------------------------------


def test_the_table_is_the_same_whoever_does_the_runs() -> None:
    here = sp.simulate(PROBLEMS, executor=1, **QUICK).table
    assert len(here) == 2 * 2 * 2 * 6
    pool = sp.simulate(PROBLEMS, executor=2, **QUICK).table
    pd.testing.assert_frame_equal(pool, here, check_exact=True)
    with ThreadPoolExecutor(3) as threads:
        pd.testing.assert_frame_equal(sp.simulate(PROBLEMS, executor=threads, **QUICK).table, here, check_exact=True)
    with ProcessPoolExecutor(1, get_context("spawn")) as given:
        pd.testing.assert_frame_equal(sp.simulate(PROBLEMS, executor=given, **QUICK).table, here, check_exact=True)


@pytest.mark.parametrize("size", [1, 4])
def test_the_table_does_not_depend_on_chunks(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sp.simulate(PROBLEMS, executor=1, **QUICK).table
    monkeypatch.setattr(Cell, "size", lambda self: size)
    pd.testing.assert_frame_equal(sp.simulate(PROBLEMS, executor=1, **QUICK).table, before, check_exact=True)


def test_a_run_is_what_explore_does() -> None:
    problem, world = PROBLEMS["posters"]
    table = sp.simulate(problem, world, "coci/paper", runs=3, seed=7, executor=1).table
    outcome = sp.explore(problem, world, policy="coci", confidence="paper", seed=7)  # run 0
    first = table.iloc[0]
    assert (first["samples"], first["certified"], first["decision"]) == (outcome.samples, True, "{0 1}")
    assert table["run"].tolist() == [0, 1, 2]
    assert table["problem"].unique() == ["top-k"]
    assert table["samples"].nunique() > 1


class Noted(sp.Bernoulli):
    """Notes the first values that every arm gives."""

    seen: ClassVar[list[tuple[int, float]]] = []

    def sample(self, arm: int, n: int, rng: np.random.Generator) -> np.ndarray:
        values = super().sample(arm, n, rng)
        self.seen.append((arm, tuple(values[:20].tolist())))
        return values


def test_policies_share_their_luck() -> None:
    problem, world = sp.TopK(4, k=2), Noted([0.9, 0.8, 0.3, 0.1])
    firsts = {}
    for policy in ("auto", "coci/paper", "clucb/own"):
        Noted.seen.clear()
        sp.simulate(problem, world, policy, runs=1, seed=5, executor=1)
        firsts[policy] = dict(reversed(Noted.seen))
    plain = sp.Bernoulli(world.p)
    want = {arm: tuple(plain.sample(arm, 20, stream(5, 0, arm)).tolist()) for arm in range(4)}
    assert all(first == want for first in firsts.values())


def concave(y: int) -> float:
    return 0.3 * y**0.5


def plain(theta: float, y: float) -> float:
    return theta * y


def best_first(theta: Any) -> Any:
    return np.eye(len(theta), dtype=int)[np.argmax(theta)]


def used(problem: sp.Problem) -> np.ndarray:
    """Ask a problem everything, so that it keeps what it keeps."""
    low, high = np.clip(np.linspace(0.1, 0.4, 4), problem.low, problem.high), np.clip(0.6, problem.low, problem.high)
    decision = problem.solve((low + high) / 2)
    problem.undecided(low, high)
    problem.rival(low, high, decision)
    return decision


@pytest.mark.parametrize("kind", MAKERS)
def test_every_problem_can_be_sent_after_use(kind: str) -> None:
    problem = MAKERS[kind]()
    decision = used(problem)
    size = len(pickle.dumps(problem))
    assert size == len(pickle.dumps(MAKERS[kind]()))
    assert (used(pickle.loads(pickle.dumps(problem))) == decision).all()


def test_every_class_is_tried() -> None:
    own = {kind for kind, cls in CLASSES.items() if cls.__module__.startswith("surepick.")}
    assert set(MAKERS) == {*own, "separable"}


# -- counted right --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("errors", "runs"), [(0, 10), (3, 50), (50, 50), (149, 2000), (1, 1)])
def test_intervals_are_exact(errors: int, runs: int) -> None:
    exact = binomtest(errors, runs).proportion_ci(0.95, method="exact")
    assert clopper_pearson(errors, runs) == pytest.approx((exact.low, exact.high), rel=1e-12)


def test_the_summary_is_that_of_the_table() -> None:
    simulation = sp.simulate(PROBLEMS, policies={"new": "auto", "old": "coci/paper"}, delta=[0.2, 0.05], runs=20, executor=1,
                             budget=1000)  # fmt: skip
    table, summary = simulation.table, simulation.summary
    assert summary["policy"].tolist() == ["new", "new", "old", "old"] * 2
    assert summary["m"].tolist() == [4] * 4 + [3] * 4
    for row in summary.itertuples():
        mine = table[(table["problem"] == row.problem) & (table["policy"] == row.policy) & (table["delta"] == row.delta)]
        samples = mine["samples"].to_numpy()
        assert row.mean == samples.mean()
        assert row.se == pytest.approx(samples.std(ddof=1) / 20**0.5)
        quantiles = np.quantile(samples, [0.05, 0.25, 0.5, 0.75, 0.95])
        assert [row.q05, row.q25, row.median, row.q75, row.q95] == quantiles.tolist()
        assert row.certified == mine["certified"].sum()
        problem, theta = simulation.problems[row.problem]
        assert row.lower_bound == pytest.approx(sp.hardness(problem, theta).lower_bound(row.delta))
        if row.certified == 20:
            assert row.ratio == row.mean / row.lower_bound
    stopped = summary[summary["certified"] < 20]
    assert len(stopped)  # the paper's intervals do not certify the survey with 1,000 samples
    assert stopped["ratio"].isna().all()
    assert (stopped["errors"] == 0).all()
    assert (table[~table["certified"]]["samples"] == 1000).all()


def test_with_an_epsilon_there_is_no_lower_bound() -> None:
    summary = sp.simulate(*PROBLEMS["posters"], epsilon=0.1, runs=3, executor=1).summary
    assert summary[["lower_bound", "ratio"]].isna().all(axis=None)


def test_ties_are_not_errors() -> None:
    problem, world = sp.BestArm(3), sp.Bernoulli([0.1, 0.9, 0.9])
    table = sp.simulate(problem, world, epsilon=0.3, runs=30, executor=1).table
    assert set(table["decision"]) == {"{1}", "{2}"}
    assert table["correct"].all()
    summary = sp.simulate(problem, world, budget=50, runs=2, executor=1).summary
    assert summary["lower_bound"].tolist() == [np.inf]
    assert summary["ratio"].isna().all()


def test_what_is_correct() -> None:
    problem = sp.TopK(3, k=1)
    world = World.of(problem, sp.Bernoulli([0.8, 0.78, 0.3]))
    second, third = np.array([0, 1, 0]), np.array([0, 0, 1])
    assert world.correct(np.array([1, 0, 0]), 0.0, False)
    assert not world.correct(second, 0.0, False)
    assert not world.correct(second, 0.01, False)
    assert world.correct(second, 0.02, False)
    assert world.correct(second, 0.025, True)  # 2.5 % of 0.8
    assert not world.correct(second, 0.0249, True)
    assert not world.correct(third, 0.4, False)
    cost = sp.Subsets(2, [[1, 0], [0, 1]], sense="min")
    world = World.of(cost, sp.Bernoulli([0.5, 0.55]))
    assert world.correct(np.array([0, 1]), 0.1, True)
    assert not world.correct(np.array([0, 1]), 0.09, True)


def test_decisions_are_short_texts() -> None:
    assert text_of(np.array([0, 1, 1]), sp.TopK(3, 2)) == "{1 2}"
    assert text_of(np.array([5, 2, 1]), sp.SampleAllocation([1, 2, 3], 8)) == "(5 2 1)"
    assert text_of(np.array([0.5, -1.0]), sp.Subsets(2, [[0.5, -1.0], [1, 1]])) == "(0.5 -1)"


@pytest.mark.parametrize("kind", MAKERS)
def test_decisions_are_vectors_also_from_a_store(kind: str, tmp_path: Path) -> None:
    """Fresh or read from the file, and the ones that the table shows."""
    problem, world = MAKERS[kind](), sp.Beta([0.9, 0.8, 0.3, 0.1], 5)
    for _ in range(2):
        found = sp.simulate(problem, world, "coci", runs=4, budget=20, executor=1, store=tmp_path / "runs.db")
        assert [text_of(y, problem) for y in found.decisions] == found.table["decision"].tolist()
        assert all(problem.contains(y) for y in found.decisions)
        assert {y.dtype for y in found.decisions} == {np.dtype(float if kind == "subsets" else int)}
        assert len({id(y) for y in found.decisions}) == found.table["decision"].nunique()


def test_texts_of_decisions_are_read_back() -> None:
    for vector, problem in (
        ([0, 1, 1], sp.TopK(3, 2)),
        ([0, 0], sp.Subsets(2, [[0, 0], [1, 1]])),
        ([5, 2, 1], sp.SampleAllocation([1, 2, 3], 8)),
        ([0.1 + 0.2, -1.0], sp.Subsets(2, [[0.1 + 0.2, -1.0], [1, 1]])),
    ):
        known, decision = Known(), np.array(vector)
        back = known.read(text_of(decision, problem), problem)
        assert back.dtype == decision.dtype
        assert back.tolist() == vector
        assert known(decision) is back


class Hasty(Policy):
    """A planted bug: stops as soon as every arm has two samples."""

    name = "hasty"
    rule = "hasty"

    def certified(self, view: Any) -> bool:
        return bool((view.counts >= 2).all())

    def candidates(self, view: Any) -> Any:
        return view.counts < 2


@pytest.mark.parametrize("executor", [1, 2])
def test_a_broken_policy_is_seen(executor: int) -> None:
    """With two samples of each the better of 0.7 and 0.6 is mistaken more than a third of the time."""
    summary = sp.simulate(sp.BestArm(2), sp.Bernoulli([0.6, 0.7]), [Hasty(), "auto"], runs=120, executor=executor).summary
    broken, sound = summary.itertuples()
    assert broken.error_low > 0.05
    assert sound.error_low <= 0.05
    assert broken.errors > 120 / 5


# -- kept -----------------------------------------------------------------------------------------------------------------


def test_what_is_in_the_store_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, world = PROBLEMS["posters"]
    store, done = tmp_path / "results.db", counted(monkeypatch)
    few = sp.simulate(problem, world, "auto", runs=10, store=store, executor=1).table
    assert sorted(done) == list(range(10))
    done.clear()
    again = sp.simulate(problem, world, "auto", runs=10, store=store, executor=1).table
    assert done == []
    pd.testing.assert_frame_equal(again, few)
    # More runs, another policy, another delta: only what is new. "joint" is what "auto" is here.
    more = sp.simulate(problem, world, ["joint", "coci/paper"], delta=[0.05, 0.1], runs=15, store=store, executor=1).table
    assert len(done) == 4 * 15 - 10
    fresh = sp.simulate(problem, world, ["joint", "coci/paper"], delta=[0.05, 0.1], runs=15, executor=1).table
    pd.testing.assert_frame_equal(more, fresh)
    done.clear()
    sp.simulate(sp.TopK(4, k=1), world, "auto", runs=10, store=store, executor=1)
    assert len(done) == 10
    # A hole is filled, and nothing else.
    with sqlite3.connect(store) as connection:
        connection.execute("DELETE FROM runs WHERE run IN (2, 3, 7)")
    connection.close()
    done.clear()
    pd.testing.assert_frame_equal(sp.simulate(problem, world, "auto", runs=10, store=store, executor=1).table, few)
    assert sorted(done) == [2, 3, 7]


SCRIPT = """
import sys, surepick as sp

problem, world = sp.TopK(4, k=2), sp.Bernoulli([0.9, 0.8, 0.3, 0.1])
sp.simulate(problem, world, ["auto", "coci/paper"], runs={runs}, store=sys.argv[1], executor=2)
"""


def rows(store: Path) -> int:
    if not store.exists():
        return 0
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=10)
    try:
        return connection.execute("SELECT count(*) FROM runs").fetchone()[0]
    except sqlite3.OperationalError:  # not set up yet
        return 0
    finally:
        connection.close()


def waited(what: Any, seconds: float = 90.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads the ids of the workers from /proc")
def test_a_killed_simulation_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, store = 2500, tmp_path / "results.db"
    script = tmp_path / "script.py"  # without `if __name__ == "__main__"`: workers do not run it again
    script.write_text(SCRIPT.format(runs=runs), encoding="utf-8")
    process = subprocess.Popen([sys.executable, str(script), str(store)])
    try:
        assert waited(lambda: rows(store) >= 0.8 * 2 * runs or process.poll() is not None)
        assert process.poll() is None, "it was done before it could be killed"
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    finally:
        process.kill()
        process.wait()
    assert len(children) >= 2
    assert waited(lambda: not any(alive(int(pid)) for pid in children), 30), "workers outlive their parent"
    have = rows(store)
    assert 0.8 * 2 * runs <= have < 2 * runs
    done = counted(monkeypatch)
    problem, world = PROBLEMS["posters"]
    table = sp.simulate(problem, world, ["auto", "coci/paper"], runs=runs, store=store, executor=1).table
    assert len(done) == 2 * runs - have
    some = sp.simulate(problem, world, ["auto", "coci/paper"], runs=50, executor=1).table
    pd.testing.assert_frame_equal(table[table["run"] < 50].reset_index(drop=True), some)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_keeps_what_is_done(tmp_path: Path, study: Any) -> None:
    file = study('arms = 4\n[problem]\nkind = "top-k"\nk = 2\n[simulate]\nkind = "bernoulli"\np = [0.9, 0.8, 0.3, 0.1]\n')
    store = tmp_path / "results.db"
    command = [sys.executable, "-c", "from surepick.cli import main; main()", "simulate", str(file), "--runs", "200000",
               "--processes", "2", "--store", str(store)]  # fmt: skip
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=heed_ctrl_c
    )
    try:
        assert waited(lambda: rows(store) > 100)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, err
    assert not [line for line in err.splitlines() if not line.startswith("surepick: compiling")]
    have = rows(store)
    assert (
        out
        == f"Stopped by Ctrl-C after {have:,} of 200,000 runs: they are in {store}, and the same command goes on from there.\n"
    )


def test_a_dead_worker_is_a_sentence(tmp_path: Path) -> None:
    store = tmp_path / "results.db"
    killed: list[int] = []
    before = {child.pid for child in active_children()}

    def kill(standing: Standing) -> None:
        if standing.done >= 8 and not killed:
            worker = next(child for child in active_children() if child.pid not in before)
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGTERM)

    with pytest.raises(SurepickError, match=r"A worker process died.*results\.db; run it again to go on") as caught:
        sp.simulate(*PROBLEMS["posters"], "coci/paper", runs=50_000, executor=2, store=store, progress=kill)
    assert type(caught.value) is SurepickError
    assert rows(store) >= 8


@pytest.mark.parametrize("what", ["text", "database", "newer", "folder", "missing"])
def test_other_files_are_refused(what: str, tmp_path: Path) -> None:
    path = tmp_path / "results.db"
    says = "is not a store of simulation results"
    if what == "text":
        path.write_text("arm,value\n" * 100, encoding="utf-8")
    elif what == "folder":
        path.mkdir()
        says = "must be a file"
    elif what == "missing":
        path = tmp_path / "none" / "results.db"
        says = "there is no folder"
    else:
        if what == "newer":
            with Store.open(path):
                pass
            says = f"has version {VERSION + 1}"
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE mine (x)")
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.commit()
        connection.close()
    content = path.read_bytes() if path.is_file() else b""
    with pytest.raises(SettingError, match=says):
        sp.simulate(*PROBLEMS["posters"], runs=2, store=path, executor=1)
    assert content == (path.read_bytes() if path.is_file() else b"")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_table_is_saved(ending: str, tmp_path: Path) -> None:
    simulation = sp.simulate(PROBLEMS, executor=1, **QUICK)
    path = simulation.save(tmp_path / f"table.{ending}")
    assert os.listdir(tmp_path) == [path.name]
    read = pd.read_csv(path) if ending == "csv" else pd.read_parquet(path)
    pd.testing.assert_frame_equal(read, simulation.table, check_exact=True)
    for wrong, says in ((tmp_path / "table.xlsx", r"\.parquet or \.csv"), (tmp_path / "none" / "table.csv", "no folder")):
        with pytest.raises(SettingError, match=says):
            simulation.save(wrong)


# -- fingerprints ---------------------------------------------------------------------------------------------------------

SETTINGS = Settings(policy="coci", confidence="paper")
BASE = SETTINGS, 0


def double(x: float) -> float:
    return FACTOR * x


FACTOR = 2.0


def test_any_change_changes_the_fingerprint() -> None:
    problem, world = PROBLEMS["posters"]
    other = [
        (problem, world, replace(SETTINGS, **change), 0)
        for change in (
            {"policy": "uniform"},
            {"policy": "ts-explore"},
            {"policy": "ts-explore:q=0.3"},
            {"confidence": "auto"},
            {"confidence": "auto:tuned=500"},
            {"delta": 0.051},
            {"epsilon": 0.1},
            {"relative": True},
            {"per_arm": True},
            {"dependent": True},
            {"budget": 100},
        )
    ]
    other.append((problem, world, SETTINGS, 1))
    other += [
        (made, world, *BASE)
        for made in (
            sp.TopK(4, k=1),
            sp.TopK(["a", "b", "c", "d"], k=2),
            sp.TopK([sp.Arm("a", high=2), "b", "c", "d"], k=2),
            sp.TopK(4, k=2, parameter="variance"),
            sp.BestOfEach(4, [0, 0, 1, 1]),
            sp.Program(4, [[1, 1, 1, 1]], upper=2),
            sp.Program(4, [[1, 1, 1, 2]], upper=2),
            sp.ResourcePlan(lambda y: y, 2, 3, arms=["a", "b", "c", "d"]),
            sp.ResourcePlan(lambda y: 2 * y, 2, 3, arms=["a", "b", "c", "d"]),
        )
    ]
    other += [
        (problem, made, *BASE)
        for made in (
            sp.Bernoulli([0.9, 0.8, 0.3, 0.11]),
            Noted([0.9, 0.8, 0.3, 0.1]),
            sp.Beta([0.9, 0.8, 0.3, 0.1], 2),
            sp.Replay([[0.9], [0.8], [0.3], [0.1]]),
            sp.Replay([[0.9], [0.8], [0.3], [0.1, 0.1]]),
        )
    ]
    prints = [fingerprint(problem, world, *BASE)] + [fingerprint(*one) for one in other]
    assert len(set(prints)) == len(prints)


def separable(reward: Any) -> sp.Separable:
    return sp.Separable(reward, [[0, 1]] * 4, best_first, bimonotone=True)


def test_functions_count_with_their_code(monkeypatch: pytest.MonkeyPatch) -> None:
    world = PROBLEMS["posters"][1]

    def made(n: float) -> Any:
        return lambda theta, y: n * theta * y

    rewards = [lambda t, y: t * y, lambda t, y: t * y + 0, lambda t, y: double(t) * y, made(1.0), made(2.0)]
    prints = [fingerprint(separable(reward), world, *BASE) for reward in rewards]
    assert len(set(prints)) == len(prints)
    assert fingerprint(separable(made(1.0)), world, *BASE) == prints[3]
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert fingerprint(separable(rewards[2]), world, *BASE) != prints[2]
    assert fingerprint(separable(rewards[0]), world, *BASE) == prints[0]


@pytest.mark.parametrize("kind", MAKERS)
def test_use_does_not_change_the_fingerprint(kind: str) -> None:
    problem, world = MAKERS[kind](), sp.Bernoulli([0.9, 0.8, 0.3, 0.1])
    before = fingerprint(problem, world, *BASE)
    used(problem)
    assert fingerprint(problem, world, *BASE) == before
    assert fingerprint(MAKERS[kind](), world, *BASE) == before
    assert fingerprint(pickle.loads(pickle.dumps(problem)), world, *BASE) == before


CODE = """
import surepick as sp
from surepick.lab.fingerprint import fingerprint
from surepick.settings import Settings
flow = sp.Program(4, [[1, 1, 1, 2]], upper=2)
road = sp.Path([("a", "b"), ("b", "c"), ("a", "c"), ("b", "d")], "a", "c")
people = sp.VoterModel.random([30, 20, 20, 10], seed=4)
print(*(fingerprint(p, people, Settings(policy="coci", confidence="paper"), 0) for p in (flow, road)))
"""


def test_another_process_has_the_same_fingerprint() -> None:
    spoken = {
        subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=os.environ | extra).stdout
        for extra in ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"})
    }
    names: dict[str, Any] = {"print": lambda *prints: spoken.add(" ".join(prints) + "\n")}
    exec(CODE, names)
    assert len(spoken) == 1


class Locked(sp.Bernoulli):
    def __init__(self, p: Any) -> None:
        super().__init__(p)
        from threading import Lock

        self.lock = Lock()


def test_what_has_no_fingerprint_is_refused(tmp_path: Path) -> None:
    problem, world = sp.TopK(4, k=2), Locked([0.9, 0.8, 0.3, 0.1])
    with pytest.raises(SettingError, match="lock objects cannot be told apart"):
        sp.simulate(problem, world, runs=2, executor=1, store=tmp_path / "results.db")
    assert len(sp.simulate(problem, world, runs=2, executor=1).table) == 2


# -- bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"runs": 0}, "runs must be a whole number of at least 1, not 0"),
        ({"runs": 2.5}, "runs must be a whole number"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"policies": "nono"}, "policy='nono' is unknown"),
        ({"policies": "coci/nono"}, "confidence='nono' is unknown"),
        ({"policies": "coci/"}, "confidence='' is unknown"),
        ({"policies": "a/b/c"}, "'policy/confidence'"),
        ({"policies": []}, "policies must be"),
        ({"policies": ["coci", "coci"]}, "named twice"),
        ({"policies": "joint/paper"}, "needs evidence"),
        ({"delta": 0}, "delta must be a probability"),
        ({"delta": []}, "empty list"),
        ({"delta": [0.1, 0.1]}, "given twice"),
        ({"delta": "0.1"}, "delta must be a probability"),
        ({"epsilon": -1}, "epsilon must be"),
        ({"budget": -1}, "budget must be"),
        ({"executor": 0}, "executor must be"),
        ({"executor": "all"}, "executor must be"),
        ({"progress": 3}, "progress must be"),
        ({"environment": None}, "the environment must be one such as"),
        ({"environment": sp.Bernoulli([0.5])}, "has 1 arms but the problem 4"),
        ({"environment": lambda arm, n, rng: [0.5] * n}, "the environment must be one such as"),
        ({"problem": 3}, "The first argument must be a problem"),
        ({"problem": {}}, "The first argument must be a problem"),
        ({"problem": PROBLEMS}, "leave out the second argument"),
        ({"problem": {"a": sp.TopK(4, 2)}, "environment": None}, r"dict name -> \(problem, environment\)"),
        ({"environment": sp.Gaussian([5, 1, 1, 1], 1)}, "outside its range"),
    ],
    ids=lambda x: x if isinstance(x, str) else "-".join(x),
)
def test_bad_input_is_refused_before_the_first_run(change: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done = counted(monkeypatch)
    problem, environment = PROBLEMS["posters"]
    with pytest.raises((SettingError, ProblemError, sp.SurepickError), match=says):
        sp.simulate(**({"problem": problem, "environment": environment, "executor": 1, "runs": 2} | change))
    assert done == []


def test_a_policy_that_does_not_fit_is_refused() -> None:
    with pytest.raises(SettingError, match="policy='clucb' needs"):
        sp.simulate(*PROBLEMS["survey"], ["auto", "clucb"], runs=2, executor=1)


def test_what_cannot_be_sent_is_a_sentence() -> None:
    problem, world = separable(lambda theta, y: theta * y), sp.Bernoulli([0.9, 0.8, 0.3, 0.1])
    with pytest.raises(SettingError, match=r"cannot be sent to other processes.*executor=1"):
        sp.simulate(problem, world, "coci/paper", runs=4, executor=2)
    assert len(sp.simulate(problem, world, "coci/paper", runs=2, executor=1).table) == 2


def test_an_error_in_a_run_arrives() -> None:
    problem = sp.TopK([sp.Arm(name, kind="bernoulli") for name in "abcd"], k=2)
    with pytest.raises(SurepickError, match="neither 0 nor 1"):
        sp.simulate(problem, sp.Beta([0.9, 0.8, 0.3, 0.1], 2), runs=4, executor=2)


@pytest.mark.parametrize(
    "pair", [(COCI(), "beta"), ("coci", "paper"), ("coci", "normal:tuned=500"), (COCI(), sp.confidence.Normal())]
)
def test_a_pair_of_policy_and_confidence_comes_in_a_list(pair: Any) -> None:
    with pytest.raises(SettingError, match=r"a bare tuple is read as several policies; .* in a list: \[\(policy, confidence\)\]"):
        sp.simulate(*PROBLEMS["posters"], pair, runs=2, executor=1)
    listed = sp.simulate(*PROBLEMS["posters"], [pair], runs=2, executor=1).table
    assert set(listed["policy"]) == {"/".join(map(str, pair))}
    two = sp.simulate(*PROBLEMS["posters"], ("coci", "uniform"), runs=2, executor=1).table
    assert set(two["policy"]) == {"coci", "uniform"}


# -- what is shown --------------------------------------------------------------------------------------------------------


def test_progress_counts_up_to_the_end() -> None:
    seen: list[Standing] = []
    sp.simulate(PROBLEMS, executor=1, progress=seen.append, **QUICK)
    done = [standing.done for standing in seen]
    assert done == sorted(done)
    assert (done[0], done[-1], seen[-1].total, seen[-1].left) == (0, 48, 48, 0.0)
    assert seen[-1].cell.startswith("survey, ")


def test_a_standing_in_words() -> None:
    assert words(Standing(10, 1000, "a, b", None)) == "10 of 1,000 runs (a, b), no estimate of the rest yet"
    assert words(Standing(10, 1000, "", 130.0)) == "10 of 1,000 runs, about 2 min left"


def test_a_standing_that_is_too_long_loses_its_title_first() -> None:
    standing = Standing(10, 1000, "The three best of ten posters, auto, δ = 0.05", 130.0)
    for most in range(30, 120):
        text = words(standing, most)
        assert len(text) <= max(most, len("10 of 1,000 runs, about 2 min left"))
        assert text.startswith("10 of 1,000 runs")
        assert text.endswith(", about 2 min left")
    assert words(standing, 58) == "10 of 1,000 runs (…ters, auto, δ = 0.05), about 2 min left"


def test_a_rough_duration() -> None:
    assert [span(s) for s in (5, 100, 3000, 30000, 3e5)] == ["5 s", "100 s", "50 min", "8 h", "3 days"]


# -- the command line -----------------------------------------------------------------------------------------------------

TOML = """
title = "Two of four"
arms = 4
[problem]
kind = "top-k"
k = 2
[simulate]
kind = "bernoulli"
p = [0.9, 0.8, 0.3, 0.1]
"""


def test_the_command(ask: Any, cli: Any, study: Any, tmp_path: Path) -> None:
    file, out, store = study(TOML), tmp_path / "table.csv", tmp_path / "results.db"
    asked = ("simulate", file, "--runs", 20, "--policy", "auto", "--policy", "coci/paper", "--delta", 0.1, "--delta", 0.05,
             "--seed", 4, "--processes", 1, "--out", out, "--store", store)  # fmt: skip
    answer = ask(*asked)
    want = sp.simulate(*PROBLEMS["posters"], ["auto", "coci/paper"], delta=[0.1, 0.05], runs=20, seed=4, executor=1)
    assert [row["mean"] for row in answer["summary"]] == want.summary["mean"].tolist()
    assert pd.read_csv(out)["samples"].tolist() == want.table["samples"].tolist()
    code, said, _ = cli(*asked)
    assert code == 0
    assert "Two of four" in said
    assert "0 (0–17 %)" in said
    assert f"{want.summary['median'][3]:,.0f}" in said
    assert rows(store) == 80
    code, said, _ = cli("simulate", file, "--runs", 3, "--processes", 1, "--budget", 20)
    assert "3 runs spent their budget uncertified" in said


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--runs", 0), "runs must be a whole number of at least 1"),
        (("--policy", "nono"), "policy='nono' is unknown"),
        (("--delta", 2), "delta must be a probability"),
        (("--processes", 0), "--processes"),
        (("--store", "none/x.db"), "there is no folder none"),
        (("--out", "x.xlsx"), ".parquet or .csv"),
        (("--out", "none/x.csv"), "there is no folder none"),
        (("--cluster", "nonsense"), "tcp://host:port"),
        (("--cluster", "tcp://127.0.0.1:1", "--processes", 2), "give only one of them"),
    ],
    ids=str,
)
def test_the_command_refuses(options: tuple[object, ...], says: str, cli: Any, study: Any) -> None:
    code, out, _ = cli("simulate", study(TOML), *options, "--json")
    assert code == 2
    assert says in json.loads(out)["error"]["message"]


def test_the_command_needs_a_truth(cli: Any, study: Any) -> None:
    code, _, err = cli("simulate", study(TOML.partition("[simulate]")[0]))
    assert code == 2
    assert "add a [simulate] table" in err


# -- what must not go wrong in the long run ---------------------------------------------------------------------------------


def test_a_module_of_the_users_counts_with_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is imported at the top or inside a function."""
    monkeypatch.syspath_prepend(str(tmp_path))
    found = set()
    for rate in (1, 2):
        (tmp_path / "helpers_of_mine.py").write_text(f"RATE = {rate}\n")
        sys.modules.pop("helpers_of_mine", None)
        importlib.invalidate_caches()
        names = {"helpers_of_mine": importlib.import_module("helpers_of_mine")}
        reward = eval("lambda t, y: helpers_of_mine.RATE * t * y", dict(names))
        found.add(("outer", fingerprint(separable(reward), sp.Bernoulli([0.5] * 4), *BASE)))
        exec("def inner(t, y):\n    import helpers_of_mine\n    return helpers_of_mine.RATE * t * y", names)
        found.add(("inner", fingerprint(separable(names["inner"]), sp.Bernoulli([0.5] * 4), *BASE)))
    assert len(found) == 4


def test_masks_count() -> None:
    problem = PROBLEMS["posters"][0]
    worlds = [sp.Bernoulli([0.9, 0.8, 0.3, 0.1]) for _ in range(2)]
    for world, mask in zip(worlds, ([0, 0, 0, 0], [0, 1, 0, 0]), strict=True):
        world.note = np.ma.array([1, 2, 3, 4], mask=mask)  # type: ignore[attr-defined]
    assert len({fingerprint(problem, world, *BASE) for world in worlds}) == 2


def test_a_worker_takes_the_class_that_it_is_given() -> None:
    """Not an older one of the same name, as when a notebook defines it anew."""
    problem, environment = PROBLEMS["posters"]
    world, counts = World.of(problem, environment), []
    for parent in ("coci", "uniform", "coci"):
        cls = type("Mine", (POLICIES[parent],), {"name": "mine"})
        settings = Settings(policy=cls(), confidence="paper", delta=0.1, budget=2000)
        counts.append(run_chunk(world, settings, 0, range(3)).samples.tolist())
    assert counts[0] == counts[2] != counts[1]
    assert "mine" not in POLICIES


def test_a_class_under_the_name_of_another_is_refused() -> None:
    problem, environment = PROBLEMS["posters"]
    mine = type("Mine", (POLICIES["coci"],), {})
    with pytest.raises(SettingError, match="Mine has the name 'coci' of another one"):
        sp.simulate(problem, environment, mine(), runs=1, executor=1)


def test_what_cannot_travel_says_so() -> None:
    problem, environment = PROBLEMS["posters"]
    inner = type("Inner", (POLICIES["coci"],), {"name": "inner"})
    with pytest.raises(SettingError, match=r"inner/auto: its policy or confidence sequence cannot be sent .* executor=1"):
        sp.simulate(problem, environment, inner(), runs=2, executor=2)
    assert sp.simulate(problem, environment, inner(), runs=2, executor=1).table["policy"].tolist() == ["inner"] * 2


def test_what_is_reported_is_in_the_store(tmp_path: Path) -> None:
    """Results are on the disk when progress says so, not when the next ones come in."""
    problem, environment = PROBLEMS["posters"]
    seen = []

    def look(standing: Standing) -> None:
        with sqlite3.connect(tmp_path / "runs.db") as connection:
            seen.append((standing.done, connection.execute("SELECT count(*) FROM runs").fetchone()[0]))
        connection.close()

    sp.simulate(problem, environment, "coci/paper", runs=40, executor=1, store=tmp_path / "runs.db", progress=look)
    assert len(seen) > 2
    assert all(done == kept for done, kept in seen)
