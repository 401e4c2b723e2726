"""How programs are solved: HiGHS gets each model once, forgets every answer, and agrees with brute force."""

from __future__ import annotations

import copy
import itertools
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surepick as sp
from surepick.errors import InfeasibleError, ProblemError
from surepick.estimators import Mean
from surepick.problems.base import Constraints
from surepick.problems.oracle import OracleProblem
from surepick.problems.program import Detour

from .reference import decisions_of

INF = float("inf")
# Two stocks of 3 and 4 units for demands of 2, 3 and 1.
SUPPLY = [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]]


def knapsack(sense: str = "max") -> sp.Program:
    return sp.Program(6, [[5, 4, 6, 3, 2, 4]], lower=3, upper=12, sense=sense)


def flow(sense: str = "max") -> sp.Program:
    return sp.Program(6, SUPPLY, lower=[-INF, -INF, 2, 3, 1], upper=[3, 4, 2, 3, 1], levels=3, sense=sense)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What HiGHS is told, call by call."""
    told: list[str] = []

    def listen(name: str) -> None:
        method = getattr(highspy.Highs, name)
        monkeypatch.setattr(highspy.Highs, name, lambda self, *args: told.append(name) or method(self, *args))

    for name in ("passModel", "changeColsCost", "changeColsBounds", "changeRowsBounds", "run"):
        listen(name)
    return told


# -- models are built once ----------------------------------------------------------------------------------------------------


def test_an_exploration_of_a_knapsack_builds_two_models_at_most(built: list[str]) -> None:
    outcome = sp.explore(knapsack(), sp.Bernoulli([0.9, 0.1, 0.8, 0.1, 0.1, 0.6]), policy="unified", budget=400)
    assert outcome.samples > 50
    assert built.count("run") > 50
    assert 1 <= built.count("passModel") <= 2
    assert built.count("changeColsCost") == built.count("run")


def test_while_a_rival_leads_at_the_corner_only_the_objective_changes(built: list[str]) -> None:
    problem, theta = knapsack(), np.array([0.9, 0.1, 0.8, 0.1, 0.1, 0.6])
    for decision in decisions_of(problem):
        problem.rival(theta - 0.5, theta + 0.5, decision)
    assert set(built) == {"passModel", "changeColsCost", "run"}
    assert built.count("passModel") == 1


def test_an_exploration_of_a_flow_moves_bounds_with_the_decision_only(built: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    problem, decisions = flow(), []
    rival = problem.rival_on
    monkeypatch.setattr(problem, "rival_on", lambda *args: decisions.append(args[-1].tolist()) or rival(*args))
    sp.explore(problem, sp.Bernoulli([0.5, 0.4, 0.5, 0.6, 0.5, 0.5]), policy="unified", budget=150)
    changes = sum(a != b for a, b in itertools.pairwise(decisions))
    assert 1 < changes < len(decisions) / 2
    assert built.count("passModel") == 2
    assert built.count("changeColsBounds") == changes >= built.count("changeRowsBounds")  # A y may stay the same


def test_a_class_that_writes_constraints_keeps_its_model(built: list[str]) -> None:
    class AtMostTwo(OracleProblem):
        kind = "at-most-two"

        def __init__(self) -> None:
            super().__init__(sp.TopK(4, 2).arms, Mean())

        def maximise(self, weights: np.ndarray) -> np.ndarray:
            return (weights >= np.sort(weights)[-2]).astype(np.int64)

        def constraints(self) -> Constraints:
            return Constraints(np.ones((1, 4)), np.array([0.0]), np.array([2.0]), np.ones(4, dtype=np.int64), 1.0)

        rival_on = sp.Problem.rival_on

    problem = AtMostTwo()
    for theta in np.random.default_rng(0).random((20, 4)):
        problem.rival(theta - 0.1, theta + 0.1, problem.solve(theta))
    assert built.count("passModel") == 1
    assert built.count("run") == 20


# -- no memory ----------------------------------------------------------------------------------------------------------------


def question(problem: sp.Program, theta: np.ndarray) -> list[object]:
    """Everything that a program is asked, with ties."""
    decision = problem.solve(theta)
    rival, gap = problem.rival(theta - 0.25, theta + 0.25, decision)
    return [decision.tolist(), rival.tolist(), gap, problem.undecided(theta - 0.125, theta + 0.125).tolist()]


@pytest.mark.parametrize("make", [knapsack, flow])
@pytest.mark.parametrize("sense", ["max", "min"])
@settings(max_examples=25)
@given(data=st.data())
def test_an_answer_does_not_depend_on_what_was_asked_before(make, sense: str, data: st.DataObject) -> None:
    """Weights of 0, 1/2 and 1 tie nearly always."""
    thetas = data.draw(st.lists(st.tuples(*[st.sampled_from([0.0, 0.5, 1.0])] * 6), min_size=2, max_size=5))
    questions = [np.array(theta) for theta in thetas]
    fresh = [question(make(sense), theta) for theta in questions]
    used = make(sense)
    assert [question(used, theta) for theta in questions] == fresh
    assert [question(used, theta) for theta in questions[::-1]] == fresh[::-1]


def test_all_ties_in_any_order() -> None:
    problem = sp.Program(6, [[1] * 6], lower=3, upper=3)
    rng = np.random.default_rng(1)
    first = problem.solve(np.ones(6)).tolist()
    for _ in range(30):
        problem.solve(rng.random(6))
        assert problem.solve(np.ones(6)).tolist() == first


@pytest.mark.parametrize("make", [knapsack, flow])
def test_copies_answer_alike(make) -> None:
    problem, theta = make(), np.array([0.5, 0.5, 0.25, 0.5, 0.25, 0.5])
    said = question(problem, theta)
    for twin in (pickle.loads(pickle.dumps(problem)), copy.deepcopy(problem), copy.copy(problem)):
        assert question(twin, theta) == said
        other = question(twin, 1 - theta)
        assert question(problem, 1 - theta) == other


def test_threads_may_share_a_program() -> None:
    problem, thetas = flow(), np.random.default_rng(2).integers(0, 5, (60, 6)) / 4
    alone = [question(problem, theta) for theta in thetas]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda theta: question(problem, theta), thetas)) == alone


def test_after_an_interrupt_the_answers_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between the new bounds of the columns and those of the rows."""
    problem, theta = flow(), np.array([0.9, 0.1, 0.2, 0.3, 0.8, 0.4])
    first, other = (np.array(y) for y in decisions_of(problem)[:2])
    box = theta - 0.1, theta + 0.1
    expected = problem.rival(*box, first)[0].tolist(), problem.rival(*box, other)[0].tolist()

    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(highspy.Highs, "changeRowsBounds", interrupt)
        patch.setattr(highspy.Highs, "changeColsCost", interrupt)
        with pytest.raises(KeyboardInterrupt):
            problem.rival(*box, first)
    assert (problem.rival(*box, first)[0].tolist(), problem.rival(*box, other)[0].tolist()) == expected


def test_other_code_may_run_highs_with_more_threads() -> None:
    code = (
        "import highspy; h = highspy.Highs(); h.silent(); h.setOptionValue('threads', 2); h.maximize(h.addBinary())\n"
        "import surepick as sp; print(sp.Program(3, [[3, 4, 2]], upper=6).solve([0.5, 0.6, 0.3]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[0 1 1]\n", "")


def test_importing_the_problems_does_not_import_highs() -> None:
    code = "import sys, surepick.problems; surepick.TopK(3, 1); sys.exit('highspy' in sys.modules or 'scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# -- against brute force ------------------------------------------------------------------------------------------------------


@st.composite
def programs(draw: st.DrawFn) -> sp.Program:
    """Rows of any sign around a decision, so that there is one; some of them equations."""
    m = draw(st.integers(1, 4))
    levels = draw(st.just([1] * m) | st.lists(st.integers(0, 3), min_size=m, max_size=m))
    A = np.array(draw(st.lists(st.tuples(*[st.integers(-3, 4)] * m), max_size=2))).reshape(-1, m)
    base = A @ [draw(st.integers(0, top)) for top in levels]
    room = [draw(st.sampled_from([(0, 0), (1, 1), (INF, 0), (0, INF), (INF, 2)])) for _ in A]
    lower, upper = ([b + sign * r[k] for b, r in zip(base, room, strict=True)] for k, sign in enumerate((-1, 1)))
    return sp.Program(m, A, lower, upper, levels, sense=draw(st.sampled_from(["max", "min"])))


@st.composite
def transports(draw: st.DrawFn) -> sp.Program:
    """Two stocks that together hold just what two places want."""
    wants = draw(st.tuples(*[st.integers(0, 3)] * 2))
    stock = draw(st.integers(0, sum(wants)))
    totals = [stock, sum(wants) - stock, *wants]
    A = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]
    return sp.Program(4, A, totals, totals, 3, sense=draw(st.sampled_from(["max", "min"])))


@st.composite
def asked(draw: st.DrawFn) -> tuple[sp.Program, np.ndarray, np.ndarray]:
    """A program and a box: sixteenths, which tie, or real numbers of any size, some of them equal."""
    problem = draw(programs() | transports())
    pool = st.integers(0, 16).map(lambda k: k / 16)
    if draw(st.booleans()):
        unit = 10.0 ** draw(st.integers(-8, 6))
        few = draw(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=3))
        pool = st.sampled_from([unit * x for x in few])
    middle, reach = (np.array(draw(st.lists(pool, min_size=problem.m, max_size=problem.m))) for _ in range(2))
    reach *= draw(st.sampled_from([0.0, 0.25, 1.0]))
    return problem, middle - reach, middle + reach


@settings(max_examples=300)
@given(asked())
def test_solve_is_an_optimum(case: tuple[sp.Program, np.ndarray, np.ndarray]) -> None:
    problem, lower, upper = case
    theta = (lower + upper) / 2
    decision = problem.solve(theta)
    assert problem.contains(decision.astype(float))
    best = max(problem.reward(theta, y) for y in decisions_of(problem))
    assert problem.reward(theta, decision) >= best - 1e-12 * np.abs(theta).sum()


@settings(max_examples=300)
@given(asked(), st.data())
def test_rival_is_the_best_other_decision(case: tuple[sp.Program, np.ndarray, np.ndarray], data: st.DataObject) -> None:
    """The rival is the decision itself only if no *other* one attains G = 0, ties included."""
    problem, lower, upper = case
    y = data.draw(st.just(problem.solve((lower + upper) / 2)) | st.sampled_from(decisions_of(problem)).map(np.array))
    rival, gap = problem.rival(lower, upper, y)
    up, down = (upper, lower) if problem.sense == "max" else (-lower, -upper)
    edges = {d: float((np.where(d > y, up, down) * (d - y)).sum()) for d in decisions_of(problem) if (d != y).any()}
    best = max(edges.values(), default=-INF)
    near = 1e-9 * (1 + float((np.maximum(np.abs(lower), np.abs(upper)) * problem.levels).sum()))
    assert gap == pytest.approx(max(0.0, best), abs=near)
    same = bool((rival == y).all())
    assert problem.settled_on(lower, upper, y, rival) == same
    assert best < 0 if same else edges[tuple(rival.tolist())] >= best - near >= -2 * near


@given(st.data())
def test_the_corner_and_the_detour_agree(data: st.DataObject) -> None:
    problem, lower, upper = data.draw(asked().filter(lambda case: case[0].linear))
    y = np.array(data.draw(st.sampled_from(decisions_of(problem))), dtype=float)
    rival, gap = problem.rival_on(lower, upper, y)
    other, edge = Detour(problem.constraints()).rival(lower, upper, y)
    assert (rival == y).all() == (other == y).all()
    assert gap == pytest.approx(edge, abs=1e-9 * (1 + np.abs(upper).sum()))


@pytest.mark.parametrize("sense", ["max", "min"])
def test_a_tie_with_the_decision_is_not_settled(sense: str) -> None:
    """At a point every pair of equal arms is as good, so no pair is known to be the only best one."""
    problem, theta = sp.Program(3, [[1, 1, 1]], lower=2, upper=2, sense=sense), np.full(3, 0.5)
    for decision in ([1, 1, 0], [1, 0, 1], [0, 1, 1]):
        rival, gap = problem.rival(theta, theta, decision)
        assert gap == 0
        assert rival.tolist() != decision
        assert sum(rival) == 2


@given(st.data())
def test_programs_that_nothing_meets(data: st.DataObject) -> None:
    """Even totals cannot be odd; and what no decision reaches is refused in the same words."""
    m, levels = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    A, odd = [[2 * data.draw(st.integers(1, 3)) for _ in range(m)]], 2 * data.draw(st.integers(0, 5)) + 1
    beyond = sum(A[0]) * levels + 1
    for bound in (odd, beyond):
        with pytest.raises(InfeasibleError, match=r"^No whole decision meets the constraints: loosen lower, upper or levels\.$"):
            sp.Program(m, A, bound, bound, levels)


@pytest.mark.parametrize("bad", [{"A": [[1e15, 1]]}, {"A": [[1, 1]], "lower": INF}, {"A": [[1, 1]], "upper": -INF}])
def test_numbers_that_highs_refuses(bad: dict) -> None:
    with pytest.raises(ProblemError, match="HiGHS refuses"):
        sp.Program(2, **bad)


def test_extreme_weights() -> None:
    """A power of two brings them into HiGHS's range."""
    problem = sp.Program(3, [[1, 1, 1]], upper=1)
    for unit in (5e-324, 1e-200, 1e-12, 1.0, 1e12, 1e300):
        assert problem.solve_at(np.array([1.0, 3.0, 2.0]) * unit).tolist() == [0, 1, 0]
    assert problem.solve([1.0, 1.0 + 1e-11, 1.0]).tolist() == [0, 1, 0]


def test_arms_that_the_solver_cannot_see_together_are_refused() -> None:
    far = [sp.Arm("city", 0, 1e12), sp.Arm("hamlet")]
    with pytest.raises(
        ProblemError, match=r"'city' reaches 1e\+12, more than 1e\+06 times the range of arm 'hamlet', 1: .* units"
    ):
        sp.Program(far, [[1, 1]], upper=1)
    assert sp.Program(far, [[1, 1]], upper=1, levels=[0, 1]).solve([1.0, 0.5]).tolist() == [0, 1]  # never taken: weighs nothing


@pytest.mark.parametrize("apart", [1.0, 1e3, 1e6])
def test_solve_and_rival_with_arms_of_very_different_ranges(apart: float) -> None:
    rng = np.random.default_rng(12)
    for _ in range(60):
        high = np.where(rng.random(5) < 0.5, 1.0, apart)
        problem = sp.Program([sp.Arm(f"arm {i}", 0, h) for i, h in enumerate(high)], [rng.integers(1, 5, 5)], upper=7)
        near = 1e-11 * high.sum()
        lower = high * rng.random(5)
        upper = lower + (high - lower) * rng.random(5)
        every = decisions_of(problem)
        y = problem.solve(lower)
        assert lower @ y >= max(lower @ np.array(d) for d in every) - near
        gap = max(float((np.where(np.array(d) > y, upper, lower) * (np.array(d) - y)).sum()) for d in every)
        assert problem.rival(lower, upper, y)[1] == pytest.approx(gap, abs=near)
