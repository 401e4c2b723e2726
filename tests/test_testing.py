"""check_problem sees planted bugs, each with the promise that it breaks; and what all checks have in common."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import surepick as sp
from surepick.arms import make_arms
from surepick.engine.data import Exchanges, Partition
from surepick.estimators import Mean
from surepick.problems.oracle import OracleProblem
from surepick.testing import ConformanceError, check_problem
from surepick.testing.alternatives import steps
from surepick.testing.chance import most_errors


def test_the_threshold_is_exact() -> None:
    assert most_errors(2000, 0.05) == 149  # P(more) <= 1e-6


def test_no_test_runner_is_needed() -> None:
    code = "import sys\nsys.modules.update(pytest=None, hypothesis=None)\nimport surepick.testing"
    subprocess.run([sys.executable, "-c", code], check=True)


class Row(OracleProblem):
    """The k neighbouring arms with the largest sum."""

    kind = "row"

    def __init__(self, m: int = 5, k: int = 2) -> None:
        super().__init__(make_arms(m), Mean())
        self.k = k

    def maximise(self, weights: np.ndarray) -> np.ndarray:
        sums = [weights[s : s + self.k].sum() for s in range(self.m - self.k + 1)]
        y = np.zeros(self.m, dtype=np.int64)
        y[int(np.argmax(sums)) + np.arange(self.k)] = 1
        return y

    def admits(self, decision: np.ndarray) -> bool:
        at = np.flatnonzero(decision)
        return len(at) == self.k and at[-1] - at[0] == self.k - 1 and bool((decision[at] == 1).all())


def test_a_class_from_elsewhere_passes() -> None:
    check_problem(Row())
    check_problem(Row(), [[0] * s + [1, 1] + [0] * (3 - s) for s in range(4)])


class Greedy(Row):
    """Takes the best arm and its better neighbour."""

    def maximise(self, weights: np.ndarray) -> np.ndarray:
        top = int(weights.argmax())
        around = [i for i in (top - 1, top + 1) if 0 <= i < self.m]
        y = np.zeros(self.m, dtype=np.int64)
        y[[top, max(around, key=lambda i: weights[i])]] = 1
        return y


class Restless(Row):
    """Breaks ties now this way and now that way."""

    calls = 0

    def maximise(self, weights: np.ndarray) -> np.ndarray:
        self.calls += 1
        return super().maximise(weights[::-1])[::-1] if self.calls % 2 else super().maximise(weights)


class Scribbling(Row):
    def solve_at(self, theta: np.ndarray) -> np.ndarray:
        y = super().solve_at(theta)
        theta[0] = 0.0
        return y

    def solve(self, theta: Any) -> np.ndarray:  # the check of the input would hand on a copy
        return self.solve_at(theta)


class Hasty(Row):
    """Looks at two corners only."""

    def open_on(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        return self.maximise(lower) != self.maximise(upper)


class Modest(Row):
    """A gap at the estimates, not at the worst corner."""

    def rival_on(self, lower: np.ndarray, upper: np.ndarray, decision: np.ndarray) -> tuple[np.ndarray, float]:
        middle = (lower + upper) / 2
        rival = self.maximise(middle)
        return rival, float(middle @ (rival - decision))


class Boastful(Row):
    bimonotone = True


class Precise(sp.TopK):
    """Marks all arms of a box that is not a point."""

    def open_on(self, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        return np.full(self.m, (lower < upper).any())


class Narrow(Row):
    def reward_range_on(self, lower: np.ndarray, upper: np.ndarray, decision: np.ndarray) -> tuple[float, float]:
        return self.reward_at(lower, decision), self.reward_at(lower, decision)


class Steep(Row):
    """Counts every arm twice, but says that the reward is theta . y."""

    def reward_at(self, theta: np.ndarray, decision: np.ndarray) -> float:
        return 2 * super().reward_at(theta, decision)


class Forgetful(sp.TopK):
    """Leaves out an exchange."""

    def exchanges(self, decision: np.ndarray) -> Exchanges:
        return Exchanges(*(part[1:] for part in super().exchanges(decision)))


class Certain(Row):
    def settled_on(self, lower: np.ndarray, upper: np.ndarray, decision: np.ndarray, rival: np.ndarray) -> bool:
        return True


class Unsendable(Row):
    def __init__(self) -> None:
        super().__init__()
        self.note = lambda: None


class Misfiled(sp.TopK):
    """Files another number than it was made with."""

    kind = "misfiled"

    def keys(self) -> dict[str, Any]:
        return {**super().keys(), "k": 1}


class Shapeless(Row):
    def contains(self, decision: Any) -> bool:
        return True


class Unfailing(sp.TopK):
    """Says of every arm that it is among the best."""

    def shortfall_on(self, lower: np.ndarray, upper: np.ndarray, decision: np.ndarray) -> tuple[np.ndarray, float]:
        return super().shortfall_on(lower, upper, decision)[0], 0.0


class Average(sp.BestOfEach):
    """Compares an arm with the best of the others, as if they were where they are on average."""

    def shortfall_on(self, lower: np.ndarray, upper: np.ndarray, decision: np.ndarray) -> tuple[np.ndarray, float]:
        middle = (lower + upper) / 2
        return super().shortfall_on(middle, middle, decision)


class Unpaid(Row):
    """Pays nothing for its alternatives."""

    def alternatives(self) -> tuple[float, float, int]:
        return 0.0, 0.0, 1


class Unsaid(Unpaid):
    """Nor does it say what it contains."""

    admits = sp.Problem.admits


class Stingy(sp.Matching):
    """Pays half of what its alternatives cost."""

    def alternatives(self) -> tuple[float, float, int]:
        a, b, k = super().alternatives()
        return a / 2, b / 2, k


class Mirrored(sp.TopK):
    """Is lowered as if the smallest were looked for."""

    def lower(self) -> Partition:
        return super().lower()._replace(sign=-self.sign)

    def exchanges(self, decision: np.ndarray) -> Exchanges:
        return sp.TopK(self.m, self.k).exchanges(decision)


PAIRS = [(row, column) for row in "ab" for column in "xyz"]


@pytest.mark.parametrize(
    ("problem", "promise"),
    [
        (Greedy(), "solve returns a decision of the class that no other one beats"),
        (Restless(), "the same one every time"),
        (Scribbling(), "leaves theta as it is"),
        (Hasty(), "undecided marks every arm whose entry of solve differs"),
        (Modest(), "rival returns a gap of at least what any other decision can be better by"),
        (Boastful(), "A bi-monotone class has entries that rise with their own parameter"),
        (Precise(4, 2), "nor, if the class is bi-monotone, one whose entry is the same at the two corners"),
        (Narrow(), "reward is a finite number within reward_range"),
        (Steep(), "a linear one is plus or minus theta . y"),
        (Forgetful(4, 2), "it is optimal elsewhere iff slope_h theta_h >= slope_l theta_l"),
        (Certain(), "A decision is settled only where solve returns it at every point"),
        (Unsendable(), "A problem can be pickled"),
        (Shapeless(), "no to what has another shape"),
        (Unfailing(4, 2), "shortfall, if the class is ranked, returns at least what any arm"),
        (Unfailing(4, 2, sense="min"), "shortfall, if the class is ranked, returns at least what any arm"),
        (Average(6, [0, 0, 0, 1, 1, 1], 2), "shortfall, if the class is ranked, returns at least what any arm"),
        (Unpaid(), "the sum of exp(-a - b s) over the alternatives to any decision is at most 1"),
        (Unsaid(), "the sum of exp(-a - b s) over the alternatives to any decision is at most 1"),
        (Stingy(PAIRS), "the sum of exp(-a - b s) over the alternatives to any decision is at most 1"),
        (Mirrored(4, 2), "A compiled loop takes the same samples as the Python loop"),
    ],
    ids=lambda x: type(x).__name__ if isinstance(x, sp.Problem) else "",
)
def test_a_bug_in_a_class_is_seen(problem: sp.Problem, promise: str) -> None:
    with pytest.raises(ConformanceError) as seen:
        check_problem(problem, explorations=isinstance(problem, Mirrored))
    assert promise in seen.value.promise
    assert promise in str(seen.value)


def test_a_class_that_is_misfiled_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sp.problems.PROBLEMS, "misfiled", Misfiled)
    with pytest.raises(ConformanceError, match="is the same when a study file has its keys"):
        check_problem(Misfiled(4, 2), explorations=False)


def test_the_example_is_small_and_shows_the_bug() -> None:
    with pytest.raises(AssertionError) as seen:
        check_problem(Greedy())
    example = seen.value.example
    theta = example["theta"]
    assert (example["lower"] == example["upper"]).all()  # a point is enough
    assert Greedy().reward(theta, Greedy().solve(theta)) < Row().reward(theta, Row().solve(theta))
    assert np.count_nonzero(theta) <= 3
    assert f"theta = {theta.tolist()}" in str(seen.value)


def test_alternatives_are_what_nothing_smaller_makes_up() -> None:
    one, two, three, both, all_three = 0b000011, 0b001100, 0b110000, 0b001111, 0b111111
    assert steps([both, two, one], 1) == [two, one, both]  # a single one must do
    assert steps([both, two, one], 2) == [two, one]
    assert steps([one, two, three, all_three], 2) == [one, two, three, all_three]
    assert steps([one, two, three, all_three], 3) == [one, two, three]
    assert steps([one, 0b000110, 0b000111], 3) == [one, 0b000110, 0b000111]  # with an arm in common


@pytest.mark.parametrize("m", [3, 8])
def test_any_class_may_leave_the_alternatives_as_they_are(m: int) -> None:
    everything = sp.Program(m, np.zeros((1, m)), [0], [0])
    assert everything.alternatives()[2] == 1
    check_problem(everything, cases=1, explorations=False)


def test_the_checks_are_for_problems() -> None:
    with pytest.raises(TypeError, match=r"takes a problem such as TopK\(5, 2\), not 'top-k'"):
        check_problem("top-k")
