"""What processes do that the tests of durable studies start, and kill: they say what they do in a file, line by line."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import surepick as sp
from surepick.errors import ConflictError

SERVER = get_context("forkserver")  # one process imports everything, and others are forked from it
SERVER.set_forkserver_preload(["tests.workers", "surepick.study.durable", "surepick.policies", "psycopg"])


class Says:
    """A file that has every line that was said, whatever comes after."""

    def __init__(self, path: str) -> None:
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def __call__(self, *words: object) -> None:
        os.write(self.file, (" ".join(map(str, words)) + "\n").encode())


def run(work: Callable[..., None], path: str, *given: Any) -> None:
    says = Says(path)
    try:
        work(says, *given)
    except BaseException as error:
        says("failed", repr(error))
        raise SystemExit(1) from None


@contextmanager
def processes(folder: Path, work: Callable[..., None], *given: tuple[Any, ...]) -> Iterator[list[tuple[BaseProcess, Path]]]:
    """Processes, each with the file in which it says what it does. Those that still run at the end are killed."""
    started = []
    for k, mine in enumerate(given):
        path = folder / f"said-{work.__name__}-{k}-{random.getrandbits(32)}"
        one = SERVER.Process(target=run, args=(work, str(path), *mine), daemon=True)
        one.start()
        started.append((one, path))
    try:
        yield started
    finally:
        for one, _ in started:
            one.kill()
            one.join()


def said(path: Path) -> list[list[str]]:
    """The words of every line."""
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


# -- what they do -----------------------------------------------------------------------------------------------------------


def race(says: Says, url: str, me: int, orders: list[tuple[str, float]]) -> None:
    """Tell tickets, each of which somebody else tells something else."""
    study = sp.Study.open(url, who=f"w{me}")
    for ticket, value in orders:
        try:
            study.tell(ticket, value)
            says(ticket, "won", value)
        except ConflictError as error:
            says(ticket, "lost", error.value)


def pairs(says: Says, url: str, me: str, many: int) -> None:
    """Ask and tell."""
    study = sp.Study.open(url)
    for _ in range(many):
        for ticket in study.ask(1, worker=me):
            says(ticket.id)
            study.tell(ticket, 0.5)


def create(says: Says, url: str, name: str) -> None:
    study = sp.Study.create(url, {"arms": 2, "problem": {"kind": "best-arm"}}, name)
    study.record(0, 0.5)
    says("created")


def work(says: Says, url: str, me: str, seed: int) -> None:
    """Ask, tell and record until somebody kills it."""
    study, draws, k = sp.Study.open(url, who=me), random.Random(seed), 0
    while True:
        k += 1
        for ticket in study.ask(2, worker=me):
            value = round(draws.random(), 6)
            says("telling", ticket.number, value)
            study.tell(ticket, value)
            says("told", ticket.number, value)
        if k % 5 == 0:
            study.record("a", [0.5, 0.25], key=f"{me}-{seed}-{k}")
            says("recorded", f"{me}-{seed}-{k}")
