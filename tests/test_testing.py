"""The checks that others may use see planted bugs, each with the promise that it breaks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import surepick as sp
from surepick.arms import make_arms
from surepick.confidence import Confidence, Paper
from surepick.engine import loops
from surepick.engine.data import Exchanges, Partition
from surepick.engine.enums import Stop
from surepick.estimators import Mean
from surepick.policies import COCI, Policy, Uniform
from surepick.problems.oracle import OracleProblem
from surepick.testing import ConformanceError, check_confidence, check_policy, check_problem
from surepick.testing.chance import most_errors
from surepick.testing.paths import Cumulated, drawn
from surepick.testing.problem import same_samples


def test_the_threshold_is_exact() -> None:
    assert most_errors(2000, 0.05) == 149  # P(more) <= 1e-6


def test_no_test_runner_is_needed() -> None:
    code = "import sys\nsys.modules.update(pytest=None, hypothesis=None)\nimport surepick.testing"
    subprocess.run([sys.executable, "-c", code], check=True)


# -- decision classes ---------------------------------------------------------------------------------------------------------


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


class Mirrored(sp.TopK):
    """Is lowered as if the smallest were looked for."""

    def lower(self) -> Partition:
        return super().lower()._replace(sign=-self.sign)

    def exchanges(self, decision: np.ndarray) -> Exchanges:
        return sp.TopK(self.m, self.k).exchanges(decision)


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


def test_the_checks_are_for_problems() -> None:
    with pytest.raises(TypeError, match=r"takes a problem such as TopK\(5, 2\), not 'top-k'"):
        check_problem("top-k")


# -- policies -------------------------------------------------------------------------------------------------------------------


class Rash(COCI):
    """Certifies as soon as an arm is ahead."""

    name = "rash"

    def certified(self, view: Any) -> bool:
        return view.samples > 4 * self.problem.m


class Never(COCI):
    name = "never"

    def candidates(self, view: Any) -> np.ndarray:
        return np.ones(self.problem.m, dtype=bool)

    def certified(self, view: Any) -> bool:
        return False


class Stubborn(COCI):
    """Asks for the first arm, paused or not."""

    name = "stubborn"

    def choose(self, view: Any, planned: Any, n: int) -> list[int]:
        return [0] * n


class Greedily(COCI):
    name = "greedily"

    def choose(self, view: Any, planned: Any, n: int) -> list[int]:
        return super().choose(view, planned, n + 1)


class Drifting(COCI):
    """Counts how often it was asked."""

    name = "drifting"
    asked = 0

    def choose(self, view: Any, planned: Any, n: int) -> list[int]:
        self.asked += 1
        return [(arm + self.asked) % self.problem.m for arm in super().choose(view, planned, n)]


class Amnesiac(COCI):
    """Goes by what it was told, and forgets it on disk."""

    name = "amnesiac"
    remembers = True
    moments = 0

    def told(self, view: Any) -> None:
        self.moments += 1

    def memory(self) -> Any:
        return self.moments

    def choose(self, view: Any, planned: Any, n: int) -> list[int]:
        arms = np.flatnonzero(view.open) if view.open is not None else np.arange(self.problem.m)
        return [int(arms[(self.moments + j) % len(arms)]) for j in range(n)]


class Dicing(COCI):
    """Draws numbers that no seed fixes."""

    name = "dicing"

    def candidates(self, view: Any) -> np.ndarray:
        wanted = np.zeros(self.problem.m, dtype=bool)
        wanted[DICE.integers(self.problem.m)] = True
        return wanted


DICE = np.random.default_rng(1)


class Late(Uniform):
    """Certifies anything, but not at once."""

    name = "late"

    def certified(self, view: Any) -> bool:
        return view.samples >= 200


class Nearly(COCI):
    """Takes every decision for one within epsilon."""

    name = "nearly"

    def near(self, view: Any) -> bool:
        return True


class Flattering(COCI):
    """Says of every decision that none is better."""

    name = "flattering"

    def gap(self, view: Any, decision: np.ndarray) -> float:
        return 0.0


class Confident(COCI):
    """Says of every decision that it is nearly certain."""

    name = "confident"

    def attained(self, view: Any) -> float:
        return 1e-9


class Lavish(COCI):
    """Asks for more than it may when a budget is to be spent."""

    name = "lavish"

    def further(self, view: Any, planned: Any, n: int) -> list[int]:
        return super().further(view, planned, n + 3)


class Partial(COCI):
    """Is right for one best arm, and certifies anything else."""

    name = "partial"

    def certified(self, view: Any) -> bool:
        return super().certified(view) if self.problem.kind == "best-arm" else view.samples >= 40


@pytest.mark.parametrize(
    ("policy", "promise"),
    [
        (Rash, "Certificates are wrong in at most a share delta"),
        (Never, "In an easy world the best decision is certified"),
        (Stubborn, "An arm that is paused is not asked for"),
        (Greedily, "ask returns at most as many arms as it is asked for"),
        (Drifting, "The same question has the same answer"),
        (Amnesiac, "An explorer that is saved and loaded asks for the same as before"),
        (Dicing, "The same question has the same answer"),
        (Late, "Certificates are wrong in at most a share delta"),
        (Nearly, "With an epsilon, decisions that are certified are further from the best in at most a share delta"),
        (Flattering, "no decision is better by more than gap"),
        (Confident, "a decision that is not the best attains p or less with probability at most p"),
        (Lavish, "once all is certain ask still returns at least one arm and at most as many as it is asked for"),
    ],
)
def test_a_bug_in_a_policy_is_seen(policy: type[Policy], promise: str) -> None:
    with pytest.raises(ConformanceError) as seen:
        check_policy(policy(), sp.BestArm(3))
    assert promise in seen.value.promise


def test_a_policy_is_checked_on_all_kinds_that_it_can_do() -> None:
    with pytest.raises(ConformanceError, match="Certificates are wrong in at most a share delta") as seen:
        check_policy(Partial())
    assert seen.value.example["problem"].kind == "top-k"


@pytest.mark.parametrize(
    "kind", [{"epsilon": 0.4}, {"epsilon": 0.3, "relative": True}, {"epsilon": 0.2, "per_arm": True}], ids=str
)
def test_a_decision_within_epsilon_is_not_wrong(kind: dict[str, Any]) -> None:
    check_policy("joint", sp.TopK(4, 2), runs=40, **kind)


# -- compiled loops -------------------------------------------------------------------------------------------------------------


class Early:
    """In place of compiled code: says that the budget is spent before it is."""

    spent = 0.0

    def ready(self, *given: Any) -> bool:
        return True

    def __call__(self, *given: Any) -> tuple[int, int]:
        return Stop.SPENT, 0


def planted(wrong: Callable[[Any, Any], bool]) -> loops.Loop:
    """COCI's own loop for the best k, which ends early if so."""
    own = loops.find(sp.Explorer(sp.TopK(4, 2), policy="coci"))
    assert own is not None

    def prepare(explorer: Any, source: Any) -> loops.Stretch:
        return loops.Stretch(Early(), ()) if wrong(explorer, source) else own.prepare(explorer, source)

    return own._replace(prepare=prepare, near=True, fits=lambda explorer: explorer.epsilon == 0 or wrong(explorer, None))


@pytest.mark.parametrize(
    ("wrong", "way"),
    [
        (lambda explorer, source: source is not None and source.batch > 1, "With batch=4,"),
        (lambda explorer, source: explorer.spend, "spend=True"),
        (lambda explorer, source: explorer.epsilon > 0, "epsilon="),
    ],
    ids=["batch", "spend", "epsilon"],
)
def test_a_bug_in_a_loop_is_seen_however_it_runs(
    wrong: Callable[[Any, Any], bool], way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops, "_registered", [planted(wrong)])
    with pytest.raises(ConformanceError, match="whether a compiled loop runs or Python") as seen:
        check_policy("coci", sp.TopK(4, 2))
    assert way in str(seen.value)
    found = same_samples(sp.TopK(4, 2))
    assert found is not None
    assert way in found[0]


# -- confidence sequences -------------------------------------------------------------------------------------------------------


class Peeking(Confidence):
    """Hoeffding's interval for one arm and one look, looked at again and again."""

    name = "peeking"

    def radius(self, counts: np.ndarray) -> np.ndarray:
        return self.problem.scales * np.sqrt(np.log(2 / self.delta) / (2 * counts))


class Once(Confidence):
    """Hoeffding's interval for all arms, but for one look."""

    name = "once"

    def radius(self, counts: np.ndarray) -> np.ndarray:
        return self.problem.scales * np.sqrt(np.log(2 * self.problem.m / self.delta) / (2 * counts))


class Single(Confidence):
    """Holds at all times, but only for one arm."""

    name = "single"

    def radius(self, counts: np.ndarray) -> np.ndarray:
        return self.problem.scales * np.sqrt(np.log(4.0 * counts**2 / self.delta) / (2 * counts))


class Lopsided(Paper):
    """Around another point than the estimate."""

    name = "lopsided"

    def box(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        lower, upper = super().box(record)
        return np.minimum(lower + 0.6 * (upper - lower), 1.0), upper


class Outside(Paper):
    name = "outside"

    def box(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        lower, upper = super().box(record)
        return lower - 1.0, upper


class Wide(Paper):
    """Learns nothing."""

    name = "wide"

    def box(self, record: Any) -> tuple[np.ndarray, np.ndarray]:
        return self.problem.low.copy(), self.problem.high.copy()


class Backwards(Paper):
    """Takes delta for 1 - delta."""

    name = "backwards"

    def log_term(self, t: int) -> float:
        return 3.0 * np.log(t) + np.log(4.0) - np.log(1 - self.delta) + 1 - np.log(2 / (1 + self.delta))


class Mistaken(Paper):
    """Is lowered with other constants than it has."""

    name = "mistaken"

    def lower(self, record: Any) -> Any:
        return super().lower(record)._replace(power=2.0)


@pytest.mark.parametrize(
    ("sequence", "promise"),
    [
        (Peeking, "All intervals contain the truth at all times together"),
        (Once, "All intervals contain the truth at all times together"),
        (Single, "All intervals of many arms contain the truth together"),
        (Lopsided, "The interval of a mean contains the estimate"),
        (Outside, "Bounds are numbers within the range"),
        (Wide, "and they shrink"),
        (Backwards, "A smaller delta has wider intervals"),
        (Mistaken, "Compiled loops see the same bounds"),
    ],
)
def test_a_bug_in_a_sequence_is_seen(sequence: type[Confidence], promise: str) -> None:
    with pytest.raises(ConformanceError) as seen:
        check_confidence(sequence())
    assert promise in seen.value.promise
    assert "counts = [" in str(seen.value) or sequence is Single  # which takes too many arms to be shown


@pytest.mark.parametrize("parameter", ["mean", "variance"])
def test_records_of_long_paths_are_those_of_their_values(parameter: str) -> None:
    problem = sp.BestArm([sp.Arm("a", low=2, high=5), sp.Arm("b")], parameter=parameter)
    values = drawn(problem, np.array([0.5, 0.25]), 21, run=3)
    for counts in ([2, 21], [5, 8]):
        record = problem.record()
        for arm, n in enumerate(counts):
            record.update(arm, values[arm, :n])
        made = Cumulated(problem, values).record(np.array(counts))
        assert made.counts.tolist() == counts
        np.testing.assert_allclose(made.table, record.table, atol=1e-12)
