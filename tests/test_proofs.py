"""The proof page names what there is, and the steps of its proofs that no other test looks at hold.

Where an assumption is needed, a test that leaves it out must fail by an exact binomial test: so the assumption is a real one.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy.stats import binom

import surepick as sp
from surepick.engine.data import Arms
from surepick.engine.enums import Family
from surepick.engine.kernels import least, mixtures
from surepick.engine.kernels.mixtures import ABOVE, BELOW, BOTH
from surepick.engine.kernels.unit import LEAST
from surepick.policies import View

from .test_least_evidence import State, a_state, weigh_all
from .weighed import arms_of, evidence

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
CLAIMS = {int(number): text for number, text in re.findall(r"^### (\d+)\. (.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)}
FIELDS = ["Claim", "Assumes", "Proof", "Code", "Tests", "Status"]

UNIT, NORMAL, SPREAD, BETS = map(int, (Family.UNIT, Family.NORMAL, Family.SPREAD, Family.BETS))


def alone(n: float, p: float, rho: float) -> Arms:
    """One arm of values in [0, 1]."""
    return arms_of(np.array([UNIT]), np.array([n]), np.array([p]), np.zeros(1), np.ones(1), np.zeros(1), np.ones(1), rho)


def too_many(delta: float, runs: int) -> int:
    """More errors than this have probability below 1e-6 if each run errs with probability delta."""
    return int(binom.isf(1e-6, runs, delta))


# -- the page ----------------------------------------------------------------------------------------------------------


def named(file: str) -> set[str]:
    """The functions, classes, methods and constants of a file, as ``name`` or ``Class.name``."""
    found: set[str] = set()
    for node in ast.parse((ROOT / file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
        if isinstance(node, ast.Assign):
            found |= {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return found


def test_claims_are_numbered_without_gaps() -> None:
    assert re.findall(r"^### (\d+)\. ", PAGE, re.MULTILINE) == [str(n) for n in range(1, len(CLAIMS) + 1)]
    for number in re.findall(r"[Cc]laims? (\d+)", PAGE):
        assert int(number) in CLAIMS


@pytest.mark.parametrize("number", CLAIMS)
def test_a_claim_names_what_there_is(number: int) -> None:
    text = CLAIMS[number]
    assert re.findall(r"^\*\*(\w+)\.\*\* ", text, re.MULTILINE) == FIELDS
    code, tests = (re.search(rf"^\*\*{field}\.\*\* (.*)$", text, re.MULTILINE)[1] for field in ("Code", "Tests"))
    for line, pattern in ((code, r"`(src/surepick/[\w/]+\.py)::([\w.]+)`"), (tests, r"`(tests/\w+\.py)::(test_\w+)`")):
        assert re.sub(pattern, "", line).replace(",", "").strip() == ""
        for file, name in re.findall(pattern, line):
            assert name in named(file), f"claim {number}: {file} has no {name}"
    assert re.findall(r"`(tests/\S+)::", text) == re.findall(r"`(tests/\S+)::", tests)


def test_what_is_not_proved_is_said() -> None:
    """Every status says one of the two, and a claim that rests on another one's check says so."""
    for number, text in CLAIMS.items():
        status = re.search(r"^\*\*Status\.\*\* (.*)$", text, re.MULTILINE)[1]
        assert re.search(r"[Pp]roved", status), number


# -- evidence of one arm -----------------------------------------------------------------------------------------------


def whole(rng: np.random.Generator) -> tuple[float, float, float]:
    """n, p and rho, with no success or failure that is less than one."""
    n = float(int(10 ** rng.uniform(0, 5)))
    yes = float(rng.integers(0, int(n) + 1)) if rng.random() < 0.7 or n < 2 else 1 + rng.random() * (n - 2)
    return n, yes / n, 10 ** rng.uniform(0, 3)


def test_two_sided_evidence_is_convex_and_has_its_floor() -> None:
    rng, u = np.random.default_rng(0), np.linspace(0.001, 0.999, 999)
    ends = np.geomspace(1e-12, 1e-3, 200)
    for _ in range(150):
        n, p, rho = whole(rng)
        found = weigh_all(UNIT, n, p, u, rho, BOTH)
        assert (np.diff(found, 2) >= -1e-9 * (1 + np.abs(found).max())).all()
        everywhere = np.concatenate((found, weigh_all(UNIT, n, p, np.concatenate((ends, 1 - ends)), rho, BOTH)))
        assert evidence(UNIT, n, p, p, rho, BOTH) <= 1e-6
        assert everywhere.min() >= min(evidence(UNIT, n, p, p, rho, BOTH), 0.0) - 1.0 - 1e-6
        floor = least.floor_of(0, alone(n, p, rho))
        for side in (ABOVE, BELOW):
            assert weigh_all(UNIT, n, p, u, rho, side).min() >= floor - 1e-6
    less = weigh_all(UNIT, 100.0, 0.005, ends, 80.0, BOTH)  # half a success: it falls towards the end, so there is no floor
    assert less[0] < evidence(UNIT, 100.0, 0.005, 0.005, 80.0, BOTH) - 1.0
    assert least.floor_of(0, alone(100.0, 0.005, 80.0)) == -math.inf


def test_one_sided_evidence_falls_and_then_rises() -> None:
    """And it has its least where the arm is seen, or beyond. Evidence that a Bernoulli variance is below is two-sided, and has it
    only about there, where it is at most 0."""
    rng, away = np.random.default_rng(1), np.geomspace(1e-12, 0.5, 500)
    for trial in range(300):
        n, p, rho = whole(rng)
        kind = (UNIT, NORMAL, SPREAD)[trial % 3]
        top = 0.25 if kind == SPREAD else 1.0
        if kind == SPREAD:
            p = round(n * p) / n
        at = p * (1 - p) if kind == SPREAD else p
        u = np.concatenate((top * away, top * (1 - away), at - top * away, at + top * away))
        u = np.unique(np.append(u[(u > 0) & (u < top)], min(max(at, LEAST), top - LEAST)))
        for side in (ABOVE, BELOW):
            found = weigh_all(kind, n, p, u, rho, side)
            least, near = int(found.argmin()), 1e-6 + 1e-9 * np.abs(found).max()
            assert (np.diff(found[: least + 1]) <= near).all()
            assert (np.diff(found[least:]) >= -near).all()
            beyond = u >= at if side == ABOVE else u <= at
            if kind == SPREAD and side == BELOW:
                assert evidence(kind, n, p, at, rho, side) <= 1e-6
            elif beyond.any():
                assert found[beyond].min() <= found.min() + near


@given(n=st.integers(1, 100_000), share=st.floats(0, 1), small=st.floats(1e-4, 0.5), rho=st.floats(0.5, 1000))
def test_the_nearer_root_has_less_evidence(n: int, share: float, small: float, rho: float) -> None:
    p = round(n * share) / n
    near, far = (small, 1 - small) if p <= 0.5 else (1 - small, small)
    known = mixtures.unit_evidence(n, p, near, rho, BOTH), mixtures.unit_evidence(n, p, far, rho, BOTH)
    assert known[0] <= known[1] + 1e-6 + 1e-9 * abs(known[1])


def test_the_clamp_at_the_ends_costs_next_to_nothing() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        n, p, rho = whole(rng)
        u0 = LEAST * rng.random()
        for side in (ABOVE, BELOW, BOTH):
            before = evidence(UNIT, n, p, u0, rho, side)
            one, none = (evidence(UNIT, n + 1, (n * p + x) / (n + 1), u0, rho, side) for x in (1.0, 0.0))
            after = np.logaddexp(math.log(u0) + one, math.log1p(-u0) + none)
            assert after <= before + 1e-12 + 1e-6 + 1e-12 * abs(before)  # the millionth is what arithmetic may err
    for n in (1e3, 1e6, 1e9):
        assert evidence(UNIT, n, 0.0, 0.0, 80.0, BOTH) <= n * 1e-12 + 1e-5


# -- two arms ----------------------------------------------------------------------------------------------------------


def test_what_is_seen_beyond_a_range_hides_nothing() -> None:
    """Pairs may show a variance above all that there can be. Here h can be at 0.5 at most, and l is known to be at 0.54."""
    kinds, zero = np.array([UNIT, UNIT]), np.zeros(2)
    arms = arms_of(kinds, np.array([20.0, 1e5]), np.array([0.9, 0.45]), zero, zero + 0.5, zero, zero + 1, 80.0)
    found = least.least_evidence(0, 1, 1.0, 1.2, arms)
    assert found <= 0.0
    ex = sp.Explorer(sp.BestArm([sp.Arm("h", 0, 1), sp.Arm("l", 0, 1.02)], parameter="variance"), 0.05)
    ex.tell("h", [0, 1] * 400)
    ex.tell("l", [0, 1.02] * 300 + [0, 0] * 180)
    assert ex.box()[0][1] > ex.box()[1][0]  # by the box l has the larger variance
    assert not ex.certified
    rng, judged = np.random.default_rng(4), 0
    while judged < 120:
        state = a_state(rng)
        if (state.kinds == UNIT).all():
            judged += 1
            half: State = state._replace(high=state.shift + state.scale * rng.choice([0.5, 1.0], size=2))
            if half.ends()[0] <= half.ends()[1]:
                assert half.sure() <= max(half.brute()[1], 0.0) + 1e-6 + 1e-12 * abs(half.sure())


@njit
def one_sided(n, means, rho, side):
    found = np.empty(means.shape)
    for run in range(means.shape[0]):
        for k in range(len(n)):
            found[run, k] = mixtures.normal_evidence(n[k], means[run, k], 0.0, rho, side)
    return found


def test_a_product_holds_along_a_path_and_not_over_all_counts() -> None:
    """Whoever knows all of one arm before he decides how long to sample the other has more than one chance."""
    runs, alpha, rng = 4000, 0.05, np.random.default_rng(0)
    n = np.unique(np.geomspace(1, 1e6, 120).astype(np.int64)).astype(float)
    means = [np.cumsum(rng.standard_normal((runs, len(n))) * np.sqrt(np.diff(n, prepend=0)), axis=1) / n for _ in range(2)]
    high, low = one_sided(n, means[0], 80.0, ABOVE), one_sided(n, means[1], 80.0, BELOW)
    level = math.log(1 / alpha)
    assert ((high + low) >= level).any(axis=1).sum() <= too_many(alpha, runs)
    assert (high.max(axis=1) + low.max(axis=1) >= level).sum() > too_many(alpha, runs)
    exceeded = (high.max(axis=1) + low.max(axis=1) >= level).mean()
    assert exceeded <= alpha * (1 + level) + 5 * math.sqrt(alpha * (1 + level) / runs)


def test_half_a_pair_of_a_paused_and_of_an_ended_arm() -> None:
    rng = np.random.default_rng(0)

    def half() -> sp.Explorer:
        ex = sp.Explorer(sp.SampleAllocation([1, 1], 4), 0.2)
        for i, p in enumerate([0.5, 0.02]):
            ex.tell(i, (rng.random(20_000) < p).astype(float)[: 19_999 if i else 20_000])
        return ex

    ex = half()
    assert not ex.certified
    ex.pause(1)
    ex.tell(0, [0.0, 1.0])
    assert not ex.certified  # half a pair is open
    assert 1 not in ex.ask(4)
    ex.resume(1)
    assert ex.ask(1) == [1]
    ex.tell(1, 0.0)
    assert ex.certified
    ex = half()
    ex.end(1)
    ex.tell(0, [0.0, 1.0])
    assert ex.certified  # its last value counts for nothing


# -- the policy's own draws --------------------------------------------------------------------------------------------


def test_draws_of_ts_explore_are_nested() -> None:
    """What is certified at a smaller delta is so at a larger one, with the same draws."""
    rng, seen = np.random.default_rng(0), set()
    for run in range(12):
        ex = sp.Explorer(sp.TopK(3, 1), 0.05, policy="ts-explore")
        ex.policy.seed(run, 0)
        n = int(rng.integers(1200, 2500))
        ex.tell_many([(i, (rng.random(n) < p).astype(float)) for i, p in enumerate((0.7, 0.5, 0.4))])
        views = [View(ex.problem, ex.confidence, ex.record, delta, fixed=0.05) for delta in (1e-6, 1e-4, 0.01, 0.05, 0.4, 0.9)]
        spreads = [ex.policy.spread(view) for view in views]
        assert all((wide > narrow).all() and np.ptp(wide / narrow) < 1e-9 for wide, narrow in itertools.pairwise(spreads))
        certified = [ex.policy.certified(view) for view in views]
        assert certified == sorted(certified)
        seen |= set(certified)
    assert seen == {True, False}


# -- what is assumed about the order and the choice of values ----------------------------------------------------------


def test_newest_first_breaks_it_and_one_moment_does_not() -> None:
    """Two coins. One is tossed until its last 1,000 tosses look good; how often, was decided by looking."""
    coins = [sp.Arm("one", kind="bernoulli"), sp.Arm("other", kind="bernoulli")]
    runs, delta, wrong = 30, 0.2, {"newest first": 0, "as they came": 0, "one moment": 0}
    for run in range(runs):
        rng = np.random.default_rng((1, run))
        other, tosses = (rng.random(20_000) < 0.5).astype(float), rng.random(2_000_000) < 0.5
        sums = np.concatenate(([0], np.cumsum(tosses)))
        lucky = np.flatnonzero(sums[1000:] - sums[:-1000] > 553)
        values = tosses[: lucky[0] + 1000 if len(lucky) else len(tosses)].astype(float)
        for how in wrong:
            ex = sp.Explorer(sp.BestArm(coins), delta)
            if how == "one moment":
                ex.tell_many([(1, other), (0, values)])
            else:
                ex.tell(1, other)
                told = values[::-1] if how == "newest first" else values
                for start in range(0, min(len(told), 20_000), 500):
                    ex.tell(0, told[start : start + 500])
            wrong[how] += bool(ex.certified and ex.decision[0])
    assert wrong["newest first"] > too_many(delta, runs)
    assert wrong["as they came"] <= too_many(delta, runs)
    assert wrong["one moment"] <= too_many(delta, runs)


@pytest.mark.parametrize("peek", [True, False])
def test_a_value_taken_because_of_another_arms_breaks_the_table(peek: bool) -> None:
    """Two arms that are the same coin on the same day; one is looked at only on days on which the other was 1."""
    runs, wrong = 15, 0
    for run in range(runs):
        rng, ex = np.random.default_rng((2, run)), sp.Explorer(sp.BestArm(2), 0.05, dependent=True)
        for day in range(300):
            value = float(rng.random() < 0.5)
            ex.tell(1, value)
            if value or not peek or day == 0:
                ex.tell(0, value)
            if ex.certified:
                break
        wrong += bool(ex.certified and ex.decision[0])
    assert (wrong > too_many(0.05, runs)) == peek
