"""Durable studies under load, with a long history, under kills and on a full disk; the figures go into docs/studies.md.

    python benchmarks/soak.py --write           all of it, a quarter of an hour or so
    python benchmarks/soak.py load import       parts of it: load, import, history, kills, disk

Everything runs on this machine: databases in a temporary folder, and a PostgreSQL server that answers on 127.0.0.1 only and has
its usual settings, so that a commit waits for the disk. Every part ends by itself, and its processes with it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from clock import Row
from marks import write

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the tests' servers and workers

import surepick as sp  # noqa: E402
from tests import databases, workers  # noqa: E402

ARMS, FEW, MANY = 1_000, 1_000, 1_000_000  # observations
SPEC = {"arms": 50, "problem": {"kind": "top-k", "k": 5}, "delta": 1e-12}  # never certified
WIDE = {**SPEC, "arms": ARMS}
HEAD = "| measured | figure | target |\n|---|---|---|\n"


# -- many at a time -------------------------------------------------------------------------------------------------------


def load(says: workers.Says, url: str, me: str, began: float, seconds: float) -> None:
    """Ask and tell, one ticket at a time, until the time is up; what every pair took."""
    study, draws, took, errors = sp.Study.open(url, who=me), np.random.default_rng(), [], 0
    for ticket in study.ask(1, worker=me):  # which loads what it needs
        study.tell(ticket, 0.0)
    time.sleep(max(0.0, began - time.time()))
    before = time.process_time()
    while time.time() < began + seconds:
        start = time.perf_counter()
        try:
            for ticket in study.ask(1, worker=me):
                study.tell(ticket, float(draws.random() < ticket.index / 50))
        except sp.SurepickError as error:
            errors += 1
            says("error", error)
        else:
            took.append(time.perf_counter() - start)
    says("took", errors, time.process_time() - before, *(f"{1e3 * x:.3f}" for x in took))


class Load(NamedTuple):
    pairs: float  # a second
    half: float  # ms
    most: float
    errors: int
    work: float  # ms of a worker's processor a pair

    def __str__(self) -> str:
        return (
            f"{self.pairs:,.0f} pairs/s, p50 {self.half:.1f} ms, p99 {self.most:.0f} ms, {self.errors} errors; "
            f"{self.work:.2f} ms of processor time a pair"
        )


def under_load(url: str, folder: Path, many: int, seconds: float) -> Load:
    study = sp.Study.create(url, SPEC)
    began = time.time() + 4.0 + many / 2  # until all are there
    with workers.processes(folder, load, *((url, f"w{k}", began, seconds) for k in range(many))) as running:
        for one, path in running:
            one.join(seconds + 120)
            assert one.exitcode == 0, workers.said(path)[-1:]
        last = [workers.said(path)[-1] for _, path in running]
    took = np.array([float(word) for _, _, _, *words in last for word in words])
    assert study.status().samples == many + len(took)  # every pair, once
    study.disconnect()
    half, most = np.quantile(took, [0.5, 0.99])
    work = sum(float(line[2]) for line in last)
    return Load(len(took) / seconds, half, most, sum(int(line[1]) for line in last), 1e3 * work / len(took))


def loads(server: databases.Server, folder: Path) -> Iterator[Row]:
    for what, made, many, seconds, least in (
        ("PostgreSQL, 16 workers for 60 s", lambda k: server.url(), 16, 60.0, 0.0),
        ("SQLite, 8 processes for 20 s", lambda k: f"sqlite:///{folder}/load-{k}.db", 8, 20.0, 500.0),
    ):
        best = None
        for k in range(3):
            found = under_load(made(k), folder, many, seconds)
            print(f"  {what}: {found}", flush=True)
            best = found if best is None or found.pairs > best.pairs else best
            if best.pairs >= 2 * least:
                break
        assert best is not None
        target = f"≥ {least:.0f} pairs/s, no errors" if least else "no errors"
        yield Row(f"ask + tell, {what}", str(best), target, best.pairs >= least and not best.errors)


# -- a million observations -----------------------------------------------------------------------------------------------


def table(n: int) -> pd.DataFrame:
    """Rows of coins, a thousand arms in turn."""
    arms = np.arange(n) % ARMS
    names = np.array([f"arm {i}" for i in range(ARMS)], dtype=object)
    return pd.DataFrame(
        {"arm": names[arms], "value": (np.random.default_rng(1).random(n) < 0.2 + 0.6 * arms / ARMS).astype(float)}
    )


def urls(server: databases.Server, folder: Path, name: str) -> dict[str, str]:
    return {"SQLite": f"sqlite:///{folder}/{name}.db", "PostgreSQL": server.url()}


def imported(url: str, source: object) -> float:
    """Seconds."""
    study = sp.Study.create(url, WIDE)
    began = time.perf_counter()
    new = study.import_data(source).new
    took = time.perf_counter() - began
    assert new == len(source) if isinstance(source, pd.DataFrame) else new == MANY
    study.disconnect()
    return took


def imports(server: databases.Server, folder: Path) -> Iterator[Row]:
    rows = table(MANY)
    rows.to_csv(folder / "rows.csv", index=False)
    rows.to_parquet(folder / "rows.parquet", index=False)
    for kind in ("csv", "parquet"):
        took: dict[str, float] = {}
        for k in range(2):
            for name, url in urls(server, folder, f"import-{kind}-{k}").items():
                seconds = imported(url, folder / f"rows.{kind}")
                print(f"  import of {kind}, {name}: {seconds:.1f} s", flush=True)
                took[name] = min(seconds, took.get(name, seconds))
            if max(took.values()) < 10.0:
                break
        for name, seconds in took.items():
            yield Row(f"import of {MANY:,} rows, {kind}, {name}", f"{seconds:.1f} s", "< 20 s", seconds < 20.0)


def asks(url: str, many: str) -> float:
    """The ratio of what an ask takes in a study with a long history to what it takes in one with a short one, in turn."""
    studies = [sp.Study.open(url), sp.Study.open(many)]
    took: list[list[float]] = [[], []]
    for k in range(120):
        for study, times in zip(studies, took, strict=True):
            began = time.perf_counter()
            (ticket,) = study.ask(1)
            if k >= 20:
                times.append(time.perf_counter() - began)
            study.tell(ticket, float(k % 2))
    short, long = map(np.median, took)
    print(f"    {1e3 * short:.2f} ms after {FEW:,} observations, {1e3 * long:.2f} ms after {MANY:,}")
    for study in studies:
        study.disconnect()
    return float(long / short)


OPEN = """\
import sys, time
began = time.perf_counter()
import surepick
from surepick import Study
from surepick.study import durable
import sqlalchemy.dialects.postgresql.psycopg, sqlalchemy.dialects.sqlite
there = time.perf_counter()
study = Study.open(sys.argv[1])
status = study.status()
print(there - began, time.perf_counter() - there, status.samples)
"""


def opened(url: str) -> tuple[float, float]:
    """Seconds to import the package, and to open a study and see how it stands, in a process of its own: the best of some."""
    found = []
    for _ in range(5):
        said = subprocess.run([sys.executable, "-c", OPEN, url], check=True, capture_output=True, text=True).stdout.split()
        assert int(said[2]) >= MANY
        found.append((float(said[0]), float(said[1])))
    return min(a for a, _ in found), min(b for _, b in found)


def history(server: databases.Server, folder: Path) -> Iterator[Row]:
    short, long = urls(server, folder, "short"), urls(server, folder, "long")
    for name in short:
        imported(short[name], table(FEW))
        imported(long[name], table(MANY))
        head, took = opened(long[name])
        what = f"open and status, {ARMS:,} arms, {MANY:,} observations, {name}"
        yield Row(what, f"{took:.2f} s, after {head:.1f} s to import the package", "< 1 s", took < 1.0)
        ratio = min(asks(short[name], long[name]) for _ in range(3))
        yield Row(f"ask after {MANY:,} observations against {FEW:,}, {name}", f"{ratio:.2f} ×", "≤ 1.5 ×", ratio <= 1.5)


# -- kills and a full disk ------------------------------------------------------------------------------------------------


def tested(what: str, file: str, *more: str) -> Row:
    """What a test says that does it."""
    began = time.perf_counter()
    words = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", str(ROOT / "tests" / file), *more]
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True).stdout
    last = (said.strip().splitlines() or ["nothing"])[-1]
    counts = {how: int(n) for n, how in re.findall(r"(\d+) (passed|failed|skipped|error)", last)}
    good = counts.get("passed", 0) > 0 and not counts.keys() & {"failed", "error"}
    figure = "nothing lost, nothing twice" if good else f"FAILED ({last})"
    if counts.get("skipped"):
        figure += f"; {counts['skipped']} skipped"
    print(f"  {what}: {last}", flush=True)
    return Row(what, f"{figure} ({time.perf_counter() - began:.0f} s)", "as it says", good)


def kills(server: databases.Server, folder: Path) -> Iterator[Row]:
    for what, name in (
        ("100 times two workers are killed, SQLite", "test_workers_that_are_killed_often_lose_nothing and sqlite"),
        ("100 times two workers are killed, PostgreSQL", "test_workers_that_are_killed_often_lose_nothing and postgresql"),
        ("50 times the server is killed, PostgreSQL", "test_a_server_that_is_killed_often_loses_nothing"),
    ):
        yield tested(what, "test_durable_crash.py", "-m", "slow", "-k", name)


def disk(server: databases.Server, folder: Path) -> Iterator[Row]:
    yield tested("disks that are full", "test_durable_full.py", "-m", "slow or not slow")


PARTS: dict[str, Callable[[databases.Server, Path], Iterator[Row]]] = {
    "load": loads, "import": imports, "history": history, "kills": kills, "disk": disk,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of {', '.join(PARTS)} (all)")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/studies.md")
    options = parser.parse_args()
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    failed, tables = 0, {}
    with tempfile.TemporaryDirectory() as folder, databases.server(safe=True) as server:
        for part in options.parts or PARTS:
            print(f"{part}: load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
            lines = []
            for row in PARTS[part](server, Path(folder)):
                lines.append(f"| {row.what} | {row.figure} | {row.target}{'' if row.met else ' **missed**'} |")
                print(lines[-1], flush=True)
                failed += not row.met
            tables[f"soak {part}"] = HEAD + "\n".join(lines) + "\n"
            if options.write:
                write(ROOT / "docs" / "studies.md", {f"soak {part}": tables[f"soak {part}"]})
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
