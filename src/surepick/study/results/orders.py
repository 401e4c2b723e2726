"""How many of the scores would have been enough? The same table, told in one random order after another."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from ...arms import Ints
from ...environments import Scores
from ...explorer import Explorer
from ...problems import Problem
from ...run.drive import looks
from .standing import ROUNDING, Standing

LOOK = 0.1  # seconds between two looks


@dataclass(frozen=True)
class Told:
    """An order that was told to its end.

    Attributes
    ----------
    seed : int
        Of the order.
    explorer : Explorer
        All that is known at its end.
    samples, counts
        How many scores it took, and how many of every candidate.
    wrong : bool
        A candidate was chosen that is not among the best, or more than epsilon worse; of a ranking, a claim was wrong.
    """

    seed: int
    explorer: Explorer
    samples: int
    counts: Ints
    wrong: bool


def tell_in_order(
    scores: Scores, problem: Problem, truth: Standing, seed: int, *, delta: float, epsilon: float
) -> Generator[int | Told, None, None]:
    """Yields how many scores were told so far, now and then, and at last how it ended. Who leaves early closes it.

    The next item is judged by all candidates that are undecided before anything is looked at again.
    """
    explorer = Explorer(problem, delta, epsilon=epsilon, pool=scores.pool(seed))
    with closing(looks(explorer, scores, batch=problem.m, every=LOOK)) as going:
        yield from going
    yield Told(seed, explorer, explorer.samples, explorer.counts.copy(), _misled(explorer, truth))


def _misled(explorer: Explorer, truth: Standing) -> bool:
    """A candidate was chosen that is not good; of a ranking, anything that is said of two candidates is wrong."""
    certificate = explorer.certificate()
    if certificate.above is None or certificate.close is None:
        return bool((~truth.good & (certificate.decision > 0)).any())
    problem = explorer.problem
    slack = ROUNDING * abs(problem.high[0] - problem.low[0])
    apart = getattr(problem, "sign", 1.0) * np.subtract.outer(truth.means, truth.means)
    far = certificate.close & (np.abs(apart) > certificate.epsilon + slack)
    return bool((certificate.above & (apart < -slack)).any() or far.any())
