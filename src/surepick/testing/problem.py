"""What every decision class promises, and a check of it all."""

from __future__ import annotations

import json
import pickle
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arms import Arm, Floats
from ..environments import Environment
from ..errors import SurepickError
from ..explorer import Explorer
from ..policies import POLICIES
from ..problems.base import Problem
from ..study import StudySpec
from .alternatives import pays_for_alternatives
from .cases import NEAR, Case, Listed, draw_case, list_decisions, points, smallest
from .engines import Way, compiled_differs, explored
from .error import ConformanceError
from .ranks import bounds_the_shortfall
from .ties import WAY, in_files, ties
from .worlds import world_of

FEW = 12  # points of a box at which all decisions are weighed


def check_problem(
    problem: Problem,
    decisions: ArrayLike | None = None,
    *,
    cases: int = 40,
    explorations: bool = True,
    travels: bool = True,
    seed: int = 0,
) -> None:
    """Check a decision class on one small instance of it; make several calls for several instances.

    Parameters
    ----------
    problem : Problem
        Up to about eight arms: it is compared with brute force.
    decisions : rows of numbers, optional
        All decisions, if you can list them. If not, those that ``solve`` returns somewhere, all if it takes any weights, and,
        if the class writes ``admits``, all others with such entries.
    cases : int
        Random examples of parameters, boxes and decisions.
    explorations : bool
        Also explore: compiled loops and Python take the same samples, and explorers can be saved.
    travels : bool
        The problem can be pickled, so that other processes can explore it; False for one that has functions of yours.
    seed : int
        Of the examples.

    Raises
    ------
    ConformanceError
        With the promise, and the smallest example found that breaks it.

    Examples
    --------
    >>> import surepick as sp
    >>> from surepick.testing import check_problem
    >>> check_problem(sp.TopK(5, k=2))
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"check_problem takes a problem such as TopK(5, 2), not {problem!r}.")
    who, rng = repr(problem), np.random.default_rng(seed)
    listed = list_decisions(problem, rng) if decisions is None else Listed(np.asarray(decisions), complete=True)
    drawn = [draw_case(problem, listed.decisions, rng) for _ in range(cases)]
    for promise in PROMISES:
        broken = partial(promise, problem, listed.decisions)
        for case in drawn:
            if broken(case) is not None:
                small, found = smallest(problem, case, broken)
                raise ConformanceError(who, _said(promise), found, small.example())
    if (unpaid := pays_for_alternatives(problem, listed)) is not None:
        raise ConformanceError(who, _said(pays_for_alternatives), *unpaid)
    lasting = [survives_a_study_file]
    lasting += [survives_pickling] if travels else []
    lasting += [survives_saving, same_samples] if explorations else []
    for lasts in lasting:
        if (wrong := lasts(problem)) is not None:
            raise ConformanceError(who, _said(lasts), *wrong)


def _said(promise: Callable[..., object]) -> str:
    assert promise.__doc__ is not None
    return " ".join(promise.__doc__.split())


# -- what is promised at every point, box and decision: each returns what was found instead, or None ---------------------------


def solves(problem: Problem, decisions: np.ndarray[Any, Any], case: Case) -> str | None:
    """solve returns a decision of the class that no other one beats, the same one every time, and leaves theta as it is."""
    theta = case.theta.copy()
    y = problem.solve(theta)
    if (theta != case.theta).any():
        return "It changed the array that it was given."
    if np.shape(y) != (problem.m,):
        return f"It returned {y!r}, which has not one entry an arm."
    if (problem.solve(case.theta.copy()) != y).any():
        return f"It returned {y.tolist()} at first, and then {problem.solve(case.theta).tolist()}."
    if not problem.contains(y):
        return f"It returned {y.tolist()}, which contains() says is not a decision."
    rewards = _rewards(problem, case.theta, decisions)
    own, top = problem.reward(case.theta, y), int(rewards.argmax())
    if rewards[top] > own + NEAR * (1 + abs(own)):
        return f"It returned {y.tolist()} with reward {own:g}, but {decisions[top].tolist()} has {rewards[top]:g}."
    return None


def contains_its_own(problem: Problem, decisions: np.ndarray[Any, Any], case: Case) -> str | None:
    """contains says yes to every decision, and no to what has another shape."""
    if not problem.contains(case.decision):
        return f"It says no to {case.decision.tolist()}."
    if problem.contains(np.append(case.decision, 0)):
        return f"It says yes to {np.append(case.decision, 0).tolist()}, which has {problem.m + 1} entries."
    return None


def ranges_rewards(problem: Problem, decisions: np.ndarray[Any, Any], case: Case) -> str | None:
    """reward is a finite number within reward_range at every point of the box."""
    low, high = problem.reward_range(case.lower, case.upper, case.decision)
    near = NEAR * (1 + abs(low) + abs(high))
    for theta in points(case):
        reward = problem.reward(theta, case.decision)
        if not low - near <= reward <= high + near:
            return f"At {theta.tolist()} it is {reward:g}, and reward_range says from {low:g} to {high:g}."
    return None


def keeps_its_word_on_rewards(problem: Problem, decisions: np.ndarray[Any, Any], case: Case) -> str | None:
    """A reward that is affine in theta has the gradient slopes(decision); a linear one is plus or minus theta . y."""
    if not problem.affine:
        return None
    reward, slopes = problem.reward(case.theta, case.decision), problem.slopes(case.decision)
    at_zero = problem.reward(np.zeros(problem.m), case.decision)
    if abs(at_zero + slopes @ case.theta - reward) > NEAR * (1 + abs(reward) + abs(at_zero)):
        return f"The reward is {reward:g}, but {at_zero:g} at theta = 0, with slopes {slopes.tolist()}."
    if problem.linear and abs(abs(reward) - abs(case.theta @ case.decision)) > NEAR * (1 + abs(reward)):
        return f"linear is True, and the reward is {reward:g} where theta . y is {case.theta @ case.decision:g}."
    return None


def misses_no_arm(problem: Problem, decisions: np.ndarray[Any, Any], case: Case) -> str | None:
    """undecided marks every arm whose entry of solve differs between two points of the box."""
    undecided = problem.undecided(case.lower, case.upper)
    first = problem.solve(case.theta)
    for theta in points(case):
        other = problem.solve(theta)
        missed = np.flatnonzero((other != first) & ~undecided)
        if len(missed):
            return (
                f"It does not mark arm {problem.names[missed[0]]!r}, which is {first[missed[0]]} in the decision at "
                f"{case.theta.tolist()} and {other[missed[0]]} at {theta.tolist()}."
            )
    return None


def shrinks_with_the_box(problem: Problem, decisions: np.ndarray[Any, Any], case: Case) -> str | None:
    """undecided marks no arm on a smaller box that it does not mark on a larger one around it."""
    inner = (case.lower + case.theta) / 2, (case.upper + case.theta) / 2
    more = problem.undecided(*inner) & ~problem.undecided(case.lower, case.upper)
    if more.any():
        return f"It marks arm {problem.names[int(more.argmax())]!r} on the box half as large around theta, and not on this one."
    return None


def is_exact(problem: Problem, decisions: np.ndarray[Any, Any], case: Case) -> str | None:
    """undecided, if the class says that it is exact, marks no arm at a single point; nor, if the class is bi-monotone, one whose
    entry is the same at the two corners that favour it most and least."""
    if not problem.exact:
        return None
    if problem.undecided(case.theta, case.theta).any():
        return f"It marks {problem.undecided(case.theta, case.theta).tolist()} where lower = upper = theta."
    if not problem.bimonotone:
        return None
    undecided = problem.undecided(case.lower, case.upper)
    for i in np.flatnonzero(undecided):
        up, down = case.lower.copy(), case.upper.copy()
        up[i], down[i] = case.upper[i], case.lower[i]
        if problem.solve(up)[i] == problem.solve(down)[i]:
            return f"It marks arm {problem.names[i]!r}, which is {problem.solve(up)[i]} in the decision at both corners."
    return None


def is_bimonotone(problem: Problem, decisions: np.ndarray[Any, Any], case: Case) -> str | None:
    """A bi-monotone class has entries that rise with their own parameter and fall with every other one, or the reverse."""
    if not problem.bimonotone:
        return None
    first = problem.solve(case.lower)
    for i in np.flatnonzero(case.lower < case.upper):
        raised = case.lower.copy()
        raised[i] = case.upper[i]
        change = np.sign(problem.solve(raised) - first)
        others = np.delete(change, i)
        if (change[i] * others > 0).any() or ((others > 0).any() and (others < 0).any()):
            return (
                f"When {problem.names[i]!r} rises from its lower end, the decision {first.tolist()} changes by {change.tolist()}."
            )
    return None


def bounds_the_rival(problem: Problem, decisions: np.ndarray[Any, Any], case: Case) -> str | None:
    """rival returns a gap of at least what any other decision can be better by on the box; exactly so much if rival_exact, with
    a decision of the class if rivals."""
    rival, gap = problem.rival(case.lower, case.upper, case.decision)
    leads = _leads(problem, decisions, case)
    top = int(leads.argmax())
    most = max(0.0, float(leads[top]))
    near = NEAR * (1 + most + abs(problem.reward(case.lower, case.decision)))
    if gap < most - near:
        return f"It says {gap:g}, but {decisions[top].tolist()} can be better by {most:g}."
    if problem.rival_exact and gap > most + near:
        return f"It says {gap:g}, but the most is {most:g}, by {decisions[top].tolist()}."
    if problem.rivals and not problem.contains(rival):
        return f"It returns {np.asarray(rival).tolist()}, which contains() says is not a decision."
    return None


def bounds_the_share(problem: Problem, decisions: np.ndarray[Any, Any], case: Case) -> str | None:
    """relative_rival returns at least the share of the best reward's size by which the decision falls short at any point."""
    _, share = problem.relative_rival(case.lower, case.upper, case.decision)
    for theta in islice(points(case), FEW):
        best = float(_rewards(problem, theta, decisions).max())
        short = best - problem.reward(theta, case.decision)
        if short > share * abs(best) + NEAR * (1 + abs(best)):
            return (
                f"It says {share:g}, but at {theta.tolist()} the best reward is {best:g} and the decision {short:g} short of it."
            )
    return None


def settles(problem: Problem, decisions: np.ndarray[Any, Any], case: Case) -> str | None:
    """A decision is settled only where solve returns it at every point of the box, and is if no arm is undecided."""
    decision = problem.solve((case.lower + case.upper) / 2)
    rival, _ = problem.rival(case.lower, case.upper, decision)
    settled = problem.settled_on(case.lower, case.upper, decision, rival)
    if not settled and not problem.undecided(case.lower, case.upper).any() and problem.exact:
        return f"No arm is undecided, and {decision.tolist()} is not settled."
    for theta in points(case) if settled else ():
        if (problem.solve(theta) != decision).any():
            return f"{decision.tolist()} is settled, but at {theta.tolist()} it is {problem.solve(theta).tolist()}."
    return None


def lists_exchanges(problem: Problem, decisions: np.ndarray[Any, Any], case: Case) -> str | None:
    """exchanges lists at most most_exchanges single exchanges of a decision that solve returns, and it is optimal elsewhere iff
    slope_h theta_h >= slope_l theta_l for all of them."""
    if not problem.exchangeable:
        return None
    y = problem.solve(case.upper)
    swaps = problem.exchanges(y)
    if len(swaps.high) > problem.most_exchanges:
        return f"It lists {len(swaps.high)} exchanges, and most_exchanges is {problem.most_exchanges}."
    ahead, behind = swaps.slope_high * case.theta[swaps.high], swaps.slope_low * case.theta[swaps.low]
    near = NEAR * (1 + np.abs(ahead) + np.abs(behind))
    rewards = _rewards(problem, case.theta, decisions)
    short = float(rewards.max()) - problem.reward(case.theta, y)
    if short > NEAR * (1 + abs(rewards).max()) and (ahead >= behind + near).all():
        return (
            f"All {len(ahead)} exchanges of {y.tolist()} hold, but {decisions[rewards.argmax()].tolist()} is better by {short:g}."
        )
    if short <= 0 and (ahead < behind - near).any():
        e = int((ahead - behind).argmin())
        return f"{y.tolist()} is optimal, but the exchange of {swaps.high[e]} for {swaps.low[e]} does not hold."
    return None


Promise = Callable[[Problem, np.ndarray[Any, Any], Case], str | None]

PROMISES: Sequence[Promise] = (
    contains_its_own, solves, ranges_rewards, keeps_its_word_on_rewards, misses_no_arm, shrinks_with_the_box, is_exact,
    is_bimonotone, bounds_the_rival, bounds_the_share, bounds_the_shortfall, settles, lists_exchanges,
)  # fmt: skip


def _rewards(problem: Problem, theta: Floats, decisions: np.ndarray[Any, Any]) -> Floats:
    return np.array([problem.reward_at(theta, y) for y in decisions.astype(np.float64)])


def _leads(problem: Problem, decisions: np.ndarray[Any, Any], case: Case) -> Floats:
    """The most that every decision can be better than the case's: the reward is separable, so arm by arm."""
    lower, upper, y = case.lower, case.upper, case.decision
    leads = _rewards(problem, lower, decisions) - problem.reward(lower, y)
    steps = np.zeros_like(leads)
    for i in np.flatnonzero(lower < upper):
        raised = lower.copy()
        raised[i] = upper[i]
        there = _rewards(problem, raised, decisions) - problem.reward(raised, y)
        steps += np.maximum(there - leads, 0.0)
    return leads + steps


# -- what is promised of the whole: each returns what was found instead and where, or None -------------------------------------

Wrong = tuple[str, dict[str, Any]]


def survives_pickling(problem: Problem) -> Wrong | None:
    """A problem can be pickled, and is the same afterwards."""
    try:
        other = pickle.loads(pickle.dumps(problem))
    except Exception as error:
        return f"It cannot be: {error}. Say travels=False if that is because it has functions of yours.", {}
    return _differs(problem, other)


def survives_saving(problem: Problem) -> Wrong | None:
    """An explorer of the problem can be saved and loaded, and goes on as if nothing had happened."""
    explorer = explored(problem, _world(problem), Way(1, {}), compiled=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "explorer.json"
        explorer.save(path)
        again = Explorer.load(path, None if in_files(problem) else problem)
    if str(again.certificate().to_dict()) != str(explorer.certificate().to_dict()):
        return f"It says {again.certificate()} and said {explorer.certificate()}", {}
    if again.ask(3) != explorer.ask(3):
        return f"It asks for {again.ask(3)} and asked for {explorer.ask(3)}.", {}
    return _differs(problem, again.problem)


def survives_a_study_file(problem: Problem) -> Wrong | None:
    """A registered class with study_keys is the same when a study file has its keys()."""
    known = type(problem).study_keys()
    if known is None or not in_files(problem):
        return None
    arms = [{"name": f"arm {i}", **_written(arm)} for i, arm in enumerate(problem.arms)]
    table = {"kind": problem.kind, **(problem.keys() or {})}
    if "parameter" in known:
        table["parameter"] = problem.parameter.name
    study = json.loads(json.dumps({"arms": arms, "problem": table}))
    try:
        other = StudySpec.from_dict(study).problem
    except SurepickError as error:
        return f"It is refused: {error}", {"study": study}
    return _differs(problem, other)


def same_samples(problem: Problem) -> Wrong | None:
    """A compiled loop takes the same samples as the Python loop and says the same of them: one at a time and several, to the
    first certificate and to the end of a budget, with an epsilon of every kind and without, also where decisions tie."""
    tied = ties(problem)
    for name in POLICIES:
        if (found := compiled_differs(problem, _world(problem), policy=name)) is not None:
            return f"policy={name!r}: {found}", {}
        for tie in tied:
            if (found := compiled_differs(tie.problem, tie.world, [WAY], policy=name)) is not None:
                return f"policy={name!r}: {found}", {"low": tie.problem.low, "high": tie.problem.high}
    return None


def _world(problem: Problem) -> Environment:
    return world_of(problem, np.random.default_rng(1).integers(1, 16, problem.m) / 16)


def _written(arm: Arm) -> dict[str, Any]:
    if arm.kind == "normal":
        return {"kind": arm.kind}
    return {"low": arm.low, "high": arm.high, "kind": arm.kind} if arm.scale is None else {"kind": arm.kind, "scale": arm.scale}


def _differs(problem: Problem, other: Problem) -> Wrong | None:
    """Where two problems that should be the same are not."""
    if type(other) is not type(problem) or other.m != problem.m:
        return f"It became {other!r}.", {}
    rng = np.random.default_rng(2)
    for _ in range(8):
        case = draw_case(problem, np.array([problem.solve((problem.low + problem.high) / 2)]), rng)
        for question in ("solve", "undecided"):
            asked = (case.theta,) if question == "solve" else (case.lower, case.upper)
            before, after = getattr(problem, question)(*asked), getattr(other, question)(*asked)
            if (before != after).any():
                return f"{question} gives {after.tolist()}, and gave {before.tolist()}.", case.example()
    return None
