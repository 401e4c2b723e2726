"""best-arm: LUCB1, top-two sampling and track-and-stop for the one best arm, with the stopping rules that it gives them.

All run against an environment of the user's. The top-two rules toss coins of their own (NumPy's global generator).
"""

from __future__ import annotations

import numpy as np
from instances import DELTA, Rule, Tape, Task


class Taped:
    """A Bernoulli environment as best-arm takes one, which it knows by the attribute ``probs``, that plays a tape."""

    probs = ()

    def __init__(self, task: Task, run: int) -> None:
        self.num_arms = len(task.means)
        self.sample = Tape(task, run)


def bandit(task: Task, run: int, **settings: object) -> tuple[int, tuple[int, ...]]:
    from best_arm import Bandit

    np.random.seed(run)  # noqa: NPY002 (best-arm draws from it)
    world = Taped(task, run)
    best, *_ = Bandit(env_instance=world, **settings).run()
    return world.sample.samples, (int(best),)


def lucb1(task: Task, run: int) -> tuple[int, tuple[int, ...]]:
    return bandit(
        task, run, algo_name="lucb", algo_args={"confidence": DELTA}, stopping_name="lucb", stopping_args={"epsilon": 0.0}
    )


def top_two(task: Task, run: int, leader: str, challenger: str) -> tuple[int, tuple[int, ...]]:
    arguments = {"confidence": DELTA, "beta": 0.5, "leader_type": leader, "challenger_type": challenger}
    return bandit(task, run, algo_name="top_two", algo_args=arguments, stopping_name="top_two")


def track_and_stop(task: Task, run: int) -> tuple[int, tuple[int, ...]]:
    """With the threshold that it takes by default, ln((ln t + 1) / delta), which works in practice and is not proven."""
    arguments = {"confidence": DELTA}
    return bandit(task, run, algo_name="track_and_stop", algo_args=arguments, tracker_name="d_tracking", stopping_name="chernoff")


BEST_ARM = ("best-arm", "best_arm")
RULES = [
    Rule("best-arm, LUCB1", *BEST_ARM, "the best, δ", {"best of 10": 25, "best of 50": 4}, lucb1),
    Rule(
        "best-arm, top-two (EB-TCI)",
        *BEST_ARM,
        "the best, δ (Bernoulli)",
        {"best of 10": 25},
        lambda task, run: top_two(task, run, "EB", "TCI"),
    ),
    Rule(
        "best-arm, top-two (TS-TC)",
        *BEST_ARM,
        "the best, δ (Bernoulli)",
        {"best of 10": 25, "best of 50": 4},
        lambda task, run: top_two(task, run, "TS", "TC"),
    ),
    Rule(
        "best-arm, track-and-stop (D-tracking, default threshold)",
        *BEST_ARM,
        "the best, not proven for δ",
        {"best of 10": 10},
        track_and_stop,
    ),
]
