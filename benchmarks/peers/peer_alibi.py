"""alibi: KL-LUCB, which its anchor explanations use to find the rules of highest precision.

``AnchorBaseBeam.kllucb`` takes a sampler of the user's; here a candidate rule is an arm, and "the prediction is the same"
is the arm's value. alibi keeps a record of every sample for its explanations, which is part of its time.
"""

from __future__ import annotations

import numpy as np
from instances import DELTA, Rule, Tape, Task


def kl_lucb(task: Task, run: int, batch: int, epsilon: float) -> tuple[int, tuple[int, ...]]:
    from alibi.explainers.anchors.anchor_base import AnchorBaseBeam

    tape = Tape(task, run)

    def sampler(anchor: tuple[int, tuple[int, ...]], num_samples: int) -> tuple[object, ...]:
        labels = np.array([tape(anchor[1][0]) for _ in range(num_samples)])
        data = np.zeros((num_samples, 1), dtype=bool)
        return data[:0], data[:0], labels, data, 1.0, None

    beam = AnchorBaseBeam([sampler], sample_cache_size=20_000 // batch)
    beam._init_state(batch, np.zeros((1, 1), dtype=bool))
    arms = [(i,) for i in range(len(task.means))]
    best = beam.kllucb(arms, beam.get_init_stats(arms), epsilon, DELTA, batch, task.k)
    return tape.samples, tuple(int(i) for i in best)


ALIBI = ("alibi", "alibi.explainers.anchors.anchor_base")
RULES = [
    Rule(
        "alibi, KL-LUCB, batches of 100 (its default)",
        *ALIBI,
        "the best, δ",
        {"top-3 of 10": 100, "best of 10": 100, "best of 50": 50},
        lambda task, run: kl_lucb(task, run, 100, 0.0),
    ),
    Rule(
        "alibi, KL-LUCB, one by one",
        *ALIBI,
        "the best, δ",
        {"top-3 of 10": 5, "best of 10": 10, "best of 50": 2},
        lambda task, run: kl_lucb(task, run, 1, 0.0),
    ),
    Rule(
        "alibi, KL-LUCB, batches of 100, ε = 0.1",
        *ALIBI,
        "every arm within ε, δ",
        {"top-3 of 10": 100, "best of 10": 100},
        lambda task, run: kl_lucb(task, run, 100, 0.1),
        epsilon=0.1,
    ),
]
