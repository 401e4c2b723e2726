"""surepick itself: compiled, as an experiment that asks and tells one by one, and with its own KL-LUCB."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from instances import DELTA, SEED, Method, Rule, Survey, Tape, Task
from numpy.typing import NDArray

import surepick as sp
from surepick.engine import start
from surepick.run.drive import drive

start.patience = 0.0  # compile before the clock starts, however short a run is

Found = tuple[int, tuple[int, ...]]


def compiled(task: Task, run: int, epsilon: float = 0.0, policy: str = "auto", confidence: str = "auto") -> Found:
    explorer = sp.Explorer(task.problem(), DELTA, policy=policy, confidence=confidence, epsilon=epsilon)
    drive(explorer, sp.Bernoulli(task.means), seed=SEED, run=run)
    return explorer.samples, chosen(explorer)


def asked(task: Task, run: int) -> Found:
    tape = Tape(task, run)
    explorer = sp.Explorer(task.problem(), DELTA)
    while not explorer.done:
        for arm in explorer.ask(1):
            explorer.tell(arm, tape(arm))
    return tape.samples, chosen(explorer)


def chosen(explorer: sp.Explorer) -> tuple[int, ...]:
    return tuple(int(i) for i in np.flatnonzero(explorer.decision))


US = ("surepick", "surepick.run.drive")
EVERYWHERE = {"top-3 of 10": 200, "best of 10": 200, "best of 50": 200}
RULES = [
    Rule("surepick", *US, "the best, δ", EVERYWHERE, compiled, reference=True),
    Rule("surepick, ask and tell one by one", *US, "the best, δ", dict.fromkeys(EVERYWHERE, 10), asked),
    Rule(
        'surepick, `policy="kl-lucb", confidence="own"`',
        *US,
        "the best, δ",
        {"top-3 of 10": 10, "best of 10": 20, "best of 50": 5},
        lambda task, run: compiled(task, run, policy="kl-lucb", confidence="own"),
    ),
    Rule(
        "surepick, `epsilon=0.1`",
        *US,
        "sum of means within ε, δ",
        {"top-3 of 10": 10, "best of 10": 40},
        lambda task, run: compiled(task, run, epsilon=0.1),
        epsilon=0.1,
        reference=True,
    ),
]


def allocate(survey: Survey) -> Callable[[], NDArray[np.int64]]:
    return lambda: sp.allocate(survey.sizes, survey.variances, survey.k, lower=survey.lower, upper=survey.upper)


METHODS = [Method("`sp.allocate`", "surepick", "surepick.problems", "the integer optimum", allocate)]
