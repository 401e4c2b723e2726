"""Simulations on a real Dask cluster: a scheduler and two workers as processes of their own, one of which is killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import surepick as sp
from surepick.lab import Standing

if find_spec("distributed") is None and "CI" not in os.environ:
    pytest.skip('Dask is not installed: pip install "surepick[cluster]".', allow_module_level=True)

STUDY = """
arms = 4
[problem]
kind = "top-k"
k = 2
[simulate]
kind = "bernoulli"
p = [0.9, 0.8, 0.3, 0.1]
"""
PROBLEM, WORLD = sp.TopK(4, k=2), sp.Bernoulli([0.9, 0.8, 0.3, 0.1])


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Cluster:
    """A scheduler and its workers, by their processes."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, {}
        self.address = f"tcp://127.0.0.1:{free_port()}"
        port = self.address.rpartition(":")[2]
        self.start("scheduler", "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard", "--no-show")

    def start(self, name: str, *command: str) -> None:
        with (self.folder / f"{name}.log").open("w") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", "dask", *command], stdout=log, stderr=subprocess.STDOUT, cwd=self.folder
            )

    def worker(self, name: str) -> None:
        self.start(
            name, "worker", self.address, "--name", name, "--host", "127.0.0.1", "--nthreads", "1", "--nworkers", "1",
            "--no-nanny", "--memory-limit", "0", "--no-dashboard", "--local-directory", str(self.folder / name),
            "--death-timeout", "60",
        )  # fmt: skip

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()

    def logs(self) -> str:
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("*.log")))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    try:
        made.worker("one")
        made.worker("two")
        yield made
    finally:
        for name in made.processes:
            made.kill(name)


@pytest.fixture
def client(cluster: Cluster) -> Iterator[Any]:
    from distributed import Client

    client = Client(cluster.address, timeout=60, set_as_default=False)
    try:
        client.wait_for_workers(2, timeout=60)
        yield client
    finally:
        client.close()


def test_a_cluster_gives_the_same_table_though_a_worker_dies(cluster: Cluster, client: Any) -> None:
    asked: dict[str, Any] = {"policies": ["auto", "coci/paper"], "delta": [0.1, 0.05], "runs": 120, "seed": 2}
    killed: list[int] = []

    def kill(standing: Standing) -> None:
        if standing.done >= 40 and not killed:
            killed.append(standing.done)
            cluster.kill("one")

    table = sp.simulate(PROBLEM, WORLD, executor=client.get_executor(), progress=kill, **asked).table
    assert killed
    assert killed[0] < len(table) / 2, "it was nearly done before the worker was killed"
    assert len(client.scheduler_info()["workers"]) == 1, cluster.logs()
    pd.testing.assert_frame_equal(table, sp.simulate(PROBLEM, WORLD, executor=1, **asked).table, check_exact=True)


def test_the_command_uses_a_cluster(cluster: Cluster, client: Any, ask: Any, cli: Any, study: Any) -> None:
    file = study(STUDY)
    here = ask("simulate", file, "--runs", 40, "--processes", 1)
    assert ask("simulate", file, "--runs", 40, "--cluster", cluster.address)["summary"] == here["summary"]
    cluster.kill("one")
    cluster.kill("two")
    end = time.monotonic() + 30
    while client.scheduler_info()["workers"] and time.monotonic() < end:
        time.sleep(0.1)
    code, _, err = cli("simulate", file, "--cluster", cluster.address)
    assert code == 2
    assert "the scheduler has no workers" in err


def test_nobody_answers(cli: Any, study: Any) -> None:
    begin = time.monotonic()
    code, _, err = cli("simulate", study(STUDY), "--cluster", f"tcp://127.0.0.1:{free_port()}")
    assert code == 2
    assert "no Dask scheduler answers there" in err
    assert "Traceback" not in err
    assert time.monotonic() - begin < 30


def test_without_dask_the_extra_is_named(cli: Any, study: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = cli("simulate", study(STUDY), "--cluster", "tcp://127.0.0.1:8786")
    assert code == 2
    assert 'pip install "surepick[cluster]"' in err
