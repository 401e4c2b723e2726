"""mabwiser: Thompson sampling and UCB1, which earn reward and do not stop.

There is nothing to compare but the guess at equal samples: it gets as many as surepick needed in the same run, and the arms
with the highest means are its answer. Thompson sampling draws from a generator of its own, seeded with the run.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import ours
from instances import Rule, Tape, Task


@cache
def samples_of_surepick(task: Task, run: int) -> int:
    return ours.compiled(task, run)[0]


def play(task: Task, run: int, policy: str) -> tuple[int, tuple[int, ...]]:
    from mabwiser.mab import MAB, LearningPolicy

    tape, arms = Tape(task, run), list(range(len(task.means)))
    totals = np.zeros(len(arms))
    mab = MAB(arms, getattr(LearningPolicy, policy)(), seed=run)
    first = [tape(arm) for arm in arms]
    totals += first
    mab.fit(arms, first)
    for _ in range(samples_of_surepick(task, run) - len(arms)):
        arm = mab.predict()
        value = tape(arm)
        totals[arm] += value
        mab.partial_fit([arm], [value])
    means = totals / tape.counts
    return tape.samples, tuple(int(i) for i in np.argsort(-means, kind="stable")[: task.k])


RUNS = {"top-3 of 10": 40, "best of 10": 100, "best of 50": 20}
RULES = [
    Rule(
        f"mabwiser, {name}",
        "mabwiser",
        "mabwiser.mab",
        "nothing: guess at surepick's samples",
        RUNS,
        lambda task, run, policy=policy: play(task, run, policy),
        prepare=samples_of_surepick,
    )
    for name, policy in (("Thompson sampling", "ThompsonSampling"), ("UCB1", "UCB1"))
]
