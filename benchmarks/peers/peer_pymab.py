"""pymab: successive and median elimination for the one best arm.

Its experiments run for a fixed horizon, so the loop is ours: select, update, until one arm is left. Its policies are
compiled (Rust); asking after every sample which arms are left is part of the time. Ties are broken by a generator that
we hand over.
"""

from __future__ import annotations

import numpy as np
from instances import DELTA, Rule, Tape, Task


def eliminate(task: Task, run: int, kind: str, **settings: float) -> tuple[int, tuple[int, ...]]:
    from pymab import policies

    policy = getattr(policies, kind)(n_arms=len(task.means), delta=DELTA, **settings)
    tape, rng = Tape(task, run), np.random.default_rng(run)
    while policy.active.sum() > 1:
        arm = policy.select_action(rng=rng)
        policy.update(action=arm, reward=tape(arm))
    return tape.samples, (int(policy.best_arm),)


PYMAB = ("pymab", "pymab.policies")
RULES = [
    Rule(
        "pymab, successive elimination",
        *PYMAB,
        "the best, δ",
        {"best of 10": 40, "best of 50": 8},
        lambda task, run: eliminate(task, run, "SuccessiveEliminationPolicy"),
    ),
    Rule(
        "pymab, median elimination, ε = 0.1",
        *PYMAB,
        "within ε, δ",
        {"best of 10": 2},
        lambda task, run: eliminate(task, run, "MedianEliminationPolicy", epsilon=0.1),
        epsilon=0.1,
    ),
]
