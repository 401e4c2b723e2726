"""Measure surepick against its peers and print the tables; ``--write docs/peers.md`` also puts them there, between marks.

The peers are installed into an environment of their own, ``benchmarks/peers/.venv``, together with surepick; one that cannot
be installed is left out and named. Every measurement is one process on one core. Nothing is written unless all are done.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from instances import ROOT, TASKS, Method, Rule, surveys
from measure import LIMIT
from rich.progress import Progress
from tables import Measured, allocation, exploration

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))
from marks import write  # noqa: E402 - the folder above has it

VENV = HERE / ".venv"
PYTHON = VENV / "bin" / "python"
RULES = ("ours", "peer_alibi", "peer_best_arm", "peer_pymab", "peer_mabwiser")
METHODS = ("ours", "peer_surveys", "peer_solvers")
PATIENCE = 600  # seconds for one measurement


class Job(NamedTuple):
    way: Rule | Method
    module: str
    number: int
    task: str = ""

    @property
    def label(self) -> str:
        return f"{self.way.name}, {self.task or 'allocation'}".replace("`", "")


def blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """The name and the pins of every block of the requirements."""
    for block in re.split(r"\n\s*\n", text):
        pins = [line for line in block.splitlines() if line and not line.startswith("#")]
        if pins:
            yield pins[0].partition("==")[0], pins


def install() -> None:
    """Set up the environment, unless it was set up from the same requirements."""
    wanted = hashlib.sha256((HERE / "requirements.txt").read_bytes() + (ROOT / "requirements.txt").read_bytes()).hexdigest()
    stamp = VENV / "installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True)
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    print("installing surepick", flush=True)
    subprocess.run([*pip, "--require-hashes", "-r", ROOT / "requirements.txt"], check=True)
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--editable", ROOT], check=True)
    complete = True
    for name, pins in blocks((HERE / "requirements.txt").read_text(encoding="utf-8")):
        print(f"installing {name}", flush=True)
        if subprocess.run([*pip, "--no-deps", *pins]).returncode:
            print(f"{name} could not be installed; it will be missing from the tables.", flush=True)
            complete = False
    if complete:
        stamp.write_text(wanted)


def jobs() -> list[Job]:
    """Everything that is measured, surepick first."""
    found = [
        Job(rule, module, number, task)
        for task in TASKS
        for module in RULES
        for number, rule in enumerate(import_module(module).RULES)
        if task in rule.runs
    ]
    return found + [Job(way, module, i) for module in METHODS for i, way in enumerate(import_module(module).METHODS)]


def environment() -> dict[str, str]:
    """That of a measurement: one thread, and kernels compiled anew for this run."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    return os.environ | threads | {"NUMBA_CACHE_DIR": str(VENV / "kernels"), "PYTHONWARNINGS": "ignore"}


class Bench:
    """Runs jobs, one on each of the free cores."""

    def __init__(self, cores: list[int]) -> None:
        self.cores: SimpleQueue[int] = SimpleQueue()
        for core in cores:
            self.cores.put(core)
        self.running: set[subprocess.Popen[str]] = set()

    def measure(self, job: Job) -> Measured:
        core = self.cores.get()
        command = [PYTHON, HERE / "measure.py", job.module, str(job.number), *([job.task] if job.task else [])]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            start_new_session=True,  # Ctrl-C is for this process, which ends the others
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )
        self.running.add(process)
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        finally:
            self.running.discard(process)
            self.cores.put(core)
        measured = Measured()
        for line in out.splitlines():
            if line.startswith("{"):
                measured.take(json.loads(line))
        if process.returncode > 0:
            if job.way.package == "surepick":
                raise RuntimeError(f"{job.label} failed:\n{err}")
            measured.problem = "failed"
            print(err, file=sys.stderr)
        return measured

    def stop(self) -> None:
        for process in list(self.running):
            process.kill()


def measure(todo: list[Job]) -> list[Measured]:
    """What every job found. The first compiles the kernels for all, so it runs alone."""
    shutil.rmtree(VENV / "kernels", ignore_errors=True)
    bench = Bench(sorted(os.sched_getaffinity(0))[:2])
    workers = bench.cores.qsize()
    pool = ThreadPoolExecutor(workers)
    try:
        with Progress() as bar:
            task = bar.add_task("peers", total=len(todo))

            def show(job: Job) -> Measured:
                measured = bench.measure(job)
                bar.advance(task)
                bar.console.print(f"{job.label}: {measured.problem or 'done'}", highlight=False)
                return measured

            return [show(todo[0]), *pool.map(show, todo[1:])]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        bench.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables into this Markdown file")
    options = parser.parse_args()
    try:
        install()
        todo = jobs()
        found = list(zip(todo, measure(todo), strict=True))
    except KeyboardInterrupt:
        print("Stopped; nothing was written.")
        return 130
    explored = [exploration(TASKS[name], [(job.way, got) for job, got in found if job.task == name]) for name in TASKS]
    split = allocation(surveys(), [(job.way, got) for job, got in found if not job.task], LIMIT)
    missing = sorted({f"{job.way.package} ({got.problem})" for job, got in found if got.problem})
    versions = ", ".join(dict.fromkeys(got.version for _, got in found if got.version))
    python = ".".join(map(str, sys.version_info[:2]))
    note = f"\nOne run on one machine, Python {python}, one process and one core a measurement: {versions}."
    note += f" Without {', '.join(missing)}." if missing else ""
    note += " `make peers` repeats it.\n"
    tables = {"arms": "\n".join(explored) + note, "strata": split + note}
    print("\n".join(tables.values()))
    if options.write:
        write(options.write, tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
