"""What every policy promises, and a check of it all."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import SettingError
from ..explorer import Explorer
from ..problems import BestArm, Matching, SampleAllocation, SpanningTree, Subsets, TopK
from ..problems.base import Problem
from .bench import DELTA, EASY, Bench
from .certificates import COUNTED, COUNTS
from .chance import most_errors
from .engines import compiled_differs
from .error import ConformanceError

FAR = 0.15  # how far, as a share of their ranges, all arms of an easy world are from a change of the decision
SPENT = 1000  # samples of an exploration that goes on after all is certain


def check_policy(policy: Any, problem: Problem | None = None, *, runs: int = 100, **settings: Any) -> None:
    """Check a policy on small worlds.

    Parameters
    ----------
    policy : str or Policy
        As for :class:`~surepick.Explorer`.
    problem : Problem, optional
        What to explore, with few arms; by default one of every kind of this package that the policy can do.
    runs : int
        Explorations of a world in which the best decision is hardly better than others, to count wrong certificates: for every
        problem, to a certificate or 1,000 samples an arm.
    settings
        Others for :class:`~surepick.Explorer`, such as ``confidence``.

    Raises
    ------
    ConformanceError
        With the promise, and the exploration that breaks it.

    Examples
    --------
    >>> from surepick.testing import check_policy
    >>> check_policy("coci", runs=20)
    """
    problems = [one for one in (usual() if problem is None else [problem]) if _fits(one, policy, settings)]
    if not problems:
        raise SettingError(f"policy={policy!r} can do none of the problems that it was to be checked on: give one that it can.")
    for bench in [Bench(one, policy, settings) for one in problems]:
        for promise in PROMISES:
            try:
                found = promise(bench)
            except SettingError as error:  # of an explorer, about what the policy returned
                found = str(error)
            if found is not None:
                raise _broken(bench, promise, found)
        for counted in COUNTED:
            if (found := counted(bench, runs)) is not None:
                raise _broken(bench, counted, found)


def usual() -> list[Problem]:
    """A small problem of every kind."""
    return [
        BestArm(3),
        TopK(4, 2, sense="min"),
        SpanningTree([(0, 1), (1, 2), (0, 2), (2, 3)]),
        Matching([(0, "a"), (0, "b"), (1, "a"), (1, "b")]),
        Subsets(4, [[1, 1, 0, 0], [0, 0, 1, 1]]),
        SampleAllocation([10, 20, 30], 6),
    ]


def _fits(problem: Problem, policy: Any, settings: dict[str, Any]) -> bool:
    try:
        Explorer(problem, policy=policy, **settings)
    except SettingError:
        return False
    return True


# -- the promises: each returns what was found instead, or None ------------------------------------------------------------------


def certifies_the_best(bench: Bench) -> str | None:
    """In an easy world the best decision is certified."""
    wrong, seeds = [], range(8)
    for seed in seeds:
        explorer = bench.explored(bench.easy, seed, EASY)
        if not explorer.certified and bench.far >= FAR:
            return f"Not certified after {explorer.samples:,} samples, {explorer.counts.tolist()} (seed {seed})."
        if bench.errs(explorer, bench.easy):
            wrong.append(seed)
    if len(wrong) > most_errors(len(seeds), DELTA, COUNTS):
        return f"With seeds {wrong} a decision that is worse than {bench.best(bench.easy)} was certified."
    return None


def asks_for_arms(bench: Bench) -> str | None:
    """ask returns at most as many arms as it is asked for, each by its index, and at least one until the exploration is done."""
    for explorer in bench.steps(80):
        for n in (1, 3):
            arms = explorer.ask(n)
            if len(arms) > n or not all(0 <= arm < bench.problem.m for arm in arms):
                return f"Asked for {n}, it returned {arms} after {explorer.counts.tolist()}."
            if not arms and not explorer.done:
                return f"It returned nothing after {explorer.counts.tolist()}, and is not done."
    return None


def asks_for_open_arms_only(bench: Bench) -> str | None:
    """An arm that is paused is not asked for."""
    for explorer in bench.steps(60):
        if explorer.samples < 2 * bench.problem.m or explorer.done:
            continue
        for arm in range(bench.problem.m):
            if (asked := _asked_without(arm, explorer)) is not None:
                return f"Arm {arm} is paused, and it asks for {asked} after {explorer.counts.tolist()}."
    return None


def keeps_to_the_budget(bench: Bench) -> str | None:
    """Nothing is asked for beyond the budget."""
    budget = 8 * bench.problem.m + 1
    last = None
    for last in bench.steps(budget):
        if last.samples + len(last.ask(budget + 5)) > budget:
            return f"After {last.samples} of {budget} samples it asks for {len(last.ask(budget + 5))} more."
    if last is not None and last.samples == budget and last.ask(1):
        return f"After all {budget} samples it asks for {last.ask(1)}."
    return None


def asking_changes_nothing(bench: Bench) -> str | None:
    """The same question has the same answer, and asking leaves the record and what the policy remembers as they are."""
    for explorer in bench.steps(60):
        before = explorer.counts.tolist(), repr(explorer.policy.memory())
        first, second = ((explorer.ask(2), explorer.certified, explorer.decision.tolist()) for _ in range(2))
        if first != second:
            return f"After {before[0]} it said {first}, and then {second}."
        after = explorer.counts.tolist(), repr(explorer.policy.memory())
        if after != before:
            return f"It changed from {before} to {after}."
    return None


def goes_on_after_saving(bench: Bench) -> str | None:
    """An explorer that is saved and loaded asks for the same as before."""
    for explorer in bench.steps(40):
        if explorer.samples % 13 or explorer.done:
            continue
        own = {} if isinstance(bench.policy, str) else {"policy": bench.policy}
        with tempfile.TemporaryDirectory() as folder:
            explorer.save(Path(folder) / "explorer.json")
            again = Explorer.load(Path(folder) / "explorer.json", bench.problem, **own)
        if again.ask(3) != explorer.ask(3) or again.policy.memory() != explorer.policy.memory():
            return f"After {explorer.counts.tolist()} it asks for {again.ask(3)}, and asked for {explorer.ask(3)}."
    return None


def spends_the_budget(bench: Bench) -> str | None:
    """With spend=True all of the budget is spent: ask returns at least one arm, at most as many as it is asked for and as are
    left, open ones, before the decision is certain and once it is."""
    last, looked = None, {False: 0, True: 0}
    for last in bench.steps(SPENT, SPENT // 40, spend=True):
        if last.done or not last.started or looked[certain := last.policy.certified(last.view)] == 2:
            continue
        looked[certain] += 1
        left, after = SPENT - last.samples, last.counts.tolist()
        for n in (1, 3, SPENT):
            if not 0 < len(arms := last.ask(n)) <= min(n, left) or not all(0 <= arm < bench.problem.m for arm in arms):
                return f"Asked for {n}, it returned {len(arms)} arms, {arms[:9]}, after {after}, with {left} samples left."
        for arm in range(bench.problem.m):
            if (asked := _asked_without(arm, last)) is not None:
                return f"Arm {arm} is paused, and it asks for {asked} after {after}."
    if last is not None and last.samples != SPENT:
        return f"It ended after {last.samples} of {SPENT} samples."
    return None


def _asked_without(arm: int, explorer: Explorer) -> list[int] | None:
    """What is asked for while an arm is paused, if that is among it."""
    explorer.pause(explorer.problem.names[arm])
    asked = explorer.ask(3)
    explorer.resume(explorer.problem.names[arm])
    return asked if arm in asked else None


def is_deterministic(bench: Bench) -> str | None:
    """The same seed gives the same samples, whether a compiled loop runs or Python: one at a time and several, to the first
    certificate and to the end of a budget, with an epsilon of every kind and without."""
    runs = [bench.explored(bench.easy, 3, 200, compiled=False).counts.tolist() for _ in range(2)]
    if runs[0] != runs[1]:
        return f"It sampled {runs[0]}, and then {runs[1]}."
    return compiled_differs(bench.problem, bench.world(bench.easy), policy=bench.policy, **bench.settings)


PROMISES: tuple[Callable[[Bench], str | None], ...] = (
    asks_for_arms, asking_changes_nothing, keeps_to_the_budget, asks_for_open_arms_only, goes_on_after_saving, is_deterministic,
    spends_the_budget, certifies_the_best,
)  # fmt: skip


def _broken(bench: Bench, promise: Callable[..., object], found: str) -> ConformanceError:
    assert promise.__doc__ is not None
    example = {"problem": bench.problem} | ({} if promise in COUNTED else {"world": bench.easy})
    return ConformanceError(f"policy={bench.policy!r}", " ".join(promise.__doc__.split()), found, example)
