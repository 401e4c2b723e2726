"""What every policy promises of its certificates, counted over many explorations of hard worlds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from math import inf, isqrt
from typing import Any

from ..arms import Floats
from ..errors import SettingError
from ..explorer import Explorer
from .bench import DELTA, Bench
from .chance import most_errors
from .worlds import mistakes, shortfall

LONG = 1000  # samples an arm of an exploration that is to run into a certificate
SHORT = 100  # of one with an epsilon
FEW = 12  # of one whose certificate is read
ROUNDS = 20  # looks of an exploration
COUNTS = 42  # of errors in one check of a policy: seven on each of six problems, which share the false alarm
KINDS = tuple({"relative": relative, "per_arm": per_arm} for relative, per_arm in ((False, False), (True, False), (False, True)))


def rarely_errs(bench: Bench, runs: int) -> str | None:
    """Certificates are wrong in at most a share delta of the explorations, however little separates the decisions."""
    return _counted(bench, bench.hard(), runs, LONG)


def rarely_errs_when_a_budget_is_spent(bench: Bench, runs: int) -> str | None:
    """With spend=True, certificates are wrong in at most a share delta of the explorations."""
    return _counted(bench, bench.hard(), runs, SHORT, spend=True)


def rarely_errs_with_an_epsilon(bench: Bench, runs: int) -> str | None:
    """With an epsilon, decisions that are certified are further from the best in at most a share delta of the explorations, also
    with an epsilon that is a share of the best reward, or one for every arm."""
    for kind in KINDS:
        if kind["per_arm"] and not bench.problem.ranked:
            continue
        shares = bench.hard(epsilon=0.0, **kind)
        further = [short for short in mistakes(bench.problem, bench.truth(shares), **kind) if 0 < short < inf]
        settings: dict[str, Any] = {"epsilon": min(further, default=1.0) / 2, **kind}
        try:
            bench.explorer(**settings)
        except SettingError:  # not with such an epsilon
            continue
        if (found := _counted(bench, shares, runs, SHORT, **settings)) is not None:
            return f"{found} It was explored with {', '.join(f'{name}={value!r}' for name, value in settings.items())}."
    return None


def _counted(bench: Bench, shares: Floats, runs: int, samples: int, **settings: Any) -> str | None:
    """What is said of explorations that end in too many wrong certificates; they are looked at after all kinds of numbers of
    samples."""
    budget, most = samples * bench.problem.m, most_errors(runs, DELTA, COUNTS)
    batch = next(n for n in count(budget // ROUNDS) if all(n % k for k in range(2, isqrt(n) + 1)))  # a prime number
    wrong: list[Explorer] = []
    for seed in range(runs):
        explorer = bench.explored(shares, seed, budget, batch=batch, **settings)
        if bench.errs(explorer, shares):
            wrong.append(explorer)
        if len(wrong) > most:
            break
    else:
        return None
    first, near = wrong[0], f" or one within {wrong[0].epsilon:g} of it" if wrong[0].epsilon else ""
    return (
        f"{len(wrong)} of {seed + 1} explorations certify another decision than {bench.best(shares)}{near}, the first one "
        f"{first.decision.tolist()} after {first.samples:,} samples; with delta = {DELTA}, {most} of {runs} is a lot. The arms "
        f"have their upper values with probabilities {shares.tolist()}."
    )


def says_what_holds(bench: Bench, runs: int) -> str | None:
    """What a certificate says holds with probability at least 1 - delta: no decision is better by more than gap, no arm by more
    than gap_per_arm, and a decision that is not the best attains p or less with probability at most p."""
    shares, budget = bench.hard(epsilon=0.0, relative=False, per_arm=False), FEW * bench.problem.m
    untrue, most = [], most_errors(runs, DELTA, COUNTS)
    for seed in range(runs):
        explorer = bench.explored(shares, seed, budget, batch=4 * bench.problem.m)
        if (found := _untrue(explorer, bench.truth(shares))) is not None:
            untrue.append(found)
        if len(untrue) > most:
            counted = (
                f"In {len(untrue)} of {seed + 1} explorations it does not hold; with delta = {DELTA}, {most} of {runs} is a lot"
            )
            return f"{counted}. First, {untrue[0]}"
    return None


def _untrue(explorer: Explorer, truth: Floats) -> str | None:
    """What is said of a decision that does not hold, if anything."""
    problem, certificate = explorer.problem, explorer.certificate()
    y, gap, each = certificate.decision, certificate.gap, certificate.gap_per_arm
    if (short := shortfall(problem, truth, y, relative=explorer.relative)) > gap * (1 + 1e-9):
        return f"gap is {gap:g}, and {y.tolist()} is {short:g} from the best."
    if each is not None and problem.ranked and (short := shortfall(problem, truth, y, per_arm=True)) > each * (1 + 1e-9):
        return f"gap_per_arm is {each:g}, and an arm of {y.tolist()} is {short:g} from the best."
    kind = {"relative": explorer.relative, "per_arm": explorer.per_arm}
    if explorer.attained() <= DELTA and shortfall(problem, truth, y, **kind) > explorer.epsilon:
        return f"attained is {explorer.attained():g}, and {y.tolist()} is not the best, nor within epsilon of it."
    return None


COUNTED: tuple[Callable[[Bench, int], str | None], ...] = (
    rarely_errs, says_what_holds, rarely_errs_when_a_budget_is_spent, rarely_errs_with_an_epsilon,
)  # fmt: skip
