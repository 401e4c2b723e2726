"""What a stranger might pass: always a typed error with a sentence, never a wrong answer or a bare TypeError."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import surepick as sp
from surepick.errors import ObservationError, ParameterError, ProblemError, SettingError, StudyError, SurepickError

TWO = sp.BestArm(2)


def failing(y: float, level: float = 0.0) -> float:
    return 1 / y


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        # ragged, textual and complex numbers
        (lambda: sp.Explorer(TWO).tell(0, [0.1, [0.2]]), ObservationError, "flat list"),
        (lambda: TWO.solve(["0.1", "0.2"]), ParameterError, "2 numbers"),
        (lambda: TWO.solve([0.1, 0.2j]), ParameterError, "2 numbers"),
        (lambda: TWO.solve([0.1, [0.2]]), ParameterError, "2 numbers"),
        (lambda: sp.allocate(["5", "5"], [0.1, 0.1], 5), ProblemError, "sizes"),
        (lambda: sp.allocate([5, 5], [0.1, 0.1], 5, upper=[1, [2]]), ProblemError, "upper"),
        (lambda: sp.Subsets(2, [["1", "0"]]), ProblemError, "rows of 2 numbers"),
        (lambda: sp.ResourcePlan([["0", "1"]], [1], 0), ProblemError, "must be numbers"),
        (lambda: sp.ResourcePlan(lambda y: y, [1, [2]], 0), ProblemError, "caps"),
        # things of the wrong kind
        (lambda: sp.SpanningTree(5), ProblemError, "list of pairs"),
        (lambda: sp.SpanningTree(None), ProblemError, "list of pairs"),
        (lambda: sp.SpanningTree([([], 1)]), ProblemError, "texts or numbers"),
        (lambda: sp.BestOfEach(3, 5), ProblemError, "groups must be"),
        (lambda: sp.BestOfEach(2, [[1], [2]]), ProblemError, "groups must be"),
        (lambda: sp.BestOfEach(2, [math.nan, math.nan]), ProblemError, "NaN"),
        (lambda: sp.TopK(np.array(3), 1), ProblemError, "whole number"),
        (lambda: sp.ResourcePlan(5, [1, 1], 1), ProblemError, "cost must be"),
        (lambda: sp.ResourcePlan(None, [1, 1], 1), ProblemError, "cost must be"),
        (lambda: sp.ResourcePlan([0, 1, 4], [2, 2, 2], 1), ProblemError, "give one function"),
        (lambda: sp.ResourcePlan(failing, [2, 2], 1), ProblemError, "ZeroDivisionError"),
        (lambda: sp.Separable(lambda t, y: t, 5, np.round, bimonotone=True), ProblemError, "levels must be"),
        (lambda: sp.Separable(5, [[0, 1]], np.round, bimonotone=True), ProblemError, "rewards must be"),
        (lambda: sp.Separable(lambda t, y: t, [["a"]], np.round, bimonotone=True), ProblemError, "levels of arm"),
        (lambda: sp.explore(TWO, None), SettingError, "sampler must be"),
        (lambda: sp.BestArm(2, parameter=["mean"]), ProblemError, "parameter="),
        (lambda: sp.hardness([0.1], [0.1]), SettingError, "first argument"),
        (lambda: sp.hardness(TWO, [0.1, 0.9]).upper_bound("x"), SettingError, "delta"),
        (lambda: sp.Explorer(TWO, relative="no"), SettingError, "True or False"),
        (lambda: sp.Matching([(0, 1), (0, 2), (3, 1)], perfect=True).solve([0.1]), ParameterError, "shape"),
        (lambda: sp.Explorer(TWO).ask(np.timedelta64(3, "D")), SettingError, "whole number"),
        (lambda: sp.Bernoulli([1, [2]]), ProblemError, "flat list"),
        (lambda: sp.load(3), StudyError, "path"),
        (lambda: sp.Replay(np.array(1.0)), ProblemError, "list of values"),
        (lambda: sp.Matching(np.array(1.0)), ProblemError, "list of pairs"),
        (lambda: sp.Path([("a", "b")], ["a"], "b"), ProblemError, r"source \['a'\] is on no edge"),
        (lambda: sp.Program(3, [[1, 1, 1]], [0], [10**400]), ProblemError, "must be numbers"),
        (lambda: sp.Program(2, [[1, 1]], upper=1, levels=np.uint64(2**63)), ProblemError, "levels"),
        (lambda: sp.Explorer(TWO, policy=np.array(["a", "b"])), SettingError, "policy=array"),
        (lambda: sp.Explorer(TWO, confidence=np.array(["a", "b"])), SettingError, "confidence=array"),
        (lambda: sp.Explorer(Mute()), SettingError, "Mute that cannot be shown"),
        (lambda: sp.BestArm([Mute(), "b"]), ProblemError, "Mute that cannot be shown"),
        (lambda: sp.ResourcePlan(lambda y: y, [10**9, 10**9], 1), ProblemError, "larger units"),
        (lambda: sp.ResourcePlan([[0, 1], [0, 1]], [1, 1], 1, arms=3), ProblemError, "2 sites but 3 arms"),
        (lambda: sp.Separable(failing, [[0, 1]] * 2, np.round, bimonotone=True), ProblemError, "reward of arm 'arm 0' failed"),
        (lambda: sp.VoterModel.random([10**9]), ProblemError, "sizes"),
        (lambda: sp.Bernoulli([0.5]).sample(1, 1, np.random.default_rng(0)), ParameterError, "from 0 to 0"),
        (lambda: sp.Bernoulli([0.5]).truth(None), ProblemError, "parameter=None"),
        # arms that cannot be
        (lambda: sp.Arm("a", low=False, high=True), ProblemError, "finite bounds"),
        (lambda: sp.Arm("a", low=0, high=5, kind="subgaussian", scale=1), ProblemError, "leave out low and high"),
        (lambda: sp.Arm("a", low=10**17, high=10**17 + 1), ProblemError, "low < high"),
        (lambda: sp.Arm("a", high=10**400), ProblemError, "finite bounds"),
        (lambda: sp.Arm("a", -1e308, 1e308), ProblemError, "another unit"),
        (lambda: sp.Arm("a", 0, 1e-170), ProblemError, "another unit"),
        (lambda: sp.Explorer(TWO, epsilon=10**400), SettingError, "epsilon"),
        # infinite parameters
        (lambda: sp.Subsets(2, [[1, 0], [0, 1]]).solve([math.inf, 0]), ParameterError, "inf for arm 'arm 0'"),
        (lambda: TWO.undecided([0, 0], [math.inf, 1]), ParameterError, "finite"),
        # decisions that are none
        (lambda: sp.SampleAllocation([1, 1], 9).reward([0.1, 0.1], [0, 9]), ParameterError, "needs interviews"),
        (lambda: sp.SampleAllocation([1, 1], 9).rival([0, 0], [0.2, 0.2], [1, 9]), ParameterError, "not a decision"),
        (lambda: sp.TopK(3, 2).rival([0] * 3, [1] * 3, [1, 0, 0]), ParameterError, "not a decision"),
        (lambda: sp.Subsets(2, [[1, 0], [0, 1]]).rival([0, 0], [1, 1], [1, 1]), ParameterError, "not a decision"),
        (lambda: sp.SpanningTree([(0, 1), (1, 2), (0, 2)]).rival([0] * 3, [1] * 3, [1, 1, 1]), ParameterError, "not a decision"),
        (lambda: sp.Path([(0, 1), (1, 2), (0, 2)], 0, 2).rival([0] * 3, [1] * 3, [1, 0, 0]), ParameterError, "not a decision"),
        (lambda: sp.Matching([(0, 0), (0, 1)]).rival([0] * 2, [1] * 2, [1, 1]), ParameterError, "not a decision"),
        (lambda: sp.Program(2, [[1, 1]], upper=1).rival([0] * 2, [1] * 2, [1, 1]), ParameterError, "not a decision"),
        (lambda: sp.ResourcePlan(lambda y: y, [2, 2], 1).rival([0] * 2, [1] * 2, [0, 0]), ParameterError, "not a decision"),
        # graphs and programs
        (lambda: sp.Matching([(0, 0), (1, 0), (2, 1), (2, 2)]), SurepickError, "perfect=False"),
        (lambda: sp.Path([(0, 1), (2, 3)], 0, 3), SurepickError, "No path leads from 0 to 3"),
        (lambda: sp.Path([(0, 1)], 0, 5), ProblemError, "target 5 is on no edge"),
        (lambda: sp.Path([(0, 1)], 0, 0), ProblemError, "empty"),
        (lambda: sp.Path([(0, 1), (1, 2), (2, 1), (2, 3), (1, 3)], 0, 3, sense="max"), ProblemError, "cycle"),
        (
            lambda: sp.Path([(0, 1), (1, 2), (2, 1), (2, 3), (1, 3)], 0, 3, arms=[sp.Arm(n, low=-1) for n in "abcde"]),
            ProblemError,
            "low >= 0",
        ),
        (lambda: sp.Program(2, [[1, 1]], lower=3), SurepickError, "No whole decision"),
        (lambda: sp.Program(2, [[1, 1]], lower=3, upper=2), SurepickError, "lower bound above"),
        (lambda: sp.Program(2, [[1, 1, 1]]), ProblemError, "one column an arm"),
        (lambda: sp.Program(2, [[1, math.nan]]), ProblemError, "finite"),
        (lambda: sp.Program(2, [[1, 1]], levels=-1), ProblemError, "levels"),
        (lambda: sp.Program(2, "A"), ProblemError, "must be numbers"),
    ],
)
def test_typed_and_helpful(call: Callable[[], object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_a_reward_that_is_not_a_number_certifies_nothing() -> None:
    problem = sp.Separable(lambda t, y: math.nan if y else 0.0, [[0, 1]] * 2, lambda tables: (0, 0), table=True)
    ex = sp.Explorer(problem)
    ex.tell(0, 0.5)
    with pytest.raises(ProblemError, match="not a finite number"):
        ex.tell(1, 0.5)  # the first moment that can be judged
    with pytest.raises(ProblemError, match="not a finite number"):
        ex.certificate()


def test_huge_values_of_an_unbounded_arm_are_refused() -> None:
    ex = sp.Explorer(sp.BestArm([sp.Arm("a", kind="subgaussian", scale=1.0), sp.Arm("b")]))
    with pytest.raises(ObservationError, match="another unit"):
        ex.tell(0, [1e308, 1e308])
    assert ex.samples == 0


def test_a_value_just_above_the_bound_is_refused() -> None:
    with pytest.raises(ObservationError, match="outside"):
        sp.Explorer(sp.BestArm([sp.Arm("a", 10, 20), sp.Arm("b")])).tell("a", np.nextafter(20.0, 30.0))


def test_counts_and_boxes_are_the_readers_own() -> None:
    ex = sp.Explorer(TWO)
    ex.tell(0, [0.1, 0.2])
    counts = ex.counts
    counts[0] = 99
    assert ex.counts.tolist() == [2, 0]


def test_sizes_of_any_magnitude() -> None:
    box = np.array([0.1, 0.1, 0.01]), np.array([0.11, 0.11, 0.011])
    expected = sp.SampleAllocation([1, 2, 1], 9).undecided(*box).tolist()
    for unit in (1e200, 1e-200):
        assert sp.SampleAllocation(np.array([1, 2, 1]) * unit, 9).undecided(*box).tolist() == expected


@pytest.mark.parametrize("decision", ["auto", None, [1], [1, 2, 3], [math.nan, 1], [1, [2]], [1, 1], np.ma.masked, {}, 1e300])
def test_junk_is_not_among_the_decisions(decision: object) -> None:
    programs = sp.Subsets(2, [[1, 0], [0, 1]]), sp.Program(2, [[1, 1]], 1, 1), sp.SampleAllocation([1, 1], 3, lower=[1, 2])
    for problem in (TWO, *programs):
        assert problem.contains(problem.solve([0.1, 0.2]))
        assert not problem.contains(decision)
