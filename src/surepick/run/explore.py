"""Explore: sample until the decision is certified or the budget is spent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..certificate import Outcome
from ..confidence import Confidence
from ..environments import Scores
from ..errors import SettingError
from ..explorer import Explorer
from ..policies import Policy
from ..problems.base import Problem
from ..settings import Settings
from .drive import Progress, drive
from .source import Sampler


def explore(
    problem: Problem | Explorer,
    sampler: Sampler,
    delta: float = 0.05,
    *,
    policy: str | Policy = "auto",
    confidence: str | Confidence = "auto",
    epsilon: float = 0.0,
    relative: bool = False,
    budget: int | None = None,
    cost_budget: float | None = None,
    spend: bool = False,
    dependent: bool = False,
    per_arm: bool = False,
    batch: int = 1,
    seed: int = 0,
    progress: Callable[[Progress], object] | None = None,
) -> Outcome:
    """Sample until the decision is certified or the budget is spent.

    Parameters
    ----------
    problem, delta, policy, confidence, epsilon, relative, budget, cost_budget, spend, dependent, per_arm
        As for :class:`Explorer`. Instead of a problem, an explorer to go on with: it has all settings already.
    sampler : environment or callable
        An environment such as ``Bernoulli([...])``, or any function ``(arm, n, rng) -> n values``. ``rng`` belongs to the
        arm: the s-th sample of arm i depends on (seed, i, s) alone when the function draws n values as it would draw
        them one by one. An explorer that has values of the arm already gets other random numbers than those that gave them,
        and so does one that goes on after the function raised.
        One that raises ``StopIteration`` says that the arm has no more values to give; or not so many, if it was asked for
        several: then it is asked for fewer, until there is none.
    batch : int
        Samples between two looks at the data.
    seed : int
        Of the random numbers; the same seed, 0 by default, gives the same ones.
    progress : callable, optional
        Called with a :class:`Progress` some ten times a second, and once at the end.

    Returns
    -------
    Outcome

    Raises
    ------
    SamplerError
        The function raised. The error carries the outcome so far, and the explorer to go on with.

    Examples
    --------
    >>> import surepick as sp
    >>> outcome = sp.explore(sp.TopK(4, k=2), sp.Bernoulli([0.9, 0.8, 0.3, 0.1]), delta=0.05)
    >>> outcome.certified, outcome.decision
    (True, array([1, 1, 0, 0]))
    """
    settings: dict[str, Any] = {
        "delta": delta, "policy": policy, "confidence": confidence, "epsilon": epsilon, "relative": relative, "budget": budget,
        "cost_budget": cost_budget, "spend": spend, "dependent": dependent, "per_arm": per_arm,
    }  # fmt: skip
    if isinstance(problem, Explorer):
        explorer = problem
        if changed := Settings(**settings).changed():
            raise SettingError(f"The explorer has its settings already: leave out {', '.join(changed)}.")
    else:
        explorer = Explorer(problem, **settings, pool=sampler.pool(seed) if isinstance(sampler, Scores) else None)
    drive(explorer, sampler, batch=batch, seed=seed, progress=progress)
    return Outcome.of(explorer.certificate())
