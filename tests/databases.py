"""Databases that tests use: memory, a SQLite file, and a PostgreSQL server of their own, started from the installed programs."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest

STARTS = 30.0  # seconds that a server may take to start
_names = count()


def programs() -> Path | None:
    """Where PostgreSQL's server is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parent.parent.name))
    if found:
        return found[-1].parent
    there = shutil.which("initdb")
    return None if there is None else Path(there).resolve().parent


def needed() -> Path:
    """The programs; without them tests are skipped, but not on a machine that tests everything."""
    found = programs()
    if found is None:
        why = "PostgreSQL is not installed here (Debian: apt-get install postgresql), so studies on a server are not tested."
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(why)
        pytest.skip(why)
    return found


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Server:
    """A PostgreSQL server in a folder of its own, on a free port of this machine only."""

    def __init__(self, folder: Path, safe: bool = False) -> None:
        self.bin = needed()
        self.safe = safe
        self.folder = folder
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        # The server refuses to run as root.
        self.user = pwd.getpwnam("postgres").pw_name if os.geteuid() == 0 else None
        if self.user is not None:
            shutil.chown(folder, self.user)
        self._run("initdb", "-D", str(folder / "data"), "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self.start()

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run([self.bin / program, *words], user=self.user, capture_output=True, text=True, cwd=self.folder)
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        disk = "on" if self.safe else "off"
        words = f"-D {self.folder}/data -p {self.port} -h 127.0.0.1 -k  -c max_connections=60 -c fsync={disk}".split(" ")
        with (self.folder / "log").open("ab") as said:
            self.process = subprocess.Popen(
                [self.bin / "postgres", *words],
                user=self.user, stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=self.folder
            )  # fmt: skip
        until = time.monotonic() + STARTS
        while not self._answers():
            assert self.process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < until, (self.folder / "log").read_text()
            time.sleep(0.05)

    def _answers(self) -> bool:
        done = subprocess.run(
            [self.bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port), "-U", "tester", "-d", "postgres"],
            check=False,
        )
        return done.returncode == 0

    def kill(self) -> None:
        """As a power cut would, as far as the server is concerned: it has no time for anything."""
        assert self.process is not None
        children = _children(self.process.pid)
        for pid in (self.process.pid, *children):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        until = time.monotonic() + STARTS
        while any(_alive(pid) for pid in children) and time.monotonic() < until:
            time.sleep(0.01)
        self.process = None

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)  # at once; nobody needs the data
            self.process.wait(STARTS)
            self.process = None

    def url(self) -> str:
        """A schema of its own in the server's database, which is empty."""
        import psycopg

        name = f"test{next(_names)}"
        with psycopg.connect(f"host=127.0.0.1 port={self.port} user=tester dbname=postgres", autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"postgresql+psycopg://tester@127.0.0.1:{self.port}/postgres?options=-csearch_path%3D{name}"


def _children(pid: int) -> list[int]:
    """The processes that a process has started, where the system says so."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(path.parent.name))
    return found


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@contextmanager
def server(safe: bool = False) -> Iterator[Server]:
    """A server, for a while; a safe one waits for the disk."""
    needed()
    with tempfile.TemporaryDirectory(prefix="surepick-pg-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        started = Server(Path(folder), safe)
        try:
            yield started
        finally:
            started.stop()
